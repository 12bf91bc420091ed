/*
 * A stream exists from its request on, but its answer begins with the first frame, or after BEGIN_AFTER_US: so a
 * request that turns out to be wrong is answered with a problem and its status.
 *
 * What is due together leaves in one write: a chunk for clients of HTTP/1.1.
 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "frame.h"
#include "socket.h"

enum { CHUNK_HEAD_BYTES = 20, CHUNK_END_BYTES = 2 };
/* Clients wait up to twice this for the head of an answer: streams are looked at twice a second. */
#define BEGIN_AFTER_US ((lws_usec_t)500000)

static const char last_chunk[] = "0\r\n\r\n";

/* The part of a payload that is gathered, with its chunk around it. */
#define PAYLOAD_BYTES (GATHER_BYTES - CHUNK_HEAD_BYTES - CHUNK_END_BYTES - sizeof last_chunk)

struct stream {
  struct channel channel;
  struct exchange *exchange;
  struct answer *head;  /* until it is sent */
  char *headers;        /* lines for any answer to this request */
  size_t sent;          /* bytes of the first frame that have left */
  gateway_stream_kind kind;
  bool begun;           /* there is no other answer any more */
  bool ending;          /* nothing follows what is queued */
  bool owes_end;        /* the end of the answer follows what is queued */
  lws_usec_t opened_at;
};

static struct stream *stream_of(struct channel *channel) { return lws_container_of(channel, struct stream, channel); }

gateway_channel_id stream_channel(const struct stream *stream) { return stream->channel.id; }

/* Ends the exchange's part of the stream. */
static void close_stream(struct exchange *exchange) {
  struct stream *stream = exchange->stream;
  gateway *gateway = exchange->gateway;
  gateway_channel_id id = stream->channel.id;
  exchange->stream = NULL;
  channel_close(&stream->channel);
  answer_free(stream->head);
  free(stream->headers);
  free(stream);
  gateway->configuration.callbacks.closed(gateway->context, id);
}

static void begin(struct stream *stream) {
  struct exchange *exchange = stream->exchange;
  if (stream->begun) return;
  stream->begun = true;
  exchange->keep_alive = false;
  /* A client that is gone without a word is noticed by what it does not acknowledge. */
  socket_limit_patience(lws_get_socket_fd(exchange->connection->wsi), read_patience(exchange->gateway));
  exchange_write_soon(exchange);
}

/* Nothing but an end would be empty. */
static bool takes(struct channel *channel, const gateway_frame *frame) {
  return !stream_of(channel)->ending && frame_payload_length(frame);
}

static void queued(struct channel *channel, const gateway_frame *frame) {
  (void)frame;
  begin(stream_of(channel));
  exchange_write_soon(stream_of(channel)->exchange);
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
  close_stream(exchange);
  exchange_answer(exchange, answer);
}

static void finish(struct stream *stream) {
  if (stream->ending) return;
  begin(stream);
  stream->ending = stream->owes_end = true;
  exchange_write_soon(stream->exchange);
}

/* Hangs up, so that the client does not mistake a part of a file for the whole. */
static void cut_off(struct stream *stream) {
  if (!stream->ending) exchange_give_up(stream->exchange);
}

static void end(struct channel *channel, uint16_t code, const char *reason) {
  struct stream *stream = stream_of(channel);
  (void)code, (void)reason;
  if (channel->gateway->stopping && !stream->begun) {
    answer_instead(stream, answer_problem(channel->gateway, GATEWAY_STOPPING, NULL));
  } else if (stream->kind == GATEWAY_STREAM_FILE) {
    cut_off(stream);
  } else {
    finish(stream);
  }
}

/* The frame that is sent after a long silence, or NULL. */
static gateway_frame *heartbeat(const struct stream *stream) {
  switch (stream->kind) {
    case GATEWAY_STREAM_EVENTS: return stream->channel.gateway->streams.heartbeat;
    case GATEWAY_STREAM_LINES: return stream->channel.gateway->streams.empty_line;
    case GATEWAY_STREAM_FILE: return NULL;
  }
  return NULL;
}

/* Says something where nothing was said for long, and gives up on clients that do not read. */
static void watch(struct channel *channel, lws_usec_t now) {
  struct stream *stream = stream_of(channel);
  gateway *gateway = channel->gateway;
  lws_usec_t silent = now - channel->taken_at;
  lws_usec_t limit = (lws_usec_t)gateway->configuration.heartbeat_after * LWS_US_PER_MS;
  if (!stream->begun) {
    if (now - stream->opened_at >= BEGIN_AFTER_US) begin(stream);
  } else if (channel->count || channel->in_flight) {
    if (silent >= read_patience(gateway)) exchange_hang_up(stream->exchange);
  } else if (limit > 0 && silent >= limit && !stream->ending) {
    gateway_frame *frame = heartbeat(stream);
    if (frame) channel_send(channel, frame);
  }
}

static const struct channel_kind stream_kind = {
    .is_stream = true, .takes = takes, .queued = queued, .fail = fail, .end = end, .watch = watch};

static int write_head(struct stream *stream) {
  struct exchange *exchange = stream->exchange;
  uint8_t *start = exchange->gateway->gather + LWS_PRE, *at = start;
  if (!answer_put_head(stream->head, exchange->connection->wsi, false, &at, start + GATHER_BYTES)) return -1;
  answer_free(stream->head);
  stream->head = NULL;
  return lws_write(exchange->connection->wsi, start, (size_t)(at - start), LWS_WRITE_HTTP_HEADERS);
}

/* As much of the waiting frames' payload as fits. Frames that are gathered whole are in flight. */
static size_t gather(struct stream *stream, uint8_t *into, size_t room) {
  struct channel *channel = &stream->channel;
  size_t length = 0;
  while (channel->count && length < room) {
    gateway_frame *frame = channel_frame(channel, 0);
    size_t left = frame_payload_length(frame) - stream->sent, part = left < room - length ? left : room - length;
    memcpy(into + length, frame_payload(frame) + stream->sent, part);
    length += part;
    stream->sent += part;
    if (part < left) break;
    stream->sent = 0;
    frame_let_go(channel->gateway, channel_take(channel));
  }
  return length;
}

static int write_some(struct stream *stream) {
  struct exchange *exchange = stream->exchange;
  struct lws *wsi = exchange->connection->wsi;
  uint8_t *payload = exchange->gateway->gather + LWS_PRE + CHUNK_HEAD_BYTES, *start = payload;
  size_t length = gather(stream, payload, PAYLOAD_BYTES);
  uint8_t *stop = payload + length;
  bool is_last = stream->owes_end && !stream->channel.count, is_chunked = exchange->request->is_modern;
  if (is_chunked && length) {
    char head[CHUNK_HEAD_BYTES];
    int digits = snprintf(head, sizeof head, "%zx\r\n", length);
    start -= digits;
    memcpy(start, head, (size_t)digits);
    memcpy(stop, "\r\n", CHUNK_END_BYTES);
    stop += CHUNK_END_BYTES;
  }
  if (is_chunked && is_last) {
    memcpy(stop, last_chunk, sizeof last_chunk - 1);
    stop += sizeof last_chunk - 1;
  }
  if (is_last) stream->owes_end = false;
  if (stop == start) return 0;
  stream->channel.taken_at = gateway_now(exchange->gateway);
  int written = lws_write(wsi, start, (size_t)(stop - start), LWS_WRITE_HTTP);
  if (lws_partial_buffered(wsi)) {
    channel_copied(&stream->channel, (size_t)(stop - start));
  } else {
    channel_landed(&stream->channel);
  }
  return written;
}

static bool has_something_to_write(const struct stream *stream) { return stream->channel.count || stream->owes_end; }

/* The socket has room. */
static int writable(struct exchange *exchange) {
  struct stream *stream = exchange->stream;
  if (!stream->begun) return 0;
  struct lws *wsi = exchange->connection->wsi;
  if (!lws_partial_buffered(wsi)) {
    if (stream->channel.in_flight) stream->channel.taken_at = gateway_now(exchange->gateway);
    channel_landed(&stream->channel);
    if (stream->head && write_head(stream) < 0) return -1;
  }
  while (has_something_to_write(stream) && !lws_partial_buffered(wsi)) {
    if (write_some(stream) < 0) return -1;
  }
  if (has_something_to_write(stream) || lws_partial_buffered(wsi)) {
    exchange_write_later(exchange);
    return 0;
  }
  if (!stream->ending) return 0;
  close_stream(exchange);
  return exchange_finish(exchange);
}

static const struct exchange_source source = {.writable = writable, .close = close_stream};

/* The answer to HEAD is whole at once; no stream follows. */
struct stream *stream_open(struct exchange *exchange, gateway_stream_kind kind, const char *head, const char *headers) {
  gateway *gateway = exchange->gateway;
  if (exchange->state != WAITING) return NULL;
  char *common = join_lines(head, gateway->configuration.stream_headers);
  char *lines = common ? join_lines(common, headers) : NULL;
  free(common);
  struct answer *answer = lines ? answer_create(200, lines, NULL, 0) : NULL;
  free(lines);
  if (answer) answer->is_stream = true;
  if (answer) answer->is_chunked = exchange->request->is_modern;
  struct stream *stream = answer && !exchange->request->is_head ? calloc(1, sizeof *stream) : NULL;
  char *copy = stream ? strdup(headers) : NULL;
  if (!copy || !channel_open(&stream->channel, gateway, &stream_kind)) {
    free(stream);
    free(copy);
    exchange->keep_alive = false;
    exchange_answer(exchange, answer);
    return NULL;
  }
  stream->exchange = exchange;
  stream->head = answer;
  stream->headers = copy;
  stream->kind = kind;
  stream->opened_at = gateway_now(gateway);
  exchange->state = STREAMING;
  exchange->source = &source;
  exchange->stream = stream;
  exchange->streamed = true;
  return stream;
}

void stream_end(struct stream *stream, gateway_frame *frame, struct answer *answer) {
  if (!stream->begun) {
    answer_instead(stream, answer);
    return;
  }
  answer_free(answer);
  if (frame) {
    channel_send(&stream->channel, frame);
    finish(stream);
  } else {
    cut_off(stream);
  }
}
