/* Definitions and people's requests: put a job, add a run, order a kill, rewind a cursor. */
#include <assert.h>
#include <stdio.h>

#include "rules/rules_internal.h"

typedef enum status put_row(struct tables *tables, const struct job_row *row, const char *name,
                            const char *json);

static void feed_job(struct rules *rules, const struct job_row *job,
                     const struct store_put_job *put)
{
    feed_add(rules->feed, &(struct store_change){
                              .kind = job->deleted ? STORE_CHANGE_DELETE : STORE_CHANGE_JOB,
                              .job_uid = job->uid,
                              .job_revision = job->revision,
                              .cursor_ms = job->cursor_ms,
                              .rewinds = job->rewinds,
                              .last = job->last,
                              .last_node = job->last_node,
                              .job_name = put->name,
                              .job_json = put->purge ? NULL : put->json,
                              .job_deleted = job->deleted,
                          });
}

static enum status purge(struct rules *rules, struct store_put_job *put, struct job_row *job)
{
    enum status st = rules_skip_waiting(rules, &job->uid, NULL, REASON_DELETED);
    if (st == OK)
        st = rules_end_instances(rules, &job->uid);
    if (st == OK)
        st = rules_drop_webhook(rules, &job->uid);
    if (st == OK)
        st = rules->ops->remove_job(rules->tables, &job->uid);
    if (st != OK)
        return st;
    job->deleted = true;
    put->result = PUT_OK;
    put->revision = job->revision;
    feed_job(rules, job, put);
    return OK;
}

/* What waits after the start of its tick: a further attempt for its time, a part for its turn, any
 * run for a slot of its groups. */
static bool is_yet_to_come(const struct run *run)
{
    bool is_retry = run->state == RUN_DUE && run->attempt > 1;
    bool needs_slot = run->state == RUN_DUE && run->groups[0] && !run_is_step(run);
    return !run_is_asked_for(run) && (is_retry || needs_slot || run_waits_for_turn(run));
}

/* That ends with the pause; where a person has asked for the run, it goes on. */
static enum status skip_what_is_to_come(struct rules *rules, const struct id *job_uid)
{
    struct run_row row = {.seq = 0};
    enum status st;
    while ((st = rules_next_open(rules, job_uid, &row)) == OK) {
        if (!is_yet_to_come(&row.run))
            continue;
        st = rules_skip_run(rules, &row, REASON_PAUSED, "");
        if (st != OK)
            return st;
    }
    return st == E_NOT_FOUND ? rules_release_queue(rules, job_uid) : st;
}

/* `write` is the operation put_job or add_job. */
static enum status write_job(struct rules *rules, struct store_put_job *put, struct job_row *job,
                             put_row *write)
{
    bool is_pause = put->paused && !job->paused && job->revision;
    job->uid = put->uid;
    job->revision++;
    job->paused = put->paused;
    job->deleted = put->deleted;
    if (put->cursor_ms > job->cursor_ms) {
        rewinds_move_on(&job->rewinds, job->cursor_ms, put->cursor_ms,
                        put->from_elsewhere ? job->cursor_ms : put->cursor_ms);
        job->cursor_ms = put->cursor_ms;
    }
    enum status st = write(rules->tables, job, put->name, put->json);
    if (st == OK && job->deleted)
        st = rules_skip_waiting(rules, &job->uid, NULL, REASON_DELETED);
    else if (st == OK && is_pause)
        st = skip_what_is_to_come(rules, &job->uid);
    assert(put->passed_count <= STORE_PASSED_MAX);
    for (size_t i = 0; i < put->passed_count && st == OK; i++)
        st = rules_add_entry(rules, &put->passed[i]);
    if (st == OK && put->record)
        st = rules_add_record(rules, &put->record_id, put->record);
    if (st != OK)
        return st;
    put->result = PUT_OK;
    put->revision = job->revision;
    feed_job(rules, job, put);
    return OK;
}

/* *ret: does each job of the wants have its name? */
static enum status check_wants(struct rules *rules, const struct store_put_job *put, bool *ret)
{
    struct id owner;
    *ret = true;
    for (size_t i = 0; i < put->want_count && *ret; i++) {
        enum status st = rules->ops->find_name(rules->tables, put->wants[i].name, &owner);
        if (st != OK && st != E_NOT_FOUND && st != E_SET_ASIDE)
            return st;
        *ret = st == OK && id_compare(&owner, &put->wants[i].job_uid) == 0;
    }
    return OK;
}

/* A new job, written without a look at what is there. E_CONFLICT: something is, and nothing was
 * written. */
static enum status add_job(struct rules *rules, struct store_put_job *put)
{
    struct job_row job = {.revision = 0};
    bool is_plain = !put->expected_revision && !put->purge && !put->deleted && !put->want_count;
    if (!rules->ops->add_job || !is_plain)
        return E_CONFLICT;
    return write_job(rules, put, &job, rules->ops->add_job);
}

enum status rules_put_job(struct rules *rules, struct store_put_job *put)
{
    struct job_row job = {.revision = 0};
    struct id owner;
    put->revision = 0;
    enum status st = add_job(rules, put);
    if (st != E_CONFLICT)
        return st;
    st = rules->ops->get_job(rules->tables, &put->uid, &job);
    if (st == E_SET_ASIDE) {
        put->result = put->expected_revision ? PUT_MISSING : PUT_EXISTS;
        return OK;
    }
    if (st != OK && st != E_NOT_FOUND)
        return st;
    bool exists = st == OK;
    if (!exists && (put->expected_revision != 0 || put->purge)) {
        put->result = PUT_MISSING;
        return OK;
    }
    if (exists && ((put->expected_revision != -1 && put->expected_revision != job.revision) ||
                   (put->passed_count && put->seen_cursor_ms != job.cursor_ms))) {
        put->result = PUT_CONFLICT;
        put->revision = job.revision;
        return OK;
    }
    if (put->purge)
        return purge(rules, put, &job);
    if (!put->deleted) {
        st = rules->ops->find_name(rules->tables, put->name, &owner);
        if (st == E_SET_ASIDE || (st == OK && id_compare(&owner, &put->uid) != 0)) {
            put->result = PUT_EXISTS;
            return OK;
        }
        if (st != OK && st != E_NOT_FOUND)
            return st;
    }
    bool are_met;
    st = check_wants(rules, put, &are_met);
    if (st != OK)
        return st;
    if (!are_met) {
        put->result = PUT_CONFLICT;
        put->revision = job.revision;
        return OK;
    }
    return write_job(rules, put, &job, rules->ops->put_job);
}

/* Names the first open run of the job, which blocks the new one. */
static enum status name_open_run(struct rules *rules, struct store_add_run *add)
{
    struct run_row row = {.seq = 0};
    enum status st = rules_next_open(rules, &add->run.job_uid, &row);
    if (st == OK)
        add->open_run = row.run.id;
    return st == E_NOT_FOUND ? OK : st; /* it is set aside */
}

/* Notes that this tick starts, so that it does not start again when the clock is set back. */
static enum status note_start(struct rules *rules, struct job_row *job, int64_t tick_ms)
{
    if (!rewinds_start(&job->rewinds, tick_ms))
        return OK;
    enum status st = rules->ops->move_job(rules->tables, job);
    if (st == OK)
        rules_feed_cursor(rules, job);
    return st;
}

static enum status make_run(struct rules *rules, struct store_add_run *add, struct job_row *job,
                            enum run_state state)
{
    enum status st = note_start(rules, job, add->run.tick_ms);
    if (st == OK && add->input)
        st = rules_put_input(rules, add);
    if (st == OK && add->delivery)
        st = rules_put_delivery(rules, add);
    if (st == OK)
        st = rules_make_run(rules, &add->run, state);
    if (st != OK)
        return st;
    add->run.state = state;
    add->added = true;
    return OK;
}

/* Finds the run that is this one, or has its tick; E_NOT_FOUND: there is none. */
static enum status find_same(struct rules *rules, struct store_add_run *add, struct id *ret)
{
    struct run *run = &add->run;
    struct run_row row;
    enum status st = rules->ops->get_run(rules->tables, &run->id, &row);
    if (st == OK) {
        *run = row.run;
        *ret = run->id;
    }
    if (st != E_NOT_FOUND)
        return st;
    while ((st = rules->ops->find_run(rules->tables, &run->job_uid, run->tick_ms, run->attempt,
                                      ANY_PART, ret)) == OK &&
           add->is_for_now)
        run->tick_ms = run_tick_of_now(run->tick_ms + 1);
    return st;
}

enum status rules_add_run(struct rules *rules, struct store_add_run *add)
{
    struct job_row job;
    struct id same;
    enum overlap_decision decision;
    const struct run *run = &add->run;
    add->added = add->is_delivered = false;
    add->open_run = (struct id){{0}};
    enum status st = rules_find_delivery(rules, add);
    if (st != OK || add->is_delivered)
        return st;
    st = rules->ops->get_job(rules->tables, &run->job_uid, &job);
    if (st == E_NOT_FOUND || st == E_SET_ASIDE || (st == OK && job.deleted))
        return OK;
    if (st != OK)
        return st;
    st = find_same(rules, add, &same);
    if (st == OK) {
        add->added = id_compare(&same, &run->id) == 0;
        if (!add->added)
            add->open_run = same;
        return OK;
    }
    if (st != E_NOT_FOUND)
        return st;
    st = rules_overlap(rules, &run->job_uid,
                       &(struct overlap_rule){add->overlap, add->queue_limit, add->at_once}, NULL,
                       &decision);
    if (st != OK)
        return st;
    switch (decision) {
    case DECIDE_START:
        return make_run(rules, add, &job, RUN_DUE);
    case DECIDE_QUEUE:
        return make_run(rules, add, &job, RUN_QUEUED);
    case DECIDE_SKIP:
    case DECIDE_FULL:
        break;
    }
    return name_open_run(rules, add);
}

enum status rules_order(struct rules *rules, struct store_order *order)
{
    struct run_row row;
    order->known = false;
    enum status st = rules->ops->get_run(rules->tables, &order->run_id, &row);
    if (st == E_NOT_FOUND)
        return OK;
    if (st != OK)
        return st;
    if (!state_is_open(row.run.state) || !run_state_is_known(row.run.state))
        return OK;
    order->known = true;
    bool has_turn =
        row.run.state == RUN_DUE || (row.run.state == RUN_QUEUED && !run_is_step(&row.run));
    if (has_turn) {
        st = rules_skip_run(rules, &row, order->reason, order->by);
        return st == OK ? rules_release_queue(rules, &row.run.job_uid) : st;
    }
    row.kill_reason = order->reason;
    snprintf(row.kill_by, sizeof(row.kill_by), "%s", order->by);
    st = rules->ops->set_run(rules->tables, &row);
    if (st != OK)
        return st;
    rules_feed_kill(rules, &row);
    return row.run.state == RUN_RUNNING
               ? rules_skip_steps(rules, &row.run, order->reason, order->by)
               : OK;
}

enum status rules_rewind(struct rules *rules, struct store_rewind *rewind)
{
    struct job_row job;
    rewind->done = false;
    enum status st = rules->ops->hold_job(rules->tables, &rewind->job_uid, &job);
    if (st == E_NOT_FOUND || st == E_SET_ASIDE)
        return OK;
    if (st != OK)
        return st;
    bool is_ahead = job.cursor_ms > rewind->to_ms;
    if (job.cursor_ms != rewind->cursor_ms || job.rewinds.count != rewind->rewinds ||
        (!is_ahead && job.last.ended_ms <= rewind->to_ms))
        return OK;
    if (is_ahead) {
        rewinds_move_back(&job.rewinds, job.cursor_ms);
        job.cursor_ms = rewind->to_ms;
        st = rules_add_entry(rules, &rewind->entry);
    }
    last_run_set_back(&job.last, rewind->to_ms);
    if (st == OK)
        st = rules->ops->move_job(rules->tables, &job);
    if (st != OK)
        return st;
    rules_feed_cursor(rules, &job);
    rewind->done = true;
    return OK;
}
