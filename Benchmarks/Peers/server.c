// The server of every scenario but `get`: one thread, edge-triggered epoll, and as little work per byte as the kernel
// allows, so that the client is what is measured.
//
//     GET /bytes/N    N zero bytes, by sendfile from a memory file
//     GET /file/N     the same with an entity tag, as a download that may be gone on with wants it
//     GET /given      the file it was given at its start, as JSON, by sendfile
//     GET /events     the same as server-sent events
//     GET /hold/N     1 KiB, but not before N requests wait for it: so many connections are open at once
//     PUT anything    reads its Content-Length and throws it away without copying (MSG_TRUNC), then answers 1 KiB
//
// `Connection: close` is honoured. Prints its port once it listens; ends with its standard input.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 1024, SMALL = 1024, EVENTS = 512, MEMORY_FILE = 4 << 20, GULP = 1 << 30 };

struct connection {
    int descriptor, closes;
    size_t received;        // of the request's head
    uint64_t unread;        // of the request's body
    uint64_t unsent;        // of the response's body
    struct connection *next_held;
    const char *given_type; // of the response's body if it is the given file, or NULL
    char head[HEAD];
};

static int epoll, memory_file, given_file = -1;
static uint64_t given_length;
static struct connection *held;
static long held_count;

static void fail(const char *reason) {
    perror(reason);
    exit(1);
}

static void connection_close(struct connection *connection) {
    close(connection->descriptor);
    free(connection);
}

// 0 when the connection is gone.
static int answer_with(struct connection *connection, const char *status, uint64_t length, const char *field) {
    char text[256 + SMALL];
    size_t count = (size_t)snprintf(text, 256, "HTTP/1.1 %s\r\nServer: bench\r\nContent-Type: %s\r\n"
        "Content-Length: %llu\r\n%sConnection: %s\r\n\r\n", status,
        connection->given_type ? connection->given_type : "text/plain", (unsigned long long)length, field,
        connection->closes ? "close" : "keep-alive");
    connection->unsent = length;
    if (length <= SMALL && !connection->given_type) {
        memset(text + count, 'x', length);
        count += length;
        connection->unsent = 0;
    }
    int more = connection->unsent > 0 ? MSG_MORE : 0;
    if (send(connection->descriptor, text, count, MSG_NOSIGNAL | MSG_DONTWAIT | more) != (ssize_t)count) goto gone;
    if (connection->unsent > 0 || !connection->closes) return 1;
gone:
    connection_close(connection);
    return 0;
}

static int answer(struct connection *connection, uint64_t length) {
    return answer_with(connection, "200 OK", length, "");
}

// Sends what the kernel takes; 0 when the connection is gone.
static int send_body(struct connection *connection) {
    while (connection->unsent > 0) {
        off_t offset = connection->given_type ? (off_t)(given_length - connection->unsent) : 0;
        size_t wanted = connection->unsent < MEMORY_FILE ? connection->unsent : MEMORY_FILE;
        int source = connection->given_type ? given_file : memory_file;
        ssize_t count = sendfile(connection->descriptor, source, &offset, wanted);
        if (count < 0 && errno == EAGAIN) return 1;
        if (count <= 0) break;
        connection->unsent -= (uint64_t)count;
        if (connection->unsent == 0 && !connection->closes) return 1;
    }
    if (connection->unsent == 0 && !connection->closes) return 1;
    connection_close(connection);
    return 0;
}

static int hold(struct connection *connection, long enough) {
    connection->next_held = held;
    held = connection;
    if (++held_count < enough) return 1;
    int alive = 1;
    while (held) {
        struct connection *each = held;
        held = each->next_held;
        if (!answer(each, SMALL) && each == connection) alive = 0;
    }
    held_count = 0;
    return alive;
}

// All of a file, or the range that is asked for, "a-b" or "a-"; every byte is the same. 0 when the connection is gone.
static int answer_file(struct connection *connection, const char *head) {
    uint64_t length = strtoull(head + 10, NULL, 10);
    const char *tag = "Accept-Ranges: bytes\r\nETag: \"bench\"\r\n";
    const char *range = strcasestr(head, "\r\nRange: bytes=");
    if (!range) return answer_with(connection, "200 OK", length, tag);
    char *rest, fields[128];
    uint64_t first = strtoull(range + 15, &rest, 10), last = strtoull(rest + 1, NULL, 10);
    if (last == 0) last = length - 1;
    snprintf(fields, sizeof fields, "%sContent-Range: bytes %llu-%llu/%llu\r\n", tag, (unsigned long long)first,
        (unsigned long long)last, (unsigned long long)length);
    return answer_with(connection, "206 Partial Content", last - first + 1, fields);
}

// The head is complete; 0 when the connection is gone.
static int begin(struct connection *connection, char *end) {
    char *head = connection->head;
    size_t extra = connection->received - (size_t)(end + 4 - head);
    *end = 0;
    connection->received = 0;
    connection->closes = strcasestr(head, "\r\nConnection: close") != NULL;
    char *length = strcasestr(head, "\r\nContent-Length: ");
    if (length) {
        connection->unread = strtoull(length + 18, NULL, 10) - extra;
        return connection->unread > 0 ? 1 : answer(connection, SMALL);
    }
    if (!strncmp(head, "GET /hold/", 10)) return hold(connection, atol(head + 10));
    connection->given_type = !strncmp(head, "GET /given ", 11) ? "application/json"
        : !strncmp(head, "GET /events ", 12) ? "text/event-stream" : NULL;
    if (connection->given_type) return answer(connection, given_length) && send_body(connection);
    if (!strncmp(head, "GET /bytes/", 11))
        return answer(connection, strtoull(head + 11, NULL, 10)) && send_body(connection);
    if (!strncmp(head, "GET /file/", 10)) return answer_file(connection, head) && send_body(connection);
    fail("request");
    return 0;
}

static void receive(struct connection *connection) {
    for (;;) {
        ssize_t count;
        if (connection->unread > 0) {
            size_t wanted = connection->unread < GULP ? connection->unread : GULP;
            count = recv(connection->descriptor, NULL, wanted, MSG_DONTWAIT | MSG_TRUNC);
        } else {
            size_t room = HEAD - 1 - connection->received;
            count = recv(connection->descriptor, connection->head + connection->received, room, MSG_DONTWAIT);
        }
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) return connection_close(connection);
        if (connection->unread > 0) {
            connection->unread -= (uint64_t)count;
            if (connection->unread == 0 && !answer(connection, SMALL)) return;
            continue;
        }
        connection->received += (size_t)count;
        connection->head[connection->received] = 0;
        char *end = strstr(connection->head, "\r\n\r\n");
        if (end && !begin(connection, end)) return;
        if (!connection->unread && count < HEAD / 2) return;
    }
}

static void accept_all(int listener) {
    for (;;) {
        int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor < 0 && errno == EAGAIN) return;
        if (descriptor < 0) fail("accept");
        int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct connection *connection = calloc(1, sizeof *connection);
        if (!connection) fail("no memory");
        connection->descriptor = descriptor;
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.ptr = connection}};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
    }
}

static int open_listener(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 16384) != 0) fail("listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void open_given(const char *path) {
    struct stat status;
    given_file = open(path, O_RDONLY | O_CLOEXEC);
    if (given_file < 0 || fstat(given_file, &status) != 0) fail(path);
    given_length = (uint64_t)status.st_size;
}

int main(int count, char **words) {
    if (count > 1) open_given(words[1]);
    // A client may leave in the middle of a body, and sendfile knows no MSG_NOSIGNAL.
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    memory_file = memfd_create("body", MFD_CLOEXEC);
    if (memory_file < 0 || fallocate(memory_file, 0, 0, MEMORY_FILE) != 0) fail("memfd");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = open_listener(), quit = STDIN_FILENO;
    struct epoll_event listening = {.events = EPOLLIN | EPOLLET, .data = {.ptr = &listener}};
    struct epoll_event quitting = {.events = EPOLLIN, .data = {.ptr = &quit}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &listening);
    epoll_ctl(epoll, EPOLL_CTL_ADD, quit, &quitting);
    for (struct epoll_event events[EVENTS];;) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int at = 0; at < count; at++) {
            void *of = events[at].data.ptr;
            if (of == &quit) return 0;
            if (of == &listener) {
                accept_all(listener);
                continue;
            }
            struct connection *connection = of;
            if (events[at].events & EPOLLOUT && connection->unsent > 0 && !send_body(connection)) continue;
            if (events[at].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(connection);
        }
    }
}
