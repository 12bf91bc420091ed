/* Certificates that OpenSSL trusts. */
#ifndef WEBSOCKET_TLS_H
#define WEBSOCKET_TLS_H

#include <openssl/ssl.h>

/*
 * Makes the TLS context that checks a connection to `host`; the caller frees it.
 *
 * authorities: a PEM file; NULL for the system's. Returns NULL for a file without certificates.
 */
SSL_CTX *tls_create(const char *host, const char *authorities);

#endif
