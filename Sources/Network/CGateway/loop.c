/*
 * What the service thread waits with.
 *
 * libwebsockets' own loop calls poll, whose cost grows with the connections that are open: about 0.1 µs for each, every
 * time. Its plugin for libev waits with epoll, which costs nothing for those that nothing happens to. Plugin and libev
 * are loaded when they are installed, and are not needed otherwise. The loop is ours (a "foreign" one to
 * libwebsockets), because one of its own would take SIGINT, and would not return between events.
 *
 * The plugin (4.1 to 4.3) moves its timer only when that has fired or after an event. Whatever is to happen sooner than
 * what it waits for has to be an event itself: hence `loop_wake_in` and `loop_nudge`.
 */
#define _GNU_SOURCE /* dladdr */
#include "loop.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/timerfd.h>
#endif

/* libev's interface as of version 4, whose header is not needed for this. */
enum { RUN_WITHOUT_WAITING = 1, RUN_ONCE = 2 };
static struct {
  void *(*create)(unsigned int flags);
  int (*run)(void *loop, int flags);
  void (*destroy)(void *loop);
} libev;

/*
 * Whether the plugin is of the same build as libwebsockets: it lies in the folder that libwebsockets was loaded from.
 * libwebsockets itself looks in the folder that it was built for. In a Python wheel these differ, and the machine may
 * have the plugin of another version there.
 */
static bool has_plugin(void) {
  Dl_info library;
  char plugin[PATH_MAX];
  if (!dladdr((void *)lws_create_context, &library) || !library.dli_fname) return false;
  const char *end = strrchr(library.dli_fname, '/');
  if (!end) return false;
  int length = snprintf(plugin, sizeof plugin, "%.*s/libwebsockets-evlib_ev.so", (int)(end - library.dli_fname), library.dli_fname);
  return length > 0 && (size_t)length < sizeof plugin && access(plugin, R_OK) == 0;
}

/* The caller holds the lock under which contexts are made. */
static bool load_libev(void) {
  if (libev.create) return true;
  if (!has_plugin()) return false;
  void *library = dlopen("libev.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  *(void **)&libev.run = dlsym(library, "ev_run");
  *(void **)&libev.destroy = dlsym(library, "ev_loop_destroy");
  if (libev.run && libev.destroy) *(void **)&libev.create = dlsym(library, "ev_loop_new");
  return libev.create != NULL;
}

bool loop_create_context(gateway *gateway, struct lws_context_creation_info *info) {
#ifdef __linux__
  uint64_t options = info->options;
  if (load_libev() && (gateway->loop.events = libev.create(0))) {
    info->foreign_loops = &gateway->loop.events;
    info->options |= LWS_SERVER_OPTION_LIBEV;
    lws_set_log_level(0, NULL); /* that the plugin is missing is no error */
    gateway->loop.lws = lws_create_context(info);
    if (gateway->loop.lws) return true;
    info->foreign_loops = NULL;
    info->options = options;
    loop_destroy(gateway);
  }
  gateway_log(gateway, 2, "libwebsockets-evlib-ev is not installed: many idle connections will cost processor time");
#endif
  gateway->loop.lws = lws_create_context(info);
  return gateway->loop.lws != NULL;
}

bool loop_open_alarm(gateway *gateway) {
#ifdef __linux__
  if (!gateway->loop.events) return true;
  lws_sock_file_fd_type descriptor = {.filefd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
  if (descriptor.filefd < 0) return false;
  /* Closes the descriptor itself when it fails. */
  gateway->loop.alarm = lws_adopt_descriptor_vhost(gateway->loop.vhost, LWS_ADOPT_RAW_FILE_DESC, descriptor,
                                              gateway->configuration.subprotocol, NULL);
  return gateway->loop.alarm != NULL;
#else
  (void)gateway;
  return true;
#endif
}

/* Work that is due is done after every event; this only has to be an event. */
void loop_alarm_rang(gateway *gateway) {
  uint64_t times;
  gateway->loop.alarm_at = 0;
  if (read(lws_get_socket_fd(gateway->loop.alarm), &times, sizeof times) < 0) return;
}

/* There is one alarm, set to the earliest time. Later times are not remembered: unless they are asked for again, their
   work is done when the sessions are checked, at most WATCH_INTERVAL_US too late. */
void loop_wake_in(gateway *gateway, lws_usec_t microseconds) {
#ifdef __linux__
  lws_usec_t at = lws_now_usecs() + microseconds;
  if (!gateway->loop.alarm || (gateway->loop.alarm_at && gateway->loop.alarm_at <= at)) return;
  struct itimerspec when = {.it_value = {.tv_sec = microseconds / LWS_US_PER_SEC,
                                         .tv_nsec = microseconds % LWS_US_PER_SEC * 1000 + 1}};
  if (timerfd_settime(lws_get_socket_fd(gateway->loop.alarm), 0, &when, NULL) == 0) gateway->loop.alarm_at = at;
#else
  (void)gateway, (void)microseconds;
#endif
}

/* A pipe of our own in the place of lws_cancel_service, which does not say when its write has failed. */
bool loop_open_wake(gateway *gateway) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  for (int i = 0; i < 2; i++) {
    fcntl(ends[i], F_SETFL, fcntl(ends[i], F_GETFL) | O_NONBLOCK);
    fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  }
  gateway->loop.wake_write = ends[1];
  lws_sock_file_fd_type descriptor = {.filefd = ends[0]};
  /* Closes the descriptor itself when it fails. */
  gateway->loop.wake = lws_adopt_descriptor_vhost(gateway->loop.vhost, LWS_ADOPT_RAW_FILE_DESC, descriptor,
                                             gateway->configuration.subprotocol, NULL);
  return gateway->loop.wake != NULL;
}

/* The service thread, when the pipe can be read. Bytes that cannot be read now are read in the next turn. */
void loop_woken(gateway *gateway) {
  char bytes[256];
  while (read(lws_get_socket_fd(gateway->loop.wake), bytes, sizeof bytes) == (ssize_t)sizeof bytes) continue;
}

/* Any thread, while the gateway runs. False: the loop looks by itself within WATCH_INTERVAL_US. */
bool loop_wake(gateway *gateway) {
  for (int tries = 0; tries < 3; tries++) {
    /* A full pipe is readable. */
    if (write(gateway->loop.wake_write, "", 1) == 1 || errno == EAGAIN) return true;
  }
  return false;
}

void loop_nudge(gateway *gateway) {
  if (gateway->loop.events) loop_wake(gateway);
}

bool loop_run_once(gateway *gateway, bool waits) {
  if (!gateway->loop.events) return lws_service(gateway->loop.lws, waits ? 0 : -1) >= 0;
  libev.run(gateway->loop.events, waits ? RUN_ONCE : RUN_WITHOUT_WAITING);
  return true;
}

/* After the context. */
void loop_destroy(gateway *gateway) {
  if (gateway->loop.events) libev.destroy(gateway->loop.events);
  gateway->loop.events = NULL;
}

void doom(gateway *gateway, struct lws *wsi) {
  lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
  loop_nudge(gateway);
}

void resume_reading(gateway *gateway, struct lws *wsi) {
  lws_rx_flow_control(wsi, 1);
  loop_nudge(gateway);
}

void offer_room(gateway *gateway, struct lws *wsi) {
  struct lws_pollfd ready = {.fd = lws_get_socket_fd(wsi), .events = POLLOUT, .revents = POLLOUT};
  lws_service_fd(gateway->loop.lws, &ready);
}
