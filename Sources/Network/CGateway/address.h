/* How many connections an address has. */
#ifndef CGATEWAY_ADDRESS_H
#define CGATEWAY_ADDRESS_H

#include "gateway.h"

/* A place among the connections of an address. */
struct place {
  struct address *address; /* NULL for one that is not limited */
  bool is_refused;         /* its address has too many */
};

gateway_address address_of(const struct sockaddr_storage *from);
/* As text, IPv4 as IPv4. */
void address_print(const gateway_address *address, char *text, size_t capacity);
gateway_client address_client(const gateway_address *from);
/* Whether an address has all connections that it may have, and `most` that are being refused. */
bool address_is_refusing(gateway *gateway, const gateway_address *from, int most);
struct place address_enter(gateway *gateway, const gateway_address *from);
void address_leave(gateway *gateway, struct place *place);

#endif
