/*
 * Channels: what frames are sent to, be it a WebSocket session or a stream of events. A channel has a name, the frames
 * that wait for its socket, and a load that other threads may read. How frames become bytes is the business of
 * session.c and stream.c.
 *
 * Loads. A follower sends a client the newest state, not every state, so before it sends it asks whether the client has
 * taken what was sent before (`gateway_is_drained`). If not, the follower is a waiter: once the last frame of the
 * channel is with the kernel, `drained` is called with all waiters of that turn as one set. A frame counts from
 * gateway_queue on, before the service thread has seen it. Loads lie in blocks that never move, so that other threads
 * need no lock to read them.
 */
#include "channel.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

enum { LOADS_IN_BLOCK = 1024 };

/* The part of a channel that other threads may read. */
struct load {
  atomic_uint_fast64_t channel; /* 0: none; changed with the gateway's lock */
  atomic_uint_fast64_t waiters; /* a bit each */
  atomic_uint unsent;           /* frames sent to it that the kernel does not have yet */
};

static const uint64_t stream_mark = (uint64_t)1 << 63;

bool gateway_channel_is_stream(gateway_channel_id id) { return id & stream_mark; }

static uint32_t slot_of(const gateway *gateway, gateway_channel_id id) { return registry_slot(&gateway->channels.all, id); }

/* Any thread. NULL for a slot that no channel ever had. */
static struct load *load_at(const gateway *gateway, gateway_channel_id id) {
  uint32_t block = slot_of(gateway, id) / LOADS_IN_BLOCK;
  if (block >= LOAD_BLOCKS) return NULL;
  struct load *loads = atomic_load_explicit(&gateway->channels.loads[block], memory_order_acquire);
  return loads ? &loads[slot_of(gateway, id) % LOADS_IN_BLOCK] : NULL;
}

static struct load *make_load(gateway *gateway, gateway_channel_id id) {
  uint32_t block = slot_of(gateway, id) / LOADS_IN_BLOCK;
  if (block >= LOAD_BLOCKS) return NULL;
  if (!atomic_load_explicit(&gateway->channels.loads[block], memory_order_relaxed)) {
    struct load *loads = calloc(LOADS_IN_BLOCK, sizeof *loads);
    if (!loads) return NULL;
    atomic_store_explicit(&gateway->channels.loads[block], loads, memory_order_release);
  }
  return load_at(gateway, id);
}

/* Takes the lock, so that gateway_queue never counts a frame for a channel that is gone, or for the next one in its
   slot. */
static void name_load(gateway *gateway, struct load *load, gateway_channel_id id) {
  pthread_mutex_lock(&gateway->lock);
  atomic_store(&load->unsent, 0);
  atomic_store(&load->waiters, 0);
  atomic_store(&load->channel, id);
  pthread_mutex_unlock(&gateway->lock);
}

bool channel_open(struct channel *channel, gateway *gateway, const struct channel_kind *kind) {
  uint64_t id = registry_add(&gateway->channels.all, channel);
  channel->gateway = gateway;
  channel->kind = kind;
  channel->id = id | (kind->is_stream ? stream_mark : 0);
  channel->load = id ? make_load(gateway, id) : NULL;
  channel->frames = channel->few;
  channel->capacity = sizeof channel->few / sizeof *channel->few;
  channel->taken_at = gateway_now(gateway);
  if (!channel->load) {
    registry_remove(&gateway->channels.all, id);
    return false;
  }
  name_load(gateway, channel->load, channel->id);
  atomic_fetch_add(kind->is_stream ? &gateway->channels.streams : &gateway->channels.sessions, 1);
  return true;
}

void channel_copied(struct channel *channel, size_t bytes) {
  gateway_budget *budget = channel->gateway->configuration.budget;
  if (bytes) budget_add(budget, bytes);
  if (channel->copied) budget_remove(budget, channel->copied);
  channel->copied = bytes;
}

void channel_close(struct channel *channel) {
  gateway *gateway = channel->gateway;
  registry_remove(&gateway->channels.all, channel->id & ~stream_mark);
  name_load(gateway, channel->load, 0);
  while (channel->count) frame_let_go(gateway, channel_take(channel));
  channel_copied(channel, 0);
  if (channel->frames != channel->few) free(channel->frames);
  channel->frames = channel->few;
  atomic_fetch_sub(channel->kind->is_stream ? &gateway->channels.streams : &gateway->channels.sessions, 1);
}

struct channel *channel_find(const gateway *gateway, gateway_channel_id id) {
  struct channel *channel = registry_find(&gateway->channels.all, id & ~stream_mark);
  return channel && channel->id == id ? channel : NULL;
}

static bool make_room(struct channel *channel) {
  if (channel->count < channel->capacity) return true;
  uint32_t capacity = channel->capacity * 2;
  gateway_frame **frames = malloc(capacity * sizeof *frames);
  if (!frames) return false;
  for (uint32_t i = 0; i < channel->count; i++) frames[i] = channel_frame(channel, i);
  if (channel->frames != channel->few) free(channel->frames);
  channel->frames = frames;
  channel->capacity = capacity;
  channel->first = 0;
  return true;
}

/* Subtracts frames that reached the kernel, or that the channel drops. */
static void unload(struct channel *channel, unsigned count) {
  if (!count || atomic_fetch_sub(&channel->load->unsent, count) != count) return;
  channel->gateway->channels.drained_waiters |= atomic_exchange(&channel->load->waiters, 0);
}

void channel_landed(struct channel *channel) {
  channel_copied(channel, 0);
  unload(channel, channel->in_flight);
  channel->in_flight = 0;
}

gateway_frame *channel_frame(const struct channel *channel, uint32_t index) {
  return channel->frames[(channel->first + index) % channel->capacity];
}

gateway_frame *channel_take(struct channel *channel) {
  gateway_frame *frame = channel_frame(channel, 0);
  channel->first = (channel->first + 1) % channel->capacity;
  channel->count -= 1;
  channel->in_flight += 1;
  return frame;
}

/* Queues a frame whose load has been counted. */
static void enqueue(struct channel *channel, gateway_frame *frame) {
  if (!channel->kind->takes(channel, frame)) {
    unload(channel, 1);
    return;
  }
  if (!make_room(channel)) {
    unload(channel, 1);
    channel->kind->fail(channel);
    return;
  }
  frame_hold(channel->gateway, frame);
  /* If nothing was queued, the client's time to read begins now. */
  if (!channel->count && !channel->in_flight) channel->taken_at = gateway_now(channel->gateway);
  channel->frames[(channel->first + channel->count++) % channel->capacity] = frame;
  channel->kind->queued(channel, frame);
}

void channel_send(struct channel *channel, gateway_frame *frame) {
  atomic_fetch_add(&channel->load->unsent, 1);
  enqueue(channel, frame);
}

void channels_dispatch(gateway *gateway, const struct dispatch *dispatch) {
  for (size_t i = 0; i < dispatch->count; i++) {
    struct channel *channel = channel_find(gateway, dispatch->channels[i]);
    if (channel) enqueue(channel, dispatch->frame);
  }
}

void channels_tell_drained(gateway *gateway) {
  uint64_t waiters = gateway->channels.drained_waiters;
  gateway->channels.drained_waiters = 0;
  if (waiters) gateway->configuration.callbacks.drained(gateway->context, waiters);
}

/* Counts a frame for these channels, before the service thread gets it. The caller holds the lock. */
void channels_load(gateway *gateway, const gateway_channel_id *channels, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct load *load = load_at(gateway, channels[i]);
    if (load && atomic_load(&load->channel) == channels[i]) atomic_fetch_add(&load->unsent, 1);
  }
}

void channels_free(gateway *gateway) {
  for (uint32_t i = 0; i < LOAD_BLOCKS; i++) free(atomic_load(&gateway->channels.loads[i]));
  free(gateway->channels.all.entries);
}

/* Register the waiter, then look again: the last frame may have left before the waiter was there to be seen. */
bool gateway_is_drained(const gateway *gateway, gateway_channel_id channel, unsigned waiter) {
  struct load *load = load_at(gateway, channel);
  if (!load || atomic_load(&load->channel) != channel || !atomic_load(&load->unsent)) return true;
  atomic_fetch_or(&load->waiters, (uint64_t)1 << waiter);
  return !atomic_load(&load->unsent);
}
