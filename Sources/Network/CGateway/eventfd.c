/*
 * libwebsockets (4.1 to 4.3) wakes itself with an eventfd whenever a descriptor is adopted. When a read of it fails, it closes the eventfd's
 * connection, and goes on using it: the process ends with SIGSEGV, at once or when the context is destroyed. It reads by the C library's
 * eventfd_read, in whose place the program's own is linked: a read that fails is none that ends anything. What could not be read
 * makes the next wait end at once.
 *
 * To go when libwebsockets keeps its connection, or does not need it.
 */
#ifdef __linux__
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int eventfd_read(int descriptor, eventfd_t *value) {
  if (read(descriptor, value, sizeof *value) == (ssize_t)sizeof *value) return 0;
  /* Not there at all, or nothing that is an eventfd. */
  if (errno == EBADF || errno == EINVAL) return -1;
  *value = 0;
  return 0;
}
#endif
