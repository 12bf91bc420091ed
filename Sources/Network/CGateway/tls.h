/* Certificates. */
#ifndef CGATEWAY_TLS_H
#define CGATEWAY_TLS_H

#include "gateway.h"

/* Makes another holder of the same certificate; NULL when out of memory. */
gateway_certificate *certificate_copy(const gateway_certificate *pair);

struct tls *tls_with(const gateway_certificate *certificate); /* NULL when out of memory */
bool tls_configure(struct tls *tls, void *context);
void tls_renew(struct tls *tls, gateway_certificate *certificate);
void tls_free(struct tls *tls);

#endif
