/* What a request's head means: whom it is for, what its body is, whether the connection goes on after it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

static const struct head_fault bad_host = {400, "Bad Request", "bad_message", "a request needs one Host, and a good one"};
static const struct head_fault bad_length = {400, "Bad Request", "bad_message", "bad Content-Length"};
static const struct head_fault bad_coding = {400, "Bad Request", "bad_message", "Transfer-Encoding with Content-Length or HTTP/1.0"};
static const struct head_fault no_coding = {501, "Not Implemented", "bad_message", "no transfer coding is known here"};
static const struct head_fault no_length = {411, "Length Required", "bad_message", "a body needs a Content-Length"};
static const struct head_fault no_memory = {503, "Service Unavailable", "overloaded", NULL};

bool span_equals(gateway_span span, const char *text) {
  return span.length == strlen(text) && memcmp(span.bytes ? span.bytes : (const uint8_t *)"", text, span.length) == 0;
}

/* Whether `token` is a member of a comma-separated list. */
bool list_contains(gateway_span list, const char *token, bool ignore_case) {
  const char *at = (const char *)list.bytes, *end = at + list.length;
  size_t wanted = strlen(token);
  while (at && at < end) {
    const char *comma = memchr(at, ',', (size_t)(end - at)), *next = comma ? comma : end, *last = next;
    while (at < last && (*at == ' ' || *at == '\t')) at++;
    while (last > at && (last[-1] == ' ' || last[-1] == '\t')) last--;
    bool same = (size_t)(last - at) == wanted &&
                (ignore_case ? strncasecmp(at, token, wanted) : strncmp(at, token, wanted)) == 0;
    if (same) return true;
    at = next + 1;
  }
  return false;
}

/* The address of the client as text, IPv4 in IPv6 as IPv4. */
void request_name_client(struct request *request, const struct sockaddr_storage *address) {
  if (address->ss_family == AF_INET6) {
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    bool mapped = IN6_IS_ADDR_V4MAPPED(six);
    inet_ntop(mapped ? AF_INET : AF_INET6, mapped ? (const void *)&six->s6_addr[12] : six, request->peer, sizeof request->peer);
  } else if (address->ss_family == AF_INET) {
    inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, request->peer, sizeof request->peer);
  }
  request->head.client = address_client(address);
  request->head.peer = (gateway_span){(const uint8_t *)request->peer, strlen(request->peer)};
}

/* A name or address, and perhaps a port: what cannot be one must not be compared with any. */
static bool is_authority(gateway_span host) {
  for (size_t i = 0; i < host.length; i++) {
    uint8_t c = host.bytes[i];
    bool is_good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~:[]%", c));
    if (!is_good) return false;
  }
  return host.length > 0;
}

static const struct head_fault *check_host(struct request *request) {
  gateway_span host = request->host;
  if (!host.bytes && request->is_modern) return &bad_host;
  if (host.bytes && !is_authority(host)) return &bad_host;
  if (request->authority.bytes && !is_authority(request->authority)) return &bad_host;
  request->head.host = request->authority.bytes ? request->authority : host;
  return NULL;
}

static const struct head_fault *check_body(struct request *request) {
  gateway_span length = request->length_text, coding = request->coding;
  if (coding.bytes) {
    if (length.bytes || !request->is_modern) return &bad_coding;
    return coding.length == 7 && strncasecmp((const char *)coding.bytes, "chunked", 7) == 0 ? &no_length : &no_coding;
  }
  if (!length.bytes) return NULL;
  if (!length.length || length.length > 18) return &bad_length;
  for (size_t i = 0; i < length.length; i++) {
    if (length.bytes[i] < '0' || length.bytes[i] > '9') return &bad_length;
    request->content_length = request->content_length * 10 + (uint64_t)(length.bytes[i] - '0');
  }
  return NULL;
}

static void decide_rest(struct request *request) {
  bool closes = list_contains(request->connection, "close", true);
  request->keep_alive = !closes && (request->is_modern || list_contains(request->connection, "keep-alive", true));
  request->expects_continue = request->is_modern && request->expect.length == 12 &&
                              strncasecmp((const char *)request->expect.bytes, "100-continue", 12) == 0;
  /* HTTP/1.1 only, and only where Connection says so, too. */
  request->wants_upgrade = request->is_modern && request->upgrade.length;
}

struct request *request_create(size_t length) {
  struct request *request = calloc(1, sizeof *request);
  if (request) request->text = malloc(2 * length + 1);
  if (request && request->text) return request;
  free(request);
  return NULL;
}

struct request *request_read(gateway_span text, const struct head_fault **fault) {
  struct request *request = request_create(text.length);
  *fault = &no_memory;
  if (!request) return NULL;
  /* The path, decoded, is no longer than what it is decoded from. */
  memcpy(request->text, text.bytes, text.length);
  request->path = request->text + text.length;
  *fault = head_read(request, (gateway_span){(const uint8_t *)request->text, text.length});
  if (!*fault) *fault = check_host(request);
  if (!*fault) *fault = check_body(request);
  decide_rest(request);
  return request;
}

void request_free(struct request *request) {
  if (!request) return;
  while (request->joined) {
    struct joined *next = request->joined->next;
    free(request->joined->text);
    free(request->joined);
    request->joined = next;
  }
  free(request->text);
  free(request);
}
