/* Heads of requests: head.c, target.c and request.c. The first byte of the input is the length of the pieces that it comes in. */
#include <string.h>

#include "../../Sources/Network/CGateway/internal.h"
#include "CFuzzing.h"
#include "check.h"

/* As connection.c looks for the end of a head, while bytes come. */
static size_t find_end(const uint8_t *bytes, size_t length, size_t piece, const struct head_fault **fault) {
  size_t scanned = 0, end = 0, received = 0;
  while (received < length && !end && !*fault) {
    received = length - received < piece ? length : received + piece;
    /* A copy of its own: reading beyond what has come is found. */
    uint8_t *copy = malloc(received);
    memcpy(copy, bytes, received);
    end = head_end(copy, received, &scanned, fault);
    CHECK(end <= received && scanned <= received);
    free(copy);
  }
  return end;
}

static bool is_in(gateway_span span, const char *start, size_t length) {
  return (const char *)span.bytes >= start && (const char *)span.bytes + span.length <= start + length;
}

/* Every span points into the copy of the head, or into a list that was joined from several lines. */
static void check_span(const struct request *request, gateway_span span, size_t length) {
  if (!span.bytes || !span.length) return;
  if (is_in(span, request->text, 2 * length)) return;
  for (const struct joined *joined = request->joined; joined; joined = joined->next) {
    if ((const char *)span.bytes == joined->text) return;
  }
  CHECK(span.length == 1 && *span.bytes == '/');
}

static void check_value(const struct request *request, gateway_span span, size_t length) {
  check_span(request, span, length);
  for (size_t i = 0; i < span.length; i++) CHECK(span.bytes[i] >= 32 ? span.bytes[i] != 127 : span.bytes[i] == '\t');
}

static void check_request(const struct request *request, size_t length) {
  const gateway_request *head = &request->head;
  const gateway_span values[] = {
      head->method, head->query, head->origin, head->host, head->authorization, head->if_none_match, head->content_type,
      head->accept, head->accept_encoding, head->request_method, head->request_headers, head->last_event_id,
      head->protocols, head->fetch_site, request->host, request->authority, request->length_text, request->coding,
      request->expect, request->upgrade, request->connection, request->key, request->version, request->forwarded_for,
      request->forwarded,
  };
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) check_value(request, values[i], length);
  check_span(request, head->path, length);
  CHECK(head->path.length && (*head->path.bytes == '/' || span_equals(head->path, "*")));
  CHECK(!memchr(head->path.bytes, 0, head->path.length));
  CHECK(!head->query.length || !memchr(head->query.bytes, ' ', head->query.length));
  CHECK(!request->is_modern || head->host.length);
  CHECK(request->content_length < 1000000000000000000u);
  /* Whoever reads the body by another header than this server does is not in front of it. */
  CHECK(!request->coding.bytes);
}

int fuzz_head(const uint8_t *bytes, size_t length) {
  if (length < 2) return 0;
  size_t piece = *bytes ? *bytes : 1;
  bytes++, length--;
  const struct head_fault *whole_fault = NULL, *fault = NULL;
  size_t end = find_end(bytes, length, length, &whole_fault);
  CHECK(find_end(bytes, length, piece, &fault) == end && (end || fault == whole_fault));
  if (!end) return 0;
  CHECK(end >= 4 && memcmp(bytes + end - 4, "\r\n\r\n", 4) == 0);
  struct request *request = request_read((gateway_span){bytes, end}, &fault);
  CHECK(request);
  if (!fault) check_request(request, end);
  if (fault) CHECK(fault->status >= 400 && fault->status < 600);
  request_free(request);
  return 0;
}
