/* Facts of a socket that only the kernel, or OpenSSL, knows. */
#define _GNU_SOURCE /* POLLRDHUP */
#include "socket.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#ifdef __linux__
#include <linux/tcp.h>
#include <string.h>
#endif

/* How far the peer has come in reading. libwebsockets says only when all of a write has left, which may take minutes
   for a large frame on a slow line; the kernel knows what was acknowledged. */
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

uint64_t socket_read_count(int descriptor) {
#ifdef __linux__
  struct tcp_info info;
  socklen_t length = sizeof info;
  int unread = 0;
  memset(&info, 0, sizeof info);
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) || ioctl(descriptor, FIONREAD, &unread)) return 0;
  return info.tcpi_bytes_received - (uint64_t)unread;
#else
  /* Without the kernel's count: a number that never repeats. */
  static uint64_t count;
  (void)descriptor;
  return ++count;
#endif
}

bool socket_has_ended(int descriptor) {
#ifdef POLLRDHUP
  struct pollfd watched = {.fd = descriptor, .events = POLLRDHUP};
  return poll(&watched, 1, 0) == 1 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR));
#else
  char peeked;
  return recv(descriptor, &peeked, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
#endif
}

void socket_limit_patience(int descriptor, lws_usec_t patience) {
#ifdef __linux__
  unsigned int milliseconds = (unsigned int)(patience / LWS_US_PER_MS);
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
#else
  (void)descriptor, (void)patience;
#endif
}

void socket_end(struct lws *wsi) {
  SSL *tls = lws_get_ssl(wsi);
  if (tls && !lws_partial_buffered(wsi)) {
    ERR_clear_error();
    SSL_shutdown(tls);
    ERR_clear_error();
  }
  shutdown(lws_get_socket_fd(wsi), SHUT_WR);
}
