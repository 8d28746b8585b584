/* Pings: of jobs that have an address for them, when a run starts and when it has ended; and of the
 * cluster's leader, which tells a service outside that there is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent_notify.h"
#include "call_address.h"
#include "definition/job_codec.h"
#include "store.h"

enum { HEARTBEAT_S = 60 };

struct agent_pings {
    struct notifier *notifier;
    const struct agent_config *config;
    struct store *store;
    struct loop_timer *timer; /* of the heartbeat; NULL: none */
    const char *node;
    struct id started[TOLD_RUNS]; /* the last ones: the feed may tell of a run more than once */
    size_t next;
};

bool agent_refuses_ping(void *context, const struct sockaddr *address, char why[POST_WHY])
{
    const struct agent_config *config = context;
    const char *kind = call_address_kind(address);
    char text[CALL_ADDRESS_TEXT];
    if (!kind || (config->http_allow && call_address_is_listed(address, config->http_allow)))
        return false;
    snprintf(why, POST_WHY,
             "%s is a %s address, which pings may reach only if http_allow of the agent lists it",
             call_address_text(address, text), kind);
    return true;
}

/* ---- of jobs ---- */

/* Does the stored definition have "ping"? Inside a string its quotes would be escaped. */
bool agent_has_ping(const struct catalog_job *job)
{
    return job && strstr(job->json, "\"ping\":") != NULL;
}

/* A run that a person has killed, or that a newer one has replaced, has neither failed nor
 * succeeded: nothing comes, which is what the service sees then. */
static bool kind_of_end(const struct run *run, enum ping_kind *ret)
{
    switch (run_tick_result(run)) {
    case RUN_OK:
        *ret = PING_SUCCESS;
        return true;
    case RUN_FAILED:
    case RUN_TIMED_OUT:
    case RUN_LOST:
        *ret = PING_FAILURE;
        return !run->retried;
    case RUN_QUEUED:
    case RUN_DUE:
    case RUN_CLAIMED:
    case RUN_BEGUN:
    case RUN_RUNNING:
    case RUN_KILLED:
    case RUN_SKIPPED:
    case RUN_MISSED:
    case RUN_STATES:
        break;
    }
    return false;
}

static bool has_own_code(const struct run *run)
{
    return run->state == RUN_FAILED && run->reason == REASON_EXIT_CODE;
}

void agent_ping_end(struct notifier *notifier, const struct run *run, const struct job *job,
                    const char *output, size_t length)
{
    struct notice notice = {.output = NULL};
    struct ping ping = {.url = job->ping,
                        .job = run->job_name,
                        .job_uid = run->job_uid,
                        .run_id = run->id,
                        .exit_code = has_own_code(run) ? run->exit_code : -1};
    if (!job->ping || !kind_of_end(run, &ping.kind))
        return;
    notice_set_output(&notice, output, length, false);
    ping.output = notice.output;
    notifier_ping(notifier, &ping);
    notice_release(&notice);
}

static bool is_repeated(struct agent_pings *pings, const struct id *id)
{
    for (size_t i = 0; i < TOLD_RUNS; i++) {
        if (id_compare(&pings->started[i], id) == 0)
            return true;
    }
    pings->started[pings->next++ % TOLD_RUNS] = *id;
    return false;
}

void agent_ping_start(struct agent_pings *pings, const struct run *run,
                      const struct catalog_job *stored)
{
    struct job *job = NULL;
    struct job_error error;
    bool is_begun = run->state == RUN_BEGUN || run->state == RUN_RUNNING;
    if (!is_begun || run_is_step(run) || run->part > 1 || strcmp(run->node, pings->node) != 0 ||
        !agent_has_ping(stored) || is_repeated(pings, &run->id) ||
        job_decode_stored(stored->json, NULL, &job, &error) != OK)
        return;
    if (job->ping)
        notifier_ping(pings->notifier, &(struct ping){.kind = PING_START,
                                                      .url = job->ping,
                                                      .job = run->job_name,
                                                      .job_uid = run->job_uid,
                                                      .run_id = run->id});
    job_free(job);
}

/* ---- of the leader ---- */

static void beat(void *context)
{
    struct agent_pings *pings = context;
    if (store_leads(pings->store))
        notifier_ping(
            pings->notifier,
            &(struct ping){.kind = PING_SUCCESS, .url = pings->config->heartbeat_url, .job = ""});
    int64_t every_s = pings->config->heartbeat_every_s;
    loop_timer_set(pings->timer, (every_s ? every_s : (int64_t)HEARTBEAT_S) * 1000);
}

enum status agent_pings_new(const struct agent_config *config, struct loop *loop, const char *node,
                            struct notifier *notifier, struct store *store,
                            struct agent_pings **ret)
{
    struct agent_pings *pings = calloc(1, sizeof(*pings));
    if (!pings)
        return E_NOMEM;
    pings->notifier = notifier;
    pings->config = config;
    pings->store = store;
    pings->node = node;
    enum status st =
        config->heartbeat_url ? loop_timer_new_patient(loop, beat, pings, &pings->timer) : OK;
    if (st != OK) {
        free(pings);
        return st;
    }
    if (pings->timer)
        loop_timer_set(pings->timer, 1000);
    *ret = pings;
    return OK;
}

struct agent_pings *agent_pings_free(struct agent_pings *pings)
{
    if (pings)
        loop_timer_free(pings->timer);
    free(pings);
    return NULL;
}
