/*
 * CGateway: WebSocket and HTTP sockets, and nothing else.
 *
 * This header is the whole contract between C and Swift; no libwebsockets type leaves the C sources.
 *
 * Threads. A gateway is one service thread, started by gateway_start, which owns its sockets. All callbacks run on it
 * and must return soon. Several gateways may serve one port; they share a budget and nothing else, and their ids are
 * different ones. The functions marked "any thread" put a command into a queue under a lock and wake the service thread
 * (but for gateway_queue and _notify, which leave that to gateway_flush); what they do to a channel or request that is
 * gone already is nothing.
 *
 * Ownership. Bytes given to a callback are valid during the call only. A frame is counted by references; sending one
 * takes a reference of the gateway's own, so that one frame is written to many sessions without a copy.
 */
#ifndef CGATEWAY_H
#define CGATEWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang assume_nonnull begin
#endif

typedef struct gateway gateway;
typedef struct gateway_frame gateway_frame;

/* Names an HTTP request; never used twice. Its low half, divided by the number of gateways (`count`), is the number of
   a slot; there are as many slots as there ever were simultaneous requests. The rest is the gateway's `number`.
   Likewise channels. */
typedef uint64_t gateway_request_id;

/* Names what frames are sent to: a WebSocket session, or the stream that answers a request. */
typedef uint64_t gateway_channel_id;
bool gateway_channel_is_stream(gateway_channel_id channel);

typedef struct gateway_span {
  const uint8_t *_Nullable bytes;
  size_t length;
} gateway_span;

/* An IPv6 address, or an IPv4 one as IPv6 has it: ::ffff:a.b.c.d. */
typedef struct gateway_address {
  uint8_t bytes[16];
} gateway_address;

/* Whether a connection, or a request that a proxy passes on, is admitted by its address. */
typedef enum gateway_entry {
  GATEWAY_ENTRY_FREE,    /* it is not counted */
  GATEWAY_ENTRY_PROXY,   /* a trusted proxy, which speaks for its clients: it is not counted */
  GATEWAY_ENTRY_COUNTED, /* it has one of the connections that its address may have */
  GATEWAY_ENTRY_REFUSED, /* its address has too many: it is answered 429, and counted among those that are */
  GATEWAY_ENTRY_CLOSED   /* too many of its address are answered 429 already: it is not counted, and closed at once */
} gateway_entry;

/* The HTTP request of a WebSocket handshake, or a plain one. Absent parts have length 0. */
typedef struct gateway_request {
  gateway_span method;        /* "GET", "HEAD", "POST", "OPTIONS", ... */
  gateway_span path;          /* decoded, without the query */
  gateway_span query;         /* what follows "?", percent-encoded */
  gateway_span origin;        /* Origin */
  gateway_span host;          /* Host */
  gateway_span authorization; /* Authorization */
  gateway_span if_none_match; /* If-None-Match */
  gateway_span content_type;  /* Content-Type */
  gateway_span accept;        /* Accept */
  gateway_span accept_encoding; /* Accept-Encoding */
  gateway_span last_event_id; /* Last-Event-ID (server-sent events) */
  gateway_span protocols;     /* Sec-WebSocket-Protocol */
  gateway_span fetch_site;    /* Sec-Fetch-Site */
  gateway_address client;     /* its address: a proxy's word for it where the proxy is trusted */
  gateway_span body;          /* the whole body of a POST */
} gateway_request;

/* Why the gateway answers a request by itself. */
typedef enum gateway_fault {
  GATEWAY_BAD_HOST,              /* not exactly one good Host */
  GATEWAY_BAD_LENGTH,            /* Content-Length that is no number, is there twice, or is not the body's */
  GATEWAY_BAD_CODING,            /* Transfer-Encoding with Content-Length or HTTP/1.0 */
  GATEWAY_UNKNOWN_CODING,
  GATEWAY_NO_LENGTH,             /* a body without Content-Length */
  GATEWAY_BAD_VERSION,           /* of HTTP */
  GATEWAY_PIPELINED,             /* a request with a body that did not wait for the answer before it */
  GATEWAY_NO_TLS,                /* plain HTTP to the port of TLS */
  GATEWAY_TOO_LARGE,             /* a body longer than `body_limit` */
  GATEWAY_CROWDED,               /* the address has too many connections */
  GATEWAY_HASTY,                 /* `admitted` said so; Retry-After is the gateway's */
  GATEWAY_LATE,                  /* a head or body that did not come in time */
  GATEWAY_OVERLOADED,            /* no room for the answer */
  GATEWAY_STOPPING,              /* of a stream that has not begun */
  GATEWAY_NOT_FOUND,             /* no handshake at this path */
  GATEWAY_SCRIPT_NOT_FOUND,      /* the same, where a script was asked for */
  GATEWAY_NOT_FOR_FILES,         /* another method than GET and HEAD */
  GATEWAY_NEEDS_UPGRADE,         /* a plain request where WebSockets are */
  GATEWAY_OTHER_UPGRADE,         /* than to WebSocket, or not by GET */
  GATEWAY_BAD_WEBSOCKET_VERSION,
  GATEWAY_UPGRADE_WITH_BODY,
  GATEWAY_NO_CONNECTION_UPGRADE, /* Connection does not say Upgrade */
  GATEWAY_BAD_KEY,               /* Sec-WebSocket-Key */
  GATEWAY_BAD_PROTOCOL,          /* others than `subprotocol` are offered */
  GATEWAY_REFUSED_UNAUTHENTICATED, /* these four are answers of `handshake` */
  GATEWAY_REFUSED_FORBIDDEN,
  GATEWAY_REFUSED_HASTY,
  GATEWAY_REFUSED_OVERLOADED,
  GATEWAY_REFUSED,
  GATEWAY_FAULTS,
  GATEWAY_NO_FAULT = -1
} gateway_fault;

/* How a fault is answered. */
typedef struct gateway_problem {
  int status;
  const char *code;    /* of the protocol */
  const char *headers; /* lines "Name: value\r\n" */
  const char *body;
} gateway_problem;

/* How a request ended. */
typedef struct gateway_outcome {
  int status;                  /* 499 when the client left before there was an answer */
  int64_t bytes;               /* of the body, as many as were sent; -1 for a stream */
  const char *_Nullable code;  /* of the protocol, where the gateway itself answered with an error */
} gateway_outcome;

/* The decision about a session whose message was received. */
typedef enum gateway_verdict {
  GATEWAY_READ_ON,
  GATEWAY_PAUSE,   /* no further message is read until gateway_resume */
  GATEWAY_NOT_TEXT /* the message is no UTF-8: the session closes with 1007 */
} gateway_verdict;

/* Every callback gets the `context` of gateway_start first. */
typedef struct gateway_callbacks {
  /* A connection of an address, or a request that a proxy passes on for it, begins; what counts ends with `left`. */
  gateway_entry (*entered)(void *_Nullable context, const gateway_address *address);
  void (*left)(void *_Nullable context, const gateway_address *address, gateway_entry entry);
  /* The client of a request that a trusted proxy passes on, by X-Forwarded-For or Forwarded. */
  gateway_address (*speaks_for)(void *_Nullable context, const gateway_address *proxy, gateway_span forwarded_for,
                                gateway_span forwarded);
  /* Called with the head of any request, files and handshakes included. Returns 0 to let it go on, or the number of
   * seconds after which the client may try again: the request is answered with 429. */
  int (*admitted)(void *_Nullable context, const gateway_request *request);
  /* A WebSocket handshake on whatever path, before the upgrade: GATEWAY_NO_FAULT accepts it. */
  gateway_fault (*handshake)(void *_Nullable context, const gateway_request *request);
  void (*opened)(void *_Nullable context, gateway_channel_id session, const gateway_request *request);
  /* One whole message of text, no longer than `message_limit`. */
  gateway_verdict (*received)(void *_Nullable context, gateway_channel_id session, const uint8_t *_Nullable bytes, size_t length);
  /* Called for each frame of a message. Returns 0 to go on, or the microseconds for which the session is not read.
   * NULL: no limit. */
  int64_t (*_Nullable framed)(void *_Nullable context, gateway_channel_id session);
  /* Called when channels drain that `gateway_is_drained` had reported busy; `waiters` has one bit per waiter. Once in a
     turn of the loop. */
  void (*drained)(void *_Nullable context, uint64_t waiters);
  /* Delivers the value of gateway_notify; everything queued before it is on its way by now. */
  void (*notified)(void *_Nullable context, gateway_channel_id channel, uint64_t value);
  /* The session or the stream is over, by whichever side. Nothing follows for it. */
  void (*closed)(void *_Nullable context, gateway_channel_id channel);
  /* A whole HTTP request: answer it, now or later, with gateway_respond or gateway_refuse. */
  void (*requested)(void *_Nullable context, gateway_request_id request, const gateway_request *what);
  /*
   * The client of a request left before gateway_respond answered it; noticed within about half a second.
   */
  void (*abandoned)(void *_Nullable context, gateway_request_id request);
  /* A request is over. This includes requests that the gateway answered, and refused upgrades (with the id 0). After
   * `requested`. */
  void (*answered)(void *_Nullable context, gateway_request_id request, const gateway_request *what,
                   const gateway_outcome *outcome);
  /* Twice a second, after everything was looked at: for what is due at some time and need not be exact. */
  void (*ticked)(void *_Nullable context);
  /* A line that libwebsockets or the gateway logs; level: 0 error, 1 warning, 2 notice, 3 info. */
  void (*logged)(void *_Nullable context, int level, const char *line);
  /* Microseconds of a clock that never goes back, for deadlines and rates; NULL for the system's. */
  int64_t (*_Nullable now)(void *_Nullable context);
} gateway_callbacks;

/* How much may be on its way out of all gateways that share it. Any thread. */
typedef struct gateway_budget gateway_budget;
/* `limit` in bytes; more answers get 503; 0: any number. NULL when out of memory. */
gateway_budget *_Nullable gateway_budget_create(size_t limit);
/* Whether that many more bytes may be on their way out; a few always may. */
bool gateway_budget_has_room(const gateway_budget *budget, size_t bytes);
size_t gateway_budget_used(const gateway_budget *budget);
/* After the gateways that share it. */
void gateway_budget_free(gateway_budget *budget);

/* A certificate with the chain above it, and its key. */
typedef struct gateway_certificate gateway_certificate;
/* Reads files in PEM format. NULL when they cannot be used, with a sentence in `error` (`capacity` bytes, always
 * terminated). */
gateway_certificate *_Nullable gateway_certificate_load(const char *certificate, const char *key, char *error, size_t capacity);
void gateway_certificate_free(gateway_certificate *_Nullable certificate);

/* Everything that it points to stays until gateway_free. */
typedef struct gateway_configuration {
  unsigned number, count;                /* of this gateway among those that share its port; 0 of 1 where it is alone */
  int listening_socket;                  /* it listens, and is the gateway's from gateway_create on */
  /* NULL: no TLS. With it no other connection is served. */
  const gateway_certificate *_Nullable certificate;
  const char *subprotocol;               /* "freshet.v1" */
  const gateway_problem *problems;       /* GATEWAY_FAULTS of them, by fault */
  gateway_budget *budget;
  size_t message_limit;                  /* longest WebSocket message, bytes; a longer one closes with 1009 */
  size_t body_limit;                     /* longest HTTP body; a longer one is answered 413 */
  size_t outbox_limit;                   /* bytes queued for a session above which reading from it pauses */
  int read_timeout;                      /* milliseconds in which a client must take something of what was sent to it */
  int head_timeout;                      /* milliseconds in which a request's head must have come; 408; 0: no limit */
  int body_timeout;                      /* milliseconds in which a request's body must have come; 408; 0: no limit */
  int body_rate;                         /* bytes a second that a body must keep up after its first five seconds; 408 */
  int ping_after;                        /* milliseconds without a sign of life after which a session is pinged */
  int hang_up_after;                     /* milliseconds without a sign of life after which a session is closed */
  const char *stream_headers;            /* lines "Name: value\r\n" at the head of every stream */
  const char *heartbeat;                 /* what is sent to a stream of events when nothing else is; "" for nothing. Others get an empty line */
  int heartbeat_after;                   /* milliseconds of silence after which it is sent, give or take half a second */
  gateway_callbacks callbacks;
} gateway_configuration;

/*
 * NULL when out of memory. Sets the process up as a server needs it: SIGPIPE is ignored if it is not handled, and the
 * limit of open files is raised to what the system allows (at most 65,536 unless it is higher already).
 */
gateway *_Nullable gateway_create(const gateway_configuration *configuration);

/* Starts the service thread, whose callbacks get `context`. False on failure, with a sentence in `error`. Once. */
bool gateway_start(gateway *gateway, void *_Nullable context, char *error, size_t capacity);

/* Counts of refusals since the start, and of what is open. */
typedef struct gateway_counters {
  uint64_t address; /* connections: their address had too many */
  uint64_t rate;    /* requests: their client had sent too many */
  uint64_t late;    /* requests that did not come in time */
  uint64_t memory;  /* answers that there was no room for */
  uint64_t stalled; /* connections that took nothing of what was sent to them */
  uint64_t sessions, streams; /* open now */
} gateway_counters;
/* Any thread. */
gateway_counters gateway_count(const gateway *gateway);

/* Counts what the caller has refused because there was no room. Any thread. */
void gateway_note_overload(gateway *gateway);

/* Another certificate, for connections from now on; those that are open go on. Only with TLS. Any thread. */
void gateway_renew_certificate(gateway *gateway, const gateway_certificate *certificate);

/* Accepts no further connections; those that are open go on. Any thread. */
void gateway_stop_listening(gateway *gateway);

/*
 * Closes every session with `code`, ends every stream, lets what is queued be written for at most `milliseconds`, and
 * ends the service thread. At most 123 bytes of the reason are sent. Called once, after gateway_start.
 */
void gateway_stop(gateway *gateway, uint16_t code, const char *reason, int milliseconds);
/*
 * Returns when the last callback has returned, with their context. Called once, after gateway_stop, not from a
 * callback. From then on the "any thread" functions do nothing.
 */
void *_Nullable gateway_join(gateway *gateway);

/* Frees a gateway that was never started, or is stopped. It must not be used any more. */
void gateway_free(gateway *gateway);

/* Frames: a WebSocket text message laid out ready to be written, its header in front. */

enum { GATEWAY_FRAME_HEADROOM = 16 };
/*
 * A frame of the `length` bytes that stand GATEWAY_FRAME_HEADROOM bytes into `block`, which is the frame's from now on
 * and let go with `release`. One reference, owned by the caller; NULL when out of memory, and the block is still the
 * caller's.
 */
gateway_frame *_Nullable gateway_frame_create(void *block, size_t length, void (*release)(void *_Nullable block));
/* Bytes on the wire, the header included. */
size_t gateway_frame_size(const gateway_frame *frame);
void gateway_frame_retain(gateway_frame *frame);
void gateway_frame_release(gateway_frame *frame);

/*
 * Queues a frame for channels, in order for each channel; a stream gets the payload alone. Queued frames leave after
 * the next gateway_flush at the latest; frames that are due together leave in one write. Any thread.
 */
void gateway_queue(gateway *gateway, gateway_frame *frame, const gateway_channel_id *channels, size_t count);
/* Has `notified` called once everything queued before is on its way. Any thread. */
void gateway_notify(gateway *gateway, gateway_channel_id channel, uint64_t value);
/*
 * Whether everything sent to a channel is with the kernel. If not, `drained` is called with the bit `waiter` (0 to 63)
 * set as soon as it is. True for a channel that is gone. Any thread.
 */
bool gateway_is_drained(const gateway *gateway, gateway_channel_id channel, unsigned waiter);
/* Has what is queued written. Any thread; in a callback it is not needed. */
void gateway_flush(gateway *gateway);

/* Reads from a session again after `received` returned false. Any thread. */
void gateway_resume(gateway *gateway, gateway_channel_id session);

/* Writes the queued frames of the channel, then closes it. A stream ignores code and reason; at most 123 bytes of the
   reason are sent. Any thread. */
void gateway_close(gateway *gateway, gateway_channel_id channel, uint16_t code, const char *reason);

/*
 * Answers an HTTP request. `headers` is lines "Name: value\r\n", or empty; Content-Length and Connection are the
 * gateway's. The bytes are copied. A HEAD request gets the headers alone. Any thread.
 */
void gateway_respond(gateway *gateway, gateway_request_id request, int status, const char *headers,
                     const uint8_t *_Nullable body, size_t length);

/* Answers an HTTP request as the gateway does by itself, with more headers. Any thread. */
void gateway_refuse(gateway *gateway, gateway_request_id request, gateway_fault fault, const char *headers);

/*
 * Streams: answers without a known end.
 *
 * EVENTS: server-sent ones, with comments where nothing is said for long. LINES, with empty ones there. FILE: nothing
 * is said in between, and only gateway_stream_end ends it; gateway_close and the gateway's end cut it off, so that the
 * client sees that something is missing.
 */
typedef enum { GATEWAY_STREAM_EVENTS, GATEWAY_STREAM_LINES, GATEWAY_STREAM_FILE } gateway_stream_kind;

/*
 * Answers a request with a stream: status 200, the lines `head`, `stream_headers` and `headers`, then frames, until
 * gateway_close, or until the client leaves (also one that reads nothing for read_timeout). Any other answer to the
 * request has `headers` too. The answer begins with the first frame, at the latest after a second. The connection is
 * closed after the stream. 0 when there is no stream: to a HEAD request the head is the whole answer. Only in a
 * callback.
 */
gateway_channel_id gateway_stream_open(gateway *gateway, gateway_request_id request, gateway_stream_kind kind,
                                       const char *head, const char *headers);
/*
 * Ends a stream with a last frame, or cuts it off without one; or, when nothing was sent yet, answers the request as
 * gateway_respond does instead. Any thread.
 */
void gateway_stream_end(gateway *gateway, gateway_channel_id stream, gateway_frame *_Nullable frame, int status,
                        const char *headers, const uint8_t *_Nullable body, size_t length);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
