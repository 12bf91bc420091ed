/* Ids that are found in O(1) and never used twice: slot in the low half, generation (from 1) in the high half. */
#ifndef CGATEWAY_REGISTRY_H
#define CGATEWAY_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

struct registry_entry {
  void *object; /* NULL when the slot is free */
  uint32_t generation;
  uint32_t next_free; /* slot + 1, 0 for none */
};

struct registry {
  struct registry_entry *entries;
  uint32_t count, capacity, first_free, live;
};

uint64_t registry_add(struct registry *registry, void *object); /* 0 when out of memory */
void *registry_find(const struct registry *registry, uint64_t id);
void registry_remove(struct registry *registry, uint64_t id);

#endif
