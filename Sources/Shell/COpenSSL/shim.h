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
// The seconds until a certificate expires, and since it became valid; negative once it has expired, or before it is
// valid.
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
// The first host name of a certificate that is not a pattern, to be freed; NULL if there is none.
static inline char *hand_x509_host(const X509 *certificate) {
    GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    char *host = NULL;
    for (int i = 0; host == NULL && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS) continue;
        const char *text = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
        if (text[0] != '*') host = OPENSSL_strdup(text);
    }
    GENERAL_NAMES_free(names);
    return host;
}
static inline void hand_free(void *memory) { OPENSSL_free(memory); }

#endif
