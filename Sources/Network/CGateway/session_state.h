/* A WebSocket session. */
#ifndef CGATEWAY_SESSION_STATE_H
#define CGATEWAY_SESSION_STATE_H

#include "channel.h"
#include "connection.h"

struct session {
  struct channel channel;
  struct connection *connection;
  struct lws *wsi;

  size_t queued;        /* bytes of frames that have not left entirely */
  size_t bytes_in_flight; /* bytes of frames in flight, which libwebsockets has and the kernel has not entirely */
  size_t sent;          /* bytes sent of the first frame's payload: see write_fragment */
  lws_dll2_t due;       /* in the gateway's list */
  bool waits;           /* libwebsockets will call back when the socket has room */
  bool pinged, ping_due;
  bool closing, ended;  /* closing: after what is queued. ended: nothing may follow */
  uint16_t close_code;
  char *close_reason;   /* NULL for none */
  lws_usec_t close_by;

  /* Reading: see flow.c. */
  unsigned pauses; /* why it is paused: PAUSED_BY_... */
  lws_usec_t read_at;   /* when it may be read again */
  lws_dll2_t throttled; /* in the gateway's list until then */

  /* The message being put together: see messages.c. */
  uint8_t *message;
  size_t message_length, message_capacity;

  lws_usec_t heard_at; /* the last sign of life */
  uint64_t progress;   /* see socket_progress */
};

static inline void session_heard(struct session *session) {
  session->heard_at = gateway_now(session->channel.gateway);
  session->pinged = false;
}

#endif
