/* Ends into the store, recorded runs and entries out of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "stages/again.h"
#include "stages/follow.h"
#include "stages/recorder_internal.h"
#include "workflow/links.h"

enum {
    FINISH_EVERY_MS = 50,
    FORGET_EVERY_MS = 1500, /* unless claims are sent, with which they go */
    HOLD_MS = 1000,         /* how long ends and forgets wait at most for the starts of a burst */
    MANY = 64,              /* so many starts are a burst */
    FULL = 256,             /* ends, or forgets, are a request */
    CLAIMED_AHEAD_MS = 500, /* as the lead of claims at most */
};

/* ---- ends ---- */

/* The feed may be ahead of the answer: it may have shown this end, then its move back with the
 * clock, then the end of another run. What the feed said of this end stays, and an end that is
 * ahead of the clock does not hide the other run's. */
static void take_answer(struct catalog_job *job, const struct run *run, struct now now)
{
    struct last_run last = last_run_of(run);
    bool is_told =
        id_compare(&job->last.run_id, &last.run_id) == 0 && job->last.state == last.state;
    if (is_told)
        return;
    last_run_set_back(&last, now.wall.ms);
    catalog_job_ended(job, &last);
}

/* An end that the store did not accept is not its job's last: a store that was restored to before
 * the run has never heard of it, and judges conditions (`only_if`) without it. */
static void job_ended(struct recorder *recorder, struct now now, struct open_run *open,
                      bool is_accepted)
{
    const struct run *run = &open->run;
    struct catalog_job *job = catalog_by_uid(recorder->catalog, &run->job_uid);
    if (!job || run_is_step(run))
        return;
    bool is_last = is_accepted && !run->retried; /* else the feed says whether it counts */
    if (is_last && run_ends_tick(run))
        take_answer(job, run, now);
    if (id_compare(&job->last.run_id, &open->run.id) == 0)
        open->was_bad = job->was_bad;
    marks_plan(recorder->marks, &job->uid, INT64_MIN);
}

/* Another node has taken the run over, or it is recorded: the feed shows which, unless it has shown
 * already that the run is gone. */
static void not_ours(struct recorder *recorder, struct now now, struct open_run *open)
{
    if (open->is_forgotten) {
        marks_plan(recorder->marks, &open->run.job_uid, INT64_MIN);
        open_runs_remove(recorder->runs, open);
        return;
    }
    open->run.state = RUN_CLAIMED;
    open->seen = now.boot;
    open->ranked = 0;
    open_runs_move(recorder->runs, open, OPEN_CLAIMED_ELSEWHERE);
}

static void finish_answered(struct recorder *recorder, struct now now, struct open_run *open,
                            const struct store_finish *finish, enum status st)
{
    if (st == OK && finish->is_stale) /* retried once the feed has shown the change */
        recorder->sender.retry_at.ms = now.boot.ms + RECORDER_RETRY_MS;
    if (st != OK || finish->is_stale) {
        open_runs_move(recorder->runs, open, OPEN_ENDED);
        return;
    }
    if (!finish->accepted && !open->is_begun) {
        not_ours(recorder, now, open);
        return;
    }
    if (finish->accepted) /* after a repeat: the end that the store has */
        open->run = finish->run;
    executor_acknowledge(recorder->ports->executor, &open->run.id, run_is_step(&open->run));
    open_runs_move(recorder->runs, open, OPEN_FINISHED);
    job_ended(recorder, now, open, finish->accepted);
}

/* Not accepted: it was recorded in this node's place, which followed it. */
static void follow_answered(struct recorder *recorder, struct now now, struct open_run *open,
                            const struct store_finish *finish, enum status st)
{
    if (st == OK && finish->is_stale)
        recorder->sender.retry_at.ms = now.boot.ms + RECORDER_RETRY_MS;
    if (st != OK || finish->is_stale) {
        open_runs_move(recorder->runs, open, OPEN_UNFOLLOWED);
        return;
    }
    open->run = finish->run;
    open_runs_move(recorder->runs, open, OPEN_FINISHED);
    job_ended(recorder, now, open, finish->accepted);
}

static void finishes_answered(void *stage, struct outbox_batch *batch, enum status st,
                              struct now now)
{
    struct recorder *recorder = stage;
    for (size_t i = 0; i < outbox_count(batch); i++) {
        const struct store_finish *finish = &batch->request.items.finishes[i];
        struct open_run *open = open_runs_find(recorder->runs, &finish->run.id);
        if (open && open->phase == OPEN_FINISHING)
            finish_answered(recorder, now, open, finish, st);
        else if (open && open->phase == OPEN_FOLLOWING)
            follow_answered(recorder, now, open, finish, st);
    }
}

static const struct outbox_kind finishes_kind = {.op = STORE_FINISH,
                                                 .item_size = sizeof(struct store_finish),
                                                 .answered = finishes_answered,
                                                 .release = follow_release};

/* What follows from the end: jobs that wait for it, steps of its instance. */
static enum status fill_rest(struct recorder *recorder, struct now now, struct store_finish *finish)
{
    enum status st = follow_fill(recorder->ports, recorder->catalog, recorder->self, now, finish);
    return st == OK ? links_fill(recorder->ports, recorder->instances, now, finish) : st;
}

/* Takes the item back, which could not be filled: later. */
static void put_back(struct recorder *recorder, struct now now, struct outbox_batch *batch,
                     struct store_finish *finish)
{
    recorder->sender.retry_at.ms = now.boot.ms + RECORDER_RETRY_MS;
    free(finish->nexts);
    free((char *)finish->output);
    outbox_drop_last(batch);
}

/* A step that was ended before a node had it is this one's. */
static void fill_end(const struct recorder *recorder, const struct open_run *open, struct run *ret)
{
    *ret = open->run;
    if (!run_is_step(ret) || ret->node[0])
        return;
    snprintf(ret->node, sizeof(ret->node), "%s", recorder->self->name);
    ret->owner = peer_incarnation(recorder->self);
}

static enum status fill_output(const struct open_run *open, struct store_finish *finish)
{
    finish->output = open->output ? strdup(open->output) : NULL;
    return finish->output || !open->output ? OK : E_NOMEM;
}

/* False: not now, to be tried later: out of memory, or the plan of the instance is not there. */
static bool add_finish(struct recorder *recorder, struct now now, struct outbox_batch **batch,
                       struct open_run *open)
{
    struct store_finish *finish = outbox_add(batch, &recorder->sender, &finishes_kind);
    if (!finish)
        return false;
    fill_end(recorder, open, &finish->run);
    open->is_looked_at = false;
    if (fill_output(open, finish) != OK ||
        again_fill(recorder->ports, recorder->instances, now, finish) != OK ||
        fill_rest(recorder, now, finish) != OK) {
        put_back(recorder, now, *batch, finish);
        return false;
    }
    open_runs_move(recorder->runs, open, OPEN_FINISHING);
    return true;
}

/* A run that the store has ended: the last part of its tick, or a workflow's. False: not now. */
static bool add_follow(struct recorder *recorder, struct now now, struct outbox_batch **batch,
                       struct open_run *open)
{
    struct store_finish *finish = outbox_add(batch, &recorder->sender, &finishes_kind);
    if (!finish)
        return false;
    finish->run = open->run;
    finish->run.finished_ms = now.wall.ms;
    if (fill_rest(recorder, now, finish) != OK) {
        put_back(recorder, now, *batch, finish);
        return false;
    }
    open_runs_move(recorder->runs, open, OPEN_FOLLOWING);
    return true;
}

/* The next tick of `@after` is known only with the end of its run. */
static bool counts_from_end(const struct catalog_job *job)
{
    for (uint32_t i = 0; i < job->schedule_count; i++)
        if (schedule_kind(job->schedules[i]) == SCHEDULE_AFTER)
            return true;
    return false;
}

/* Something waits for the end of this run: a person, another job, a run of its job, or a tick of
 * its job that is about to be claimed. In a burst also the next attempt of one that has failed, and
 * `@after`. */
static bool is_awaited(const struct recorder *recorder, struct now now, const struct open_run *open)
{
    const struct catalog_job *job = catalog_by_uid(recorder->catalog, &open->run.job_uid);
    if (open->run.cause != CAUSE_TICK || !job || job->open_runs > 1 || job->claiming)
        return true;
    struct dependents dependents = catalog_dependents(recorder->catalog, job->name);
    if (dependents_next(&dependents))
        return true;
    if (recorder->is_burst && (open->run.state != RUN_OK || counts_from_end(job)))
        return true;
    return job->next_ms != NEVER_MS &&
           job->next_ms + catalog_job_jitter_ms(job) - now.wall.ms < CLAIMED_AHEAD_MS;
}

/* Many starts at once get the processor first. It lasts until all of them have their processes. */
static void note_burst(struct recorder *recorder)
{
    const size_t *counts = recorder->runs->counts;
    size_t unstarted = counts[OPEN_CLAIMED] + counts[OPEN_BEGINNING] + counts[OPEN_BEGUN] +
                       counts[OPEN_STARTING] + counts[OPEN_HELD];
    recorder->is_burst = unstarted >= MANY || (recorder->is_burst && unstarted);
}

/* Looks at the ends that came since the last look, or at all: is one of them awaited? */
static void look_at(struct recorder *recorder, struct now now, bool at_all)
{
    struct open_run *open;
    TAILQ_FOREACH_REVERSE(open, &recorder->runs->phases[OPEN_ENDED], open_list, in_phase)
    {
        if (recorder->is_hurried || (open->is_looked_at && !at_all))
            return;
        open->is_looked_at = true;
        recorder->is_hurried = is_awaited(recorder, now, open);
    }
}

void recorder_look_at_ends(struct recorder *recorder, struct now now)
{
    size_t waiting = recorder->runs->counts[OPEN_ENDED];
    bool is_time = recorder->finish_after.ms <= now.boot.ms;
    note_burst(recorder);
    if (!waiting)
        return;
    if (!recorder->held_since.ms)
        recorder->held_since = now.boot;
    recorder->is_hurried |= waiting >= FULL && !recorder->is_burst;
    look_at(recorder, now, is_time);
    struct boot_ms until = {recorder->held_since.ms + HOLD_MS};
    if (is_time && recorder->is_burst && !recorder->is_hurried && until.ms > now.boot.ms) {
        recorder->finish_after.ms = now.boot.ms + FINISH_EVERY_MS;
        if (recorder->finish_after.ms > until.ms)
            recorder->finish_after = until;
    }
}

static struct boot_ms later(struct boot_ms one, struct boot_ms other)
{
    return one.ms > other.ms ? one : other;
}

struct boot_ms recorder_finish_at(const struct recorder *recorder)
{
    struct boot_ms retry_at = recorder->sender.retry_at;
    const struct open_run *last = TAILQ_LAST(&recorder->runs->phases[OPEN_ENDED], open_list);
    if (open_runs_first(recorder->runs, OPEN_UNFOLLOWED))
        return retry_at;
    if (!last)
        return (struct boot_ms){INT64_MAX};
    bool is_new = !last->is_looked_at; /* ended later in this turn: to be looked at */
    return recorder->is_hurried || is_new ? retry_at : later(retry_at, recorder->finish_after);
}

void recorder_send_finishes(struct recorder *recorder, struct now now)
{
    struct outbox_batch *batch = NULL;
    struct open_run *next, *open;
    recorder->finish_after.ms = now.boot.ms + FINISH_EVERY_MS;
    recorder->held_since.ms = 0;
    recorder->is_hurried = false;
    for (open = open_runs_first(recorder->runs, OPEN_ENDED); open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        add_finish(recorder, now, &batch, open);
        if (outbox_count(batch) == OUTBOX_MAX)
            outbox_send(&batch, now);
    }
    for (open = open_runs_first(recorder->runs, OPEN_UNFOLLOWED); open; open = next) {
        next = TAILQ_NEXT(open, in_phase);
        add_follow(recorder, now, &batch, open);
        if (outbox_count(batch) == OUTBOX_MAX)
            outbox_send(&batch, now);
    }
    outbox_send(&batch, now);
}

/* ---- what is on record ---- */

static void drop_entry(struct recorder *recorder, struct pending_entry *entry)
{
    TAILQ_REMOVE(&recorder->entries, entry, link);
    recorder->entry_count--;
    free(entry);
}

static void forgets_answered(void *stage, struct outbox_batch *batch, enum status st,
                             struct now now)
{
    struct recorder *recorder = stage;
    (void)now;
    for (size_t i = 0; i < outbox_count(batch); i++) {
        struct pending_entry *entry = ((struct pending_entry **)batch->notes)[i];
        if (entry && st == OK) {
            drop_entry(recorder, entry);
        } else if (entry) {
            entry->phase = ENTRY_RECORDED;
            recorder->recorded_entries++;
        } else {
            struct open_run *open =
                open_runs_find(recorder->runs, &batch->request.items.forgets[i].id);
            if (open->phase != OPEN_FORGETTING) /* it is to be followed again */
                continue;
            if (st == OK)
                open_runs_remove(recorder->runs, open);
            else
                open_runs_move(recorder->runs, open, OPEN_RECORDED);
        }
    }
}

/* Its note is the entry; NULL: a run. */
static const struct outbox_kind forgets_kind = {.op = STORE_FORGET,
                                                .item_size = sizeof(struct store_forget),
                                                .note_size = sizeof(struct pending_entry *),
                                                .answered = forgets_answered};

/* False: out of memory. */
static bool add_forget(struct recorder *recorder, struct now now, struct outbox_batch **batch,
                       struct store_forget what, struct pending_entry *entry)
{
    if (outbox_count(*batch) == OUTBOX_MAX)
        outbox_send(batch, now);
    struct store_forget *forget = outbox_add(batch, &recorder->sender, &forgets_kind);
    if (!forget)
        return false;
    *forget = what;
    ((struct pending_entry **)(*batch)->notes)[outbox_count(*batch) - 1] = entry;
    return true;
}

static void forget_runs(struct recorder *recorder, struct now now, struct outbox_batch **batch)
{
    struct open_run *open;
    while ((open = open_runs_first(recorder->runs, OPEN_RECORDED)) &&
           add_forget(recorder, now, batch, (struct store_forget){open->run.id, false}, NULL))
        open_runs_move(recorder->runs, open, OPEN_FORGETTING);
}

static void forget_entries(struct recorder *recorder, struct now now, struct outbox_batch **batch)
{
    struct pending_entry *entry;
    TAILQ_FOREACH (entry, &recorder->entries, link) {
        if (!recorder->recorded_entries)
            return;
        if (entry->phase != ENTRY_RECORDED)
            continue;
        if (!add_forget(recorder, now, batch, (struct store_forget){entry->entry.id, true}, entry))
            return;
        entry->phase = ENTRY_FORGETTING;
        recorder->recorded_entries--;
    }
}

struct boot_ms recorder_forget_at(const struct recorder *recorder)
{
    struct boot_ms retry_at = recorder->sender.retry_at;
    size_t waiting = recorder->runs->counts[OPEN_RECORDED] + recorder->recorded_entries;
    if (!waiting)
        return (struct boot_ms){INT64_MAX};
    bool is_full = waiting >= FULL && !recorder->is_burst;
    return is_full || recorder->is_ending ? retry_at : later(retry_at, recorder->forget_after);
}

void recorder_send_forgets(struct recorder *recorder, struct now now)
{
    struct outbox_batch *batch = NULL;
    recorder->forget_after.ms = now.boot.ms + FORGET_EVERY_MS;
    forget_runs(recorder, now, &batch);
    forget_entries(recorder, now, &batch);
    outbox_send(&batch, now);
}
