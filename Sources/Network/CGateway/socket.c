/* What only the kernel knows of a socket. */
#include <sys/socket.h>

#include "internal.h"

#ifdef __linux__
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#endif

/* How far the peer has come in reading. libwebsockets says only when all of a write has left, which may take minutes for a large
   frame on a slow line; the kernel knows what was acknowledged. */
uint64_t socket_progress(int descriptor) {
#ifdef __linux__
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length)) return 0;
  return info.tcpi_bytes_acked;
#else
  (void)descriptor;
  return 0;
#endif
}
