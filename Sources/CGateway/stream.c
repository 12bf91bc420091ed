/*
 * Streams: HTTP answers that go on until one side ends them (server-sent events).
 *
 * An exchange does not read while it is answered, and libwebsockets' HTTP code calls back for writing only on what it also
 * reads from (see exchange.c). So a second descriptor of the socket is watched as libwebsockets watches files: that one
 * says when the kernel has room and when the client has left. Frames lie in a ring until then and leave with one sendmsg
 * for several of them, each a chunk of its own for clients of HTTP/1.1. Nothing is copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "internal.h"

/* Frames that one sendmsg takes: three parts each, well below the kernel's 1,024. */
enum { GATHERED_FRAMES = 32 };

static const char chunk_end[] = "\r\n";
static const char last_chunk[] = "0\r\n\r\n";

/* One frame on its way, with the chunked coding around it; without a frame, the end of the chunked coding. */
struct chunk {
  gateway_frame *frame;
  char head[20];
  uint8_t head_length, tail_length;
};

struct stream {
  struct exchange *exchange;
  struct lws *watcher; /* NULL once it is closed */
  bool chunked;

  /* Chunks to write: a ring. `sent` bytes of the first are with the kernel. */
  struct chunk *chunks;
  uint32_t first, count, capacity;
  size_t sent;
  bool owes_drained; /* frames were queued since `drained` was last called */
  bool ending;       /* nothing follows what is queued */

  lws_usec_t wrote_at; /* when the kernel last took something */
  lws_sorted_usec_list_t rearm_timer;
};

static size_t chunk_length(const struct chunk *chunk) {
  return chunk->head_length + (chunk->frame ? frame_payload_length(chunk->frame) : 0) + chunk->tail_length;
}

static struct chunk *chunk_at(struct stream *stream, uint32_t index) {
  return &stream->chunks[(stream->first + index) % stream->capacity];
}

static bool make_room(struct stream *stream) {
  if (stream->count < stream->capacity) return true;
  uint32_t capacity = stream->capacity ? stream->capacity * 2 : 8;
  struct chunk *chunks = malloc(capacity * sizeof *chunks);
  if (!chunks) return false;
  for (uint32_t i = 0; i < stream->count; i++) chunks[i] = *chunk_at(stream, i);
  free(stream->chunks);
  stream->chunks = chunks;
  stream->capacity = capacity;
  stream->first = 0;
  return true;
}

/* Queues a frame, or with NULL the end of the chunked coding. Takes the reference. */
static void enqueue(struct stream *stream, gateway_frame *frame) {
  if (!make_room(stream)) {
    if (frame) frame_let_go(stream->exchange->gateway, frame);
    exchange_give_up(stream->exchange);
    return;
  }
  /* From an empty queue the time that the client has to read begins anew. */
  if (!stream->count) stream->wrote_at = gateway_now(stream->exchange->gateway);
  struct chunk *chunk = chunk_at(stream, stream->count++);
  *chunk = (struct chunk){.frame = frame};
  if (!frame) {
    chunk->head_length = (uint8_t)snprintf(chunk->head, sizeof chunk->head, "%s", last_chunk);
  } else if (stream->chunked) {
    int length = snprintf(chunk->head, sizeof chunk->head, "%zx\r\n", frame_payload_length(frame));
    chunk->head_length = (uint8_t)length;
    chunk->tail_length = sizeof chunk_end - 1;
  }
  if (stream->watcher) lws_callback_on_writable(stream->watcher);
}

static void drop_first(struct stream *stream) {
  struct chunk *chunk = chunk_at(stream, 0);
  if (chunk->frame) frame_let_go(stream->exchange->gateway, chunk->frame);
  stream->first = (stream->first + 1) % stream->capacity;
  stream->count -= 1;
}

/* Ends what the exchange has of the stream. */
void stream_free(struct exchange *exchange) {
  struct stream *stream = exchange->stream;
  gateway *gateway = exchange->gateway;
  if (!stream) return;
  exchange->stream = NULL;
  gateway->streams -= 1;
  lws_sul_cancel(&stream->rearm_timer);
  if (stream->watcher) {
    lws_set_wsi_user(stream->watcher, NULL);
    doom(gateway, stream->watcher);
  }
  while (stream->count) drop_first(stream);
  free(stream->chunks);
  free(stream);
  gateway->configuration.callbacks.closed(gateway->context, gateway_stream_of(exchange->id));
}

static bool watch_socket(struct stream *stream) {
  gateway *gateway = stream->exchange->gateway;
  int descriptor = fcntl(lws_get_socket_fd(stream->exchange->connection->wsi), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return false;
  lws_sock_file_fd_type second = {.filefd = descriptor};
  /* Closes the descriptor itself when it fails. */
  stream->watcher = lws_adopt_descriptor_vhost(gateway->vhost, LWS_ADOPT_RAW_FILE_DESC, second,
                                               gateway->configuration.subprotocol, NULL);
  if (stream->watcher) lws_set_wsi_user(stream->watcher, stream);
  return stream->watcher != NULL;
}

/* A client that is gone without a word is noticed by what it does not acknowledge. */
static void limit_patience(const gateway *gateway, int descriptor) {
#ifdef TCP_USER_TIMEOUT
  unsigned int milliseconds = (unsigned int)(read_patience(gateway) / LWS_US_PER_MS);
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
#else
  (void)gateway, (void)descriptor;
#endif
}

/* The head fits: nothing is in the send buffer of a connection whose request was just read. */
static bool send_head(struct exchange *exchange, struct answer *answer) {
  int descriptor = lws_get_socket_fd(exchange->connection->wsi);
  size_t length = 0;
  char *head = answer_head(answer, false, &length);
  bool sent = head && send(descriptor, head, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
  free(head);
  return sent;
}

/* Takes the answer, of which there is only the head; NULL stands for one that there was no memory for. */
void stream_begin(struct exchange *exchange, struct answer *answer) {
  gateway *gateway = exchange->gateway;
  exchange->keep_alive = false;
  if (answer) answer->is_chunked = exchange->request->is_modern;
  if (exchange->request->is_head) {
    exchange_answer(exchange, answer);
    return;
  }
  struct stream *stream = calloc(1, sizeof *stream);
  if (stream) {
    *stream = (struct stream){.exchange = exchange, .chunked = exchange->request->is_modern};
    stream->wrote_at = gateway_now(gateway);
    exchange->state = STREAMING;
    exchange->stream = stream;
    exchange->streamed = true;
    gateway->streams += 1;
  }
  if (!stream || !answer || !send_head(exchange, answer) || !watch_socket(stream)) {
    exchange_give_up(exchange);
  } else {
    limit_patience(gateway, lws_get_socket_fd(exchange->connection->wsi));
    if (gateway->stopping) stream_end(stream);
  }
  answer_free(answer);
}

void stream_send(struct stream *stream, gateway_frame *frame) {
  /* An empty chunk would be the end. */
  if (stream->ending || !frame_payload_length(frame)) {
    frame_let_go(stream->exchange->gateway, frame);
    return;
  }
  stream->owes_drained = true;
  enqueue(stream, frame);
}

void stream_end(struct stream *stream) {
  if (stream->ending) return;
  stream->ending = true;
  if (stream->chunked) {
    enqueue(stream, NULL);
  } else if (stream->watcher) {
    lws_callback_on_writable(stream->watcher);
  }
}

static int gather(struct stream *stream, struct iovec *parts) {
  int count = 0;
  size_t skip = stream->sent;
  for (uint32_t i = 0; i < stream->count && i < GATHERED_FRAMES; i++) {
    struct chunk *chunk = chunk_at(stream, i);
    struct iovec whole[3] = {
        {chunk->head, chunk->head_length},
        {chunk->frame ? gateway_frame_payload(chunk->frame) : NULL,
         chunk->frame ? frame_payload_length(chunk->frame) : 0},
        {(char *)(uintptr_t)chunk_end, chunk->tail_length},
    };
    for (int part = 0; part < 3; part++) {
      size_t skipped = skip < whole[part].iov_len ? skip : whole[part].iov_len;
      skip -= skipped;
      if (skipped == whole[part].iov_len) continue;
      parts[count++] = (struct iovec){(char *)whole[part].iov_base + skipped, whole[part].iov_len - skipped};
    }
  }
  return count;
}

static void account(struct stream *stream, size_t written) {
  stream->wrote_at = gateway_now(stream->exchange->gateway);
  stream->sent += written;
  while (stream->count && stream->sent >= chunk_length(chunk_at(stream, 0))) {
    stream->sent -= chunk_length(chunk_at(stream, 0));
    drop_first(stream);
  }
}

/* As much as the kernel takes. False when the client is gone. */
static bool write_some(struct stream *stream) {
  int descriptor = lws_get_socket_fd(stream->exchange->connection->wsi);
  while (stream->count) {
    struct iovec parts[3 * GATHERED_FRAMES];
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)gather(stream, parts)};
    ssize_t written = sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    account(stream, (size_t)written);
  }
  return true;
}

static void fire_rearm(lws_sorted_usec_list_t *timer) {
  struct stream *stream = lws_container_of(timer, struct stream, rearm_timer);
  if (stream->watcher) lws_callback_on_writable(stream->watcher);
}

/* LWS_CALLBACK_RAW_WRITEABLE_FILE. */
static void writable(struct stream *stream) {
  struct exchange *exchange = stream->exchange;
  gateway *gateway = exchange->gateway;
  if (!write_some(stream)) {
    exchange_give_up(exchange);
  } else if (stream->count) {
    /* Not from within the callback: libwebsockets 4.1 forgets what it is asked there. */
    lws_sul_schedule(gateway->lws, 0, &stream->rearm_timer, fire_rearm, 1);
  } else if (stream->ending) {
    stream_free(exchange);
    exchange_finish(exchange);
  } else if (stream->owes_drained) {
    stream->owes_drained = !channel_note_drained(gateway, gateway_stream_of(exchange->id));
  }
}

/* LWS_CALLBACK_RAW_RX_FILE: the client has left, or says something that nobody is interested in: not to read it would keep
   its end from being noticed. */
static void readable(struct stream *stream) {
  char discarded[4096];
  ssize_t count = recv(lws_get_socket_fd(stream->exchange->connection->wsi), discarded, sizeof discarded, MSG_DONTWAIT);
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) return;
  /* The end stays readable. */
  lws_rx_flow_control(stream->watcher, 0);
  exchange_give_up(stream->exchange);
}

void stream_called_back(struct stream *stream, enum lws_callback_reasons reason) {
  if (reason == LWS_CALLBACK_RAW_CLOSE_FILE) stream->watcher = NULL;
  if (stream->exchange->state != STREAMING) return;
  if (reason == LWS_CALLBACK_RAW_WRITEABLE_FILE) writable(stream);
  if (reason == LWS_CALLBACK_RAW_RX_FILE) readable(stream);
  if (reason == LWS_CALLBACK_RAW_CLOSE_FILE) exchange_give_up(stream->exchange);
}

/* Twice a second: says something where nothing was said for long, and gives up on whoever does not read. */
void stream_watch(struct stream *stream) {
  gateway *gateway = stream->exchange->gateway;
  lws_usec_t silent = gateway_now(gateway) - stream->wrote_at;
  lws_usec_t limit = (lws_usec_t)gateway->configuration.heartbeat_after * LWS_US_PER_MS;
  if (stream->count) {
    if (silent >= read_patience(gateway)) exchange_hang_up(stream->exchange);
  } else if (gateway->heartbeat && limit > 0 && silent >= limit && !stream->ending) {
    frame_hold(gateway, gateway->heartbeat);
    enqueue(stream, gateway->heartbeat);
  }
}
