/* OpenSSL 3, and those of its functions and constants that are macros. No logic. */
#ifndef DUNLIN_COPENSSL_H
#define DUNLIN_COPENSSL_H

#if !__has_include(<openssl/ssl.h>)
#error "OpenSSL's headers are missing: install libssl-dev (Debian, Ubuntu) or openssl-devel (Fedora, Amazon Linux)"
#endif
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/store.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* engine */

static const uint64_t dunlin_op_no_renegotiation = SSL_OP_NO_RENEGOTIATION;
static const uint64_t dunlin_op_no_compression = SSL_OP_NO_COMPRESSION;
static const uint64_t dunlin_op_ignore_unexpected_eof = SSL_OP_IGNORE_UNEXPECTED_EOF;
static const uint64_t dunlin_op_enable_middlebox_compat = SSL_OP_ENABLE_MIDDLEBOX_COMPAT;
static const uint64_t dunlin_op_legacy_server_connect = SSL_OP_LEGACY_SERVER_CONNECT;
static const uint64_t dunlin_op_unsafe_renegotiation = SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION;
static const uint64_t dunlin_op_no_forward_secrecy = SSL_OP_ALLOW_NO_DHE_KEX;
static const uint64_t dunlin_op_no_ticket = SSL_OP_NO_TICKET;

static inline long dunlin_ctx_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline long dunlin_ctx_clear_mode(SSL_CTX *context, long mode) { return SSL_CTX_clear_mode(context, mode); }
static inline int dunlin_ctx_set_min_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}
static inline int dunlin_ctx_set_max_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}
static inline int dunlin_ctx_set_groups(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}
static inline long dunlin_ctx_set_session_cache_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_session_cache_mode(context, mode);
}
static inline long dunlin_ctx_set_read_ahead(SSL_CTX *context, int on) { return SSL_CTX_set_read_ahead(context, on); }
static inline int dunlin_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}
static inline int dunlin_set_retry_verify(SSL *ssl) { return SSL_set_retry_verify(ssl); }
static inline long dunlin_set_status_type(SSL *ssl, int type) { return SSL_set_tlsext_status_type(ssl, type); }
static inline long dunlin_ctx_set_status_callback(SSL_CTX *context, int (*callback)(SSL *, void *)) {
    return SSL_CTX_set_tlsext_status_cb(context, callback);
}
static inline long dunlin_status_response(SSL *ssl, const unsigned char **response) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, response);
}
static inline int dunlin_ssl_data_index(void) { return SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL); }
static inline int dunlin_use_chain(SSL *ssl, STACK_OF(X509) *chain) { return (int)SSL_set1_chain(ssl, chain); }
static inline void dunlin_bio_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void dunlin_bio_retry_write(BIO *bio) { BIO_set_retry_write(bio); }
static inline void dunlin_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline int dunlin_error_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline int dunlin_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int dunlin_error_is_system(unsigned long code) { return ERR_SYSTEM_ERROR(code); }

static inline int dunlin_open_private_log(const char *path) {
    int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0 || descriptor > 2) return descriptor;
    /* Where a program has closed 0 to 2, what it prints must not end up in here. */
    int raised = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    close(descriptor);
    return raised;
}

static inline int dunlin_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
static inline int dunlin_negotiated_group(SSL *ssl) { return (int)SSL_get_negotiated_group(ssl); }
static inline void dunlin_raise(int reason) { ERR_raise(ERR_LIB_SSL, reason); }
static inline void dunlin_free(void *memory) { OPENSSL_free(memory); }

static inline int dunlin_certificate_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *dunlin_certificate_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline int dunlin_peer_name_count(const SSL *ssl) { return sk_X509_NAME_num(SSL_get0_peer_CA_list(ssl)); }
static inline X509_NAME *dunlin_peer_name_at(const SSL *ssl, int index) {
    return sk_X509_NAME_value(SSL_get0_peer_CA_list(ssl), index);
}
static inline STACK_OF(X509) *dunlin_certificates_new(void) { return sk_X509_new_null(); }
static inline int dunlin_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
/* The caller's afterwards. */
static inline X509 *dunlin_certificates_pop(STACK_OF(X509) *stack) { return sk_X509_pop(stack); }
/* The stack and one reference of each certificate. */
static inline void dunlin_certificates_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
/* The stack only. */
static inline void dunlin_certificates_drop(STACK_OF(X509) *stack) { sk_X509_free(stack); }

/* trust */

static const unsigned long dunlin_name_flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;

static inline long dunlin_bio_contents(BIO *bio, const char **start) { return BIO_get_mem_data(bio, (char **)start); }
static inline int dunlin_name_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline const GENERAL_NAME *dunlin_name_at(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}
static inline int dunlin_subtree_count(const STACK_OF(GENERAL_SUBTREE) *trees) { return sk_GENERAL_SUBTREE_num(trees); }
static inline const GENERAL_NAME *dunlin_subtree_base_at(const STACK_OF(GENERAL_SUBTREE) *trees, int index) {
    return sk_GENERAL_SUBTREE_value(trees, index)->base;
}
static inline X509 *dunlin_certificate_decode(const unsigned char *start, long count, long *used) {
    const unsigned char *cursor = start;
    X509 *certificate = d2i_X509(NULL, &cursor, count);
    *used = cursor - start;
    return certificate;
}
static inline X509_NAME *dunlin_name_decode(const unsigned char *start, long count) {
    return d2i_X509_NAME(NULL, &start, count);
}
static inline X509_CRL *dunlin_crl_decode(const unsigned char *start, long count, long *used) {
    const unsigned char *cursor = start;
    X509_CRL *list = d2i_X509_CRL(NULL, &cursor, count);
    *used = cursor - start;
    return list;
}
static inline STACK_OF(X509_CRL) *dunlin_crls_new(void) { return sk_X509_CRL_new_null(); }
static inline int dunlin_crls_push(STACK_OF(X509_CRL) *stack, X509_CRL *list) { return sk_X509_CRL_push(stack, list); }
/* The stack and one reference of each list. */
static inline void dunlin_crls_free(STACK_OF(X509_CRL) *stack) { sk_X509_CRL_pop_free(stack, X509_CRL_free); }
static inline OCSP_RESPONSE *dunlin_ocsp_decode(const unsigned char *start, long count) {
    return d2i_OCSP_RESPONSE(NULL, &start, count);
}
static inline int dunlin_ocsp_count(OCSP_BASICRESP *answer) { return OCSP_resp_count(answer); }
static inline EVP_PKEY *dunlin_public_key_decode(const unsigned char *start, long count, long *used) {
    const unsigned char *cursor = start;
    EVP_PKEY *key = d2i_PUBKEY(NULL, &cursor, count);
    *used = cursor - start;
    return key;
}

/* authority */

static inline long dunlin_set_mode(SSL *ssl, long mode) { return SSL_set_mode(ssl, mode); }
static inline int dunlin_set_min_version(SSL *ssl, int version) { return (int)SSL_set_min_proto_version(ssl, version); }
static inline int dunlin_set_max_version(SSL *ssl, int version) { return (int)SSL_set_max_proto_version(ssl, version); }
static inline int dunlin_set_groups(SSL *ssl, const char *list) { return (int)SSL_set1_groups_list(ssl, list); }

static inline int dunlin_ctx_set_ticket_keys(SSL_CTX *context, const void *keys, int count) {
    return (int)SSL_CTX_set_tlsext_ticket_keys(context, (void *)(uintptr_t)keys, count);
}
/* A copy of the response is the connection's own afterwards. */
static inline int dunlin_set_status_response(SSL *ssl, const void *response, int count) {
    void *copy = OPENSSL_memdup(response, (size_t)count);
    if (copy == NULL) return 0;
    return (int)SSL_set_tlsext_status_ocsp_resp(ssl, copy, count);
}

#endif
