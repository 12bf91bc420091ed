/* Answers as libwebsockets writes them: its functions lay out heads. */
#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frame.h"

struct answer *answer_create(int status, const char *headers, const uint8_t *body, size_t length) {
  struct answer *answer = calloc(1, sizeof *answer);
  if (!answer) return NULL;
  answer->status = status;
  answer->headers = strdup(headers);
  uint8_t *block = malloc(LWS_PRE + length);
  if (!answer->headers || !block) {
    free(block);
    answer_free(answer);
    return NULL;
  }
  answer->body = block + LWS_PRE;
  if (length) memcpy(answer->body, body, length);
  answer->length = length;
  return answer;
}

void answer_free(struct answer *answer) {
  if (!answer) return;
  if (answer->charged) budget_remove(answer->charged, answer->length);
  free(answer->headers);
  if (answer->body) free(answer->body - LWS_PRE);
  free(answer);
}

struct answer *answer_problem(const gateway *gateway, gateway_fault fault, const char *headers) {
  const gateway_problem *problem = &gateway->configuration.problems[fault];
  char lines[8192];
  snprintf(lines, sizeof lines, "%s%s", problem->headers, headers ? headers : "");
  struct answer *answer = answer_create(problem->status, lines, (const uint8_t *)problem->body, strlen(problem->body));
  if (answer) answer->code = problem->code;
  return answer;
}

struct answer *answer_overload(gateway *gateway) {
  gateway_note_overload(gateway);
  return answer_problem(gateway, GATEWAY_OVERLOADED, NULL);
}

void answer_charge(gateway *gateway, struct answer *answer) {
  if (!answer || answer->charged) return;
  answer->charged = gateway->configuration.budget;
  budget_add(answer->charged, answer->length);
}

bool answer_has_body(const struct answer *answer, bool is_head) {
  return !is_head && answer->status != 204 && answer->status != 304;
}

static bool put(struct lws *wsi, const char *name, const char *value, size_t length, uint8_t **at, uint8_t *end) {
  return lws_add_http_header_by_name(wsi, (const uint8_t *)name, (const uint8_t *)value, (int)length, at, end) == 0;
}

/* Lines "Name: value\r\n". */
static bool put_lines(struct lws *wsi, const char *lines, uint8_t **at, uint8_t *end) {
  char name[128];
  while (*lines) {
    const char *colon = strchr(lines, ':'), *stop = strstr(lines, "\r\n");
    if (!colon || !stop || colon > stop || (size_t)(colon - lines) + 2 > sizeof name) return false;
    memcpy(name, lines, (size_t)(colon - lines) + 1);
    name[colon - lines + 1] = 0;
    for (colon++; *colon == ' '; colon++) continue;
    if (!put(wsi, name, colon, (size_t)(stop - colon), at, end)) return false;
    lines = stop + 2;
  }
  return true;
}

static bool put_date(struct lws *wsi, uint8_t **at, uint8_t *end) {
  char date[64];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  return put(wsi, "Date:", date, strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc), at, end);
}

bool answer_put_head(const struct answer *answer, struct lws *wsi, bool keep_alive, uint8_t **at, uint8_t *end) {
  const char *connection = keep_alive ? "keep-alive" : "close";
  char length[24];
  if (lws_add_http_header_status(wsi, (unsigned int)answer->status | LWSAHH_FLAG_NO_SERVER_NAME, at, end)) return false;
  if (!put_date(wsi, at, end)) return false;
  if (!put(wsi, "Connection:", connection, strlen(connection), at, end)) return false;
  /* 204 and 304 have no body, and 304 does not say how long it would have been. */
  if (answer->is_stream) {
    if (answer->is_chunked && !put(wsi, "Transfer-Encoding:", "chunked", 7, at, end)) return false;
  } else if (answer->status != 204 && answer->status != 304) {
    int digits = snprintf(length, sizeof length, "%zu", answer->length);
    if (!put(wsi, "Content-Length:", length, (size_t)digits, at, end)) return false;
  }
  return put_lines(wsi, answer->headers, at, end) && lws_finalize_http_header(wsi, at, end) == 0;
}

bool answer_write_whole(const struct answer *answer, gateway *gateway, struct lws *wsi) {
  uint8_t *start = gateway->gather + LWS_PRE, *end = start + GATHER_BYTES, *at = start;
  if (!answer_put_head(answer, wsi, false, &at, end) || (size_t)(end - at) < answer->length) return false;
  /* libwebsockets (4.1 to 4.3) says HTTP/1.0 until it has called back for a request: clients of WebSocket refuse to
   * read that. */
  if (memcmp(start, "HTTP/1.0", 8) == 0) start[7] = '1';
  memcpy(at, answer->body, answer->length);
  at += answer->length;
  return lws_write(wsi, start, (size_t)(at - start), LWS_WRITE_HTTP) >= 0;
}
