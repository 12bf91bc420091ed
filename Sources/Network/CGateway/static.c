/*
 * Files of the public directory: small ones, read whole at every request, so that an edited file is served at once.
 * Nothing outside the directory is reachable, whatever the path or a symbolic link says, and no hidden file.
 */
#include "static.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char *suffix, *type;
} content_types[] = {
    {".html", "text/html; charset=utf-8"},       {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},   {".mjs", "text/javascript; charset=utf-8"},
    {".json", "application/json"},               {".map", "application/json"},
    {".webmanifest", "application/manifest+json"}, {".svg", "image/svg+xml"},
    {".png", "image/png"},                       {".jpg", "image/jpeg"},
    {".ico", "image/x-icon"},                    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},       {".md", "text/plain; charset=utf-8"},
    {".ts", "text/plain; charset=utf-8"},        {".wasm", "application/wasm"},
};

static const char *content_type(const char *path, size_t length) {
  for (size_t i = 0; i < sizeof content_types / sizeof *content_types; i++) {
    size_t suffix = strlen(content_types[i].suffix);
    if (length > suffix && strncasecmp(path + length - suffix, content_types[i].suffix, suffix) == 0) {
      return content_types[i].type;
    }
  }
  return "application/octet-stream";
}

static bool is_inside(const gateway *gateway, const char *path) {
  size_t length = strlen(gateway->root);
  return strncmp(path, gateway->root, length) == 0 && path[length] == '/' && !strstr(path + length, "/.");
}

/* Opens the regular file that `path` names, its real name in `resolved`; -1 when there is none to be served. */
static int open_public(const gateway *gateway, gateway_span path, char resolved[PATH_MAX], struct stat *about) {
  char wanted[PATH_MAX];
  if (!gateway->root || !path.length || memchr(path.bytes, 0, path.length)) return -1;
  int length = snprintf(wanted, sizeof wanted, "%s%.*s%s", gateway->root, (int)path.length, (const char *)path.bytes,
                        path.bytes[path.length - 1] == '/' ? "index.html" : "");
  /* Hidden names are refused as asked for and as they turn out to be behind links. */
  if (length >= (int)sizeof wanted || strstr(wanted + strlen(gateway->root), "/.")) return -1;
  if (!realpath(wanted, resolved) || !is_inside(gateway, resolved)) return -1;
  int descriptor = open(resolved, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor >= 0 && (fstat(descriptor, about) || !S_ISREG(about->st_mode))) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

static bool read_whole(int descriptor, uint8_t *into, size_t length) {
  size_t done = 0;
  while (done < length) {
    ssize_t count = read(descriptor, into + done, length - done);
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

static struct answer *answer_file(int descriptor, const struct stat *about, const char *headers) {
  size_t length = (size_t)about->st_size;
  uint8_t *bytes = malloc(length ? length : 1);
  struct answer *answer = NULL;
  if (bytes && read_whole(descriptor, bytes, length)) answer = answer_create(200, headers, bytes, length);
  free(bytes);
  return answer;
}

/* `curl -o` saves the body of a 404 under a script's name, so there it is one that reports the 404. */
static struct answer *answer_missing(gateway *gateway, const struct request *request, const char *headers) {
  gateway_span path = request->head.path;
  const char *type = content_type((const char *)path.bytes, path.length);
  bool is_script = strncmp(type, "text/javascript", strlen("text/javascript")) == 0;
  return answer_problem(gateway, is_script ? GATEWAY_SCRIPT_NOT_FOUND : GATEWAY_NOT_FOUND, headers);
}

static bool is_unchanged(const struct request *request, const char *tag) {
  char weak[80];
  snprintf(weak, sizeof weak, "W/%s", tag);
  gateway_span known = request->head.if_none_match;
  return list_contains(known, tag, false) || list_contains(known, weak, false) || list_contains(known, "*", false);
}

struct answer *answer_static(gateway *gateway, const struct request *request) {
  const char *always = gateway->configuration.static_headers;
  char resolved[PATH_MAX], tag[64], headers[8192];
  struct stat about;
  int descriptor = open_public(gateway, request->head.path, resolved, &about);
  if (descriptor < 0) return answer_missing(gateway, request, always);
  if (!request->is_head && !span_equals(request->head.method, "GET")) {
    close(descriptor);
    return answer_problem(gateway, GATEWAY_NOT_FOR_FILES, always);
  }
  snprintf(tag, sizeof tag, "\"%llx-%lx-%llx\"", (unsigned long long)about.st_mtim.tv_sec,
           (unsigned long)about.st_mtim.tv_nsec, (unsigned long long)about.st_size);
  snprintf(headers, sizeof headers, "Content-Type: %s\r\nETag: %s\r\nCache-Control: no-cache\r\n%s", content_type(resolved, strlen(resolved)),
           tag, always);
  struct answer *answer = is_unchanged(request, tag)                           ? answer_create(304, headers, NULL, 0)
                          : gateway_has_room(gateway, (size_t)about.st_size) ? answer_file(descriptor, &about, headers)
                                                                             : answer_overload(gateway);
  close(descriptor);
  return answer;
}
