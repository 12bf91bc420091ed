/* WebSocket sessions: from opening to closing, and frames out. */
#ifndef CGATEWAY_SESSION_H
#define CGATEWAY_SESSION_H

#include "session_state.h"

/* Takes the request of its handshake. Returns what libwebsockets' callbacks do. */
int session_open(struct connection *connection);
int session_writable(struct session *session);
void session_gone(struct session *session);
void session_wants_to_write(struct session *session);
void sessions_write_due(gateway *gateway);
void session_close(struct session *session, uint16_t code, const char *reason);

#endif
