#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>

/* A constant whose macro Swift cannot import. */
enum { openssl_public_key = EVP_PKEY_PUBLIC_KEY };
