/*
 * What the C files of the gateway share. Everything here belongs to the service thread, except where a comment names
 * a lock or says "any thread".
 *
 *   context.c     life and death of a gateway, its thread, the command queue, what libwebsockets calls back
 *   loop.c        what that thread waits with
 *   listener.c    the listening socket
 *   connection.c  accepted sockets: what their bytes are for, and how long a request may take to come
 *   transport.c   bytes out, with TLS and without
 *   tls.c         certificates
 *   proxies.c     who a client is, where a proxy speaks for it
 *   address.c     how many connections an address has
 *   outgoing.c    the memory of what is on its way out
 *   socket.c      what only the kernel knows of a socket
 *   registry.c    ids
 *   channel.c     sessions and streams alike: frames that wait, and who waits for them to leave
 *   handshake.c   which sessions there may be
 *   session.c     WebSocket sessions: frames out, closing
 *   messages.c    frames and messages in
 *   flow.c        when a session is read
 *   keepalive.c   who is still there
 *   head.c        reading a request's head, target.c its target
 *   request.c     what a head means
 *   exchange.c    one HTTP request and its answer
 *   stream.c      answers that go on
 *   static.c      files of the public directory
 *   frame.c, utf8.c
 */
#ifndef CGATEWAY_INTERNAL_H
#define CGATEWAY_INTERNAL_H

#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "CGateway.h"

/* What is read at once, into a buffer that all connections share. */
#define RECEIVED_AT_ONCE ((size_t)16 * 1024)
/* The longest head of a request. */
#define HEAD_LIMIT ((size_t)32 * 1024)
/* The longest payload of a control frame. */
enum { CONTROL_BYTES = 125 };
/* Frames due together are gathered up to this size and leave in one write. */
#define GATHER_BYTES ((size_t)64 * 1024)
/* How long a peer may take to read what is left and to answer a Close frame. */
#define CLOSE_PATIENCE_US (5 * (lws_usec_t)LWS_US_PER_SEC)
/* How often sessions and waiting requests are looked at for signs of life. */
#define WATCH_INTERVAL_US ((lws_usec_t)500000)

/* Ids: slot in the low half, generation (from 1) in the high half, so that finding is O(1) and no id is used twice. */
struct registry_entry {
  void *object; /* NULL when the slot is free */
  uint32_t generation;
  uint32_t next_free; /* slot + 1, 0 for none */
};

struct registry {
  struct registry_entry *entries;
  uint32_t count, capacity, first_free, live;
};

uint64_t registry_add(struct registry *registry, void *object); /* 0 when out of memory */
void *registry_find(const struct registry *registry, uint64_t id);
void registry_remove(struct registry *registry, uint64_t id);

/* An answer to a request, made by any thread and then handed to the service thread. */
struct answer {
  int status;
  char *headers; /* lines "Name: value\r\n" */
  uint8_t *body;
  size_t length;
  bool is_stream, is_chunked; /* a head without Content-Length */
  gateway *charged;           /* in whose budget its length counts; NULL: in none yet */
  const char *code;           /* of a problem that the gateway reports; NULL otherwise */
};

struct answer *answer_create(int status, const char *headers, const uint8_t *body, size_t length);
void answer_free(struct answer *answer);

enum command_kind {
  COMMAND_QUEUE,
  COMMAND_BROADCAST,
  COMMAND_NOTIFY,
  COMMAND_CLOSE,
  COMMAND_END,
  COMMAND_RESUME,
  COMMAND_ANSWER,
  COMMAND_CERTIFICATE,
  COMMAND_STOP_LISTENING,
  COMMAND_STOP
};

/* One frame and the channels that get it; allocated in one piece. */
struct dispatch {
  gateway_frame *frame;
  size_t count;
  gateway_channel_id channels[];
};

struct command {
  enum command_kind kind;
  uint16_t code;
  int milliseconds;
  uint64_t id;
  uint64_t value;
  gateway_frame *frame; /* held in the budget; NULL for none */
  union {
    struct dispatch *dispatch;
    struct answer *answer;
    struct pair *pair;
    char *reason; /* owned */
  };
};

struct command_list {
  struct command *items;
  size_t count, capacity;
};

struct address; /* see address.c */
struct pair;    /* see tls.c */
struct range;   /* see proxies.c */
struct request;
enum { ADDRESS_LISTS = 4096 };

/* What other threads may know of a channel: see channel.c. */
struct load {
  atomic_uint_fast64_t channel; /* 0: none; changed with the gateway's lock */
  atomic_uint_fast64_t waiters; /* a bit each */
  atomic_uint unsent;           /* frames sent to it that the kernel does not have yet */
};
enum { LOADS_IN_BLOCK = 1024, LOAD_BLOCKS = 2048 };

struct gateway {
  /* Constant after gateway_create. */
  gateway_configuration configuration; /* its strings are owned */
  char *root;                          /* real path of the public directory, or NULL */
  gateway_frame *heartbeat;            /* of streams, or NULL */
  int port;

  /* Constant after gateway_start. */
  void *context;
  pthread_t thread;
  struct lws_context *lws;
  struct lws_vhost *vhost;
  void *loop; /* libev's, or NULL: libwebsockets calls poll */

  /* Guarded by `lock`. */
  pthread_mutex_t lock;
  pthread_cond_t started_changed;
  enum { NOT_STARTED, STARTING, RUNNING, FAILED, ENDED } state;
  struct command_list inbox;
  int wake_write;    /* -1: none yet. Set before the gateway runs */
  bool wake_pending; /* the service thread has been woken and has not taken the inbox yet */

  /* Any thread. */
  atomic_size_t outgoing;           /* bytes on their way out */
  atomic_uint sessions, streams;    /* open now */
  _Atomic(struct load *) loads[LOAD_BLOCKS];

  /* Service thread. */
  struct command_list taken;
  struct registry channels;  /* struct channel */
  struct registry exchanges; /* struct exchange */
  lws_dll2_owner_t due;      /* sessions that have something to write and no reason to wait for room */
  uint64_t drained_waiters;  /* whose channels have drained in this turn of the loop */
  lws_dll2_owner_t awaiting; /* connections whose request's head is not there yet */
  struct address *addresses[ADDRESS_LISTS];
  uint64_t address_seed;
  const struct sockaddr_storage *accepting; /* who is being taken on */
  int listening_socket;      /* -1 once given to libwebsockets or closed */
  int spare_descriptor;      /* given up for a moment to turn a connection away when descriptors run out */
  struct lws *listener;
  struct lws *wake;          /* the end of a pipe that is read; what other threads write to is `wake_write` */
  struct lws *alarm;         /* a timer as an event; NULL without libev */
  lws_usec_t alarm_at;       /* when it goes off; 0: it does not */
  struct tls *tls;           /* NULL for none */
  struct range *proxies;     /* that are trusted */
  size_t proxy_count;
  uint8_t *gather;           /* GATHER_BYTES */
  lws_sorted_usec_list_t watch_timer, stop_timer, throttle_timer;
  lws_dll2_owner_t throttled; /* sessions that are not read until they have a token */
  lws_usec_t throttle_at;
  lws_dll2_owner_t unfinished; /* exchanges whose answer is being written, or waits to be read */
  struct {
    atomic_uint_fast64_t address, rate, late, memory, stalled;
  } counters; /* read by any thread */
  bool stopping;
  uint16_t stop_code;
  lws_usec_t stop_at;
};

/* One accepted socket, HTTP first and perhaps WebSocket then; the wsi's opaque user data. */
struct connection {
  gateway *gateway;
  struct lws *wsi;
  struct session *session;
  struct exchange *exchange;
  struct sockaddr_storage peer; /* the other end of the socket: the client, or a proxy */
  struct address *address; /* NULL for one that is not limited */
  bool is_refused;         /* its address has too many */
  bool is_proxy;           /* a trusted one: address and is_refused are those of the client whose request is being answered */
  bool is_deaf;            /* what comes is dropped */
  bool is_broken;          /* TLS has failed: nothing can be written */
  bool is_owed;            /* the next write must begin with the same bytes: see transport.c */
  bool is_consuming;
  uint8_t *input;          /* what has come and cannot be used yet */
  size_t input_length;
  size_t scanned;          /* of it, what is known not to end the head */
  lws_usec_t head_since;   /* when the head was first expected; 0: not yet */
  lws_usec_t idle_since;   /* while it is not */
  lws_dll2_t awaiting;     /* in the gateway's list while it has no head */
};

int connection_open(gateway *gateway, struct lws *wsi);
void connection_free(struct lws *wsi);
void connection_received(struct connection *connection, uint8_t *bytes, size_t length);
void connection_continue(struct connection *connection);
void connection_writable(struct connection *connection);
void connection_drop(struct connection *connection);
void connection_name_client(struct connection *connection, struct request *request);
void connection_leave_client(struct connection *connection);
void connection_awaits_head(struct connection *connection);
void connections_watch(gateway *gateway, lws_usec_t now);
bool body_is_late(const gateway_configuration *c, lws_usec_t since, size_t received, lws_usec_t now);

ssize_t transport_write(struct connection *connection, struct iovec *parts, size_t count);
void transport_end(struct connection *connection);
bool transport_has_ended(const struct connection *connection);

/* What OpenSSL knows of the server: see tls.c. */
struct tls *tls_load(const gateway_configuration *c, char *error, size_t capacity);
bool tls_configure(struct tls *tls, void *context);
void tls_renew(struct tls *tls, struct pair *pair);
void pair_free(struct pair *pair);
void tls_free(struct tls *tls);

/* Whether an address has all connections that it may have, and `most` that are being refused. */
bool address_is_refusing(gateway *gateway, const struct sockaddr_storage *from, int most);
gateway_client address_client(const struct sockaddr_storage *from);
/* NULL for one that is not limited. */
struct address *address_enter(gateway *gateway, const struct sockaddr_storage *from, bool *is_refused);
void address_leave(gateway *gateway, struct address *address, bool was_refused);

/* Why a request is refused. */
struct head_fault {
  int status;
  const char *title, *code, *detail;
};

struct joined {
  char *text;
  struct joined *next;
};

/* What a request's head said. `text` is a copy of the head, and room for its decoded path. */
struct request {
  gateway_request head; /* every span but body points into `text` or `joined` */
  char *text, *path;
  char peer[46]; /* the client's address */
  struct joined *joined; /* lists that came in several lines */
  gateway_span host, authority, length_text, coding, expect, upgrade, connection, key, version, forwarded_for, forwarded;
  bool is_modern; /* HTTP/1.1 */
  bool is_head, is_post, keep_alive, expects_continue, wants_upgrade;
  uint64_t content_length;
};

size_t head_end(const uint8_t *bytes, size_t length, size_t *scanned, const struct head_fault **fault);
const struct head_fault *head_read(struct request *request, gateway_span text);
const struct head_fault *target_read(struct request *request, gateway_span target);
struct request *request_create(size_t length); /* NULL when out of memory */
/* What is wrong with it is in `fault`, NULL for nothing; then there may be no request. */
struct request *request_read(gateway_span text, const struct head_fault **fault);
void request_name_client(struct request *request, const struct sockaddr_storage *address);
void request_free(struct request *request);
bool list_contains(gateway_span list, const char *token, bool ignore_case);
bool span_equals(gateway_span span, const char *text);

/* Reads the ranges of the configuration; false, with a sentence, for one that is none. */
bool proxies_read(gateway *gateway, char *error, size_t capacity);
bool proxies_trust(const gateway *gateway, const struct sockaddr_storage *address);
struct sockaddr_storage proxies_find_client(const gateway *gateway, const struct sockaddr_storage *peer,
                                            const struct request *request);

/* An HTTP request under way. READING its body, WAITING for an answer, WRITING it or STREAMING one that goes on, or
   LINGERING until the client has closed after the last byte. DOOMED: libwebsockets will close it. */
enum exchange_state { READING, WAITING, WRITING, STREAMING, LINGERING, DOOMED };

struct exchange {
  gateway *gateway;
  struct connection *connection;
  gateway_request_id id;
  enum exchange_state state;
  struct request *request;
  uint8_t *body;
  size_t body_length;
  lws_usec_t body_since;
  bool keep_alive;
  char *head;
  size_t head_length;
  struct answer *answer;
  size_t sent, total;
  struct stream *stream; /* until it is over */
  bool streamed;         /* there was one */
  bool reported;         /* `answered` was called */
  lws_usec_t give_up_at;
  lws_dll2_t unfinished;
};

bool exchange_begin(struct connection *connection, struct request *request);
bool exchange_refuse(struct connection *connection, struct request *request, const struct head_fault *fault);
size_t exchange_body(struct exchange *exchange, const uint8_t *bytes, size_t length);
void exchange_writable(struct exchange *exchange);
void exchange_answer(struct exchange *exchange, struct answer *answer); /* takes the answer */
void exchange_gone(struct connection *connection);
void exchange_watch(struct exchange *exchange, lws_usec_t now);
bool exchange_refuse_late(struct connection *connection); /* false when out of memory */
void exchange_finish(struct exchange *exchange);
void exchange_give_up(struct exchange *exchange);
void exchange_hang_up(struct exchange *exchange);

/* A channel: the first member of a session or a stream. */
struct channel;
struct channel_kind {
  bool is_stream;
  /* Whether a frame may still be queued; if so it is, and `queued` is called. */
  bool (*takes)(struct channel *channel, const gateway_frame *frame);
  void (*queued)(struct channel *channel, const gateway_frame *frame);
  /* There is no memory for a frame. */
  void (*fail)(struct channel *channel);
  /* Closes after what is queued. */
  void (*end)(struct channel *channel, uint16_t code, const char *reason);
  /* Twice a second. */
  void (*watch)(struct channel *channel, lws_usec_t now);
};

struct channel {
  gateway *gateway;
  const struct channel_kind *kind;
  gateway_channel_id id;
  struct load *load;

  /* Frames to write: a ring. */
  gateway_frame **frames;
  uint32_t first, count, capacity;
  uint32_t in_flight;     /* frames taken from the ring that the kernel does not have entirely */
  gateway_frame *few[4];  /* the ring of a channel that never had more queued */
  lws_usec_t taken_at;    /* when the peer last took something, or there was nothing to take */
};

bool channel_open(struct channel *channel, gateway *gateway, const struct channel_kind *kind);
void channel_close(struct channel *channel);
struct channel *channel_find(const gateway *gateway, gateway_channel_id id); /* NULL for one that is gone */
void channel_send(struct channel *channel, gateway_frame *frame);
gateway_frame *channel_frame(const struct channel *channel, uint32_t index);
gateway_frame *channel_take(struct channel *channel); /* the first frame, with its reference */
void channel_landed(struct channel *channel);         /* what was in flight is with the kernel */
void channels_dispatch(gateway *gateway, const struct dispatch *dispatch);
void channels_broadcast(gateway *gateway, gateway_frame *frame);
void channels_tell_drained(gateway *gateway);
void channels_load(gateway *gateway, const gateway_channel_id *channels, size_t count);
void channels_free(gateway *gateway);

struct stream *stream_open(struct exchange *exchange, const char *headers); /* NULL when out of memory */
void stream_end(struct stream *stream, gateway_frame *frame, struct answer *answer);
void stream_writable(struct stream *stream);
void stream_free(struct exchange *exchange);

char *answer_head(const struct answer *answer, bool keep_alive, size_t *length);
struct answer *answer_problem(int status, const char *title, const char *code, const char *detail,
                              const char *headers);
struct answer *answer_static(gateway *gateway, const struct request *request);

struct incoming {
  uint8_t header[14], mask[4], opcode;
  size_t header_length;
  bool is_final, is_open; /* open: its header is there */
  bool has_begun;         /* some of its payload is as well */
  uint64_t left;
  uint8_t control[CONTROL_BYTES];
  size_t control_length;
};

struct session {
  struct channel channel;
  struct connection *connection;

  size_t queued;         /* bytes of frames that have not left entirely */
  size_t sent;           /* of the first of them, what has */
  uint8_t control[2 + CONTROL_BYTES]; /* a control frame that is leaving */
  size_t control_length, control_sent;
  uint8_t pong[CONTROL_BYTES];
  int pong_length;       /* -1: none is due */
  lws_dll2_t due;        /* in the gateway's list */
  bool waits;            /* libwebsockets will call back when the socket has room */

  /* Reading: see flow.c. */
  unsigned pauses; /* why it is paused: PAUSED_BY_... */
  lws_usec_t paid_until;
  lws_dll2_t throttled; /* in the gateway's list while it has no token */

  /* The message being put together, and the frame that is being read: see messages.c. */
  struct incoming incoming;
  bool is_in_message, is_lost; /* lost: what comes cannot be understood any more */
  uint8_t *message;
  size_t message_length, message_capacity;

  /* Closing. `closing`: after what is queued. `ended`: the Close frame is laid out, nothing follows it. */
  bool closing, ended, peer_closed;
  uint16_t close_code;
  char *close_reason; /* NULL for none */
  lws_usec_t close_by;

  lws_usec_t heard_at; /* the last sign of life */
  uint64_t progress;   /* see socket_progress */
  bool pinged, ping_due;
};

const struct head_fault *handshake_fault(struct connection *connection, const struct request *request, const char **headers);
bool handshake_accept(struct connection *connection, const struct request *request);
bool session_open(struct connection *connection, struct request *request);
/* Why a session is not read. */
enum { PAUSED_BY_OUTBOX = 1, PAUSED_BY_RATE = 2, PAUSED_BY_CALLBACK = 4 };
void session_pause(struct session *session, unsigned reason);
void session_resume(struct session *session, unsigned reason);
void session_watch_outbox(struct session *session);
void session_take_token(struct session *session); /* a frame was received */
void flow_schedule(gateway *gateway);
void flow_keep_time(gateway *gateway);

size_t session_read(struct session *session, uint8_t *bytes, size_t length);
void session_answer_ping(struct session *session, const uint8_t *payload, size_t length);
void session_peer_closed(struct session *session, uint16_t code);
void session_write(struct session *session);
void session_writable(struct session *session);
void session_wants_to_write(struct session *session);
void sessions_write_due(gateway *gateway);
void session_close(struct session *session, uint16_t code, const char *reason);
void session_gone(struct session *session);
void session_heard(struct session *session);
void session_watch(struct channel *channel, lws_usec_t now);

int listener_open(gateway *gateway, char *error, size_t capacity);
bool listener_adopt(gateway *gateway);
int listener_accept(gateway *gateway);
void listener_close(gateway *gateway);

/* A reference that counts in the gateway's budget. Any thread. */
void frame_hold(gateway *gateway, gateway_frame *frame);
void frame_let_go(gateway *gateway, gateway_frame *frame);
void outgoing_add(gateway *gateway, size_t bytes);
void outgoing_remove(gateway *gateway, size_t bytes);
void outgoing_charge(gateway *gateway, struct answer *answer);
struct answer *outgoing_refusal(gateway *gateway);

/* A number that changes when the peer takes something; always 0 where the system does not say. */
uint64_t socket_progress(int descriptor);
/* How long a peer may take nothing of what is on its way to it. */
lws_usec_t read_patience(const gateway *gateway);

/* The bytes of a finished frame on the wire, header first. */
const uint8_t *frame_wire_bytes(const gateway_frame *frame);
const uint8_t *frame_payload(const gateway_frame *frame);
size_t frame_payload_length(const gateway_frame *frame);
bool utf8_is_valid(const uint8_t *bytes, size_t length);

/* The caller holds the lock under which contexts are made. */
bool loop_create_context(gateway *gateway, struct lws_context_creation_info *info);
bool loop_open_wake(gateway *gateway);
void loop_woken(gateway *gateway);
bool loop_wake(gateway *gateway);
bool loop_open_alarm(gateway *gateway);
void loop_alarm_rang(gateway *gateway);
void loop_wake_in(gateway *gateway, lws_usec_t microseconds); /* for what is scheduled with libwebsockets */
void loop_nudge(gateway *gateway);                            /* the same, at once */
bool loop_run_once(gateway *gateway, bool waits);             /* false when libwebsockets gave up */
void loop_destroy(gateway *gateway);

/* Closes the connection at the next turn of the loop, without a word to the peer. */
void doom(gateway *gateway, struct lws *wsi);
/* Reads from a connection again, and what was read before reading was paused. */
void resume_reading(gateway *gateway, struct lws *wsi);

/* Microseconds of a clock that never goes back: what deadlines and rates are measured by. */
lws_usec_t gateway_now(const gateway *gateway);

/* Any thread. */
bool on_service_thread(const gateway *gateway);

void gateway_log(gateway *gateway, int level, const char *format, ...) LWS_FORMAT(3);

#endif
