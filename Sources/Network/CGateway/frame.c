/*
 * Frames: a text message with its WebSocket header right in front of it, written once and sent to any number of
 * sessions. Immutable, so that threads share it by counting references alone.
 */
#include "frame.h"

#include <stdlib.h>

struct gateway_frame {
  atomic_uint references;
  atomic_uint places; /* references that count in the budget */
  uint32_t header_length; /* 2, 4 or 10 */
  size_t length;
  uint8_t *payload; /* behind GATEWAY_FRAME_HEADROOM bytes, at whose end the header stands */
  void *block;
  void (*release)(void *block);
};

size_t frame_put_header(uint8_t *payload, uint8_t first, size_t length) {
  size_t extended = length < 126 ? 0 : length <= UINT16_MAX ? 2 : 8;
  uint8_t *header = payload - 2 - extended;
  header[0] = first;
  header[1] = extended == 0 ? (uint8_t)length : extended == 2 ? 126 : 127;
  for (size_t i = 0; i < extended; i++) header[2 + i] = (uint8_t)((uint64_t)length >> (8 * (extended - 1 - i)));
  return 2 + extended;
}

gateway_frame *gateway_frame_create(void *block, size_t length, void (*release)(void *block)) {
  gateway_frame *frame = malloc(sizeof *frame);
  if (!frame) return NULL;
  atomic_init(&frame->references, 1);
  atomic_init(&frame->places, 0);
  frame->length = length;
  frame->payload = (uint8_t *)block + GATEWAY_FRAME_HEADROOM;
  frame->block = block;
  frame->release = release;
  frame->header_length = (uint32_t)frame_put_header(frame->payload, FRAME_FINAL | FRAME_TEXT, length);
  return frame;
}

const uint8_t *frame_payload(const gateway_frame *frame) { return frame->payload; }

size_t gateway_frame_size(const gateway_frame *frame) { return frame->header_length + frame->length; }

size_t frame_payload_length(const gateway_frame *frame) { return frame->length; }

const uint8_t *frame_wire_bytes(const gateway_frame *frame) { return frame->payload - frame->header_length; }

void gateway_frame_retain(gateway_frame *frame) {
  atomic_fetch_add_explicit(&frame->references, 1, memory_order_relaxed);
}

void gateway_frame_release(gateway_frame *frame) {
  if (atomic_fetch_sub_explicit(&frame->references, 1, memory_order_acq_rel) != 1) return;
  frame->release(frame->block);
  free(frame);
}

void frame_hold(gateway *gateway, gateway_frame *frame) {
  gateway_frame_retain(frame);
  if (atomic_fetch_add_explicit(&frame->places, 1, memory_order_relaxed) == 0) {
    budget_add(gateway->configuration.budget, gateway_frame_size(frame));
  }
}

void frame_let_go(gateway *gateway, gateway_frame *frame) {
  if (atomic_fetch_sub_explicit(&frame->places, 1, memory_order_relaxed) == 1) {
    budget_remove(gateway->configuration.budget, gateway_frame_size(frame));
  }
  gateway_frame_release(frame);
}

/*
 * The memory of what is on its way out has one budget for frames, HTTP answers and streams of all gateways. Bytes are
 * counted where the gateway takes and lets go of them: a frame once, however many sessions wait for it; an answer from
 * gateway_respond to its last byte; and what libwebsockets has copied of a frame that the kernel did not take whole.
 *
 * The gateway refuses answers that would exceed the budget, with 503. For frames the gateway's owner decides, with
 * gateway_budget_has_room: if one were left out, a client's list would differ from the server's.
 */

/* Shorter messages always have room, because errors must reach clients. */
#define ALWAYS_ROOM_BYTES ((size_t)4096)

struct gateway_budget {
  size_t limit;
  atomic_size_t used;
};

gateway_budget *gateway_budget_create(size_t limit) {
  gateway_budget *budget = calloc(1, sizeof *budget);
  if (budget) budget->limit = limit;
  return budget;
}

void gateway_budget_free(gateway_budget *budget) { free(budget); }

void budget_add(gateway_budget *budget, size_t bytes) { atomic_fetch_add_explicit(&budget->used, bytes, memory_order_relaxed); }

void budget_remove(gateway_budget *budget, size_t bytes) { atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed); }

size_t gateway_budget_used(const gateway_budget *budget) { return atomic_load_explicit(&budget->used, memory_order_relaxed); }

bool gateway_budget_has_room(const gateway_budget *budget, size_t bytes) {
  if (!budget->limit || bytes <= ALWAYS_ROOM_BYTES) return true;
  size_t used = gateway_budget_used(budget);
  return used <= budget->limit && bytes <= budget->limit - used;
}

bool has_room(const gateway *gateway, size_t bytes) { return gateway_budget_has_room(gateway->configuration.budget, bytes); }

void gateway_note_overload(gateway *gateway) { gateway->counters.memory += 1; }
