/*
 * WebSocket sessions: from opening to closing, and frames out.
 *
 * Frames lie in a ring until the socket is writable. They are ready bytes and leave with LWS_WRITE_RAW, which in
 * libwebsockets 4.1 and 4.3 touches neither the buffer nor the LWS_PRE bytes in front of it. A write always ends at a
 * frame's end, because libwebsockets answers pings between writes: a pong in the middle of a frame would be payload. What
 * the kernel does not take at once libwebsockets keeps and writes first; until that is done nothing more is written.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What a Close frame takes of a reason, and its end. */
enum { REASON_BYTES = 124 };

static struct session *session_of(struct channel *channel) { return lws_container_of(channel, struct session, channel); }

static bool takes(struct channel *channel, const gateway_frame *frame) {
  const struct session *session = session_of(channel);
  (void)frame;
  return !session->closing && !session->ended;
}

static void queued(struct channel *channel, const gateway_frame *frame) {
  struct session *session = session_of(channel);
  session->queued += gateway_frame_size(frame);
  session_wants_to_write(session);
  if (session->waits) session_watch_outbox(session);
}

static void fail(struct channel *channel) { session_close(session_of(channel), 1011, "out of memory"); }

static void end(struct channel *channel, uint16_t code, const char *reason) {
  session_close(session_of(channel), code, reason);
}

static const struct channel_kind session_kind = {
    .takes = takes, .queued = queued, .fail = fail, .end = end, .watch = session_watch};

int session_open(struct connection *connection) {
  gateway *gateway = connection->gateway;
  struct session *session = connection->handshake ? calloc(1, sizeof *session) : NULL;
  if (!session) return -1;
  session->connection = connection;
  session->wsi = connection->wsi;
  if (!channel_open(&session->channel, gateway, &session_kind)) {
    free(session);
    return -1;
  }
  connection->session = session;
  connection_has_head(connection);
  session_heard(session);
  gateway->configuration.callbacks.opened(gateway->context, session->channel.id, &connection->handshake->head);
  request_free(connection->handshake);
  connection->handshake = NULL;
  if (gateway->stopping) session_close(session, gateway->stop_code, "");
  return 0;
}

void session_gone(struct session *session) {
  gateway *gateway = session->channel.gateway;
  gateway_channel_id id = session->channel.id;
  session->connection->session = NULL;
  lws_dll2_remove(&session->due);
  lws_dll2_remove(&session->throttled);
  channel_close(&session->channel);
  outgoing_remove(gateway, session->copied);
  free(session->message);
  free(session->close_reason);
  free(session);
  gateway->configuration.callbacks.closed(gateway->context, id);
}

/* Has the session written to after this turn, or when its socket has room. */
void session_wants_to_write(struct session *session) {
  if (!session->waits && lws_dll2_is_detached(&session->due)) lws_dll2_add_tail(&session->due, &session->channel.gateway->due);
}

static bool has_something_to_write(const struct session *session) {
  return session->channel.count || session->in_flight || session->ping_due || (session->closing && !session->ended);
}

static void wait_for_room(struct session *session) {
  session->waits = true;
  lws_dll2_remove(&session->due);
  lws_callback_on_writable(session->wsi);
}

/*
 * A socket that took all that it was given most likely takes more. So nobody is asked whether it does: libwebsockets gets the
 * event that poll would have told, and calls back as if it had. What the kernel does not take then, libwebsockets keeps, and
 * it is the real event that follows. That spares every write a turn of the loop and what asking for the event costs there.
 */
void sessions_write_due(gateway *gateway) {
  struct lws_dll2 *first;
  while ((first = lws_dll2_get_head(&gateway->due))) {
    struct session *session = lws_container_of(first, struct session, due);
    struct lws_pollfd ready = {.fd = lws_get_socket_fd(session->wsi), .events = POLLOUT, .revents = POLLOUT};
    gateway_channel_id id = session->channel.id;
    lws_dll2_remove(&session->due);
    lws_service_fd(gateway->lws, &ready);
    if (!channel_find(gateway, id)) continue;
    /* libwebsockets had something of its own to write first, a pong perhaps. */
    if (has_something_to_write(session) && !session->waits) wait_for_room(session);
  }
}

static size_t first_size(const struct session *session) {
  return gateway_frame_size(channel_frame(&session->channel, 0));
}

static gateway_frame *take_frame(struct session *session) {
  gateway_frame *frame = channel_take(&session->channel);
  session->in_flight += gateway_frame_size(frame);
  return frame;
}

/* One ready frame, straight from the buffer that all sessions share. */
static int write_one(struct session *session) {
  gateway_frame *frame = take_frame(session);
  uint8_t *bytes = (uint8_t *)(uintptr_t)frame_wire_bytes(frame);
  int written = lws_write(session->wsi, bytes, gateway_frame_size(frame), LWS_WRITE_RAW);
  frame_let_go(session->channel.gateway, frame);
  return written;
}

static int write_gathered(struct session *session) {
  uint8_t *start = session->channel.gateway->gather + LWS_PRE;
  size_t length = 0;
  while (session->channel.count && length + first_size(session) <= GATHER_BYTES) {
    gateway_frame *frame = take_frame(session);
    memcpy(start + length, frame_wire_bytes(frame), gateway_frame_size(frame));
    length += gateway_frame_size(frame);
    frame_let_go(session->channel.gateway, frame);
  }
  return lws_write(session->wsi, start, length, LWS_WRITE_RAW);
}

static int write_next(struct session *session) {
  const struct channel *channel = &session->channel;
  bool alone = channel->count == 1 ||
               first_size(session) + gateway_frame_size(channel_frame(channel, 1)) > GATHER_BYTES;
  return alone ? write_one(session) : write_gathered(session);
}

/* What was in flight has left. */
static void landed(struct session *session) {
  session->queued -= session->in_flight;
  session->in_flight = 0;
  channel_landed(&session->channel);
}

/* libwebsockets calls back only when what it kept has left. */
static void settle(struct session *session) {
  if (!session->in_flight) return;
  outgoing_remove(session->channel.gateway, session->copied);
  session->copied = 0;
  landed(session);
  session_heard(session); /* the peer has made room, so it is there */
}

static int write_ping(struct session *session) {
  uint8_t buffer[LWS_PRE + 4] = {0};
  session->ping_due = false;
  /* Not empty, because libwebsockets does not report the pong of an empty one. */
  return lws_write(session->wsi, buffer + LWS_PRE, 4, LWS_WRITE_PING);
}

static int write_what_is_due(struct session *session) {
  struct lws *wsi = session->wsi;
  if (session->ping_due && write_ping(session) < 0) return -1;
  while (session->channel.count) {
    if (lws_partial_buffered(wsi)) return 0;
    if (write_next(session) < 0) return -1;
    if (lws_partial_buffered(wsi)) {
      /* libwebsockets has copied what is left: all of it is counted, for it does not say how much that is. */
      session->copied = session->in_flight;
      outgoing_add(session->channel.gateway, session->copied);
      return 0;
    }
    landed(session);
    if (session->channel.count && lws_send_pipe_choked(wsi)) return 0;
  }
  return 0;
}

/* LWS_CALLBACK_SERVER_WRITEABLE. -1 lets libwebsockets close. */
int session_writable(struct session *session) {
  struct lws *wsi = session->wsi;
  session->waits = false;
  if (session->ended) return 0;
  settle(session);
  if (write_what_is_due(session) < 0) return -1;
  session_watch_outbox(session);
  if (session->channel.count || session->in_flight || lws_partial_buffered(wsi)) {
    wait_for_room(session);
    return 0;
  }
  if (!session->closing) return 0;
  /* Only now: with bytes on their way libwebsockets would skip the Close frame. */
  session->ended = true;
  const char *reason = session->close_reason ? session->close_reason : "";
  lws_close_reason(wsi, (enum lws_close_status)session->close_code, (unsigned char *)(uintptr_t)reason, strlen(reason));
  return -1;
}

void session_close(struct session *session, uint16_t code, const char *reason) {
  if (session->closing || session->ended) return;
  session->closing = true;
  session->close_code = code;
  size_t length = strnlen(reason, REASON_BYTES - 1);
  /* A reason cut in the middle of a character would be no text. */
  while (length && !utf8_is_valid((const uint8_t *)reason, length)) length--;
  session->close_reason = strndup(reason, length);
  session->close_by = gateway_now(session->channel.gateway) + CLOSE_PATIENCE_US;
  session_watch_outbox(session);
  session_wants_to_write(session);
}
