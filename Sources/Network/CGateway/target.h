/* Line breaks and NULs in a request's target, which libwebsockets cannot read. */
#ifndef CGATEWAY_TARGET_H
#define CGATEWAY_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far the line with the target of a connection's next request has come. All zero: nothing. */
struct target {
  bool has_ended;
  uint8_t held_count; /* the beginning of an escape, whose end has not come */
  char held[2];
};

/* Changes `length` bytes behind `held_count` free ones, in place. Returns where they begin now, and how many there
 * are. */
uint8_t *target_read(struct target *target, uint8_t *bytes, size_t *length);

/* Whether a request's target, as libwebsockets hands it out, has one of these escapes at a place; with its two
 * digits. */
bool target_has_escape(const char *bytes, size_t length, char digits[2]);

#endif
