/* Functions of the system's C library that Swift does not import. */
#ifndef FRESHET_CSYSTEM_H
#define FRESHET_CSYSTEM_H

#include <poll.h>
#include <stdint.h>

/* Has glibc's allocator keep at most 2 MiB of free memory at the end of each of its arenas. Left alone, it keeps up to
 * twice the largest block that was ever freed, at most 64 MiB, which malloc_trim(3) leaves there too. */
void system_keep_little_free_memory(void);

/* Gives unused memory back to the system, where the allocator supports it (glibc); any thread. */
void system_return_free_memory(void);

/* poll(2) with a timeout in nanoseconds; where there is no ppoll, in whole milliseconds, rounded up. */
int system_poll(struct pollfd *descriptors, unsigned count, uint64_t nanoseconds);

/* Gives the calling thread short time slices: Linux, from 6.12 on, then has it give way within a tenth of a millisecond
 * to one that has just woken, instead of within some milliseconds. Elsewhere nothing happens. */
void system_take_short_slices(void);

/* Whether inotify(7) reports what everyone writes to files of a folder; 0 on file systems that other machines write to
 * as well. */
int system_reports_every_write(const char *folder);

/* Opens a descriptor that gives no access to the file, and whose closing releases none of the process's locks. -1:
 * impossible. Linux. */
int system_open_without_access(const char *path);

/* Sends a state such as "READY=1" to the service manager that has started the process (sd_notify(3)). Without one
 * nothing happens. */
void system_notify_service_manager(const char *state);

/* The commit that was built; NULL if the build did not set it (`make dist` does). */
const char *system_build_commit(void);

#endif
