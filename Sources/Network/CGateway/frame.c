/*
 * Frames: a text message with its WebSocket header right in front of it, written once and sent to any number of
 * sessions. Immutable, so that threads share it by counting references alone.
 */
#include <stdlib.h>

#include "internal.h"

struct gateway_frame {
  atomic_uint references;
  atomic_uint places; /* of references, those that count in a gateway's budget */
  uint32_t header_length; /* 2, 4 or 10 */
  size_t length;
  uint8_t *payload; /* behind GATEWAY_FRAME_HEADROOM bytes, at whose end the header stands */
  void *block;
  void (*release)(void *block);
};

static void lay_out_header(gateway_frame *frame) {
  const uint8_t final_text = 0x81;
  size_t extended = frame->length < 126 ? 0 : frame->length <= UINT16_MAX ? 2 : 8;
  frame->header_length = (uint32_t)(2 + extended);
  uint8_t *header = frame->payload - frame->header_length;
  header[0] = final_text;
  header[1] = extended == 0 ? (uint8_t)frame->length : extended == 2 ? 126 : 127;
  for (size_t i = 0; i < extended; i++) {
    header[2 + i] = (uint8_t)((uint64_t)frame->length >> (8 * (extended - 1 - i)));
  }
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
  lay_out_header(frame);
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
    outgoing_add(gateway, gateway_frame_size(frame));
  }
}

void frame_let_go(gateway *gateway, gateway_frame *frame) {
  if (atomic_fetch_sub_explicit(&frame->places, 1, memory_order_relaxed) == 1) {
    outgoing_remove(gateway, gateway_frame_size(frame));
  }
  gateway_frame_release(frame);
}
