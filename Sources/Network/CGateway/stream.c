/*
 * Streams: HTTP answers that go on until one side ends them (server-sent events).
 *
 * A stream exists from its request on, but its answer begins with the first frame, or after BEGIN_AFTER_US: so a request that
 * turns out to be wrong is answered with a problem and its status.
 *
 * While it goes on the connection is read, and what comes is dropped: not to read it would keep the client's end from being
 * noticed. Frames leave in one write for several of them, each a chunk of its own for clients of HTTP/1.1. Nothing is copied.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "internal.h"

/* Frames that one sendmsg takes: three parts each, well below the kernel's 1,024. */
enum { GATHERED_FRAMES = 32, CHUNK_HEAD_BYTES = 20 };
/* Clients wait up to twice this for the head of an answer: streams are looked at twice a second. */
#define BEGIN_AFTER_US ((lws_usec_t)500000)

static const char chunk_end[] = "\r\n";
static const char last_chunk[] = "0\r\n\r\n";

struct stream {
  struct channel channel;
  struct exchange *exchange;
  struct answer *head;  /* until it is sent */
  char *headers;        /* lines for any answer to this request */
  size_t sent;          /* bytes of the first frame, with its chunk's head and end, that are with the kernel */
  bool chunked;
  bool ending;          /* nothing follows what is queued */
  bool owes_last_chunk; /* the end of the chunked coding follows what is queued */
  lws_usec_t opened_at;
};

static struct stream *stream_of(struct channel *channel) { return lws_container_of(channel, struct stream, channel); }

static bool has_begun(const struct stream *stream) { return !stream->head; }

/* Ends what the exchange has of the stream. */
void stream_free(struct exchange *exchange) {
  struct stream *stream = exchange->stream;
  gateway *gateway = exchange->gateway;
  if (!stream) return;
  gateway_channel_id id = stream->channel.id;
  exchange->stream = NULL;
  channel_close(&stream->channel);
  answer_free(stream->head);
  free(stream->headers);
  free(stream);
  gateway->configuration.callbacks.closed(gateway->context, id);
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
  struct iovec part = {0};
  char *head = answer_head(answer, false, &part.iov_len);
  part.iov_base = head;
  bool sent = head && transport_write(exchange->connection, &part, 1) == (ssize_t)part.iov_len;
  free(head);
  return sent;
}

static void begin(struct stream *stream) {
  struct exchange *exchange = stream->exchange;
  if (has_begun(stream)) return;
  exchange->keep_alive = false;
  bool begun = send_head(exchange, stream->head);
  answer_free(stream->head);
  stream->head = NULL;
  if (begun) {
    limit_patience(stream->channel.gateway, lws_get_socket_fd(exchange->connection->wsi));
    exchange->connection->is_deaf = true;
    resume_reading(stream->channel.gateway, exchange->connection->wsi);
  } else {
    exchange_give_up(exchange);
  }
}

static void wants_to_write(struct stream *stream) {
  lws_callback_on_writable(stream->exchange->connection->wsi);
}

/* An empty chunk would be the end. */
static bool takes(struct channel *channel, const gateway_frame *frame) {
  return !stream_of(channel)->ending && frame_payload_length(frame);
}

static void queued(struct channel *channel, const gateway_frame *frame) {
  (void)frame;
  begin(stream_of(channel));
  wants_to_write(stream_of(channel));
}

static void fail(struct channel *channel) { exchange_give_up(stream_of(channel)->exchange); }

static char *join_lines(const char *first, const char *second) {
  size_t length = strlen(first) + strlen(second) + 1;
  char *joined = malloc(length);
  if (joined) snprintf(joined, length, "%s%s", first, second);
  return joined;
}

/* The exchange goes on with an answer that ends. */
static void answer_instead(struct stream *stream, struct answer *answer) {
  struct exchange *exchange = stream->exchange;
  char *headers = answer ? join_lines(answer->headers, stream->headers) : NULL;
  if (headers) {
    free(answer->headers);
    answer->headers = headers;
  }
  stream_free(exchange);
  exchange_answer(exchange, answer);
}

static void finish(struct stream *stream) {
  if (stream->ending) return;
  begin(stream);
  stream->ending = true;
  stream->owes_last_chunk = stream->chunked;
  wants_to_write(stream);
}

static void end(struct channel *channel, uint16_t code, const char *reason) {
  struct stream *stream = stream_of(channel);
  (void)code, (void)reason;
  if (!stream->channel.gateway->stopping || has_begun(stream)) {
    finish(stream);
    return;
  }
  answer_instead(stream, answer_problem(503, "Service Unavailable", "shutting_down", "the server is stopping",
                                        "Retry-After: 1\r\n"));
}

/* Says something where nothing was said for long, and gives up on clients that have left or do not read. */
static void watch(struct channel *channel, lws_usec_t now) {
  struct stream *stream = stream_of(channel);
  gateway *gateway = channel->gateway;
  lws_usec_t silent = now - channel->taken_at;
  lws_usec_t limit = (lws_usec_t)gateway->configuration.heartbeat_after * LWS_US_PER_MS;
  if (!has_begun(stream)) {
    if (transport_has_ended(stream->exchange->connection)) {
      exchange_give_up(stream->exchange);
    } else if (now - stream->opened_at >= BEGIN_AFTER_US) {
      begin(stream);
    }
  } else if (channel->count) {
    if (silent >= read_patience(gateway)) exchange_hang_up(stream->exchange);
  } else if (gateway->heartbeat && limit > 0 && silent >= limit && !stream->ending) {
    channel_send(channel, gateway->heartbeat);
  }
}

static const struct channel_kind stream_kind = {
    .is_stream = true, .takes = takes, .queued = queued, .fail = fail, .end = end, .watch = watch};

/* The answer to HEAD is whole at once; no stream follows. */
struct stream *stream_open(struct exchange *exchange, const char *headers) {
  gateway *gateway = exchange->gateway;
  if (exchange->state != WAITING) return NULL;
  char *lines = join_lines(gateway->configuration.stream_headers, headers);
  struct answer *head = lines ? answer_create(200, lines, NULL, 0) : NULL;
  free(lines);
  if (head) head->is_stream = true;
  if (head) head->is_chunked = exchange->request->is_modern;
  struct stream *stream = head && !exchange->request->is_head ? calloc(1, sizeof *stream) : NULL;
  char *copy = stream ? strdup(headers) : NULL;
  if (!copy || !channel_open(&stream->channel, gateway, &stream_kind)) {
    free(stream);
    free(copy);
    exchange->keep_alive = false;
    exchange_answer(exchange, head);
    return NULL;
  }
  stream->exchange = exchange;
  stream->head = head;
  stream->headers = copy;
  stream->chunked = exchange->request->is_modern;
  stream->opened_at = gateway_now(gateway);
  exchange->state = STREAMING;
  exchange->stream = stream;
  exchange->streamed = true;
  return stream;
}

/* Takes the answer, which is sent when the stream has not begun; otherwise the frame ends it. */
void stream_end(struct stream *stream, gateway_frame *frame, struct answer *answer) {
  if (has_begun(stream)) {
    answer_free(answer);
    channel_send(&stream->channel, frame);
    finish(stream);
  } else {
    answer_instead(stream, answer);
  }
}

struct parts {
  struct iovec list[3 * GATHERED_FRAMES + 1];
  char heads[GATHERED_FRAMES][CHUNK_HEAD_BYTES];
  size_t count, skip;
};

static void add_part(struct parts *parts, const void *bytes, size_t length) {
  size_t skipped = parts->skip < length ? parts->skip : length;
  parts->skip -= skipped;
  if (skipped == length) return;
  parts->list[parts->count++] = (struct iovec){(char *)(uintptr_t)bytes + skipped, length - skipped};
}

static size_t chunk_head(const gateway_frame *frame, char head[CHUNK_HEAD_BYTES]) {
  return (size_t)snprintf(head, CHUNK_HEAD_BYTES, "%zx\r\n", frame_payload_length(frame));
}

static void gather(struct stream *stream, struct parts *parts) {
  parts->count = 0;
  parts->skip = stream->sent;
  uint32_t i = 0;
  for (; i < stream->channel.count && i < GATHERED_FRAMES; i++) {
    const gateway_frame *frame = channel_frame(&stream->channel, i);
    if (stream->chunked) add_part(parts, parts->heads[i], chunk_head(frame, parts->heads[i]));
    add_part(parts, frame_payload(frame), frame_payload_length(frame));
    if (stream->chunked) add_part(parts, chunk_end, sizeof chunk_end - 1);
  }
  if (stream->owes_last_chunk && i == stream->channel.count) add_part(parts, last_chunk, sizeof last_chunk - 1);
}

/* Bytes on the wire of what comes first. */
static size_t first_length(const struct stream *stream) {
  char head[CHUNK_HEAD_BYTES];
  if (!stream->channel.count) return sizeof last_chunk - 1;
  const gateway_frame *frame = channel_frame(&stream->channel, 0);
  size_t coding = stream->chunked ? chunk_head(frame, head) + sizeof chunk_end - 1 : 0;
  return coding + frame_payload_length(frame);
}

static bool has_something_to_write(const struct stream *stream) {
  return stream->channel.count || stream->owes_last_chunk;
}

static void account(struct stream *stream, size_t written) {
  stream->channel.taken_at = gateway_now(stream->channel.gateway);
  stream->sent += written;
  while (has_something_to_write(stream) && stream->sent >= first_length(stream)) {
    stream->sent -= first_length(stream);
    if (stream->channel.count) {
      frame_let_go(stream->channel.gateway, channel_take(&stream->channel));
    } else {
      stream->owes_last_chunk = false;
    }
  }
  channel_landed(&stream->channel);
}

/* As much as there is room for. False when the client is gone. */
static bool write_some(struct stream *stream) {
  while (has_something_to_write(stream)) {
    struct parts parts;
    gather(stream, &parts);
    ssize_t written = transport_write(stream->exchange->connection, parts.list, parts.count);
    if (written <= 0) return written == 0;
    account(stream, (size_t)written);
  }
  return true;
}

/* The socket has room. */
void stream_writable(struct stream *stream) {
  struct exchange *exchange = stream->exchange;
  if (!has_begun(stream)) return;
  if (!write_some(stream)) {
    exchange_give_up(exchange);
  } else if (has_something_to_write(stream)) {
    wants_to_write(stream);
  } else if (stream->ending) {
    stream_free(exchange);
    exchange_finish(exchange);
  }
}
