/*
 * One accepted socket, from accept to close: how many its address may have, and how long it may take to send a request.
 *
 * A connection that is one too many is read until its request is known, and refused then, because a client that sends its
 * request while the answer to none arrives sees a reset and no reason. Only so many of an address get that courtesy.
 *
 * libwebsockets has timeouts of its own for heads and bodies (10 and 20 seconds), but starts the latter anew with every
 * byte, and hangs up without an answer. Its limits are set a little higher; the sweep here answers 408 before.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "internal.h"

/* What a body may lag behind its least rate: a client has to get going. */
#define BODY_HEAD_START_US (5 * (lws_usec_t)LWS_US_PER_SEC)

int connection_open(gateway *gateway, struct lws *wsi) {
  struct connection *connection = calloc(1, sizeof *connection);
  if (!connection) return -1;
  connection->gateway = gateway;
  connection->wsi = wsi;
  if (gateway->accepting) {
    connection->address = address_enter(gateway, gateway->accepting, &connection->is_refused);
  }
  lws_set_opaque_user_data(wsi, connection);
  connection_awaits_head(connection, true);
  return 0;
}

/* LWS_CALLBACK_WSI_DESTROY. */
void connection_free(struct lws *wsi) {
  struct connection *connection = lws_get_opaque_user_data(wsi);
  if (!connection) return;
  lws_set_opaque_user_data(wsi, NULL);
  if (connection->session) session_gone(connection->session);
  exchange_gone(connection);
  request_free(connection->handshake);
  lws_dll2_remove(&connection->awaiting);
  address_leave(connection->gateway, connection->address, connection->is_refused);
  free(connection);
}

/* From now on a head is expected: at once on a connection that is new, and whenever it begins on one that is used again (until
   libwebsockets thinks that it has been idle for too long). */
void connection_awaits_head(struct connection *connection, bool is_new) {
  connection->head_since = is_new ? gateway_now(connection->gateway) : 0;
  if (lws_dll2_is_detached(&connection->awaiting)) {
    lws_dll2_add_tail(&connection->awaiting, &connection->gateway->awaiting);
  }
}

void connection_has_head(struct connection *connection) { lws_dll2_remove(&connection->awaiting); }

/* Whether the method of a request, at least, has been read. */
static bool head_has_begun(struct lws *wsi) {
  static const enum lws_token_indexes methods[] = {WSI_TOKEN_GET_URI,     WSI_TOKEN_POST_URI,  WSI_TOKEN_HEAD_URI,
                                                   WSI_TOKEN_OPTIONS_URI, WSI_TOKEN_PUT_URI,   WSI_TOKEN_PATCH_URI,
                                                   WSI_TOKEN_DELETE_URI};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (lws_hdr_total_length(wsi, methods[i]) > 0) return true;
  }
  return false;
}

static void watch_head(struct connection *connection, lws_usec_t now) {
  lws_usec_t limit = (lws_usec_t)connection->gateway->configuration.head_timeout * LWS_US_PER_MS;
  bool has_begun = head_has_begun(connection->wsi);
  if (!connection->head_since && has_begun) connection->head_since = now;
  if (limit <= 0 || !connection->head_since || now - connection->head_since < limit) return;
  connection_has_head(connection);
  /* A browser that opens a connection in advance expects no answer to what it has not asked. */
  if (!has_begun || !exchange_refuse_late(connection)) doom(connection->gateway, connection->wsi);
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
