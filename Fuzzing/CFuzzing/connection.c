/*
 * A client's bytes, over a socket, through libwebsockets and the gateway. The first byte of the input says how they
 * come: its low five bits are the length of the pieces (0: in one), then whether there are pauses between them, whether
 * the client resets the connection at the end instead of waiting for the server's, and whether the bytes follow a
 * WebSocket handshake.
 */
#define _GNU_SOURCE /* memmem */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CFuzzing.h"
#include "answers.h"
#include "check.h"

enum { PIECE = 0x1f, PAUSES = 0x20, RESETS = 0x40, UPGRADES = 0x80 };
enum { ADDRESSES = 250, MOST_PIECES = 64, PATIENCE_MS = 8000 };

static int open_client(const char *address) {
  struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)served_port())};
  const struct linger reset = {.l_onoff = 1};
  int one = 1, client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(client >= 0);
  CHECK(inet_pton(AF_INET, address, &from.sin_addr) == 1 && inet_pton(AF_INET, "127.0.0.1", &to.sin_addr) == 1);
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  /* With a reset at closing, the port does not stay in TIME_WAIT. */
  setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  CHECK(bind(client, (struct sockaddr *)&from, sizeof from) == 0);
  CHECK(connect(client, (struct sockaddr *)&to, sizeof to) == 0);
  return client;
}

/* False when the server has closed. */
static bool send_all(int client, const uint8_t *bytes, size_t length) {
  while (length) {
    ssize_t count = send(client, bytes, length, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes += count, length -= (size_t)count;
  }
  return true;
}

/* False when the server has closed before: what it had sent may be lost, and the error is reported here alone. */
static bool send_in_pieces(int client, const uint8_t *bytes, size_t length, uint8_t how) {
  size_t piece = how & PIECE ? how & PIECE : length;
  if (piece < length / MOST_PIECES) piece = length / MOST_PIECES;
  for (size_t at = 0; at < length; at += piece) {
    if (!send_all(client, bytes + at, length - at < piece ? length - at : piece)) return false;
    if (how & PAUSES) usleep(20);
  }
  return true;
}

struct buffer {
  uint8_t *bytes;
  size_t length, capacity;
};

/* Reads available bytes, waiting at most so long. 0 at the end, -1 if nothing came or the connection was reset. */
static ssize_t read_more(int client, struct buffer *buffer, int milliseconds) {
  struct pollfd ready = {.fd = client, .events = POLLIN};
  ssize_t count;
  if (buffer->capacity - buffer->length < 4096) {
    buffer->capacity = 2 * buffer->capacity + 8192;
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    CHECK(buffer->bytes);
  }
  if (poll(&ready, 1, milliseconds) == 0) {
    errno = ETIMEDOUT;
    return -1;
  }
  do {
    count = recv(client, buffer->bytes + buffer->length, buffer->capacity - buffer->length, 0);
  } while (count < 0 && errno == EINTR);
  if (count > 0) buffer->length += (size_t)count;
  return count;
}

static bool has_head(const struct buffer *buffer) {
  return buffer->length && memmem(buffer->bytes, buffer->length, "\r\n\r\n", 4);
}

/* Sends a request and reads the head of its answer. */
static void ask(int client, const char *request, const char *status) {
  struct buffer buffer = {0};
  CHECK(send_all(client, (const uint8_t *)request, strlen(request)));
  while (!has_head(&buffer)) CHECK(read_more(client, &buffer, PATIENCE_MS) > 0);
  CHECK(memcmp(buffer.bytes, status, strlen(status)) == 0);
  free(buffer.bytes);
}

/* Checks that other clients are still served. */
static void ask_as_another(unsigned number) {
  char address[32];
  snprintf(address, sizeof address, "127.0.2.%u", 1 + number % ADDRESSES);
  int client = open_client(address);
  ask(client, "GET /v1/good HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 ");
  close(client);
}

/* Reads what comes; true when the server closed the connection in order. */
static bool read_reply(int client, struct buffer *buffer, uint8_t how) {
  ssize_t count;
  bool resets = how & RESETS;
  bool is_open = resets || shutdown(client, SHUT_WR) == 0;
  do {
    count = read_more(client, buffer, resets ? 1 : PATIENCE_MS);
  } while (count > 0);
  CHECK(resets || count == 0 || errno == ECONNRESET);
  return is_open && count == 0;
}

static const char upgrade[] =
    "GET /v1/live HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: freshet.v1\r\n\r\n";

int fuzz_connection(const uint8_t *bytes, size_t length) {
  static unsigned number;
  char address[32];
  struct buffer buffer = {0};
  if (length < 1) return 0;
  uint8_t how = *bytes;
  snprintf(address, sizeof address, "127.0.1.%u", 1 + ++number % ADDRESSES);
  int client = open_client(address);
  served_begin(address);
  if (how & UPGRADES) ask(client, upgrade, "HTTP/1.1 101 ");
  bool is_sent = send_in_pieces(client, bytes + 1, length - 1, how);
  bool is_whole = read_reply(client, &buffer, how) && is_sent;
  close(client);
  struct record record = served_end();
  struct reply reply = {buffer.bytes, buffer.length, is_whole};
  if (how & UPGRADES) check_frames(reply, &record); else check_answers(reply, &record);
  served_wait_until_closed();
  ask_as_another(number);
  free(record.answers);
  free(record.messages);
  free(buffer.bytes);
  return 0;
}
