#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// What OpenSSL offers only as macros, which Swift does not import. Nothing else.

static inline void *_Nullable kith_sk_value(const void *_Nullable stack, int index) {
    return OPENSSL_sk_value((const OPENSSL_STACK *)stack, index);
}

static inline int kith_sk_count(const void *_Nullable stack) {
    return stack == NULL ? 0 : OPENSSL_sk_num((const OPENSSL_STACK *)stack);
}

/// Adds the extension `nid` with the configuration text `value` to `certificate`, as issued by `issuer`.
static inline int kith_x509_add_extension(X509 *_Nonnull certificate, X509 *_Nonnull issuer, int nid, const char *_Nonnull value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (extension == NULL) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

static inline long kith_bio_contents(BIO *_Nonnull bio, const unsigned char *_Nullable *_Nonnull bytes) {
    return BIO_get_mem_data(bio, bytes);
}

static inline void kith_bio_reset(BIO *_Nonnull bio) { (void)BIO_reset(bio); }

static inline void kith_ssl_ctx_set_options(SSL_CTX *_Nonnull context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
                                     | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
}

static inline void kith_ssl_ctx_read_ahead(SSL_CTX *_Nonnull context) { SSL_CTX_set_read_ahead(context, 1); }

static inline const char *_Nullable kith_ssl_cipher(const SSL *_Nonnull ssl) { return SSL_get_cipher_name(ssl); }

static inline int kith_ssl_ctx_tls13_only(SSL_CTX *_Nonnull context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) && SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION);
}

static inline int kith_ssl_ctx_add_chain(SSL_CTX *_Nonnull context, X509 *_Nonnull certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int kith_ssl_ctx_set_groups(SSL_CTX *_Nonnull context, const char *_Nonnull groups) {
    return (int)SSL_CTX_set1_groups_list(context, groups);
}

static inline void kith_ssl_ctx_no_session_cache(SSL_CTX *_Nonnull context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

static inline void kith_ssl_ctx_limit_certificates(SSL_CTX *_Nonnull context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}

static inline int kith_ssl_key_update(SSL *_Nonnull ssl) { return SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED); }
