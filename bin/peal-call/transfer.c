/* The request and its answer, on libcurl.
 *
 * A request is sent once. libcurl sends one again by itself if a connection that was used before
 * turns out to be closed, after the server may have seen it: so no connection is used twice, and
 * the protocol is HTTP/1.1.
 *
 * Every address is checked when its connection is about to be made, and again when it is there,
 * right before the request is sent; that holds for each redirect, too. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caller.h"

#define HEADS_MAX   (256 * 1024) /* bytes of all heads of an answer, with those of redirects */
#define NAMES_FOR_S 10L          /* how long libcurl keeps addresses */
#define PART_BYTES  (8 * 1024L)  /* that libcurl reads at once; each call has such a buffer */

/* ---- texts in the body ---- */

static bool needle_init(struct needle *needle, const char *text)
{
    if (!text || !*text)
        return true;
    needle->length = strlen(text);
    needle->text = strdup(text);
    needle->tail = malloc(2 * needle->length);
    return needle->text && needle->tail;
}

static void needle_release(struct needle *needle)
{
    free(needle->text);
    free(needle->tail);
    *needle = (struct needle){.is_found = needle->is_found};
}

/* Keeps the last bytes of the stream: the text may begin in them. */
static void keep_tail(struct needle *needle, const char *bytes, size_t length)
{
    size_t keep = needle->length - 1;
    if (length >= keep) {
        memcpy(needle->tail, bytes + length - keep, keep);
        needle->tail_length = keep;
        return;
    }
    size_t old = keep - length < needle->tail_length ? keep - length : needle->tail_length;
    memmove(needle->tail, needle->tail + needle->tail_length - old, old);
    memcpy(needle->tail + old, bytes, length);
    needle->tail_length = old + length;
}

static void needle_feed(struct needle *needle, const char *bytes, size_t length)
{
    if (!needle->text || needle->is_found)
        return;
    size_t across = length < needle->length - 1 ? length : needle->length - 1;
    memcpy(needle->tail + needle->tail_length, bytes, across); /* there is room for both */
    needle->is_found =
        memmem(needle->tail, needle->tail_length + across, needle->text, needle->length) ||
        memmem(bytes, length, needle->text, needle->length);
    keep_tail(needle, bytes, length);
}

/* ---- the answer ---- */

/* A line of a head, also of the one of a redirect, and of trailers. */
static size_t take_head(char *bytes, size_t size, size_t count, void *context)
{
    struct call *call = context;
    size_t length = size * count, end = length;
    call->head_bytes += length;
    call->head_is_too_long = call->head_bytes > HEADS_MAX;
    if (call->head_is_too_long)
        return 0; /* aborts the transfer */
    while (end > 0 && (bytes[end - 1] == '\n' || bytes[end - 1] == '\r'))
        end--;
    if (end)
        calls_write(call->caller, call, bytes, end);
    calls_write(call->caller, call, "\n", 1);
    return length;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct call *call = context;
    size_t length = size * count;
    needle_feed(&call->match, bytes, length);
    needle_feed(&call->no_match, bytes, length);
    calls_write(call->caller, call, bytes, length);
    return length;
}

/* ---- addresses ---- */

static bool may_reach(struct call *call, const struct sockaddr *address)
{
    const char *kind = call_address_kind(address);
    if (!kind || call_address_is_listed(address, call->allow))
        return true;
    call_address_text(address, call->refused);
    call->refused_kind = kind;
    return false;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct call *call = context;
    (void)purpose;
    lookups_found(&call->caller->lookups, call);
    if (!may_reach(call, &address->addr))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                  address->protocol);
}

/* Right before the request is sent: the other end of the connection, whatever has made it. */
/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl's type */
static int check_peer(void *context, char *peer, char *own, int peer_port, int own_port)
{
    struct call *call = context;
    struct sockaddr_storage address;
    (void)own, (void)peer_port, (void)own_port;
    char plain[CALL_ADDRESS_TEXT];
    snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(peer, "%"), peer); /* without its zone */
    if (call_address_read(plain, &address) && may_reach(call, (struct sockaddr *)&address))
        return CURL_PREREQFUNC_OK;
    return CURL_PREREQFUNC_ABORT;
}

/* ---- the request ---- */

static bool add_header(struct call *call, const char *line)
{
    struct curl_slist *longer = curl_slist_append(call->headers, line);
    if (longer)
        call->headers = longer;
    return longer != NULL;
}

static bool is_named(const char *header, const char *name)
{
    size_t length = strlen(name);
    return strncasecmp(header, name, length) == 0 && header[length] == ':';
}

/* libcurl takes "Name:" for "send no such header"; one that is empty is written "Name;". */
static bool add_headers(struct call *call, const struct call_request *request)
{
    bool done = add_header(call, "Expect:"), has_type = false;
    const char *header;
    for (size_t at = 0; done && (header = call_request_header(request, &at));) {
        const char *colon = strchr(header, ':');
        char *empty = NULL;
        bool is_empty = colon && !colon[1 + strspn(colon + 1, " ")];
        has_type |= is_named(header, "Content-Type");
        if (is_empty && asprintf(&empty, "%.*s;", (int)(colon - header), header) < 0)
            return false;
        done = add_header(call, empty ? empty : header);
        free(empty);
    }
    return done && (has_type || add_header(call, "Content-Type:"));
}

static void set_method(struct call *call, const char *method, size_t body_length)
{
    CURL *easy = call->easy;
    bool wants_body =
        strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
    if (strcmp(method, "HEAD") == 0) {
        curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (call->body || wants_body) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_length);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body ? call->body : "");
    }
    bool is_usual = strcmp(method, "HEAD") == 0 || strcmp(method, "POST") == 0 ||
                    (strcmp(method, "GET") == 0 && !call->body);
    if (!is_usual)
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

/* Nothing from the environment or the home: no proxy, no .netrc, no cookies. */
static void set_bounds(struct call *call, const struct call_request *request)
{
    CURL *easy = call->easy;
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* A call that ends during its lookup leaves the thread of that alone: to wait for it would stop
     * all others. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, NAMES_FOR_S);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, PART_BYTES);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, request->redirects ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)request->redirects);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, check_peer);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
}

static void set_answer(struct call *call)
{
    CURL *easy = call->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
}

/* False: *why names the file. */
static bool set_file(struct call *call, CURLoption option, const char *name, const char *file,
                     char *why, size_t size)
{
    if (!file)
        return true;
    if (access(file, R_OK) != 0) {
        snprintf(why, size, "can't read the file of %s, %s: %s", name, file, strerror(errno));
        return false;
    }
    return curl_easy_setopt(call->easy, option, file) == CURLE_OK;
}

/* The host that has to be looked up goes to call->host; an address needs no lookup. What is wrong
 * with a URL is libcurl's to say. False: out of memory. */
static bool find_host(struct call *call, const char *url)
{
    struct sockaddr_storage address;
    const char *at = strstr(url, "://");
    if (!at)
        return true;
    at += 3;
    size_t length = strcspn(at, "/?#");
    const char *user = memrchr(at, '@', length);
    if (user) {
        length -= (size_t)(user + 1 - at);
        at = user + 1;
    }
    const char *colon = memchr(at, ':', length);
    if (*at == '[' || !length)
        return true;
    call->host = strndup(at, colon ? (size_t)(colon - at) : length);
    if (call->host && call_address_read(call->host, &address)) {
        free(call->host);
        call->host = NULL;
        return true;
    }
    return call->host != NULL;
}

bool transfer_prepare(struct call *call, const struct call_request *request, char *why, size_t size)
{
    char agent[64];
    size_t body_length = call->body ? call->body_length : 0;
    snprintf(why, size, "out of memory");
    call->easy = curl_easy_init();
    call->statuses = strdup(request->status);
    call->allow = strdup(request->allow);
    if (!call->easy || !call->statuses || !call->allow ||
        !needle_init(&call->match, request->match) ||
        !needle_init(&call->no_match, request->no_match) || !add_headers(call, request))
        return false;
    set_bounds(call, request);
    set_answer(call);
    set_method(call, request->method, body_length);
    snprintf(agent, sizeof(agent), "peal/%s", caller_build.version);
    curl_easy_setopt(call->easy, CURLOPT_USERAGENT, agent);
    curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
    return find_host(call, request->url) &&
           curl_easy_setopt(call->easy, CURLOPT_URL, request->url) == CURLE_OK &&
           set_file(call, CURLOPT_CAINFO, "ca", request->ca, why, size) &&
           set_file(call, CURLOPT_SSLCERT, "cert", request->cert, why, size) &&
           set_file(call, CURLOPT_SSLKEY, "key", request->key, why, size);
}

bool transfer_send(struct caller *caller, struct call *call)
{
    return curl_multi_add_handle(caller->multi, call->easy) == CURLM_OK;
}

void transfer_drop(struct caller *caller, struct call *call)
{
    if (call->easy) {
        curl_multi_remove_handle(caller->multi, call->easy);
        curl_easy_cleanup(call->easy);
    }
    call->easy = NULL;
    for (struct curl_slist *header = call->headers; header; header = header->next)
        explicit_bzero(header->data, strlen(header->data)); /* it may have a secret */
    curl_slist_free_all(call->headers);
    call->headers = NULL;
    if (call->body && call->masking)
        explicit_bzero(call->body, call->body_length);
    free(call->body);
    free(call->statuses);
    free(call->allow);
    free(call->host);
    call->body = call->statuses = call->allow = call->host = NULL;
    needle_release(&call->match);
    needle_release(&call->no_match);
}

/* ---- the end ---- */

static void judge_answer(struct caller *caller, struct call *call)
{
    char line[256];
    long status = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!call_status_is_listed(call->statuses, (int)status)) {
        snprintf(line, sizeof(line), "HTTP %ld, expected %s", status, call->statuses);
        calls_finish(caller, call, CALL_STATUS, (int)status, line);
    } else if (call->match.text && !call->match.is_found) {
        snprintf(line, sizeof(line), "HTTP %ld, but the body does not hold \"%.100s\"", status,
                 call->match.text);
        calls_finish(caller, call, CALL_BODY, (int)status, line);
    } else if (call->no_match.is_found) {
        snprintf(line, sizeof(line), "HTTP %ld, but the body holds \"%.100s\"", status,
                 call->no_match.text);
        calls_finish(caller, call, CALL_BODY, (int)status, line);
    } else {
        calls_finish(caller, call, CALL_OK, (int)status, NULL);
    }
}

static void tell_error(const struct call *call, CURLcode code, char *line, size_t size)
{
    const char *said = call->error[0] ? call->error : curl_easy_strerror(code);
    if (call->refused_kind && (code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK))
        snprintf(line, size,
                 "%s is a %s address, which calls may reach only if http_allow of the agent lists "
                 "it",
                 call->refused, call->refused_kind);
    else if (call->head_is_too_long)
        snprintf(line, size, "the head of the answer is longer than %d KiB", HEADS_MAX / 1024);
    else
        snprintf(line, size, "%s", said);
}

static void ended(struct caller *caller, struct call *call, CURLcode code)
{
    char line[256];
    struct call *other;
    if (code == CURLE_OK) {
        judge_answer(caller, call);
        return;
    }
    tell_error(call, code, line, sizeof(line));
    while (code == CURLE_COULDNT_RESOLVE_HOST && (other = lookups_behind(&caller->lookups, call)))
        calls_finish(caller, other, CALL_ERROR, (int)code, line);
    calls_finish(caller, call, CALL_ERROR, (int)code, line);
}

void transfer_take_ended(struct caller *caller)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(caller->multi, &left));) {
        char *call = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
        ended(caller, (struct call *)(void *)call, code);
    }
}
