/*
 * libwebsockets (4.1 to 4.3) decodes a request's target while it looks for its end: a line break that was escaped (%0A,
 * %0D) ends the line, and an escaped NUL ends the connection. So the line is changed on its way to it (intake.c): the
 * percent sign of these escapes becomes MARK, a byte that no UTF-8 has, and request.c puts it back. Other marks become
 * another such byte. Only what comes up to the end of a request's first line is changed. An escape whose end has not
 * come is held back.
 */
#include "target.h"

#include <string.h>
#include <strings.h>

enum { MARK = 0xFF, NO_MARK = 0xFE, ESCAPE = 3 };

static bool is_digit_pair(const uint8_t *digits, const char *pair) { return strncasecmp((const char *)digits, pair, 2) == 0; }

static bool is_refused(const uint8_t *digits) {
  return is_digit_pair(digits, "00") || is_digit_pair(digits, "0A") || is_digit_pair(digits, "0D");
}

/* Whether these bytes are the beginning of an escape, and more may come. */
static bool may_become_escape(const uint8_t *at, const uint8_t *end) {
  return end - at == 1 || (end - at == 2 && strchr("0Ff", at[1]) && at[1]);
}

uint8_t *target_read(struct target *target, uint8_t *bytes, size_t *length) {
  uint8_t *start = bytes - target->held_count, *end = bytes + *length;
  memcpy(start, target->held, target->held_count);
  target->held_count = 0;
  for (uint8_t *at = start; at < end && !target->has_ended; at++) {
    target->has_ended = *at == '\n';
    if (*at == MARK) *at = NO_MARK;
    if (*at != '%') continue;
    if (may_become_escape(at, end)) {
      target->held_count = (uint8_t)(end - at);
      memcpy(target->held, at, target->held_count);
      end = at;
    } else if (end - at < ESCAPE) {
      continue;
    } else if (is_refused(at + 1)) {
      *at = MARK;
    } else if (is_digit_pair(at + 1, "FF")) {
      at[2] = 'E';
    }
  }
  *length = (size_t)(end - start);
  return start;
}

bool target_has_escape(const char *bytes, size_t length, char digits[2]) {
  if (length < ESCAPE || (uint8_t)*bytes != MARK || !is_refused((const uint8_t *)bytes + 1)) return false;
  digits[0] = bytes[1];
  digits[1] = bytes[2];
  return true;
}
