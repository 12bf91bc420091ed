/*
 * One HTTP request and its answer.
 *
 * From the moment a request is whole until its answer is written, reading from its connection is paused and the answer
 * is written here, not in libwebsockets' writable callback. Its HTTP/1 code (4.1 to 4.3) only serves POLLOUT on a
 * connection that it also reads from, and while it reads, a client that pipelines its next request makes it spin at
 * full speed until the answer is out, or repeats LWS_CALLBACK_HTTP_BODY_COMPLETION. So the kernel's send buffer is
 * filled directly; when it is full, the pump tries again a few milliseconds later. Nothing is buffered twice, whatever
 * the size of the answer, and a client that leaves while it waits is noticed by peeking at the socket.
 */
#include <errno.h>
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

static void fire_pump(lws_sorted_usec_list_t *timer) {
  exchange_pump(lws_container_of(timer, gateway, pump_timer));
}

static void schedule_pump(gateway *gateway) {
  lws_sul_schedule(gateway->lws, 0, &gateway->pump_timer, fire_pump, PUMP_INTERVAL_US);
  loop_wake_in(gateway, PUMP_INTERVAL_US);
}

static void leave_to_pump(struct exchange *exchange) {
  if (!lws_dll2_is_detached(&exchange->unfinished)) return;
  if (!exchange->gateway->unfinished.count) schedule_pump(exchange->gateway);
  lws_dll2_add_tail(&exchange->unfinished, &exchange->gateway->unfinished);
}

/* Hangs up. */
void exchange_give_up(struct exchange *exchange) {
  exchange->state = DOOMED;
  lws_dll2_remove(&exchange->unfinished);
  doom(exchange->gateway, exchange->connection->wsi);
}

/* The client does not take what it is sent. */
void exchange_hang_up(struct exchange *exchange) {
  exchange->gateway->counters.stalled += 1;
  exchange_give_up(exchange);
}

/* The answer is with the kernel: on to the next request, or close once the client has seen all of it. */
void exchange_finish(struct exchange *exchange) {
  struct lws *wsi = exchange->connection->wsi;
  report(exchange);
  if (!exchange->keep_alive) {
    /* Closing with unread input (a refused body, say) would reset the connection and the answer be lost. */
    shutdown(lws_get_socket_fd(wsi), SHUT_WR);
    exchange->state = LINGERING;
    exchange->give_up_at = gateway_now(exchange->gateway) + CLOSE_PATIENCE_US;
    leave_to_pump(exchange);
    return;
  }
  gateway *gateway = exchange->gateway;
  struct connection *connection = exchange->connection;
  exchange_free(exchange);
  connection_awaits_head(connection, false);
  if (lws_http_transaction_completed(wsi)) {
    doom(gateway, wsi);
  } else {
    resume_reading(gateway, wsi);
  }
}

/* Writes what is left, as much as the kernel takes: the head first, then the body. -1 when the client is gone. */
static int write_some(struct exchange *exchange, int descriptor) {
  size_t turn = 0;
  while (exchange->sent < exchange->total && turn < TURN_BYTES) {
    struct iovec parts[2];
    size_t count = 0, in_head = exchange->sent < exchange->head_length ? exchange->head_length - exchange->sent : 0;
    size_t body_sent = in_head ? 0 : exchange->sent - exchange->head_length;
    size_t body_left = exchange->total - exchange->head_length - body_sent;
    if (in_head) parts[count++] = (struct iovec){exchange->head + exchange->sent, in_head};
    if (body_left) parts[count++] = (struct iovec){exchange->answer->body + body_sent, body_left};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    ssize_t written = sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
    exchange->sent += (size_t)written;
    turn += (size_t)written;
    exchange->give_up_at = gateway_now(exchange->gateway) + read_patience(exchange->gateway);
  }
  return 0;
}

static void advance(struct exchange *exchange) {
  int descriptor = lws_get_socket_fd(exchange->connection->wsi);
  if (write_some(exchange, descriptor) < 0) {
    exchange_give_up(exchange);
  } else if (exchange->sent == exchange->total && (!exchange->keep_alive || socket_has_room(descriptor))) {
    /* Room first, because libwebsockets waits for it before it parses on, and spins if there is input meanwhile. */
    lws_dll2_remove(&exchange->unfinished);
    exchange_finish(exchange);
  } else if (gateway_now(exchange->gateway) >= exchange->give_up_at) {
    exchange_hang_up(exchange);
  } else {
    leave_to_pump(exchange);
  }
}

static void linger(struct exchange *exchange) {
  char discarded[4096];
  ssize_t count;
  do {
    count = recv(lws_get_socket_fd(exchange->connection->wsi), discarded, sizeof discarded, MSG_DONTWAIT);
  } while (count == sizeof discarded);
  bool closed = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  if (closed || gateway_now(exchange->gateway) >= exchange->give_up_at) exchange_give_up(exchange);
}

void exchange_pump(gateway *gateway) {
  lws_start_foreach_dll_safe(struct lws_dll2 *, at, next, lws_dll2_get_head(&gateway->unfinished)) {
    struct exchange *exchange = lws_container_of(at, struct exchange, unfinished);
    if (exchange->state == WRITING) {
      advance(exchange);
    } else {
      linger(exchange);
    }
  }
  lws_end_foreach_dll_safe(at, next);
  if (gateway->unfinished.count) schedule_pump(gateway);
}

/* Takes the answer; NULL stands for one that there was no memory for. */
void exchange_answer(struct exchange *exchange, struct answer *answer) {
  exchange->state = WRITING;
  exchange->answer = answer;
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

static void stop_reading(struct exchange *exchange) {
  lws_rx_flow_control(exchange->connection->wsi, 0);
  lws_set_timeout(exchange->connection->wsi, NO_PENDING_TIMEOUT, 0);
}

/* The request is whole: no more is read until it is answered. */
static void dispatch(struct exchange *exchange) {
  gateway *gateway = exchange->gateway;
  struct request *request = exchange->request;
  stop_reading(exchange);
  exchange->state = WAITING;
  request->head.body = (gateway_span){exchange->body, exchange->body_length};
  if (span_equals(request->head.path, gateway->configuration.live_path)) {
    exchange_answer(exchange, answer_problem(426, "Upgrade Required", "bad_message", "this route speaks WebSocket",
                                             "Upgrade: websocket\nConnection: Upgrade\n"));
  } else if (is_dynamic(gateway, request->head.path)) {
    gateway->configuration.callbacks.requested(gateway->context, exchange->id, &request->head);
  } else {
    exchange_answer(exchange, answer_static(gateway, request));
  }
}

/* Answers and closes: the rest of the request is not read. */
static int refuse(struct exchange *exchange, int status, const char *title, const char *code, const char *detail) {
  stop_reading(exchange);
  exchange->keep_alive = false;
  const char *headers = status == 429 || status == 503 ? "Retry-After: 1\n" : NULL;
  exchange_answer(exchange, answer_problem(status, title, code, detail, headers));
  return 0;
}

static int refuse_late(struct exchange *exchange) {
  exchange->gateway->counters.late += 1;
  return refuse(exchange, 408, "Request Timeout", "timeout", "the request did not arrive in time");
}

/* Takes the request. */
static struct exchange *exchange_create(struct connection *connection, struct request *request) {
  struct exchange *exchange = calloc(1, sizeof *exchange);
  if (!exchange) {
    request_free(request);
    return NULL;
  }
  exchange->gateway = connection->gateway;
  exchange->connection = connection;
  exchange->request = request;
  exchange->id = registry_add(&connection->gateway->exchanges, exchange);
  connection->exchange = exchange;
  if (!exchange->request || !exchange->id) {
    exchange_free(exchange);
    return NULL;
  }
  exchange->keep_alive = exchange->request->keep_alive;
  return exchange;
}

/* The head has not come in time. What there is of it is not read: libwebsockets' table is whole only at its end. */
bool exchange_refuse_late(struct connection *connection) {
  struct exchange *exchange = exchange_create(connection, calloc(1, sizeof(struct request)));
  if (exchange) refuse_late(exchange);
  return exchange != NULL;
}

/* LWS_CALLBACK_HTTP: the head is there. */
int exchange_begin(struct connection *connection) {
  connection_has_head(connection);
  struct exchange *exchange = exchange_create(connection, request_read(connection->wsi));
  if (!exchange) return -1;
  const struct request *request = exchange->request;
  if (connection->is_refused) {
    connection->gateway->counters.address += 1;
    return refuse(exchange, 429, "Too Many Requests", "limit_exceeded", TOO_MANY_CONNECTIONS);
  }
  if (request->chunked) {
    return refuse(exchange, 411, "Length Required", "bad_message", "a body needs a Content-Length");
  }
  if (request->content_length < 0) return refuse(exchange, 400, "Bad Request", "bad_message", "bad Content-Length");
  if ((uint64_t)request->content_length > connection->gateway->configuration.body_limit) {
    return refuse(exchange, 413, "Content Too Large", "too_large", "the body is longer than this server takes");
  }
  /* A POST with "Content-Length: 0" gets its LWS_CALLBACK_HTTP_BODY_COMPLETION as well. */
  if (request->content_length > 0 || (request->is_post && request->has_length)) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    exchange->body = malloc((size_t)request->content_length + 1);
    if (!exchange->body) return -1;
    exchange->body_since = gateway_now(connection->gateway);
    if (request->expects_continue) send(lws_get_socket_fd(connection->wsi), go_on, sizeof go_on - 1, MSG_NOSIGNAL);
    return 0;
  }
  /* libwebsockets now believes in a body of 100 MiB; the connection is of no use for a second request. */
  if (request->takes_body && !request->has_length) exchange->keep_alive = false;
  dispatch(exchange);
  return 0;
}

int exchange_body(struct connection *connection, const uint8_t *bytes, size_t length) {
  struct exchange *exchange = connection->exchange;
  if (!exchange || exchange->state != READING || !length) return 0;
  if (exchange->body_length + length > (size_t)exchange->request->content_length) return -1;
  memcpy(exchange->body + exchange->body_length, bytes, length);
  exchange->body_length += length;
  return 0;
}

int exchange_body_complete(struct connection *connection) {
  struct exchange *exchange = connection->exchange;
  if (exchange && exchange->state == READING) dispatch(exchange);
  return 0;
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

/* Is the body too slow? Has the client of an unanswered request left? Nobody else would notice while reading is paused. */
void exchange_watch(struct exchange *exchange, lws_usec_t now) {
  if (exchange->state == READING &&
      body_is_late(&exchange->gateway->configuration, exchange->body_since, exchange->body_length, now)) {
    refuse_late(exchange);
    return;
  }
  if (exchange->state != WAITING) return;
  if (socket_has_ended(lws_get_socket_fd(exchange->connection->wsi))) exchange_give_up(exchange);
}
