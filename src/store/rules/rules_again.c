/* Further attempts at a tick: the end of one and the start of the next are one write. */
#include <string.h>

#include "group/group.h"
#include "rules/rules_internal.h"

enum status rules_again_is_stale(struct rules *rules, const struct store_finish *finish, bool *ret)
{
    struct job_row job;
    *ret = false;
    if (!finish->again.is_wanted || run_is_step(&finish->run)) /* its plan does not change */
        return OK;
    enum status st = rules->ops->get_job(rules->tables, &finish->run.job_uid, &job);
    if (st == E_NOT_FOUND || st == E_SET_ASIDE)
        return OK;
    *ret = st == OK && !job.deleted && job.revision != finish->again.job_revision;
    return st;
}

/* Of a step: has its instance ended, or is it to? */
static enum status is_instance_called_off(struct rules *rules, const struct run *run, bool *ret)
{
    struct run_row instance;
    *ret = false;
    if (!run_is_step(run))
        return OK;
    enum status st = rules->ops->get_run(rules->tables, &run->instance, &instance);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    *ret = st == E_NOT_FOUND || !state_is_open(instance.run.state) ||
           (instance.kill_reason != REASON_NONE && !run->joins.is_final);
    return OK;
}

enum status rules_again_is_due(struct rules *rules, const struct run *before,
                               const struct store_finish *finish, bool *ret)
{
    struct job_row job;
    *ret = false;
    /* After a restore nobody knows whether the next attempt was made, and ran, since the backup. */
    bool is_restored = before->state == RUN_LOST && before->reason == REASON_RESTORED;
    /* The loss of a part counts for its tick, which may be over; that of a step for those after
     * it. */
    bool is_counted = (before->parts || run_is_step(before)) && !state_is_open(before->state);
    bool is_group = before->state == RUN_RUNNING; /* its items are retried */
    if (!finish->again.is_wanted || before->retried || is_restored || is_counted || is_group)
        return OK;
    enum status st = rules->ops->get_job(rules->tables, &before->job_uid, &job);
    if (st == E_NOT_FOUND || st == E_SET_ASIDE)
        return OK;
    if (st != OK || job.deleted || (job.paused && !run_is_asked_for(before)))
        return st;
    bool is_called_off;
    st = is_instance_called_off(rules, before, &is_called_off);
    if (st != OK || is_called_off)
        return st;
    /* A backfill of the tick may have met attempts of its first run. */
    struct id same;
    st = rules->ops->find_run(rules->tables, &before->job_uid, before->tick_ms, before->attempt + 1,
                              before->part, &same);
    *ret = st == E_NOT_FOUND;
    return st == E_NOT_FOUND ? OK : st;
}

/* Notes the node, the newest last; the oldest go when there is no more room. */
static void add_failed_node(char *list, size_t size, const char *node)
{
    size_t length = strlen(node), kept = strlen(list);
    if (!length || length >= size)
        return;
    while (kept && kept + 1 + length >= size) {
        size_t first = strcspn(list, " ");
        first += list[first] == ' ';
        kept -= first;
        memmove(list, list + first, kept + 1);
    }
    if (kept)
        list[kept++] = ' ';
    memcpy(list + kept, node, length + 1);
}

enum status rules_make_again(struct rules *rules, const struct run *run,
                             struct store_finish *finish)
{
    const struct store_again *again = &finish->again;
    struct run next = {
        .id = again->id,
        .job_uid = run->job_uid,
        .tick_ms = run->tick_ms,
        .attempt = run->attempt + 1,
        .attempts = again->attempts,
        .cause = run->cause,
        .job_revision = run_is_step(run) ? run->job_revision : again->job_revision,
        .not_before_ms = again->not_before_ms,
        .claimed_ms = run_is_step(run) ? finish->run.finished_ms : 0,
        .exit_code = -1,
        .part = run->part,
        .parts = run->parts,
        .rolling = run->rolling,
        .input = run->input,
        .outcome = run->outcome,
        .instance = run->instance,
        .joins = run->joins,
        .priority = run->priority,
    };
    memcpy(next.job_name, run->job_name, sizeof(next.job_name));
    memcpy(next.step, run->step, sizeof(next.step));
    memcpy(next.groups, run->groups, sizeof(next.groups));
    groups_set_labels(next.groups, "");
    memcpy(next.by, run->by, sizeof(next.by));
    memcpy(next.traceparent, run->traceparent, sizeof(next.traceparent));
    memcpy(next.pinned, run->pinned, sizeof(next.pinned));
    memcpy(next.failed_on, run->failed_on, sizeof(next.failed_on));
    add_failed_node(next.failed_on, sizeof(next.failed_on), run->node);
    finish->again.made = true;
    return rules_make_run(rules, &next, RUN_DUE);
}

enum status rules_settle_again(struct rules *rules, struct run *run, bool *ret_decides)
{
    struct id id;
    struct run_row row;
    *ret_decides = true;
    enum status st = rules->ops->find_run(rules->tables, &run->job_uid, run->tick_ms,
                                          run->attempt + 1, run->part, &id);
    if (st == OK)
        st = rules->ops->get_run(rules->tables, &id, &row);
    if (st != OK || row.run.state != RUN_DUE || run->state != RUN_OK)
        return st == E_NOT_FOUND ? OK : st;
    *ret_decides = false;
    run->outcome = row.run.outcome;
    row.run.outcome = RUN_QUEUED;
    st = rules_skip_run(rules, &row, REASON_NOT_NEEDED, "");
    return st == OK ? rules_release_queue(rules, &run->job_uid) : st;
}
