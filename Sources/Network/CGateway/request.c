/*
 * Reading a request's head out of libwebsockets' table of headers into memory of its own.
 *
 * libwebsockets hands out the query decoded and cut at every "&" and ";", so it is encoded anew here; what it does on
 * the way cannot be undone: a bare ";" has become "&", and an encoded "=" in a name has become "_".
 */
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "target.h"

static const struct {
  enum lws_token_indexes token;
  const char *name;
} methods[] = {
    {WSI_TOKEN_GET_URI, "GET"},         {WSI_TOKEN_POST_URI, "POST"},   {WSI_TOKEN_HEAD_URI, "HEAD"},
    {WSI_TOKEN_OPTIONS_URI, "OPTIONS"}, {WSI_TOKEN_PUT_URI, "PUT"},     {WSI_TOKEN_PATCH_URI, "PATCH"},
    {WSI_TOKEN_DELETE_URI, "DELETE"},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Headers that libwebsockets has no token for. */
static const char *const custom_headers[] = {"last-event-id:", "sec-fetch-site:", "forwarded:"};
enum { CUSTOM_HEADERS = sizeof custom_headers / sizeof *custom_headers };

bool span_equals(gateway_span span, const char *text) {
  return span.length == strlen(text) && memcmp(span.bytes ? span.bytes : (const uint8_t *)"", text, span.length) == 0;
}

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

static gateway_span put(struct request *request, const char *text, size_t length) {
  char *start = request->storage + request->used;
  if (request->capacity - request->used < length) return (gateway_span){NULL, 0};
  memcpy(start, text, length);
  request->used += length;
  return (gateway_span){(const uint8_t *)start, length};
}

static gateway_span put_header(struct request *request, struct lws *wsi, enum lws_token_indexes token) {
  char *start = request->storage + request->used;
  int length = lws_hdr_copy(wsi, start, (int)(request->capacity - request->used), token);
  /* libwebsockets leaves blanks at a value's end. */
  while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t')) length--;
  if (length <= 0) return (gateway_span){NULL, 0};
  request->used += (size_t)length + 1;
  return (gateway_span){(const uint8_t *)start, (size_t)length};
}

static gateway_span put_custom_header(struct request *request, struct lws *wsi, const char *name) {
  char *start = request->storage + request->used;
  int room = (int)(request->capacity - request->used);
  if (lws_hdr_custom_length(wsi, name, (int)strlen(name)) <= 0) return (gateway_span){NULL, 0};
  int length = lws_hdr_custom_copy(wsi, start, room, name, (int)strlen(name));
  if (length <= 0) return (gateway_span){NULL, 0};
  request->used += (size_t)length + 1;
  return (gateway_span){(const uint8_t *)start, (size_t)length};
}

/* Whether a header is there more than once. */
static bool is_repeated(struct lws *wsi, enum lws_token_indexes token) {
  char byte[2];
  return lws_hdr_copy_fragment(wsi, byte, sizeof byte, token, 1) != -1;
}

static bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

/* One part of the query, "name=value"; the first "=" is the literal one. */
static void put_encoded(struct request *request, const char *part, size_t length) {
  static const char digits[] = "0123456789ABCDEF";
  bool seen_equals = false;
  for (size_t i = 0; i < length; i++) {
    char refused[3] = {'%'};
    if (target_has_escape(part + i, length - i, refused + 1)) {
      put(request, refused, 3);
      i += 2;
      continue;
    }
    bool literal = is_unreserved(part[i]) || (part[i] == '=' && !seen_equals);
    seen_equals = seen_equals || part[i] == '=';
    char escaped[3] = {'%', digits[(uint8_t)part[i] >> 4], digits[part[i] & 15]};
    put(request, literal ? &part[i] : escaped, literal ? 1 : 3);
  }
}

static gateway_span put_query(struct request *request, struct lws *wsi, char *scratch, int capacity) {
  size_t before = request->used;
  for (int part = 0;; part++) {
    int length = lws_hdr_copy_fragment(wsi, scratch, capacity, WSI_TOKEN_HTTP_URI_ARGS, part);
    /* libwebsockets' form of a "?" with nothing behind it. */
    if (length < 0 || (part == 0 && length == 1 && *scratch == '/')) break;
    if (part > 0) put(request, "&", 1);
    put_encoded(request, scratch, (size_t)length);
  }
  return (gateway_span){(const uint8_t *)request->storage + before, request->used - before};
}

static void put_method_and_path(struct request *request, struct lws *wsi) {
  gateway_request *head = &request->head;
  for (size_t i = 0; i < METHODS; i++) {
    if (lws_hdr_total_length(wsi, methods[i].token) <= 0) continue;
    head->method = put(request, methods[i].name, strlen(methods[i].name));
    head->path = put_header(request, wsi, methods[i].token);
    break;
  }
  request->is_head = span_equals(head->method, "HEAD");
}

static void put_headers(struct request *request, struct lws *wsi) {
  gateway_request *head = &request->head;
  const struct {
    enum lws_token_indexes token;
    gateway_span *place;
  } known[] = {
      {WSI_TOKEN_ORIGIN, &head->origin},
      {WSI_TOKEN_HOST, &head->host},
      {WSI_TOKEN_HTTP_AUTHORIZATION, &head->authorization},
      {WSI_TOKEN_HTTP_IF_NONE_MATCH, &head->if_none_match},
      {WSI_TOKEN_HTTP_CONTENT_TYPE, &head->content_type},
      {WSI_TOKEN_HTTP_ACCEPT, &head->accept},
      {WSI_TOKEN_HTTP_ACCEPT_ENCODING, &head->accept_encoding},
      {WSI_TOKEN_PROTOCOL, &head->protocols},
      {WSI_TOKEN_UPGRADE, &request->upgrade},
      {WSI_TOKEN_CONNECTION, &request->connection},
      {WSI_TOKEN_KEY, &request->key},
      {WSI_TOKEN_VERSION, &request->version},
      {WSI_TOKEN_X_FORWARDED_FOR, &request->forwarded_for},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) *known[i].place = put_header(request, wsi, known[i].token);
  gateway_span *const customs[CUSTOM_HEADERS] = {&head->last_event_id, &head->fetch_site, &request->forwarded};
  for (size_t i = 0; i < CUSTOM_HEADERS; i++) *customs[i] = put_custom_header(request, wsi, custom_headers[i]);
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

static gateway_fault check_host(const struct request *request, struct lws *wsi) {
  gateway_span host = request->head.host;
  if (is_repeated(wsi, WSI_TOKEN_HOST)) return GATEWAY_BAD_HOST;
  if (!host.length) return request->is_modern ? GATEWAY_BAD_HOST : GATEWAY_NO_FAULT;
  return is_authority(host) ? GATEWAY_NO_FAULT : GATEWAY_BAD_HOST;
}

static gateway_fault read_version(struct request *request, struct lws *wsi) {
  char text[16];
  request->is_modern = true;
  if (lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP) <= 0) return GATEWAY_BAD_VERSION;
  request->is_modern = strcmp(text, "HTTP/1.1") == 0;
  return request->is_modern || strcmp(text, "HTTP/1.0") == 0 ? GATEWAY_NO_FAULT : GATEWAY_BAD_VERSION;
}

static bool is_for_bodies(gateway_span method) {
  return span_equals(method, "POST") || span_equals(method, "PUT") || span_equals(method, "PATCH");
}

static gateway_fault read_length(struct request *request, struct lws *wsi) {
  char coding[16], text[32];
  bool has_length = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0;
  if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0) {
    if (has_length || !request->is_modern) return GATEWAY_BAD_CODING;
    int length = lws_hdr_copy(wsi, coding, sizeof coding, WSI_TOKEN_HTTP_TRANSFER_ENCODING);
    return length > 0 && strcasecmp(coding, "chunked") == 0 ? GATEWAY_NO_LENGTH : GATEWAY_UNKNOWN_CODING;
  }
  if (!has_length) {
    /* Without a length there is no body, but libwebsockets expects one of 100 MiB. */
    if (is_for_bodies(request->head.method)) request->keep_alive = false;
    return GATEWAY_NO_FAULT;
  }
  if (is_repeated(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH)) return GATEWAY_BAD_LENGTH;
  int length = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_CONTENT_LENGTH);
  if (length <= 0 || length > 18 || strspn(text, "0123456789") != (size_t)length) return GATEWAY_BAD_LENGTH;
  request->content_length = strtoull(text, NULL, 10);
  return GATEWAY_NO_FAULT;
}

/* Reads whether the connection stays open after the answer, and whether the client waits for "100 Continue" with the
   body. */
static void read_connection(struct request *request, struct lws *wsi) {
  char text[16];
  gateway_span connection = request->connection;
  bool closes = list_contains(connection, "close", true);
  request->keep_alive = !closes && (request->is_modern || list_contains(connection, "keep-alive", true));
  request->expects_continue = request->is_modern &&
                              lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_EXPECT) > 0 &&
                              strcasecmp(text, "100-continue") == 0;
}

/* An upper bound for all that is copied: a query may grow threefold by encoding, and each header has an end. */
static size_t needed_capacity(struct lws *wsi, int *longest) {
  size_t total = 64;
  for (int token = 0; token < WSI_TOKEN_COUNT; token++) {
    int length = lws_hdr_total_length(wsi, (enum lws_token_indexes)token);
    if (length > 0) total += (size_t)length + 2;
  }
  for (size_t i = 0; i < CUSTOM_HEADERS; i++) {
    int length = lws_hdr_custom_length(wsi, custom_headers[i], (int)strlen(custom_headers[i]));
    if (length > 0) total += (size_t)length + 2;
  }
  *longest = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS) + 2;
  return total + 3 * (size_t)*longest;
}

struct request *request_create_empty(void) { return calloc(1, sizeof(struct request)); }

struct request *request_read(struct lws *wsi, gateway_fault *fault) {
  int longest;
  struct request *request = request_create_empty();
  if (!request) return NULL;
  request->capacity = needed_capacity(wsi, &longest);
  request->storage = malloc(request->capacity + (size_t)longest);
  if (!request->storage) {
    free(request);
    return NULL;
  }
  put_method_and_path(request, wsi);
  request->head.query = put_query(request, wsi, request->storage + request->capacity, longest);
  put_headers(request, wsi);
  request->takes_body = is_for_bodies(request->head.method) || lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0;
  *fault = read_version(request, wsi);
  read_connection(request, wsi);
  if (*fault == GATEWAY_NO_FAULT) *fault = check_host(request, wsi);
  if (*fault == GATEWAY_NO_FAULT) *fault = read_length(request, wsi);
  return request;
}

bool request_is_admitted(gateway *gateway, const struct request *request, char *headers, size_t capacity) {
  int seconds = gateway->configuration.callbacks.admitted(gateway->context, &request->head);
  if (!seconds) return true;
  gateway->counters.rate += 1;
  snprintf(headers, capacity, "Retry-After: %d\r\n", seconds);
  return false;
}

void request_free(struct request *request) {
  if (!request) return;
  free(request->storage);
  free(request);
}
