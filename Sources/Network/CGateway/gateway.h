/*
 * The gateway itself: what its C files share. Everything here belongs to the service thread, except where a comment
 * names a lock or says "any thread".
 *
 * Files know only those above them:
 *
 *   registry.c    ids
 *   gateway.c     the thread's clock and log, and how it hangs up
 *   frame.c       messages as bytes, and the memory of what is on its way out
 *   answer.c      answers to requests
 *   target.c      line breaks and NULs in a request's target
 *   request.c     a request, out of libwebsockets' table of headers
 *   socket.c      what only the kernel knows of a socket
 *   channel.c     sessions and streams alike: frames that wait, and who waits for them to leave
 *   loop.c        what the service thread waits with
 *   timer.c       what is to happen at some time
 *   tls.c         certificates
 *   commands.c    the queue through which other threads reach the service thread
 *   connection.c  accepted sockets: whose they are, and how long a request may take to come
 *   intake.c      what libwebsockets reads of a socket
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

#include "CGateway.h"
#include "registry.h"
#include "timer.h"

/* Bytes of a request that are read at once. */
#define RECEIVED_AT_ONCE ((size_t)16 * 1024)
/* Bytes of a WebSocket frame that libwebsockets hands on at once; each session has a buffer of that size. */
#define MESSAGE_PART_BYTES ((size_t)1024)
/* The longest head of a request: what libwebsockets keeps of it. */
#define HEAD_LIMIT (32 * 1024)
/* Frames that are due together are gathered up to this size and leave in one write. */
#define GATHER_BYTES ((size_t)64 * 1024)
/* How long a peer may take to read what is left and to answer a Close frame. */
#define CLOSE_PATIENCE_US (5 * (lws_usec_t)LWS_US_PER_SEC)
/* How long the last answers of a gateway that stops may take to leave. */
#define LAST_WORDS_US (500 * (lws_usec_t)LWS_US_PER_MS)
/* How often sessions and waiting requests are looked at for signs of life. */
#define WATCH_INTERVAL_US ((lws_usec_t)500000)

struct command;
struct connection;
struct load; /* see channel.c */
struct tls;  /* see tls.c */
/* An address, and in which of its counts a connection was entered and has to be left. All zero: in none. */
struct place {
  gateway_address address;
  gateway_entry entry;
};
struct command_list {
  struct command *items;
  size_t count, capacity;
};
enum { LOAD_BLOCKS = 2048 };

/* Each file's own state is here under its name; only that file and those below it use it. */
struct gateway {
  gateway_configuration configuration;
  void *context; /* of the callbacks */
  uint8_t *gather; /* GATHER_BYTES, behind LWS_PRE that are libwebsockets' */
  bool stopping;
  uint16_t stop_code;
  struct {
    atomic_uint_fast64_t address, rate, late, memory, stalled;
  } counters; /* read by any thread */

  /* Guards `commands` except `taken`, and which channel each load belongs to. */
  pthread_mutex_t lock;

  struct {
    struct registry all;
    lws_dll2_owner_t due; /* sessions that have something to write and no reason to wait for room */
    uint64_t drained_waiters; /* whose channels have drained in this turn of the loop */
    _Atomic(struct load *) loads[LOAD_BLOCKS]; /* any thread */
    atomic_uint sessions, streams; /* open now; any thread */
  } channels;

  struct {
    struct lws_context *lws;
    struct lws_vhost *vhost;
    void *events;      /* libev's loop, or NULL: libwebsockets calls poll */
    struct lws *wake;  /* the pipe's end that is read; other threads write to `wake_write` */
    struct lws *alarm; /* a timer as an event; NULL without libev */
    lws_usec_t alarm_at; /* when it goes off; 0: it does not */
    int wake_write;    /* -1: none yet. Set before the gateway runs */
  } loop;

  struct tls *tls; /* NULL for none */

  struct {
    pthread_cond_t started;
    enum { NOT_STARTED, STARTING, RUNNING, FAILED, ENDED } state;
    struct command_list waiting;
    bool wake_pending; /* the service thread has been woken and has not taken what waits yet */
    struct command_list taken;
  } commands;

  struct {
    struct connection **by_descriptor; /* `descriptors` of them */
    size_t descriptors;
    lws_dll2_owner_t awaiting; /* connections whose request's head is not complete */
    struct place accepting;    /* the peer of the connection being accepted */
  } connections;

  struct {
    struct registry all;
    lws_dll2_owner_t due;        /* exchanges that write when this turn of the loop ends */
    lws_dll2_owner_t unfinished; /* exchanges whose answer is being written, or waits to be read */
    struct timer pump;
  } exchanges;

  struct {
    gateway_frame *heartbeat;  /* for streams of events, or NULL */
    gateway_frame *empty_line; /* the heartbeat of other streams */
  } streams;

  struct {
    lws_dll2_owner_t throttled; /* sessions that are not read for a time */
    struct timer timer;
  } flow;

  struct {
    int descriptor; /* -1 once given to libwebsockets or closed */
    int spare;      /* a descriptor that is given up for a moment to turn a connection away when none are left */
    struct lws *wsi;
  } listener;

  struct {
    struct timer timer;
    lws_usec_t at; /* when what is still to be sent is given up */
  } ending;

  struct {
    pthread_t thread;
    bool serves; /* libwebsockets has been set up: what it logs from now on is about clients */
    struct timer watch;
  } life;
};

/* Any thread. */
bool on_service_thread(const gateway *gateway);
/* The gateway of the current service thread; NULL for none. */
gateway *gateway_of_thread(void);
void gateway_enter_thread(gateway *gateway); /* NULL: leaves it */

/* Microseconds of a clock that never goes back: what deadlines and rates are measured by. */
lws_usec_t gateway_now(const gateway *gateway);
void gateway_log(gateway *gateway, int level, const char *format, ...) LWS_FORMAT(3);

/* How long a peer may go without reading anything of the data on its way to it. */
lws_usec_t read_patience(const gateway *gateway);

#endif
