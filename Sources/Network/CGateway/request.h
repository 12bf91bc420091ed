/* A request, out of libwebsockets' table of headers. */
#ifndef CGATEWAY_REQUEST_H
#define CGATEWAY_REQUEST_H

#include "gateway.h"

/* Spans point into `storage`. */
struct request {
  gateway_request head; /* every span but body is copied */
  char *storage;
  size_t used, capacity;
  gateway_span upgrade, connection, key, version, forwarded_for, forwarded;
  bool is_modern; /* HTTP/1.1 or later */
  bool is_head, takes_body, keep_alive, expects_continue; /* takes_body: libwebsockets may expect one, whatever is wrong with the rest */
  uint64_t content_length;
};

/* NULL when out of memory. Its fault is in `fault`, GATEWAY_NO_FAULT for none. */
struct request *request_read(struct lws *wsi, gateway_fault *fault);
/* A request about which nothing is known. */
struct request *request_create_empty(void);
/* Whether its client may send it now; if not, that is counted, and `headers` says when. */
bool request_is_admitted(gateway *gateway, const struct request *request, char *headers, size_t capacity);
void request_free(struct request *request);

/* Whether `token` is a member of a comma-separated list. */
bool list_contains(gateway_span list, const char *token, bool ignore_case);
bool span_equals(gateway_span span, const char *text);

#endif
