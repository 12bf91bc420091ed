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
  struct place place; /* behind a proxy: its client */
  uint8_t *body;
  size_t body_length;
  lws_usec_t body_since;
  bool keep_alive;
  bool is_offered; /* room was offered, and libwebsockets has not called back yet */
  bool has_head;   /* the answer's head has been written */
  bool streamed;   /* there was a stream */
  bool reported;   /* `answered` was called */
  struct answer *answer;
  size_t sent, total; /* bytes of the answer's body */
  const struct exchange_source *source;
  struct stream *stream; /* NULL once it is over */
  lws_usec_t give_up_at;
  lws_dll2_t waiting; /* in the gateway's list `exchanges.due` or `exchanges.unfinished` */
};

/* Events of a connection from libwebsockets: all return what its callbacks do. */
int exchange_begin(struct connection *connection);
int exchange_body(struct lws *wsi, const uint8_t *bytes, size_t length);
int exchange_body_complete(struct lws *wsi);
int exchange_writable(struct lws *wsi);
void exchange_gone(struct exchange *exchange);

/* Called when the head of a request is late: answers with that error, or hangs up. */
void exchange_refuse_late(struct connection *connection, bool has_begun);
void exchange_answer(struct exchange *exchange, struct answer *answer); /* takes the answer */
/* Schedule writing: for the end of this turn of the loop, or for later, when the kernel may have room. */
void exchange_write_soon(struct exchange *exchange);
void exchange_write_later(struct exchange *exchange);
/* The kernel has its answer. Returns what libwebsockets' callback does. */
int exchange_finish(struct exchange *exchange);
void exchange_give_up(struct exchange *exchange);
void exchange_hang_up(struct exchange *exchange); /* when the client does not read what it is sent */

void exchanges_write_due(gateway *gateway);
void exchanges_watch(gateway *gateway, lws_usec_t now);

/* While the gateway stops: whether requests wait for answers. The second function refuses them, and returns whether any
   did. */
bool exchanges_wait(const gateway *gateway);
bool exchanges_refuse_waiting(gateway *gateway);

#endif
