/* The listening socket. */
#ifndef CGATEWAY_LISTENER_H
#define CGATEWAY_LISTENER_H

#include "gateway.h"

void listener_open(gateway *gateway); /* or takes over the configuration's socket */
bool listener_adopt(gateway *gateway);
int listener_accept(gateway *gateway);
void listener_close(gateway *gateway);

#endif
