// bare-fan-out BYTES FRAMES: the least that fan-out can cost. Accepts connections on loopback and prints the port; for
// every line on standard input it writes FRAMES frames of BYTES bytes, one write each, to every connection, waiting for
// none: what does not fit into a socket's buffer is written when epoll says that there is room.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { CONNECTIONS = 20000, EVENTS = 512 };

static struct { int descriptor, is_watched; long owed; } connections[CONNECTIONS];
static int count, queue, listener;
static unsigned char *frame;
static size_t frame_size;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/// One text frame, its payload spaces.
static void make_frame(size_t bytes) {
  size_t header = bytes < 128 ? 2 : 4;
  frame_size = bytes < 8 ? 8 : bytes;
  frame = malloc(frame_size);
  if (!frame) fail("malloc");
  memset(frame, ' ', frame_size);
  size_t payload = frame_size - header;
  frame[0] = 0x81;
  frame[1] = (unsigned char)(header == 2 ? payload : 126);
  if (header == 4) {
    frame[2] = (unsigned char)(payload >> 8);
    frame[3] = (unsigned char)payload;
  }
}

static void listen_on_loopback(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 4096) < 0 ||
      getsockname(listener, (struct sockaddr *)&address, &size) < 0)
    fail("listen");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
}

static void watch(int operation, int descriptor, uint32_t events, uint32_t data) {
  struct epoll_event event = {.events = events, .data.u32 = data};
  if (epoll_ctl(queue, operation, descriptor, &event) < 0) fail("epoll_ctl");
}

static void accept_all(void) {
  int descriptor;
  while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    if (count == CONNECTIONS) exit(1);
    int one = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connections[count].descriptor = descriptor;
    watch(EPOLL_CTL_ADD, descriptor, EPOLLIN, (uint32_t)count++);
  }
}

/// Writes what is owed. A frame is smaller than any socket buffer: one that is written in part ends the measurement.
static void write_owed(int index) {
  int is_full = 0;
  while (connections[index].owed > 0 && !is_full) {
    ssize_t sent = send(connections[index].descriptor, frame, frame_size, MSG_NOSIGNAL);
    if (sent == (ssize_t)frame_size) {
      connections[index].owed--;
    } else if (sent < 0 && errno == EAGAIN) {
      is_full = 1;
    } else {
      fail("send");
    }
  }
  if (connections[index].is_watched == is_full) return;
  connections[index].is_watched = is_full;
  watch(EPOLL_CTL_MOD, connections[index].descriptor, EPOLLIN | (is_full ? EPOLLOUT : 0), (uint32_t)index);
}

static void hear(int index, uint32_t events) {
  char buffer[4096];
  if (events & EPOLLOUT) write_owed(index);
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  ssize_t got = read(connections[index].descriptor, buffer, sizeof buffer);
  if (got == 0 || (got < 0 && errno != EAGAIN)) exit(0);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  make_frame((size_t)atol(argv[1]));
  long frames = atol(argv[2]);
  queue = epoll_create1(0);
  listen_on_loopback();
  watch(EPOLL_CTL_ADD, listener, EPOLLIN, UINT32_MAX);
  watch(EPOLL_CTL_ADD, 0, EPOLLIN, UINT32_MAX - 1);
  for (;;) {
    struct epoll_event events[EVENTS];
    int ready = epoll_wait(queue, events, EVENTS, -1);
    for (int i = 0; i < ready; i++) {
      uint32_t index = events[i].data.u32;
      if (index == UINT32_MAX) {
        accept_all();
      } else if (index == UINT32_MAX - 1) {
        char line[64];
        if (read(0, line, sizeof line) <= 0) return 0;
        for (int each = 0; each < count; each++) {
          connections[each].owed += frames;
          write_owed(each);
        }
      } else {
        hear((int)index, events[i].events);
      }
    }
  }
}
