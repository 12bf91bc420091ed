#include "CCrowd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { KEPT = 256, BUFFER = 256 << 10, EVENTS = 512 };

struct member {
  int descriptor;
  /// Bytes of the blank line that ends the answer to the upgrade, so far; 4: frames follow.
  int matched;
  /// The header of the frame that is coming in.
  uint8_t header[10];
  int header_length;
  /// Payload that is still to come.
  uint64_t left;
  int kept;
  uint64_t messages;
  char last[KEPT];
};

struct crowd {
  int epoll, count, capacity;
  uint64_t messages, bytes;
  struct member *members;
  uint8_t *buffer;
};

crowd *crowd_create(int capacity) {
  crowd *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->capacity = capacity;
  self->members = calloc((size_t)capacity, sizeof *self->members);
  self->buffer = malloc(BUFFER);
  self->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (self->members && self->buffer && self->epoll >= 0) return self;
  crowd_destroy(self);
  return NULL;
}

void crowd_destroy(crowd *self) {
  for (int i = 0; i < self->count; i++) close(self->members[i].descriptor);
  if (self->epoll >= 0) close(self->epoll);
  free(self->members);
  free(self->buffer);
  free(self);
}

static int send_all(int descriptor, const uint8_t *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = send(descriptor, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      struct pollfd ready = {.fd = descriptor, .events = POLLOUT};
      if (poll(&ready, 1, 5000) <= 0) return -1;
      continue;
    }
    if (sent < 0) return -1;
    bytes += sent;
    length -= (size_t)sent;
  }
  return 0;
}

static const char upgrade[] =
    "GET /v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Protocol: freshet.v1\r\n\r\n";

int crowd_connect(crowd *self, int port, int is_websocket) {
  if (self->count == self->capacity) return errno = ENOSPC, -1;
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int one = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)self->count};
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ||
      (is_websocket && send_all(descriptor, (const uint8_t *)upgrade, sizeof upgrade - 1) < 0) ||
      fcntl(descriptor, F_SETFL, O_NONBLOCK) < 0 || epoll_ctl(self->epoll, EPOLL_CTL_ADD, descriptor, &event) < 0) {
    close(descriptor);
    return -1;
  }
  self->members[self->count] = (struct member){.descriptor = descriptor, .matched = is_websocket ? 0 : 4};
  return self->count++;
}

int crowd_send(crowd *self, int member, const char *text, size_t length) {
  uint8_t head[8] = {0x81};
  size_t size = 2;
  if (length > 65535) return errno = EMSGSIZE, -1;
  if (length < 126) {
    head[1] = (uint8_t)(0x80 | length);
  } else {
    head[1] = 0x80 | 126;
    head[2] = (uint8_t)(length >> 8);
    head[3] = (uint8_t)length;
    size = 4;
  }
  // A mask of zeros leaves the text as it is.
  memset(head + size, 0, sizeof head - size);
  size += 4;
  uint8_t *frame = malloc(size + length);
  if (!frame) return -1;
  memcpy(frame, head, size);
  memcpy(frame + size, text, length);
  int result = send_all(self->members[member].descriptor, frame, size + length);
  free(frame);
  return result;
}

/// Takes in one byte of a frame's header. Returns whether the header is whole.
static int take_header(struct member *member, uint8_t byte) {
  member->header[member->header_length++] = byte;
  if (member->header_length < 2) return 0;
  int code = member->header[1] & 127;
  int extended = code == 126 ? 2 : code == 127 ? 8 : 0;
  if (member->header_length < 2 + extended) return 0;
  member->left = extended ? 0 : (uint64_t)code;
  for (int i = 0; i < extended; i++) member->left = member->left << 8 | member->header[2 + i];
  member->kept = 0;
  return 1;
}

/// Clients that do not answer pings are hung up on.
static void pong(const struct member *member) {
  uint8_t frame[6 + 125] = {0x8A, (uint8_t)(0x80 | member->kept)};
  memcpy(frame + 6, member->last, (size_t)member->kept);
  send_all(member->descriptor, frame, 6 + (size_t)member->kept);
}

static int end_frame(crowd *self, struct member *member) {
  int is_text = (member->header[0] & 15) <= 1;
  int is_last = member->header[0] >> 7;
  int is_ping = (member->header[0] & 15) == 9;
  member->header_length = 0;
  if (is_ping) pong(member);
  if (!is_text || !is_last) return 0;
  member->messages++;
  self->messages++;
  return 1;
}

/// Returns how many messages were completed.
static int take(crowd *self, struct member *member, const uint8_t *bytes, size_t length) {
  int completed = 0;
  size_t at = 0;
  for (; at < length && member->matched < 4; at++)
    member->matched = bytes[at] == (member->matched % 2 ? '\n' : '\r') ? member->matched + 1 : bytes[at] == '\r';
  self->bytes += length - at;
  while (at < length) {
    if (member->left == 0) {
      if (take_header(member, bytes[at++]) && member->left == 0) completed += end_frame(self, member);
      continue;
    }
    size_t part = length - at < member->left ? length - at : member->left;
    size_t kept = part < (size_t)(KEPT - member->kept) ? part : (size_t)(KEPT - member->kept);
    memcpy(member->last + member->kept, bytes + at, kept);
    member->kept += (int)kept;
    member->left -= part;
    at += part;
    if (member->left == 0) completed += end_frame(self, member);
  }
  return completed;
}

int crowd_read(crowd *self, int timeout) {
  struct epoll_event events[EVENTS];
  int ready = epoll_wait(self->epoll, events, EVENTS, timeout);
  int completed = 0;
  for (int i = 0; i < ready; i++) {
    struct member *member = &self->members[events[i].data.u32];
    ssize_t got = read(member->descriptor, self->buffer, BUFFER);
    if (got > 0) {
      completed += take(self, member, self->buffer, (size_t)got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return -1;
    }
  }
  return completed;
}

uint64_t crowd_messages(const crowd *self) { return self->messages; }
uint64_t crowd_messages_of(const crowd *self, int member) { return self->members[member].messages; }
uint64_t crowd_bytes(const crowd *self) { return self->bytes; }

size_t crowd_last(const crowd *self, int member, char *buffer) {
  memcpy(buffer, self->members[member].last, (size_t)self->members[member].kept);
  return (size_t)self->members[member].kept;
}
