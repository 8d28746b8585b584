/* Checks each server of etcd, then what the store needs of them. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_store.h"
#include "service/doctor_kv.h"
#include "text/tr.h"

enum { DEADLINE_MS = 2000 };

static const int64_t default_quota = 2LL * 1024 * 1024 * 1024;

/* ---- asking, and waiting for the answer ---- */

struct doctor {
    struct report *report;
    const struct agent_config *config;
    struct etcd_login login;
    struct loop *loop;

    /* The answer to the last request. */
    bool is_over;
    enum status status;
    char message[300];
    uint64_t member_id;
    struct etcd_member_result member;
    char version[32];
    unsigned alarms; /* a bit per enum etcd_alarm */
};

static void on_answer(void *context, const struct kv_result *result)
{
    struct doctor *doctor = context;
    doctor->is_over = true;
    doctor->status = result->status;
    snprintf(doctor->message, sizeof(doctor->message), "%s", result->message);
    doctor->member_id = result->server_id;
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

/* Whoever reaches such an etcd can do everything that peal can. */
static void check_auth(struct doctor *doctor, struct kv_client *client)
{
    if (etcd_client_has_needless_user(client))
        report_add(doctor->report, CHECK_WARN, "etcd auth",
                   "etcdctl auth enable, after root has a password (docs/CLUSTER.md)",
                   "user %s is configured, but etcd's authentication is off: whoever reaches it "
                   "can read and change everything",
                   doctor->login.client.user);
}

static void print_when_refused(const struct doctor *doctor, char *to, size_t size)
{
    const char *user = doctor->login.client.user, *prefix = doctor->config->store.prefix;
    if (user)
        snprintf(to, size,
                 report_tr(doctor->report, "etcdctl role grant-permission ROLE --prefix=true "
                                           "readwrite %s/, for a role of %s"),
                 prefix, user);
    else
        snprintf(to, size,
                 report_tr(doctor->report,
                           "is etcd well, and may everybody use it? Else name a user for %s/"),
                 prefix);
}

static void check_access(struct doctor *doctor)
{
    struct parse_error error = {0};
    struct kv_client *client = NULL;
    char when_refused[600];
    print_when_refused(doctor, when_refused, sizeof(when_refused));
    const struct doctor_server server = {
        .prefix = doctor->config->store.prefix,
        .when_refused = when_refused,
        .when_slow = TR("etcd waits for its disk (or the network to the others): give it a fast "
                        "one of its own"),
    };
    if (etcd_client_new(doctor->loop, &doctor->login.client, &client, &error) != OK) {
        report_add(doctor->report, CHECK_FAIL, "etcd", NULL, "%s", error.message);
        return;
    }
    doctor_kv(doctor->report, doctor->loop, client, &server);
    check_auth(doctor, client);
    kv_client_free(client);
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
