// libcurl as an expert drives it: one thread, one multi handle, easy handles set up once and reused, bodies counted and
// not kept. curl_multi_wait and not curl_multi_poll: the same wait without a wake-up socket to watch. The event-driven
// curl_multi_socket_action was measured too and is no faster, for it pays two epoll_ctl per transfer.
#include "load.h"

#include <curl/curl.h>

enum { BULK = 256 * 1024 };

struct transfer {
    CURL *easy;
    uint64_t received, sent;
    uint64_t begun;
    FILE *file;
    char *kept;            // a body in memory, grown as a caller would
    size_t room;
    char *form;
    curl_mime *mime;
};

struct driver {
    CURLM *multi;
    int unsent, unanswered;
    struct measure *measure;
};

static struct load load;
static CURLSH *shared;  // the cookies of all handles

static void check(CURLMcode code) {
    if (code != CURLM_OK) fail(curl_multi_strerror(code));
}

static size_t body_arrived(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    struct transfer *transfer = context;
    transfer->received += size * count;
    return size * count;
}

static size_t body_kept(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    transfer->received += size * count;
    return fwrite(bytes, size, count, transfer->file);
}

static size_t body_remembered(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    size_t needed = transfer->received + size * count;
    if (needed > transfer->room) {
        transfer->room = needed < 2 * transfer->room ? 2 * transfer->room : needed;
        if (!(transfer->kept = realloc(transfer->kept, transfer->room))) fail("no memory");
    }
    memcpy(transfer->kept + transfer->received, bytes, size * count);
    transfer->received = needed;
    return size * count;
}

// What is in libcurl's buffer is as good as anything else: nothing is copied into it, which no real producer could
// save.
static size_t body_wanted(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    struct transfer *transfer = context;
    uint64_t left = load.upload - transfer->sent, room = size * count;
    uint64_t given = left < room ? left : room;
    transfer->sent += given;
    return given;
}

static int progressed(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now) {
    (void)up_total, (void)up_now;
    struct transfer *transfer = context;
    return total > 0 && now > total && transfer->received > 0;
}

// The same pairs as the others send, escaped with libcurl's own means.
static void form_make(struct transfer *transfer) {
    static const char *const pairs[][2] = {
        {"grant_type", "client_credentials"}, {"scope", "read"}, {"scope", "write"}, {"name", "Ada Lovelace"},
        {"email", "ada@example.com"}, {"city", "Zürich"}, {"street", "Rämistrasse 101/3"},
        {"note", "50% off & more = fun?"}, {"token", "dGhpcyBpcyBhIHRva2Vu+/=="}, {"page", "12"},
    };
    size_t used = 0, room = 1024;
    char *form = malloc(room);
    if (!form) fail("no memory");
    for (size_t at = 0; at < sizeof pairs / sizeof *pairs; at++) {
        char *name = curl_easy_escape(transfer->easy, pairs[at][0], 0);
        char *value = curl_easy_escape(transfer->easy, pairs[at][1], 0);
        used += (size_t)snprintf(form + used, room - used, "%s%s=%s", at ? "&" : "", name, value);
        curl_free(name);
        curl_free(value);
    }
    if (used >= room) fail("form");
    transfer->form = form;
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDSIZE, (long)used);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, form);
}

static void parts_make(struct transfer *transfer) {
    static const char *const fields[][2] = {{"title", "Waders"}, {"album", "7"}};
    curl_mimepart *part;
    transfer->mime = curl_mime_init(transfer->easy);
    for (size_t at = 0; at < sizeof fields / sizeof *fields; at++) {
        part = curl_mime_addpart(transfer->mime);
        curl_mime_name(part, fields[at][0]);
        curl_mime_data(part, fields[at][1], CURL_ZERO_TERMINATED);
    }
    part = curl_mime_addpart(transfer->mime);
    curl_mime_name(part, "photo");
    curl_mime_filedata(part, load.file);
    curl_mime_filename(part, "waders.jpg");
    curl_mime_type(part, "image/jpeg");
    curl_easy_setopt(transfer->easy, CURLOPT_MIMEPOST, transfer->mime);
}

static int is_job(const char *name) {
    return load.job && !strcmp(load.job, name);
}

static void transfer_start(struct driver *driver, struct transfer *transfer) {
    transfer->received = transfer->sent = 0;
    if (is_job("form")) form_make(transfer);
    if (is_job("multipart")) parts_make(transfer);
    if (load.output) {
        // Without a buffer of its own: libcurl's is as large as a write should be.
        if (!(transfer->file = fopen(load.output, "wb"))) fail("output");
        setvbuf(transfer->file, NULL, _IONBF, 0);
    } else if (transfer->file) {
        rewind(transfer->file);
    }
    transfer->begun = now();
    driver->unsent--;
    check(curl_multi_add_handle(driver->multi, transfer->easy));
}

static void transfer_finish(struct driver *driver, CURLMsg *message) {
    struct transfer *transfer;
    long status = 0;
    CURL *easy = message->easy_handle;
    if (message->data.result != CURLE_OK) fail(curl_easy_strerror(message->data.result));
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) fail("status");
    if (transfer->received != load.length) fail("length");
    if (load.output && fclose(transfer->file) != 0) fail("output");
    free(transfer->form);
    free(transfer->kept);
    curl_mime_free(transfer->mime);
    transfer->form = transfer->kept = NULL;
    transfer->mime = NULL;
    transfer->room = 0;
    if (driver->measure) measure_record(driver->measure, transfer->begun);
    driver->unanswered--;
    check(curl_multi_remove_handle(driver->multi, easy));
    if (driver->unsent > 0) transfer_start(driver, transfer);
}

// How many transfers ended.
static int finish_all(struct driver *driver) {
    int left, before = driver->unanswered;
    for (CURLMsg *message; (message = curl_multi_info_read(driver->multi, &left));)
        if (message->msg == CURLMSG_DONE) transfer_finish(driver, message);
    return before - driver->unanswered;
}

static void run(struct driver *driver, struct transfer *transfers, int concurrency, int requests) {
    int running;
    driver->unsent = driver->unanswered = requests;
    for (int at = 0; at < concurrency && driver->unsent > 0; at++) transfer_start(driver, &transfers[at]);
    while (driver->unanswered > 0) {
        check(curl_multi_perform(driver->multi, &running));
        // Reused handles have requests to send: nothing to wait for yet.
        if (!finish_all(driver)) check(curl_multi_wait(driver->multi, NULL, 0, 1000, NULL));
    }
}

static void driver_open(struct driver *driver, int concurrency) {
    driver->multi = curl_multi_init();
    check(curl_multi_setopt(driver->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING));
    check(curl_multi_setopt(driver->multi, CURLMOPT_MAXCONNECTS, (long)concurrency));
    check(curl_multi_setopt(driver->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)concurrency));
}

// The server answers `/real` only if it gets this token and the first two cookies.
static void transfer_equip(CURL *easy) {
    static const char *const cookies[] = {"session=6f1ed002ab5595859014ebf0951522d9; path=/", "theme=dark; path=/",
                                          "basket=3; path=/shop"};
    int is_first = !shared;
    if (is_first) curl_share_setopt(shared = curl_share_init(), CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    curl_easy_setopt(easy, CURLOPT_SHARE, shared);
    curl_easy_setopt(easy, CURLOPT_COOKIEFILE, "");
    for (size_t at = 0; is_first && at < sizeof cookies / sizeof *cookies; at++) {
        char line[128];
        snprintf(line, sizeof line, "Set-Cookie: %s; domain=%s", cookies[at], load.host);
        curl_easy_setopt(easy, CURLOPT_COOKIELIST, line);
    }
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
    curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, "mF_9.B5f-4.1JqM.SlAV32hdQlS6p6UW");
}

static void transfer_open(struct transfer *transfer, const char *url) {
    CURL *easy = transfer->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, 
                     load.output ? body_kept : is_job("json") ? body_remembered : body_arrived);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, (long)load.fresh);
    if (load.ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, load.ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, (long)load.resumed);
    }
    if (load.progress) {
        curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progressed);
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, transfer);
    }
    if (load.real) transfer_equip(easy);
    if (load.length > BULK) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BULK);
    if (load.job) {
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)BULK);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, curl_slist_append(NULL, "Expect:"));
        return;
    }
    if (load.upload == 0) return;
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)BULK);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)load.upload);
    if (load.file) {
        // libcurl's own way to send a file: fread, given a buffer as large as what it asks for.
        if (!(transfer->file = fopen(load.file, "rb"))) fail("file");
        setvbuf(transfer->file, NULL, _IOFBF, BULK);
        curl_easy_setopt(easy, CURLOPT_READDATA, transfer->file);
    } else {
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, body_wanted);
        curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, curl_slist_append(NULL, "Expect:"));
}

int main(int count, char **words) {
    load = load_parse(count, words);
    struct driver driver = {0};
    char url[512];
    snprintf(url, sizeof url, "%s://%s:%s%s", load.ca ? "https" : "http", load.host, load.port, load.path);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    driver_open(&driver, load.concurrency);
    struct transfer *transfers = calloc((size_t)load.concurrency, sizeof(struct transfer));
    if (!transfers) fail("no memory");
    for (int at = 0; at < load.concurrency; at++) transfer_open(&transfers[at], url);
    run(&driver, transfers, load.concurrency, load.warmup);
    struct measure measure = measure_begin(load.requests);
    driver.measure = &measure;
    run(&driver, transfers, load.concurrency, load.requests);
    measure_print(&measure);
    for (int at = 0; at < load.concurrency; at++) curl_easy_cleanup(transfers[at].easy);
    curl_multi_cleanup(driver.multi);
    curl_share_cleanup(shared);
    free(transfers);
    return 0;
}
