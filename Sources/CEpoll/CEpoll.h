/* What the Glibc module leaves out: epoll, eventfd, prctl, some calls on files and a few constants that are macros.
 * No logic. */
#ifndef DUNLIN_CEPOLL_H
#define DUNLIN_CEPOLL_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

static inline int dunlin_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

/* One registration for the life of the descriptor: both directions, edge-triggered. */
static inline int dunlin_epoll_add(int epoll, int descriptor, uint64_t token) {
    struct epoll_event event = {
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data = {.u64 = token},
    };
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

/* The wake descriptor: every write is a new edge, so it never has to be read. */
static inline int dunlin_epoll_add_wake(int epoll, int descriptor, uint64_t token) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.u64 = token}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static inline int dunlin_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* Under another name, because <sys/socket.h> here would claim libc's socket types for this module. The flags of
 * sockets, files and eventfds have the same values on Linux. */
extern int dunlin_accept4(int, void *, void *, int) __asm__("accept4");

static inline int dunlin_accept(int descriptor) {
    return dunlin_accept4(descriptor, 0, 0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static inline void dunlin_name_this_thread(const char *name) { prctl(PR_SET_NAME, name); }

/* Declared by libc for GNU sources only. */
extern int dunlin_renameat2(int, const char *, int, const char *, unsigned int) __asm__("renameat2");
extern int dunlin_fallocate(int, int, int64_t, int64_t) __asm__("fallocate");

static const unsigned int dunlin_rename_noreplace = 1;
static const int dunlin_fallocate_keep_size = 1;
/* F_OFD_SETLK. */
static const int dunlin_lock_of_opening = 37;

static inline uint64_t dunlin_event_token(const struct epoll_event *event) { return event->data.u64; }

static const uint32_t dunlin_epollin = EPOLLIN;
static const uint32_t dunlin_epollout = EPOLLOUT;
static const uint32_t dunlin_epollrdhup = EPOLLRDHUP;
static const uint32_t dunlin_epollhup = EPOLLHUP;
static const uint32_t dunlin_epollerr = EPOLLERR;

#endif
