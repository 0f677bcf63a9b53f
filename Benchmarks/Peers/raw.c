// The floor: what the kernel alone charges for this work. One thread, non-blocking sockets, each registered once with
// edge-triggered epoll, one send and one recv per response, the request built once, no allocation per request.
//
// A recv that does not fill its buffer has drained the socket, so the next edge is never missed and no recv comes back
// empty. The check of a response is honest but only as general as this server: status, Content-Length, whole body.
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUFFER = 16384, EVENTS = 256, BULK = 256 * 1024 };

struct connection {
    int descriptor;   // 0 before it is opened
    uint64_t received;
    uint64_t whole;   // how long the response is, head and body; 0 before its head is there
    uint64_t begun;
    char buffer[BUFFER];
};

static int epoll;
static struct load load;
static char bulk[BULK];  // what a long body is sent from and received into
static char request[1024];
static size_t request_length;

static void connection_open(struct connection *connection) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(load.port))};
    int on = 1;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, load.host, &address.sin_addr) != 1) fail("host: an IPv4 address");
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.ptr = connection}};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
    connection->descriptor = descriptor;
}

static void connection_send(struct connection *connection) {
    connection->received = connection->whole = 0;
    connection->begun = now();
    if (connection->descriptor == 0) connection_open(connection);
    ssize_t sent = send(connection->descriptor, request, request_length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != (ssize_t)request_length) fail("send");
    for (uint64_t left = load.upload; left > 0; left -= (uint64_t)sent) {
        sent = send(connection->descriptor, bulk, left < BULK ? left : BULK, MSG_NOSIGNAL);
        if (sent <= 0) fail("send");
    }
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
    for (;;) {
        int is_long = connection->whole > BUFFER;
        char *buffer = is_long ? bulk : connection->buffer + connection->received;
        size_t room = is_long ? BULK : BUFFER - connection->received;
        ssize_t count = recv(connection->descriptor, buffer, room, MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) return 0;
        if (count <= 0) fail("recv");
        connection->received += (size_t)count;
        if (response_complete(connection)) return 1;
        if ((size_t)count < room) return 0;
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
            if (load.fresh) {
                close(connection->descriptor);
                connection->descriptor = 0;
            }
            if (unsent > 0) {
                unsent--;
                connection_send(connection);
            }
        }
    }
}

int main(int count, char **words) {
    load = load_parse(count, words);
    request_length = (size_t)snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s:%s\r\n",
                                      load.upload ? "PUT" : "GET", load.path, load.host, load.port);
    if (load.upload)
        request_length += (size_t)sprintf(request + request_length, "Content-Length: %llu\r\n",
                                          (unsigned long long)load.upload);
    request_length += (size_t)sprintf(request + request_length, load.fresh ? "Connection: close\r\n\r\n" : "\r\n");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct connection *connections = calloc((size_t)load.concurrency, sizeof(struct connection));
    if (!connections) fail("no memory");
    run(connections, load.concurrency, load.warmup, NULL);
    struct measure measure = measure_begin(load.requests);
    run(connections, load.concurrency, load.requests, &measure);
    measure_print(&measure);
    for (int at = 0; at < load.concurrency; at++)
        if (connections[at].descriptor) close(connections[at].descriptor);
    free(connections);
    return 0;
}
