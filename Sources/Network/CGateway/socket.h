/* Facts of a socket that only the kernel, or OpenSSL, knows. */
#ifndef CGATEWAY_SOCKET_H
#define CGATEWAY_SOCKET_H

#include "gateway.h"

/* A number that changes when the peer takes something; always 0 where the system does not say. */
uint64_t socket_progress(int descriptor);
/* How many bytes of what the peer sent have been read. */
uint64_t socket_read_count(int descriptor);
/* Whether the peer has closed its side, whatever it sent before. */
bool socket_has_ended(int descriptor);
/* Has the kernel give up a peer that acknowledges nothing for so long. */
void socket_limit_patience(int descriptor, lws_usec_t patience);
/* Ends what is sent, so that the peer knows that nothing is missing. */
void socket_end(struct lws *wsi);

#endif
