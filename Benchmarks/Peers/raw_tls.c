// The floor under TLS: raw.c with OpenSSL between it and the socket. One context and one parsed trust store for all
// connections, the certificate and its address verified, one recv per small response (read-ahead), one read buffer for
// many records of a long body.
//
// The program ends when a handshake is resumed that should be full, or the other way round.
#include "load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 16384, EVENTS = 256, BULK = 256 * 1024 };

struct connection {
    int descriptor;  // 0 before it is opened
    SSL *ssl;
    uint64_t received;
    uint64_t whole;  // how long the response is, head and body; 0 before its head is there
    uint64_t begun;
    char buffer[BUFFER];
};

static int epoll;
static struct load load;
static SSL_CTX *context;
static SSL_SESSION *latest;  // of the connections so far
static int is_measured;
static char bulk[BULK];
static char request[1024];
static int request_length;

static void fail_tls(const char *what) {
    ERR_print_errors_fp(stderr);
    fail(what);
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
    (void)ssl;
    SSL_SESSION_free(latest);
    latest = session;
    return 1;
}

static void context_open(void) {
    context = SSL_CTX_new(TLS_client_method());
    if (!context || SSL_CTX_load_verify_file(context, load.ca) != 1) fail_tls("--ca");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_read_ahead(context, 1);
    if (load.length > BUFFER) SSL_CTX_set_default_read_buffer_len(context, BULK);
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_CTX_get0_param(context), load.host) != 1) fail("host: an IPv4 address");
    if (!load.resumed) return;
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
}

static void connection_open(struct connection *connection) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(load.port))};
    int on = 1;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, load.host, &address.sin_addr) != 1) fail("host: an IPv4 address");
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ioctl(descriptor, FIONBIO, &on);
    connection->descriptor = descriptor;
    connection->ssl = SSL_new(context);
    if (!connection->ssl || SSL_set_fd(connection->ssl, descriptor) != 1) fail_tls("SSL_new");
    SSL_set_connect_state(connection->ssl);
    if (load.resumed && latest) SSL_set_session(connection->ssl, latest);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.ptr = connection}};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

static void connection_close(struct connection *connection) {
    SSL_shutdown(connection->ssl);
    SSL_free(connection->ssl);
    close(connection->descriptor);
    connection->ssl = NULL;
    connection->descriptor = 0;
}

static void request_send(struct connection *connection) {
    if (SSL_write(connection->ssl, request, request_length) != request_length) fail_tls("SSL_write");
}

// 0 while it wants to hear more from the server; sends the request when it is done.
static int handshake(struct connection *connection) {
    int result = SSL_do_handshake(connection->ssl);
    if (result != 1) {
        if (SSL_get_error(connection->ssl, result) != SSL_ERROR_WANT_READ) fail_tls("handshake");
        return 0;
    }
    if (is_measured && load.fresh && SSL_session_reused(connection->ssl) != load.resumed) fail("resumption");
    request_send(connection);
    return 1;
}

static void connection_send(struct connection *connection) {
    connection->received = connection->whole = 0;
    connection->begun = now();
    if (connection->descriptor) return request_send(connection);
    connection_open(connection);
    handshake(connection);
}

// Whether the whole response is there; ends the program on anything but a 200 of the right length.
static int response_complete(struct connection *connection) {
    char *text = connection->buffer;
    if (connection->whole) return connection->received == connection->whole;
    char *end = memmem(text, connection->received, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(text, "HTTP/1.1 200 ", 13) != 0) fail("status");
    char *length = memmem(text, (size_t)(end - text), "Content-Length: ", 16);
    if (!length || strtoull(length + 16, NULL, 10) != load.length) fail("length");
    connection->whole = (uint64_t)(end - text) + 4 + load.length;
    if (connection->received > connection->whole) fail("excess");
    return connection->received == connection->whole;
}

static int connection_receive(struct connection *connection) {
    if (!SSL_is_init_finished(connection->ssl) && !handshake(connection)) return 0;
    for (;;) {
        int is_long = connection->whole > BUFFER;
        char *buffer = is_long ? bulk : connection->buffer + connection->received;
        size_t room = is_long ? BULK : BUFFER - connection->received;
        int count = SSL_read(connection->ssl, buffer, (int)room);
        if (count <= 0) {
            if (SSL_get_error(connection->ssl, count) != SSL_ERROR_WANT_READ) fail_tls("SSL_read");
            return 0;
        }
        connection->received += (size_t)count;
        if (response_complete(connection)) return 1;
    }
}

// Sends `requests` requests over all connections and returns once every response has been checked.
static void run(struct connection *connections, int concurrency, int requests, struct measure *measure) {
    struct epoll_event events[EVENTS];
    int unsent = requests, unanswered = requests;
    for (int at = 0; at < concurrency && unsent > 0; at++, unsent--) connection_send(&connections[at]);
    while (unanswered > 0) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int at = 0; at < count; at++) {
            struct connection *connection = events[at].data.ptr;
            if (!connection_receive(connection)) continue;
            if (measure) measure_record(measure, connection->begun);
            unanswered--;
            if (load.fresh) connection_close(connection);
            if (unsent > 0) {
                unsent--;
                connection_send(connection);
            }
        }
    }
}

int main(int count, char **words) {
    load = load_parse(count, words);
    if (!load.ca) fail("--ca FILE is needed");
    request_length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\n%s\r\n", load.path,
                              load.host, load.port, load.fresh ? "Connection: close\r\n" : "");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    context_open();
    struct connection *connections = calloc((size_t)load.concurrency, sizeof(struct connection));
    if (!connections) fail("no memory");
    run(connections, load.concurrency, load.warmup, NULL);
    struct measure measure = measure_begin(load.requests);
    is_measured = 1;
    run(connections, load.concurrency, load.requests, &measure);
    measure_print(&measure);
    for (int at = 0; at < load.concurrency; at++)
        if (connections[at].ssl) connection_close(&connections[at]);
    SSL_SESSION_free(latest);
    SSL_CTX_free(context);
    free(connections);
    return 0;
}
