/*
 * The gateway itself: what its C files share. Everything here belongs to the service thread, except where a comment names
 * a lock or says "any thread".
 *
 * Files know only those above them:
 *
 *   registry.c    ids
 *   utf8.c        what text is
 *   gateway.c     the thread's clock and log, and how it hangs up
 *   frame.c       messages as bytes, and the memory of what is on its way out
 *   answer.c      answers to requests
 *   request.c     a request, out of libwebsockets' table of headers
 *   address.c     how many connections an address has
 *   socket.c      what only the kernel knows of a socket
 *   channel.c     sessions and streams alike: frames that wait, and who waits for them to leave
 *   loop.c        what the service thread waits with
 *   timer.c       what is to happen at some time
 *   tls.c         certificates
 *   commands.c    the queue through which other threads reach the service thread
 *   target.c      line breaks and NULs in a request's target
 *   connection.c  accepted sockets: whose they are, and how long a request may take to come
 *   static.c      files of the public directory
 *   exchange.c    one HTTP request and its answer
 *   stream.c      answers that go on
 *   flow.c        when a session is read
 *   session.c     WebSocket sessions: frames out, closing, who is still there
 *   messages.c    messages in
 *   handshake.c   which sessions there may be
 *   listener.c    the listening socket
 *   protocol.c    what libwebsockets calls back
 *   dispatch.c    what other threads ask for
 *   context.c     life and death of a gateway and its thread
 */
#ifndef CGATEWAY_GATEWAY_H
#define CGATEWAY_GATEWAY_H

#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "CGateway.h"
#include "registry.h"
#include "timer.h"

/* What is read at once of a request. */
#define RECEIVED_AT_ONCE ((size_t)16 * 1024)
/* What libwebsockets hands on at once of a WebSocket frame; each session has a buffer of that size. */
#define MESSAGE_PART_BYTES ((size_t)1024)
/* The longest head of a request: what libwebsockets keeps of it. */
#define HEAD_LIMIT (32 * 1024)
/* What is due together is gathered up to this size and leaves in one write. */
#define GATHER_BYTES ((size_t)64 * 1024)
/* How long a peer may take to read what is left and to answer a Close frame. */
#define CLOSE_PATIENCE_US (5 * (lws_usec_t)LWS_US_PER_SEC)
/* How long the last answers of a gateway that stops may take to leave. */
#define LAST_WORDS_US (500 * (lws_usec_t)LWS_US_PER_MS)
/* How often sessions and waiting requests are looked at for signs of life. */
#define WATCH_INTERVAL_US ((lws_usec_t)500000)

struct command;
struct connection;
struct command_list {
  struct command *items;
  size_t count, capacity;
};

struct address; /* see address.c */
struct load;    /* see channel.c */
struct tls;     /* see tls.c */
enum { ADDRESS_LISTS = 4096, LOAD_BLOCKS = 2048 };

struct gateway {
  /* Constant after gateway_create. */
  gateway_configuration configuration; /* its strings are owned */
  char *root;                          /* real path of the public directory, or NULL */
  gateway_frame *heartbeat;            /* of streams of events, or NULL */
  gateway_frame *empty_line;           /* of other streams */
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
  atomic_size_t outgoing;        /* bytes on their way out */
  atomic_uint sessions, streams; /* open now */
  _Atomic(struct load *) loads[LOAD_BLOCKS];

  /* Service thread. */
  bool serves; /* libwebsockets has been set up: what it logs from now on is about clients */
  struct command_list taken;
  struct registry channels;  /* struct channel */
  struct registry exchanges; /* struct exchange */
  lws_dll2_owner_t due;      /* sessions that have something to write and no reason to wait for room */
  lws_dll2_owner_t due_exchanges; /* exchanges likewise */
  uint64_t drained_waiters;  /* whose channels have drained in this turn of the loop */
  struct connection **by_descriptor; /* `descriptors` of them */
  size_t descriptors;
  lws_dll2_owner_t awaiting; /* connections whose request's head is not there yet */
  struct address *addresses[ADDRESS_LISTS];
  uint64_t address_seed;
  const gateway_address *accepting; /* who is being taken on */
  int listening_socket;      /* -1 once given to libwebsockets or closed */
  int spare_descriptor;      /* given up for a moment to turn a connection away when descriptors run out */
  struct lws *listener;
  struct lws *wake;          /* the end of a pipe that is read; what other threads write to is `wake_write` */
  struct lws *alarm;         /* a timer as an event; NULL without libev */
  lws_usec_t alarm_at;       /* when it goes off; 0: it does not */
  struct tls *tls;           /* NULL for none */
  uint8_t *gather;           /* GATHER_BYTES, behind LWS_PRE that are libwebsockets' */
  struct timer watch_timer, stop_timer, throttle_timer, pump_timer;
  lws_dll2_owner_t throttled; /* sessions that are not read until they have a token */
  lws_dll2_owner_t unfinished; /* exchanges whose answer is being written, or waits to be read */
  struct {
    atomic_uint_fast64_t address, rate, late, memory, stalled;
  } counters; /* read by any thread */
  bool stopping;
  uint16_t stop_code;
  lws_usec_t stop_at;
};

/* Any thread. */
bool on_service_thread(const gateway *gateway);
/* Whose service thread this is; NULL for none. */
gateway *gateway_of_thread(void);
void gateway_enter_thread(gateway *gateway); /* NULL: leaves it */

/* Microseconds of a clock that never goes back: what deadlines and rates are measured by. */
lws_usec_t gateway_now(const gateway *gateway);
void gateway_log(gateway *gateway, int level, const char *format, ...) LWS_FORMAT(3);

/* Has libwebsockets call back as if the socket were known to have room, now and with nothing to read. */
void offer_room(gateway *gateway, struct lws *wsi);
/* How long a peer may take nothing of what is on its way to it. */
lws_usec_t read_patience(const gateway *gateway);

#endif
