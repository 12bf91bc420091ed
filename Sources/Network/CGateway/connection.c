/*
 * Accepted sockets: what their bytes are for, and how long a request may take to come.
 *
 * A connection is a raw socket to libwebsockets. Its bytes are requests' heads and bodies until one is a handshake, and
 * WebSocket frames from then on. What cannot be used yet, because a request waits for its answer or a session is paused, stays
 * in `input`; the socket is not read meanwhile, so that this is no more than what was read at once.
 *
 * A connection that is one too many is read until its request is known, and refused then, because a client that sends its
 * request while the answer to none arrives sees a reset and no reason. Only so many of an address get that courtesy.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/ssl.h>

#include "internal.h"

/* What a body may lag behind its least rate: a client has to get going. */
#define BODY_HEAD_START_US (5 * (lws_usec_t)LWS_US_PER_SEC)
/* How long a connection may wait for its next request. */
#define IDLE_US (60 * (lws_usec_t)LWS_US_PER_SEC)

int connection_open(gateway *gateway, struct lws *wsi) {
  SSL *tls = lws_get_ssl(wsi);
  struct connection *connection = calloc(1, sizeof *connection);
  if (!connection) return -1;
  connection->gateway = gateway;
  connection->wsi = wsi;
  if (gateway->accepting) {
    connection->peer = *gateway->accepting;
    connection->is_proxy = proxies_trust(gateway, gateway->accepting);
    if (!connection->is_proxy) connection->address = address_enter(gateway, gateway->accepting, &connection->is_refused);
  }
  if (tls) SSL_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE);
  lws_set_opaque_user_data(wsi, connection);
  connection->head_since = gateway_now(gateway);
  lws_dll2_add_tail(&connection->awaiting, &gateway->awaiting);
  return 0;
}

/* LWS_CALLBACK_WSI_DESTROY. */
void connection_free(struct lws *wsi) {
  struct connection *connection = lws_get_opaque_user_data(wsi);
  if (!connection) return;
  lws_set_opaque_user_data(wsi, NULL);
  if (connection->session) session_gone(connection->session);
  exchange_gone(connection);
  lws_dll2_remove(&connection->awaiting);
  address_leave(connection->gateway, connection->address, connection->is_refused);
  free(connection->input);
  free(connection);
}

/* Closes it at the next turn of the loop, without a word to the peer. What still comes is dropped. */
void connection_drop(struct connection *connection) {
  connection->is_deaf = true;
  doom(connection->gateway, connection->wsi);
}

void connection_awaits_head(struct connection *connection) {
  connection_leave_client(connection);
  connection->head_since = 0;
  connection->idle_since = gateway_now(connection->gateway);
  if (lws_dll2_is_detached(&connection->awaiting)) {
    lws_dll2_add_tail(&connection->awaiting, &connection->gateway->awaiting);
  }
}

static void has_head(struct connection *connection) {
  lws_dll2_remove(&connection->awaiting);
  connection->scanned = 0;
  /* libwebsockets' own, of the TLS handshake. */
  lws_set_timeout(connection->wsi, NO_PENDING_TIMEOUT, 0);
}

/* Whose request it is. One that a trusted proxy passes on counts as a connection of its client until it is answered. */
void connection_name_client(struct connection *connection, struct request *request) {
  gateway *gateway = connection->gateway;
  if (!connection->is_proxy) {
    request_name_client(request, &connection->peer);
    return;
  }
  struct sockaddr_storage client = proxies_find_client(gateway, &connection->peer, request);
  request_name_client(request, &client);
  connection_leave_client(connection);
  if (!proxies_trust(gateway, &client)) connection->address = address_enter(gateway, &client, &connection->is_refused);
}

void connection_leave_client(struct connection *connection) {
  if (!connection->is_proxy) return;
  address_leave(connection->gateway, connection->address, connection->is_refused);
  connection->address = NULL;
  connection->is_refused = false;
}

static size_t refuse(struct connection *connection, const struct head_fault *fault, struct request *request, size_t length) {
  if (!exchange_refuse(connection, request, fault)) connection_drop(connection);
  return length;
}

/* A request's head, or an empty line in front of it. 0 while it is not whole. */
static size_t consume_head(struct connection *connection, const uint8_t *bytes, size_t length) {
  static const struct head_fault too_long = {431, "Request Header Fields Too Large", "too_large", "the head is too long"};
  static const struct head_fault not_tls = {400, "Bad Request", "bad_message", "this port speaks TLS: use https or wss"};
  static const struct head_fault hasty = {400, "Bad Request", "bad_message", "a handshake's answer has to be waited for"};
  const struct head_fault *fault = NULL;
  if (!connection->scanned && length >= 2 && memcmp(bytes, "\r\n", 2) == 0) return 2;
  if (!connection->head_since) connection->head_since = gateway_now(connection->gateway);
  size_t end = head_end(bytes, length, &connection->scanned, &fault);
  if (!end && !fault && length <= HEAD_LIMIT) return 0;
  has_head(connection);
  if (connection->gateway->tls && !lws_get_ssl(connection->wsi)) fault = &not_tls;
  if (fault || !end || end > HEAD_LIMIT) return refuse(connection, fault ? fault : &too_long, NULL, length);
  struct request *request = request_read((gateway_span){bytes, end}, &fault);
  if (!fault && request->wants_upgrade && end < length) fault = &hasty;
  if (fault) return refuse(connection, fault, request, length);
  if (!exchange_begin(connection, request)) connection_drop(connection);
  return end;
}

static size_t consume_some(struct connection *connection, uint8_t *bytes, size_t length) {
  if (connection->session) return session_read(connection->session, bytes, length);
  if (connection->exchange) return exchange_body(connection->exchange, bytes, length);
  return consume_head(connection, bytes, length);
}

/* As much as can be used now. */
static size_t consume(struct connection *connection, uint8_t *bytes, size_t length) {
  size_t used = 0, count = 1;
  connection->is_consuming = true;
  while (count && used < length && !connection->is_deaf) {
    count = consume_some(connection, bytes + used, length - used);
    used += count;
  }
  connection->is_consuming = false;
  return connection->is_deaf ? length : used;
}

static bool keep(struct connection *connection, const uint8_t *bytes, size_t length) {
  size_t needed = connection->input_length + length;
  uint8_t *input = realloc(connection->input, needed);
  if (!input) return false;
  memcpy(input + connection->input_length, bytes, length);
  connection->input = input;
  connection->input_length = needed;
  return true;
}

/* Goes on with what was kept. */
void connection_continue(struct connection *connection) {
  if (connection->is_consuming || !connection->input_length) return;
  size_t used = consume(connection, connection->input, connection->input_length);
  connection->input_length -= used;
  if (connection->input_length) {
    if (used) memmove(connection->input, connection->input + used, connection->input_length);
  } else {
    free(connection->input);
    connection->input = NULL;
  }
}

/* LWS_CALLBACK_RAW_RX. */
void connection_received(struct connection *connection, uint8_t *bytes, size_t length) {
  if (connection->is_deaf) return;
  size_t used = connection->input_length ? 0 : consume(connection, bytes, length);
  if (used == length) return;
  bool had_input = connection->input_length > 0;
  if (!keep(connection, bytes + used, length - used)) {
    connection_drop(connection);
  } else if (had_input) {
    connection_continue(connection);
  }
}

/* LWS_CALLBACK_RAW_WRITEABLE. */
void connection_writable(struct connection *connection) {
  if (connection->session) {
    session_writable(connection->session);
  } else if (connection->exchange) {
    exchange_writable(connection->exchange);
  }
}

static void watch_head(struct connection *connection, lws_usec_t now) {
  lws_usec_t limit = (lws_usec_t)connection->gateway->configuration.head_timeout * LWS_US_PER_MS;
  if (!connection->head_since && now - connection->idle_since >= IDLE_US) connection_drop(connection);
  if (limit <= 0 || !connection->head_since || now - connection->head_since < limit) return;
  bool has_begun = connection->input_length > 0;
  has_head(connection);
  /* A browser that opens a connection in advance expects no answer to what it has not asked. */
  if (!has_begun || !exchange_refuse_late(connection)) connection_drop(connection);
}

void connections_watch(gateway *gateway, lws_usec_t now) {
  lws_start_foreach_dll_safe(struct lws_dll2 *, at, next, lws_dll2_get_head(&gateway->awaiting)) {
    watch_head(lws_container_of(at, struct connection, awaiting), now);
  }
  lws_end_foreach_dll_safe(at, next);
}

/* Whether a body that began at `since` should be further than it is. */
bool body_is_late(const gateway_configuration *c, lws_usec_t since, size_t received, lws_usec_t now) {
  lws_usec_t taken = now - since, limit = (lws_usec_t)c->body_timeout * LWS_US_PER_MS;
  if (limit > 0 && taken >= limit) return true;
  lws_usec_t counted = taken - BODY_HEAD_START_US;
  return c->body_rate > 0 && counted > 0 && (lws_usec_t)received < counted / LWS_US_PER_SEC * c->body_rate;
}
