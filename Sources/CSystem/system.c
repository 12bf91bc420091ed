#define _GNU_SOURCE
#include "CSystem.h"

#include <stdlib.h>
#include <time.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

void system_return_free_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

int system_poll(struct pollfd *descriptors, unsigned count, uint64_t nanoseconds) {
#ifdef __linux__
  struct timespec timeout = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
  return ppoll(descriptors, count, &timeout, NULL);
#else
  return poll(descriptors, count, (int)((nanoseconds + 999999) / 1000000));
#endif
}
