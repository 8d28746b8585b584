/* The end of a run, and what follows from it. */
#include <assert.h>
#include <string.h>

#include "rules/rules_internal.h"

/* The node of the job's newest run: an older one that ends later does not count, nor does one that
 * was asked for on a node. Of a lost one the claim has told the node. */
static bool is_newest(const struct job_row *job, const struct run *run)
{
    return run->tick_ms >= job->cursor_ms && run->started_ms && run->state != RUN_LOST &&
           !run->pinned[0] && !run->parts && !run_is_instance(run);
}

static enum status set_last_run(struct rules *rules, const struct run *run)
{
    struct job_row job;
    enum status st = rules->ops->get_job(rules->tables, &run->job_uid, &job);
    if (st == E_NOT_FOUND || st == E_SET_ASIDE)
        return OK;
    if (st != OK)
        return st;
    struct last_run told = last_run_of(run);
    if (!last_run_take(&job.last, &told))
        return OK;
    if (is_newest(&job, run))
        job.last_node = node_mark(run->node);
    st = rules->ops->move_job(rules->tables, &job);
    if (st == OK)
        rules_feed_cursor(rules, &job);
    return st;
}

/* A run that is lost because a backup was restored may have gone on since the backup: if it was
 * claimed there, another node may have taken it over and run it; if begun, it may have ended, and
 * its spawner has forgotten it. So an end that says it never started is not reliable: only an end
 * with a process is. */
static bool is_for_the_starter(const struct run *known, const struct run *end)
{
    return known->state == RUN_LOST && known->reason == REASON_RESTORED && end->started_ms == 0;
}

/* May `end` replace the recorded end of a run? Of a run whose node was taken for dead, its home
 * knows more: how it ended, or that its spawner died with it. If a backup was restored since, its
 * home may have amended it already. */
static bool is_better_known(const struct run *recorded, const struct run *end)
{
    if (recorded->state != RUN_LOST || is_for_the_starter(recorded, end))
        return false;
    return end->state != RUN_LOST ||
           (recorded->reason == REASON_NODE_DIED &&
            (end->reason == REASON_SPAWNER_DIED || end->reason == REASON_RESTORED));
}

/* The row becomes the end; its identity stays, and what it has of its tick. */
static void set_end(struct run_row *row, const struct run *end, bool is_again)
{
    struct run before = row->run;
    row->run = *end;
    row->run.job_uid = before.job_uid;
    memcpy(row->run.job_name, before.job_name, sizeof(before.job_name));
    row->run.tick_ms = before.tick_ms;
    row->run.attempt = before.attempt;
    row->run.cause = before.cause;
    row->run.attempts = before.attempts;
    row->run.part = before.part;
    row->run.parts = before.parts;
    row->run.rolling = before.rolling;
    memcpy(row->run.pinned, before.pinned, sizeof(before.pinned));
    row->run.input = before.input;
    memcpy(row->run.failed_on, before.failed_on, sizeof(before.failed_on));
    row->run.instance = before.instance;
    memcpy(row->run.step, before.step, sizeof(before.step));
    row->run.joins = before.joins;
    memcpy(row->run.groups, before.groups, sizeof(before.groups));
    row->run.priority = before.priority;
    row->run.outcome = is_again ? RUN_QUEUED : before.outcome;
    row->run.retried = before.retried || is_again;
    if (before.fence) /* else the store may have been restored to before the begin */
        row->run.fence = before.fence;
}

/* What the end of this run settles, beside itself. */
enum settled {
    SETTLED_NOTHING, /* the next attempt decides, or other parts, or it was settled before */
    SETTLED_ATTEMPT, /* the tick goes on with the next attempt */
    SETTLED_TICK,    /* or the step */
};

/* A part or a step that is amended settles nothing, unless its next attempt was waited for. */
static enum status settle(struct rules *rules, struct run *run, const struct run *before,
                          bool is_again, enum settled *ret)
{
    bool is_decided_later = false, is_last = true;
    enum status st = OK;
    *ret = SETTLED_NOTHING;
    if (before->retried)
        st = rules_settle_again(rules, run, &is_decided_later);
    if (st != OK || is_decided_later)
        return st;
    if (is_again) {
        *ret = SETTLED_ATTEMPT;
        return OK;
    }
    bool is_one_of_many = run->parts || run_is_step(run);
    if (is_one_of_many && !state_is_open(before->state) && !before->retried)
        return OK;
    st = rules_end_part(rules, run, run_waits_for_turn(before), &is_last);
    if (st == OK && is_last)
        *ret = SETTLED_TICK;
    return st;
}

/* What follows from the end of a run that is over with all its attempts. */
static enum status follow(struct rules *rules, const struct run *run, enum run_state before,
                          struct store_finish *finish)
{
    if (!run_is_step(run))
        return rules_make_nexts(rules, run, before, finish);
    if (run_is_unfollowed(run)) /* nobody has said when it ended */
        return OK;
    enum status st = rules_follow_links(rules, run, finish);
    return st == OK ? rules_release_queue(rules, &run->job_uid) : st;
}

/* Writes the end, and what follows from it. */
static enum status write_end(struct rules *rules, struct run_row *row, const struct run *before,
                             bool is_again, struct store_finish *finish)
{
    enum settled settled;
    bool was_open = state_is_open(before->state), is_step = run_is_step(before);
    set_end(row, &finish->run, is_again);
    enum status st = settle(rules, &row->run, before, is_again, &settled);
    finish->run = row->run;
    if (st == OK && finish->output && settled == SETTLED_TICK)
        st = rules_put_output(rules, &row->run, finish->output);
    if (st == OK)
        st = rules_set_run(rules, row);
    bool is_told = settled == SETTLED_TICK || (settled == SETTLED_ATTEMPT && !before->parts);
    if (st == OK && is_told && !is_step)
        st = set_last_run(rules, &row->run);
    if (st == OK && settled == SETTLED_ATTEMPT) {
        row->run.outcome = before->outcome;
        return rules_make_again(rules, &row->run, finish);
    }
    if (st == OK && was_open)
        st = rules_release_queue(rules, &row->run.job_uid);
    enum run_state ended_as = before->parts ? RUN_QUEUED : before->state;
    return st == OK && settled == SETTLED_TICK ? follow(rules, &row->run, ended_as, finish) : st;
}

/* The store has ended the run by itself; now somebody tells when, and what follows. */
static enum status follow_up(struct rules *rules, struct run_row *row, struct store_finish *finish)
{
    finish->accepted = true;
    row->run.finished_ms = finish->run.finished_ms;
    finish->run = row->run;
    enum status st = rules_set_run(rules, row);
    if (st == OK && !run_is_step(&row->run))
        st = set_last_run(rules, &row->run);
    return st == OK ? follow(rules, &row->run, RUN_QUEUED, finish) : st;
}

enum status rules_finish(struct rules *rules, struct store_finish *finish)
{
    struct run_row row;
    assert(!state_is_open(finish->run.state));
    finish->accepted = finish->is_stale = finish->again.made = false;
    for (size_t i = 0; i < finish->next_count; i++)
        finish->nexts[i].made = false;
    enum status st = rules->ops->get_run(rules->tables, &finish->run.id, &row);
    if (st == E_NOT_FOUND)
        return OK;
    if (st != OK)
        return st;
    if (row.run.nonce != finish->run.nonce || !run_state_is_known(row.run.state))
        return OK;
    bool is_unfollowed = run_is_unfollowed(&row.run) && finish->run.finished_ms;
    if (!state_is_open(row.run.state) && !is_unfollowed &&
        !is_better_known(&row.run, &finish->run)) {
        finish->accepted = true;
        finish->run = row.run;
        return OK;
    }
    finish->run.instance = row.run.instance;
    memcpy(finish->run.step, row.run.step, sizeof(row.run.step));
    st = rules_nexts_are_stale(rules, finish, &finish->is_stale);
    if (st != OK || finish->is_stale)
        return st;
    if (is_unfollowed)
        return follow_up(rules, &row, finish);
    finish->accepted = true;
    struct run before = row.run;
    bool is_again;
    st = rules_again_is_due(rules, &before, finish, &is_again);
    return st == OK ? write_end(rules, &row, &before, is_again, finish) : st;
}
