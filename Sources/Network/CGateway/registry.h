/* Ids that are found in O(1) and never used twice: generation (from 1) in the high half; in the low half the slot,
   times `step`, plus `first`. */
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
  uint32_t first, step; /* number of this registry, among `step` registries with different ids */
  struct registry_entry *entries;
  uint32_t count, capacity, first_free, live;
};

uint32_t registry_slot(const struct registry *registry, uint64_t id);
uint64_t registry_add(struct registry *registry, void *object); /* 0 when out of memory */
void *registry_find(const struct registry *registry, uint64_t id);
void registry_remove(struct registry *registry, uint64_t id);

#endif
