#define _GNU_SOURCE
#include "CFreshetSystem.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/un.h>
#include <unistd.h>
#endif

void system_keep_little_free_memory(void) {
#ifdef __GLIBC__
  const int bytes = 2 << 20;
  mallopt(M_MMAP_THRESHOLD, bytes);
  mallopt(M_TRIM_THRESHOLD, bytes);
#endif
}

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

#ifdef __linux__
/* `struct sched_attr` of linux/sched/types.h, in its first version. */
struct scheduling {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
};
#endif

void system_take_short_slices(void) {
#if defined __linux__ && defined SYS_sched_setattr
  struct scheduling attributes = {.size = sizeof attributes, .policy = SCHED_OTHER, .runtime = 100000};
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

int system_open_without_access(const char *path) {
#ifdef O_PATH
  return open(path, O_PATH | O_CLOEXEC);
#else
  (void)path;
  return -1;
#endif
}

int system_reports_every_write(const char *folder) {
#ifdef __linux__
  /* File systems that linux/magic.h does not name everywhere: CIFS, SMB2, Ceph. */
  const uint32_t shared[] = {NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, V9FS_MAGIC, AFS_SUPER_MAGIC, 0x65735546 /* FUSE, virtiofs */,
                             0xFF534D42,      0xFE534D42,      0x00C36400};
  struct statfs status;
  if (statfs(folder, &status)) return 1;
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
    if ((uint32_t)status.f_type == shared[i]) return 0;
#else
  (void)folder;
#endif
  return 1;
}

void system_notify_service_manager(const char *state) {
#ifdef __linux__
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = path ? strlen(path) : 0;
  if (length < 2 || length >= sizeof address.sun_path) return;
  memcpy(address.sun_path, path, length);
  /* An abstract name, which begins with a zero byte. */
  if (path[0] == '@') address.sun_path[0] = 0;
  int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  sendto(descriptor, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address,
         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
  close(descriptor);
#else
  (void)state;
#endif
}

const char *system_build_commit(void) {
#ifdef FRESHET_COMMIT
  return FRESHET_COMMIT;
#else
  return NULL;
#endif
}
