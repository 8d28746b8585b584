/* Workflows: a run is opened with its first steps, the end of a step is told to those that wait for
 * it, and what has waited for all of them ends. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "params/run_input.h"
#include "rules/rules_internal.h"
#include "workflow/flow.h"

/* ---- made ---- */

/* A run of the same instance as `of`. DUE: since `at_ms`. */
static void fill_step(struct run *run, const struct run *of, const struct store_step *step,
                      enum run_state state, int64_t at_ms)
{
    *run = (struct run){
        .id = step->id,
        .job_uid = of->job_uid,
        .tick_ms = of->tick_ms,
        .attempt = 1,
        .attempts = step->attempts,
        .cause = CAUSE_STEP,
        .state = state,
        .job_revision = of->job_revision,
        .claimed_ms = state == RUN_DUE ? at_ms : 0,
        .exit_code = -1,
        .part = step->part,
        .input = of->input,
        .instance = of->instance,
        .joins.is_final = step->is_final,
        .priority = step->priority,
    };
    memcpy(run->job_name, of->job_name, sizeof(run->job_name));
    memcpy(run->by, of->by, sizeof(run->by));
    memcpy(run->traceparent, of->traceparent, sizeof(run->traceparent));
    memcpy(run->step, step->step, sizeof(run->step));
    memcpy(run->groups, step->groups, sizeof(run->groups));
}

static enum status add_run(struct rules *rules, const struct run *run)
{
    enum status st = rules->ops->add_run(rules->tables, run);
    if (st == OK)
        feed_add_run(rules->feed, STORE_CHANGE_RUN, run);
    return st;
}

/* ---- opened ---- */

static void open_run(struct run *run, const struct store_opening *opening, int64_t at_ms)
{
    bool is_step = run_is_step(run);
    run->state = opening->expected ? RUN_RUNNING : RUN_OK;
    run->node[0] = '\0';
    run->owner = (struct incarnation){.home = 0};
    run->claimed_ms = run->started_ms = at_ms;
    run->joins = (struct run_joins){.made = is_step ? (int)opening->count : 0,
                                    .expected = opening->expected,
                                    .is_final = run->joins.is_final};
    if (is_step)
        return;
    run->instance = run->id;
    run->input = opening->input;
}

static enum status put_plan(struct rules *rules, const struct store_opening *opening)
{
    char name[ID_TEXT + 1];
    struct store_put_doc put = {.kind = INPUT_DOC, .json = opening->plan, .expected_revision = -1};
    if (!opening->plan)
        return OK;
    id_format(&opening->input, name);
    snprintf(put.name, sizeof(put.name), "%s", name);
    return rules_put_large_doc(rules, &put, INPUT_DOC_MAX);
}

static enum status make_first(struct rules *rules, const struct run *of,
                              const struct store_opening *opening)
{
    enum status st = OK;
    assert(opening->count <= STORE_STEPS_MAX);
    for (size_t i = 0; st == OK && i < opening->count; i++) {
        struct run run;
        fill_step(&run, of, &opening->steps[i], RUN_DUE, of->started_ms);
        st = add_run(rules, &run);
    }
    return st;
}

enum status rules_make_instance(struct rules *rules, struct run *run,
                                const struct store_opening *opening)
{
    open_run(run, opening, run->claimed_ms);
    enum status st = put_plan(rules, opening);
    if (st == OK)
        st = add_run(rules, run);
    return st == OK ? make_first(rules, run, opening) : st;
}

enum status rules_open_run(struct rules *rules, struct run_row *row, const struct store_take *take)
{
    struct id before = row->run.input;
    row->run.nonce = take->nonce;
    open_run(&row->run, &take->opening, take->now_ms);
    enum status st = OK;
    if (!id_is_zero(&before) && id_compare(&before, &row->run.input) != 0)
        st = rules_remove_input(rules, &before);
    if (st == OK)
        st = put_plan(rules, &take->opening);
    if (st == OK)
        st = rules_set_run(rules, row);
    return st == OK ? make_first(rules, &row->run, &take->opening) : st;
}

/* ---- those that wait for an end ---- */

/* What a run that ends is told to. */
struct ending {
    const struct run *end;
    struct run_row *instance;
    bool is_instance_told;
    int64_t at_ms;
};

/* An attempt at this part of the instance. */
static enum status find_row(struct rules *rules, const struct run *run, int attempt, int part,
                            struct run_row *ret)
{
    struct id id;
    if (rules->ops->find_row)
        return rules->ops->find_row(rules->tables, &run->job_uid, run->tick_ms, attempt, part, ret);
    enum status st =
        rules->ops->find_run(rules->tables, &run->job_uid, run->tick_ms, attempt, part, &id);
    return st == OK ? rules->ops->get_run(rules->tables, &id, ret) : st;
}

static bool is_decided(const struct run_joins *joins, const struct store_link *link)
{
    return joins->met >= link->join || joins->met + joins->unmet >= link->inputs;
}

static enum status tell_step(struct rules *rules, const struct ending *ending,
                             const struct store_link *link)
{
    struct run_row row = {.seq = 0};
    struct run *run = &row.run;
    enum status st = find_row(rules, ending->end, 1, link->step.part, &row);
    bool is_new = st == E_NOT_FOUND;
    if (is_new)
        fill_step(run, &ending->instance->run, &link->step, RUN_QUEUED, 0);
    else if (st != OK || run->state != RUN_QUEUED)
        return st;
    if (run_state_is_in(link->states, ending->end->state))
        run->joins.met++;
    else
        run->joins.unmet++;
    if (is_decided(&run->joins, link)) {
        run->state = RUN_DUE;
        run->claimed_ms = ending->at_ms;
    }
    return is_new ? add_run(rules, run) : rules_set_run(rules, &row);
}

/* Its number and its name say which item it is: only the store knows how many there are when two
 * end at the same time. */
static enum status make_item(struct rules *rules, const struct ending *ending, struct run *group,
                             const struct store_step *step)
{
    struct store_step next = *step;
    struct run run;
    next.part = FLOW_ITEMS * group->part + group->joins.made;
    snprintf(next.step, sizeof(next.step), "%.*s[%d]", STEP_NAME_MAX, step->step,
             group->joins.made);
    fill_step(&run, group, &next, RUN_DUE, ending->at_ms);
    group->joins.made++;
    return add_run(rules, &run);
}

/* All that it expects have ended. */
static void end_group(struct run *run, enum run_reason kill_reason, const char *kill_by)
{
    if (kill_reason != REASON_NONE) {
        run->state = kill_reason == REASON_TIMEOUT ? RUN_TIMED_OUT : RUN_KILLED;
        run->reason = kill_reason;
        if (*kill_by)
            snprintf(run->by, sizeof(run->by), "%s", kill_by);
    } else if (run->outcome != RUN_QUEUED) {
        run->state = RUN_FAILED;
        run->reason = REASON_STEP_FAILED;
    } else {
        run->state = RUN_OK;
    }
}

static bool is_failure(const struct run *end)
{
    return end->state != RUN_OK && end->state != RUN_SKIPPED;
}

/* The first failure decides how the group ends. False: it is not that. */
static bool note_failure(struct run *group, const struct run *end)
{
    if (!is_failure(end) || group->outcome != RUN_QUEUED)
        return false;
    group->outcome = end->state;
    snprintf(group->detail, sizeof(group->detail), "%s: %s", end->step, run_state_name(end->state));
    return true;
}

static void count_end(struct run *group, const struct run *end)
{
    if (is_failure(end))
        group->joins.unmet++;
    else
        group->joins.met++;
    note_failure(group, end);
}

/* A fan-out goes with its instance, unless it is to run after a cancel. */
static enum status tell_group(struct rules *rules, const struct ending *ending,
                              const struct store_link *link, struct run_row *row)
{
    struct run_joins *joins = &row->run.joins;
    const struct run_row *killed =
        row->kill_reason != REASON_NONE || joins->is_final ? row : ending->instance;
    enum status st = OK;
    if (row->run.state != RUN_RUNNING)
        return OK;
    count_end(&row->run, ending->end);
    if (link->part && killed->kill_reason != REASON_NONE)
        joins->expected = joins->made;
    else if (link->part && link->step.part && joins->made < joins->expected)
        st = make_item(rules, ending, &row->run, &link->step);
    if (joins->met + joins->unmet >= joins->expected)
        end_group(&row->run, killed->kill_reason, killed->kill_by);
    return st == OK ? rules_set_run(rules, row) : st;
}

static enum status tell(struct rules *rules, struct ending *ending, const struct store_link *link)
{
    struct run_row group;
    if (!link->is_group)
        return tell_step(rules, ending, link);
    if (!link->part) {
        ending->is_instance_told = true;
        return tell_group(rules, ending, link, ending->instance);
    }
    enum status st = OK; /* which attempt has become the fan-out? */
    for (int attempt = 1; st == OK; attempt++) {
        st = find_row(rules, ending->end, attempt, link->part, &group);
        if (st == OK && group.run.state == RUN_RUNNING)
            return tell_group(rules, ending, link, &group);
    }
    return st == E_NOT_FOUND ? OK : st;
}

enum status rules_follow_links(struct rules *rules, const struct run *run,
                               const struct store_finish *finish)
{
    struct run_row instance;
    struct ending ending = {run, &instance, false, finish->run.finished_ms};
    assert(finish->link_count <= STORE_LINKS_MAX);
    if (!finish->link_count)
        return OK;
    enum status st = rules->ops->get_run(rules->tables, &run->instance, &instance);
    if (st != OK || instance.run.state != RUN_RUNNING)
        return st == E_NOT_FOUND ? OK : st;
    bool is_noted = !flow_part_is_item(run->part) && note_failure(&instance.run, run);
    for (size_t i = 0; st == OK && i < finish->link_count; i++)
        if (instance.run.state == RUN_RUNNING)
            st = tell(rules, &ending, &finish->links[i]);
    return st == OK && is_noted && !ending.is_instance_told ? rules_set_run(rules, &instance) : st;
}

enum status rules_put_output(struct rules *rules, const struct run *run, const char *output)
{
    char id[ID_TEXT + 1];
    struct store_put_doc put = {.kind = OUTPUT_DOC, .json = output, .expected_revision = -1};
    id_format(&run->instance, id);
    snprintf(put.name, sizeof(put.name), "%s.%d", id, run->part);
    return rules_put_large_doc(rules, &put, OUTPUT_JSON_MAX);
}

/* ---- called off ---- */

enum status rules_why_no_step(struct rules *rules, const struct run_row *row,
                              const struct job_row *job, struct run_row *instance,
                              enum run_reason *ret)
{
    *ret = !job || job->deleted ? REASON_DELETED : row->kill_reason;
    if (*ret != REASON_NONE)
        return OK;
    enum status st = rules->ops->get_run(rules->tables, &row->run.instance, instance);
    bool is_over = st == E_NOT_FOUND || (st == OK && !state_is_open(instance->run.state));
    if (is_over)
        *ret = REASON_NOT_NEEDED;
    else if (st == OK && !row->run.joins.is_final)
        *ret = instance->kill_reason;
    return st == E_NOT_FOUND ? OK : st;
}

static bool is_of(const struct run *run, const struct run *group)
{
    if (!run_is_step(run) || id_compare(&run->instance, &group->instance) != 0)
        return false;
    return run_is_instance(group) || run->part / FLOW_ITEMS == group->part;
}

enum status rules_skip_steps(struct rules *rules, const struct run *group, enum run_reason reason,
                             const char *by)
{
    struct run_row row = {.seq = 0};
    enum status st;
    while ((st = rules_next_open(rules, &group->job_uid, &row)) == OK) {
        if (row.run.state != RUN_DUE || row.run.joins.is_final || !is_of(&row.run, group))
            continue;
        st = rules_skip_run(rules, &row, reason, by);
        if (st != OK)
            return st;
    }
    return st == E_NOT_FOUND ? OK : st;
}

enum status rules_end_instances(struct rules *rules, const struct id *job_uid)
{
    struct run_row row = {.seq = 0};
    enum status st;
    while ((st = rules_next_open(rules, job_uid, &row)) == OK) {
        bool waits = row.run.state == RUN_QUEUED || row.run.state == RUN_DUE;
        if (row.run.state != RUN_RUNNING && !waits)
            continue;
        row.run.state = waits ? RUN_SKIPPED : RUN_KILLED;
        row.run.reason = REASON_DELETED;
        st = rules_set_run(rules, &row);
        if (st != OK)
            return st;
    }
    return st == E_NOT_FOUND ? OK : st;
}

/* ---- forgotten ---- */

enum status rules_is_kept(struct rules *rules, const struct run *run, bool *ret)
{
    struct run_row instance;
    *ret = false;
    if (!run_is_step(run))
        return OK;
    enum status st = rules->ops->get_run(rules->tables, &run->instance, &instance);
    *ret = st == OK && state_is_open(instance.run.state);
    return st == E_NOT_FOUND ? OK : st;
}
