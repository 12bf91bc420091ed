/*
 * The gateway that strangers' bytes are given to: one for the process, on a port of the loopback interface. It echoes
 * messages and the bodies of requests, and writes down what it did for one client, which is known by its address.
 */
#include "served.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "check.h"
#include "text.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static gateway *served;
static int port;

/* Guarded by `lock`: callbacks run on the gateway's thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t closed_changed = PTHREAD_COND_INITIALIZER;
static struct record record;
static gateway_channel_id recorded_session;
static unsigned long opened_count, closed_count;
static unsigned places;

static bool is_recorded(const gateway_request *request) {
  char peer[INET_ADDRSTRLEN];
  return inet_ntop(AF_INET, request->client.bytes + 12, peer, sizeof peer) && strcmp(peer, record.peer) == 0;
}

static void check_head(const gateway_request *request) {
  CHECK(request->path.length || !request->method.length);
  CHECK(!request->host.length || !memchr(request->host.bytes, '\n', request->host.length));
  CHECK(request->body.length <= BODY_LIMIT);
}

/* A count that is never given back is noticed at the end. */
static gateway_entry entered(void *context, const gateway_address *address) {
  (void)context, (void)address;
  pthread_mutex_lock(&lock);
  CHECK(++places < 1000);
  pthread_mutex_unlock(&lock);
  return GATEWAY_ENTRY_COUNTED;
}

static void left(void *context, const gateway_address *address, gateway_entry entry) {
  (void)context, (void)address;
  CHECK(entry == GATEWAY_ENTRY_COUNTED);
  pthread_mutex_lock(&lock);
  CHECK(places-- > 0);
  pthread_mutex_unlock(&lock);
}

static int admitted(void *context, const gateway_request *request) {
  (void)context;
  check_head(request);
  return 0;
}

static gateway_fault handshake(void *context, const gateway_request *request) {
  (void)context;
  check_head(request);
  return GATEWAY_NO_FAULT;
}

static void opened(void *context, gateway_channel_id session, const gateway_request *request) {
  (void)context;
  CHECK(!gateway_channel_is_stream(session));
  pthread_mutex_lock(&lock);
  opened_count++;
  if (is_recorded(request)) recorded_session = session;
  pthread_mutex_unlock(&lock);
}

static void send_text(gateway_channel_id channel, const uint8_t *bytes, size_t length) {
  uint8_t *block = malloc(GATEWAY_FRAME_HEADROOM + length);
  CHECK(block);
  if (length) memcpy(block + GATEWAY_FRAME_HEADROOM, bytes, length);
  gateway_frame *frame = gateway_frame_create(block, length, free);
  CHECK(frame);
  gateway_queue(served, frame, &channel, 1);
  gateway_frame_release(frame);
}

static gateway_verdict received(void *context, gateway_channel_id session, const uint8_t *bytes, size_t length) {
  (void)context;
  uint32_t prefix = (uint32_t)length;
  CHECK(length <= MESSAGE_LIMIT);
  if (!text_is_utf8(bytes, length)) return GATEWAY_NOT_TEXT;
  pthread_mutex_lock(&lock);
  if (session == recorded_session) {
    record.messages = realloc(record.messages, record.messages_length + sizeof prefix + length);
    CHECK(record.messages);
    memcpy(record.messages + record.messages_length, &prefix, sizeof prefix);
    if (length) memcpy(record.messages + record.messages_length + sizeof prefix, bytes, length);
    record.messages_length += sizeof prefix + length;
  }
  pthread_mutex_unlock(&lock);
  send_text(session, bytes, length);
  /* One message in so many stops the reading for a while. */
  bool goes_on = length % 5 != 3;
  if (!goes_on) gateway_resume(served, session);
  return goes_on ? GATEWAY_READ_ON : GATEWAY_PAUSE;
}

static void closed(void *context, gateway_channel_id channel) {
  (void)context;
  if (gateway_channel_is_stream(channel)) return;
  pthread_mutex_lock(&lock);
  closed_count++;
  CHECK(closed_count <= opened_count);
  pthread_cond_signal(&closed_changed);
  pthread_mutex_unlock(&lock);
}

static void requested(void *context, gateway_request_id id, const gateway_request *request) {
  static uint8_t big[BIG_ANSWER];
  (void)context;
  check_head(request);
  bool is_big = request->path.length > 4 && request->path.bytes[4] == 'b', is_stream = request->path.length > 4 && request->path.bytes[4] == 's';
  gateway_channel_id stream = is_stream ? gateway_stream_open(served, id, GATEWAY_STREAM_EVENTS, "Content-Type: text/event-stream\r\n", "") : 0;
  if (stream) {
    send_text(stream, (const uint8_t *)"data: x\n\n", 9);
    gateway_close(served, stream, 1000, "");
  } else if (is_big) {
    gateway_respond(served, id, 200, "", big, sizeof big);
  } else if (!is_stream) {
    gateway_respond(served, id, 200, "Content-Type: text/plain\r\n", request->body.bytes, request->body.length);
  }
}

static void answered(void *context, gateway_request_id id, const gateway_request *request, const gateway_outcome *outcome) {
  (void)context, (void)id;
  CHECK(outcome->status >= 200 && outcome->status <= 599);
  pthread_mutex_lock(&lock);
  if (is_recorded(request) && outcome->status != 499) {
    bool is_head = request->method.length == 4 && memcmp(request->method.bytes, "HEAD", 4) == 0;
    record.answers = realloc(record.answers, (record.answer_count + 1) * sizeof *record.answers);
    CHECK(record.answers);
    record.answers[record.answer_count++] = (struct given){outcome->status, is_head};
  }
  pthread_mutex_unlock(&lock);
}

static void drained(void *context, uint64_t waiters) { (void)context, (void)waiters; }
static void notified(void *context, gateway_channel_id channel, uint64_t value) { (void)context, (void)channel, (void)value; }
static void abandoned(void *context, gateway_request_id request) { (void)context, (void)request; }
static void ticked(void *context) { (void)context; }
static void logged(void *context, int level, const char *line) { (void)context, (void)level, (void)line; }

static int listen_on_loopback(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  CHECK(bind(descriptor, (struct sockaddr *)&address, length) == 0 && listen(descriptor, SOMAXCONN) == 0);
  CHECK(getsockname(descriptor, (struct sockaddr *)&address, &length) == 0);
  port = ntohs(address.sin_port);
  return descriptor;
}

static void start(void) {
  static gateway_problem problems[GATEWAY_FAULTS];
  char error[256] = "";
  for (int fault = 0; fault < GATEWAY_FAULTS; fault++) {
    problems[fault] = (gateway_problem){.status = 400 + fault, .code = "refused", .headers = "", .body = "refused\n"};
  }
  const gateway_configuration configuration = {
      .count = 1, .listening_socket = listen_on_loopback(), .subprotocol = "freshet.v1",
      .problems = problems, .budget = gateway_budget_create(0),
      .message_limit = MESSAGE_LIMIT, .body_limit = BODY_LIMIT, .outbox_limit = 1024,
      .read_timeout = 2000, .head_timeout = 2000, .body_timeout = 2000, .stream_headers = "",
      .heartbeat = "", .heartbeat_after = 1000,
      .callbacks = {.entered = entered, .left = left, .admitted = admitted, .handshake = handshake, .opened = opened,
                    .received = received, .drained = drained, .notified = notified, .closed = closed,
                    .requested = requested, .abandoned = abandoned, .answered = answered, .ticked = ticked,
                    .logged = logged}};
  served = gateway_create(&configuration);
  if (!served || !gateway_start(served, NULL, error, sizeof error)) fprintf(stderr, "%s\n", error);
  CHECK(served && !*error);
}

int served_port(void) {
  pthread_once(&once, start);
  return port;
}

void served_begin(const char *peer) {
  pthread_mutex_lock(&lock);
  memset(&record, 0, sizeof record);
  recorded_session = 0;
  snprintf(record.peer, sizeof record.peer, "%s", peer);
  pthread_mutex_unlock(&lock);
}

struct record served_end(void) {
  pthread_mutex_lock(&lock);
  struct record result = record;
  memset(&record, 0, sizeof record);
  recorded_session = 0;
  pthread_mutex_unlock(&lock);
  return result;
}

void served_wait_until_closed(void) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 8;
  pthread_mutex_lock(&lock);
  int problem = 0;
  while (opened_count != closed_count && !problem) problem = pthread_cond_timedwait(&closed_changed, &lock, &deadline);
  CHECK(opened_count == closed_count);
  pthread_mutex_unlock(&lock);
}
