/*
 * CWebSocketClient: one WebSocket connection to a server.
 *
 * This header is the whole contract between C and Swift; no type of libwebsockets or OpenSSL leaves the C sources.
 *
 * Threads. A connection belongs to the thread that calls websocket_run: its service thread. Both callbacks run there.
 * The functions marked "any thread" leave a request under a lock and wake the service thread; before the connection
 * opens requests wait, and after its end they do nothing.
 *
 * Ownership. Strings are copied. Bytes given to a callback are valid during the call only.
 */
#ifndef CWEBSOCKETCLIENT_H
#define CWEBSOCKETCLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang assume_nonnull begin
#endif

typedef struct websocket websocket;

enum {
  WEBSOCKET_MESSAGE_LIMIT = 64 << 20, /* of a message that is received, in bytes */
  WEBSOCKET_PATIENCE = 10,            /* seconds that connecting may take, and again the handshakes */
};

typedef struct websocket_callbacks {
  void (*opened)(void *_Nullable context);
  /* One whole text message. The next one is read after websocket_read_on. */
  void (*received)(void *_Nullable context, const uint8_t *_Nullable bytes, size_t length);
  void *_Nullable context;
} websocket_callbacks;

typedef enum websocket_end {
  WEBSOCKET_NO_HOST,        /* the name has no address */
  WEBSOCKET_NO_SERVER,      /* nothing listens, or nothing answers in time */
  WEBSOCKET_NO_TLS,         /* the server does not speak it */
  WEBSOCKET_UNTRUSTED,      /* detail: why the certificate is not trusted */
  WEBSOCKET_REFUSED,        /* detail: the status of the answer, such as "404 Not Found" */
  WEBSOCKET_FAILED,         /* detail: what is wrong with the handshake */
  WEBSOCKET_TOO_LONG,       /* a message is longer than the limit */
  WEBSOCKET_CLOSED,         /* closed by the server; code, and detail: its reason */
  WEBSOCKET_LOST,           /* ended without a close frame, or by websocket_close */
} websocket_end;

typedef struct websocket_outcome {
  websocket_end end;
  uint16_t code;    /* 1005 for a close frame without one (RFC 6455, 7.4.1) */
  char detail[128]; /* UTF-8, zero-terminated */
} websocket_outcome;

/*
 * host: a name or an address, without brackets.
 * path: with the query, percent-encoded.
 * Returns NULL when memory is short.
 */
websocket *_Nullable websocket_create(const char *host, int port, const char *path, const char *subprotocol);

/*
 * Connects by TLS. To be called before websocket_run.
 *
 * authorities: a PEM file with the trusted authorities; NULL: the system's. Returns false for a file without
 * certificates.
 */
bool websocket_use_tls(websocket *socket, const char *_Nullable authorities);

/* Connects, and returns when the connection has ended. To be called once. */
websocket_outcome websocket_run(websocket *socket, const websocket_callbacks *callbacks);

/* Sends a text message. Any thread. False: out of memory, or the connection has ended. */
bool websocket_send(websocket *socket, const uint8_t *_Nullable bytes, size_t length);

/* Lets the next message be read. Any thread. */
void websocket_read_on(websocket *socket);

/* Ends the connection at once. Any thread. */
void websocket_close(websocket *socket);

/* After websocket_run has returned, or without it. */
void websocket_free(websocket *_Nullable socket);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
