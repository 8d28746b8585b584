/* sweep PORT SOCKET CALLERS
 *     asks an agent on TCP, while an admin on its socket puts things right again and looks whether
 *     what was refused has changed anything.
 * sweep job SOCKET
 *     asks on the socket, as a job of the agent: everything is refused.
 * sweep digest SOCKET
 *     makes the things that are asked for, and prints how they are.
 * The table of routes is that of the build, so that a route without a row is noticed. */
#include "sweep.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "routes.h"

enum { CALLERS_MAX = 64, ADDRESS_REQUESTS = 300, WITHIN_MS = 20000, EVENTS_MS = 300, SHOWN = 40 };

/* The stream of events that a caller has open all the time. */
struct watcher {
    struct peer *peer;
    struct strbuf text;
};

struct sweep {
    struct target target;
    struct world world;
    struct caller callers[CALLERS_MAX];
    struct watcher watchers[CALLERS_MAX];
    size_t caller_count, asked, failures;
    char address[32]; /* of those who are not known: one has not many requests */
};

static const char *body_of(const char *answer)
{
    const char *end = strstr(answer, "\r\n\r\n");
    return end ? end + 4 : answer;
}

static void fail(struct sweep *sweep, const struct caller *caller, const struct row *row,
                 const char *what, const char *text)
{
    if (sweep->failures++ >= SHOWN)
        return;
    printf("sweep_rows.c:%d: %s, %s %s: %s\n  %.15s %.1500s\n", row->line,
           caller ? caller->name : "all", row->method, row->target ? row->target : row->pattern,
           what, text, body_of(text));
}

/* ---- one request ---- */

static void print_request(struct sweep *sweep, const struct caller *caller, const struct row *row,
                          const char *method, bool is_there, struct strbuf *out)
{
    bool is_safe = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    bool has_body = row->body && !is_safe && strcmp(method, "OPTIONS") != 0;
    struct strbuf body;
    strbuf_init(&body);
    if (has_body)
        world_fill(&sweep->world, row->body, is_there, &body);
    strbuf_addf(out, "%s ", method);
    world_fill(&sweep->world, row->target ? row->target : row->pattern, is_there, out);
    strbuf_addf(out, " HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n%s",
                sweep->target.port, caller->headers);
    strbuf_addf(out, "X-Request-Id: %s/%d\r\n", caller->name, row->line);
    if (has_body)
        strbuf_addf(out, "Content-Length: %zu\r\n", body.length);
    strbuf_addf(out, "\r\n%s", body.text);
    strbuf_release(&body);
}

/* An answer that goes on. A method that the path does not have is answered whole. */
static bool is_stream(const struct row *row, const char *method)
{
    if (strcmp(method, "GET") != 0)
        return false;
    return strstr(row->pattern, "/events") || (row->target && strstr(row->target, "$LIVE/log/s"));
}

static void send_once(struct sweep *sweep, const struct caller *caller, const struct row *row,
                      const char *method, bool is_there, struct strbuf *ret)
{
    struct target target = sweep->target;
    struct strbuf request;
    if (!caller->is_known && !target.path) {
        snprintf(sweep->address, sizeof(sweep->address), "127.0.%zu.2",
                 1 + sweep->asked / ADDRESS_REQUESTS % 250);
        target.from = sweep->address;
    }
    struct peer *peer = peer_open(&target);
    strbuf_init(&request);
    print_request(sweep, caller, row, method, is_there, &request);
    strbuf_reset(ret);
    if (peer) {
        peer_send(peer, request.text, request.length);
        bool goes_on = is_stream(row, method);
        bool is_head = strcmp(method, "HEAD") == 0;
        bool ends = peer_read_answer(peer, is_head, goes_on ? EVENTS_MS : WITHIN_MS, ret);
        if (!ends && goes_on && ret->length == 0) /* a busy machine */
            peer_read_answer(peer, is_head, WITHIN_MS, ret);
        if (!ends && !goes_on)
            strbuf_adds(ret, "[the answer has no end]");
    }
    peer_close(peer);
    strbuf_release(&request);
    sweep->asked++;
}

/* Waits where there were too many requests, unless that is an answer of the row's. */
static int ask(struct sweep *sweep, const struct caller *caller, const struct row *row,
               const char *method, bool is_there, struct strbuf *ret)
{
    const struct timespec pause = {.tv_nsec = 500 * 1000 * 1000};
    for (int tries = 0; tries < 60; tries++) {
        send_once(sweep, caller, row, method, is_there, ret);
        if (answer_status(ret->text) != 429 || strstr(row->answers, "429"))
            break;
        nanosleep(&pause, NULL);
    }
    /* The tutorial's clients look at nothing but "errno", which an answer to HEAD has not. */
    bool is_errno = strncmp(row->pattern, "/job/", 5) == 0 && strstr(ret->text, "\"errno\":-1");
    return is_errno && answer_status(ret->text) == 200 ? 403 : answer_status(ret->text);
}

/* ---- what an answer may have ---- */

static const char *find_word(const char *text, const char *const *words)
{
    while (*words && !strstr(text, *words))
        words++;
    return *words;
}

static bool has_asked_for(const struct row *row, const char *word)
{
    return (row->target && strstr(row->target, word)) || (row->body && strstr(row->body, word));
}

/* Secrets, and what is of others. Names are in answers to who has sent them. */
static void check_words(struct sweep *sweep, const struct caller *caller, const struct row *row,
                        const char *text)
{
    bool is_sent = has_asked_for(row, "$JOB") || has_asked_for(row, "$PATH");
    bool has_run =
        sweep->world.run[0] && strstr(text, sweep->world.run) && !has_asked_for(row, "$RUN");
    bool is_admin = caller->is_known && caller->everywhere & ADMIN;
    if (find_word(text, hidden_words))
        fail(sweep, caller, row, "a secret that nobody is shown", text);
    if (!caller_sees_secrets(caller) && find_word(text, secret_words))
        fail(sweep, caller, row, "a secret of a job that is not theirs to define", text);
    if (!caller_sees_job(caller) && (strstr(text, JOB_WORD) || has_run))
        fail(sweep, caller, row, "something of a job that is not theirs to see", text);
    if (!caller_sees_job(caller) && !is_sent && strstr(body_of(text), NAME_WORD))
        fail(sweep, caller, row, "the name of a job that is not theirs to see", text);
    if (!is_admin && !has_asked_for(row, "$USER") && strstr(text, USER_WORD))
        fail(sweep, caller, row, "the name of a user", text);
}

/* What is there and what is not: the same answer to who may not know. */
static void check_same(struct sweep *sweep, const struct caller *caller, const struct row *row,
                       const char *there, const char *missing)
{
    struct strbuf a, b;
    strbuf_init(&a);
    strbuf_init(&b);
    world_level(&sweep->world, body_of(there), &a);
    world_level(&sweep->world, body_of(missing), &b);
    if (answer_status(there) != answer_status(missing) || strcmp(a.text, b.text) != 0) {
        fail(sweep, caller, row, "the answer tells that it is there", there);
        printf("  not there: %.1500s\n", body_of(missing));
    }
    strbuf_release(&a);
    strbuf_release(&b);
}

static bool status_in(const char *list, int status)
{
    char text[8];
    snprintf(text, sizeof(text), "%d", status);
    return strstr(list, text) != NULL;
}

/* ---- one row ---- */

static bool is_safe(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static void check_refused(struct sweep *sweep, const struct caller *caller, const struct row *row,
                          const char *method, int refusal)
{
    struct strbuf there, missing;
    char what[64];
    strbuf_init(&there);
    strbuf_init(&missing);
    int status = ask(sweep, caller, row, method, true, &there);
    snprintf(what, sizeof(what), "%s: expected %d", method, refusal);
    if (status != refusal)
        fail(sweep, caller, row, what, there.text);
    check_words(sweep, caller, row, there.text);
    if (refusal != 405 && refusal != 501 && !caller_sees_job(caller)) {
        ask(sweep, caller, row, method, false, &missing);
        check_same(sweep, caller, row, there.text, missing.text);
    }
    strbuf_release(&there);
    strbuf_release(&missing);
}

/* The caller may ask, but what it asks for is not theirs. */
static bool is_blind(const struct caller *caller, const struct row *row)
{
    return (row->place == SOMEWHERE || row->place == TO_EDIT || row->place == ON_NEIGHBOUR) &&
           !caller_sees_job(caller) && (has_asked_for(row, "$JOB") || has_asked_for(row, "$PATH"));
}

static void check_allowed(struct sweep *sweep, const struct caller *caller, const struct row *row,
                          const char *method)
{
    struct strbuf there, missing;
    strbuf_init(&there);
    strbuf_init(&missing);
    int status = ask(sweep, caller, row, method, true, &there);
    if (!status_in(row->answers, status))
        fail(sweep, caller, row, "expected to be allowed", there.text);
    check_words(sweep, caller, row, there.text);
    if (is_blind(caller, row)) {
        ask(sweep, caller, row, method, false, &missing);
        check_same(sweep, caller, row, there.text, missing.text);
    }
    strbuf_release(&there);
    strbuf_release(&missing);
}

/* May ask about some jobs, but not do it to this one. */
static bool changes_nothing(const struct caller *caller, const struct row *row)
{
    int needed = row->place == TO_EDIT ? EDIT : row->right;
    bool is_for_some = row->place == SOMEWHERE || row->place == TO_EDIT;
    return row->place == ANYBODY || row->place == ON_NEIGHBOUR ||
           (is_for_some && !((caller->everywhere | caller->in_a) & needed));
}

static void check_unchanged(struct sweep *sweep, const struct row *row, const char *before)
{
    char *after = world_digest(&sweep->world);
    size_t at = 0;
    while (before[at] && before[at] == after[at])
        at++;
    if (before[at] || after[at])
        fail(sweep, NULL, row, "what was refused has changed something: now, and before",
             after + (at > 700 ? at - 700 : 0));
    free(after);
}

static void sweep_row(struct sweep *sweep, const struct row *row)
{
    bool safe = is_safe(row->method);
    world_restore(&sweep->world, row);
    char *before = world_digest(&sweep->world);
    for (size_t i = 0; i < sweep->caller_count; i++) {
        const struct caller *caller = &sweep->callers[i];
        int refusal = expected_refusal(caller, row, safe, true);
        if (refusal)
            check_refused(sweep, caller, row, row->method, refusal);
        else if (safe || changes_nothing(caller, row))
            check_allowed(sweep, caller, row, row->method);
        if (strncmp(row->pattern, "/job/", 5) == 0)
            continue;
        if (safe && refusal)
            check_refused(sweep, caller, row, "HEAD", refusal);
        else if (safe)
            check_allowed(sweep, caller, row, "HEAD");
    }
    check_unchanged(sweep, row, before);
    free(before);
    for (size_t i = 0; i < sweep->caller_count; i++) {
        const struct caller *caller = &sweep->callers[i];
        if (safe || changes_nothing(caller, row) || expected_refusal(caller, row, safe, true))
            continue;
        world_restore(&sweep->world, row);
        check_allowed(sweep, caller, row, row->method);
    }
}

/* ---- methods that a path does not have ---- */

static const struct {
    const char *name;
    unsigned method; /* 0: none that HTTP is served by */
} methods[] = {
    {"GET", HTTP_GET},
    {"PUT", HTTP_PUT},
    {"POST", HTTP_POST},
    {"DELETE", HTTP_DELETE},
    {"PATCH", HTTP_PATCH},
    {"HEAD", HTTP_GET},
    {"OPTIONS", HTTP_OPTIONS},
    {"TRACE", 0},
    {"PROPFIND", 0},
    {"get", 0},
    {"X-HTTP-Method-Override", 0},
};

static unsigned methods_of(const char *pattern)
{
    unsigned found = 0;
    for (size_t i = 0; i < api_route_count; i++)
        found |= strcmp(api_routes[i].pattern, pattern) == 0 ? api_routes[i].method : 0U;
    return found;
}

static void sweep_methods(struct sweep *sweep, const struct row *row)
{
    unsigned has = methods_of(row->pattern);
    for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++) {
        for (size_t i = 0; i < sweep->caller_count && !(has & methods[m].method); i++) {
            const struct caller *caller = &sweep->callers[i];
            bool safe = is_safe(methods[m].name);
            check_refused(sweep, caller, row, methods[m].name,
                          methods[m].method ? expected_refusal(caller, row, safe, false) : 501);
        }
    }
}

/* ---- all rows ---- */

/* A row for each route, and no row without one. */
static void check_rows(struct sweep *sweep)
{
    for (size_t i = 0; i < api_route_count; i++) {
        bool is_there = false;
        const char *method = NULL;
        for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]) && !method; m++)
            method = methods[m].method == api_routes[i].method ? methods[m].name : NULL;
        for (size_t j = 0; j < sweep_row_count; j++)
            is_there |= strcmp(sweep_rows[j].method, method) == 0 &&
                        strcmp(sweep_rows[j].pattern, api_routes[i].pattern) == 0;
        if (is_there)
            continue;
        printf("%s %s is a route without a row in test/security/sweep_rows.c: write there which "
               "right it needs, where, and what it answers\n",
               method, api_routes[i].pattern);
        sweep->failures++;
    }
    for (size_t j = 0; j < sweep_row_count; j++) {
        bool is_there = false;
        for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
            is_there |= strcmp(methods[m].name, sweep_rows[j].method) == 0 &&
                        methods_of(sweep_rows[j].pattern) & methods[m].method;
        if (!is_there)
            fail(sweep, NULL, &sweep_rows[j], "there is no such route", "");
    }
}

static bool is_first_of_pattern(size_t row)
{
    for (size_t i = 0; i < row; i++) {
        if (strcmp(sweep_rows[i].pattern, sweep_rows[row].pattern) == 0)
            return false;
    }
    return true;
}

static void read_callers(struct sweep *sweep, const char *path)
{
    char line[1200];
    FILE *file = fopen(path, "r");
    while (file && sweep->caller_count < CALLERS_MAX && fgets(line, sizeof(line), file))
        sweep->callers[sweep->caller_count++] = caller_read(line);
    if (file)
        fclose(file);
}

/* ---- events ---- */

static const struct row watching = {__LINE__, "GET", "/api/v1/events", LOOK, SOMEWHERE, "200",
                                    NULL,     NULL};

static void open_watchers(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->caller_count; i++) {
        struct watcher *watcher = &sweep->watchers[i];
        struct strbuf request;
        strbuf_init(&watcher->text);
        if (expected_refusal(&sweep->callers[i], &watching, true, true))
            continue;
        strbuf_init(&request);
        print_request(sweep, &sweep->callers[i], &watching, "GET", true, &request);
        watcher->peer = peer_open(&sweep->target);
        if (watcher->peer)
            peer_send(watcher->peer, request.text, request.length);
        strbuf_release(&request);
    }
}

static void read_watchers(struct sweep *sweep, int within_ms)
{
    for (size_t i = 0; i < sweep->caller_count; i++) {
        if (sweep->watchers[i].peer)
            peer_read_all(sweep->watchers[i].peer, within_ms, &sweep->watchers[i].text);
    }
}

static void close_watchers(struct sweep *sweep)
{
    read_watchers(sweep, EVENTS_MS);
    for (size_t i = 0; i < sweep->caller_count; i++) {
        const struct caller *caller = &sweep->callers[i];
        struct watcher *watcher = &sweep->watchers[i];
        if (watcher->peer) {
            check_words(sweep, caller, &watching, watcher->text.text);
            if (caller_sees_job(caller) && !strstr(watcher->text.text, NAME_WORD))
                fail(sweep, caller, &watching, "expected to hear of the job", watcher->text.text);
        }
        peer_close(watcher->peer);
        strbuf_release(&watcher->text);
    }
}

/* ---- the program ---- */

static int finish(const struct sweep *sweep)
{
    printf("%zu routes, %zu rows, %zu callers, %zu requests: %zu mistakes\n", api_route_count,
           sweep_row_count, sweep->caller_count, sweep->asked, sweep->failures);
    return sweep->failures || !sweep->asked ? 1 : 0;
}

static int sweep_tcp(struct sweep *sweep, const char *callers)
{
    read_callers(sweep, callers);
    check_rows(sweep);
    world_restore(&sweep->world, &sweep_rows[0]);
    open_watchers(sweep);
    for (size_t i = 0; i < sweep_row_count; i++) {
        if (is_first_of_pattern(i))
            sweep_methods(sweep, &sweep_rows[i]);
        read_watchers(sweep, 1);
    }
    for (size_t i = 0; i < sweep_row_count; i++) {
        sweep_row(sweep, &sweep_rows[i]);
        read_watchers(sweep, 1);
    }
    close_watchers(sweep);
    return finish(sweep);
}

/* As a job, which the socket knows by its descent: it is nobody. */
static int sweep_job(struct sweep *sweep)
{
    sweep->target.path = sweep->world.socket;
    sweep->callers[sweep->caller_count++] = caller_read("job unknown none none none none");
    for (size_t i = 0; i < sweep_row_count; i++) {
        const struct row *row = &sweep_rows[i];
        if (is_first_of_pattern(i))
            sweep_methods(sweep, row);
        if (row->place != ANYBODY)
            check_refused(sweep, &sweep->callers[0], row, row->method, 401);
    }
    return finish(sweep);
}

static int print_digest(struct sweep *sweep)
{
    world_restore(&sweep->world, &sweep_rows[0]);
    char *digest = world_digest(&sweep->world);
    fputs(digest, stdout);
    free(digest);
    return 0;
}

int main(int argc, char **argv)
{
    static struct sweep sweep;
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    sweep.world.socket = argc > 2 ? argv[2] : "";
    if (argc == 3 && strcmp(argv[1], "job") == 0)
        return sweep_job(&sweep);
    if (argc == 3 && strcmp(argv[1], "digest") == 0)
        return print_digest(&sweep);
    if (argc != 4) {
        fputs("usage: sweep PORT SOCKET CALLERS | sweep job|digest SOCKET\n", stderr);
        return 2;
    }
    sweep.target = target_read(argv[1]);
    return sweep_tcp(&sweep, argv[3]);
}
