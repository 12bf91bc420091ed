#include "tls.h"

#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Corrects what libwebsockets does for IP addresses. It takes the host of the header Host, cut at the first colon,
 * which breaks IPv6 addresses, to check the certificate; and it names that host to the server, which RFC 6066 (3)
 * forbids for addresses. OpenSSL calls this as the handshake begins.
 */
static void check_address(const SSL *session, int where, int result) {
  (void)result;
  if (!(where & SSL_CB_HANDSHAKE_START)) return;
  const char *address = SSL_CTX_get_app_data(SSL_get_SSL_CTX(session));
  X509_VERIFY_PARAM *parameters = SSL_get0_param((SSL *)(uintptr_t)session);
  X509_VERIFY_PARAM_set1_host(parameters, NULL, 0);
  X509_VERIFY_PARAM_set1_ip_asc(parameters, address);
  SSL_set_tlsext_host_name((SSL *)(uintptr_t)session, NULL);
}

static bool is_address(const char *host) {
  ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
  ASN1_OCTET_STRING_free(address);
  return address != NULL;
}

SSL_CTX *tls_create(const char *host, const char *authorities) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  if (!context) return NULL;
  bool is_loaded = authorities ? SSL_CTX_load_verify_locations(context, authorities, NULL) == 1
                               : SSL_CTX_set_default_verify_paths(context) == 1;
  if (!is_loaded) {
    SSL_CTX_free(context);
    return NULL;
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  if (is_address(host)) {
    SSL_CTX_set_app_data(context, (void *)(uintptr_t)host);
    SSL_CTX_set_info_callback(context, check_address);
  }
  return context;
}
