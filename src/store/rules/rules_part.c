/* Ticks with several runs: they are made together, and the last to end knows the worst of all. */
#include <assert.h>
#include <string.h>

#include "rules/rules_internal.h"

static void set_part(struct run *run, const struct store_parts *parts, size_t i)
{
    run->id = parts->parts[i].id;
    run->part = (int)i;
    run->parts = (int)parts->count;
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

/* Another open part of the run's tick; E_NOT_FOUND: there is none. */
static enum status find_open_part(struct rules *rules, const struct run *run, struct run_row *ret)
{
    struct run_row row = {.seq = 0};
    enum status st;
    while ((st = rules_next_open(rules, &run->job_uid, &row)) == OK) {
        if (row.run.tick_ms == run->tick_ms && row.run.parts && row.run.part != run->part &&
            run_state_is_known(row.run.state)) {
            *ret = row;
            return OK;
        }
    }
    return st;
}

enum status rules_end_part(struct rules *rules, struct run *run, bool *ret_is_last)
{
    struct run_row other;
    *ret_is_last = true;
    if (!run->parts)
        return OK;
    enum run_state worst = run_worse_end(run->outcome, run->state);
    enum status st = find_open_part(rules, run, &other);
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
