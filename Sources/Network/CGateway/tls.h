/* Certificates. */
#ifndef CGATEWAY_TLS_H
#define CGATEWAY_TLS_H

#include "gateway.h"

struct pair; /* a certificate and its key */

/* Any thread. NULL on failure, with a sentence in `error`. */
struct pair *pair_load(const gateway_configuration *c, char *error, size_t capacity);
void pair_free(struct pair *pair);

struct tls *tls_load(const gateway_configuration *c, char *error, size_t capacity);
bool tls_configure(struct tls *tls, void *context);
void tls_renew(struct tls *tls, struct pair *pair);
void tls_free(struct tls *tls);

#endif
