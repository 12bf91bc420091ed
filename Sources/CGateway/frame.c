/*
 * Frames: a text message with its WebSocket header right in front of it, written once and sent to any number of
 * sessions. Immutable from gateway_frame_finish on, so that threads share it by counting references alone.
 */
#include <stdlib.h>

#include "internal.h"

struct gateway_frame {
  atomic_uint references;
  atomic_uint places; /* of references, those that count in a gateway's budget */
  uint32_t header_length; /* 2, 4 or 10; 0 until finished */
  size_t capacity, length;
  uint8_t bytes[]; /* LWS_PRE bytes, at whose end the header stands, then the payload */
};

gateway_frame *gateway_frame_create(size_t capacity) {
  gateway_frame *frame = malloc(sizeof *frame + LWS_PRE + capacity);
  if (!frame) return NULL;
  atomic_init(&frame->references, 1);
  atomic_init(&frame->places, 0);
  frame->header_length = 0;
  frame->capacity = capacity;
  frame->length = 0;
  return frame;
}

uint8_t *gateway_frame_payload(gateway_frame *frame) { return frame->bytes + LWS_PRE; }

void gateway_frame_finish(gateway_frame *frame, size_t length) {
  const uint8_t final_text = 0x81;
  frame->length = length < frame->capacity ? length : frame->capacity;
  size_t extended = frame->length < 126 ? 0 : frame->length <= UINT16_MAX ? 2 : 8;
  frame->header_length = (uint32_t)(2 + extended);
  uint8_t *header = frame->bytes + LWS_PRE - frame->header_length;
  header[0] = final_text;
  header[1] = extended == 0 ? (uint8_t)frame->length : extended == 2 ? 126 : 127;
  for (size_t i = 0; i < extended; i++) {
    header[2 + i] = (uint8_t)((uint64_t)frame->length >> (8 * (extended - 1 - i)));
  }
}

size_t gateway_frame_size(const gateway_frame *frame) { return frame->header_length + frame->length; }

size_t frame_payload_length(const gateway_frame *frame) { return frame->length; }

const uint8_t *frame_wire_bytes(const gateway_frame *frame) { return frame->bytes + LWS_PRE - frame->header_length; }

void gateway_frame_retain(gateway_frame *frame) {
  atomic_fetch_add_explicit(&frame->references, 1, memory_order_relaxed);
}

void gateway_frame_release(gateway_frame *frame) {
  if (atomic_fetch_sub_explicit(&frame->references, 1, memory_order_acq_rel) == 1) free(frame);
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
