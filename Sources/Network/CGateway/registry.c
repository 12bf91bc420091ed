/* Ids that are found in O(1) and never used twice. */
#include <stdlib.h>

#include "registry.h"

static uint64_t id_of(const struct registry *registry, uint32_t slot) {
  return (uint64_t)registry->entries[slot].generation << 32 | (slot * registry->step + registry->first);
}

uint32_t registry_slot(const struct registry *registry, uint64_t id) { return (uint32_t)id / registry->step; }

static bool grow(struct registry *registry) {
  uint32_t capacity = registry->capacity ? registry->capacity * 2 : 64;
  struct registry_entry *entries = realloc(registry->entries, capacity * sizeof *entries);
  if (!entries) return false;
  registry->entries = entries;
  registry->capacity = capacity;
  return true;
}

uint64_t registry_add(struct registry *registry, void *object) {
  uint32_t slot;
  if (registry->first_free) {
    slot = registry->first_free - 1;
    registry->first_free = registry->entries[slot].next_free;
  } else {
    if (registry->count == registry->capacity && !grow(registry)) return 0;
    slot = registry->count++;
    registry->entries[slot].generation = 0;
  }
  struct registry_entry *entry = &registry->entries[slot];
  entry->object = object;
  entry->generation += 1;
  registry->live += 1;
  return id_of(registry, slot);
}

void *registry_find(const struct registry *registry, uint64_t id) {
  uint32_t slot = registry_slot(registry, id), generation = (uint32_t)(id >> 32);
  if (slot >= registry->count || (uint32_t)id % registry->step != registry->first || registry->entries[slot].generation != generation) return NULL;
  return registry->entries[slot].object;
}

void registry_remove(struct registry *registry, uint64_t id) {
  if (!registry_find(registry, id)) return;
  struct registry_entry *entry = &registry->entries[registry_slot(registry, id)];
  entry->object = NULL;
  registry->live -= 1;
  /* A slot whose generations are used up is retired, for an id must never name two things. The top bit of ids stays
     clear: channel.c marks streams with it. */
  if (entry->generation == INT32_MAX) return;
  entry->next_free = registry->first_free;
  registry->first_free = registry_slot(registry, id) + 1;
}
