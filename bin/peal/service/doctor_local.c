#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/when.h"
#include "client/starts.h"
#include "data_dir.h"
#include "data_folder.h"
#include "function/run_limits.h"
#include "history_open.h"
#include "print/run_table.h"
#include "print/state_words.h"
#include "service/daemon.h"
#include "service/doctor.h"
#include "store_look.h"
#include "text/tr.h"
#include "version.h"

enum { SKEW_WARN_MS = 200, SETTLE_MS = 5000 };

static const int64_t enough_bytes = 1024LL * 1024 * 1024;

/* ---- the folder ---- */

void doctor_folder(struct report *report, const char *folder)
{
    struct stat info;
    if (stat(folder, &info) != 0 && errno == ENOENT) {
        report_add(report, CHECK_WARN, "data folder", "peal start makes it", "%s: %s", folder,
                   strerror(errno));
        return;
    }
    if (access(folder, R_OK | W_OK | X_OK) != 0) {
        report_add(report, CHECK_FAIL, "data folder",
                   "give it to the user that peal runs as, or name another with --data",
                   "%s can't be written to: %s", folder, strerror(errno));
        return;
    }
    if (info.st_mode & (S_IWGRP | S_IWOTH)) {
        report_add(report, CHECK_FAIL, "data folder", "chmod go-w, or name another folder",
                   "%s: others may write to it", folder);
        return;
    }
    int64_t bytes = disk_free_bytes(folder);
    enum check_result verdict = bytes < DISK_RESERVE_BYTES ? CHECK_FAIL
                                : bytes < enough_bytes     ? CHECK_WARN
                                                           : CHECK_OK;
    report_add(report, verdict, "data folder",
               verdict ? "make room: history and output are kept there" : NULL,
               "%s is writable, %" PRId64 " MB free", folder, bytes / 1000000);
}

/* ---- the agent ---- */

static void check_health(struct report *report, const char *name, const json_t *health)
{
    if (json_is_true(json_object_get(health, "ok")))
        report_add(report, CHECK_OK, name, NULL, "well");
    else
        report_add(report, CHECK_FAIL, name, NULL, "%s", answer_text(health, "detail"));
}

static void check_clock(struct report *report, const json_t *node, size_t count)
{
    const json_t *skew = json_object_get(node, "skew_ms");
    long long ms = json_integer_value(skew);
    const char *next = TR("let chrony or systemd-timesyncd set it");
    if (count < 2)
        report_add(report, CHECK_OK, "clock", NULL, "there is no other node to compare it with");
    else if (strcmp(answer_text(node, "state"), "clock") == 0)
        report_add(report, CHECK_FAIL, "clock", next,
                   "%+lld ms from the cluster's: too far, so nothing is started here", ms);
    else
        report_add(report, llabs(ms) > SKEW_WARN_MS ? CHECK_WARN : CHECK_OK, "clock",
                   llabs(ms) > SKEW_WARN_MS ? next : NULL, "%+lld ms from the cluster's", ms);
}

static void check_spawner(struct report *report, const char *state)
{
    if (strcmp(state, "spawner") == 0)
        report_add(report, CHECK_FAIL, "spawner", "look into the agent's log",
                   "can't be reached, so nothing can be started");
    else if (strcmp(state, "api") == 0)
        report_add(report, CHECK_OK, "spawner", NULL, "none: this node serves the API only");
    else
        report_add(report, CHECK_OK, "spawner", NULL, "reachable");
}

/* What the node can enforce of the limits of whole runs. It is well without. */
static void check_limits(struct report *report, const json_t *node)
{
    struct strbuf names;
    const json_t *labels = json_object_get(node, "labels");
    strbuf_init(&names);
    for (int i = 0; i < CONTROLLERS; i++) {
        enum run_controller controller = (enum run_controller)i;
        if (json_object_get(labels, controller_label(controller)))
            strbuf_addf(&names, "%s%s", names.length ? ", " : "", controller_limit(controller));
    }
    if (names.length)
        report_add(report, CHECK_OK, "limits of runs", NULL, "%s", names.text);
    else
        report_add(report, CHECK_OK, "limits of runs", NULL,
                   "none: jobs with limits.total_memory and the like run on other nodes alone "
                   "(docs/JOBS.md, \"Limits of a whole run\")");
    strbuf_release(&names);
}

/* The agent's own node; NULL: unknown. */
static const json_t *find_self(const json_t *nodes)
{
    const json_t *node;
    size_t i;
    json_array_foreach (nodes, i, node) {
        if (json_is_true(json_object_get(node, "self")))
            return node;
    }
    return NULL;
}

/* Checks the agent's own node. An agent that has just started may not have its spawner yet: tries
 * again for a moment. */
static void check_node(struct report *report, struct client *client)
{
    int64_t until_ms = now_ms() + SETTLE_MS;
    int delay_ms = 0;
    for (;;) {
        struct reply reply = {0};
        if (client_try(client, &(struct client_request){.path = "/nodes"}, &reply) != OK)
            return;
        const json_t *nodes = json_object_get(reply.body, "items"), *self = find_self(nodes);
        const char *state = answer_text(self, "state");
        bool is_final = strcmp(state, "spawner") != 0 || now_ms() >= until_ms;
        if (self && is_final) {
            check_spawner(report, state);
            if (strcmp(state, "api") != 0)
                check_limits(report, self);
            check_clock(report, self, json_array_size(nodes));
        }
        reply_release(&reply);
        if (is_final)
            return;
        pause_longer(&delay_ms);
    }
}

/* Older agents, and nodes that run no jobs, do not report it. */
static void check_jobs_user(struct report *report, const json_t *user)
{
    bool is_ok = json_is_true(json_object_get(user, "ok"));
    const char *next = json_is_string(json_object_get(user, "name"))
                           ? TR("docs/SECURITY.md, \"Whom jobs run as\"")
                           : TR("peal restart --default-user NAME (docs/SECURITY.md)");
    if (json_is_object(user))
        report_add(report, is_ok ? CHECK_OK : CHECK_WARN, "jobs' user", is_ok ? NULL : next, "%s",
                   answer_text(user, "detail"));
}

static bool is_nearly_full(const json_t *quota)
{
    enum { FULL_PERCENT = 90 };
    int64_t limit = answer_int(quota, "limit", 0);
    return limit && answer_int(quota, "used", 0) >= limit / 100 * FULL_PERCENT;
}

/* Quotas that are nearly used up; older agents do not report them. */
static void check_quotas(struct report *report, const json_t *quotas)
{
    const char *name, *next = TR("docs/CONFIG.md, \"quotas\"");
    const json_t *jobs = json_object_get(quotas, "jobs");
    const json_t *definitions = json_object_get(quotas, "definitions");
    json_t *quota;
    if (is_nearly_full(jobs))
        report_add(report, CHECK_WARN, "quotas", next, "jobs: %" PRId64 " of %" PRId64 " are used",
                   answer_int(jobs, "used", 0), answer_int(jobs, "limit", 0));
    if (is_nearly_full(definitions))
        report_add(report, CHECK_WARN, "quotas", next,
                   "bytes of definitions: %" PRId64 " of %" PRId64 " are used",
                   answer_int(definitions, "used", 0), answer_int(definitions, "limit", 0));
    json_object_foreach (json_object_get(quotas, "namespaces"), name, quota) {
        if (is_nearly_full(quota))
            report_add(report, CHECK_WARN, "quotas", next,
                       "jobs of %s: %" PRId64 " of %" PRId64 " are used", name,
                       answer_int(quota, "used", 0), answer_int(quota, "limit", 0));
    }
}

/* Not reported by older agents, nor to callers with limited rights. */
static void check_sandbox(struct report *report, const json_t *sandbox)
{
    bool is_ok = json_is_true(json_object_get(sandbox, "ok"));
    if (json_is_object(sandbox))
        report_add(report, is_ok ? CHECK_OK : CHECK_WARN, "sandbox",
                   is_ok ? NULL : "docs/SECURITY.md, \"What the agent gives up\"", "%s",
                   answer_text(sandbox, "detail"));
}

/* True: another agent has its name, which is reported instead of the store's health. */
static bool check_name(struct report *report, const json_t *agent)
{
    if (strcmp(answer_text(agent, "state"), "shut_out") != 0)
        return false;
    report_add(report, CHECK_FAIL, "agent's name", "peal nodes -o wide shows both", "%s",
               answer_text(json_object_get(agent, "store"), "detail"));
    return true;
}

/* A person has drained the node on purpose. Older agents do not report it. */
static void check_starts(struct report *report, const json_t *agent)
{
    bool is_drained = strcmp(starts_reason(agent), "drained") == 0;
    if (!starts_are_ok(agent))
        report_add(report, is_drained ? CHECK_WARN : CHECK_FAIL, "starts", NULL,
                   "nothing can start (%s): %s", starts_reason(agent), starts_detail(agent));
    else if (json_object_get(agent, "starts"))
        report_add(report, CHECK_OK, "starts", NULL, "nothing is in the way");
}

/* Older agents do not report it. check_clock compares with the other nodes. */
static void check_belief(struct report *report, const json_t *clock)
{
    int64_t step_ms = answer_int(clock, "step_ms", 0);
    bool is_doubted = *answer_text(clock, "doubt"), is_ahead = answer_int(clock, "jobs_ahead", 0);
    if (is_doubted || is_ahead)
        report_add(report, is_doubted ? CHECK_FAIL : CHECK_WARN, "agent's clock",
                   is_doubted ? "set it (chrony, systemd-timesyncd), or wait" : NULL, "%s",
                   answer_text(clock, "detail"));
    else if (step_ms)
        report_add(report, CHECK_OK, "agent's clock", NULL,
                   "was set %" PRId64 " times since the agent started, last by %+.3f s",
                   answer_int(clock, "steps", 0), (double)step_ms / 1000);
}

static void check_version(struct report *report, const json_t *agent)
{
    const char *version = answer_text(agent, "version"), *node = answer_text(agent, "node");
    const char *state = answer_text(agent, "state");
    const char *word = report->checks ? state : agent_word(state);
    if (strcmp(version, PEAL_VERSION) == 0)
        report_add(report, CHECK_OK, "agent", NULL, "%s, node %s, version %s", word, node, version);
    else
        report_add(
            report, CHECK_WARN, "agent", "peal restart starts the new one; running jobs go on",
            "%s, node %s, version %s, not this program's %s", word, node, version, PEAL_VERSION);
}

/* Of an older agent, and for who may not see everything, there is nothing to tell. */
static void check_program(struct report *report, const char *what, const json_t *program)
{
    bool is_ok = json_is_true(json_object_get(program, "ok"));
    if (json_is_object(program))
        report_add(report, is_ok ? CHECK_OK : CHECK_WARN, what,
                   is_ok ? NULL : "docs/CLUSTER.md, \"Upgrades\"; running jobs go on", "%s",
                   answer_text(program, "detail"));
}

/* How many keep a history that the others have to ask for. */
static size_t count_own_histories(const json_t *nodes)
{
    const json_t *node;
    size_t i, count = 0;
    json_array_foreach (nodes, i, node) {
        count += strcmp(answer_text(node, "history"), "own") == 0;
    }
    return count;
}

/* A page of runs asks all of them. */
static void check_histories(struct report *report, struct client *client)
{
    struct reply nodes = {0}, runs = {0};
    const json_t *item;
    size_t i;
    if (client_try(client, &(struct client_request){.path = "/runs?state=ok&limit=1"}, &runs) !=
            OK ||
        client_try(client, &(struct client_request){.path = "/nodes"}, &nodes) != OK)
        goto out;
    const json_t *incomplete = json_object_get(runs.body, "incomplete");
    size_t own = count_own_histories(json_object_get(nodes.body, "items"));
    json_array_foreach (incomplete, i, item) {
        report_add(report, CHECK_WARN, "histories",
                   "if it is up: its log and peal nodes -o wide; its port must be open for the "
                   "other nodes (--peer-listen)",
                   "node %s %s: its runs can't be read from here", answer_text(item, "node"),
                   report_tr(report, answer_text(item, "why")));
    }
    if (!json_array_size(incomplete) && own > 1)
        report_add(report, CHECK_OK, "histories", NULL, "those of all %zu nodes can be read", own);
out:
    reply_release(&runs);
    reply_release(&nodes);
}

/* Did the last try of this message fail? One that was not tried yet says nothing. */
static bool has_failed(const json_t *message)
{
    const char *state = answer_text(message, "state");
    return strcmp(state, "given_up") == 0 ||
           (strcmp(state, "sent") != 0 && answer_int(message, "tries", 0) > 0);
}

static bool was_tried(const json_t *message)
{
    return has_failed(message) || strcmp(answer_text(message, "state"), "sent") == 0;
}

/* Is there one before the i-th of the same channel and node that says how these are now? */
static bool is_outdated(const json_t *list, size_t i)
{
    const json_t *message = json_array_get(list, i);
    for (size_t j = 0; j < i; j++) {
        const json_t *other = json_array_get(list, j);
        if (was_tried(other) &&
            strcmp(answer_text(other, "channel"), answer_text(message, "channel")) == 0 &&
            strcmp(answer_text(other, "node"), answer_text(message, "node")) == 0)
            return true;
    }
    return false;
}

/* Older agents have no list, and only admins see it. */
static void check_channels(struct report *report, struct client *client)
{
    struct reply reply = {0};
    const json_t *message;
    size_t i;
    struct client_request get = {.path = "/messages?limit=200"};
    if (client_try(client, &get, &reply) == OK && reply.status == 200) {
        const json_t *list = json_object_get(reply.body, "items");
        json_array_foreach (list, i, message) {
            if (has_failed(message) && !is_outdated(list, i))
                report_add(report, CHECK_WARN, "channel",
                           "peal channel log shows its messages, peal channel test tries it",
                           "%s fails on node %s: %s", answer_text(message, "channel"),
                           answer_text(message, "node"), answer_text(message, "answer"));
        }
    }
    reply_release(&reply);
}

/* Keys whose values are set aside; older agents do not report them. */
static void check_asides(struct report *report, const json_t *store)
{
    const json_t *item;
    size_t i;
    json_array_foreach (json_object_get(store, "set_aside"), i, item) {
        report_add(report, CHECK_WARN, "store value",
                   "of a newer peal: upgrade this node; else restore or remove the key "
                   "(docs/RELIABILITY.md). It is left as it is, and the rest goes on",
                   "%s can't be read: %s", answer_text(item, "key"),
                   report_tr(report, answer_text(item, "why")));
    }
}

/* Older agents, and those without a collector, have none. */
static void check_otlp(struct report *report, const json_t *otlp)
{
    int64_t dropped = answer_int(otlp, "dropped", 0);
    if (!json_is_object(otlp))
        return;
    if (!json_is_true(json_object_get(otlp, "ok")))
        report_add(report, CHECK_WARN, "OpenTelemetry",
                   "see to the collector, or to otlp.endpoint of the configuration",
                   "the last request to the collector failed: %s", answer_text(otlp, "detail"));
    else if (dropped)
        report_add(report, CHECK_WARN, "OpenTelemetry",
                   "the agent's log says why (spans_dropped); it counts anew with its next start",
                   "%" PRId64 " spans were dropped", dropped);
    else
        report_add(report, CHECK_OK, "OpenTelemetry", NULL,
                   "the collector has taken %" PRId64 " spans", answer_int(otlp, "sent", 0));
}

bool doctor_agent(struct report *report, struct client *client, char **ret_url)
{
    struct reply reply = {0};
    char next[600];
    *ret_url = NULL;
    enum status st = client_try(client, &(struct client_request){.path = "/agent"}, &reply);
    if (st != OK || reply.status != 200) {
        pid_t pid = daemon_find(client_data(client));
        snprintf(next, sizeof(next), "peal start -d --data %s", client_data(client));
        if (pid)
            report_add(report, CHECK_FAIL, "agent", "look into its log", "pid %d does not answer",
                       (int)pid);
        else
            report_add(report, CHECK_WARN, "agent", next,
                       "is not running; spawner and clock were not checked");
        reply_release(&reply);
        return false;
    }
    check_version(report, reply.body);
    check_starts(report, reply.body);
    check_program(report, TR("spawner's version"), json_object_get(reply.body, "spawner"));
    check_program(report, TR("peal-call's version"), json_object_get(reply.body, "caller"));
    if (!check_name(report, reply.body))
        check_health(report, TR("agent's store"), json_object_get(reply.body, "store"));
    check_asides(report, json_object_get(reply.body, "store"));
    check_health(report, TR("agent's history"), json_object_get(reply.body, "history"));
    check_belief(report, json_object_get(reply.body, "clock"));
    check_jobs_user(report, json_object_get(reply.body, "jobs_user"));
    check_sandbox(report, json_object_get(reply.body, "sandbox"));
    check_quotas(report, json_object_get(reply.body, "quotas"));
    check_otlp(report, json_object_get(reply.body, "otlp"));
    const char *url = answer_text(json_object_get(reply.body, "store"), "url");
    *ret_url = *url ? strdup(url) : NULL;
    reply_release(&reply);
    check_node(report, client);
    check_histories(report, client);
    check_channels(report, client);
    return true;
}

/* ---- the database ---- */

void doctor_sqlite(struct report *report, const char *folder)
{
    struct store_look look;
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_sqlite_look(folder, true, &look, &why);
    if (st == E_NOT_FOUND)
        report_add(report, CHECK_OK, "database", NULL, "there is none yet");
    else if (st != OK)
        report_add(report, CHECK_FAIL, "database", NULL, "%s",
                   why.length ? why.text : report_tr(report, status_text(st)));
    else
        report_add(report, CHECK_OK, "database", NULL,
                   "%s/peal.db is intact: %" PRId64 " jobs, %" PRId64 " kB", folder, look.jobs,
                   look.bytes / 1000);
    strbuf_release(&why);
}

void doctor_history(struct report *report, const char *folder)
{
    struct strbuf why;
    char *url = data_folder_recall(folder, "history");
    bool is_file = !url || !history_is_known(url);
    free(url);
    if (!is_file)
        return;
    strbuf_init(&why);
    enum status st = history_sqlite_look(folder, &why);
    if (st == OK)
        report_add(report, CHECK_OK, "history", NULL, "%s/history.db can be opened", folder);
    else if (st != E_NOT_FOUND)
        report_add(report, CHECK_FAIL, "history", NULL, "%s",
                   why.length ? why.text : report_tr(report, status_text(st)));
    strbuf_release(&why);
}
