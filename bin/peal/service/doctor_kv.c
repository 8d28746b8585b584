/* What a store needs of servers with keys and values: writes, reads, watch, delete, lease. Test
 * keys are below PREFIX/doctor/, on a lease, and removed. */
#include "service/doctor_kv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kv/store_kv_value.h"
#include "kv_watch.h"
#include "text/tr.h"

enum {
    DEADLINE_MS = 2000,
    WRITES = 50,
    LEASE_S = 30,
    SLOW_US = 100000,       /* of the slowest write: starts would be late */
    SLOW_WATCH_US = 250000, /* the next rank steps in after 300 ms */
};

struct doctor {
    struct report *report;
    const struct doctor_server *server;
    struct loop *loop;
    struct kv_client *client;
    int64_t lease;
    char key[320];

    /* The answer to the last request. */
    bool is_over;
    enum status status;
    char message[300];
    int64_t lease_id;
    enum status epoch; /* whether this peal can read what was found there; E_NOT_FOUND: nothing */

    /* The watch. */
    bool is_live;
    int64_t seen_us; /* when the last event came */
    char watch_error[300];
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- asking, and waiting for the answer ---- */

static void on_answer(void *context, const struct kv_result *result)
{
    struct doctor *doctor = context;
    doctor->is_over = true;
    doctor->status = result->status;
    snprintf(doctor->message, sizeof(doctor->message), "%s", result->message);
    doctor->lease_id = result->lease.id;
    struct epoch epoch;
    doctor->epoch =
        result->op.kv_count ? value_read_epoch(&result->op.kvs[0], &epoch) : E_NOT_FOUND;
}

static struct kv_reply reply_to(struct doctor *doctor)
{
    doctor->is_over = false;
    return (struct kv_reply){on_answer, doctor, DEADLINE_MS};
}

/* `st` is the status of sending the request. */
static bool wait_for(struct doctor *doctor, enum status st)
{
    if (st != OK) {
        doctor->status = st;
        snprintf(doctor->message, sizeof(doctor->message), "%s",
                 report_tr(doctor->report, status_text(st)));
        return false;
    }
    while (!doctor->is_over)
        loop_run_once(doctor->loop);
    return doctor->status == OK;
}

/* ---- each of them ---- */

static void tell_refused(struct doctor *doctor, const char *what)
{
    report_add(doctor->report, CHECK_FAIL, what, doctor->server->when_refused, "%s",
               doctor->message);
}

static int by_number(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* As "p50 0.4 ms, p99 1.2 ms". */
static void tell_times(struct doctor *doctor, const char *name, const char *what, int64_t *us,
                       size_t count, int64_t slow_us, const char *next)
{
    qsort(us, count, sizeof(*us), by_number);
    int64_t p50 = us[count / 2], p99 = us[count - 1 - count / 100];
    report_add(doctor->report, p99 > slow_us ? CHECK_WARN : CHECK_OK, name,
               p99 > slow_us ? next : NULL, "%s: p50 %.1f ms, p99 %.1f ms",
               report_tr(doctor->report, what), (double)p50 / 1000, (double)p99 / 1000);
}

static bool grant_lease(struct doctor *doctor)
{
    struct kv_reply reply = reply_to(doctor);
    if (!wait_for(doctor, kv_lease_grant(doctor->client, LEASE_S, &reply, NULL))) {
        tell_refused(doctor, TR("lease"));
        return false;
    }
    doctor->lease = doctor->lease_id;
    return true;
}

static bool put(struct doctor *doctor)
{
    struct kv_reply reply = reply_to(doctor);
    const struct kv_put put = {.key = kv_text(doctor->key),
                               .value = kv_text("peal doctor was here"),
                               .lease = doctor->lease};
    return wait_for(doctor, kv_put(doctor->client, &put, &reply, NULL));
}

static bool check_writes(struct doctor *doctor)
{
    int64_t us[WRITES];
    for (size_t i = 0; i < WRITES; i++) {
        int64_t start = now_us();
        if (!put(doctor)) {
            tell_refused(doctor, TR("write"));
            return false;
        }
        us[i] = now_us() - start;
    }
    tell_times(doctor, "write", TR("allowed"), us, WRITES, SLOW_US, doctor->server->when_slow);
    return true;
}

static void check_reads(struct doctor *doctor)
{
    int64_t us[WRITES];
    for (size_t i = 0; i < WRITES; i++) {
        const struct kv_range range = {.key = kv_text(doctor->key)};
        struct kv_reply reply = reply_to(doctor);
        int64_t start = now_us();
        if (!wait_for(doctor, kv_range(doctor->client, &range, &reply, NULL))) {
            tell_refused(doctor, TR("read"));
            return;
        }
        us[i] = now_us() - start;
    }
    tell_times(doctor, "read", TR("allowed"), us, WRITES, SLOW_US, TR("is the network slow?"));
}

/* What all other values depend on: a peal that can't read it does not start. */
static void check_epoch(struct doctor *doctor)
{
    char key[320];
    snprintf(key, sizeof(key), "%s/epoch", doctor->server->prefix);
    const struct kv_range range = {.key = kv_text(key)};
    struct kv_reply reply = reply_to(doctor);
    if (wait_for(doctor, kv_range(doctor->client, &range, &reply, NULL)) &&
        doctor->epoch == E_VERSION)
        report_add(doctor->report, CHECK_FAIL, "store",
                   TR("upgrade this node, or restore the backup from before"),
                   "%s/ was written by a newer peal", doctor->server->prefix);
}

/* ---- the watch ---- */

static void on_notice(void *context, const struct kv_watch_notice *notice)
{
    struct doctor *doctor = context;
    if (notice->kind == KV_WATCH_LIVE)
        doctor->is_live = true;
    else if (notice->kind == KV_WATCH_EVENTS)
        doctor->seen_us = now_us();
    else if (notice->kind == KV_WATCH_FAILED || notice->kind == KV_WATCH_BROKEN)
        snprintf(doctor->watch_error, sizeof(doctor->watch_error), "%s", notice->message);
}

static void on_patience(void *context)
{
    struct doctor *doctor = context;
    if (!*doctor->watch_error)
        snprintf(doctor->watch_error, sizeof(doctor->watch_error),
                 report_tr(doctor->report, "no event came within %d s"), DEADLINE_MS / 1000);
}

static void time_events(struct doctor *doctor, struct loop_timer *patience)
{
    int64_t us[WRITES];
    while (!doctor->is_live && !*doctor->watch_error)
        loop_run_once(doctor->loop);
    for (size_t i = 0; i < WRITES && !*doctor->watch_error; i++) {
        int64_t start = now_us();
        doctor->seen_us = 0;
        loop_timer_set(patience, DEADLINE_MS);
        if (!put(doctor)) {
            snprintf(doctor->watch_error, sizeof(doctor->watch_error), "%s", doctor->message);
            break;
        }
        while (!doctor->seen_us && !*doctor->watch_error)
            loop_run_once(doctor->loop);
        us[i] = doctor->seen_us - start;
    }
    if (*doctor->watch_error) {
        snprintf(doctor->message, sizeof(doctor->message), "%s", doctor->watch_error);
        tell_refused(doctor, TR("watch"));
        return;
    }
    tell_times(doctor, "watch", TR("from a write to its event"), us, WRITES, SLOW_WATCH_US,
               TR("nodes learn late of each other: is the server, or the network, busy?"));
}

static void check_watch(struct doctor *doctor)
{
    struct kv_watch *watch = NULL;
    struct loop_timer *patience = NULL;
    const struct kv_watch_config config = {.key = kv_text(doctor->key)};
    enum status st = loop_timer_new(doctor->loop, on_patience, doctor, &patience);
    if (st == OK)
        st = kv_watch_new(doctor->client, &config, on_notice, doctor, &watch);
    if (st == OK) {
        loop_timer_set(patience, DEADLINE_MS);
        time_events(doctor, patience);
    }
    kv_watch_free(watch);
    loop_timer_free(patience);
}

static void check_delete(struct doctor *doctor)
{
    struct kv_reply reply = reply_to(doctor);
    const struct kv_delete delete = {.key = kv_text(doctor->key)};
    if (wait_for(doctor, kv_delete(doctor->client, &delete, &reply, NULL)))
        report_add(doctor->report, CHECK_OK, "delete", NULL, "allowed");
    else
        tell_refused(doctor, TR("delete"));
}

void doctor_kv(struct report *report, struct loop *loop, struct kv_client *client,
               const struct doctor_server *server)
{
    struct doctor doctor = {.report = report, .server = server, .loop = loop, .client = client};
    snprintf(doctor.key, sizeof(doctor.key), "%s/doctor/%d-%" PRId64, server->prefix, (int)getpid(),
             now_us());
    if (!grant_lease(&doctor))
        return;
    report_add(report, CHECK_OK, "lease", NULL, "allowed");
    if (check_writes(&doctor)) {
        check_reads(&doctor);
        check_epoch(&doctor);
        check_watch(&doctor);
        check_delete(&doctor);
    }
    struct kv_reply reply = reply_to(&doctor);
    wait_for(&doctor, kv_lease_revoke(client, doctor.lease, &reply, NULL));
}
