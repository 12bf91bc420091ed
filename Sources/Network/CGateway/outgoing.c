/*
 * The memory of what is on its way out: one budget for frames, HTTP answers and streams. Any thread.
 *
 * Bytes are counted where the gateway takes and lets go of them: a frame once, however many sessions wait for it; an answer
 * from gateway_respond to its last byte; and what libwebsockets has copied of a frame that the kernel did not take whole
 * (session.c).
 *
 * The gateway refuses answers that would exceed the budget, with 503. About frames its owner decides, with gateway_has_room:
 * one that is left out would leave a client with a list that is not the server's.
 */
#include "internal.h"

/* What is shorter always has room: errors have to be said. */
#define ALWAYS_ROOM_BYTES ((size_t)4096)

void outgoing_add(gateway *gateway, size_t bytes) {
  atomic_fetch_add_explicit(&gateway->outgoing, bytes, memory_order_relaxed);
}

void outgoing_remove(gateway *gateway, size_t bytes) {
  atomic_fetch_sub_explicit(&gateway->outgoing, bytes, memory_order_relaxed);
}

bool gateway_has_room(const gateway *gateway, size_t bytes) {
  size_t limit = gateway->configuration.outgoing_limit;
  if (!limit || bytes <= ALWAYS_ROOM_BYTES) return true;
  size_t used = atomic_load_explicit(&gateway->outgoing, memory_order_relaxed);
  return used <= limit && bytes <= limit - used;
}

void gateway_note_overload(gateway *gateway) { gateway->counters.memory += 1; }

/* Sent instead of an answer that has no room. */
struct answer *outgoing_refusal(gateway *gateway) {
  gateway_note_overload(gateway);
  return answer_problem(503, "Service Unavailable", "overloaded", "too much is on its way to clients: try again",
                        "Retry-After: 1\n");
}

void outgoing_charge(gateway *gateway, struct answer *answer) {
  if (!answer || answer->charged) return;
  answer->charged = gateway;
  outgoing_add(gateway, answer->length);
}
