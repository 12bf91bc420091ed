/* Forwarded and X-Forwarded-For: proxies.c. */
#include <arpa/inet.h>
#include <string.h>

#include "../../Sources/Network/CGateway/proxies.h"
#include "../../Sources/Network/CGateway/address.h"
#include "CFuzzing.h"
#include "check.h"

static struct sockaddr_storage four(const char *text) {
  struct sockaddr_storage address = {.ss_family = AF_INET};
  CHECK(inet_pton(AF_INET, text, &((struct sockaddr_in *)&address)->sin_addr) == 1);
  return address;
}

/* The ranges that an operator writes may be nonsense as well. */
static void check_ranges(const char *text) {
  char error[256] = "";
  const char *const ranges[] = {text, NULL};
  struct gateway gateway = {0};
  gateway.configuration.trusted_proxies = ranges;
  if (proxies_read(&gateway, error, sizeof error)) {
    struct sockaddr_storage address = four("192.0.2.1");
    (void)proxies_trust(&gateway, &address);
  } else {
    CHECK(*error && memchr(error, 0, sizeof error));
  }
  free(gateway.proxies);
}

/* The first byte chooses the header, and whether a proxy sends it. */
int fuzz_proxies(const uint8_t *bytes, size_t length) {
  if (length < 1) return 0;
  char error[256];
  const char *const ranges[] = {"10.0.0.0/8", "2001:db8::/33", "127.0.0.1", NULL};
  struct gateway gateway = {0};
  gateway.configuration.trusted_proxies = ranges;
  CHECK(proxies_read(&gateway, error, sizeof error));
  struct sockaddr_storage peer = four(*bytes & 2 ? "10.1.2.3" : "192.0.2.1");
  bool is_trusted = *bytes & 2;
  struct request request = {0};
  /* A copy of its own, not terminated. */
  uint8_t *copy = malloc(length);
  memcpy(copy, bytes + 1, length - 1);
  gateway_span list = {copy, length - 1};
  if (*bytes & 1) request.forwarded = list; else request.forwarded_for = list;
  struct sockaddr_storage client = proxies_find_client(&gateway, &peer, &request);
  CHECK(client.ss_family == AF_INET || client.ss_family == AF_INET6);
  if (!is_trusted) CHECK(memcmp(&client, &peer, sizeof peer) == 0);
  /* What is said before the address that counts does not. */
  if (is_trusted && !proxies_trust(&gateway, &client)) {
    static const char claim[] = "203.0.113.9, ", claimed[] = "for=203.0.113.9, ";
    const char *more = *bytes & 1 ? claimed : claim;
    size_t extra = strlen(more);
    uint8_t *longer = malloc(length + extra);
    memcpy(longer, more, extra);
    memcpy(longer + extra, copy, length - 1);
    gateway_span claims = {longer, length - 1 + extra};
    if (*bytes & 1) request.forwarded = claims; else request.forwarded_for = claims;
    struct sockaddr_storage other = proxies_find_client(&gateway, &peer, &request);
    CHECK(memcmp(&client, &other, sizeof client) == 0);
    free(longer);
  }
  request.head.client = address_client(&client);
  request_name_client(&request, &client);
  CHECK(request.head.peer.length && request.head.peer.length < sizeof request.peer);
  free(copy);
  free(gateway.proxies);
  char *text = calloc(1, length);
  memcpy(text, bytes + 1, length - 1);
  check_ranges(text);
  free(text);
  return 0;
}
