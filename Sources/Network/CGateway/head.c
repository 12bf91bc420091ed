/*
 * Requests' heads, read strictly (RFC 9112): what two programs could read differently is refused, because a proxy in front may
 * be the other one. Nothing here touches a socket.
 *
 * libwebsockets' own parser takes bare line feeds, folded lines, blanks before colons, repeated Host and Content-Length, and
 * hangs up without a word at what it does not take. So connections are raw sockets to it, and their bytes come here first.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

static const struct head_fault bad_line = {400, "Bad Request", "bad_message", "the request line is malformed"};
static const struct head_fault bad_control = {400, "Bad Request", "bad_message", "a control character in the head"};
static const struct head_fault bad_newline = {400, "Bad Request", "bad_message", "lines of the head must end in CRLF"};
static const struct head_fault bad_header = {400, "Bad Request", "bad_message", "a header is malformed"};
static const struct head_fault folded = {400, "Bad Request", "bad_message", "a header is folded"};
static const struct head_fault repeated = {400, "Bad Request", "bad_message", "a header is there twice that may be there once"};
static const struct head_fault bad_version = {505, "HTTP Version Not Supported", "bad_message", "HTTP/1.1 is spoken here"};
static const struct head_fault bad_method = {501, "Not Implemented", "bad_message", "the method is unknown"};
static const struct head_fault no_memory = {503, "Service Unavailable", "overloaded", NULL};

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static bool is_token_character(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(gateway_span span) {
  for (size_t i = 0; i < span.length; i++) {
    if (!is_token_character(span.bytes[i])) return false;
  }
  return span.length > 0;
}

static bool is_named(gateway_span name, const char *text) {
  return name.length == strlen(text) && strncasecmp((const char *)name.bytes, text, name.length) == 0;
}

/* Where the empty line ends; 0 while it is not there. `scanned` is how far an earlier call got. */
size_t head_end(const uint8_t *bytes, size_t length, size_t *scanned, const struct head_fault **fault) {
  for (size_t i = *scanned; i < length; i++) {
    uint8_t c = bytes[i];
    *scanned = i;
    if (c == '\r' && i + 1 == length) return 0;
    if (c == '\r' ? bytes[i + 1] != '\n' : c == '\n' && (i == 0 || bytes[i - 1] != '\r')) *fault = &bad_newline;
    if ((c < 32 && c != '\t' && c != '\r' && c != '\n') || c == 127) *fault = &bad_control;
    if (*fault) return 0;
    if (c == '\n' && i >= 3 && bytes[i - 2] == '\n') return i + 1;
  }
  *scanned = length;
  return 0;
}

/* The next line without its end; `at` moves behind it. */
static gateway_span take_line(gateway_span *at) {
  const uint8_t *end = memchr(at->bytes, '\r', at->length);
  gateway_span line = {at->bytes, (size_t)(end - at->bytes)};
  at->bytes = end + 2;
  at->length -= line.length + 2;
  return line;
}

static const struct head_fault *read_request_line(struct request *request, gateway_span line) {
  static const char *const methods[] = {"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE"};
  const uint8_t *first = memchr(line.bytes, ' ', line.length), *end = line.bytes + line.length;
  const uint8_t *second = first ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;
  if (!second) return &bad_line;
  gateway_span method = {line.bytes, (size_t)(first - line.bytes)};
  gateway_span version = {second + 1, (size_t)(end - second - 1)};
  if (!is_token(method) || version.length != 8 || memcmp(version.bytes, "HTTP/", 5) != 0 || version.bytes[6] != '.' ||
      !is_digit(version.bytes[5]) || !is_digit(version.bytes[7])) {
    return &bad_line;
  }
  if (version.bytes[5] != '1') return &bad_version;
  request->is_modern = version.bytes[7] != '0';
  bool is_known = false;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) is_known = is_known || span_equals(method, methods[i]);
  if (!is_known) return &bad_method;
  request->head.method = method;
  request->is_head = span_equals(method, "HEAD");
  request->is_post = span_equals(method, "POST");
  return target_read(request, (gateway_span){first + 1, (size_t)(second - first - 1)});
}

/* A header that may be there once. */
static const struct head_fault *put_single(gateway_span *place, gateway_span value) {
  if (place->bytes) return &repeated;
  *place = value;
  return NULL;
}

/* A list: what comes in several lines is one, joined by commas. */
static const struct head_fault *put_list(struct request *request, gateway_span *place, gateway_span value) {
  if (!place->bytes) {
    *place = value;
    return NULL;
  }
  size_t length = place->length + 2 + value.length;
  char *joined = malloc(length);
  struct joined *link = joined ? malloc(sizeof *link) : NULL;
  if (!link) {
    free(joined);
    return &no_memory;
  }
  memcpy(joined, place->bytes, place->length);
  memcpy(joined + place->length, ", ", 2);
  memcpy(joined + place->length + 2, value.bytes, value.length);
  *link = (struct joined){.text = joined, .next = request->joined};
  request->joined = link;
  *place = (gateway_span){(const uint8_t *)joined, length};
  return NULL;
}

static const struct head_fault *put_header(struct request *request, gateway_span name, gateway_span value) {
  gateway_request *head = &request->head;
  const struct {
    const char *name;
    gateway_span *place;
    bool is_list;
  } known[] = {
      {"host", &request->host, false},
      {"origin", &head->origin, false},
      {"authorization", &head->authorization, false},
      {"content-type", &head->content_type, false},
      {"content-length", &request->length_text, false},
      {"transfer-encoding", &request->coding, false},
      {"expect", &request->expect, false},
      {"upgrade", &request->upgrade, true},
      {"connection", &request->connection, true},
      {"if-none-match", &head->if_none_match, true},
      {"accept", &head->accept, true},
      {"accept-encoding", &head->accept_encoding, true},
      {"access-control-request-method", &head->request_method, false},
      {"access-control-request-headers", &head->request_headers, true},
      {"last-event-id", &head->last_event_id, false},
      {"sec-fetch-site", &head->fetch_site, false},
      {"sec-websocket-key", &request->key, false},
      {"sec-websocket-version", &request->version, false},
      {"sec-websocket-protocol", &head->protocols, true},
      {"x-forwarded-for", &request->forwarded_for, true},
      {"forwarded", &request->forwarded, true},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!is_named(name, known[i].name)) continue;
    return known[i].is_list ? put_list(request, known[i].place, value) : put_single(known[i].place, value);
  }
  return NULL;
}

static const struct head_fault *read_header(struct request *request, gateway_span line) {
  if (*line.bytes == ' ' || *line.bytes == '\t') return &folded;
  const uint8_t *colon = memchr(line.bytes, ':', line.length);
  if (!colon) return &bad_header;
  gateway_span name = {line.bytes, (size_t)(colon - line.bytes)};
  gateway_span value = {colon + 1, line.length - name.length - 1};
  if (!is_token(name)) return &bad_header;
  while (value.length && (*value.bytes == ' ' || *value.bytes == '\t')) value.bytes++, value.length--;
  while (value.length && (value.bytes[value.length - 1] == ' ' || value.bytes[value.length - 1] == '\t')) value.length--;
  return put_header(request, name, value);
}

/* `text` is a head that head_end has found. */
const struct head_fault *head_read(struct request *request, gateway_span text) {
  const struct head_fault *fault = read_request_line(request, take_line(&text));
  while (!fault) {
    gateway_span line = take_line(&text);
    if (!line.length) break;
    fault = read_header(request, line);
  }
  return fault;
}
