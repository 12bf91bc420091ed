/* When a session is read. */
#ifndef CGATEWAY_FLOW_H
#define CGATEWAY_FLOW_H

#include "session_state.h"

/* Why a session is not read. */
enum { PAUSED_BY_OUTBOX = 1, PAUSED_BY_RATE = 2, PAUSED_BY_CALLBACK = 4 };
void session_pause(struct session *session, unsigned reason);
void session_resume(struct session *session, unsigned reason);
void session_watch_outbox(struct session *session);
void session_framed(struct session *session); /* a frame was received */

#endif
