/* Handshakes that RFC 6455 forbids, and that libwebsockets would answer by hanging up, are answered here. */
#include "handshake.h"

#include <string.h>
#include <strings.h>

#include "answer.h"

enum { KEY_BYTES = 24 };

/* 16 bytes in base64. */
static bool is_key(gateway_span key) {
  if (key.length != KEY_BYTES || memcmp(key.bytes + KEY_BYTES - 2, "==", 2) != 0) return false;
  for (size_t i = 0; i < KEY_BYTES - 2; i++) {
    uint8_t c = key.bytes[i];
    bool is_digit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (!is_digit) return false;
  }
  return true;
}

static gateway_fault find_fault(const struct connection *connection, const struct request *request, const char *upgrade) {
  gateway *gateway = connection->gateway;
  const gateway_configuration *c = &gateway->configuration;
  const gateway_request *head = &request->head;
  if (gateway->tls && !lws_is_ssl(connection->wsi)) return GATEWAY_NO_TLS;
  if (strcasecmp(upgrade, "websocket") != 0 || !span_equals(head->method, "GET")) return GATEWAY_OTHER_UPGRADE;
  if (!span_equals(request->version, "13")) return GATEWAY_BAD_WEBSOCKET_VERSION;
  if (request->content_length) return GATEWAY_UPGRADE_WITH_BODY;
  gateway_fault verdict = c->callbacks.handshake(gateway->context, head);
  if (verdict != GATEWAY_NO_FAULT) return verdict;
  if (!list_contains(request->connection, "upgrade", true)) return GATEWAY_NO_CONNECTION_UPGRADE;
  if (!is_key(request->key)) return GATEWAY_BAD_KEY;
  /* One protocol exists, so a client that offers none means it. */
  bool is_known = !head->protocols.length || list_contains(head->protocols, c->subprotocol, false);
  return is_known ? GATEWAY_NO_FAULT : GATEWAY_BAD_PROTOCOL;
}

/* Refuses with a plain answer; libwebsockets hangs up when this is returned. */
static int refuse(struct connection *connection, struct request *request, gateway_fault fault, const char *headers) {
  gateway *gateway = connection->gateway;
  struct answer *answer = answer_problem(gateway, fault, headers);
  if (answer && answer_write_whole(answer, gateway, connection->wsi)) {
    gateway_outcome outcome = {.status = answer->status, .bytes = (int64_t)answer->length, .code = answer->code};
    gateway->configuration.callbacks.answered(gateway->context, 0, &request->head, &outcome);
  }
  answer_free(answer);
  request_free(request);
  return -1;
}

int handshake_confirm(struct connection *connection, const char *upgrade) {
  gateway *gateway = connection->gateway;
  gateway_fault fault = GATEWAY_NO_FAULT;
  char headers[32];
  /* libwebsockets (4.1 to 4.3) answers 403 to an upgrade to another protocol, ends the request, and still calls this:
   * `upgrade` is then no longer valid. */
  if (lws_hdr_total_length(connection->wsi, WSI_TOKEN_UPGRADE) <= 0) return -1;
  struct request *request = request_read(connection->wsi, &fault);
  if (!request) return -1;
  connection_has_head(connection);
  struct place place = connection_name_client(connection, request);
  if (connection_is_refused(connection, &place)) {
    gateway->counters.address += 1;
    place_leave(gateway, &place);
    return refuse(connection, request, GATEWAY_CROWDED, NULL);
  }
  connection->place = place;
  if (fault != GATEWAY_NO_FAULT) return refuse(connection, request, fault, NULL);
  if (!request_is_admitted(gateway, request, headers, sizeof headers)) {
    return refuse(connection, request, GATEWAY_HASTY, headers);
  }
  fault = find_fault(connection, request, upgrade);
  if (fault != GATEWAY_NO_FAULT) return refuse(connection, request, fault, NULL);
  connection->handshake = request;
  return 0;
}
