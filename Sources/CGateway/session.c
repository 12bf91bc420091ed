/*
 * WebSocket sessions.
 *
 * Out: frames lie in a ring until the socket is writable. They are ready bytes and leave with LWS_WRITE_RAW, which in libwebsockets 4.1 and 4.3 touches neither the buffer nor the LWS_PRE bytes in front of
 * it. A write always ends at a frame's end, because libwebsockets answers pings between writes: a pong in the middle
 * of a frame would be payload. What the kernel does not take at once libwebsockets keeps and writes first; until that
 * is done nothing more is written.
 *
 * In: fragments are put together up to message_limit. Too much queued for a session pauses reading from it, so that a
 * client that does not read cannot ask for more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "internal.h"

/* What a Close frame takes of a reason, and its end. */
enum { REASON_BYTES = 124 };

/* Refuses an upgrade with a plain HTTP answer. libwebsockets hangs up when this is returned. */
static int refuse(struct connection *connection, int status, const char *title, const char *code, const char *detail,
                  const char *headers) {
  int descriptor = lws_get_socket_fd(connection->wsi);
  struct answer *answer = answer_problem(status, title, code, detail, headers);
  size_t length = 0;
  char *head = answer ? answer_head(answer, false, &length) : NULL;
  if (head) {
    /* A few hundred bytes into an empty send buffer: the kernel takes them whole. */
    send(descriptor, head, length, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE);
    send(descriptor, answer->body, answer->length, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  free(head);
  answer_free(answer);
  return -1;
}

static int refuse_with_verdict(struct connection *connection, gateway_verdict status) {
  const char *title = status == 401 ? "Unauthorized" : status == 403 ? "Forbidden" : "Refused";
  const char *code = status == 401   ? "unauthenticated"
                     : status == 403 ? "not_allowed"
                     : status == 429 ? "limit_exceeded"
                     : status == 503 ? "overloaded"
                                     : "bad_message";
  return refuse(connection, status, title, code, "the handshake was refused", NULL);
}

/* What RFC 6455 wants of a handshake, and libwebsockets would answer by hanging up. NULL when all is there. */
static const char *handshake_fault(struct connection *connection) {
  const gateway_configuration *c = &connection->gateway->configuration;
  struct lws *wsi = connection->wsi;
  char text[128];
  /* libwebsockets reads at most 127 bytes of either list. */
  int length = lws_hdr_copy(wsi, text, sizeof text - 1, WSI_TOKEN_CONNECTION);
  gateway_span list = {(const uint8_t *)text, length > 0 ? (size_t)length : 0};
  if (!list_contains(list, "upgrade", true)) return "Connection must say Upgrade";
  if (lws_hdr_total_length(wsi, WSI_TOKEN_KEY) <= 0) return "Sec-WebSocket-Key is missing";
  list = connection->handshake->head.protocols;
  if (list.length >= sizeof text - 1) return "Sec-WebSocket-Protocol is too long";
  return list_contains(list, c->subprotocol, false) ? NULL : "Sec-WebSocket-Protocol must offer this server's protocol";
}

/* LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: the last stage at which a plain HTTP answer can be given. 0 lets it go on. */
int session_confirm_upgrade(struct connection *connection, const char *protocol) {
  gateway *gateway = connection->gateway;
  struct lws *wsi = connection->wsi;
  char version[8] = "";
  request_free(connection->handshake);
  connection->handshake = request_read(wsi);
  if (!connection->handshake) return -1;
  const gateway_request *head = &connection->handshake->head;
  if (strcasecmp(protocol, "websocket") != 0 || !span_equals(head->method, "GET")) {
    return refuse(connection, 400, "Bad Request", "bad_message", "no other upgrade than WebSocket is offered", NULL);
  }
  if (!span_equals(head->path, gateway->configuration.live_path)) {
    return refuse(connection, 404, "Not Found", "not_found", NULL, NULL);
  }
  lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_VERSION);
  if (strcmp(version, "13") != 0) {
    return refuse(connection, 426, "Upgrade Required", "bad_message", "WebSocket version 13 is spoken here",
                  "Sec-WebSocket-Version: 13\n");
  }
  gateway_verdict verdict = gateway->configuration.callbacks.handshake(gateway->context, head);
  if (verdict) return refuse_with_verdict(connection, verdict);
  const char *fault = handshake_fault(connection);
  return fault ? refuse(connection, 400, "Bad Request", "bad_message", fault, NULL) : 0;
}

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
  for (uint32_t i = 0; i < session->count; i++) {
    gateway_frame_release(session->frames[(session->first + i) % session->capacity]);
  }
  if (session->frames != session->few) free(session->frames);
  free(session->message);
  free(session->close_reason);
  free(session);
  gateway->configuration.callbacks.closed(gateway->context, id);
}

/* Reading is paused while more than outbox_limit is queued, until less than half of it is. */
static void apply_back_pressure(struct session *session) {
  size_t limit = session->gateway->configuration.outbox_limit;
  bool pause = session->paused ? session->queued >= limit / 2 && session->queued > 0 : session->queued > limit;
  if (session->closing) pause = false; /* the peer's Close frame must be read */
  if (pause == session->paused) return;
  session->paused = pause;
  if (pause) {
    lws_rx_flow_control(session->wsi, 0);
  } else {
    resume_reading(session->gateway, session->wsi);
  }
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
    gateway_frame_release(frame);
    return;
  }
  if (!make_room(session)) {
    gateway_frame_release(frame);
    session_close(session, 1011, "out of memory");
    return;
  }
  session->frames[(session->first + session->count++) % session->capacity] = frame;
  session->queued += gateway_frame_size(frame);
  session->owes_drained = true;
  session_wants_to_write(session);
  if (session->waits) apply_back_pressure(session);
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

static void note_drained(struct session *session) {
  struct id_list *drained = &session->gateway->drained;
  if (drained->count == drained->capacity) {
    size_t capacity = drained->capacity ? drained->capacity * 2 : 64;
    uint64_t *ids = realloc(drained->ids, capacity * sizeof *ids);
    if (!ids) return; /* told with the next frames */
    drained->ids = ids;
    drained->capacity = capacity;
  }
  drained->ids[drained->count++] = session->id;
  session->owes_drained = false;
}

void sessions_tell_drained(gateway *gateway) {
  struct id_list *drained = &gateway->drained;
  size_t count = 0;
  /* Nothing is told of who was closed meanwhile. */
  for (size_t i = 0; i < drained->count; i++) {
    if (registry_find(&gateway->sessions, drained->ids[i])) drained->ids[count++] = drained->ids[i];
  }
  drained->count = 0;
  if (count) gateway->configuration.callbacks.drained(gateway->context, drained->ids, count);
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
  gateway_frame_release(frame);
  return written;
}

static int write_gathered(struct session *session) {
  uint8_t *start = session->gateway->gather + LWS_PRE;
  size_t length = 0;
  while (session->count && length + gateway_frame_size(first_frame(session)) <= GATHER_BYTES) {
    gateway_frame *frame = take_frame(session);
    memcpy(start + length, frame_wire_bytes(frame), gateway_frame_size(frame));
    length += gateway_frame_size(frame);
    gateway_frame_release(frame);
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
    if (lws_partial_buffered(wsi)) return 0;
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
  apply_back_pressure(session);
  if (session->count || session->in_flight || lws_partial_buffered(wsi)) {
    wait_for_room(session);
    return 0;
  }
  if (session->owes_drained) note_drained(session);
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
  session->close_by = lws_now_usecs() + CLOSE_PATIENCE_US;
  apply_back_pressure(session);
  session_wants_to_write(session);
}

static bool append(struct session *session, const uint8_t *bytes, size_t length) {
  size_t needed = session->message_length + length;
  if (needed > session->message_capacity) {
    size_t capacity = session->message_capacity ? session->message_capacity : 4096;
    while (capacity < needed) capacity *= 2;
    uint8_t *message = realloc(session->message, capacity);
    if (!message) return false;
    session->message = message;
    session->message_capacity = capacity;
  }
  if (length) memcpy(session->message + session->message_length, bytes, length);
  session->message_length = needed;
  return true;
}

static void deliver(struct session *session, const uint8_t *bytes, size_t length) {
  gateway *gateway = session->gateway;
  if (!utf8_is_valid(bytes, length)) {
    session_close(session, 1007, "not UTF-8");
    return;
  }
  gateway->configuration.callbacks.received(gateway->context, session->id, bytes, length);
}

/* LWS_CALLBACK_RECEIVE: a piece of a message, perhaps an empty one. */
int session_receive(struct session *session, const uint8_t *bytes, size_t length) {
  struct lws *wsi = session->wsi;
  session_heard(session);
  if (session->closing || session->ended) return 0;
  if (lws_frame_is_binary(wsi)) {
    session_close(session, 1003, "text only");
    return 0;
  }
  size_t limit = session->gateway->configuration.message_limit, so_far = session->message_length;
  size_t announced = lws_remaining_packet_payload(wsi);
  if (length > limit - so_far || announced > limit - so_far - length) {
    session_close(session, 1009, "message too large");
    return 0;
  }
  bool whole = lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi);
  if (whole && !so_far) {
    deliver(session, bytes, length);
    return 0;
  }
  if (!append(session, bytes, length)) return -1;
  if (!whole) return 0;
  deliver(session, session->message, session->message_length);
  free(session->message);
  session->message = NULL;
  session->message_length = session->message_capacity = 0;
  return 0;
}
