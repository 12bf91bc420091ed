/*
 * Frames lie in a ring until the socket is writable. They are ready bytes and leave with LWS_WRITE_RAW, which in
 * libwebsockets 4.1 to 4.3 touches neither the buffer nor the LWS_PRE bytes in front of it. A write always ends at a
 * frame's end, because libwebsockets answers pings between writes: a pong in the middle of a frame would be payload.
 * Bytes that the kernel does not take at once are copied by libwebsockets, which writes them first; until then nothing
 * more is written. Longer messages leave in fragments of GATHER_BYTES, which bounds that copy.
 *
 * Keep-alive. libwebsockets could do it (lws_retry_bo_t), but keeps one timer for each connection in one sorted list:
 * with 10,000 sessions every pong would walk thousands of entries, and a client that is busy reading a large frame over
 * a slow line would be cut off, since only a pong counts there. Here one timer looks at all, and every message, pong
 * and write that the peer has made room for counts.
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "frame.h"
#include "loop.h"
#include "socket.h"

/* The longest reason of a Close frame. */
enum { REASON_BYTES = 123 };

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

/* Whether the peer has taken nothing of the frames that wait for it for too long. Taking something is a sign of
   life. */
static bool has_stalled(struct session *session, lws_usec_t now) {
  uint64_t progress = session->queued ? socket_progress(lws_get_socket_fd(session->wsi)) : session->progress;
  if (progress != session->progress) session_heard(session);
  if (!session->queued || progress != session->progress) session->channel.taken_at = now;
  session->progress = progress;
  return now - session->channel.taken_at >= read_patience(session->channel.gateway);
}

static void watch(struct channel *channel, lws_usec_t now) {
  struct session *session = session_of(channel);
  gateway *gateway = channel->gateway;
  const gateway_configuration *c = &gateway->configuration;
  bool has_had_time = session->closing && now >= session->close_by, is_stalled = !has_had_time && has_stalled(session, now);
  if (is_stalled) gateway->counters.stalled += 1;
  if (has_had_time || is_stalled) {
    doom(gateway, session->wsi);
    return;
  }
  /* A session that is not read cannot be heard. */
  bool is_muted = session->pauses & (PAUSED_BY_RATE | PAUSED_BY_CALLBACK);
  lws_usec_t silent = is_muted ? 0 : now - session->heard_at;
  if (c->hang_up_after > 0 && silent >= (lws_usec_t)c->hang_up_after * LWS_US_PER_MS) {
    doom(gateway, session->wsi);
  } else if (c->ping_after > 0 && !session->pinged && silent >= (lws_usec_t)c->ping_after * LWS_US_PER_MS) {
    session->pinged = session->ping_due = true;
    session_wants_to_write(session);
  }
}

static const struct channel_kind session_kind = {.takes = takes, .queued = queued, .fail = fail, .end = end, .watch = watch};

int session_open(struct connection *connection) {
  gateway *gateway = connection->gateway;
  struct session *session = connection->handshake ? calloc(1, sizeof *session) : NULL;
  if (!session || !channel_open(&session->channel, gateway, &session_kind)) {
    free(session);
    return -1;
  }
  session->connection = connection;
  session->wsi = connection->wsi;
  connection->session = session;
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
  free(session->message);
  free(session->close_reason);
  free(session);
  gateway->configuration.callbacks.closed(gateway->context, id);
}

/* Has the session written to after this turn, or when its socket has room. */
void session_wants_to_write(struct session *session) {
  if (!session->waits && lws_dll2_is_detached(&session->due)) lws_dll2_add_tail(&session->due, &session->channel.gateway->channels.due);
}

static bool has_something_to_write(const struct session *session) {
  return session->channel.count || session->channel.copied || session->ping_due || (session->closing && !session->ended);
}

static void wait_for_room(struct session *session) {
  session->waits = true;
  lws_dll2_remove(&session->due);
  lws_callback_on_writable(session->wsi);
}

/* A socket that took all of the last write most likely takes more, so it is not polled first: that saves each write a
   turn of the loop, and the cost of polling. */
void sessions_write_due(gateway *gateway) {
  struct lws_dll2 *first;
  while ((first = lws_dll2_get_head(&gateway->channels.due))) {
    struct session *session = lws_container_of(first, struct session, due);
    gateway_channel_id id = session->channel.id;
    lws_dll2_remove(&session->due);
    offer_room(gateway, session->wsi);
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
  session->bytes_in_flight += gateway_frame_size(frame);
  return frame;
}

/* The next fragment of a message that is too long for one write. */
static int write_fragment(struct session *session) {
  const gateway_frame *frame = channel_frame(&session->channel, 0);
  uint8_t *payload = session->channel.gateway->gather + LWS_PRE + FRAME_HEADER_BYTES;
  size_t left = frame_payload_length(frame) - session->sent, room = GATHER_BYTES - FRAME_HEADER_BYTES, part = left < room ? left : room;
  uint8_t first = (session->sent ? FRAME_CONTINUATION : FRAME_TEXT) | (part == left ? FRAME_FINAL : 0);
  size_t header = frame_put_header(payload, first, part);
  memcpy(payload, frame_payload(frame) + session->sent, part);
  session->sent += part;
  if (part == left) {
    session->sent = 0;
    frame_let_go(session->channel.gateway, take_frame(session));
  }
  return lws_write(session->wsi, payload - header, header + part, LWS_WRITE_RAW);
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
  if (first_size(session) > GATHER_BYTES) return write_fragment(session);
  bool is_alone = channel->count == 1 ||
                  first_size(session) + gateway_frame_size(channel_frame(channel, 1)) > GATHER_BYTES;
  return is_alone ? write_one(session) : write_gathered(session);
}

/* Called when the frames in flight have left. */
static void landed(struct session *session) {
  session->queued -= session->bytes_in_flight;
  session->bytes_in_flight = 0;
  channel_landed(&session->channel);
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
  while (session->channel.count && !lws_partial_buffered(wsi)) {
    if (write_next(session) < 0) return -1;
    if (lws_partial_buffered(wsi)) {
      /* libwebsockets has copied what is left, and does not say how much that is. */
      channel_copied(&session->channel, GATHER_BYTES);
    } else {
      landed(session);
    }
  }
  return 0;
}

/* LWS_CALLBACK_SERVER_WRITEABLE. -1 lets libwebsockets close. */
int session_writable(struct session *session) {
  struct lws *wsi = session->wsi;
  /* libwebsockets has closed by itself, for a frame that broke the protocol: nothing may follow. */
  if (lws_get_close_length(wsi)) session->ended = true;
  if (session->ended) return 0;
  /* libwebsockets calls back only when what it kept has left. The peer has made room, which is a sign of life. */
  if (session->channel.copied) {
    landed(session);
    session_heard(session);
  }
  session->waits = false;
  if (write_what_is_due(session) < 0) return -1;
  session_watch_outbox(session);
  if (session->channel.count || lws_partial_buffered(wsi)) {
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
  session->close_reason = strndup(reason, REASON_BYTES);
  session->close_by = gateway_now(session->channel.gateway) + CLOSE_PATIENCE_US;
  session_watch_outbox(session);
  session_wants_to_write(session);
}
