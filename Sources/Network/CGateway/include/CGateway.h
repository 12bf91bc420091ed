/*
 * CGateway: WebSocket and HTTP sockets, and nothing else.
 *
 * This header is the whole contract between C and Swift; no libwebsockets type leaves the C sources.
 *
 * Threads. One service thread, started by gateway_start, owns every socket. All callbacks run on it and must return
 * soon. The functions marked "any thread" put a command into a queue under a lock and wake the service thread (but for
 * gateway_queue, _broadcast and _notify, which leave that to gateway_flush); what they do to a channel or request that is gone
 * already is nothing.
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

/* Names an HTTP request; never used twice. The low half is the number of a slot; there are as many slots as there ever were
   requests at a time. Likewise channels. */
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

/* What counts as one client: an IPv4 address, or an IPv6 /64, because a client has at least that many to choose from. */
typedef struct gateway_client {
  uint64_t high, low;
  bool is_loopback;
} gateway_client;

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
  gateway_span peer;          /* the client's address as text: a proxy's word for it where the proxy is trusted */
  gateway_client client;      /* what that address counts as */
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
  GATEWAY_NOT_FOUND,             /* no such file, and no handshake at this path */
  GATEWAY_SCRIPT_NOT_FOUND,      /* the same, where a script was asked for */
  GATEWAY_NOT_FOR_FILES,         /* another method than GET and HEAD */
  GATEWAY_NEEDS_UPGRADE,         /* a plain request to `live_path` */
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

/* Every callback gets the `context` of gateway_start first. */
typedef struct gateway_callbacks {
  /* Whether this is a proxy whose word is taken for who a client is; asked where the configuration has any. */
  bool (*trusts)(void *_Nullable context, const gateway_address *address);
  /* Whose request a trusted proxy passes on, by X-Forwarded-For or Forwarded. */
  gateway_address (*speaks_for)(void *_Nullable context, const gateway_address *proxy, gateway_span forwarded_for,
                                gateway_span forwarded);
  /* The head of any request, files and handshakes included: 0 lets it go on; it is answered 429, to be tried again after so many seconds. */
  int (*admitted)(void *_Nullable context, const gateway_request *request);
  /* A WebSocket handshake on `live_path`, before the upgrade: GATEWAY_NO_FAULT accepts it. */
  gateway_fault (*handshake)(void *_Nullable context, const gateway_request *request);
  void (*opened)(void *_Nullable context, gateway_channel_id session, const gateway_request *request);
  /*
   * One whole text message: valid UTF-8, no longer than `message_limit`. False: no further one is read until
   * gateway_resume.
   */
  bool (*received)(void *_Nullable context, gateway_channel_id session, const uint8_t *_Nullable bytes, size_t length);
  /* Channels have drained for which gateway_is_drained refused these waiters. Called once in a turn of the loop. */
  void (*drained)(void *_Nullable context, uint64_t waiters);
  /* What gateway_notify said; everything queued before it is on its way by now. */
  void (*notified)(void *_Nullable context, gateway_channel_id channel, uint64_t value);
  /* The session or the stream is over, by whichever side. Nothing follows for it. */
  void (*closed)(void *_Nullable context, gateway_channel_id channel);
  /* A whole HTTP request for a dynamic route: answer it, now or later, with gateway_respond. */
  void (*requested)(void *_Nullable context, gateway_request_id request, const gateway_request *what);
  /*
   * The client of a request left before gateway_respond answered it; noticed within about half a second.
   */
  void (*abandoned)(void *_Nullable context, gateway_request_id request);
  /* A request is over. This includes requests that the gateway answered, and refused upgrades (with the id 0). After `requested`. */
  void (*answered)(void *_Nullable context, gateway_request_id request, const gateway_request *what,
                   const gateway_outcome *outcome);
  /* Twice a second, after everything was looked at: for what is due at some time and need not be exact. */
  void (*ticked)(void *_Nullable context);
  /* A line that libwebsockets or the gateway logs; level: 0 error, 1 warning, 2 notice, 3 info. */
  void (*logged)(void *_Nullable context, int level, const char *line);
  /* Microseconds of a clock that never goes back, for deadlines and rates; NULL for the system's. */
  int64_t (*_Nullable now)(void *_Nullable context);
} gateway_callbacks;

typedef struct gateway_configuration {
  const char *host;                      /* address to listen on, such as "127.0.0.1" or "::" */
  int port;                              /* 0 takes a free one: see gateway_port */
  /* Files in PEM format: the certificate with its chain, and its key. NULL: no TLS. With it no other connection is served. */
  const char *_Nullable tls_certificate;
  const char *_Nullable tls_key;
  const char *_Nullable public_directory; /* static files served at "/" and below; NULL for none */
  const char *live_path;                 /* the WebSocket route, "/v1/live" */
  const char *subprotocol;               /* "freshet.v1" */
  /* Prefixes of dynamic routes ("/v1/", "/healthz", ...), NULL-terminated. */
  const char *_Nullable const *_Nonnull routes;
  const gateway_problem *problems;       /* GATEWAY_FAULTS of them, by fault */
  const char *static_headers;            /* lines "Name: value\r\n" added to every static answer */
  size_t message_limit;                  /* longest WebSocket message, bytes; a longer one closes with 1009 */
  size_t body_limit;                     /* longest HTTP body; a longer one is answered 413 */
  size_t outbox_limit;                   /* bytes queued for a session above which reading from it pauses */
  int message_rate;                      /* messages that a session may send a second, as long as it likes; 0: any number */
  int message_burst;                     /* messages that it may send at once after a pause; above both it is read slowly */
  int address_limit;                     /* connections of one IPv4 address or IPv6 /64, more are answered 429; 0: any number */
  bool has_proxies;                      /* some are trusted */
  bool limits_loopback;                  /* whether that is also for clients on this machine */
  size_t outgoing_limit;                 /* bytes that may be on their way out; more answers get 503; 0: any number */
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
 * Opens the listening socket: from now on clients can connect, and wait. NULL on failure, with a sentence in `error`
 * (`capacity` bytes, always terminated), such as "port 8080 on 127.0.0.1 is already in use". The configuration is
 * copied. Sets the process up as a server needs it: SIGPIPE is ignored if it is not handled, and the limit of open
 * files is raised to what the system allows (at most 65,536 unless it is higher already).
 */
gateway *_Nullable gateway_create(const gateway_configuration *configuration, char *error, size_t capacity);

/* Starts the service thread, whose callbacks get `context`. False on failure, with a sentence in `error`. Once. */
bool gateway_start(gateway *gateway, void *_Nullable context, char *error, size_t capacity);

/* What was refused since the start, and what is on its way. */
typedef struct gateway_counters {
  uint64_t address; /* connections: their address had too many */
  uint64_t rate;    /* requests: their client had sent too many */
  uint64_t late;    /* requests that did not come in time */
  uint64_t memory;  /* answers that there was no room for */
  uint64_t stalled; /* connections that took nothing of what was sent to them */
  uint64_t outgoing; /* bytes on their way out now */
  uint64_t sessions, streams; /* open now */
} gateway_counters;
/* Any thread. */
gateway_counters gateway_count(const gateway *gateway);

/* Whether that many more bytes may be on their way out; a few always may. Any thread. */
bool gateway_has_room(const gateway *gateway, size_t bytes);
/* Counts what the caller has refused because there was no room. Any thread. */
void gateway_note_overload(gateway *gateway);

/* The port that is listened on. Any thread. */
int gateway_port(const gateway *gateway);

/*
 * Reads the files of the certificate again: for connections from now on; those that are open go on. False when they cannot be
 * used, with a sentence in `error`; then everything stays as it is. Only with TLS. Any thread.
 */
bool gateway_reload_certificate(gateway *gateway, char *error, size_t capacity);

/* Accepts no further connections; those that are open go on. Any thread. */
void gateway_stop_listening(gateway *gateway);

/*
 * Closes every session with `code`, ends every stream, lets what is queued be written for at most `milliseconds`, joins the service
 * thread. Returns when the last callback has returned. Called once, after gateway_start, not from a callback.
 * From then on the "any thread" functions do nothing. Returns the context of the callbacks.
 */
void *_Nullable gateway_stop(gateway *gateway, uint16_t code, const char *reason, int milliseconds);

/* Frees a gateway that was never started, or is stopped. Nobody may use it any more. */
void gateway_free(gateway *gateway);

/* Frames: a WebSocket text message laid out ready to be written, its header in front. */

enum { GATEWAY_FRAME_HEADROOM = 16 };
/*
 * A frame of the `length` bytes that stand GATEWAY_FRAME_HEADROOM bytes into `block`, which is the frame's from now on and let
 * go with `release`. One reference, owned by the caller; NULL when out of memory, and the block is still the caller's.
 */
gateway_frame *_Nullable gateway_frame_create(void *block, size_t length, void (*release)(void *_Nullable block));
/* Bytes on the wire, the header included. */
size_t gateway_frame_size(const gateway_frame *frame);
void gateway_frame_retain(gateway_frame *frame);
void gateway_frame_release(gateway_frame *frame);

/*
 * Queues a frame for channels, in order for each channel; a stream gets the payload alone. What is queued leaves
 * after the next gateway_flush at the latest; frames that are due together leave in one write. Any thread.
 */
void gateway_queue(gateway *gateway, gateway_frame *frame, const gateway_channel_id *channels, size_t count);
/* Queues a frame for every session. Any thread. */
void gateway_broadcast(gateway *gateway, gateway_frame *frame);
/* Has `notified` called once everything queued before is on its way. Any thread. */
void gateway_notify(gateway *gateway, gateway_channel_id channel, uint64_t value);
/*
 * Whether everything sent to a channel is with the kernel. If not, `drained` is called with the bit `waiter` (0 to 63) set as
 * soon as it is. True for a channel that is gone. Any thread.
 */
bool gateway_is_drained(const gateway *gateway, gateway_channel_id channel, unsigned waiter);
/* Has what is queued written. Any thread; in a callback it is not needed. */
void gateway_flush(gateway *gateway);

/* Reads from a session again after `received` returned false. Any thread. */
void gateway_resume(gateway *gateway, gateway_channel_id session);

/* Writes what is queued for the channel, then closes it. A stream has no use for code and reason. Any thread. */
void gateway_close(gateway *gateway, gateway_channel_id channel, uint16_t code, const char *reason);

/*
 * Answers an HTTP request. `headers` is lines "Name: value\r\n", or empty; Content-Length and Connection are the
 * gateway's. The bytes are copied. A HEAD request gets the headers alone. Any thread.
 */
void gateway_respond(gateway *gateway, gateway_request_id request, int status, const char *headers,
                     const uint8_t *_Nullable body, size_t length);

/*
 * Streams: answers without a known end, such as server-sent events.
 *
 * Answers a request with a stream: status 200, `stream_headers` and `headers`, then frames, until gateway_close, or until the
 * client leaves (also one that reads nothing for read_timeout). The answer begins with the first frame, at the latest after a
 * second. The connection is closed after the stream. 0 when there is no stream: to a HEAD request the head is the whole answer.
 * Only in a callback.
 */
gateway_channel_id gateway_stream_open(gateway *gateway, gateway_request_id request, const char *type, const char *headers);
/*
 * Ends a stream with a last frame; or, when nothing was sent yet, answers the request as gateway_respond does instead. Any thread.
 */
void gateway_stream_end(gateway *gateway, gateway_channel_id stream, gateway_frame *frame, int status,
                        const char *headers, const uint8_t *_Nullable body, size_t length);

/*
 * How often something may happen: `per_second` times (above 0) for as long as one likes, and a burst of that after a pause. Times are not
 * counted. They are paid for up to a time, which each moves on by the interval of the rate, and which may run ahead of the
 * clock by the burst. Microseconds. Any thread; the caller guards `paid_until`.
 */

/* The microseconds until there is a time to take; 0 or less when there is one. */
int64_t gateway_rate_wait(int64_t paid_until, int64_t now, int per_second, int burst);
/* Takes one: the new `paid_until`. */
int64_t gateway_rate_pay(int64_t paid_until, int64_t now, int per_second);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
