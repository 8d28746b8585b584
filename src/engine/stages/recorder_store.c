/* Ends into the store, and out of it what is on record. */
#include <stdlib.h>

#include "stages/follow.h"
#include "stages/outage.h"
#include "stages/recorder_internal.h"

enum { BATCH = 256 };

struct finish_batch {
    struct store_request request;
    struct recorder *recorder;
    struct store_finish finishes[]; /* as many as had ended */
};

struct forget_batch {
    struct store_request request;
    struct recorder *recorder;
    size_t room;
    struct store_forget *forgets;    /* behind the entries */
    struct pending_entry *entries[]; /* NULL: a run */
};

static void note_answer(struct recorder *recorder, enum status st)
{
    if (st != OK)
        recorder->store_retry_at.ms =
            recorder->now.boot.ms + retry_after_ms(&recorder->store_failures);
    else
        recorder->store_failures = 0;
}

/* ---- ends ---- */

/* The feed may be ahead of the answer: it has told of this end, then that the store moved it back
 * with the clock, then of the end of another run. What it says of this end stays so, and an end
 * that is ahead of the clock does not hide the other run's. */
static void take_answer(const struct recorder *recorder, struct catalog_job *job,
                        const struct run *run)
{
    struct last_run last = last_run_of(run);
    bool is_told =
        id_compare(&job->last.run_id, &last.run_id) == 0 && job->last.state == last.state;
    if (is_told)
        return;
    last_run_set_back(&last, recorder->now.wall.ms);
    catalog_job_ended(job, &last);
}

static void job_ended(struct recorder *recorder, struct open_run *open)
{
    const struct run *run = &open->run;
    struct catalog_job *job = catalog_by_uid(recorder->catalog, &run->job_uid);
    if (!job)
        return;
    take_answer(recorder, job, run);
    if (id_compare(&job->last.run_id, &open->run.id) == 0)
        open->was_bad = job->was_bad;
    if (planner_put(recorder->planner, job) != OK)
        ports_log(recorder->ports, "plan_failed", "job=%s error=\"out of memory\"", job->name);
}

static void finishes_done(struct store_request *request, enum status st)
{
    struct finish_batch *batch = request->context;
    struct recorder *recorder = batch->recorder;
    note_answer(recorder, st);
    for (size_t i = 0; i < request->count; i++) {
        struct open_run *open = open_runs_find(recorder->runs, &batch->finishes[i].run.id);
        if (!open || open->phase != OPEN_FINISHING)
            continue;
        if (st == OK && batch->finishes[i].is_stale) /* until the feed has told of the change */
            recorder->store_retry_at.ms = recorder->now.boot.ms + RECORDER_RETRY_MS;
        if (st != OK || batch->finishes[i].is_stale) {
            open_runs_move(recorder->runs, open, OPEN_ENDED);
            continue;
        }
        if (!batch->finishes[i].accepted && !open->is_begun) {
            /* Another node has taken it over, or it is on record: the feed tells which. */
            open->run.state = RUN_CLAIMED;
            open->seen = recorder->now.boot;
            open->ranked = 0;
            open_runs_move(recorder->runs, open, OPEN_CLAIMED_ELSEWHERE);
            continue;
        }
        if (batch->finishes[i].accepted) /* of a repeat: the end that is on record */
            open->run = batch->finishes[i].run;
        recorder->ports->executor->ops->acknowledge(recorder->ports->executor, &open->run.id);
        open_runs_move(recorder->runs, open, OPEN_FINISHED);
        job_ended(recorder, open);
    }
    follow_release(batch->finishes, request->count);
    free(batch);
}

/* False: out of memory, so later. */
static bool add_finish(struct recorder *recorder, struct finish_batch *batch, struct open_run *open)
{
    struct store_finish *finish = &batch->finishes[batch->request.count];
    finish->run = open->run;
    if (follow_fill(recorder->ports, recorder->catalog, recorder->self, recorder->now, finish) !=
        OK) {
        recorder->store_retry_at.ms = recorder->now.boot.ms + RECORDER_RETRY_MS;
        return false;
    }
    batch->request.count++;
    open_runs_move(recorder->runs, open, OPEN_FINISHING);
    return true;
}

void recorder_send_finishes(struct recorder *recorder)
{
    for (struct open_run *open; (open = open_runs_first(recorder->runs, OPEN_ENDED));) {
        size_t ended = recorder->runs->counts[OPEN_ENDED], room = ended < BATCH ? ended : BATCH;
        struct finish_batch *batch = calloc(1, sizeof(*batch) + room * sizeof(batch->finishes[0]));
        if (!batch)
            return;
        batch->recorder = recorder;
        while (open && batch->request.count < room && add_finish(recorder, batch, open))
            open = open_runs_first(recorder->runs, OPEN_ENDED);
        if (!batch->request.count) {
            free(batch);
            return;
        }
        batch->request.op = STORE_FINISH;
        batch->request.items.finishes = batch->finishes;
        batch->request.done = finishes_done;
        batch->request.context = batch;
        store_submit(recorder->ports->store, &batch->request);
    }
}

/* ---- what is on record ---- */

static void drop_entry(struct recorder *recorder, struct pending_entry *entry)
{
    TAILQ_REMOVE(&recorder->entries, entry, link);
    recorder->entry_count--;
    free(entry);
}

static void forgets_done(struct store_request *request, enum status st)
{
    struct forget_batch *batch = request->context;
    struct recorder *recorder = batch->recorder;
    note_answer(recorder, st);
    for (size_t i = 0; i < request->count; i++) {
        struct pending_entry *entry = batch->entries[i];
        if (entry && st == OK) {
            drop_entry(recorder, entry);
        } else if (entry) {
            entry->phase = ENTRY_RECORDED;
            recorder->recorded_entries++;
        } else {
            struct open_run *open = open_runs_find(recorder->runs, &batch->forgets[i].id);
            if (st == OK)
                open_runs_remove(recorder->runs, open);
            else
                open_runs_move(recorder->runs, open, OPEN_RECORDED);
        }
    }
    free(batch);
}

static void gather_forgets(struct recorder *recorder, struct forget_batch *batch)
{
    struct open_run *open;
    while (batch->request.count < batch->room &&
           (open = open_runs_first(recorder->runs, OPEN_RECORDED))) {
        batch->forgets[batch->request.count++].id = open->run.id;
        open_runs_move(recorder->runs, open, OPEN_FORGETTING);
    }
    struct pending_entry *entry;
    TAILQ_FOREACH (entry, &recorder->entries, link) {
        if (batch->request.count == batch->room)
            return;
        if (entry->phase != ENTRY_RECORDED)
            continue;
        size_t i = batch->request.count++;
        batch->forgets[i] = (struct store_forget){entry->entry.id, true};
        batch->entries[i] = entry;
        entry->phase = ENTRY_FORGETTING;
        recorder->recorded_entries--;
    }
}

/* For so many. NULL: out of memory. */
static struct forget_batch *new_forgets(struct recorder *recorder, size_t waiting)
{
    size_t room = waiting < BATCH ? waiting : BATCH;
    struct forget_batch *batch;
    batch =
        calloc(1, sizeof(*batch) + room * (sizeof(batch->entries[0]) + sizeof(batch->forgets[0])));
    if (!batch)
        return NULL;
    batch->recorder = recorder;
    batch->room = room;
    batch->forgets = (struct store_forget *)(batch->entries + room);
    return batch;
}

void recorder_send_forgets(struct recorder *recorder)
{
    for (;;) {
        size_t waiting = recorder->runs->counts[OPEN_RECORDED] + recorder->recorded_entries;
        struct forget_batch *batch = waiting ? new_forgets(recorder, waiting) : NULL;
        if (!batch)
            return;
        gather_forgets(recorder, batch);
        if (!batch->request.count) {
            free(batch);
            return;
        }
        batch->request.op = STORE_FORGET;
        batch->request.items.forgets = batch->forgets;
        batch->request.done = forgets_done;
        batch->request.context = batch;
        store_submit(recorder->ports->store, &batch->request);
    }
}
