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

int session_open(struct connection *connection) {
  gateway *gateway = connection->gateway;
  struct session *session = calloc(1, sizeof *session);
  if (!session) return -1;
  session->gateway = gateway;
  session->connection = connection;
  session->wsi = connection->wsi;
  session->frames = session->few;
  session->capacity = sizeof session->few / sizeof *session->few;
  session->id = registry_add(&gateway->sessions, session);
  if (!session->id || !connection->handshake) {
    registry_remove(&gateway->sessions, session->id);
    free(session);
    return -1;
  }
  connection->session = session;
  connection_has_head(connection);
  session_heard(session);
  gateway->configuration.callbacks.opened(gateway->context, session->id, &connection->handshake->head);
  request_free(connection->handshake);
  connection->handshake = NULL;
  if (gateway->stopping) session_close(session, gateway->stop_code, "");
  return 0;
}

void session_gone(struct session *session) {
  gateway *gateway = session->gateway;
  gateway_session_id id = session->id;
  registry_remove(&gateway->sessions, id);
  session->connection->session = NULL;
  lws_dll2_remove(&session->due);
  lws_dll2_remove(&session->throttled);
  for (uint32_t i = 0; i < session->count; i++) {
    frame_let_go(gateway, session->frames[(session->first + i) % session->capacity]);
  }
  outgoing_remove(gateway, session->copied);
  if (session->frames != session->few) free(session->frames);
  free(session->message);
  free(session->close_reason);
  free(session);
  gateway->configuration.callbacks.closed(gateway->context, id);
}

static bool make_room(struct session *session) {
  if (session->count < session->capacity) return true;
  uint32_t capacity = session->capacity * 2;
  gateway_frame **frames = malloc(capacity * sizeof *frames);
  if (!frames) return false;
  for (uint32_t i = 0; i < session->count; i++) {
    frames[i] = session->frames[(session->first + i) % session->capacity];
  }
  if (session->frames != session->few) free(session->frames);
  session->frames = frames;
  session->capacity = capacity;
  session->first = 0;
  return true;
}

void session_send(struct session *session, gateway_frame *frame) {
  if (session->closing || session->ended) {
    frame_let_go(session->gateway, frame);
    return;
  }
  if (!make_room(session)) {
    frame_let_go(session->gateway, frame);
    session_close(session, 1011, "out of memory");
    return;
  }
  session->frames[(session->first + session->count++) % session->capacity] = frame;
  session->queued += gateway_frame_size(frame);
  session->owes_drained = true;
  if (session->queued == gateway_frame_size(frame)) session->taken_at = gateway_now(session->gateway);
  session_wants_to_write(session);
  if (session->waits) session_watch_outbox(session);
}

/* Has the session written to after this turn, or when its socket has room. */
void session_wants_to_write(struct session *session) {
  if (!session->waits && lws_dll2_is_detached(&session->due)) lws_dll2_add_tail(&session->due, &session->gateway->due);
}

static bool has_something_to_write(const struct session *session) {
  return session->count || session->in_flight || session->ping_due || (session->closing && !session->ended);
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
    gateway_session_id id = session->id;
    lws_dll2_remove(&session->due);
    lws_service_fd(gateway->lws, &ready);
    session = registry_find(&gateway->sessions, id);
    /* libwebsockets had something of its own to write first, a pong perhaps. */
    if (session && has_something_to_write(session) && !session->waits) wait_for_room(session);
  }
}

static gateway_frame *first_frame(const struct session *session) { return session->frames[session->first]; }

static gateway_frame *take_frame(struct session *session) {
  gateway_frame *frame = first_frame(session);
  session->first = (session->first + 1) % session->capacity;
  session->count -= 1;
  session->in_flight += gateway_frame_size(frame);
  return frame;
}

/* One ready frame, straight from the buffer that all sessions share. */
static int write_one(struct session *session) {
  gateway_frame *frame = take_frame(session);
  uint8_t *bytes = (uint8_t *)(uintptr_t)frame_wire_bytes(frame);
  int written = lws_write(session->wsi, bytes, gateway_frame_size(frame), LWS_WRITE_RAW);
  frame_let_go(session->gateway, frame);
  return written;
}

static int write_gathered(struct session *session) {
  uint8_t *start = session->gateway->gather + LWS_PRE;
  size_t length = 0;
  while (session->count && length + gateway_frame_size(first_frame(session)) <= GATHER_BYTES) {
    gateway_frame *frame = take_frame(session);
    memcpy(start + length, frame_wire_bytes(frame), gateway_frame_size(frame));
    length += gateway_frame_size(frame);
    frame_let_go(session->gateway, frame);
  }
  return lws_write(session->wsi, start, length, LWS_WRITE_RAW);
}

static int write_next(struct session *session) {
  size_t first = gateway_frame_size(first_frame(session));
  bool alone = session->count == 1 || first > GATHER_BYTES ||
               first + gateway_frame_size(session->frames[(session->first + 1) % session->capacity]) > GATHER_BYTES;
  return alone ? write_one(session) : write_gathered(session);
}

/* What was in flight has left: libwebsockets calls back only then. */
static void settle(struct session *session) {
  if (!session->in_flight) return;
  outgoing_remove(session->gateway, session->copied);
  session->copied = 0;
  session->queued -= session->in_flight;
  session->in_flight = 0;
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
  while (session->count) {
    if (lws_partial_buffered(wsi)) return 0;
    if (write_next(session) < 0) return -1;
    if (lws_partial_buffered(wsi)) {
      /* libwebsockets has copied what is left: all of it is counted, for it does not say how much that is. */
      session->copied = session->in_flight;
      outgoing_add(session->gateway, session->copied);
      return 0;
    }
    session->queued -= session->in_flight;
    session->in_flight = 0;
    if (session->count && lws_send_pipe_choked(wsi)) return 0;
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
  if (session->count || session->in_flight || lws_partial_buffered(wsi)) {
    wait_for_room(session);
    return 0;
  }
  if (session->owes_drained) session->owes_drained = !channel_note_drained(session->gateway, session->id);
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
  session->close_by = gateway_now(session->gateway) + CLOSE_PATIENCE_US;
  session_watch_outbox(session);
  session_wants_to_write(session);
}
