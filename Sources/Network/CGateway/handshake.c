/* Which WebSocket handshakes are accepted, and how. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { KEY_BYTES = 24, DIGEST_BYTES = 20 };

static const struct head_fault *verdict_fault(gateway_verdict status) {
#define REFUSED "the handshake was refused"
  static const struct head_fault faults[] = {
      {401, "Unauthorized", "unauthenticated", REFUSED},       {403, "Forbidden", "not_allowed", REFUSED},
      {429, "Too Many Requests", "limit_exceeded", REFUSED},   {503, "Service Unavailable", "overloaded", REFUSED},
      {400, "Bad Request", "bad_message", REFUSED},
  };
  enum { COUNT = sizeof faults / sizeof *faults };
  for (size_t i = 0; i < COUNT; i++) {
    if (faults[i].status == status) return &faults[i];
  }
  return &faults[COUNT - 1];
}

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

/* Why an upgrade is refused, and with which headers; NULL when it is not. */
const struct head_fault *handshake_fault(struct connection *connection, const struct request *request, const char **headers) {
  static const struct head_fault
      other = {400, "Bad Request", "bad_message", "no other upgrade than WebSocket is offered"},
      elsewhere = {404, "Not Found", "not_found", NULL},
      version = {426, "Upgrade Required", "bad_message", "WebSocket version 13 is spoken here"},
      body = {400, "Bad Request", "bad_message", "a handshake has no body"},
      no_upgrade = {400, "Bad Request", "bad_message", "Connection must say Upgrade"},
      no_key = {400, "Bad Request", "bad_message", "Sec-WebSocket-Key is missing or malformed"},
      protocol = {400, "Bad Request", "bad_message", "Sec-WebSocket-Protocol must offer this server's protocol"};
  gateway *gateway = connection->gateway;
  const gateway_configuration *c = &gateway->configuration;
  const gateway_request *head = &request->head;
  if (!list_contains(request->upgrade, "websocket", true) || !span_equals(head->method, "GET")) return &other;
  if (!span_equals(head->path, c->live_path)) return &elsewhere;
  if (!span_equals(request->version, "13")) {
    *headers = "Sec-WebSocket-Version: 13\r\nUpgrade: websocket\r\n";
    return &version;
  }
  if (request->content_length) return &body;
  gateway_verdict verdict = c->callbacks.handshake(gateway->context, head);
  if (verdict == 401) *headers = "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n";
  if (verdict) return verdict_fault(verdict);
  if (!list_contains(request->connection, "upgrade", true)) return &no_upgrade;
  if (!is_key(request->key)) return &no_key;
  return list_contains(head->protocols, c->subprotocol, false) ? NULL : &protocol;
}

/* Switches protocols. False when the client is gone. */
bool handshake_accept(struct connection *connection, const struct request *request) {
  static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char input[KEY_BYTES + sizeof magic], digest[DIGEST_BYTES];
  char accept[32], head[512];
  memcpy(input, request->key.bytes, KEY_BYTES);
  memcpy(input + KEY_BYTES, magic, sizeof magic);
  lws_SHA1(input, KEY_BYTES + sizeof magic - 1, digest);
  if (lws_b64_encode_string((const char *)digest, DIGEST_BYTES, accept, sizeof accept) < 0) return false;
  int length = snprintf(head, sizeof head,
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
                        accept, connection->gateway->configuration.subprotocol);
  struct iovec part = {head, (size_t)length};
  /* A few hundred bytes into an empty send buffer: the kernel takes them whole. */
  return length < (int)sizeof head && transport_write(connection, &part, 1) == length;
}
