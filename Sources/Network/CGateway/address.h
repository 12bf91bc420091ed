/* How many connections an address has. */
#ifndef CGATEWAY_ADDRESS_H
#define CGATEWAY_ADDRESS_H

#include "gateway.h"

/* A place among the connections of an address. */
struct place {
  struct address *address; /* NULL for one that is not limited */
  bool is_refused;         /* its address has too many */
};

gateway_client address_client(const struct sockaddr_storage *from);
/* Whether an address has all connections that it may have, and `most` that are being refused. */
bool address_is_refusing(gateway *gateway, const struct sockaddr_storage *from, int most);
struct place address_enter(gateway *gateway, const struct sockaddr_storage *from);
void address_leave(gateway *gateway, struct place *place);

#endif
