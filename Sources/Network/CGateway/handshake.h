/* Which WebSocket handshakes are accepted. */
#ifndef CGATEWAY_HANDSHAKE_H
#define CGATEWAY_HANDSHAKE_H

#include "connection.h"

/* LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: the last stage at which a plain answer can be given. 0 lets it go on. */
int handshake_confirm(struct connection *connection, const char *upgrade);

#endif
