/*
 * A client's address, where a proxy speaks for it.
 *
 * A proxy that the operator trusts says whose request it passes on. It appends that address to what the request said already,
 * so the list is read from its end, over the proxies that are trusted, to the first address that is not one of theirs: what
 * stands before that is only claimed. Other peers are not believed.
 */
#include "proxies.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct range {
  uint8_t bytes[16]; /* IPv4 as IPv6 has it, ::ffff:a.b.c.d */
  unsigned bits;     /* at least 96 for IPv4: ::/0 is IPv6 alone */
};

enum { MAPPED_BITS = 96 };
static const uint8_t mapped[MAPPED_BITS / 8] = {[10] = 0xFF, [11] = 0xFF};

static bool has_bytes(const struct sockaddr_storage *address, uint8_t bytes[16]) {
  if (address->ss_family == AF_INET6) {
    memcpy(bytes, ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr, 16);
    return true;
  }
  memcpy(bytes, mapped, sizeof mapped);
  memcpy(bytes + sizeof mapped, &((const struct sockaddr_in *)address)->sin_addr, 4);
  return address->ss_family == AF_INET;
}

static bool parse_address(const char *text, struct sockaddr_storage *address) {
  struct sockaddr_in *four = (struct sockaddr_in *)address;
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
  memset(address, 0, sizeof *address);
  address->ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
  return address->ss_family == AF_INET ? inet_pton(AF_INET, text, &four->sin_addr) == 1
                                       : inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
}

/* "10.0.0.0/8", "2001:db8::/32", or an address. */
static bool parse_range(const char *text, struct range *range) {
  char copy[64], *end;
  struct sockaddr_storage address;
  if (strlen(text) >= sizeof copy) return false;
  strcpy(copy, text);
  char *slash = strchr(copy, '/');
  if (slash) *slash = 0;
  if (!parse_address(copy, &address) || !has_bytes(&address, range->bytes)) return false;
  unsigned most = address.ss_family == AF_INET ? 32 : 128;
  unsigned long bits = most;
  if (slash) {
    if (slash[1] < '0' || slash[1] > '9') return false;
    bits = strtoul(slash + 1, &end, 10);
    if (*end || bits > most) return false;
  }
  range->bits = (unsigned)bits + 128 - most;
  return true;
}

bool proxies_read(gateway *gateway, char *error, size_t capacity) {
  const char *const *texts = gateway->configuration.trusted_proxies;
  size_t count = 0;
  while (texts[count]) count++;
  gateway->proxies = calloc(count + 1, sizeof *gateway->proxies);
  for (size_t i = 0; gateway->proxies && i < count; i++) {
    if (parse_range(texts[i], &gateway->proxies[i])) continue;
    snprintf(error, capacity, "trustedProxies: %s is neither an address nor a range such as 10.0.0.0/8", texts[i]);
    return false;
  }
  gateway->proxy_count = count;
  return gateway->proxies != NULL;
}

static bool is_within(const uint8_t bytes[16], const struct range *range) {
  if (range->bits < MAPPED_BITS && memcmp(bytes, mapped, sizeof mapped) == 0) return false;
  unsigned whole = range->bits / 8, rest = range->bits % 8;
  if (memcmp(bytes, range->bytes, whole) != 0) return false;
  return !rest || (bytes[whole] ^ range->bytes[whole]) >> (8 - rest) == 0;
}

bool proxies_trust(const gateway *gateway, const struct sockaddr_storage *address) {
  uint8_t bytes[16];
  if (!gateway->proxy_count || !has_bytes(address, bytes)) return false;
  for (size_t i = 0; i < gateway->proxy_count; i++) {
    if (is_within(bytes, &gateway->proxies[i])) return true;
  }
  return false;
}

/* "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]:80", in quotes or not. */
static bool parse_node(gateway_span node, struct sockaddr_storage *address) {
  char text[64];
  const char *bytes = (const char *)node.bytes;
  size_t length = node.length;
  while (length && (*bytes == ' ' || *bytes == '\t' || *bytes == '"')) bytes++, length--;
  while (length && strchr(" \t\"", bytes[length - 1])) length--;
  if (length >= sizeof text) return false;
  /* An element without for= is nowhere. */
  if (length) memcpy(text, bytes, length);
  text[length] = 0;
  char *start = text, *colon = strchr(text, ':');
  if (*text == '[') {
    char *end = strchr(text, ']');
    if (!end || (end[1] && end[1] != ':')) return false;
    *end = 0;
    start = text + 1;
  } else if (colon && !strchr(colon + 1, ':')) {
    *colon = 0;
  }
  return parse_address(start, address);
}

/* The last part of a list, which is made shorter by it. */
static gateway_span take_last(gateway_span *list) {
  size_t at = list->length;
  while (at && list->bytes[at - 1] != ',') at--;
  gateway_span last = {list->bytes + at, list->length - at};
  list->length = at ? at - 1 : 0;
  return last;
}

/* What "for=" says in an element of Forwarded (RFC 7239). */
static gateway_span find_for(gateway_span element) {
  const uint8_t *at = element.bytes, *end = at + element.length;
  while (at < end) {
    const uint8_t *semicolon = memchr(at, ';', (size_t)(end - at)), *next = semicolon ? semicolon : end;
    while (at < next && (*at == ' ' || *at == '\t')) at++;
    if (next - at > 4 && strncasecmp((const char *)at, "for=", 4) == 0) return (gateway_span){at + 4, (size_t)(next - at - 4)};
    at = next + 1;
  }
  return (gateway_span){NULL, 0};
}

/* The client of a request that came from `peer`. What cannot be read ends the search at who said it. */
struct sockaddr_storage proxies_find_client(const gateway *gateway, const struct sockaddr_storage *peer,
                                            const struct request *request) {
  struct sockaddr_storage client = *peer, next;
  bool is_forwarded = !request->forwarded_for.bytes;
  gateway_span list = is_forwarded ? request->forwarded : request->forwarded_for;
  while (list.length && proxies_trust(gateway, &client)) {
    gateway_span last = take_last(&list);
    if (!parse_node(is_forwarded ? find_for(last) : last, &next)) break;
    client = next;
  }
  return client;
}
