/* Answers as bytes: status line, headers, problems (RFC 9457). Any thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

struct answer *answer_create(int status, const char *headers, const uint8_t *body, size_t length) {
  struct answer *answer = calloc(1, sizeof *answer);
  if (!answer) return NULL;
  answer->status = status;
  answer->headers = strdup(headers);
  answer->body = malloc(length ? length : 1);
  if (!answer->headers || !answer->body) {
    answer_free(answer);
    return NULL;
  }
  if (length) memcpy(answer->body, body, length);
  answer->length = length;
  return answer;
}

void answer_free(struct answer *answer) {
  if (!answer) return;
  if (answer->charged) outgoing_remove(answer->charged, answer->length);
  free(answer->headers);
  free(answer->body);
  free(answer);
}

/* `title`, `code` and `detail` are the gateway's own words, constants, and need no escaping. */
struct answer *answer_problem(int status, const char *title, const char *code, const char *detail,
                              const char *headers) {
  char body[512], lines[8192];
  int length = snprintf(body, sizeof body,
                        "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%d,\"code\":\"%s\"%s%s%s}", title,
                        status, code, detail ? ",\"detail\":\"" : "", detail ? detail : "", detail ? "\"" : "");
  snprintf(lines, sizeof lines, "Content-Type: application/problem+json\r\n%s", headers ? headers : "");
  struct answer *answer = answer_create(status, lines, (const uint8_t *)body, (size_t)length);
  if (answer) answer->code = code;
  return answer;
}

static const char *reason_phrase(int status) {
  static const struct {
    int status;
    const char *phrase;
  } phrases[] = {
      {200, "OK"},           {201, "Created"},         {202, "Accepted"},           {204, "No Content"},
      {301, "Moved Permanently"}, {302, "Found"},      {304, "Not Modified"},       {400, "Bad Request"},
      {401, "Unauthorized"}, {403, "Forbidden"},       {404, "Not Found"},          {405, "Method Not Allowed"},
      {406, "Not Acceptable"}, {408, "Request Timeout"}, {409, "Conflict"},         {411, "Length Required"},
      {413, "Content Too Large"}, {415, "Unsupported Media Type"}, {422, "Unprocessable Content"},
      {426, "Upgrade Required"}, {429, "Too Many Requests"}, {500, "Internal Server Error"},
      {501, "Not Implemented"}, {503, "Service Unavailable"}, {504, "Gateway Timeout"},
  };
  for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
    if (phrases[i].status == status) return phrases[i].phrase;
  }
  return "Status";
}

/* Status line and headers up to the empty line; NULL when out of memory. */
char *answer_head(const struct answer *answer, bool keep_alive, size_t *length) {
  char date[64];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &utc);
  char *head = malloc(512 + strlen(answer->headers));
  if (!head) return NULL;
  size_t used = (size_t)sprintf(head, "HTTP/1.1 %d %s\r\nDate: %s\r\nConnection: %s\r\n", answer->status,
                                reason_phrase(answer->status), date, keep_alive ? "keep-alive" : "close");
  /* 204 and 304 have no body, and 304 does not say how long it would have been. */
  if (answer->is_stream) {
    if (answer->is_chunked) used += (size_t)sprintf(head + used, "Transfer-Encoding: chunked\r\n");
  } else if (answer->status != 204 && answer->status != 304) {
    used += (size_t)sprintf(head + used, "Content-Length: %zu\r\n", answer->length);
  }
  used += (size_t)sprintf(head + used, "%s\r\n", answer->headers);
  *length = used;
  return head;
}
