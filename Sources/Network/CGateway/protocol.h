/* The callback of libwebsockets. */
#ifndef CGATEWAY_PROTOCOL_H
#define CGATEWAY_PROTOCOL_H

#include "gateway.h"

int protocol_call(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length);

#endif
