// bare-server DATABASE: the least that a libwebsockets server can do about a commit of another process. Prints its
// port; whenever inotify reports a write to the database's log, it sends 200 bytes to every connection.

#include <libwebsockets.h>

#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { MESSAGE = 200 };

static int handle_live(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
  (void)user, (void)in, (void)length;
  unsigned char buffer[LWS_PRE + MESSAGE];
  if (reason != LWS_CALLBACK_SERVER_WRITEABLE) return 0;
  memset(buffer + LWS_PRE, ' ', MESSAGE);
  return lws_write(wsi, buffer + LWS_PRE, MESSAGE, LWS_WRITE_TEXT) < MESSAGE ? -1 : 0;
}

static int handle_writes(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
  (void)user, (void)in, (void)length;
  char events[4096];
  if (reason != LWS_CALLBACK_RAW_RX_FILE) return 0;
  if (read(lws_get_socket_fd(wsi), events, sizeof events) <= 0) return -1;
  lws_callback_on_writable_all_protocol(lws_get_context(wsi), lws_vhost_name_to_protocol(lws_get_vhost(wsi), "freshet.v1"));
  return 0;
}

static const struct lws_protocols protocols[] = {
    {.name = "freshet.v1", .callback = handle_live},
    {.name = "writes", .callback = handle_writes},
    {0},
};

static struct lws_vhost *vhost;


int main(int argc, char **argv) {
  if (argc != 2) return 2;
  char log[4096];
  snprintf(log, sizeof log, "%s-wal", argv[1]);
  lws_set_log_level(LLL_ERR, NULL);
  struct lws_context_creation_info info = {
      .port = 0, .iface = "127.0.0.1", .protocols = protocols, .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
      .gid = (gid_t)-1, .uid = (uid_t)-1};
  struct lws_context *context = lws_create_context(&info);
  if (!context || !(vhost = lws_create_vhost(context, &info))) return 1;
  lws_sock_file_fd_type watch = {.filefd = inotify_init1(IN_NONBLOCK)};
  if (inotify_add_watch(watch.filefd, log, IN_MODIFY) < 0) {
    perror(log);
    return 1;
  }
  if (!lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, watch, "writes", NULL)) return 1;
  printf("%d\n", lws_get_vhost_listen_port(vhost));
  fflush(stdout);
  while (lws_service(context, 0) >= 0) {}
  return 0;
}
