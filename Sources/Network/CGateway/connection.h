/* Accepted sockets: whose they are, and how long a request may take to come. */
#ifndef CGATEWAY_CONNECTION_H
#define CGATEWAY_CONNECTION_H

#include "request.h"
#include "target.h"

struct exchange;
struct session;

void place_leave(gateway *gateway, struct place *place);

struct connection {
  gateway *gateway;
  struct lws *wsi;
  int descriptor; /* of the socket */
  struct target target;
  struct session *session;
  struct exchange *exchange; /* NULL while none is going on */
  struct request *handshake; /* an accepted handshake, until its session is open */
  struct place peer;    /* the other end of the socket: the client, or a proxy */
  struct place place;   /* behind a proxy: the client whose session it is */
  uint64_t read_count;     /* bytes read when a request had been answered; 0: none has been */
  lws_usec_t head_since;   /* when a head was first expected; 0: not yet */
  lws_dll2_t awaiting;     /* in the gateway's list while it has no head */
};

/* The connection of this socket; NULL: none. */
struct connection *connection_at(const gateway *gateway, int descriptor);
/* NULL for an unknown one. */
struct connection *connection_of(struct lws *wsi);
bool connection_open(gateway *gateway, struct lws *wsi);
void connection_free(struct connection *connection);
void connection_awaits_head(struct connection *connection);
void connection_has_head(struct connection *connection);
/* Finds the client of the request, and whether it is refused. A request from a trusted proxy takes a place of the
   proxy's client. */
struct place connection_name_client(struct connection *connection, struct request *request);
bool connection_is_refused(const struct connection *connection, const struct place *place);

/* Calls `late` for connections whose head has not come in time, with whether the head has begun. */
void connections_watch(gateway *gateway, lws_usec_t now, void (*late)(struct connection *connection, bool has_begun));

#endif
