/*
 * Certificates. libwebsockets makes the TLS context and does the handshakes; what the context may do is said here, and
 * its certificate comes from here, because libwebsockets cannot change it while connections are open. Those keep what
 * they began with; new ones get the pair that was loaded last.
 */
#include "tls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

struct gateway_certificate {
  X509 *certificate;
  STACK_OF(X509) * chain;
  EVP_PKEY *key;
};

struct tls {
  gateway_certificate *certificate; /* the one loaded last */
  SSL_CTX *context; /* libwebsockets' */
};

void gateway_certificate_free(gateway_certificate *pair) {
  if (!pair) return;
  X509_free(pair->certificate);
  sk_X509_pop_free(pair->chain, X509_free);
  EVP_PKEY_free(pair->key);
  free(pair);
}

gateway_certificate *certificate_copy(const gateway_certificate *pair) {
  gateway_certificate *copy = calloc(1, sizeof *copy);
  STACK_OF(X509) *chain = copy ? X509_chain_up_ref(pair->chain) : NULL;
  if (!chain) {
    free(copy);
    return NULL;
  }
  X509_up_ref(pair->certificate);
  EVP_PKEY_up_ref(pair->key);
  *copy = (gateway_certificate){.certificate = pair->certificate, .chain = chain, .key = pair->key};
  return copy;
}

/* No operator is there to type a passphrase. */
static int no_passphrase(char *buffer, int size, int writing, void *was_asked) {
  (void)buffer, (void)size, (void)writing;
  *(bool *)was_asked = true;
  return -1;
}

static BIO *open_file(const char *what, const char *path, char *error, size_t capacity) {
  FILE *file = fopen(path, "re");
  if (!file) snprintf(error, capacity, "cannot read the %s %s: %s", what, path, strerror(errno));
  BIO *bio = file ? BIO_new_fp(file, BIO_CLOSE) : NULL;
  if (file && !bio) fclose(file);
  return bio;
}

static bool read_certificates(gateway_certificate *pair, const char *path, char *error, size_t capacity) {
  BIO *file = open_file("certificate", path, error, capacity);
  if (!file) return false;
  X509 *next;
  pair->certificate = PEM_read_bio_X509_AUX(file, NULL, NULL, NULL);
  pair->chain = sk_X509_new_null();
  while (pair->certificate && pair->chain && (next = PEM_read_bio_X509(file, NULL, NULL, NULL))) {
    if (!sk_X509_push(pair->chain, next)) X509_free(next);
  }
  BIO_free(file);
  if (!pair->certificate) snprintf(error, capacity, "%s holds no certificate in PEM format", path);
  return pair->certificate && pair->chain;
}

static bool read_key(gateway_certificate *pair, const char *path, char *error, size_t capacity) {
  bool was_asked = false;
  BIO *file = open_file("key", path, error, capacity);
  if (!file) return false;
  pair->key = PEM_read_bio_PrivateKey(file, NULL, no_passphrase, &was_asked);
  BIO_free(file);
  if (pair->key) return true;
  snprintf(error, capacity, was_asked ? "the key %s needs a passphrase: store it without one" : "%s holds no private key in PEM format",
           path);
  return false;
}

static bool use(SSL_CTX *context, const gateway_certificate *pair) {
  return SSL_CTX_use_cert_and_key(context, pair->certificate, pair->key, pair->chain, 1) == 1;
}

/* Whether OpenSSL takes the pair, which it does not if the key is another's, or too short. */
static bool check(const gateway_certificate *pair, const char *certificate, const char *key, char *error, size_t capacity) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  bool is_good = context && use(context, pair);
  SSL_CTX_free(context);
  if (is_good) return true;
  if (X509_check_private_key(pair->certificate, pair->key) != 1) {
    snprintf(error, capacity, "the key %s does not belong to the certificate %s", key, certificate);
  } else {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    snprintf(error, capacity, "the certificate %s cannot be used: %s", certificate, reason ? reason : "OpenSSL refuses it");
  }
  return false;
}

gateway_certificate *gateway_certificate_load(const char *certificate, const char *key, char *error, size_t capacity) {
  gateway_certificate *pair = calloc(1, sizeof *pair);
  snprintf(error, capacity, "out of memory");
  bool is_good = pair && read_certificates(pair, certificate, error, capacity) && read_key(pair, key, error, capacity) &&
                 check(pair, certificate, key, error, capacity);
  ERR_clear_error();
  if (is_good) return pair;
  gateway_certificate_free(pair);
  return NULL;
}

struct tls *tls_with(const gateway_certificate *certificate) {
  struct tls *tls = calloc(1, sizeof *tls);
  if (tls && (tls->certificate = certificate_copy(certificate))) return tls;
  free(tls);
  return NULL;
}

/* LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS: libwebsockets has made the context. */
bool tls_configure(struct tls *tls, void *context) {
  tls->context = context;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  return use(context, tls->certificate);
}

/* Takes the certificate: for handshakes from now on. */
void tls_renew(struct tls *tls, gateway_certificate *certificate) {
  if (!use(tls->context, certificate)) ERR_clear_error();
  gateway_certificate_free(tls->certificate);
  tls->certificate = certificate;
}

void tls_free(struct tls *tls) {
  if (!tls) return;
  gateway_certificate_free(tls->certificate);
  free(tls);
}
