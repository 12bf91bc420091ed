/*
 * One HTTP request and its answer.
 *
 * From the moment a request is whole until its answer is written, its connection is not read: a client that pipelines its
 * next request waits in the kernel. Answers are written from where they are, as much as there is room for at a time; nothing is
 * buffered twice, whatever their size. A client that leaves while it waits is noticed by looking at the socket.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "internal.h"

/* Bytes written for one client before others get their turn. */
#define TURN_BYTES ((size_t)1024 * 1024)

/* Says how the request ended, once. */
static void report(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  const struct answer *answer = exchange->answer;
  if (exchange->reported || !exchange->request) return;
  exchange->reported = true;
  size_t sent = exchange->sent > exchange->head_length ? exchange->sent - exchange->head_length : 0;
  bool goes_on = !answer && exchange->streamed;
  gateway_outcome outcome = {.status = answer ? answer->status : goes_on ? 200 : 499,
                             .bytes = goes_on ? -1 : (int64_t)sent,
                             .code = answer ? answer->code : NULL};
  gateway->configuration.callbacks.answered(gateway->context, exchange->id, &exchange->request->head, &outcome);
}

static void exchange_free(struct exchange *exchange) {
  report(exchange);
  stream_free(exchange);
  registry_remove(&exchange->gateway->exchanges, exchange->id);
  lws_dll2_remove(&exchange->unfinished);
  exchange->connection->exchange = NULL;
  request_free(exchange->request);
  answer_free(exchange->answer);
  free(exchange->body);
  free(exchange->head);
  free(exchange);
}

/* Hangs up. */
void exchange_give_up(struct exchange *exchange) {
  exchange->state = DOOMED;
  lws_dll2_remove(&exchange->unfinished);
  connection_drop(exchange->connection);
}

/* The client does not take what it is sent. */
void exchange_hang_up(struct exchange *exchange) {
  exchange->gateway->counters.stalled += 1;
  exchange_give_up(exchange);
}

/* The answer is with the kernel: on to the next request, or close once the client has seen all of it. */
void exchange_finish(struct exchange *exchange) {
  report(exchange);
  gateway *gateway = exchange->gateway;
  struct connection *connection = exchange->connection;
  if (!exchange->keep_alive) {
    /* Closing with unread input (a refused body, say) would reset the connection and the answer be lost. */
    transport_end(connection);
    connection->is_deaf = true;
    exchange->state = LINGERING;
    exchange->give_up_at = gateway_now(gateway) + CLOSE_PATIENCE_US;
    resume_reading(gateway, connection->wsi);
    return;
  }
  exchange_free(exchange);
  connection_awaits_head(connection);
  connection_continue(connection);
  if (!connection->exchange) resume_reading(gateway, connection->wsi);
}

/* Writes what is left, as much as there is room for: the head first, then the body. -1 when the client is gone. */
static int write_some(struct exchange *exchange) {
  size_t turn = 0;
  while (exchange->sent < exchange->total && turn < TURN_BYTES) {
    struct iovec parts[2];
    size_t count = 0, in_head = exchange->sent < exchange->head_length ? exchange->head_length - exchange->sent : 0;
    size_t body_sent = in_head ? 0 : exchange->sent - exchange->head_length;
    size_t body_left = exchange->total - exchange->head_length - body_sent;
    if (in_head) parts[count++] = (struct iovec){exchange->head + exchange->sent, in_head};
    if (body_left) parts[count++] = (struct iovec){exchange->answer->body + body_sent, body_left};
    ssize_t written = transport_write(exchange->connection, parts, count);
    if (written <= 0) return (int)written;
    exchange->sent += (size_t)written;
    turn += (size_t)written;
    exchange->give_up_at = gateway_now(exchange->gateway) + read_patience(exchange->gateway);
  }
  return 0;
}

static void advance(struct exchange *exchange) {
  if (write_some(exchange) < 0) {
    exchange_give_up(exchange);
  } else if (exchange->sent == exchange->total) {
    exchange_finish(exchange);
  } else {
    lws_callback_on_writable(exchange->connection->wsi);
  }
}

void exchange_writable(struct exchange *exchange) {
  if (exchange->state == WRITING) advance(exchange);
  if (exchange->state == STREAMING) stream_writable(exchange->stream);
}

/* Takes the answer; NULL stands for one that there was no memory for. */
void exchange_answer(struct exchange *exchange, struct answer *answer) {
  exchange->state = WRITING;
  exchange->answer = answer;
  lws_dll2_add_tail(&exchange->unfinished, &exchange->gateway->unfinished);
  outgoing_charge(exchange->gateway, answer);
  exchange->head = answer ? answer_head(answer, exchange->keep_alive, &exchange->head_length) : NULL;
  if (!exchange->head) {
    exchange_give_up(exchange);
    return;
  }
  bool bodyless = exchange->request->is_head || answer->status == 204 || answer->status == 304;
  exchange->total = exchange->head_length + (bodyless ? 0 : answer->length);
  exchange->give_up_at = gateway_now(exchange->gateway) + read_patience(exchange->gateway);
  advance(exchange);
}

static bool is_dynamic(const gateway *gateway, gateway_span path) {
  for (const char *const *route = gateway->configuration.routes; *route; route++) {
    size_t length = strlen(*route);
    if (path.length >= length && memcmp(path.bytes, *route, length) == 0) return true;
  }
  return false;
}

/* The request is whole: no more is read until it is answered. */
static void dispatch(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  struct request *request = exchange->request;
  lws_rx_flow_control(exchange->connection->wsi, 0);
  exchange->state = WAITING;
  request->head.body = (gateway_span){exchange->body, exchange->body_length};
  if (span_equals(request->head.path, gateway->configuration.live_path)) {
    exchange_answer(exchange, answer_problem(426, "Upgrade Required", "bad_message", "this route speaks WebSocket",
                                             "Upgrade: websocket\r\nConnection: Upgrade\r\n"));
  } else if (is_dynamic(gateway, request->head.path)) {
    gateway->configuration.callbacks.requested(gateway->context, exchange->id, &request->head);
  } else {
    exchange_answer(exchange, answer_static(gateway, request));
  }
}

/* Answers and closes: the rest of the request is not read. */
static void refuse(struct exchange *exchange, const struct head_fault *fault, const char *headers) {
  const char *later = fault->status == 429 || fault->status == 503 ? "Retry-After: 1\r\n" : NULL;
  exchange->keep_alive = false;
  exchange_answer(exchange, answer_problem(fault->status, fault->title, fault->code, fault->detail, headers ? headers : later));
}

/* Takes the request; NULL when out of memory. */
static struct exchange *exchange_create(struct connection *connection, struct request *request) {
  struct exchange *exchange = request ? calloc(1, sizeof *exchange) : NULL;
  if (!exchange) {
    request_free(request);
    return NULL;
  }
  exchange->gateway = connection->gateway;
  exchange->connection = connection;
  exchange->request = request;
  exchange->id = registry_add(&connection->gateway->exchanges, exchange);
  connection->exchange = exchange;
  if (!exchange->id) {
    exchange_free(exchange);
    return NULL;
  }
  exchange->keep_alive = exchange->request->keep_alive;
  return exchange;
}

/* Takes the request, which may be NULL where there is none to speak of. False when out of memory. */
bool exchange_refuse(struct connection *connection, struct request *request, const struct head_fault *fault) {
  struct exchange *exchange = exchange_create(connection, request ? request : request_create(0));
  if (exchange) refuse(exchange, fault, NULL);
  return exchange != NULL;
}

static const struct head_fault late = {408, "Request Timeout", "timeout", "the request did not arrive in time"};

bool exchange_refuse_late(struct connection *connection) {
  connection->gateway->counters.late += 1;
  return exchange_refuse(connection, NULL, &late);
}

/* What a request is refused for before its body is read. */
static const struct head_fault *find_fault(const struct exchange *exchange) {
  static const struct head_fault crowded = {429, "Too Many Requests", "limit_exceeded", "this address has too many connections"};
  static const struct head_fault too_large = {413, "Content Too Large", "too_large", "the body is longer than this server takes"};
  gateway *gateway = exchange->gateway;
  if (exchange->connection->is_refused) {
    gateway->counters.address += 1;
    return &crowded;
  }
  return exchange->request->content_length > gateway->configuration.body_limit ? &too_large : NULL;
}

/* Whether the request's client has sent too many; then it is answered. */
static bool refuse_hasty(struct exchange *exchange) {
  static const struct head_fault hasty = {429, "Too Many Requests", "limit_exceeded", "this client sends too many requests"};
  gateway *gateway = exchange->gateway;
  char headers[32];
  int seconds = gateway->configuration.callbacks.admitted(gateway->context, &exchange->request->head);
  if (!seconds) return false;
  gateway->counters.rate += 1;
  snprintf(headers, sizeof headers, "Retry-After: %d\r\n", seconds);
  refuse(exchange, &hasty, headers);
  return true;
}

/* A request's head is there. Takes it. False when out of memory. */
bool exchange_begin(struct connection *connection, struct request *request) {
  struct exchange *exchange = exchange_create(connection, request);
  if (!exchange) return false;
  connection_name_client(connection, request);
  const struct head_fault *fault = find_fault(exchange);
  const char *headers = NULL;
  if (!fault && refuse_hasty(exchange)) return true;
  if (!fault && request->wants_upgrade) {
    fault = handshake_fault(connection, request, &headers);
    if (!fault) {
      exchange->request = NULL;
      exchange_free(exchange);
      return session_open(connection, request);
    }
  }
  if (fault) {
    refuse(exchange, fault, headers);
  } else if (request->content_length) {
    exchange->body = malloc((size_t)request->content_length);
    if (!exchange->body) return false;
    exchange->body_since = gateway_now(connection->gateway);
    struct iovec go_on = {(char *)(uintptr_t) "HTTP/1.1 100 Continue\r\n\r\n", 25};
    if (request->expects_continue && transport_write(connection, &go_on, 1) != 25) return false;
  } else {
    dispatch(exchange);
  }
  return true;
}

/* A part of the body, or all of it and what follows: how much was used. */
size_t exchange_body(struct exchange *exchange, const uint8_t *bytes, size_t length) {
  if (exchange->state != READING) return 0;
  size_t left = (size_t)exchange->request->content_length - exchange->body_length;
  size_t used = length < left ? length : left;
  memcpy(exchange->body + exchange->body_length, bytes, used);
  exchange->body_length += used;
  if (used == left) dispatch(exchange);
  return used;
}

/* The connection is closed. */
void exchange_gone(struct connection *connection) {
  struct exchange *exchange = connection->exchange;
  if (!exchange) return;
  gateway *gateway = exchange->gateway;
  gateway_request_id id = exchange->id;
  bool unanswered = exchange->state == WAITING || (exchange->state == DOOMED && !exchange->answer && !exchange->streamed);
  exchange_free(exchange);
  if (unanswered) gateway->configuration.callbacks.abandoned(gateway->context, id);
}

/* Is the body too slow? Has the client of an unanswered request left? Nobody else would notice while it is not read. */
void exchange_watch(struct exchange *exchange, lws_usec_t now) {
  bool is_over = now >= exchange->give_up_at;
  if (exchange->state == READING &&
      body_is_late(&exchange->gateway->configuration, exchange->body_since, exchange->body_length, now)) {
    exchange->gateway->counters.late += 1;
    refuse(exchange, &late, NULL);
  } else if (exchange->state == WAITING && transport_has_ended(exchange->connection)) {
    exchange_give_up(exchange);
  } else if (exchange->state == WRITING && is_over) {
    exchange_hang_up(exchange);
  } else if (exchange->state == LINGERING && is_over) {
    exchange_give_up(exchange);
  }
}
