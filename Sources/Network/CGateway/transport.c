/*
 * Bytes out, with TLS and without.
 *
 * What is written stays with its owner until it has left: nothing is copied and kept here. With TLS that means that a write
 * for which there was no room must be repeated with the same bytes in front, for OpenSSL has encrypted some of them already.
 * `is_owed` says so; anything else has to wait.
 */
#define _GNU_SOURCE /* POLLRDHUP */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "internal.h"

/* One part, which most writes are, costs the kernel less without a message's header. */
static ssize_t send_parts(int descriptor, struct iovec *parts, size_t count) {
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  if (count == 1) return send(descriptor, parts->iov_base, parts->iov_len, flags);
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
  return sendmsg(descriptor, &message, flags);
}

static ssize_t write_plain(struct connection *connection, struct iovec *parts, size_t count) {
  ssize_t written;
  do {
    written = send_parts(lws_get_socket_fd(connection->wsi), parts, count);
  } while (written < 0 && errno == EINTR);
  if (written < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
  return written;
}

/* What OpenSSL takes of one piece: it encrypts a record of at most 16 KiB at a time. */
static ssize_t write_records(struct connection *connection, SSL *tls, const uint8_t *bytes, size_t length) {
  size_t written = 0;
  while (written < length) {
    ERR_clear_error();
    size_t left = length - written;
    int count = SSL_write(tls, bytes + written, left > GATHER_BYTES ? (int)GATHER_BYTES : (int)left);
    connection->is_owed = count <= 0;
    if (count > 0) {
      written += (size_t)count;
      continue;
    }
    int problem = SSL_get_error(tls, count);
    ERR_clear_error();
    if (problem == SSL_ERROR_WANT_WRITE || problem == SSL_ERROR_WANT_READ) break;
    connection->is_broken = true;
    return -1;
  }
  return (ssize_t)written;
}

/* Small parts are gathered, so that what is due together makes as few records as possible; a large one is taken from where it is. */
static ssize_t write_encrypted(struct connection *connection, SSL *tls, const struct iovec *parts, size_t count) {
  uint8_t *gather = connection->gateway->gather;
  ssize_t total = 0;
  for (size_t i = 0; i < count;) {
    size_t length = 0;
    const uint8_t *bytes = gather;
    if (parts[i].iov_len >= GATHER_BYTES) {
      bytes = parts[i].iov_base;
      length = parts[i++].iov_len;
    } else {
      for (; i < count && length + parts[i].iov_len <= GATHER_BYTES; i++) {
        memcpy(gather + length, parts[i].iov_base, parts[i].iov_len);
        length += parts[i].iov_len;
      }
    }
    ssize_t written = write_records(connection, tls, bytes, length);
    if (written < 0) return -1;
    total += written;
    if ((size_t)written < length) break;
  }
  return total;
}

/* As much as there is room for: its length, 0 for none; -1 when the connection is broken. */
ssize_t transport_write(struct connection *connection, struct iovec *parts, size_t count) {
  SSL *tls = lws_get_ssl(connection->wsi);
  if (connection->is_broken) return -1;
  return tls ? write_encrypted(connection, tls, parts, count) : write_plain(connection, parts, count);
}

/* Nothing follows, and the client is to know that nothing is missing. */
void transport_end(struct connection *connection) {
  SSL *tls = lws_get_ssl(connection->wsi);
  if (tls && !connection->is_broken && !connection->is_owed) {
    ERR_clear_error();
    SSL_shutdown(tls);
    ERR_clear_error();
  }
  shutdown(lws_get_socket_fd(connection->wsi), SHUT_WR);
}

/* Whether the client has left. With TLS what can be read may be its farewell: only the end of the TCP stream is one for sure. */
bool transport_has_ended(const struct connection *connection) {
  int descriptor = lws_get_socket_fd(connection->wsi);
#ifdef POLLRDHUP
  if (lws_get_ssl(connection->wsi)) {
    struct pollfd watched = {.fd = descriptor, .events = POLLRDHUP};
    return poll(&watched, 1, 0) == 1 && (watched.revents & (POLLRDHUP | POLLHUP | POLLERR));
  }
#endif
  char peeked;
  ssize_t count = recv(descriptor, &peeked, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}
