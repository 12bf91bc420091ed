/*
 * When a session is read. Not reading is how a client is slowed that asks faster than it is served: TCP pushes back,
 * nothing is lost or reordered, and other clients do not notice.
 *
 * Reading pauses for any of these reasons, and goes on when none of them holds:
 *
 *   PAUSED_BY_OUTBOX    more than outbox_limit is queued for the session; until less than half of it is
 *   PAUSED_BY_RATE      it sends faster than it may; for as long as `framed` said
 *   PAUSED_BY_CALLBACK  `received` said so; until gateway_resume
 */
#include "flow.h"

#include "loop.h"

/* How often sessions that sent too fast are looked at. */
#define THROTTLE_INTERVAL_US ((lws_usec_t)20000)

static void apply(struct session *session, unsigned pauses) {
  if (session->closing) pauses = 0; /* the peer's Close frame must be read */
  bool was_paused = session->pauses != 0;
  session->pauses = pauses;
  if (was_paused == (pauses != 0)) return;
  if (pauses) {
    lws_rx_flow_control(session->wsi, 0);
  } else {
    resume_reading(session->channel.gateway, session->wsi);
  }
}

void session_pause(struct session *session, unsigned reason) { apply(session, session->pauses | reason); }

void session_resume(struct session *session, unsigned reason) {
  if (!(session->pauses & reason)) return;
  /* While it was paused, its messages were not read, so its silence does not count. */
  session_heard(session);
  apply(session, session->pauses & ~reason);
}

void session_watch_outbox(struct session *session) {
  size_t limit = session->channel.gateway->configuration.outbox_limit;
  bool is_paused = session->pauses & PAUSED_BY_OUTBOX;
  bool pause = is_paused ? session->queued >= limit / 2 && session->queued > 0 : session->queued > limit;
  apply(session, pause ? session->pauses | PAUSED_BY_OUTBOX : session->pauses & ~(unsigned)PAUSED_BY_OUTBOX);
}

static void fire_throttle(gateway *gateway) {
  lws_usec_t now = gateway_now(gateway);
  lws_start_foreach_dll_safe(struct lws_dll2 *, at, next, lws_dll2_get_head(&gateway->flow.throttled)) {
    struct session *session = lws_container_of(at, struct session, throttled);
    if (now >= session->read_at) {
      lws_dll2_remove(at);
      session_resume(session, PAUSED_BY_RATE);
    }
  }
  lws_end_foreach_dll_safe(at, next);
  if (gateway->flow.throttled.count) timer_set(gateway, &gateway->flow.timer, THROTTLE_INTERVAL_US, fire_throttle);
}

void session_framed(struct session *session) {
  gateway *gateway = session->channel.gateway;
  const gateway_callbacks *callbacks = &gateway->configuration.callbacks;
  int64_t pause = callbacks->framed ? callbacks->framed(gateway->context, session->channel.id) : 0;
  if (pause <= 0 || !lws_dll2_is_detached(&session->throttled)) return;
  session->read_at = gateway_now(gateway) + pause;
  session_pause(session, PAUSED_BY_RATE);
  if (!gateway->flow.throttled.count) timer_set(gateway, &gateway->flow.timer, THROTTLE_INTERVAL_US, fire_throttle);
  lws_dll2_add_tail(&session->throttled, &gateway->flow.throttled);
}
