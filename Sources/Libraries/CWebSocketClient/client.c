/*
 * One connection: a libwebsockets context with one client in it, made, run and destroyed on the service thread.
 *
 * What other threads want is under `lock`, and they wake the service thread with lws_cancel_service, the only function
 * of libwebsockets that they call. Frames are written by the writable callback alone.
 */
#include <errno.h>
#include <libwebsockets.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <CWebSocketClient.h>

#include "tls.h"

/* Bytes that are read from the socket at once. */
enum { RECEIVED_AT_ONCE = 64 << 10 };

struct outgoing {
  struct outgoing *next;
  size_t length;
  uint8_t bytes[]; /* LWS_PRE of room, then the message */
};

struct websocket {
  /* Constant once it runs. */
  char *host, *path, *subprotocol;
  char *header; /* the Host header */
  int port;
  SSL_CTX *tls; /* NULL without TLS */
  websocket_callbacks callbacks;

  /* Under `lock`: the wishes of other threads. */
  pthread_mutex_t lock;
  struct lws_context *wakeable; /* NULL before the connection is made, and after its end */
  struct outgoing *first, **end;
  bool reads_on, closes, has_ended;

  /* Used by the service thread only. */
  struct lws *wsi; /* while the WebSocket is open */
  bool has_connected, has_asked, is_over, is_text; /* has_asked: TLS stands, the handshake is on its way */
  lws_sorted_usec_list_t deadline;                 /* by which the handshake must be answered */
  uint8_t *message;
  size_t length, capacity;
  char status[64]; /* the HTTP status of the answer to the handshake */
  char distrust[64];
  websocket_outcome outcome;
};

/* The client of this service thread. */
static _Thread_local websocket *current;

static void set_detail(websocket *socket, const char *text, size_t length) {
  size_t most = sizeof socket->outcome.detail - 1;
  if (length > most) length = most;
  memcpy(socket->outcome.detail, text, length);
  socket->outcome.detail[length] = 0;
}

static void end(websocket *socket, websocket_end how, const char *detail) {
  if (socket->is_over) return;
  socket->is_over = true;
  socket->outcome.end = how;
  set_detail(socket, detail, strlen(detail));
}

/* MARK: - What happens */

static bool reserve(websocket *socket, size_t length) {
  if (length <= socket->capacity) return true;
  size_t capacity = socket->capacity ? socket->capacity : RECEIVED_AT_ONCE;
  while (capacity < length) capacity *= 2;
  uint8_t *message = realloc(socket->message, capacity);
  if (!message) return false;
  socket->message = message;
  socket->capacity = capacity;
  return true;
}

static int receive(websocket *socket, struct lws *wsi, const uint8_t *bytes, size_t length) {
  if (lws_is_first_fragment(wsi)) {
    socket->length = 0;
    socket->is_text = !lws_frame_is_binary(wsi);
  }
  if (length > WEBSOCKET_MESSAGE_LIMIT - socket->length || !reserve(socket, socket->length + length)) {
    end(socket, WEBSOCKET_TOO_LONG, "");
    return -1;
  }
  if (length) memcpy(socket->message + socket->length, bytes, length);
  socket->length += length;
  if (!lws_is_final_fragment(wsi) || !socket->is_text) return 0;
  lws_rx_flow_control(wsi, 0);
  socket->callbacks.received(socket->callbacks.context, socket->message, socket->length);
  return 0;
}

static int write_next(websocket *socket, struct lws *wsi) {
  pthread_mutex_lock(&socket->lock);
  struct outgoing *message = socket->first;
  if (message) {
    socket->first = message->next;
    if (!socket->first) socket->end = &socket->first;
  }
  bool has_more = socket->first;
  pthread_mutex_unlock(&socket->lock);
  if (!message) return 0;
  int written = lws_write(wsi, message->bytes + LWS_PRE, message->length, LWS_WRITE_TEXT);
  free(message);
  if (written < 0) return -1;
  if (has_more) lws_callback_on_writable(wsi);
  return 0;
}

/* Carries out the wishes of other threads. */
static void take_wishes(websocket *socket) {
  pthread_mutex_lock(&socket->lock);
  bool closes = socket->closes, reads_on = socket->wsi && socket->reads_on, writes = socket->first;
  if (reads_on) socket->reads_on = false;
  pthread_mutex_unlock(&socket->lock);
  if (closes) end(socket, WEBSOCKET_LOST, "");
  if (reads_on) lws_rx_flow_control(socket->wsi, 1);
  if (writes && socket->wsi) lws_callback_on_writable(socket->wsi);
}

static void note_close(websocket *socket, const uint8_t *bytes, size_t length) {
  if (socket->is_over) return;
  socket->outcome.code = length < 2 ? 1005 : (uint16_t)(bytes[0] << 8 | bytes[1]);
  if (length > 2) set_detail(socket, (const char *)bytes + 2, length - 2);
}

static void note_status(websocket *socket, struct lws *wsi) {
  if (lws_hdr_copy(wsi, socket->status, sizeof socket->status, WSI_TOKEN_HTTP) <= 0 &&
      lws_hdr_copy(wsi, socket->status, sizeof socket->status, WSI_TOKEN_HTTP1_0) <= 0)
    socket->status[0] = 0;
}

/* libwebsockets does not say why some failures happened: how far the connection had come tells it. */
static void fail(websocket *socket, const char *sentence) {
  if (*socket->distrust) return end(socket, WEBSOCKET_UNTRUSTED, socket->distrust);
  if (!socket->has_connected) return end(socket, WEBSOCKET_NO_SERVER, sentence);
  if (*socket->status && strncmp(socket->status, "101", 3)) return end(socket, WEBSOCKET_REFUSED, socket->status);
  end(socket, socket->tls && !socket->has_asked ? WEBSOCKET_NO_TLS : WEBSOCKET_FAILED, sentence);
}

static int called_back(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
  websocket *socket = current;
  char sentence[128];
  switch (reason) {
    case LWS_CALLBACK_WSI_CREATE: socket->has_connected = true; return 0;
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
      /* `length` is OpenSSL's verdict, 0 if it does not trust the certificate. It is not changed here. */
      if (!length)
        lws_strncpy(socket->distrust, X509_verify_cert_error_string(X509_STORE_CTX_get_error(user)),
                    sizeof socket->distrust);
      return 0;
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: socket->has_asked = true; return 0;
    case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP: note_status(socket, wsi); return 0;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
      lws_sul_cancel(&socket->deadline);
      socket->wsi = wsi;
      socket->callbacks.opened(socket->callbacks.context);
      take_wishes(socket);
      return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE: return receive(socket, wsi, in, length);
    case LWS_CALLBACK_CLIENT_WRITEABLE: return write_next(socket, wsi);
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED: take_wishes(socket); return 0;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: note_close(socket, in, length); return 0;
    case LWS_CALLBACK_CLIENT_CLOSED:
      if (socket->is_over) return 0;
      socket->is_over = true;
      socket->outcome.end = socket->outcome.code ? WEBSOCKET_CLOSED : WEBSOCKET_LOST;
      socket->wsi = NULL;
      return 0;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
      lws_snprintf(sentence, sizeof sentence, "%.*s", (int)length, in ? (const char *)in : "");
      fail(socket, sentence);
      return 0;
    default: return 0;
  }
}

/* libwebsockets 4.1.6 waits for ever for the answer to a handshake. After this it would wait in poll once more, so it
 * is woken. */
static void fire_deadline(lws_sorted_usec_list_t *deadline) {
  websocket *socket = lws_container_of(deadline, websocket, deadline);
  fail(socket, "there is no answer");
  lws_cancel_service(socket->wakeable);
}

/* MARK: - The service thread */

static void log_nothing(int level, const char *line) {
  (void)level;
  (void)line;
}

/*
 * All zero turns libwebsockets' keep-alive off. It would hang up after five minutes without a sign of life, even if
 * nothing is read because the caller has not taken the last message. The caller checks whether a silent server is
 * alive.
 */
static const lws_retry_bo_t no_keepalive = {0};

static void prepare_process(void) {
  struct sigaction pipe;
  if (sigaction(SIGPIPE, NULL, &pipe) == 0 && pipe.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
  lws_set_log_level(LLL_ERR, log_nothing);
}

/*
 * Only the virtual host uses TLS. A context with LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT changes, for all contexts of the
 * process, where libwebsockets (4.1 to 4.3) finds the connection of a handshake: handshakes on their way would fail.
 */
static struct lws_context *make_context(websocket *socket, const struct lws_protocols *protocols) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_process);
  struct lws_context_creation_info info = {
      .port = CONTEXT_PORT_NO_LISTEN,
      .protocols = protocols,
      .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
      .provided_client_ssl_ctx = socket->tls,
      .pt_serv_buf_size = RECEIVED_AT_ONCE + LWS_PRE,
      .connect_timeout_secs = WEBSOCKET_PATIENCE,
      .timeout_secs = WEBSOCKET_PATIENCE,
      /* Room for one connection and the pipe that wakes the thread. */
      .fd_limit_per_thread = 8,
      .gid = -1,
      .uid = -1,
  };
  struct lws_context *lws = lws_create_context(&info);
  if (!lws) return NULL;
  info.options = socket->tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0;
  if (lws_create_vhost(lws, &info)) return lws;
  lws_context_destroy(lws);
  return NULL;
}

/* Looks the host up first, because libwebsockets does not call back for failures that come at once. */
static bool has_address(const websocket *socket) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
  bool has_one = getaddrinfo(socket->host, NULL, &hints, &list) == 0;
  if (has_one) freeaddrinfo(list);
  return has_one;
}

static void connect_to_server(websocket *socket, struct lws_context *lws) {
  struct lws_client_connect_info info = {
      .context = lws,
      .address = socket->host,
      .port = socket->port,
      .path = socket->path,
      .host = socket->header,
      .protocol = socket->subprotocol,
      .ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (socket->tls ? LCCSCF_USE_SSL : 0),
      .ietf_version_or_minus_one = -1,
      .retry_and_idle_policy = &no_keepalive,
      .alpn = "http/1.1",
  };
  if (!lws_client_connect_via_info(&info) && !socket->is_over) fail(socket, "");
}

static void set_wakeable(websocket *socket, struct lws_context *lws) {
  pthread_mutex_lock(&socket->lock);
  socket->wakeable = lws;
  pthread_mutex_unlock(&socket->lock);
}

static void end_wishes(websocket *socket) {
  pthread_mutex_lock(&socket->lock);
  struct outgoing *next, *message = socket->first;
  for (; message; message = next) {
    next = message->next;
    free(message);
  }
  socket->first = NULL;
  socket->end = &socket->first;
  socket->has_ended = true;
  pthread_mutex_unlock(&socket->lock);
}

websocket_outcome websocket_run(websocket *socket, const websocket_callbacks *callbacks) {
  const struct lws_protocols protocols[2] = {{
      .name = socket->subprotocol,
      .callback = called_back,
      .rx_buffer_size = RECEIVED_AT_ONCE,
  }};
  socket->callbacks = *callbacks;
  current = socket;
  struct lws_context *lws = make_context(socket, protocols);
  if (lws) {
    set_wakeable(socket, lws);
    lws_sul_schedule(lws, 0, &socket->deadline, fire_deadline, 2 * WEBSOCKET_PATIENCE * LWS_US_PER_SEC);
    connect_to_server(socket, lws);
    take_wishes(socket);
    while (!socket->is_over && lws_service(lws, 0) >= 0) {}
    set_wakeable(socket, NULL);
    socket->wsi = NULL;
    lws_sul_cancel(&socket->deadline);
    lws_context_destroy(lws);
  }
  end(socket, WEBSOCKET_FAILED, "out of memory");
  if (socket->outcome.end == WEBSOCKET_NO_SERVER && !has_address(socket)) socket->outcome.end = WEBSOCKET_NO_HOST;
  current = NULL;
  end_wishes(socket);
  return socket->outcome;
}

/* MARK: - Other threads */

/* Called with the lock held, during which the context is not destroyed. */
static void wake(websocket *socket) {
  if (socket->wakeable) lws_cancel_service(socket->wakeable);
}

bool websocket_send(websocket *socket, const uint8_t *bytes, size_t length) {
  struct outgoing *message = malloc(sizeof *message + LWS_PRE + length);
  if (!message) return false;
  message->next = NULL;
  message->length = length;
  if (length) memcpy(message->bytes + LWS_PRE, bytes, length);
  pthread_mutex_lock(&socket->lock);
  bool is_queued = !socket->has_ended;
  if (is_queued) {
    *socket->end = message;
    socket->end = &message->next;
    wake(socket);
  }
  pthread_mutex_unlock(&socket->lock);
  if (!is_queued) free(message);
  return is_queued;
}

void websocket_read_on(websocket *socket) {
  pthread_mutex_lock(&socket->lock);
  socket->reads_on = true;
  wake(socket);
  pthread_mutex_unlock(&socket->lock);
}

void websocket_close(websocket *socket) {
  pthread_mutex_lock(&socket->lock);
  socket->closes = true;
  wake(socket);
  pthread_mutex_unlock(&socket->lock);
}

/* MARK: - Life */

/* Host and port, with brackets for an IPv6 address. */
static char *make_header(const char *host, int port) {
  size_t capacity = strlen(host) + sizeof "[]:65535";
  char *header = malloc(capacity);
  if (header) lws_snprintf(header, capacity, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
  return header;
}

websocket *websocket_create(const char *host, int port, const char *path, const char *subprotocol) {
  websocket *socket = calloc(1, sizeof *socket);
  if (!socket) return NULL;
  pthread_mutex_init(&socket->lock, NULL);
  socket->end = &socket->first;
  socket->port = port;
  socket->host = strdup(host);
  socket->path = strdup(path);
  socket->subprotocol = strdup(subprotocol);
  socket->header = make_header(host, port);
  if (socket->host && socket->path && socket->subprotocol && socket->header) return socket;
  websocket_free(socket);
  return NULL;
}

bool websocket_use_tls(websocket *socket, const char *authorities) {
  socket->tls = tls_create(socket->host, authorities);
  return socket->tls;
}

void websocket_free(websocket *socket) {
  if (!socket) return;
  end_wishes(socket);
  pthread_mutex_destroy(&socket->lock);
  SSL_CTX_free(socket->tls);
  free(socket->message);
  free(socket->header);
  free(socket->host);
  free(socket->path);
  free(socket->subprotocol);
  free(socket);
}
