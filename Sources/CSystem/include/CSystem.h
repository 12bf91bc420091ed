/* What Swift does not see of the system's C library. */
#ifndef FRESHET_CSYSTEM_H
#define FRESHET_CSYSTEM_H

#include <poll.h>
#include <stdint.h>

/* Gives memory that nobody uses back to the system, where the allocator can be told to (glibc); any thread. */
void system_return_free_memory(void);

/* poll(2) with a timeout in nanoseconds; where there is no ppoll, in whole milliseconds, rounded up. */
int system_poll(struct pollfd *descriptors, unsigned count, uint64_t nanoseconds);

#endif
