/* Channels: the first member of a session or a stream. */
#ifndef CGATEWAY_CHANNEL_H
#define CGATEWAY_CHANNEL_H

#include "gateway.h"

struct channel;
struct channel_kind {
  bool is_stream;
  /* Whether a frame may still be queued; if so it is, and `queued` is called. */
  bool (*takes)(struct channel *channel, const gateway_frame *frame);
  void (*queued)(struct channel *channel, const gateway_frame *frame);
  /* There is no memory for a frame. */
  void (*fail)(struct channel *channel);
  /* Closes after the queued frames. */
  void (*end)(struct channel *channel, uint16_t code, const char *reason);
  /* Twice a second. */
  void (*watch)(struct channel *channel, lws_usec_t now);
};

struct channel {
  gateway *gateway;
  const struct channel_kind *kind;
  gateway_channel_id id;
  struct load *load;

  /* Frames to write: a ring. */
  gateway_frame **frames;
  uint32_t first, count, capacity;
  uint32_t in_flight;     /* frames taken from the ring that the kernel does not have entirely */
  size_t copied;          /* bytes in flight that libwebsockets has copied; they count in the gateway's budget */
  gateway_frame *few[4];  /* the ring of a channel that never had more queued */
  lws_usec_t taken_at;    /* when the peer last took something, or there was nothing to take */
};

bool channel_open(struct channel *channel, gateway *gateway, const struct channel_kind *kind);
void channel_close(struct channel *channel);
struct channel *channel_find(const gateway *gateway, gateway_channel_id id); /* NULL for one that is gone */
void channel_send(struct channel *channel, gateway_frame *frame);
gateway_frame *channel_frame(const struct channel *channel, uint32_t index);
gateway_frame *channel_take(struct channel *channel); /* the first frame, with its reference */
/* Called after a write: the kernel has all that was in flight, or libwebsockets has copied that many bytes of it. */
void channel_landed(struct channel *channel);
void channel_copied(struct channel *channel, size_t bytes);

/* One frame and the channels that get it; allocated in one piece. */
struct dispatch {
  gateway_frame *frame;
  size_t count;
  gateway_channel_id channels[];
};
void channels_dispatch(gateway *gateway, const struct dispatch *dispatch);
void channels_tell_drained(gateway *gateway);
/* Counts a frame for these channels, before the service thread gets it. The caller holds the gateway's lock. */
void channels_load(gateway *gateway, const gateway_channel_id *channels, size_t count);
void channels_free(gateway *gateway);

#endif
