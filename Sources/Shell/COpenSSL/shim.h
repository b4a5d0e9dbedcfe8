#ifndef HAND_COPENSSL_SHIM_H
#define HAND_COPENSSL_SHIM_H

#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Swift does not see these macros.
static inline int hand_ssl_at_least_1_2(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}
static inline void hand_ssl_never_renegotiate(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}
static inline long hand_ssl_release_buffers(SSL_CTX *context) {
    return SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}
static inline int hand_ssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}
// Seconds until a certificate ends, and since it begins; negative if that is the other way round.
static inline long hand_x509_seconds_left(const X509 *certificate) {
    int days = 0, seconds = 0;
    ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate));
    return days * 86400L + seconds;
}
static inline long hand_x509_seconds_since(const X509 *certificate) {
    int days = 0, seconds = 0;
    ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(certificate), NULL);
    return days * 86400L + seconds;
}
// What is in a memory BIO, and forgetting it.
static inline long hand_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline int hand_bio_reset(BIO *bio) { return (int)BIO_reset(bio); }
// An empty one is not at its end: more will come.
static inline void hand_bio_never_ends(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }

#endif
