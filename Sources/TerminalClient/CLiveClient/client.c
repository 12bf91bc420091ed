/*
 * One WebSocket over libwebsockets' client side, on the thread that calls in.
 *
 * `wsi` is set from the moment a connection is begun until `closed` has been called for it; libwebsockets may report a
 * failure from within lws_client_connect_via_info or later, and once or twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libwebsockets.h>

#include "CLiveClient.h"

/* Longer messages end the connection: the server sends its snapshots in parts far shorter. */
#define MESSAGE_LIMIT ((size_t)256 << 20)

struct outgoing {
  struct outgoing *next;
  size_t length;
  uint8_t bytes[]; /* LWS_PRE, then the message */
};

struct live_client {
  live_client_callbacks callbacks;
  void *context;
  struct lws_context *lws;
  struct lws *wsi;
  bool is_begun; /* a connection was begun whose end has not been told */
  bool is_open;
  struct outgoing *first, **last;
  uint8_t *message; /* what has come of a message in parts */
  size_t length, capacity;
  uint16_t close_code;
  char close_reason[128];
  lws_sorted_usec_list_t timer;
};

/* A peer that stays silent for this long is asked, and then given up. */
static const lws_retry_bo_t keepalive = {.secs_since_valid_ping = 30, .secs_since_valid_hangup = 45};

/* What libwebsockets logged of a certificate: its callback does not say it. Logging is one for the process and gets no
   context, hence per thread. */
static _Thread_local char certificate_error[160];

static void log_line(int level, const char *line) {
  (void)level;
  const char *error = strstr(line, "SSL error: ");
  if (!error) return;
  error += strlen("SSL error: ");
  /* What follows in parentheses is numbers. */
  const char *end = strstr(error, " (");
  size_t length = end ? (size_t)(end - error) : strcspn(error, "\n");
  snprintf(certificate_error, sizeof certificate_error, "%.*s", (int)length, error);
}

static void drop_outgoing(live_client *client) {
  while (client->first) {
    struct outgoing *next = client->first->next;
    free(client->first);
    client->first = next;
  }
  client->last = &client->first;
}

static void ended(live_client *client, uint16_t code, const char *reason) {
  if (!client->is_begun) return;
  client->is_begun = client->is_open = false;
  client->wsi = NULL;
  client->length = 0;
  drop_outgoing(client);
  client->callbacks.closed(client->context, code, reason);
}

static bool reserve(live_client *client, size_t needed) {
  if (needed <= client->capacity) return true;
  if (needed > MESSAGE_LIMIT) return false;
  size_t capacity = client->capacity ? client->capacity : 64 * 1024;
  while (capacity < needed) capacity *= 2;
  uint8_t *grown = realloc(client->message, capacity);
  if (!grown) return false;
  client->message = grown;
  client->capacity = capacity;
  return true;
}

static int received(live_client *client, struct lws *wsi, const uint8_t *bytes, size_t length) {
  if (!reserve(client, client->length + length)) {
    client->close_code = 1009;
    snprintf(client->close_reason, sizeof client->close_reason, "a message is too long");
    return -1;
  }
  memcpy(client->message + client->length, bytes, length);
  client->length += length;
  if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi)) return 0;
  size_t whole = client->length;
  client->length = 0;
  if (!lws_frame_is_binary(wsi)) client->callbacks.received(client->context, client->message, whole);
  return 0;
}

static int writable(live_client *client, struct lws *wsi) {
  struct outgoing *message = client->first;
  if (!message) return 0;
  client->first = message->next;
  if (!client->first) client->last = &client->first;
  int written = lws_write(wsi, message->bytes + LWS_PRE, message->length, LWS_WRITE_TEXT);
  free(message);
  if (written < 0) return -1;
  if (client->first) lws_callback_on_writable(wsi);
  return 0;
}

static void peer_closes(live_client *client, const uint8_t *bytes, size_t length) {
  client->close_code = 1005;
  if (length < 2) return;
  client->close_code = (uint16_t)(bytes[0] << 8 | bytes[1]);
  snprintf(client->close_reason, sizeof client->close_reason, "%.*s", (int)(length - 2), (const char *)bytes + 2);
}

static void failed(live_client *client, struct lws *wsi, const char *text, size_t length) {
  char reason[256];
  unsigned status = wsi ? lws_http_client_http_response(wsi) : 0;
  if (certificate_error[0]) {
    snprintf(reason, sizeof reason, "the server's certificate is refused: %s", certificate_error);
  } else if (status >= 300) {
    snprintf(reason, sizeof reason, "the server answers with HTTP status %u", status);
  } else if (length >= 9 && (!memcmp(text, "Unable to", 9) || !memcmp(text, "conn fail", 9))) {
    snprintf(reason, sizeof reason, "nobody answers");
  } else {
    snprintf(reason, sizeof reason, "%.*s", (int)length, text ? text : "");
  }
  ended(client, 0, reason);
}

static int called_back(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
  (void)user;
  live_client *client = wsi ? lws_context_user(lws_get_context(wsi)) : NULL;
  if (!client) return 0;
  switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
      client->is_open = true;
      client->callbacks.opened(client->context);
      return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE: return received(client, wsi, in, length);
    case LWS_CALLBACK_CLIENT_WRITEABLE: return writable(client, wsi);
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: peer_closes(client, in, length); return 0;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR: failed(client, wsi, in, in ? length : 0); return 0;
    case LWS_CALLBACK_CLIENT_CLOSED: ended(client, client->close_code, client->close_reason); return 0;
    default: return 0;
  }
}

static const struct lws_protocols protocols[] = {
    {.name = "live", .callback = called_back, .rx_buffer_size = 64 * 1024},
    {.name = NULL},
};

live_client *live_client_create(const live_client_callbacks *callbacks, void *context) {
  live_client *client = calloc(1, sizeof *client);
  if (!client) return NULL;
  client->callbacks = *callbacks;
  client->context = context;
  client->last = &client->first;
  struct lws_context_creation_info info = {
      .port = CONTEXT_PORT_NO_LISTEN,
      .protocols = protocols,
      .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
      .retry_and_idle_policy = &keepalive,
      .timeout_secs = 20,
      .fd_limit_per_thread = 16,
      .gid = -1,
      .uid = -1,
      .user = client,
  };
  lws_set_log_level(LLL_ERR, log_line);
  client->lws = lws_create_context(&info);
  if (client->lws) return client;
  free(client);
  return NULL;
}

void live_client_connect(live_client *client, const live_client_target *target) {
  char host[300], port[8] = "";
  if (target->port != (target->is_secure ? 443 : 80)) snprintf(port, sizeof port, ":%u", target->port);
  snprintf(host, sizeof host, strchr(target->host, ':') ? "[%s]%s" : "%s%s", target->host, port);
  client->is_begun = true;
  client->close_code = 1006;
  client->close_reason[0] = certificate_error[0] = 0;
  struct lws_client_connect_info info = {
      .context = client->lws,
      .address = target->host,
      .port = target->port,
      .path = target->path,
      .host = host,
      .protocol = target->protocol,
      .local_protocol_name = "live",
      .ssl_connection = target->is_secure ? LCCSCF_USE_SSL : 0,
      .retry_and_idle_policy = &keepalive,
      .pwsi = &client->wsi,
  };
  if (!lws_client_connect_via_info(&info)) ended(client, 0, "the host is not known");
}

void live_client_send(live_client *client, const uint8_t *bytes, size_t length) {
  if (!client->is_open) return;
  struct outgoing *message = malloc(sizeof *message + LWS_PRE + length);
  if (!message) return;
  message->next = NULL;
  message->length = length;
  memcpy(message->bytes + LWS_PRE, bytes, length);
  *client->last = message;
  client->last = &message->next;
  lws_callback_on_writable(client->wsi);
}

/* lws_service runs the timers that are due, and then waits for sockets: without the wake, a timer that is due at once
   would be followed by a long wait. */
static void fire(lws_sorted_usec_list_t *timer) {
  live_client *client = lws_container_of(timer, live_client, timer);
  lws_cancel_service(client->lws);
}

void live_client_service(live_client *client, unsigned milliseconds) {
  lws_sul_schedule(client->lws, 0, &client->timer, fire, (lws_usec_t)milliseconds * LWS_US_PER_MS);
  lws_service(client->lws, 0);
}

void live_client_wake(live_client *client) { lws_cancel_service(client->lws); }

void live_client_free(live_client *client) {
  client->is_begun = false;
  lws_sul_cancel(&client->timer);
  lws_context_destroy(client->lws);
  drop_outgoing(client);
  free(client->message);
  free(client);
}
