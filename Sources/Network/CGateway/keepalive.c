/*
 * Keep-alive. Sessions without a sign of life are pinged, then closed.
 *
 * libwebsockets could do it (lws_retry_bo_t), but keeps one timer for each connection in one sorted list: with 10,000
 * sessions every pong would walk thousands of entries, and a client that is busy reading a large frame over a slow
 * line would be cut off, since only a pong counts there. Here one timer looks at all, and every message, pong and
 * write that the peer has made room for counts.
 */
#include "internal.h"

void session_heard(struct session *session) {
  session->heard_at = gateway_now(session->channel.gateway);
  session->pinged = false;
}

lws_usec_t read_patience(const gateway *gateway) {
  const lws_usec_t day = 86400 * (lws_usec_t)LWS_US_PER_SEC;
  int milliseconds = gateway->configuration.read_timeout;
  return milliseconds > 0 ? (lws_usec_t)milliseconds * LWS_US_PER_MS : day;
}

/* Whether it has taken nothing for too long of what waits for it. Taking something is a sign of life. */
static bool has_stalled(struct session *session, lws_usec_t now) {
  uint64_t progress = session->queued ? socket_progress(lws_get_socket_fd(session->connection->wsi)) : session->progress;
  if (progress != session->progress) session_heard(session);
  if (!session->queued || progress != session->progress) session->channel.taken_at = now;
  session->progress = progress;
  return now - session->channel.taken_at >= read_patience(session->channel.gateway);
}

void session_watch(struct channel *channel, lws_usec_t now) {
  struct session *session = lws_container_of(channel, struct session, channel);
  const gateway_configuration *c = &session->channel.gateway->configuration;
  /* Whoever is not read cannot be heard. */
  bool is_muted = session->pauses & (PAUSED_BY_RATE | PAUSED_BY_CALLBACK);
  if (session->closing && now >= session->close_by) {
    connection_drop(session->connection);
    return;
  }
  if (has_stalled(session, now)) {
    session->channel.gateway->counters.stalled += 1;
    connection_drop(session->connection);
    return;
  }
  lws_usec_t silent = is_muted ? 0 : now - session->heard_at;
  if (c->hang_up_after > 0 && silent >= (lws_usec_t)c->hang_up_after * LWS_US_PER_MS) {
    connection_drop(session->connection);
  } else if (c->ping_after > 0 && !session->pinged && silent >= (lws_usec_t)c->ping_after * LWS_US_PER_MS) {
    session->pinged = session->ping_due = true;
    session_wants_to_write(session);
  }
}
