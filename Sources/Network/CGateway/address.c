/*
 * How many connections each address has. An IPv6 client has at least a /64 to choose from, so that is what counts as one address
 * there; an IPv4 address counts as the same whether it arrives on an IPv4 or an IPv6 socket.
 */
#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct address {
  uint64_t high, low;
  int connections, refused; /* that may be, and that are refused */
  struct address *next;
};

/* IPv4 in IPv6: ::ffff:a.b.c.d. */
static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

static bool is_four(const gateway_address *address) { return memcmp(address->bytes, mapped, sizeof mapped) == 0; }

gateway_address address_of(const struct sockaddr_storage *from) {
  gateway_address address = {{0}};
  if (from->ss_family == AF_INET6) {
    memcpy(address.bytes, ((const struct sockaddr_in6 *)from)->sin6_addr.s6_addr, sizeof address.bytes);
  } else if (from->ss_family == AF_INET) {
    memcpy(address.bytes, mapped, sizeof mapped);
    memcpy(address.bytes + sizeof mapped, &((const struct sockaddr_in *)from)->sin_addr, 4);
  }
  return address;
}

void address_print(const gateway_address *address, char *text, size_t capacity) {
  bool four = is_four(address);
  inet_ntop(four ? AF_INET : AF_INET6, four ? address->bytes + sizeof mapped : address->bytes, text, (socklen_t)capacity);
}

static bool is_loopback(const gateway_address *from) {
  static const uint8_t six[16] = {[15] = 1};
  return is_four(from) ? from->bytes[sizeof mapped] == 127 : memcmp(from->bytes, six, sizeof six) == 0;
}

gateway_client address_client(const gateway_address *from) {
  gateway_client client = {.is_loopback = is_loopback(from)};
  memcpy(is_four(from) ? &client.low : &client.high, from->bytes + (is_four(from) ? 8 : 0), sizeof client.high);
  return client;
}

/* With a seed of the process, so that addresses cannot be chosen to share a list. */
static struct address **list_of(gateway *gateway, uint64_t high, uint64_t low) {
  uint64_t mixed = (high ^ gateway->address_seed) * 0x9E3779B97F4A7C15u + (low ^ gateway->address_seed);
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return &gateway->addresses[(mixed >> 32) % ADDRESS_LISTS];
}

static bool is_counted(const gateway *gateway, const gateway_address *from) {
  const gateway_configuration *c = &gateway->configuration;
  return c->address_limit > 0 && (c->limits_loopback || !is_loopback(from));
}

static struct address *find(gateway *gateway, const gateway_address *from) {
  gateway_client client = address_client(from);
  struct address *address = *list_of(gateway, client.high, client.low);
  while (address && (address->high != client.high || address->low != client.low)) address = address->next;
  return address;
}

static struct address *add(gateway *gateway, const gateway_address *from) {
  struct address *address = calloc(1, sizeof *address);
  if (!address) return NULL;
  gateway_client client = address_client(from);
  address->high = client.high;
  address->low = client.low;
  struct address **list = list_of(gateway, address->high, address->low);
  address->next = *list;
  *list = address;
  return address;
}

bool address_is_refusing(gateway *gateway, const gateway_address *from, int most) {
  const struct address *address = is_counted(gateway, from) ? find(gateway, from) : NULL;
  return address && address->connections >= gateway->configuration.address_limit && address->refused >= most;
}

struct place address_enter(gateway *gateway, const gateway_address *from) {
  struct place place = {0};
  if (!is_counted(gateway, from)) return place;
  place.address = find(gateway, from);
  if (!place.address && !(place.address = add(gateway, from))) return place;
  place.is_refused = place.address->connections >= gateway->configuration.address_limit;
  if (place.is_refused) {
    place.address->refused += 1;
  } else {
    place.address->connections += 1;
  }
  return place;
}

void address_leave(gateway *gateway, struct place *place) {
  struct address *address = place->address;
  bool was_refused = place->is_refused;
  *place = (struct place){0};
  if (!address) return;
  if (was_refused) {
    address->refused -= 1;
  } else {
    address->connections -= 1;
  }
  if (address->connections || address->refused) return;
  struct address **at = list_of(gateway, address->high, address->low);
  while (*at != address) at = &(*at)->next;
  *at = address->next;
  free(address);
}
