/*
 * libwebsockets reads by the C library's recv and OpenSSL's SSL_read, in whose place the program's own are linked,
 * because there is no other way to a request's target before libwebsockets has decoded it (target.c). Only reads of
 * connections on their gateway's thread are changed. A request that arrives in the same read as the one before it is
 * not changed.
 *
 * Remove this when libwebsockets finds the end of a target before it decodes it.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <sys/socket.h>

#include <openssl/ssl.h>

#include "connection.h"

/* The connection whose request is read from this descriptor; NULL: bytes stay as they are. */
static struct connection *reading(int descriptor) {
  gateway *gateway = gateway_of_thread();
  struct connection *connection = gateway ? connection_at(gateway, descriptor) : NULL;
  return connection && !connection->target.has_ended ? connection : NULL;
}

/* Calls `read`, which is recv or SSL_read, until there is something to hand on, or nothing more to read. */
static ssize_t read_line(struct connection *connection, uint8_t *into, size_t room, ssize_t (*read)(void *, void *, size_t), void *from) {
  struct target *target = &connection->target;
  for (;;) {
    size_t held = target->held_count;
    if (room <= held) return read(from, into, room);
    ssize_t count = read(from, into + held, room - held);
    if (count <= 0) return count;
    size_t length = (size_t)count;
    target_read(target, into + held, &length);
    if (length) return (ssize_t)length;
  }
}

static ssize_t read_socket(void *from, void *into, size_t length) { return recvfrom(*(int *)from, into, length, 0, NULL, NULL); }

ssize_t recv(int descriptor, void *into, size_t length, int flags) {
  struct connection *connection = flags ? NULL : reading(descriptor);
  if (!connection || lws_is_ssl(connection->wsi)) return recvfrom(descriptor, into, length, flags, NULL, NULL);
  return read_line(connection, into, length, read_socket, &descriptor);
}

static ssize_t read_tls(void *from, void *into, size_t length) {
  static int (*read)(SSL *, void *, int);
  if (!read) *(void **)&read = dlsym(RTLD_NEXT, "SSL_read");
  return read(from, into, (int)length);
}

int SSL_read(SSL *tls, void *into, int length) {
  struct connection *connection = length > 0 && SSL_is_server(tls) ? reading(SSL_get_fd(tls)) : NULL;
  if (!connection) return (int)read_tls(tls, into, (size_t)length);
  return (int)read_line(connection, into, (size_t)length, read_tls, tls);
}
