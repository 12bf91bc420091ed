/* One HTTP request and its answer. */
#ifndef CGATEWAY_EXCHANGE_H
#define CGATEWAY_EXCHANGE_H

#include "answer.h"
#include "connection.h"

/* READING its body, WAITING for an answer, WRITING it or STREAMING one that goes on, or LINGERING until the client has
   closed after the last byte. DOOMED: libwebsockets will close it. */
enum exchange_state { READING, WAITING, WRITING, STREAMING, LINGERING, DOOMED };

struct stream;
struct exchange;
/* How a stream that answers a request goes on, and ends. */
struct exchange_source {
  int (*writable)(struct exchange *exchange); /* -1: libwebsockets is to close */
  void (*close)(struct exchange *exchange);
};

struct exchange {
  enum exchange_state state;
  gateway *gateway;
  struct connection *connection;
  gateway_request_id id;
  struct request *request;
  struct place place; /* of its client, behind a proxy */
  uint8_t *body;
  size_t body_length;
  lws_usec_t body_since;
  bool keep_alive;
  bool is_offered; /* room, of which libwebsockets has not told yet */
  bool has_head;   /* that of the answer has been written */
  bool streamed;   /* there was a stream */
  bool reported;   /* `answered` was called */
  struct answer *answer;
  size_t sent, total; /* of the answer's body */
  const struct exchange_source *source;
  struct stream *stream; /* until it is over */
  lws_usec_t give_up_at;
  lws_dll2_t waiting; /* among those that write soon, or later */
};

/* Events of a connection from libwebsockets: all return what its callbacks do. */
int exchange_begin(struct connection *connection);
int exchange_body(struct lws *wsi, const uint8_t *bytes, size_t length);
int exchange_body_complete(struct lws *wsi);
int exchange_writable(struct lws *wsi);
void exchange_gone(struct exchange *exchange);

/* The head of its request does not come: answers that, or hangs up. */
void exchange_refuse_late(struct connection *connection, bool has_begun);
void exchange_answer(struct exchange *exchange, struct answer *answer); /* takes the answer */
/* Has it written to when this turn of the loop ends, or once there is room. */
void exchange_write_soon(struct exchange *exchange);
void exchange_write_later(struct exchange *exchange);
/* The kernel has its answer. Returns what libwebsockets' callback does. */
int exchange_finish(struct exchange *exchange);
void exchange_give_up(struct exchange *exchange);
void exchange_hang_up(struct exchange *exchange); /* the client does not take what it is sent */

void exchanges_write_due(gateway *gateway);
void exchanges_watch(gateway *gateway, lws_usec_t now);

/* The gateway stops: whether requests wait for answers; answers them, and returns whether there were any. */
bool exchanges_wait(const gateway *gateway);
bool exchanges_refuse_waiting(gateway *gateway);

#endif
