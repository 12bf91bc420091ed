/* Checks a server's output: whole HTTP answers, and frames as in RFC 6455. */
#define _GNU_SOURCE /* memmem */
#include "answers.h"

#include <string.h>
#include <strings.h>

#include "check.h"
#include "text.h"

/* The three digits behind "HTTP/1.1 ". */
static int read_status(const uint8_t *head, size_t length) {
  CHECK(length >= 13 && memcmp(head, "HTTP/1.", 7) == 0 && (head[7] == '0' || head[7] == '1') && head[8] == ' ');
  int status = 0;
  for (size_t i = 9; i < 12; i++) {
    CHECK(head[i] >= '0' && head[i] <= '9');
    status = 10 * status + head[i] - '0';
  }
  CHECK(head[12] == ' ' || head[12] == '\r');
  CHECK(status >= 100 && status <= 599);
  return status;
}

/* The number in a header, or -1. */
static long read_number(const uint8_t *head, size_t length, const char *name) {
  size_t wanted = strlen(name);
  for (size_t i = 0; i + wanted < length; i++) {
    if (head[i] == '\n' && strncasecmp((const char *)head + i + 1, name, wanted) == 0) {
      return strtol((const char *)head + i + 1 + wanted, NULL, 10);
    }
  }
  return -1;
}

static bool has_body(int status, bool is_head) { return !is_head && status >= 200 && status != 204 && status != 304; }

void check_answers(struct reply reply, const struct record *record) {
  size_t at = 0, count = 0;
  while (at < reply.length) {
    const uint8_t *head = reply.bytes + at;
    const uint8_t *end = memmem(head, reply.length - at, "\r\n\r\n", 4);
    if (!end && !reply.is_whole) return;
    CHECK(end);
    size_t length = (size_t)(end - head) + 4;
    int status = read_status(head, length);
    at += length;
    if (status == 101) {
      check_frames((struct reply){reply.bytes + at, reply.length - at, reply.is_whole}, record);
      return;
    }
    if (status == 100) continue;
    /* An answer that the gateway does not know of is libwebsockets' own. */
    bool is_known = count < record->answer_count;
    if (is_known) CHECK(record->answers[count].status == status);
    bool is_head = is_known && record->answers[count++].is_head;
    long body = read_number(head, length, "content-length:");
    size_t left = reply.length - at;
    /* A HEAD request that is refused as an upgrade gets a body, and the connection ends. */
    bool is_refusal = is_head && status >= 400 && body > 0 && left == (size_t)body;
    if (!is_refusal && !has_body(status, is_head)) continue;
    if (body < 0) return;
    CHECK((size_t)body <= left || !reply.is_whole);
    at += (size_t)body <= left ? (size_t)body : left;
  }
  if (reply.is_whole) CHECK(count == record->answer_count);
}

/* A client's Close frame comes back as it is, one byte long or not UTF-8, except for codes that libwebsockets knows to
 * be wrong. */
static void check_close(const uint8_t *payload, size_t length) {
  unsigned code = length < 2 ? 1000 : (unsigned)payload[0] << 8 | payload[1];
  CHECK(code >= 1000 && code != 1004 && code != 1005 && code != 1006 && (code <= 1011 || code >= 3000));
}

/* Checks that the next message that the gateway passed on comes back. */
static size_t check_echo(const struct record *record, size_t at, const uint8_t *payload, size_t length) {
  uint32_t expected;
  CHECK(at + sizeof expected <= record->messages_length);
  memcpy(&expected, record->messages + at, sizeof expected);
  CHECK(expected == length && (!length || memcmp(record->messages + at + sizeof expected, payload, length) == 0));
  return at + sizeof expected + length;
}

void check_frames(struct reply reply, const struct record *record) {
  const uint8_t *bytes = reply.bytes;
  size_t at = 0, echoed = 0;
  bool is_closed = false;
  while (at < reply.length) {
    CHECK(!is_closed);
    size_t left = reply.length - at;
    CHECK(left >= 2 || !reply.is_whole);
    uint8_t opcode = bytes[at] & 15;
    CHECK((bytes[at] & 0xf0) == 0x80);
    CHECK(opcode == 1 || opcode == 8 || opcode == 9 || opcode == 10);
    if (left < 2) return;
    size_t length = bytes[at + 1], header = length == 126 ? 4 : 2;
    CHECK(length <= 126 && (opcode < 8 || length <= 125));
    if (left < header) return;
    if (header == 4) length = (size_t)bytes[at + 2] << 8 | bytes[at + 3];
    CHECK(header == 2 || (length > 125 && length <= MESSAGE_LIMIT));
    CHECK(left - header >= length || !reply.is_whole);
    if (left - header < length) return;
    const uint8_t *payload = bytes + at + header;
    if (opcode == 8) check_close(payload, length);
    if (opcode == 1) echoed = check_echo(record, echoed, payload, length);
    is_closed = opcode == 8;
    at += header + length;
  }
}
