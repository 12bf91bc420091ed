/*
 * The listening socket. It is not libwebsockets', which puts off a bind that fails (4.1 retries it every second) and
 * does not say why; libwebsockets watches it as it would watch a file, and accepted sockets are given to it one by one.
 * Several gateways may listen on one socket: one of them gets the connection.
 */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "loop.h"

/* Connections taken in one go, so that a storm of them does not keep sessions waiting. */
enum { ACCEPTED_AT_ONCE = 64 };

static int open_spare(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

void listener_open(gateway *gateway) {
  gateway->listener.descriptor = gateway->configuration.listening_socket;
  gateway->listener.spare = open_spare();
}

static gateway_address address_of(const struct sockaddr_storage *from) {
  gateway_address address = {{0}};
  if (from->ss_family == AF_INET6) {
    memcpy(address.bytes, ((const struct sockaddr_in6 *)from)->sin6_addr.s6_addr, sizeof address.bytes);
  } else if (from->ss_family == AF_INET) {
    memset(address.bytes + 10, 0xFF, 2);
    memcpy(address.bytes + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
  }
  return address;
}

bool listener_adopt(gateway *gateway) {
  lws_sock_file_fd_type descriptor = {.filefd = gateway->listener.descriptor};
  gateway->listener.wsi = lws_adopt_descriptor_vhost(gateway->loop.vhost, LWS_ADOPT_RAW_FILE_DESC, descriptor,
                                                 gateway->configuration.subprotocol, NULL);
  if (!gateway->listener.wsi) return false;
  gateway->listener.descriptor = -1;
  return true;
}

/* Without a free descriptor accept() leaves the connection waiting and poll() would return at once, forever. */
static void turn_away(gateway *gateway, int listening) {
  if (gateway->listener.spare < 0) return;
  close(gateway->listener.spare);
  int refused = accept(listening, NULL, NULL);
  if (refused >= 0) close(refused);
  gateway->listener.spare = open_spare();
  gateway_log(gateway, 1, "a connection was turned away: no file descriptors are left");
}

static void take_on(gateway *gateway, int descriptor, const struct sockaddr_storage *from) {
  int one = 1;
  struct place *place = &gateway->connections.accepting;
  place->address = address_of(from);
  place->entry = gateway->configuration.callbacks.entered(gateway->context, &place->address);
  if (place->entry == GATEWAY_ENTRY_CLOSED) {
    gateway->counters.address += 1;
    close(descriptor);
    return;
  }
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  /* Closes the descriptor itself when it fails. */
  lws_sock_file_fd_type accepted = {.sockfd = descriptor};
  lws_adoption_type type = LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP | (gateway->tls ? LWS_ADOPT_ALLOW_SSL : 0);
  if (!lws_adopt_descriptor_vhost(gateway->loop.vhost, type, accepted, NULL, NULL)) {
    gateway_log(gateway, 1, "a connection could not be taken on");
  }
  /* A connection that was not taken on leaves its place. */
  place_leave(gateway, place);
}

int listener_accept(gateway *gateway) {
  int listening = lws_get_socket_fd(gateway->listener.wsi);
  for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
    struct sockaddr_storage from = {0};
    socklen_t length = sizeof from;
    int descriptor = accept(listening, (struct sockaddr *)&from, &length);
    if (descriptor >= 0) {
      take_on(gateway, descriptor, &from);
      continue;
    }
    if (errno == EMFILE || errno == ENFILE) turn_away(gateway, listening);
    return 0;
  }
  return 0;
}

void listener_close(gateway *gateway) {
  if (gateway->listener.wsi) doom(gateway, gateway->listener.wsi);
  /* poll() is level-triggered: stop it from accepting in the turn before the socket is closed. */
  if (gateway->listener.wsi) lws_rx_flow_control(gateway->listener.wsi, 0);
  gateway->listener.wsi = NULL;
}
