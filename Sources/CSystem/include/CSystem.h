/* What Swift does not see of the system's C library. */
#ifndef FRESHET_CSYSTEM_H
#define FRESHET_CSYSTEM_H

#include <poll.h>
#include <stdint.h>

/* Gives memory that nobody uses back to the system, where the allocator can be told to (glibc); any thread. */
void system_return_free_memory(void);

/* poll(2) with a timeout in nanoseconds; where there is no ppoll, in whole milliseconds, rounded up. */
int system_poll(struct pollfd *descriptors, unsigned count, uint64_t nanoseconds);

/* Has the calling thread run soon after it wakes, although threads of lower priority are running: Linux 6.12 and newer lets a
 * thread with short time slices interrupt those with longer ones. Elsewhere nothing happens. */
void system_prefer_latency(void);

#endif
