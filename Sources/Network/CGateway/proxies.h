/* Who a client is, where a proxy speaks for it. */
#ifndef CGATEWAY_PROXIES_H
#define CGATEWAY_PROXIES_H

#include "request.h"

/* Reads the ranges of the configuration; false, with a sentence, for one that is none. */
bool proxies_read(gateway *gateway, char *error, size_t capacity);
bool proxies_trust(const gateway *gateway, const struct sockaddr_storage *address);
struct sockaddr_storage proxies_find_client(const gateway *gateway, const struct sockaddr_storage *peer,
                                            const struct request *request);

#endif
