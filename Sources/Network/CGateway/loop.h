/* The service thread's loop. */
#ifndef CGATEWAY_LOOP_H
#define CGATEWAY_LOOP_H

#include "gateway.h"

/* The caller holds the lock under which contexts are made. */
bool loop_create_context(gateway *gateway, struct lws_context_creation_info *info);
bool loop_open_wake(gateway *gateway);
void loop_woken(gateway *gateway);
bool loop_wake(gateway *gateway); /* any thread */
bool loop_open_alarm(gateway *gateway);
void loop_alarm_rang(gateway *gateway);
void loop_wake_in(gateway *gateway, lws_usec_t microseconds); /* when something scheduled with libwebsockets is due */
void loop_nudge(gateway *gateway);                            /* the same, at once */
bool loop_run_once(gateway *gateway, bool waits);             /* false when libwebsockets gave up */
void loop_destroy(gateway *gateway);

/* Closes the connection at the next turn of the loop, without a word to the peer. */
void doom(gateway *gateway, struct lws *wsi);
/* Makes libwebsockets call back now, as if the socket had room and nothing to read. */
void offer_room(gateway *gateway, struct lws *wsi);
/* Reads from a connection again, beginning with the bytes that had been read when reading was paused. */
void resume_reading(gateway *gateway, struct lws *wsi);

#endif
