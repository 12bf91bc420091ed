/*
 * Reading a request's head out of libwebsockets' header table into memory of its own.
 *
 * libwebsockets hands out the query decoded and cut at every "&" and ";", so it is encoded anew here; what it does on
 * the way cannot be undone: a bare ";" has become "&", and an encoded "=" in a name has become "_".
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "internal.h"

static const struct {
  enum lws_token_indexes token;
  const char *name;
} methods[] = {
    {WSI_TOKEN_GET_URI, "GET"},         {WSI_TOKEN_POST_URI, "POST"},   {WSI_TOKEN_HEAD_URI, "HEAD"},
    {WSI_TOKEN_OPTIONS_URI, "OPTIONS"}, {WSI_TOKEN_PUT_URI, "PUT"},     {WSI_TOKEN_PATCH_URI, "PATCH"},
    {WSI_TOKEN_DELETE_URI, "DELETE"},
};

static const enum lws_token_indexes copied_headers[] = {
    WSI_TOKEN_ORIGIN, WSI_TOKEN_HOST,        WSI_TOKEN_HTTP_AUTHORIZATION, WSI_TOKEN_HTTP_IF_NONE_MATCH,
    WSI_TOKEN_HTTP_CONTENT_TYPE, WSI_TOKEN_HTTP_ACCEPT, WSI_TOKEN_HTTP_ACCEPT_ENCODING,
    WSI_TOKEN_HTTP_AC_REQUEST_HEADERS, WSI_TOKEN_PROTOCOL,
};

/* Headers that libwebsockets has no token for. */
static const char *const custom_headers[] = {"last-event-id:", "access-control-request-method:"};

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
  if (length <= 0) return (gateway_span){NULL, 0};
  request->used += (size_t)length + 1;
  return (gateway_span){(const uint8_t *)start, (size_t)length};
}

static gateway_span put_custom_header(struct request *request, struct lws *wsi, const char *name) {
  char *start = request->storage + request->used;
  if (lws_hdr_custom_length(wsi, name, (int)strlen(name)) <= 0) return (gateway_span){NULL, 0};
  int room = (int)(request->capacity - request->used);
  int length = lws_hdr_custom_copy(wsi, start, room, name, (int)strlen(name));
  if (length <= 0) return (gateway_span){NULL, 0};
  request->used += (size_t)length + 1;
  return (gateway_span){(const uint8_t *)start, (size_t)length};
}

static bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

/* One part of the query, "name=value"; the first "=" is the literal one. */
static void put_encoded(struct request *request, const char *part, size_t length) {
  static const char digits[] = "0123456789ABCDEF";
  bool seen_equals = false;
  for (size_t i = 0; i < length; i++) {
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
    /* What libwebsockets makes of a "?" with nothing behind it. */
    if (length < 0 || (part == 0 && length == 1 && *scratch == '/')) break;
    if (part > 0) put(request, "&", 1);
    put_encoded(request, scratch, (size_t)length);
  }
  return (gateway_span){(const uint8_t *)request->storage + before, request->used - before};
}

static gateway_span put_peer(struct request *request, struct lws *wsi) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  char text[INET6_ADDRSTRLEN] = "";
  if (getpeername(lws_get_socket_fd(wsi), (struct sockaddr *)&address, &length)) return (gateway_span){NULL, 0};
  if (address.ss_family == AF_INET6) {
    const struct in6_addr *six = &((struct sockaddr_in6 *)&address)->sin6_addr;
    bool mapped = IN6_IS_ADDR_V4MAPPED(six);
    inet_ntop(mapped ? AF_INET : AF_INET6, mapped ? (const void *)&six->s6_addr[12] : six, text, sizeof text);
  } else if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, text, sizeof text);
  }
  return put(request, text, strlen(text));
}

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

static void read_framing(struct request *request, struct lws *wsi) {
  char text[64];
  gateway_span connection = put_header(request, wsi, WSI_TOKEN_CONNECTION);
  bool modern = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP) > 0 && strcmp(text, "HTTP/1.1") == 0;
  request->is_modern = modern;
  request->keep_alive = modern ? !list_contains(connection, "close", true) : span_equals(connection, "keep-alive");
  request->chunked = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0;
  request->expects_continue = modern && lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_EXPECT) > 0;
  request->has_length = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0;
  if (!request->has_length) return;
  int length = lws_hdr_copy(wsi, text, sizeof text, WSI_TOKEN_HTTP_CONTENT_LENGTH);
  bool sensible = length > 0 && length <= 18 && strspn(text, "0123456789") == (size_t)length;
  request->content_length = sensible ? strtoll(text, NULL, 10) : -1;
}

/* An upper bound for all that is copied: a query may grow threefold by encoding. */
static size_t needed_capacity(struct lws *wsi, int *longest) {
  size_t total = 1024 + (size_t)lws_hdr_total_length(wsi, WSI_TOKEN_CONNECTION);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    total += (size_t)lws_hdr_total_length(wsi, methods[i].token) + 1;
  }
  for (size_t i = 0; i < sizeof copied_headers / sizeof *copied_headers; i++) {
    total += (size_t)lws_hdr_total_length(wsi, copied_headers[i]) + 16;
  }
  for (size_t i = 0; i < sizeof custom_headers / sizeof *custom_headers; i++) {
    int length = lws_hdr_custom_length(wsi, custom_headers[i], (int)strlen(custom_headers[i]));
    total += (length > 0 ? (size_t)length : 0) + 16;
  }
  *longest = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_URI_ARGS) + 1;
  return total + 4 * (size_t)*longest;
}

static void read_method_and_path(struct request *request, struct lws *wsi) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (lws_hdr_total_length(wsi, methods[i].token) <= 0) continue;
    enum lws_token_indexes token = methods[i].token;
    request->head.method = put(request, methods[i].name, strlen(methods[i].name));
    request->head.path = put_header(request, wsi, token);
    request->is_head = token == WSI_TOKEN_HEAD_URI;
    request->is_post = token == WSI_TOKEN_POST_URI;
    request->takes_body = request->is_post || token == WSI_TOKEN_PUT_URI || token == WSI_TOKEN_PATCH_URI;
    return;
  }
}

struct request *request_read(struct lws *wsi) {
  int longest;
  struct request *request = calloc(1, sizeof *request);
  if (!request) return NULL;
  request->capacity = needed_capacity(wsi, &longest);
  request->storage = malloc(request->capacity + (size_t)longest);
  if (!request->storage) {
    free(request);
    return NULL;
  }
  read_method_and_path(request, wsi);
  gateway_request *head = &request->head;
  head->query = put_query(request, wsi, request->storage + request->capacity, longest);
  head->origin = put_header(request, wsi, WSI_TOKEN_ORIGIN);
  head->host = put_header(request, wsi, WSI_TOKEN_HOST);
  head->authorization = put_header(request, wsi, WSI_TOKEN_HTTP_AUTHORIZATION);
  head->if_none_match = put_header(request, wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH);
  head->content_type = put_header(request, wsi, WSI_TOKEN_HTTP_CONTENT_TYPE);
  head->accept = put_header(request, wsi, WSI_TOKEN_HTTP_ACCEPT);
  head->accept_encoding = put_header(request, wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING);
  head->request_headers = put_header(request, wsi, WSI_TOKEN_HTTP_AC_REQUEST_HEADERS);
  head->last_event_id = put_custom_header(request, wsi, custom_headers[0]);
  head->request_method = put_custom_header(request, wsi, custom_headers[1]);
  head->protocols = put_header(request, wsi, WSI_TOKEN_PROTOCOL);
  head->peer = put_peer(request, wsi);
  read_framing(request, wsi);
  return request;
}

void request_free(struct request *request) {
  if (!request) return;
  free(request->storage);
  free(request);
}
