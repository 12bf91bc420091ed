/*
 * From the moment a request is whole until its answer is written, its connection is not read: a client that pipelines
 * its next request waits in the kernel. libwebsockets (4.1 to 4.3) reports room only on a connection that it also
 * reads, and spins there while something waits to be read. So each exchange is offered room here, at the end of a turn,
 * and every PUMP_INTERVAL_US while the kernel takes no more. Meanwhile libwebsockets gets at most GATHER_BYTES, and
 * keeps a copy of them.
 */
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "frame.h"
#include "loop.h"
#include "socket.h"

/* Bytes written for one client before others get their turn. */
#define TURN_BYTES ((size_t)1024 * 1024)
/* How often room is looked for on connections that had none. */
#define PUMP_INTERVAL_US ((lws_usec_t)2000)
/* How far a body may lag behind its least rate: a client has to get going. */
#define BODY_HEAD_START_US (5 * (lws_usec_t)LWS_US_PER_SEC)

static struct exchange *exchange_of(struct lws *wsi) {
  struct connection *connection = connection_of(wsi);
  return connection ? connection->exchange : NULL;
}

/* Says how the request ended, once. */
static void report(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  const struct answer *answer = exchange->answer;
  if (exchange->reported || !exchange->request) return;
  exchange->reported = true;
  bool goes_on = !answer && exchange->streamed;
  gateway_outcome outcome = {.status = answer ? answer->status : goes_on ? 200 : 499,
                             .bytes = goes_on ? -1 : (int64_t)exchange->sent,
                             .code = answer ? answer->code : NULL};
  gateway->configuration.callbacks.answered(gateway->context, exchange->id, &exchange->request->head, &outcome);
}

static void exchange_free(struct exchange *exchange) {
  report(exchange);
  if (exchange->stream) exchange->source->close(exchange);
  registry_remove(&exchange->gateway->exchanges.all, exchange->id);
  lws_dll2_remove(&exchange->waiting);
  place_leave(exchange->gateway, &exchange->place);
  exchange->connection->exchange = NULL;
  request_free(exchange->request);
  answer_free(exchange->answer);
  free(exchange->body);
  free(exchange);
}

/* Hangs up. */
void exchange_give_up(struct exchange *exchange) {
  exchange->state = DOOMED;
  lws_dll2_remove(&exchange->waiting);
  doom(exchange->gateway, exchange->connection->wsi);
}

void exchange_hang_up(struct exchange *exchange) {
  exchange->gateway->counters.stalled += 1;
  exchange_give_up(exchange);
}

static void fire_pump(gateway *gateway);

static void schedule_pump(gateway *gateway) {
  if (!gateway->exchanges.pump.at) timer_set(gateway, &gateway->exchanges.pump, PUMP_INTERVAL_US, fire_pump);
}

static void move_to(struct exchange *exchange, lws_dll2_owner_t *list) {
  if (exchange->waiting.owner == list) return;
  lws_dll2_remove(&exchange->waiting);
  lws_dll2_add_tail(&exchange->waiting, list);
}

void exchange_write_soon(struct exchange *exchange) { move_to(exchange, &exchange->gateway->exchanges.due); }

void exchange_write_later(struct exchange *exchange) {
  schedule_pump(exchange->gateway);
  move_to(exchange, &exchange->gateway->exchanges.unfinished);
}

/* libwebsockets calls back (exchange_writable), unless it has something of its own to write first. */
static void give_room(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  gateway_request_id id = exchange->id;
  lws_dll2_remove(&exchange->waiting);
  exchange->is_offered = true;
  lws_rx_flow_control(exchange->connection->wsi, 1);
  offer_room(gateway, exchange->connection->wsi);
  exchange = registry_find(&gateway->exchanges.all, id);
  if (!exchange) return;
  lws_rx_flow_control(exchange->connection->wsi, 0);
  if (exchange->is_offered && exchange->state != DOOMED) exchange_write_later(exchange);
}

void exchanges_write_due(gateway *gateway) {
  struct lws_dll2 *first;
  while ((first = lws_dll2_get_head(&gateway->exchanges.due))) {
    give_room(lws_container_of(first, struct exchange, waiting));
  }
}

/* Waits until the client has closed: closing with unread input (a refused body, say) would reset the connection and the
 * answer be lost. */
static void linger(struct exchange *exchange) {
  char discarded[4096];
  ssize_t count;
  do {
    count = recv(lws_get_socket_fd(exchange->connection->wsi), discarded, sizeof discarded, MSG_DONTWAIT);
  } while (count == sizeof discarded);
  bool has_closed = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  if (has_closed || gateway_now(exchange->gateway) >= exchange->give_up_at) {
    exchange_give_up(exchange);
  } else {
    exchange_write_later(exchange);
  }
}

/* Handles each exchange of the list once: those that still wait are appended again. */
static void fire_pump(gateway *gateway) {
  for (uint32_t left = gateway->exchanges.unfinished.count; left && gateway->exchanges.unfinished.count; left--) {
    struct exchange *exchange = lws_container_of(lws_dll2_get_head(&gateway->exchanges.unfinished), struct exchange, waiting);
    if (exchange->state == LINGERING) {
      lws_dll2_remove(&exchange->waiting);
      linger(exchange);
    } else {
      give_room(exchange);
    }
  }
}

int exchange_finish(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  struct connection *connection = exchange->connection;
  struct lws *wsi = exchange->connection->wsi;
  report(exchange);
  if (!exchange->keep_alive) {
    socket_end(wsi);
    exchange->state = LINGERING;
    exchange->give_up_at = gateway_now(gateway) + CLOSE_PATIENCE_US;
    exchange_write_later(exchange);
    return 0;
  }
  /* libwebsockets parses on only when it sees room, and spins if there is input meanwhile. */
  if (lws_send_pipe_choked(wsi)) {
    exchange_write_later(exchange);
    return 0;
  }
  exchange_free(exchange);
  connection_awaits_head(connection);
  connection->read_count = socket_read_count(lws_get_socket_fd(wsi));
  /* Bytes that came with the request are read after an event. */
  loop_nudge(gateway);
  return lws_http_transaction_completed(wsi) ? -1 : 0;
}

/* The head, and as much of the body as fits behind it. */
static int write_head(struct exchange *exchange) {
  const struct answer *answer = exchange->answer;
  uint8_t *start = exchange->gateway->gather + LWS_PRE, *end = start + GATHER_BYTES, *at = start;
  if (!answer_put_head(answer, exchange->connection->wsi, exchange->keep_alive, &at, end)) return -1;
  size_t room = (size_t)(end - at), part = exchange->total < room ? exchange->total : room;
  memcpy(at, answer->body, part);
  at += part;
  exchange->sent = part;
  exchange->has_head = true;
  return lws_write(exchange->connection->wsi, start, (size_t)(at - start), LWS_WRITE_HTTP_HEADERS);
}

static int write_part(struct exchange *exchange) {
  size_t left = exchange->total - exchange->sent, part = left < GATHER_BYTES ? left : GATHER_BYTES;
  int written = lws_write(exchange->connection->wsi, exchange->answer->body + exchange->sent, part, LWS_WRITE_HTTP);
  exchange->sent += part;
  return written;
}

/* Writes the rest of the answer, as much as fits. */
static int write_answer(struct exchange *exchange) {
  struct lws *wsi = exchange->connection->wsi;
  size_t before = exchange->sent, turn = before + TURN_BYTES;
  if (lws_partial_buffered(wsi)) {
    exchange_write_later(exchange);
    return 0;
  }
  bool is_first = !exchange->has_head;
  if (is_first && write_head(exchange) < 0) return -1;
  while (exchange->sent < exchange->total && exchange->sent < turn && !lws_partial_buffered(wsi)) {
    if (write_part(exchange) < 0) return -1;
  }
  if (is_first || exchange->sent > before) {
    exchange->give_up_at = gateway_now(exchange->gateway) + read_patience(exchange->gateway);
  }
  if (exchange->sent == exchange->total && !lws_partial_buffered(wsi)) return exchange_finish(exchange);
  exchange_write_later(exchange);
  return 0;
}

int exchange_writable(struct lws *wsi) {
  struct exchange *exchange = exchange_of(wsi);
  if (!exchange) return 0;
  exchange->is_offered = false;
  lws_dll2_remove(&exchange->waiting);
  if (exchange->state == WRITING) return write_answer(exchange);
  return exchange->state == STREAMING ? exchange->source->writable(exchange) : 0;
}

/* Takes the answer; NULL stands for one that there was no memory for. */
void exchange_answer(struct exchange *exchange, struct answer *answer) {
  exchange->state = WRITING;
  exchange->answer = answer;
  if (!answer) {
    exchange_give_up(exchange);
    return;
  }
  answer_charge(exchange->gateway, answer);
  exchange->total = answer_has_body(answer, exchange->request->is_head) ? answer->length : 0;
  exchange->give_up_at = gateway_now(exchange->gateway) + read_patience(exchange->gateway);
  exchange_write_soon(exchange);
}

static void stop_reading(struct exchange *exchange) {
  lws_rx_flow_control(exchange->connection->wsi, 0);
  lws_set_timeout(exchange->connection->wsi, NO_PENDING_TIMEOUT, 0);
}

/* The request is whole: no more is read until it is answered. */
static void perform(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  struct request *request = exchange->request;
  stop_reading(exchange);
  exchange->state = WAITING;
  request->head.body = (gateway_span){exchange->body, exchange->body_length};
  gateway->configuration.callbacks.requested(gateway->context, exchange->id, &request->head);
}

/* Answers and closes: the rest of the request is not read. */
static void refuse(struct exchange *exchange, gateway_fault fault, const char *headers) {
  stop_reading(exchange);
  exchange->keep_alive = false;
  exchange_answer(exchange, answer_problem(exchange->gateway, fault, headers));
}

/* Takes the request, which may be NULL when out of memory. */
static struct exchange *exchange_create(struct connection *connection, struct request *request) {
  struct exchange *exchange = request ? calloc(1, sizeof *exchange) : NULL;
  if (!exchange) {
    request_free(request);
    return NULL;
  }
  exchange->gateway = connection->gateway;
  exchange->connection = connection;
  exchange->request = request;
  exchange->keep_alive = request->keep_alive && !connection->gateway->stopping;
  exchange->id = registry_add(&connection->gateway->exchanges.all, exchange);
  connection->exchange = exchange;
  if (exchange->id) return exchange;
  exchange_free(exchange);
  return NULL;
}

/* The rest of a late head is not read, and libwebsockets reports no room before the head is whole: the answer is
 * written at once. */
void exchange_refuse_late(struct connection *connection, bool has_begun) {
  gateway *gateway = connection->gateway;
  struct exchange *exchange = NULL;
  /* A browser that opens a connection in advance expects no answer without a request. */
  if (has_begun && !connection->exchange) exchange = exchange_create(connection, request_create_empty());
  if (!exchange) {
    doom(gateway, connection->wsi);
    return;
  }
  gateway->counters.late += 1;
  exchange->answer = answer_problem(gateway, GATEWAY_LATE, NULL);
  stop_reading(exchange);
  if (exchange->answer && answer_write_whole(exchange->answer, gateway, exchange->connection->wsi)) {
    exchange->sent = exchange->answer->length;
    exchange_finish(exchange);
  } else {
    exchange_give_up(exchange);
  }
}

/* Whether the request's client has sent too many; then it is answered. */
static bool refuse_hasty(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  char headers[32];
  if (request_is_admitted(gateway, exchange->request, headers, sizeof headers)) return false;
  refuse(exchange, GATEWAY_HASTY, headers);
  return true;
}

/* The reason to refuse a request before its body is read. */
static gateway_fault find_fault(struct exchange *exchange, gateway_fault fault) {
  gateway *gateway = exchange->gateway;
  if (gateway->tls && !lws_get_ssl(exchange->connection->wsi)) return GATEWAY_NO_TLS;
  if (connection_is_refused(exchange->connection, &exchange->place)) {
    gateway->counters.address += 1;
    return GATEWAY_CROWDED;
  }
  if (fault != GATEWAY_NO_FAULT) return fault;
  return exchange->request->content_length > gateway->configuration.body_limit ? GATEWAY_TOO_LARGE : GATEWAY_NO_FAULT;
}

static int read_body(struct exchange *exchange) {
  uint8_t go_on[LWS_PRE + 26] = {0};
  const struct request *request = exchange->request;
  exchange->body = malloc((size_t)request->content_length);
  if (!exchange->body) return -1;
  exchange->body_since = gateway_now(exchange->gateway);
  if (!request->expects_continue) return 0;
  memcpy(go_on + LWS_PRE, "HTTP/1.1 100 Continue\r\n\r\n", 25);
  return lws_write(exchange->connection->wsi, go_on + LWS_PRE, 25, LWS_WRITE_HTTP) < 0 ? -1 : 0;
}

/*
 * libwebsockets (4.1 to 4.3) loops forever, at the end of lws_http_action, if it has read a request with a body and
 * more bytes behind it before it was asked to. Such a request came before the answer to the previous one, because
 * nothing was read since.
 */
static bool is_pipelined(const struct exchange *exchange) {
  const struct connection *connection = exchange->connection;
  return connection->read_count && socket_read_count(connection->descriptor) == connection->read_count;
}

/* Answers at once, and has libwebsockets hang up. */
static int refuse_pipelined(struct exchange *exchange) {
  exchange->answer = answer_problem(exchange->gateway, GATEWAY_PIPELINED, NULL);
  if (exchange->answer && answer_write_whole(exchange->answer, exchange->gateway, exchange->connection->wsi)) {
    exchange->sent = exchange->answer->length;
  }
  exchange_free(exchange);
  return -1;
}

int exchange_begin(struct connection *connection) {
  gateway_fault fault = GATEWAY_NO_FAULT;
  connection_has_head(connection);
  struct exchange *exchange = exchange_create(connection, request_read(connection->wsi, &fault));
  if (!exchange) return -1;
  exchange->place = connection_name_client(connection, exchange->request);
  if (exchange->request->takes_body && is_pipelined(exchange)) return refuse_pipelined(exchange);
  fault = find_fault(exchange, fault);
  if (fault != GATEWAY_NO_FAULT) {
    refuse(exchange, fault, NULL);
  } else if (refuse_hasty(exchange)) {
    return 0;
  } else if (exchange->request->content_length) {
    return read_body(exchange);
  } else {
    perform(exchange);
  }
  return 0;
}

int exchange_body(struct lws *wsi, const uint8_t *bytes, size_t length) {
  struct exchange *exchange = exchange_of(wsi);
  if (!exchange || !length || exchange->state != READING) return 0;
  if (exchange->body_length + length > (size_t)exchange->request->content_length) return -1;
  memcpy(exchange->body + exchange->body_length, bytes, length);
  exchange->body_length += length;
  return 0;
}

int exchange_body_complete(struct lws *wsi) {
  struct exchange *exchange = exchange_of(wsi);
  if (!exchange || exchange->state != READING) return 0;
  if (exchange->body_length == exchange->request->content_length) {
    perform(exchange);
  } else {
    refuse(exchange, GATEWAY_BAD_LENGTH, NULL);
  }
  return 0;
}

/* The connection is closed. */
void exchange_gone(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  gateway_request_id id = exchange->id;
  bool unanswered = exchange->state == WAITING || (exchange->state == DOOMED && !exchange->answer && !exchange->streamed);
  exchange_free(exchange);
  if (unanswered) gateway->configuration.callbacks.abandoned(gateway->context, id);
}

/* Whether a body should be further than it is. */
static bool body_is_late(const struct exchange *exchange, lws_usec_t now) {
  const gateway_configuration *c = &exchange->gateway->configuration;
  lws_usec_t taken = now - exchange->body_since, limit = (lws_usec_t)c->body_timeout * LWS_US_PER_MS;
  if (limit > 0 && taken >= limit) return true;
  lws_usec_t counted = taken - BODY_HEAD_START_US;
  return c->body_rate > 0 && counted > 0 && (lws_usec_t)exchange->body_length < counted / LWS_US_PER_SEC * c->body_rate;
}

/* Is the body too slow? Has the client of an unanswered request left? Nothing else would notice while the connection is
   not read. */
static void watch(struct exchange *exchange, lws_usec_t now) {
  if (exchange->state == READING && body_is_late(exchange, now)) {
    exchange->gateway->counters.late += 1;
    refuse(exchange, GATEWAY_LATE, NULL);
  } else if ((exchange->state == WAITING || exchange->state == STREAMING) &&
             socket_has_ended(lws_get_socket_fd(exchange->connection->wsi))) {
    exchange_give_up(exchange);
  } else if (exchange->state == WRITING && now >= exchange->give_up_at) {
    exchange_hang_up(exchange);
  }
}

bool exchanges_wait(const gateway *gateway) {
  for (uint32_t i = 0; i < gateway->exchanges.all.count; i++) {
    const struct exchange *exchange = gateway->exchanges.all.entries[i].object;
    if (exchange && exchange->state == WAITING) return true;
  }
  return false;
}

bool exchanges_refuse_waiting(gateway *gateway) {
  bool was_there = false;
  for (uint32_t i = 0; i < gateway->exchanges.all.count; i++) {
    struct exchange *exchange = gateway->exchanges.all.entries[i].object;
    if (!exchange || exchange->state != WAITING) continue;
    was_there = true;
    gateway->configuration.callbacks.abandoned(gateway->context, exchange->id);
    refuse(exchange, GATEWAY_STOPPING, NULL);
  }
  return was_there;
}

void exchanges_watch(gateway *gateway, lws_usec_t now) {
  for (uint32_t i = 0; i < gateway->exchanges.all.count; i++) {
    struct exchange *exchange = gateway->exchanges.all.entries[i].object;
    if (exchange) watch(exchange, now);
  }
}
