/* What a job waits for, and who waits for it. */
#include <string.h>

#include "after_check.h"
#include "encode.h"
#include "handlers.h"
#include "input.h"
#include "server.h"
#include "visible.h"

static json_t *encode_after(const struct call *call, const struct catalog_job *job,
                            const struct job_after *after)
{
    bool is_theirs = call_sees(call, after->job);
    const struct catalog_job *other =
        is_theirs ? catalog_by_name(engine_catalog(call->api->ports.engine), after->job) : NULL;
    bool has_run = other && !id_is_zero(&other->last.run_id);
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:b}", "job", after->job, "on",
                     after_on_names[after->on], "exists", other != NULL, "state",
                     has_run ? json_string(run_state_name(other->last.state)) : json_null(),
                     "ended_at", json_time(has_run ? other->last.ended_ms : 0), "met",
                     after_is_met(job, after, other));
}

static json_t *encode_afters(const struct call *call, const struct catalog_job *job)
{
    struct job_after after[JOB_AFTER_MAX];
    size_t count = after_of(job, after);
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++) {
        if (json_array_append_new(list, encode_after(call, job, &after[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

struct followers {
    const char *name; /* who wait for this one */
    json_t *list;
    bool failed;
};

static bool add_follower(void *context, const struct catalog_job *job)
{
    struct followers *followers = context;
    struct job_after after[JOB_AFTER_MAX];
    size_t count = after_of(job, after);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(after[i].job, followers->name) != 0)
            continue;
        json_t *item = json_pack("{s:s, s:s}", "job", job->name, "on", after_on_names[after[i].on]);
        followers->failed |= json_array_append_new(followers->list, item) != 0;
    }
    return true;
}

void get_dependencies(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    if (!job)
        return;
    struct followers followers = {.name = job->name, .list = json_array()};
    call_each_job(call, NULL, false, add_follower, &followers);
    if (followers.failed) {
        json_decref(followers.list);
        followers.list = NULL;
    }
    call_reply(
        call, 200,
        json_pack("{s:o, s:o}", "after", encode_afters(call, job), "before", followers.list));
}
