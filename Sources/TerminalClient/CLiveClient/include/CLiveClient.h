/*
 * CLiveClient: the client side of one WebSocket at a time, and nothing else.
 *
 * This header is the whole contract between C and Swift; no libwebsockets type leaves the C source.
 *
 * Threads. One thread makes, runs and frees a client, and all callbacks run on it, inside live_client_connect and
 * live_client_service. live_client_wake alone may be called from any thread.
 *
 * Ownership. Bytes and texts given to a callback are valid during the call only; what is sent is copied.
 */
#ifndef CLIVECLIENT_H
#define CLIVECLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang assume_nonnull begin
#endif

typedef struct live_client live_client;

/* Where to connect. The texts are copied. */
typedef struct live_client_target {
  const char *host;     /* a name or an address, IPv6 without brackets */
  uint16_t port;
  const char *path;     /* from "/" on */
  const char *protocol; /* Sec-WebSocket-Protocol */
  bool is_secure;       /* TLS; the server's certificate and name are verified */
} live_client_target;

/* Every callback gets the `context` of live_client_create first. None of them may call back into the client, but for
   live_client_send. */
typedef struct live_client_callbacks {
  /* The connection stands. */
  void (*opened)(void *_Nullable context);
  /* One whole text message. */
  void (*received)(void *_Nullable context, const uint8_t *bytes, size_t length);
  /* The connection is gone, or did not come about: then `code` is 0, and `reason` says why. Otherwise `code` is that of
     the peer's Close frame, or 1006 when none came. Called once for every live_client_connect. */
  void (*closed)(void *_Nullable context, uint16_t code, const char *reason);
} live_client_callbacks;

/* NULL when memory is out. */
live_client *_Nullable live_client_create(const live_client_callbacks *callbacks, void *_Nullable context);

/* Begins to connect; `opened` or `closed` tells how it went. The connection before must have been closed. */
void live_client_connect(live_client *client, const live_client_target *target);

/* Queues one text message. Without an open connection it is dropped. */
void live_client_send(live_client *client, const uint8_t *bytes, size_t length);

/* Waits for something to happen, `milliseconds` at most, and calls back for what did. */
void live_client_service(live_client *client, unsigned milliseconds);

/* Any thread: makes live_client_service return soon. */
void live_client_wake(live_client *client);

/* Drops the connection without a callback. */
void live_client_free(live_client *client);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
