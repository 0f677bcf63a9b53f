/* What Glibc leaves out of having the kernel refuse calls: a test's child is told what a disk, or a file system, would
 * say that is not at hand. No logic. */
#ifndef DUNLIN_CSECCOMP_H
#define DUNLIN_CSECCOMP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

static const uint32_t dunlin_call_flock = SYS_flock;
static const uint32_t dunlin_call_pwrite = SYS_pwrite64;
static const uint32_t dunlin_call_fallocate = SYS_fallocate;

static const uint16_t dunlin_bpf_load = BPF_LD | BPF_W | BPF_ABS;
static const uint16_t dunlin_bpf_jump_equal = BPF_JMP | BPF_JEQ | BPF_K;
static const uint16_t dunlin_bpf_jump_from = BPF_JMP | BPF_JGE | BPF_K;
static const uint16_t dunlin_bpf_return = BPF_RET | BPF_K;

static const uint32_t dunlin_seccomp_allow = SECCOMP_RET_ALLOW;
static const uint32_t dunlin_seccomp_refuse = SECCOMP_RET_ERRNO;
static const uint32_t dunlin_seccomp_call = offsetof(struct seccomp_data, nr);
static const uint32_t dunlin_seccomp_arguments = offsetof(struct seccomp_data, args);

/* variadic */
static inline int dunlin_seccomp_promise(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline long dunlin_seccomp_filter(const struct sock_fprog *program) {
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program);
}

#endif
