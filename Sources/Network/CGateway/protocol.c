/* The one protocol: requests, sessions, the listening socket and the loop's own descriptors all arrive here. */
#include "protocol.h"

#include "connection.h"
#include "exchange.h"
#include "handshake.h"
#include "listener.h"
#include "loop.h"
#include "messages.h"
#include "session.h"
#include "tls.h"

static int call_file(gateway *gateway, struct lws *wsi) {
  if (wsi == gateway->loop.alarm) loop_alarm_rang(gateway);
  if (wsi == gateway->loop.wake) loop_woken(gateway);
  return wsi == gateway->listener.wsi ? listener_accept(gateway) : 0;
}

static int call_session(struct connection *connection, enum lws_callback_reasons reason, void *bytes, size_t length) {
  struct session *session = connection->session;
  if (reason == LWS_CALLBACK_ESTABLISHED) return session_open(connection);
  if (!session) return 0;
  if (reason == LWS_CALLBACK_RECEIVE) return session_receive(session, bytes, length);
  if (reason == LWS_CALLBACK_SERVER_WRITEABLE) return session_writable(session);
  if (reason == LWS_CALLBACK_RECEIVE_PONG) session_heard(session);
  /* The peer's Close frame is answered by libwebsockets, and nothing may follow that answer. */
  if (reason == LWS_CALLBACK_WS_PEER_INITIATED_CLOSE) session->ended = true;
  if (reason == LWS_CALLBACK_CLOSED) session_gone(session);
  return 0;
}

static void destroy(struct lws *wsi) {
  struct connection *connection = connection_of(wsi);
  if (!connection) return;
  if (connection->session) session_gone(connection->session);
  if (connection->exchange) exchange_gone(connection->exchange);
  connection_free(connection);
}

int protocol_call(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
  gateway *gateway = gateway_of_thread();
  struct connection *connection;
  switch (reason) {
    case LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS: return tls_configure(gateway->tls, user) ? 0 : -1;
    case LWS_CALLBACK_RAW_RX_FILE: return call_file(gateway, wsi);
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: return connection_open(gateway, wsi) ? 0 : -1;
    case LWS_CALLBACK_WSI_DESTROY: destroy(wsi); return 0;
    /* A CONNECT request becomes a raw socket, which is refused. */
    case LWS_CALLBACK_RAW_ADOPT:
    case LWS_CALLBACK_RAW_RX: return -1;
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
      connection = connection_of(wsi);
      return connection ? handshake_confirm(connection, in) : -1;
    case LWS_CALLBACK_HTTP:
      connection = connection_of(wsi);
      return connection ? exchange_begin(connection) : -1;
    case LWS_CALLBACK_HTTP_BODY: return exchange_body(wsi, in, length);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION: return exchange_body_complete(wsi);
    case LWS_CALLBACK_HTTP_WRITEABLE: return exchange_writable(wsi);
    case LWS_CALLBACK_ESTABLISHED:
    case LWS_CALLBACK_RECEIVE:
    case LWS_CALLBACK_RECEIVE_PONG:
    case LWS_CALLBACK_SERVER_WRITEABLE:
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
    case LWS_CALLBACK_CLOSED:
      connection = connection_of(wsi);
      return connection ? call_session(connection, reason, in, length) : 0;
    default: return 0;
  }
}
