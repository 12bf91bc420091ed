/* Messages as bytes, and the budget of what is on its way out. Any thread. */
#ifndef CGATEWAY_FRAME_H
#define CGATEWAY_FRAME_H

#include "gateway.h"

/* A WebSocket frame's header: its first byte, and at most so many in all. */
enum { FRAME_CONTINUATION = 0, FRAME_TEXT = 1, FRAME_FINAL = 0x80, FRAME_HEADER_BYTES = 10 };
/* Puts it right in front of a payload; its length. */
size_t frame_put_header(uint8_t *payload, uint8_t first, size_t length);

/* The bytes of a finished frame on the wire, header first. */
const uint8_t *frame_wire_bytes(const gateway_frame *frame);
const uint8_t *frame_payload(const gateway_frame *frame);
size_t frame_payload_length(const gateway_frame *frame);

/* A reference that counts in the gateway's budget. */
void frame_hold(gateway *gateway, gateway_frame *frame);
void frame_let_go(gateway *gateway, gateway_frame *frame);

void budget_add(gateway_budget *budget, size_t bytes);
void budget_remove(gateway_budget *budget, size_t bytes);
/* The gateway's budget. */
bool has_room(const gateway *gateway, size_t bytes);

#endif
