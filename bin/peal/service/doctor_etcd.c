/* Checks each server, then the operations of the store: write, read, watch, delete, lease. Test
 * keys are below PREFIX/doctor/, on a lease, and removed. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kv_watch.h"
#include "node_store.h"
#include "service/doctor.h"
#include "text/tr.h"

enum {
    DEADLINE_MS = 2000,
    WRITES = 50,
    LEASE_S = 30,
    SLOW_US = 100000,       /* of the slowest write: starts would be late */
    SLOW_WATCH_US = 250000, /* the next rank steps in after 300 ms */
};

static const int64_t default_quota = 2LL * 1024 * 1024 * 1024;

/* ---- asking, and waiting for the answer ---- */

struct doctor {
    struct report *report;
    const struct agent_config *config;
    struct etcd_login login;
    struct loop *loop;
    struct kv_client *client; /* of all servers */
    int64_t lease;
    char key[320];

    /* The answer to the last request. */
    bool is_over;
    enum status status;
    char message[300];
    uint64_t member_id;
    int64_t lease_id;
    struct etcd_member_result member;
    char version[32];
    unsigned alarms; /* a bit per enum etcd_alarm */

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

static void on_answer(void *context, const struct kv_result *result)
{
    struct doctor *doctor = context;
    doctor->is_over = true;
    doctor->status = result->status;
    snprintf(doctor->message, sizeof(doctor->message), "%s", result->message);
    doctor->member_id = result->server_id;
    doctor->lease_id = result->lease.id;
    doctor->member = *etcd_member_of(result);
    snprintf(doctor->version, sizeof(doctor->version), "%s",
             result->status == OK ? etcd_member_of(result)->version : "");
    doctor->alarms = 0;
    for (size_t i = 0; i < etcd_member_of(result)->alarm_count; i++)
        doctor->alarms |= 1u << etcd_member_of(result)->alarms[i].alarm;
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

/* ---- each server ---- */

struct server {
    const char *name;
    bool is_there;
    bool has_leader, leads;
    char version[32], message[300];
    int64_t bytes;
    unsigned alarms;
};

static void look_at(struct doctor *doctor, const char *endpoint, struct server *server)
{
    struct etcd_client_config config = doctor->login.client;
    struct parse_error error = {0};
    struct kv_client *client = NULL;
    config.endpoints = &endpoint;
    config.endpoint_count = 1;
    server->name = strstr(endpoint, "://") + 3;
    if (etcd_client_new(doctor->loop, &config, &client, &error) != OK) {
        snprintf(server->message, sizeof(server->message), "%s", error.message);
        return;
    }
    struct kv_reply reply = reply_to(doctor);
    server->is_there = wait_for(doctor, etcd_status(client, &reply, NULL));
    snprintf(server->message, sizeof(server->message), "%s", doctor->message);
    snprintf(server->version, sizeof(server->version), "%s", doctor->version);
    server->has_leader = doctor->member.leader_id != 0;
    server->leads = server->has_leader && doctor->member.leader_id == doctor->member_id;
    server->bytes = doctor->member.db_bytes;
    reply = reply_to(doctor);
    if (server->is_there && wait_for(doctor, etcd_alarms(client, &reply, NULL)))
        server->alarms = doctor->alarms;
    kv_client_free(client);
}

static bool is_old(const char *version)
{
    int major = 0, minor = 0;
    return sscanf(version, "%d.%d", &major, &minor) == 2 &&
           (major < 3 || (major == 3 && minor < 4));
}

static void tell_server(struct report *report, const struct server *server, bool others_are_there)
{
    char name[300];
    snprintf(name, sizeof(name), "etcd %s", server->name);
    if (!server->is_there)
        report_add(report, others_are_there ? CHECK_WARN : CHECK_FAIL, name,
                   "is it running, is the address right, does a firewall or TLS stand between?",
                   "%s", server->message);
    else if (!server->has_leader)
        report_add(report, CHECK_FAIL, name, "start the other members: most of them must run",
                   "%s, but has no leader, so nothing can be written", server->version);
    else if (is_old(server->version))
        report_add(report, CHECK_FAIL, name, "upgrade etcd", "%s; peal needs 3.4 or later",
                   server->version);
    else if (server->leads)
        report_add(report, CHECK_OK, name, NULL, "%s, leads, %" PRId64 " kB", server->version,
                   server->bytes / 1000);
    else
        report_add(report, CHECK_OK, name, NULL, "%s, follows, %" PRId64 " kB", server->version,
                   server->bytes / 1000);
}

static void tell_space(struct report *report, const struct server *servers, size_t count)
{
    int64_t bytes = 0;
    unsigned alarms = 0;
    for (size_t i = 0; i < count; i++) {
        bytes = servers[i].bytes > bytes ? servers[i].bytes : bytes;
        alarms |= servers[i].alarms;
    }
    if (alarms & 1u << ETCD_ALARM_CORRUPT)
        report_add(report, CHECK_FAIL, "etcd alarm", "replace the member that is damaged",
                   "CORRUPT: members do not hold the same data");
    if (alarms & 1u << ETCD_ALARM_NOSPACE)
        report_add(report, CHECK_FAIL, "etcd alarm",
                   "compact, defragment, then etcdctl alarm disarm (docs/CLUSTER.md)",
                   "NOSPACE: the quota is used up, so nothing can be written");
    bool is_large = bytes > default_quota * 3 / 4;
    enum check_result verdict = is_large ? CHECK_WARN : CHECK_OK;
    const char *next = is_large ? TR("etcd's quota is 2 GB unless told otherwise: compact and "
                                     "defragment, or raise --quota-backend-bytes")
                                : NULL;
    if (alarms)
        report_add(report, verdict, "etcd size", next, "%" PRId64 " kB, with an alarm",
                   bytes / 1000);
    else
        report_add(report, verdict, "etcd size", next, "%" PRId64 " kB, no alarm", bytes / 1000);
}

/* False: no server answers, so there is nothing more to check. */
static bool check_servers(struct doctor *doctor)
{
    size_t count = doctor->login.client.endpoint_count, there = 0;
    struct server *servers = calloc(count, sizeof(*servers));
    if (!servers)
        return false;
    for (size_t i = 0; i < count; i++) {
        look_at(doctor, doctor->login.client.endpoints[i], &servers[i]);
        there += servers[i].is_there;
    }
    for (size_t i = 0; i < count; i++)
        tell_server(doctor->report, &servers[i], there > 0);
    if (there)
        tell_space(doctor->report, servers, count);
    free(servers);
    return there > 0;
}

/* ---- what the store needs ---- */

static void tell_refused(struct doctor *doctor, const char *what)
{
    char next[600];
    const char *user = doctor->login.client.user, *prefix = doctor->config->store.prefix;
    if (user)
        snprintf(next, sizeof(next),
                 report_tr(doctor->report, "etcdctl role grant-permission ROLE --prefix=true "
                                           "readwrite %s/, for a role of %s"),
                 prefix, user);
    else
        snprintf(next, sizeof(next),
                 report_tr(doctor->report,
                           "is etcd well, and may everybody use it? Else name a user for %s/"),
                 prefix);
    report_add(doctor->report, CHECK_FAIL, what, next, "%s", doctor->message);
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
    tell_times(doctor, "write", TR("allowed"), us, WRITES, SLOW_US,
               TR("etcd waits for its disk (or the network to the others): give it a fast one of "
                  "its own"));
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
               TR("nodes learn late of each other: is etcd, or the network, busy?"));
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

/* Whoever reaches such an etcd can do everything that peal can. */
static void check_auth(struct doctor *doctor)
{
    if (etcd_client_has_needless_user(doctor->client))
        report_add(doctor->report, CHECK_WARN, "etcd auth",
                   "etcdctl auth enable, after root has a password (docs/CLUSTER.md)",
                   "user %s is configured, but etcd's authentication is off: whoever reaches it "
                   "can read and change everything",
                   doctor->login.client.user);
}

static void check_access(struct doctor *doctor)
{
    struct parse_error error = {0};
    snprintf(doctor->key, sizeof(doctor->key), "%s/doctor/%d-%" PRId64,
             doctor->config->store.prefix, (int)getpid(), now_us());
    enum status st = etcd_client_new(doctor->loop, &doctor->login.client, &doctor->client, &error);
    if (st != OK) {
        report_add(doctor->report, CHECK_FAIL, "etcd", NULL, "%s", error.message);
        return;
    }
    if (grant_lease(doctor)) {
        report_add(doctor->report, CHECK_OK, "lease", NULL, "allowed");
        check_auth(doctor);
        if (check_writes(doctor)) {
            check_reads(doctor);
            check_watch(doctor);
            check_delete(doctor);
        }
        struct kv_reply reply = reply_to(doctor);
        wait_for(doctor, kv_lease_revoke(doctor->client, doctor->lease, &reply, NULL));
    }
    doctor->client = kv_client_free(doctor->client);
}

void doctor_etcd(struct report *report, const struct agent_config *config)
{
    struct doctor doctor = {.report = report, .config = config};
    struct strbuf why;
    strbuf_init(&why);
    signal(SIGPIPE, SIG_IGN);
    const struct store_access access = agent_config_store(config);
    enum status st = etcd_login_make(&access, &doctor.login, &why);
    if (st == OK)
        st = loop_new(&doctor.loop);
    if (st != OK)
        report_add(report, CHECK_FAIL, "etcd", NULL, "%s",
                   why.length ? why.text : report_tr(report, status_text(st)));
    else if (check_servers(&doctor))
        check_access(&doctor);
    loop_free(doctor.loop);
    etcd_login_release(&doctor.login);
    strbuf_release(&why);
}
