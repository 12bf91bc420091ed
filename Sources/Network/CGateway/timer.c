/*
 * libwebsockets keeps the time, but with libev it does what is due only in turns in which nothing happens. A connection
 * whose room is reported and which is not read (see exchange.c) makes something happen in every turn. So what is
 * overdue is done here, between turns.
 */
#include "timer.h"

#include "loop.h"

static void fire(struct timer *timer) {
  timer->at = 0;
  timer->fire(timer->gateway);
}

static void fire_entry(lws_sorted_usec_list_t *entry) { fire(lws_container_of(entry, struct timer, entry)); }

void timer_set(gateway *gateway, struct timer *timer, lws_usec_t microseconds, timer_action *fire) {
  timer->gateway = gateway;
  timer->fire = fire;
  timer->at = lws_now_usecs() + microseconds;
  lws_sul_schedule(gateway->loop.lws, 0, &timer->entry, fire_entry, microseconds);
  loop_wake_in(gateway, microseconds);
}

void timer_cancel(struct timer *timer) {
  timer->at = 0;
  lws_sul_cancel(&timer->entry);
}

void timer_keep(struct timer *timer) {
  if (!timer->at) return;
  lws_usec_t left = timer->at - lws_now_usecs();
  if (left > 0) {
    /* The one alarm may have been set for something sooner, and have gone off. */
    loop_wake_in(timer->gateway, left);
  } else {
    lws_sul_cancel(&timer->entry);
    fire(timer);
  }
}
