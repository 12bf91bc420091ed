/* The listening socket. */
#ifndef CGATEWAY_LISTENER_H
#define CGATEWAY_LISTENER_H

#include "gateway.h"

int listener_open(gateway *gateway, char *error, size_t capacity);
bool listener_adopt(gateway *gateway);
int listener_accept(gateway *gateway);
void listener_close(gateway *gateway);

#endif
