/* Workflows: an instance has the steps of the definition that it was opened from, each of them
 * once; a step starts when those that it waits for have ended as it requires, with the values that
 * they have written; the instance ends when all have, and nothing is removed before. */
#include <stdlib.h>
#include <string.h>

#include "any_job.h"
#include "cluster.h"
#include "definition/job_codec.h"
#include "hash.h"
#include "workflow/flow.h"
#include "workflow/steps.h"

static long long tick_s(const struct run *run)
{
    return (long long)run->tick_ms / 1000;
}

static const struct known_run *instance_of(const struct cluster *cluster, const struct run *run)
{
    const struct known_run *instance =
        id_is_zero(&run->instance) ? NULL : find_run(cluster, &run->instance);
    return instance && instance->plan ? instance : NULL;
}

static const struct job_step *step_of(const struct known_run *instance, const struct run *run)
{
    int step = flow_step_of(run->part);
    return step >= 0 && (size_t)step < instance->plan->step_count ? &instance->plan->steps[step]
                                                                  : NULL;
}

const struct job *workflow_step_job(const struct cluster *cluster, const struct run *run)
{
    const struct known_run *instance = run_is_step(run) ? instance_of(cluster, run) : NULL;
    const struct job_step *step = instance ? step_of(instance, run) : NULL;
    return step ? step->job : NULL;
}

int workflow_version(const struct cluster *cluster, const struct run *run)
{
    const struct known_run *instance = run_is_step(run) ? instance_of(cluster, run) : NULL;
    return instance ? version_of(instance->plan) : -1;
}

static int find_step(const struct job *plan, const char *name)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (strcmp(plan->steps[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The last attempt at a part. */
static const struct known_run *last_of(const struct cluster *cluster, const struct run *run,
                                       int part)
{
    const struct known_run *last = spread_find_part(cluster, run, part, 1), *next;
    for (int attempt = 2; last && (next = spread_find_part(cluster, run, part, attempt)); attempt++)
        last = next;
    return last;
}

/* How the part ended, with all its attempts; QUEUED: it has not. */
static enum run_state end_of(const struct cluster *cluster, const struct run *run, int part)
{
    return spread_end_of(cluster, run, part);
}

static bool is_bad(enum run_state end)
{
    return end != RUN_OK && end != RUN_SKIPPED;
}

/* ---- values ---- */

static uint64_t value_of(const struct id *run_id)
{
    return hash_bytes(1, run_id->bytes, sizeof(run_id->bytes));
}

void workflow_write_values(const struct id *run_id, struct strbuf *ret)
{
    uint64_t value = value_of(run_id);
    strbuf_addf(ret, "v=%llx\ncoin=%d\nlist=[", (unsigned long long)value, (int)(value >> 8 & 1));
    for (int i = 0; i < (int)(value % 5); i++)
        strbuf_addf(ret, "%s%d", i ? "," : "", i);
    strbuf_adds(ret, "]\n");
}

/* The value is what the attempt has written that has decided on the step, if it was OK; else that,
 * or nothing. */
static bool is_value_of_one(const struct cluster *cluster, const struct run *run, int part,
                            const char *value)
{
    const struct known_run *last = last_of(cluster, run, part);
    char text[20];
    if (last && last->run.reason == REASON_NOT_NEEDED && last->run.attempt > 1)
        last = spread_find_part(cluster, run, part, last->run.attempt - 1);
    if (!last)
        return !*value;
    snprintf(text, sizeof(text), "%llx", (unsigned long long)value_of(&last->id));
    return strcmp(text, value) == 0 || (!*value && last->ended_as != RUN_OK);
}

/* Of a fan-out it is the list of its items' values. */
static bool is_list_of(const struct cluster *cluster, const struct run *run, int part,
                       const char *value)
{
    json_t *list = json_loads(value, 0, NULL);
    size_t count = json_array_size(list);
    bool is_right =
        json_is_array(list) && !spread_find_part(cluster, run, FLOW_ITEMS * part + (int)count, 1);
    for (size_t i = 0; is_right && i < count; i++)
        is_right = is_value_of_one(cluster, run, FLOW_ITEMS * part + (int)i,
                                   json_string_value(json_array_get(list, i)));
    json_decref(list);
    return is_right;
}

static bool is_value_of(const struct cluster *cluster, const struct known_run *instance,
                        const struct run *run, int step, const char *value)
{
    int part = flow_part_of(step);
    if (!step_is_fan_out(&instance->plan->steps[step]))
        return is_value_of_one(cluster, run, part, value);
    if (end_of(cluster, run, part) == RUN_QUEUED) /* a step that does not wait for all of others */
        return strcmp(value, "[]") == 0;
    return is_list_of(cluster, run, part, value);
}

/* ---- started ---- */

static void check_value(struct cluster *cluster, const struct known_run *instance,
                        const struct run *run, const struct job *job)
{
    if (!job->command || !job->command[2] || !job->command[3])
        return;
    int step = find_step(instance->plan, job->command[3]);
    const struct job_step *reader = step_of(instance, run);
    const char *value = job->command[2];
    bool is_none = !*value || strcmp(value, "[]") == 0;
    if (reader && reader->join && is_none) /* it may have come after the reader was due */
        return;
    if (step < 0 || !is_value_of(cluster, instance, run, step, value))
        stage_fail(&cluster->stage,
                   "%s of tick %lld of %s gets '%s' from %s, which has not "
                   "written that",
                   run->step, tick_s(run), run->job_name, value, job->command[3]);
}

/* What was skipped was neither a success nor a failure; what was missed was a failure. */
static bool is_wanted(enum after_on on, enum run_state end)
{
    return on == AFTER_ALWAYS || (on == AFTER_SUCCESS ? end == RUN_OK : is_bad(end));
}

/* Those of `finally` wait for all others. */
static bool is_met(const struct cluster *cluster, const struct known_run *instance,
                   const struct run *run, const struct job_step *step)
{
    int met = 0;
    if (step->is_final) {
        for (size_t i = 0; i < instance->plan->step_count; i++)
            if (!instance->plan->steps[i].is_final &&
                end_of(cluster, run, flow_part_of((int)i)) == RUN_QUEUED)
                return false;
    }
    for (size_t i = 0; i < step->after_count; i++) {
        int other = find_step(instance->plan, step->after[i].step);
        enum run_state end = end_of(cluster, run, flow_part_of(other));
        met += end != RUN_QUEUED && is_wanted(step->after[i].on, end);
    }
    return met >= (step->join ? step->join : (int)step->after_count);
}

void workflow_see_start(struct cluster *cluster, const struct known_run *known,
                        const struct job *job)
{
    struct stage *stage = &cluster->stage;
    const struct run *run = &known->run;
    const struct known_run *instance = instance_of(cluster, run);
    if (cluster->restored_ms)
        return;
    const struct job_step *step = instance ? step_of(instance, run) : NULL;
    if (!step)
        stage_fail(stage, "%s of tick %lld of %s is started, which is not in the plan", run->step,
                   tick_s(run), run->job_name);
    bool is_item = flow_part_is_item(run->part);
    if (is_item != step_is_fan_out(step))
        stage_fail(stage, "%s of tick %lld of %s is started as %s", run->step, tick_s(run),
                   run->job_name, is_item ? "an item" : "a whole");
    if (!is_item && !is_met(cluster, instance, run, step))
        stage_fail(stage, "%s of tick %lld of %s is started before its time", run->step,
                   tick_s(run), run->job_name);
    check_value(cluster, instance, run, job);
}

/* ---- made ---- */

static struct job *copy_of(const struct cluster *cluster, const struct job *definition)
{
    char *json = job_encode_text(definition);
    struct job *copy = NULL;
    struct job_error error;
    if (!json || job_decode_stored(json, cluster->zones, &copy, &error) != OK)
        abort();
    free(json);
    return copy;
}

/* In the log: who waits for whom. */
static void log_plan(struct cluster *cluster, const struct job *plan)
{
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct job_step *step = &plan->steps[i];
        strbuf_addf(&text, "%s%s%s", i ? "; " : "", step->name, step_is_fan_out(step) ? "[]" : "");
        for (size_t k = 0; k < step->after_count; k++)
            strbuf_addf(&text, " %s:%d", step->after[k].step, (int)step->after[k].on);
        if (step->join)
            strbuf_addf(&text, " join %d", step->join);
    }
    stage_log(&cluster->stage, "plan: %s", text.text);
    strbuf_release(&text);
}

static void see_opened(struct cluster *cluster, const struct known_job *job,
                       struct known_run *known)
{
    known->is_group = true;
    if (!run_is_instance(&known->run) || known->plan)
        return;
    cluster->instances++;
    if (!job->definition || job->definition->kind != JOB_WORKFLOW)
        stage_fail(&cluster->stage, "tick %lld of %s is opened, which is no workflow",
                   tick_s(&known->run), job->name);
    known->plan = copy_of(cluster, job->definition);
    log_plan(cluster, known->plan);
}

/* ---- ended ---- */

static int items_of(const struct cluster *cluster, const struct run *run, int part,
                    bool *ret_is_over)
{
    int count = 0;
    *ret_is_over = true;
    for (; spread_find_part(cluster, run, FLOW_ITEMS * part + count, 1); count++)
        *ret_is_over &= end_of(cluster, run, FLOW_ITEMS * part + count) != RUN_QUEUED;
    return count;
}

/* A fan-out is over with its last item, as the worst of them; each item that it has made is one of
 * those that it expects. */
static void check_fan_out(struct cluster *cluster, const struct known_run *known)
{
    const struct run *run = &known->run;
    bool is_over, has_failed = false;
    int count = items_of(cluster, run, run->part, &is_over);
    for (int i = 0; i < count; i++)
        has_failed |= is_bad(end_of(cluster, run, FLOW_ITEMS * run->part + i));
    bool is_killed = run->state == RUN_KILLED || run->state == RUN_TIMED_OUT;
    if (!is_over)
        stage_fail(&cluster->stage, "%s of tick %lld of %s is over, and an item of it is not",
                   run->step, tick_s(run), run->job_name);
    if (!is_killed && count != run->joins.expected)
        stage_fail(&cluster->stage, "%s of tick %lld of %s has %d items of %d", run->step,
                   tick_s(run), run->job_name, count, run->joins.expected);
    if (!is_killed && (run->state == RUN_OK) == has_failed)
        stage_fail(&cluster->stage, "%s of tick %lld of %s is %s, and its items are not", run->step,
                   tick_s(run), run->job_name, run_state_name(run->state));
}

/* Every step has come to its end, whatever that was. */
static void check_instance(struct cluster *cluster, const struct known_run *known)
{
    struct stage *stage = &cluster->stage;
    const struct run *run = &known->run;
    bool is_killed = run->state == RUN_KILLED || run->state == RUN_TIMED_OUT, has_failed = false;
    for (size_t i = 0; i < known->plan->step_count; i++) {
        const struct job_step *step = &known->plan->steps[i];
        const struct known_run *last = last_of(cluster, run, flow_part_of((int)i));
        if (!last || end_of(cluster, run, flow_part_of((int)i)) == RUN_QUEUED)
            stage_fail(stage, "tick %lld of %s is over, and its step %s is not", tick_s(run),
                       run->job_name, step->name);
        if (!is_killed && last->must_retry)
            stage_fail(stage, "step %s of tick %lld of %s is %s, and not tried again", step->name,
                       tick_s(run), run->job_name, run_state_name(last->run.state));
        has_failed |= is_bad(end_of(cluster, run, flow_part_of((int)i)));
    }
    if (!is_killed && (run->state == RUN_OK) == has_failed)
        stage_fail(stage, "tick %lld of %s is %s, and its steps are not", tick_s(run),
                   run->job_name, run_state_name(run->state));
}

/* A purge ends all that is open, and a restore brings back what was. */
static void see_ended(struct cluster *cluster, const struct known_job *job, struct known_run *known)
{
    const struct run *run = &known->run;
    const struct job *step = workflow_step_job(cluster, run);
    cluster->skips += run->state == RUN_SKIPPED;
    known->must_retry = step && !known->is_group && job->revision && !job->deleted &&
                        !run->retried && attempts_are_wanted(step, run);
    if (cluster->restored_ms || run->reason == REASON_DELETED || !known->is_group)
        return;
    if (run_is_instance(run))
        check_instance(cluster, known);
    else
        check_fan_out(cluster, known);
}

static bool is_fan_out(const struct cluster *cluster, const struct run *run)
{
    const struct known_run *instance = run_is_step(run) ? instance_of(cluster, run) : NULL;
    const struct job_step *step = instance ? step_of(instance, run) : NULL;
    return step && step_is_fan_out(step) && !flow_part_is_item(run->part);
}

void workflow_see(struct cluster *cluster, const struct known_job *job, struct known_run *known,
                  const struct run *was)
{
    const struct run *run = &known->run;
    if (id_is_zero(&run->instance))
        return;
    bool is_end = run_state_is_end(run->state), was_end = run_state_is_end(was->state);
    bool is_empty = is_end && run->started_ms && is_fan_out(cluster, run); /* over at once */
    bool is_new_group = run->state == RUN_RUNNING || is_empty || (is_end && run_is_instance(run));
    if (is_new_group && !known->is_group)
        see_opened(cluster, job, known);
    cluster->items += flow_part_is_item(run->part) && is_end && !was_end;
    if (is_end && !was_end)
        see_ended(cluster, job, known);
}

/* ---- removed, stuck ---- */

void workflow_see_gone(struct cluster *cluster, const struct known_run *known)
{
    const struct known_run *instance =
        run_is_step(&known->run) ? instance_of(cluster, &known->run) : NULL;
    if (instance && instance->is_stored && !run_state_is_end(instance->run.state) &&
        !cluster->restored_ms)
        stage_fail(&cluster->stage, "%s of tick %lld of %s is removed before its instance is over",
                   known->run.step, tick_s(&known->run), known->run.job_name);
}

static bool is_under_way(const struct run *run, const struct run *group)
{
    if (!run_is_step(run) || id_compare(&run->instance, &group->instance) != 0)
        return false;
    bool is_its_own = run_is_instance(group) || run->part / FLOW_ITEMS == group->part;
    bool is_open = run->state == RUN_DUE || run->state == RUN_CLAIMED || run->state == RUN_BEGUN;
    return is_its_own && is_open;
}

/* What has ended a while ago was followed. */
bool workflow_is_stuck(const struct cluster *cluster, const struct known_run *known)
{
    const struct known_run *other;
    if (!known->is_stored || known->run.state != RUN_RUNNING)
        return false;
    for (size_t at = 0; (other = table_next(&cluster->runs, &at));) {
        bool is_new = id_compare(&other->run.instance, &known->run.instance) == 0 &&
                      run_is_step(&other->run) && other->since_ms > cluster->stage.now_ms - MINUTE;
        if (other->is_stored && (is_new || is_under_way(&other->run, &known->run)))
            return false;
    }
    return true;
}
