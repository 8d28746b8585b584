/* Ticks with several runs: they are made together, perhaps to go one after the other, and the last
 * to end knows the worst of all. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "rules/rules_internal.h"

/* ---- made ---- */

static int rolling_of(const struct store_parts *parts)
{
    if (!parts->at_once || parts->count <= parts->at_once)
        return 0;
    return ROLLING_PART | (parts->stops ? ROLLING_STOPS : 0);
}

static void set_part(struct run *run, const struct store_parts *parts, size_t i)
{
    run->id = parts->parts[i].id;
    run->part = (int)i;
    run->parts = (int)parts->count;
    run->rolling = rolling_of(parts);
    memcpy(run->pinned, parts->parts[i].pinned, sizeof(run->pinned));
}

static enum status make_from(struct rules *rules, const struct run *run,
                             const struct store_parts *parts, size_t first)
{
    struct run made = *run;
    enum status st = OK;
    assert(parts->count <= RUN_PARTS_MAX);
    made.state = RUN_DUE;
    made.node[0] = '\0';
    made.owner = (struct incarnation){.home = 0};
    made.nonce = 0;
    for (size_t i = first; st == OK && i < parts->count; i++) {
        set_part(&made, parts, i);
        if (made.rolling && i >= parts->at_once) {
            made.state = RUN_QUEUED;
            made.claimed_ms = 0;
        }
        st = rules->ops->add_run(rules->tables, &made);
        if (st == OK)
            feed_add_run(rules->feed, STORE_CHANGE_RUN, &made);
    }
    return st;
}

enum status rules_make_parts(struct rules *rules, const struct run *run,
                             const struct store_parts *parts)
{
    return make_from(rules, run, parts, 0);
}

enum status rules_spread_run(struct rules *rules, struct run_row *row,
                             const struct store_parts *parts)
{
    set_part(&row->run, parts, 0);
    enum status st = rules_set_run(rules, row);
    return st == OK ? make_from(rules, &row->run, parts, 1) : st;
}

/* ---- turns ---- */

static bool is_other_part(const struct run *run, const struct run *other)
{
    return other->tick_ms == run->tick_ms && other->parts && other->part != run->part;
}

/* The next part of the run's tick, after this row, that waits for its turn; E_NOT_FOUND: none. */
static enum status next_in_turn(struct rules *rules, const struct run *run, struct run_row *row)
{
    enum status st;
    while ((st = rules_next_open(rules, &run->job_uid, row)) == OK)
        if (is_other_part(run, &row->run) && run_waits_for_turn(&row->run))
            return OK;
    return st;
}

static enum status give_turn(struct rules *rules, const struct run *run)
{
    struct run_row row = {.seq = 0};
    enum status st = next_in_turn(rules, run, &row);
    if (st != OK)
        return st == E_NOT_FOUND ? OK : st;
    row.run.state = RUN_DUE;
    row.run.rolling |= ROLLING_WAITED;
    return rules_set_run(rules, &row);
}

/* Why those that wait are not started after this end; NONE: the next of them is. What ends a run of
 * the job before its start ends them as well. */
static enum run_reason why_stop(const struct run *end)
{
    bool is_called_off = end->state == RUN_SKIPPED &&
                         (end->reason == REASON_PAUSED || end->reason == REASON_DELETED ||
                          end->reason == REASON_REPLACED);
    if (is_called_off)
        return end->reason;
    return end->rolling & ROLLING_STOPS && end->state != RUN_OK ? REASON_PART_FAILED : REASON_NONE;
}

static enum status stop(struct rules *rules, const struct run *end, enum run_reason reason,
                        enum run_state *worst)
{
    struct run_row row = {.seq = 0};
    enum status st;
    while ((st = next_in_turn(rules, end, &row)) == OK) {
        *worst = run_worse_end(*worst, row.run.outcome);
        row.run.outcome = RUN_QUEUED;
        row.run.state = RUN_SKIPPED;
        row.run.reason = reason;
        if (reason == REASON_PART_FAILED)
            snprintf(row.run.detail, sizeof(row.run.detail), "run %d of %d: %s", end->part + 1,
                     end->parts, run_state_name(end->state));
        st = rules_set_run(rules, &row);
        if (st != OK)
            return st;
    }
    return st == E_NOT_FOUND ? OK : st;
}

/* A part that was under way is over. */
static enum status pass_turn(struct rules *rules, const struct run *end, enum run_state *worst)
{
    enum run_reason reason = why_stop(end);
    return reason == REASON_NONE ? give_turn(rules, end) : stop(rules, end, reason, worst);
}

/* ---- ended ---- */

/* Another open part of the run's tick, rather one that is under way; E_NOT_FOUND: there is none. */
static enum status find_open_part(struct rules *rules, const struct run *run, struct run_row *ret)
{
    struct run_row row = {.seq = 0};
    bool is_found = false;
    enum status st;
    while ((st = rules_next_open(rules, &run->job_uid, &row)) == OK) {
        bool waits = run_waits_for_turn(&row.run);
        if (!is_other_part(run, &row.run) || !run_state_is_known(row.run.state) ||
            (waits && is_found))
            continue;
        *ret = row;
        is_found = true;
        if (!waits)
            return OK;
    }
    return st == E_NOT_FOUND && is_found ? OK : st;
}

enum status rules_end_part(struct rules *rules, struct run *run, bool has_waited, bool *ret_is_last)
{
    struct run_row other;
    enum status st = OK;
    *ret_is_last = true;
    if (!run->parts)
        return OK;
    enum run_state worst = run_worse_end(run->outcome, run->state);
    if (run->rolling && !has_waited)
        st = pass_turn(rules, run, &worst);
    if (st == OK)
        st = find_open_part(rules, run, &other);
    if (st == E_NOT_FOUND) {
        run->outcome = worst;
        return OK;
    }
    if (st != OK)
        return st;
    *ret_is_last = false;
    run->outcome = RUN_QUEUED;
    if (worst == RUN_OK || run_worse_end(other.run.outcome, worst) == other.run.outcome)
        return OK;
    other.run.outcome = run_worse_end(other.run.outcome, worst);
    return rules->ops->set_run(rules->tables, &other);
}
