/*
 * libwebsockets (4.1 to 4.3) decodes a request's target while it looks for its end: a line break that was escaped (%0A, %0D) ends the line,
 * and an escaped NUL ends the connection. So the line is changed on its way to it: the percent sign of these escapes becomes MARK, a byte that
 * no UTF-8 has, and request.c puts it back. Other marks become another such byte.
 *
 * libwebsockets reads by the C library's recv and OpenSSL's SSL_read, in whose place the program's own are linked. Only reads of connections
 * on their gateway's thread are changed, and only up to the end of a request's first line. An escape whose end has not come is held
 * back. A request that was read together with the one before it is not changed.
 *
 * To go when libwebsockets decodes what it has found.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "target.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <openssl/ssl.h>

#include "connection.h"

enum { MARK = 0xFF, NO_MARK = 0xFE, ESCAPE = 3 };

static bool is_digit_pair(const uint8_t *digits, const char *pair) { return strncasecmp((const char *)digits, pair, 2) == 0; }

static bool is_refused(const uint8_t *digits) {
  return is_digit_pair(digits, "00") || is_digit_pair(digits, "0A") || is_digit_pair(digits, "0D");
}

/* Whether these are less than an escape, and more may come. */
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

/* The connection whose request is read from this descriptor; NULL: bytes stay as they are. */
static struct connection *reading(int descriptor) {
  gateway *gateway = gateway_of_thread();
  struct connection *connection = gateway ? connection_at(gateway, descriptor) : NULL;
  return connection && !connection->target.has_ended ? connection : NULL;
}

/* Reads until there is something to hand on, or nothing more to be had: `read` is what does it for one of the two. */
static ssize_t read_line(struct connection *connection, uint8_t *into, size_t room, ssize_t (*read)(void *, void *, size_t), void *from) {
  struct target *target = &connection->target;
  for (;;) {
    size_t held = target->held_count;
    if (room <= held) return read(from, into, room);
    ssize_t count = read(from, into + held, room - held);
    if (count <= 0) return count;
    size_t length = (size_t)count;
    target_read(target, into + held, &length);
    if (length) return (ssize_t)length;
  }
}

static ssize_t read_socket(void *from, void *into, size_t length) { return recvfrom(*(int *)from, into, length, 0, NULL, NULL); }

ssize_t recv(int descriptor, void *into, size_t length, int flags) {
  struct connection *connection = flags ? NULL : reading(descriptor);
  if (!connection || lws_is_ssl(connection->wsi)) return recvfrom(descriptor, into, length, flags, NULL, NULL);
  return read_line(connection, into, length, read_socket, &descriptor);
}

static ssize_t read_tls(void *from, void *into, size_t length) {
  static int (*read)(SSL *, void *, int);
  if (!read) *(void **)&read = dlsym(RTLD_NEXT, "SSL_read");
  return read(from, into, (int)length);
}

int SSL_read(SSL *tls, void *into, int length) {
  struct connection *connection = length > 0 && SSL_is_server(tls) ? reading(SSL_get_fd(tls)) : NULL;
  if (!connection) return (int)read_tls(tls, into, (size_t)length);
  return (int)read_line(connection, into, (size_t)length, read_tls, tls);
}
