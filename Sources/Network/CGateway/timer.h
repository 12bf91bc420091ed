/* Runs something at a time on the service thread. */
#ifndef CGATEWAY_TIMER_H
#define CGATEWAY_TIMER_H

#include <libwebsockets.h>
#include <stdbool.h>

#include "CGateway.h"

typedef void timer_action(gateway *gateway);

struct timer {
  lws_sorted_usec_list_t entry;
  gateway *gateway;
  timer_action *fire;
  lws_usec_t at; /* 0: it is not set */
};

/* Calls `fire` once, after so long. Setting it again replaces the former time. */
void timer_set(gateway *gateway, struct timer *timer, lws_usec_t microseconds, timer_action *fire);
void timer_cancel(struct timer *timer);
/* To be called in every turn of the loop. */
void timer_keep(struct timer *timer);

#endif
