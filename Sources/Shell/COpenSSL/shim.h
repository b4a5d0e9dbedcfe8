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
// Counts handshake messages that arrive after the handshake, such as those for new keys. Beyond the maximum, the input
// that was not read yet is dropped, so that one call of SSL_read does not process them all. The application's data is
// the count plus one, or zero while messages are not counted.
static inline void hand_ssl_count_late_messages(SSL *ssl) { SSL_set_app_data(ssl, (void *)1); }
static inline long hand_ssl_late_messages(const SSL *ssl) {
    long data = (long)SSL_get_app_data(ssl);
    return data > 0 ? data - 1 : 0;
}
static inline long hand_ssl_most_late_messages(void) { return 16; }
static inline void hand_ssl_see_message(
    int is_written, int version, int type, const void *bytes, size_t size, SSL *ssl, void *argument) {
    long data = (long)SSL_get_app_data(ssl);
    if (is_written || type != SSL3_RT_HANDSHAKE || data == 0) return;
    SSL_set_app_data(ssl, (void *)(data + 1));
    if (data > hand_ssl_most_late_messages()) (void)BIO_reset(SSL_get_rbio(ssl));
}
static inline void hand_ssl_see_messages(SSL_CTX *context) { SSL_CTX_set_msg_callback(context, hand_ssl_see_message); }
// Get the contents of a memory BIO, and drop them. BIO_reset would also clear all of its memory, which is as large as
// the largest output so far.
static inline long hand_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }
static inline void hand_bio_drop(BIO *bio) {
    char dropped[4096];
    while (BIO_read(bio, dropped, sizeof dropped) > 0) continue;
}
// An empty memory BIO is not at its end: more input will arrive.
static inline void hand_bio_never_ends(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }

#endif
