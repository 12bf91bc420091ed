/*
 * The listening socket. It is opened here and not by libwebsockets, which puts off a bind that fails (4.1 retries it
 * every second) and does not say why; libwebsockets then watches it as it would watch a file, and accepted sockets are
 * given to it one by one.
 */
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "connection.h"
#include "loop.h"

/* Connections taken in one go, so that a storm of them does not keep sessions waiting. */
enum { ACCEPTED_AT_ONCE = 64 };
/* Connections beyond an address's limit that are answered 429; further ones are closed at once. */
enum { REFUSED_POLITELY = 64 };

static void describe_failure(int problem, const gateway_configuration *c, char *error, size_t capacity) {
  if (problem == EADDRINUSE) {
    snprintf(error, capacity, "port %d on %s is already in use", c->port, c->host);
  } else if (problem == EADDRNOTAVAIL) {
    snprintf(error, capacity, "%s is not an address of this machine", c->host);
  } else if (problem == EACCES) {
    snprintf(error, capacity, "this user may not listen on port %d", c->port);
  } else {
    snprintf(error, capacity, "cannot listen on port %d on %s: %s", c->port, c->host, strerror(problem));
  }
}

/* No SO_REUSEPORT: a second server on the port must fail. SO_REUSEADDR only lets a restart ignore old connections. */
static int open_bound(const struct addrinfo *address) {
  int one = 1, descriptor = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(descriptor, address->ai_addr, address->ai_addrlen) == 0 && listen(descriptor, SOMAXCONN) == 0) {
    return descriptor;
  }
  int problem = errno;
  close(descriptor);
  errno = problem;
  return -1;
}

static int bound_port(int descriptor) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &length)) return -1;
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                             : ((struct sockaddr_in *)&address)->sin_port);
}

int listener_open(gateway *gateway, char *error, size_t capacity) {
  const gateway_configuration *c = &gateway->configuration;
  struct addrinfo *found = NULL, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  char port[16];
  if (c->port < 0 || c->port > UINT16_MAX) {
    snprintf(error, capacity, "%d is not a port", c->port);
    return -1;
  }
  snprintf(port, sizeof port, "%d", c->port);
  int failure = getaddrinfo(c->host, port, &hints, &found);
  if (failure) {
    snprintf(error, capacity, "%s is not an address: %s", c->host, gai_strerror(failure));
    return -1;
  }
  gateway->listening_socket = open_bound(found);
  int problem = errno;
  freeaddrinfo(found);
  if (gateway->listening_socket < 0) {
    describe_failure(problem, c, error, capacity);
    return -1;
  }
  gateway->port = bound_port(gateway->listening_socket);
  gateway->spare_descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return 0;
}

bool listener_adopt(gateway *gateway) {
  lws_sock_file_fd_type descriptor = {.filefd = gateway->listening_socket};
  gateway->listener = lws_adopt_descriptor_vhost(gateway->vhost, LWS_ADOPT_RAW_FILE_DESC, descriptor,
                                                 gateway->configuration.subprotocol, NULL);
  if (!gateway->listener) return false;
  gateway->listening_socket = -1;
  return true;
}

/* Without a free descriptor accept() leaves the connection waiting and poll() would return at once, forever. */
static void turn_away(gateway *gateway, int listening) {
  if (gateway->spare_descriptor < 0) return;
  close(gateway->spare_descriptor);
  int refused = accept(listening, NULL, NULL);
  if (refused >= 0) close(refused);
  gateway->spare_descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  gateway_log(gateway, 1, "a connection was turned away: no file descriptors are left");
}

int listener_accept(gateway *gateway) {
  int one = 1, listening = lws_get_socket_fd(gateway->listener);
  for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
    struct sockaddr_storage from = {0};
    socklen_t length = sizeof from;
    int descriptor = accept(listening, (struct sockaddr *)&from, &length);
    if (descriptor < 0) {
      if (errno == EMFILE || errno == ENFILE) turn_away(gateway, listening);
      return 0;
    }
    gateway_address peer = address_of(&from);
    if (!connection_is_of_proxy(gateway, &peer) && address_is_refusing(gateway, &peer, REFUSED_POLITELY)) {
      gateway->counters.address += 1;
      close(descriptor);
      continue;
    }
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    gateway->accepting = &peer;
    /* Closes the descriptor itself when it fails. */
    lws_sock_file_fd_type accepted = {.sockfd = descriptor};
    lws_adoption_type type = LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP | (gateway->tls ? LWS_ADOPT_ALLOW_SSL : 0);
    if (!lws_adopt_descriptor_vhost(gateway->vhost, type, accepted, NULL, NULL)) {
      gateway_log(gateway, 1, "a connection could not be taken on");
    }
    gateway->accepting = NULL;
  }
  return 0;
}

void listener_close(gateway *gateway) {
  if (gateway->listener) doom(gateway, gateway->listener);
  /* poll() is level-triggered: stop it from accepting in the turn before the socket is closed. */
  if (gateway->listener) lws_rx_flow_control(gateway->listener, 0);
  gateway->listener = NULL;
}
