/* The target of a request: "/path?query", or the same behind a scheme and an authority, or "*" to OPTIONS. */
#include <string.h>
#include <strings.h>

#include "internal.h"

static const struct head_fault bad_target = {400, "Bad Request", "bad_message", "the request target is malformed"};
static const struct head_fault bad_escape = {400, "Bad Request", "bad_message", "the request target is badly escaped"};

static int hex(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_escaped_well(gateway_span span) {
  for (size_t i = 0; i < span.length; i++) {
    if (span.bytes[i] != '%') continue;
    if (span.length - i < 3 || hex(span.bytes[i + 1]) < 0 || hex(span.bytes[i + 2]) < 0) return false;
    i += 2;
  }
  return true;
}

/* Scheme and authority of an absolute target: the authority stands for Host, whatever that says. */
static const struct head_fault *read_absolute(struct request *request, gateway_span *target) {
  size_t scheme = target->length > 7 && strncasecmp((const char *)target->bytes, "http://", 7) == 0    ? 7
                  : target->length > 8 && strncasecmp((const char *)target->bytes, "https://", 8) == 0 ? 8
                                                                                                       : 0;
  if (!scheme) return &bad_target;
  gateway_span authority = {target->bytes + scheme, 0};
  while (scheme + authority.length < target->length && !strchr("/?", authority.bytes[authority.length])) authority.length++;
  request->authority = authority;
  target->bytes += scheme + authority.length;
  target->length -= scheme + authority.length;
  return authority.length ? NULL : &bad_target;
}

static const struct head_fault *read_path(struct request *request, gateway_span path) {
  if (!path.length) path = (gateway_span){(const uint8_t *)"/", 1}; /* http://example.org?query */
  size_t used = 0;
  for (size_t i = 0; i < path.length; i++) {
    uint8_t c = path.bytes[i];
    if (c == '%') {
      c = (uint8_t)(hex(path.bytes[i + 1]) << 4 | hex(path.bytes[i + 2]));
      i += 2;
    }
    if (!c) return &bad_escape;
    request->path[used++] = (char)c;
  }
  request->head.path = (gateway_span){(const uint8_t *)request->path, used};
  return NULL;
}

const struct head_fault *target_read(struct request *request, gateway_span target) {
  for (size_t i = 0; i < target.length; i++) {
    if (target.bytes[i] <= ' ' || target.bytes[i] >= 127 || target.bytes[i] == '#') return &bad_target;
  }
  if (span_equals(target, "*")) {
    request->head.path = target;
    return span_equals(request->head.method, "OPTIONS") ? NULL : &bad_target;
  }
  const struct head_fault *fault = target.length && *target.bytes == '/' ? NULL : read_absolute(request, &target);
  if (fault) return fault;
  if (!is_escaped_well(target)) return &bad_escape;
  const uint8_t *mark = target.length ? memchr(target.bytes, '?', target.length) : NULL;
  size_t length = mark ? (size_t)(mark - target.bytes) : target.length;
  if (mark) request->head.query = (gateway_span){mark + 1, target.length - length - 1};
  return read_path(request, (gateway_span){target.bytes, length});
}
