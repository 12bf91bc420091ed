/*
 * WebSocket frames: messages.c, with the rest of a session in place of the sockets. The first byte of the input chooses how it is
 * cut; whatever that is, the same messages, pongs and Close code come of it.
 */
#include <string.h>

/* Of this file alone: the gateway's own are in the same program. */
#define session_read fuzzed_session_read
#define session_heard fuzzed_session_heard
#define session_close fuzzed_session_close
#define session_pause fuzzed_session_pause
#define session_take_token fuzzed_session_take_token
#define session_answer_ping fuzzed_session_answer_ping
#define session_peer_closed fuzzed_session_peer_closed
#include "../../Sources/Network/CGateway/messages.c"

#include "CFuzzing.h"
#include "check.h"

enum { MESSAGE_LIMIT = 300 };

/* What a session has done, as bytes. */
struct record {
  uint8_t *bytes;
  size_t length, messages;
};

static struct record *record;
/* One message in so many pauses the session, as a full outbox does. */
static unsigned pause_every;

static void note(uint8_t what, const uint8_t *bytes, size_t length) {
  record->bytes = realloc(record->bytes, record->length + length + 3);
  record->bytes[record->length++] = what;
  record->bytes[record->length++] = (uint8_t)(length >> 8);
  record->bytes[record->length++] = (uint8_t)length;
  if (length) memcpy(record->bytes + record->length, bytes, length);
  record->length += length;
}

void session_heard(struct session *session) { (void)session; }
void session_take_token(struct session *session) { (void)session; }
void session_pause(struct session *session, unsigned reason) { session->pauses |= reason; }

void session_close(struct session *session, uint16_t code, const char *reason) {
  CHECK(reason && strlen(reason) <= CONTROL_BYTES - 2);
  if (session->closing) return;
  session->closing = true;
  note('c', (uint8_t[]){(uint8_t)(code >> 8), (uint8_t)code}, 2);
}

void session_answer_ping(struct session *session, const uint8_t *payload, size_t length) {
  CHECK(length <= CONTROL_BYTES);
  if (!session->closing) note('p', payload, length);
}

void session_peer_closed(struct session *session, uint16_t code) {
  session->peer_closed = session->is_lost = session->closing = true;
  note('e', (uint8_t[]){(uint8_t)(code >> 8), (uint8_t)code}, 2);
}

static bool received(void *context, gateway_channel_id id, const uint8_t *bytes, size_t length) {
  (void)context, (void)id;
  CHECK(length <= MESSAGE_LIMIT);
  CHECK(utf8_is_valid(bytes, length));
  note('m', bytes, length);
  return !pause_every || ++record->messages % pause_every;
}

/* Feeds the input in pieces of that length, as connection.c does: what is not used comes again with what follows. */
static struct record run(gateway *gateway, const uint8_t *bytes, size_t length, size_t piece) {
  struct record result = {0};
  struct session session = {.channel.gateway = gateway};
  size_t at = 0, pending = 0;
  record = &result;
  while (!session.is_lost && (at + pending < length || session.pauses)) {
    session.pauses = 0;
    if (at + pending < length) pending += length - at - pending < piece ? length - at - pending : piece;
    uint8_t *copy = malloc(pending ? pending : 1);
    memcpy(copy, bytes + at, pending);
    size_t used = session_read(&session, copy, pending);
    free(copy);
    CHECK(used <= pending && (used == pending || session.pauses));
    at += used;
    pending -= used;
  }
  free(session.message);
  return result;
}

int fuzz_frames(const uint8_t *bytes, size_t length) {
  if (length < 1) return 0;
  struct gateway gateway = {0};
  gateway.configuration.message_limit = MESSAGE_LIMIT;
  gateway.configuration.callbacks.received = received;
  size_t piece = 1 + (*bytes & 31);
  unsigned pauses = *bytes >> 5;
  pause_every = 0;
  struct record whole = run(&gateway, bytes + 1, length - 1, length);
  pause_every = pauses;
  struct record cut = run(&gateway, bytes + 1, length - 1, piece);
  CHECK(whole.length == cut.length && (!whole.length || memcmp(whole.bytes, cut.bytes, whole.length) == 0));
  free(whole.bytes);
  free(cut.bytes);
  return 0;
}
