/* Certificates that OpenSSL trusts. */
#ifndef WEBSOCKET_TLS_H
#define WEBSOCKET_TLS_H

#include <openssl/ssl.h>

/*
 * What a connection to `host` checks: to be freed.
 *
 * authorities: a file in PEM format; NULL for those that the system trusts.
 * Returns NULL for a file without certificates.
 */
SSL_CTX *tls_create(const char *host, const char *authorities);

#endif
