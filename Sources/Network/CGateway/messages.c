/* Messages in: fragments are put together up to message_limit. */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

#include "flow.h"

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
  switch (gateway->configuration.callbacks.received(gateway->context, session->channel.id, bytes, length)) {
    case GATEWAY_READ_ON: break;
    case GATEWAY_PAUSE: session_pause(session, PAUSED_BY_CALLBACK); break;
    /* Not by libwebsockets (LWS_SERVER_OPTION_VALIDATE_UTF8), which closes before frames on their way are flushed. */
    case GATEWAY_NOT_TEXT: session_close(session, 1007, "not UTF-8"); break;
  }
}

int session_receive(struct session *session, const uint8_t *bytes, size_t length) {
  struct lws *wsi = session->wsi;
  session_heard(session);
  if (session->closing || session->ended) return 0;
  if (lws_frame_is_binary(wsi)) {
    session_close(session, 1003, "text only");
    return 0;
  }
  /* The cost of a frame does not depend on its length: a message in pieces counts as many as it has frames. */
  if (!lws_remaining_packet_payload(wsi)) session_framed(session);
  size_t limit = session->channel.gateway->configuration.message_limit, so_far = session->message_length;
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
