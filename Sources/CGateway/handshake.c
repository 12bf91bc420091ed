/* Which WebSocket handshakes are accepted, and the plain HTTP answers to all others. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "internal.h"

/* Refuses an upgrade with a plain HTTP answer. libwebsockets hangs up when this is returned. */
static int refuse(struct connection *connection, int status, const char *title, const char *code, const char *detail,
                  const char *headers) {
  int descriptor = lws_get_socket_fd(connection->wsi);
  struct answer *answer = answer_problem(status, title, code, detail, headers);
  size_t length = 0;
  char *head = answer ? answer_head(answer, false, &length) : NULL;
  if (head) {
    /* A few hundred bytes into an empty send buffer: the kernel takes them whole. */
    send(descriptor, head, length, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE);
    send(descriptor, answer->body, answer->length, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (answer) {
    gateway *gateway = connection->gateway;
    gateway_outcome outcome = {.status = status, .bytes = (int64_t)answer->length, .code = code};
    gateway->configuration.callbacks.answered(gateway->context, 0, &connection->handshake->head, &outcome);
  }
  free(head);
  answer_free(answer);
  return -1;
}

static int refuse_with_verdict(struct connection *connection, gateway_verdict status) {
  const char *title = status == 401 ? "Unauthorized" : status == 403 ? "Forbidden" : "Refused";
  const char *code = status == 401   ? "unauthenticated"
                     : status == 403 ? "not_allowed"
                     : status == 429 ? "limit_exceeded"
                     : status == 503 ? "overloaded"
                                     : "bad_message";
  const char *headers = status == 401   ? "WWW-Authenticate: Bearer error=\"invalid_token\"\n"
                        : status == 503 ? "Retry-After: 1\n"
                                        : NULL;
  return refuse(connection, status, title, code, "the handshake was refused", headers);
}

/* What RFC 6455 wants of a handshake, and libwebsockets would answer by hanging up. NULL when all is there. */
static const char *handshake_fault(struct connection *connection) {
  const gateway_configuration *c = &connection->gateway->configuration;
  struct lws *wsi = connection->wsi;
  char text[128];
  /* libwebsockets reads at most 127 bytes of either list. */
  int length = lws_hdr_copy(wsi, text, sizeof text - 1, WSI_TOKEN_CONNECTION);
  gateway_span list = {(const uint8_t *)text, length > 0 ? (size_t)length : 0};
  if (!list_contains(list, "upgrade", true)) return "Connection must say Upgrade";
  if (lws_hdr_total_length(wsi, WSI_TOKEN_KEY) <= 0) return "Sec-WebSocket-Key is missing";
  list = connection->handshake->head.protocols;
  if (list.length >= sizeof text - 1) return "Sec-WebSocket-Protocol is too long";
  return list_contains(list, c->subprotocol, false) ? NULL : "Sec-WebSocket-Protocol must offer this server's protocol";
}

/* LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: the last stage at which a plain HTTP answer can be given. 0 lets it go on. */
int session_confirm_upgrade(struct connection *connection, const char *protocol) {
  gateway *gateway = connection->gateway;
  struct lws *wsi = connection->wsi;
  char version[8] = "";
  request_free(connection->handshake);
  connection->handshake = request_read(wsi);
  if (!connection->handshake) return -1;
  if (connection->is_refused) {
    gateway->counters.address += 1;
    return refuse(connection, 429, "Too Many Requests", "limit_exceeded", TOO_MANY_CONNECTIONS, "Retry-After: 1\n");
  }
  const gateway_request *head = &connection->handshake->head;
  if (strcasecmp(protocol, "websocket") != 0 || !span_equals(head->method, "GET")) {
    return refuse(connection, 400, "Bad Request", "bad_message", "no other upgrade than WebSocket is offered", NULL);
  }
  if (!span_equals(head->path, gateway->configuration.live_path)) {
    return refuse(connection, 404, "Not Found", "not_found", NULL, NULL);
  }
  lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_VERSION);
  if (strcmp(version, "13") != 0) {
    return refuse(connection, 426, "Upgrade Required", "bad_message", "WebSocket version 13 is spoken here",
                  "Sec-WebSocket-Version: 13\n");
  }
  gateway_verdict verdict = gateway->configuration.callbacks.handshake(gateway->context, head);
  if (verdict) return refuse_with_verdict(connection, verdict);
  const char *fault = handshake_fault(connection);
  return fault ? refuse(connection, 400, "Bad Request", "bad_message", fault, NULL) : 0;
}
