// What every C client shares: the command line, the two clocks, and the one line of JSON at the end.
//
// A load runs twice: `warmup` requests that open the connections and fill every cache, then `requests` that count.
#ifndef BENCHMARK_LOAD_H
#define BENCHMARK_LOAD_H

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct load {
    const char *host, *port, *path;
    int concurrency, requests, warmup;
    int fresh;                // a connection of its own for each request
    uint64_t length, upload;  // bytes of each response's and each request's body
    const char *ca;           // whom to trust, in PEM: what speaks TLS at all
    int resumed;              // whether a fresh connection resumes the session of one before
    const char *file;         // where what is uploaded is read from; NULL: made up
    const char *output;       // where what is downloaded is written to; NULL: counted and dropped
    const char *job;          // "json" or "receive" (kept: nothing here decodes), "form", "multipart"; or NULL
    int progress;             // whether somebody wants to know how far a body has come
    int real;                 // whether there are cookies, redirects and a token, as most have
};

struct measure {
    uint32_t *nanoseconds;  // one per request
    int count;
    uint64_t started;
    long start_kilobytes;  // resident
    size_t start_heap;
    struct rusage usage;
};

static inline void fail(const char *reason) {
    fprintf(stderr, "%s\n", reason);
    exit(1);
}

static inline struct load load_parse(int count, char **words) {
    struct load load = {"127.0.0.1", "80", "/1k", 1, 1000, 100, 0, 1024, 0, NULL, 0, NULL, NULL, NULL, 0, 0};
    for (int at = 1; at + 1 < count; at += 2) {
        const char *name = words[at];
        char *value = words[at + 1];
        if (!strcmp(name, "--host")) load.host = value;
        else if (!strcmp(name, "--port")) load.port = value;
        else if (!strcmp(name, "--path")) load.path = value;
        else if (!strcmp(name, "--concurrency")) load.concurrency = atoi(value);
        else if (!strcmp(name, "--requests")) load.requests = atoi(value);
        else if (!strcmp(name, "--warmup")) load.warmup = atoi(value);
        else if (!strcmp(name, "--fresh")) load.fresh = atoi(value);
        else if (!strcmp(name, "--length")) load.length = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--upload")) load.upload = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--ca")) load.ca = value;
        else if (!strcmp(name, "--resumed")) load.resumed = atoi(value);
        else if (!strcmp(name, "--progress")) load.progress = atoi(value);
        else if (!strcmp(name, "--real")) load.real = atoi(value);
        else if (!strcmp(name, "--file")) load.file = value;
        else if (!strcmp(name, "--output")) load.output = value;
        else if (!strcmp(name, "--job")) load.job = value;
        else if (!strcmp(name, "--records")) continue;
        else fail("usage: --host H --port P --path /p --concurrency C --requests N --warmup W [--fresh 1] "
                  "[--length BYTES] [--progress 1] [--real 1] [--upload BYTES] [--file PATH] [--output PATH] "
                  "[--job json|receive|form|multipart] [--ca FILE [--resumed 1]]");
    }
    if (load.concurrency < 1 || load.requests < 1 || load.warmup < 0) fail("counts must be positive");
    return load;
}

static inline uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// VmHWM and not ru_maxrss: the latter remembers the process that forked us.
static inline long kilobytes(const char *format) {
    char line[256];
    long value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, format, &value) == 1) break;
    if (file) fclose(file);
    return value;
}

// What was allocated and not freed.
static inline size_t live_heap(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static inline struct measure measure_begin(int requests) {
    struct measure measure = {.nanoseconds = calloc((size_t)requests, sizeof(uint32_t))};
    if (!measure.nanoseconds) fail("no memory");
    measure.start_kilobytes = kilobytes("VmRSS: %ld");
    measure.start_heap = live_heap();
    getrusage(RUSAGE_SELF, &measure.usage);
    measure.started = now();
    return measure;
}

static inline void measure_record(struct measure *measure, uint64_t begun) {
    uint64_t taken = now() - begun;
    measure->nanoseconds[measure->count++] = taken < UINT32_MAX ? (uint32_t)taken : UINT32_MAX;
}

static inline double microseconds(struct timeval from, struct timeval to) {
    return (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_usec - from.tv_usec);
}

static inline int by_value(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static inline void measure_print(struct measure *measure) {
    uint64_t ended = now();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    size_t heap = live_heap();
    long peak = kilobytes("VmHWM: %ld"), end = kilobytes("VmRSS: %ld");
    int count = measure->count;
    qsort(measure->nanoseconds, (size_t)count, sizeof(uint32_t), by_value);
    printf("{\"requests\":%d,\"seconds\":%.6f,\"user_us\":%.3f,\"sys_us\":%.3f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f,\"rss_kb\":%ld,\"start_kb\":%ld,\"end_kb\":%ld,"
           "\"heap_grown\":%ld}\n",
           count, (double)(ended - measure->started) / 1e9,
           microseconds(measure->usage.ru_utime, usage.ru_utime) / count,
           microseconds(measure->usage.ru_stime, usage.ru_stime) / count,
           measure->nanoseconds[count / 2] / 1e3, measure->nanoseconds[(int)(count * 0.99)] / 1e3, peak,
           measure->start_kilobytes, end, (long)(heap - measure->start_heap));
    free(measure->nanoseconds);
}

#endif
