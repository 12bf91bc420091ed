/* Messages in. */
#ifndef CGATEWAY_MESSAGES_H
#define CGATEWAY_MESSAGES_H

#include "session.h"

/* LWS_CALLBACK_RECEIVE: a piece of a message, perhaps an empty one. Returns what the callback does. */
int session_receive(struct session *session, const uint8_t *bytes, size_t length);

#endif
