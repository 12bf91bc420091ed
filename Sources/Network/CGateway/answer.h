/* An answer to a request: made by any thread, sent by the service thread. */
#ifndef CGATEWAY_ANSWER_H
#define CGATEWAY_ANSWER_H

#include "gateway.h"

struct answer {
  int status;
  char *headers; /* lines "Name: value\r\n" */
  uint8_t *body; /* behind LWS_PRE bytes that libwebsockets writes over */
  size_t length;
  bool is_stream, is_chunked; /* a head without Content-Length */
  gateway_budget *charged;    /* in which its length counts; NULL: in none yet */
  const char *code;           /* of a problem that the gateway reports; NULL otherwise */
};

/* NULL when out of memory. */
struct answer *answer_create(int status, const char *headers, const uint8_t *body, size_t length);
/* The configured answer to a fault, with more headers. */
struct answer *answer_problem(const gateway *gateway, gateway_fault fault, const char *headers);
/* Replaces an answer that exceeds the memory limit. */
struct answer *answer_overload(gateway *gateway);
void answer_free(struct answer *answer);
void answer_charge(gateway *gateway, struct answer *answer);

bool answer_has_body(const struct answer *answer, bool is_head);
/* Status line and headers, from `at` on; false when they do not fit. */
bool answer_put_head(const struct answer *answer, struct lws *wsi, bool keep_alive, uint8_t **at, uint8_t *end);
/* All of it at once, on a connection of HTTP/1 to which nothing was written yet; false when it cannot be. */
bool answer_write_whole(const struct answer *answer, gateway *gateway, struct lws *wsi);

#endif
