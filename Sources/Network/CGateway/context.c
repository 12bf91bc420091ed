/*
 * Life and death of a gateway and its service thread.
 *
 * The libwebsockets context is made, run and destroyed on the service thread, so that no other thread ever touches it.
 * Other threads wake it through a pipe (loop.c).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "channel.h"
#include "connection.h"
#include "dispatch.h"
#include "exchange.h"
#include "flow.h"
#include "gateway.h"
#include "listener.h"
#include "loop.h"
#include "protocol.h"
#include "session.h"
#include "tls.h"

/* Contexts are made and destroyed one at a time: libwebsockets does not promise that its process-wide state (log level,
   TLS library) tolerates several at once. */
static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;

/* Its warnings about clients do not concern the operator. */
static void log_line(int level, const char *line) {
  int length = (int)strcspn(line, "\n");
  gateway *gateway = gateway_of_thread();
  if (gateway) gateway_log(gateway, gateway->life.serves ? 3 : level == LLL_ERR ? 0 : 1, "libwebsockets: %.*s", length, line);
}

/* libwebsockets' own timeout, longer than the gateway's deadline, so that the gateway comes first and may answer. */
static unsigned int seconds_after(int milliseconds) { return milliseconds > 0 ? (unsigned int)milliseconds / 1000 + 20 : 3600; }

/* All zero: libwebsockets' own keep-alive stays off; see session.c. */
static const lws_retry_bo_t no_keepalive = {0};

static bool make_context(gateway *gateway, struct lws_protocols protocols[2]) {
  struct lws_context_creation_info info = {
      .port = CONTEXT_PORT_NO_LISTEN_SERVER,
      .protocols = protocols,
      .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
      .retry_and_idle_policy = &no_keepalive,
      .pt_serv_buf_size = RECEIVED_AT_ONCE + LWS_PRE,
      .max_http_header_data = HEAD_LIMIT,
      /* A table for every possible connection, made when its first byte comes: clients that send half a head and wait
         do not block others. */
      .max_http_header_pool = UINT16_MAX,
      .timeout_secs = seconds_after(gateway->configuration.body_timeout),
      .timeout_secs_ah_idle = seconds_after(gateway->configuration.head_timeout),
      .keepalive_timeout = 60,
      .gid = -1,
      .uid = -1,
  };
  if (gateway->tls) {
    /* Plain HTTP to the port of TLS gets an answer that says so, instead of a closed connection: see exchange.c. */
    info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX |
                    LWS_SERVER_OPTION_ALLOW_NON_SSL_ON_SSL_PORT | LWS_SERVER_OPTION_ALLOW_HTTP_ON_HTTPS_LISTENER;
    /* With h2 a client of 256 event streams would end the process by an assertion of libwebsockets (4.1 to 4.3). */
    info.alpn = "http/1.1";
  }
  lws_set_log_level(LLL_ERR | LLL_WARN, log_line);
  if (!loop_create_context(gateway, &info)) return false;
  lws_set_log_level(LLL_ERR | LLL_WARN, log_line);
  gateway->loop.vhost = lws_create_vhost(gateway->loop.lws, &info);
  return gateway->loop.vhost && listener_adopt(gateway) && loop_open_wake(gateway) && loop_open_alarm(gateway);
}

static void fire_watch(gateway *gateway) {
  lws_usec_t now = gateway_now(gateway);
  for (uint32_t i = 0; i < gateway->channels.all.count; i++) {
    struct channel *channel = gateway->channels.all.entries[i].object;
    if (channel) channel->kind->watch(channel, now);
  }
  exchanges_watch(gateway, now);
  connections_watch(gateway, now, exchange_refuse_late);
  gateway->configuration.callbacks.ticked(gateway->context);
  timer_set(gateway, &gateway->life.watch, WATCH_INTERVAL_US, fire_watch);
}

static bool is_finished(gateway *gateway) {
  if (!gateway->stopping) return false;
  bool is_idle = !gateway->channels.all.live && !gateway->exchanges.unfinished.count && !exchanges_wait(gateway);
  if (is_idle || lws_now_usecs() < gateway->ending.at) return is_idle;
  /* Clients that wait for an answer still get one. */
  if (!exchanges_refuse_waiting(gateway)) return true;
  gateway->ending.at = lws_now_usecs() + LAST_WORDS_US;
  return false;
}

static void set_state(gateway *gateway, int state) {
  pthread_mutex_lock(&gateway->lock);
  gateway->commands.state = state;
  pthread_cond_signal(&gateway->commands.started);
  pthread_mutex_unlock(&gateway->lock);
}

static void destroy_context(gateway *gateway) {
  timer_cancel(&gateway->life.watch);
  timer_cancel(&gateway->ending.timer);
  timer_cancel(&gateway->flow.timer);
  timer_cancel(&gateway->exchanges.pump);
  pthread_mutex_lock(&context_lock);
  if (gateway->loop.lws) lws_context_destroy(gateway->loop.lws);
  loop_destroy(gateway);
  pthread_mutex_unlock(&context_lock);
  gateway->loop.lws = NULL;
}

/* Callbacks may have given more to do since. */
static bool has_work(gateway *gateway) { return commands_wait(gateway) || gateway->channels.due.count || gateway->exchanges.due.count; }

static void *serve(void *argument) {
  gateway *gateway = argument;
  struct lws_protocols protocols[2] = {
      {.name = gateway->configuration.subprotocol,
       .callback = protocol_call,
       .rx_buffer_size = MESSAGE_PART_BYTES,
       .tx_packet_size = GATHER_BYTES},
  };
  gateway_enter_thread(gateway);
  pthread_mutex_lock(&context_lock);
  bool made = make_context(gateway, protocols);
  pthread_mutex_unlock(&context_lock);
  if (made) {
    gateway->life.serves = true;
    fire_watch(gateway);
    set_state(gateway, RUNNING);
    do {
      commands_run(gateway, dispatch_command);
      sessions_write_due(gateway);
      exchanges_write_due(gateway);
      channels_tell_drained(gateway);
      timer_keep(&gateway->life.watch);
      timer_keep(&gateway->ending.timer);
      timer_keep(&gateway->flow.timer);
      timer_keep(&gateway->exchanges.pump);
    } while (!is_finished(gateway) && loop_run_once(gateway, !has_work(gateway)));
  }
  commands_end(gateway);
  destroy_context(gateway);
  if (!made) set_state(gateway, FAILED);
  gateway_enter_thread(NULL);
  return NULL;
}

/*
 * libwebsockets sizes its tables by the limit of open files: 1,024 are too few, and the billion that some container
 * runtimes set would take gigabytes.
 */
static void set_up_process(void) {
  const rlim_t wanted = 65536, most = 1048576;
  struct rlimit files;
  struct sigaction pipe;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    rlim_t limit = files.rlim_cur < wanted ? wanted : files.rlim_cur > most ? most : files.rlim_cur;
    if (limit > files.rlim_max) limit = files.rlim_max;
    if (limit != files.rlim_cur) {
      files.rlim_cur = limit;
      setrlimit(RLIMIT_NOFILE, &files);
    }
  }
  if (sigaction(SIGPIPE, NULL, &pipe) == 0 && pipe.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

static gateway_frame *heartbeat_frame(const char *text) {
  size_t length = strlen(text);
  uint8_t *block = length ? malloc(GATEWAY_FRAME_HEADROOM + length) : NULL;
  if (!block) return NULL;
  memcpy(block + GATEWAY_FRAME_HEADROOM, text, length);
  gateway_frame *frame = gateway_frame_create(block, length, free);
  if (!frame) free(block);
  return frame;
}

gateway *gateway_create(const gateway_configuration *configuration) {
  gateway *gateway = calloc(1, sizeof *gateway);
  if (!gateway) return NULL;
  set_up_process();
  pthread_mutex_init(&gateway->lock, NULL);
  pthread_cond_init(&gateway->commands.started, NULL);
  gateway->configuration = *configuration;
  gateway->loop.wake_write = -1;
  gateway->channels.all = gateway->exchanges.all = (struct registry){.first = configuration->number, .step = configuration->count};
  gateway->gather = malloc(LWS_PRE + GATHER_BYTES);
  gateway->streams.heartbeat = heartbeat_frame(configuration->heartbeat);
  gateway->streams.empty_line = heartbeat_frame("\n");
  gateway->tls = configuration->certificate ? tls_with(configuration->certificate) : NULL;
  listener_open(gateway);
  if (gateway->gather && (gateway->tls || !configuration->certificate)) return gateway;
  gateway_free(gateway);
  return NULL;
}

bool gateway_start(gateway *gateway, void *context, char *error, size_t capacity) {
  gateway->context = context;
  /* Commands may be queued before the thread has started. */
  pthread_mutex_lock(&gateway->lock);
  gateway->commands.state = STARTING;
  pthread_mutex_unlock(&gateway->lock);
  int problem = pthread_create(&gateway->life.thread, NULL, serve, gateway);
  if (problem) {
    snprintf(error, capacity, "cannot start a thread: %s", strerror(problem));
    return false;
  }
  pthread_mutex_lock(&gateway->lock);
  while (gateway->commands.state == STARTING) pthread_cond_wait(&gateway->commands.started, &gateway->lock);
  bool running = gateway->commands.state == RUNNING;
  pthread_mutex_unlock(&gateway->lock);
  if (running) return true;
  pthread_join(gateway->life.thread, NULL);
  snprintf(error, capacity, "libwebsockets could not be started");
  return false;
}

void *gateway_join(gateway *gateway) {
  pthread_join(gateway->life.thread, NULL);
  return gateway->context;
}

gateway_counters gateway_count(const gateway *gateway) {
  return (gateway_counters){.address = gateway->counters.address, .rate = gateway->counters.rate,
                            .late = gateway->counters.late,
                            .memory = gateway->counters.memory,
                            .stalled = gateway->counters.stalled,
                            .sessions = gateway->channels.sessions,
                            .streams = gateway->channels.streams};
}

void gateway_free(gateway *gateway) {
  if (gateway->streams.heartbeat) gateway_frame_release(gateway->streams.heartbeat);
  if (gateway->streams.empty_line) gateway_frame_release(gateway->streams.empty_line);
  if (gateway->listener.descriptor >= 0) close(gateway->listener.descriptor);
  if (gateway->listener.spare >= 0) close(gateway->listener.spare);
  if (gateway->loop.wake_write >= 0) close(gateway->loop.wake_write);
  commands_free(gateway);
  channels_free(gateway);
  free(gateway->exchanges.all.entries);
  free(gateway->connections.by_descriptor);
  free(gateway->gather);
  tls_free(gateway->tls);
  pthread_cond_destroy(&gateway->commands.started);
  pthread_mutex_destroy(&gateway->lock);
  free(gateway);
}
