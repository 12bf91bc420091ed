/*
 * Messages in: WebSocket frames as RFC 6455 has them, strictly, and fragments put together up to message_limit.
 *
 * libwebsockets is not asked to read frames: it takes reserved bits and long control frames for what they are not, and
 * hangs up where a Close frame with a code is due.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { CONTINUATION = 0, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10 };

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
  gateway *gateway = session->channel.gateway;
  if (!utf8_is_valid(bytes, length)) {
    session_close(session, 1007, "not UTF-8");
    return;
  }
  if (!gateway->configuration.callbacks.received(gateway->context, session->channel.id, bytes, length)) {
    session_pause(session, PAUSED_BY_CALLBACK);
  }
}

/* Closes for what cannot be read on from. */
static void fail(struct session *session, uint16_t code, const char *reason) {
  session->is_lost = true;
  session_close(session, code, reason);
}

/* Whether a frame may begin like this; otherwise the session is closed. */
static bool check_header(struct session *session, uint64_t length) {
  const struct incoming *frame = &session->incoming;
  const char *fault = NULL;
  bool is_control = frame->opcode & 8;
  if (frame->header[0] & 0x70) fault = "a reserved bit is set";
  if (!(frame->header[1] & 0x80)) fault = "the frame is not masked";
  if (is_control && !frame->is_final) fault = "a control frame in fragments";
  if (is_control && length > CONTROL_BYTES) fault = "the control frame is too long";
  if ((frame->opcode > BINARY && !is_control) || frame->opcode > PONG) fault = "an unknown opcode";
  if (!is_control && (frame->opcode == CONTINUATION) != session->is_in_message) fault = "a fragment out of place";
  if (length >> 63) fault = "a length beyond all";
  if (fault) {
    fail(session, 1002, fault);
  } else if (!is_control && frame->opcode == BINARY) {
    fail(session, 1003, "text only");
  } else if (!is_control && length > session->channel.gateway->configuration.message_limit - session->message_length) {
    fail(session, 1009, "message too large");
  }
  return !session->is_lost;
}

/* The header of the next frame, which may come in pieces: how much was used. */
static size_t read_header(struct session *session, const uint8_t *bytes, size_t length) {
  struct incoming *frame = &session->incoming;
  size_t used = 0, needed = 2;
  for (;;) {
    if (frame->header_length >= 2) {
      unsigned announced = frame->header[1] & 0x7F;
      needed = 6 + (announced == 127 ? 8 : announced == 126 ? 2 : 0);
      /* An unmasked frame is refused at once, whether or not four more bytes follow. */
      if (!(frame->header[1] & 0x80)) needed -= 4;
    }
    if (frame->header_length == needed) break;
    if (used == length) return used;
    frame->header[frame->header_length++] = bytes[used++];
  }
  uint64_t announced = frame->header[1] & 0x7F;
  size_t extended = announced == 127 ? 8 : announced == 126 ? 2 : 0;
  if (extended) announced = 0;
  for (size_t i = 0; i < extended; i++) announced = announced << 8 | frame->header[2 + i];
  frame->opcode = frame->header[0] & 15;
  frame->is_final = frame->header[0] & 0x80;
  if (!check_header(session, announced)) return length;
  memcpy(frame->mask, frame->header + 2 + extended, sizeof frame->mask);
  frame->left = announced;
  frame->control_length = 0;
  frame->is_open = true;
  frame->has_begun = false;
  return used;
}

static void unmask(struct incoming *frame, uint8_t *bytes, size_t length) {
  uint8_t mask[8];
  for (size_t i = 0; i < sizeof mask; i++) mask[i] = frame->mask[i & 3];
  size_t i = 0;
  for (; length - i >= sizeof mask; i += sizeof mask) {
    uint64_t word, pattern;
    memcpy(&word, bytes + i, sizeof word);
    memcpy(&pattern, mask, sizeof pattern);
    word ^= pattern;
    memcpy(bytes + i, &word, sizeof word);
  }
  for (; i < length; i++) bytes[i] ^= mask[i & 3];
  /* The next piece goes on where this one ends. */
  for (size_t k = 0; k < sizeof frame->mask; k++) frame->mask[k] = mask[(length + k) & 3];
}

static bool is_close_code(unsigned code) {
  return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) || (code >= 3000 && code < 5000);
}

static void end_control(struct session *session) {
  struct incoming *frame = &session->incoming;
  if (frame->opcode == PING) session_answer_ping(session, frame->control, frame->control_length);
  if (frame->opcode != CLOSE) return;
  unsigned code = frame->control_length >= 2 ? (unsigned)frame->control[0] << 8 | frame->control[1] : 0;
  if (frame->control_length == 1 || (frame->control_length && !is_close_code(code))) {
    fail(session, 1002, "a bad Close");
  } else if (frame->control_length > 2 && !utf8_is_valid(frame->control + 2, frame->control_length - 2)) {
    fail(session, 1007, "not UTF-8");
  } else {
    session_peer_closed(session, (uint16_t)code);
  }
}

/* A frame's end: control frames act, the last of a message delivers it. `bytes` is all of it, or a copy holds it. */
static void end_frame(struct session *session, const uint8_t *bytes, size_t length) {
  struct incoming *frame = &session->incoming;
  frame->is_open = false;
  frame->header_length = 0;
  /* What a frame costs does not depend on its length: a message in pieces costs as many tokens as it has frames. */
  if (!session->closing && frame->opcode != CLOSE && frame->opcode != PONG) session_take_token(session);
  if (frame->opcode & 8) {
    end_control(session);
    return;
  }
  session->is_in_message = !frame->is_final;
  if (!frame->is_final || session->closing) return;
  if (!session->message) {
    deliver(session, bytes, length);
    return;
  }
  deliver(session, session->message, session->message_length);
  free(session->message);
  session->message = NULL;
  session->message_length = session->message_capacity = 0;
}

/* The payload of a frame that has begun, or a piece of it: how much was used. */
static size_t read_payload(struct session *session, uint8_t *bytes, size_t length) {
  struct incoming *frame = &session->incoming;
  size_t used = frame->left < length ? (size_t)frame->left : length;
  unmask(frame, bytes, used);
  frame->left -= used;
  bool is_control = frame->opcode & 8;
  bool is_whole = !session->message && frame->opcode == TEXT && frame->is_final && !frame->left && !frame->has_begun;
  frame->has_begun = frame->left > 0;
  if (is_control) {
    memcpy(frame->control + frame->control_length, bytes, used);
    frame->control_length += used;
  } else if (!is_whole && !session->closing && !append(session, bytes, used)) {
    fail(session, 1011, "out of memory");
    return length;
  }
  if (!frame->left) end_frame(session, bytes, used);
  return used;
}

/* Frames and pieces of frames: how much was used. What is not stays for when the session is not paused any more. */
size_t session_read(struct session *session, uint8_t *bytes, size_t length) {
  size_t used = 0;
  session_heard(session);
  while (used < length && !session->pauses && !session->is_lost) {
    if (!session->incoming.is_open) used += read_header(session, bytes + used, length - used);
    /* A frame without payload ends with its header. */
    const struct incoming *frame = &session->incoming;
    if (frame->is_open && (used < length || !frame->left)) used += read_payload(session, bytes + used, length - used);
  }
  return session->is_lost ? length : used;
}
