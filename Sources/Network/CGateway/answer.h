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
  gateway_budget *charged;    /* the budget that counts its length; NULL: not counted yet */
  const char *code;           /* the error code of a problem that the gateway reports; NULL otherwise */
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
/* Writes head and body at once, on an HTTP/1 connection that nothing was written to yet; false if that fails. */
bool answer_write_whole(const struct answer *answer, gateway *gateway, struct lws *wsi);

#endif
