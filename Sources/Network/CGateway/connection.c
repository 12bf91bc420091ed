/*
 * A connection beyond its address's limit is read until its request is known, and refused only then: a client that is
 * answered while it still sends its request would see a reset and not the reason. A limited number of an address's
 * connections are refused this way; further ones are closed at once.
 *
 * libwebsockets has timeouts of its own for heads and bodies, but restarts those for bodies with every byte, and hangs
 * up without an answer. Its limits are set a little higher, so that the gateway's own checks come first.
 */
#include "connection.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/ssl.h>

struct connection *connection_of(struct lws *wsi) { return lws_get_opaque_user_data(wsi); }

struct connection *connection_at(const gateway *gateway, int descriptor) {
  return descriptor >= 0 && (size_t)descriptor < gateway->connections.descriptors ? gateway->connections.by_descriptor[descriptor] : NULL;
}

/* False: no memory. */
static bool note_descriptor(struct connection *connection) {
  gateway *gateway = connection->gateway;
  size_t descriptor = (size_t)connection->descriptor;
  if (descriptor >= gateway->connections.descriptors) {
    size_t count = 2 * descriptor + 64;
    struct connection **table = realloc(gateway->connections.by_descriptor, count * sizeof *table);
    if (!table) return false;
    memset(table + gateway->connections.descriptors, 0, (count - gateway->connections.descriptors) * sizeof *table);
    gateway->connections.by_descriptor = table;
    gateway->connections.descriptors = count;
  }
  gateway->connections.by_descriptor[descriptor] = connection;
  return true;
}

void place_leave(gateway *gateway, struct place *place) {
  if (place->entry == GATEWAY_ENTRY_COUNTED || place->entry == GATEWAY_ENTRY_REFUSED) {
    gateway->configuration.callbacks.left(gateway->context, &place->address, place->entry);
  }
  *place = (struct place){0};
}

bool connection_open(gateway *gateway, struct lws *wsi) {
  SSL *tls = lws_get_ssl(wsi);
  struct connection *connection = calloc(1, sizeof *connection);
  if (!connection) return false;
  connection->gateway = gateway;
  connection->wsi = wsi;
  connection->descriptor = lws_get_socket_fd(wsi);
  if (connection->descriptor < 0 || !note_descriptor(connection)) {
    free(connection);
    return false;
  }
  connection->peer = gateway->connections.accepting;
  gateway->connections.accepting = (struct place){0};
  /* With partial writes, a slow reader of a long answer is seen to make progress. */
  if (tls) SSL_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE);
  lws_set_opaque_user_data(wsi, connection);
  connection->head_since = gateway_now(gateway);
  lws_dll2_add_tail(&connection->awaiting, &gateway->connections.awaiting);
  return true;
}

void connection_free(struct connection *connection) {
  lws_set_opaque_user_data(connection->wsi, NULL);
  request_free(connection->handshake);
  lws_dll2_remove(&connection->awaiting);
  /* The system may have given the number to another socket. */
  struct connection **slot = &connection->gateway->connections.by_descriptor[connection->descriptor];
  if (*slot == connection) *slot = NULL;
  place_leave(connection->gateway, &connection->place);
  place_leave(connection->gateway, &connection->peer);
  free(connection);
}

/* The time limit of the next head begins with its first byte. */
void connection_awaits_head(struct connection *connection) {
  connection->head_since = 0;
  connection->target = (struct target){0};
  if (lws_dll2_is_detached(&connection->awaiting)) {
    lws_dll2_add_tail(&connection->awaiting, &connection->gateway->connections.awaiting);
  }
}

void connection_has_head(struct connection *connection) { lws_dll2_remove(&connection->awaiting); }

struct place connection_name_client(struct connection *connection, struct request *request) {
  gateway *gateway = connection->gateway;
  const gateway_callbacks *callbacks = &gateway->configuration.callbacks;
  struct place place = {.address = connection->peer.address};
  if (connection->peer.entry == GATEWAY_ENTRY_PROXY) {
    place.address = callbacks->speaks_for(gateway->context, &place.address, request->forwarded_for, request->forwarded);
    place.entry = callbacks->entered(gateway->context, &place.address);
  }
  request->head.client = place.address;
  return place;
}

bool connection_is_refused(const struct connection *connection, const struct place *place) {
  return place->entry == GATEWAY_ENTRY_REFUSED || place->entry == GATEWAY_ENTRY_CLOSED ||
         connection->peer.entry == GATEWAY_ENTRY_REFUSED;
}

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

void connections_watch(gateway *gateway, lws_usec_t now, void (*late)(struct connection *connection, bool has_begun)) {
  lws_usec_t limit = (lws_usec_t)gateway->configuration.head_timeout * LWS_US_PER_MS;
  lws_start_foreach_dll_safe(struct lws_dll2 *, at, next, lws_dll2_get_head(&gateway->connections.awaiting)) {
    struct connection *connection = lws_container_of(at, struct connection, awaiting);
    bool has_begun = head_has_begun(connection->wsi);
    if (!connection->head_since && has_begun) connection->head_since = now;
    if (limit > 0 && connection->head_since && now - connection->head_since >= limit) {
      connection_has_head(connection);
      late(connection, has_begun);
    }
  }
  lws_end_foreach_dll_safe(at, next);
}
