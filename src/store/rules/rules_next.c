/* The dependents of an ended run: jobs that wait for others to end. */
#include <assert.h>

#include "rules/rules_internal.h"

/* Has the last run of each need ended as required, since the job was last made due? */
static enum status are_met(struct rules *rules, const struct store_next *next, int64_t since_ms,
                           bool *ret)
{
    struct job_row other;
    *ret = false;
    for (size_t i = 0; i < next->need_count; i++) {
        const struct store_need *need = &next->needs[i];
        enum status st = rules->ops->hold_job(rules->tables, &need->job_uid, &other);
        if (st == E_NOT_FOUND || st == E_SET_ASIDE)
            return OK;
        if (st != OK)
            return st;
        if (other.deleted || id_is_zero(&other.last.run_id) || other.last.retried ||
            !run_state_is_in(need->states, other.last.state) || other.last.ended_ms <= since_ms)
            return OK;
    }
    *ret = true;
    return OK;
}

/* After the clock was set back, the instant may have been a tick of the job already: then the tick
 * is put after all earlier ones, and only the cursor says when it was due. The milliseconds that
 * ticks of an interval would use are left free, in case the job gets one. */
static enum status move_cursor(struct rules *rules, struct job_row *job, struct store_next *next,
                               int64_t ended_ms)
{
    int64_t since_ms = ended_ms > job->cursor_ms ? ended_ms : job->cursor_ms + 1;
    bool is_again = since_ms <= job->rewinds.high_ms;
    next->run.tick_ms = is_again ? run_tick_of_now(job->rewinds.high_ms + 1) : since_ms;
    enum status st = rules_find_free_tick(rules, &next->run);
    if (st != OK)
        return st;
    if (is_again)
        job->rewinds.high_ms = next->run.tick_ms;
    else
        rewinds_move_on(&job->rewinds, job->cursor_ms, next->run.tick_ms, job->cursor_ms);
    job->cursor_ms = is_again ? since_ms : next->run.tick_ms;
    st = rules->ops->move_job(rules->tables, job);
    if (st == OK)
        rules_feed_cursor(rules, job);
    return st;
}

static enum status make_next(struct rules *rules, struct store_next *next, int64_t ended_ms)
{
    struct job_row job;
    enum overlap_decision decision;
    bool is_due = false;
    enum status st = rules->ops->get_job(rules->tables, &next->job_uid, &job);
    if (st == E_NOT_FOUND || st == E_SET_ASIDE || (st == OK && job.deleted))
        return OK;
    if (st == OK)
        st = are_met(rules, next, job.cursor_ms, &is_due);
    if (st != OK || !is_due)
        return st;
    st = move_cursor(rules, &job, next, ended_ms);
    if (st == OK)
        st = rules_overlap(rules, &next->job_uid,
                           &(struct overlap_rule){next->overlap, next->queue_limit, next->at_once},
                           NULL, &decision);
    if (st != OK)
        return st;
    next->made = true;
    if (decision == DECIDE_SKIP || decision == DECIDE_FULL)
        return rules_skip_tick(rules, &next->run, &next->skip_entry_id, decision);
    next->run.state = decision == DECIDE_START ? RUN_DUE : RUN_QUEUED;
    return rules_make_run(rules, &next->run, next->run.state);
}

enum status rules_nexts_are_stale(struct rules *rules, const struct store_finish *finish, bool *ret)
{
    enum status st = rules_again_is_stale(rules, finish, ret);
    if (st != OK)
        return st;
    for (size_t i = 0; i < finish->next_count && !*ret; i++) {
        const struct store_next *next = &finish->nexts[i];
        struct job_row job;
        st = rules->ops->get_job(rules->tables, &next->job_uid, &job);
        if (st != OK && st != E_NOT_FOUND && st != E_SET_ASIDE)
            return st;
        *ret = st == OK && !job.deleted && job.revision != next->run.job_revision;
    }
    return OK;
}

enum status rules_make_nexts(struct rules *rules, const struct run *run, enum run_state before,
                             struct store_finish *finish)
{
    for (size_t i = 0; i < finish->next_count; i++) {
        struct store_next *next = &finish->nexts[i];
        assert(id_compare(&next->job_uid, &run->job_uid) != 0);
        if (!run_state_is_in(next->states, run_tick_result(run)) ||
            run_state_is_in(next->states, before))
            continue;
        enum status st = make_next(rules, next, run->finished_ms);
        if (st != OK)
            return st;
    }
    return OK;
}
