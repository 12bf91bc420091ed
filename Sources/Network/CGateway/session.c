/*
 * WebSocket sessions: from opening to closing, and frames out.
 *
 * Frames lie in a ring until they have left, and are written from where they are: what is due together leaves in one write.
 * Control frames go between frames, before what has waited longer, because a pong shows that the server is alive.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "internal.h"

enum { GATHERED_FRAMES = 64, REASON_BYTES = 123 };

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

/* Takes the request of a handshake. False when out of memory, or when the client is gone. */
bool session_open(struct connection *connection, struct request *request) {
  gateway *gateway = connection->gateway;
  struct session *session = calloc(1, sizeof *session);
  if (!session || !handshake_accept(connection, request) || !channel_open(&session->channel, gateway, &session_kind)) {
    free(session);
    request_free(request);
    return false;
  }
  session->connection = connection;
  session->pong_length = -1;
  connection->session = session;
  session_heard(session);
  gateway->configuration.callbacks.opened(gateway->context, session->channel.id, &request->head);
  request_free(request);
  if (gateway->stopping) session_close(session, gateway->stop_code, "");
  return true;
}

void session_gone(struct session *session) {
  gateway *gateway = session->channel.gateway;
  gateway_channel_id id = session->channel.id;
  session->connection->session = NULL;
  lws_dll2_remove(&session->due);
  lws_dll2_remove(&session->throttled);
  channel_close(&session->channel);
  free(session->message);
  free(session->close_reason);
  free(session);
  gateway->configuration.callbacks.closed(gateway->context, id);
}

/* Has the session written to after this turn, or when its socket has room. */
void session_wants_to_write(struct session *session) {
  if (!session->waits && lws_dll2_is_detached(&session->due)) lws_dll2_add_tail(&session->due, &session->channel.gateway->due);
}

/* A socket that took all that it was given most likely takes more, so it is not asked first. */
void sessions_write_due(gateway *gateway) {
  struct lws_dll2 *first;
  while ((first = lws_dll2_get_head(&gateway->due))) {
    lws_dll2_remove(first);
    session_write(lws_container_of(first, struct session, due));
  }
}

static void compose(struct session *session, uint8_t opcode, const uint8_t *payload, size_t length) {
  session->control[0] = 0x80 | opcode;
  session->control[1] = (uint8_t)length;
  if (length) memcpy(session->control + 2, payload, length);
  session->control_length = 2 + length;
  session->control_sent = 0;
}

static void compose_close(struct session *session) {
  uint8_t payload[CONTROL_BYTES];
  const char *reason = session->close_reason ? session->close_reason : "";
  size_t length = strlen(reason);
  payload[0] = (uint8_t)(session->close_code >> 8);
  payload[1] = (uint8_t)session->close_code;
  memcpy(payload + 2, reason, length);
  compose(session, 8, payload, session->close_code ? 2 + length : 0);
  session->ended = true;
}

/* Lays out the next control frame, where one may stand: not within a frame, nor in front of bytes that TLS has taken already. */
static void compose_next(struct session *session) {
  static const uint8_t ping[4] = {0};
  if (session->control_length || session->sent || session->connection->is_owed || session->ended) return;
  if (session->pong_length >= 0) {
    compose(session, 10, session->pong, (size_t)session->pong_length);
    session->pong_length = -1;
  } else if (session->ping_due) {
    compose(session, 9, ping, sizeof ping);
    session->ping_due = false;
  } else if (session->closing && (!session->channel.count || session->peer_closed)) {
    compose_close(session);
  }
}

static size_t gather(const struct session *session, struct iovec parts[GATHERED_FRAMES + 1]) {
  size_t count = 0, skipped = session->sent;
  if (session->control_length) {
    parts[count++] = (struct iovec){(uint8_t *)(uintptr_t)session->control + session->control_sent,
                                    session->control_length - session->control_sent};
  }
  for (uint32_t i = 0; i < session->channel.count && i < GATHERED_FRAMES && !session->ended; i++, skipped = 0) {
    const gateway_frame *frame = channel_frame(&session->channel, i);
    uint8_t *bytes = (uint8_t *)(uintptr_t)frame_wire_bytes(frame);
    parts[count++] = (struct iovec){bytes + skipped, gateway_frame_size(frame) - skipped};
  }
  return count;
}

/* What has left. */
static void account(struct session *session, size_t written) {
  if (session->control_length) {
    size_t part = session->control_length - session->control_sent;
    if (part > written) part = written;
    session->control_sent += part;
    written -= part;
    if (session->control_sent == session->control_length) session->control_length = 0;
  }
  session->sent += written;
  while (session->channel.count && session->sent >= gateway_frame_size(channel_frame(&session->channel, 0))) {
    gateway_frame *frame = channel_take(&session->channel);
    session->sent -= gateway_frame_size(frame);
    session->queued -= gateway_frame_size(frame);
    frame_let_go(session->channel.gateway, frame);
  }
  channel_landed(&session->channel);
}

static size_t length_of(const struct iovec *parts, size_t count) {
  size_t length = 0;
  for (size_t i = 0; i < count; i++) length += parts[i].iov_len;
  return length;
}

/* Both sides have said Close, or this one has and the other cannot be understood. */
static void finish(struct session *session) {
  if (session->peer_closed) {
    transport_end(session->connection);
    connection_drop(session->connection);
  } else if (session->is_lost) {
    /* Until the peer has read why, or its time is over: see session_watch. */
    transport_end(session->connection);
    session->connection->is_deaf = true;
  }
}

/* As much as there is room for. */
void session_write(struct session *session) {
  struct iovec parts[GATHERED_FRAMES + 1];
  for (;;) {
    compose_next(session);
    size_t count = gather(session, parts), length = length_of(parts, count);
    if (!count) break;
    ssize_t written = transport_write(session->connection, parts, count);
    if (written < 0) {
      connection_drop(session->connection);
      return;
    }
    account(session, (size_t)written);
    if ((size_t)written < length) {
      session->waits = true;
      lws_callback_on_writable(session->connection->wsi);
      break;
    }
  }
  session_watch_outbox(session);
  if (session->ended && !session->control_length) finish(session);
}

/* LWS_CALLBACK_RAW_WRITEABLE: the peer has made room, so it is there. */
void session_writable(struct session *session) {
  if (!session->waits) return;
  session->waits = false;
  session_heard(session);
  session_write(session);
}

/* Answers only the last of several pings, as RFC 6455 (5.5.3) allows, so that pongs cannot pile up. */
void session_answer_ping(struct session *session, const uint8_t *payload, size_t length) {
  if (length) memcpy(session->pong, payload, length);
  session->pong_length = (int)length;
  session_wants_to_write(session);
}

void session_close(struct session *session, uint16_t code, const char *reason) {
  if (session->closing || session->ended) return;
  session->closing = true;
  session->close_code = code;
  size_t length = strnlen(reason, REASON_BYTES);
  /* A reason cut in the middle of a character would be no text. */
  while (length && !utf8_is_valid((const uint8_t *)reason, length)) length--;
  session->close_reason = strndup(reason, length);
  session->close_by = gateway_now(session->channel.gateway) + CLOSE_PATIENCE_US;
  session_watch_outbox(session);
  session_wants_to_write(session);
}

/* The peer's Close is answered at once, and nothing may follow: what is queued is dropped. */
void session_peer_closed(struct session *session, uint16_t code) {
  session->peer_closed = true;
  if (!session->closing) session_close(session, code, "");
  session_wants_to_write(session);
}
