/*
 * Channels: what frames are sent to, be it a WebSocket session or a stream of events. Those who send need not know which: one
 * queue of commands, one list of those that have taken everything.
 */
#include <stdlib.h>

#include "internal.h"

struct session *channel_session(const gateway *gateway, gateway_channel_id id) {
  return id == gateway_stream_of(id) ? NULL : registry_find(&gateway->sessions, id);
}

struct stream *channel_stream(const gateway *gateway, gateway_channel_id id) {
  if (id != gateway_stream_of(id)) return NULL;
  struct exchange *exchange = registry_find(&gateway->exchanges, id & ~gateway_stream_of(0));
  return exchange && exchange->state == STREAMING ? exchange->stream : NULL;
}

void channel_send(gateway *gateway, gateway_channel_id id, gateway_frame *frame) {
  struct session *session = channel_session(gateway, id);
  struct stream *stream = session ? NULL : channel_stream(gateway, id);
  if (!session && !stream) return;
  frame_hold(gateway, frame);
  if (session) {
    session_send(session, frame);
  } else {
    stream_send(stream, frame);
  }
}

void channel_close(gateway *gateway, gateway_channel_id id, uint16_t code, const char *reason) {
  struct session *session = channel_session(gateway, id);
  struct stream *stream = session ? NULL : channel_stream(gateway, id);
  if (session) session_close(session, code, reason);
  if (stream) stream_end(stream);
}

bool channel_note_drained(gateway *gateway, gateway_channel_id id) {
  struct id_list *drained = &gateway->drained;
  if (drained->count == drained->capacity) {
    size_t capacity = drained->capacity ? drained->capacity * 2 : 64;
    uint64_t *ids = realloc(drained->ids, capacity * sizeof *ids);
    if (!ids) return false;
    drained->ids = ids;
    drained->capacity = capacity;
  }
  drained->ids[drained->count++] = id;
  return true;
}

void channels_tell_drained(gateway *gateway) {
  struct id_list *drained = &gateway->drained;
  size_t count = 0;
  /* Skip those that are closed. */
  for (size_t i = 0; i < drained->count; i++) {
    gateway_channel_id id = drained->ids[i];
    if (channel_session(gateway, id) || channel_stream(gateway, id)) drained->ids[count++] = id;
  }
  drained->count = 0;
  if (count) gateway->configuration.callbacks.drained(gateway->context, drained->ids, count);
}
