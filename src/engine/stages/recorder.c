#include <stdlib.h>
#include <string.h>

#include "stages/recorder_internal.h"
#include "state/inputs.h"

enum {
    RECORDS = 500,          /* in one append */
    OUTPUT_BYTES = 8 << 20, /* of output in one append */
    GATHER_MS = 1000,  /* how long records wait for more of them while runs wait for their start */
    MANY_RECORDS = 64, /* in an append: then there will be more soon, and the next one ... */
    APPEND_EVERY_MS = 2000, /* ... waits so long for them */
    READ_TRIES = 10,        /* before a run is recorded without its output */
};

struct record_batch {
    struct history_append append;
    struct recorder *recorder;
    enum status answer;
    size_t room;
    struct recorded {
        struct open_run *run; /* or */
        struct pending_entry *entry;
    } * of;                          /* source of each record */
    struct history_record records[]; /* followed by their sources */
};

static const struct table_type aside_type = {.key_at = offsetof(struct pending_entry, entry.id),
                                             .key_size = sizeof(struct id)};

void recorder_init(struct recorder *recorder, const struct engine_ports *ports,
                   struct outbox *outbox, const struct peer *self, struct catalog *catalog,
                   struct marks *marks, struct open_runs *runs)
{
    *recorder = (struct recorder){
        .ports = ports, .self = self, .catalog = catalog, .marks = marks, .runs = runs};
    outbox_sender_init(&recorder->sender, outbox, recorder);
    TAILQ_INIT(&recorder->entries);
    table_init(&recorder->aside, &aside_type);
}

static void free_records(struct record_batch *batch)
{
    const struct output_source *output = &batch->recorder->ports->output;
    for (size_t i = 0; i < batch->append.count; i++) {
        free((char *)batch->records[i].input);
        if (batch->records[i].chunks)
            output->release(output->context, (struct output_chunk *)batch->records[i].chunks,
                            batch->records[i].chunk_count);
    }
    free(batch);
}

void recorder_release(struct recorder *recorder)
{
    if (recorder->answered)
        free_records(recorder->answered);
    for (struct pending_entry *entry; (entry = TAILQ_FIRST(&recorder->entries));) {
        TAILQ_REMOVE(&recorder->entries, entry, link);
        free(entry);
    }
    table_release_items(&recorder->aside);
}

/* ---- entries ---- */

static void add_own(struct recorder *recorder, struct pending_entry *pending)
{
    TAILQ_INSERT_TAIL(&recorder->entries, pending, link);
    recorder->entry_count++;
    recorder->new_entries++;
}

static struct pending_entry *find_aside(const struct recorder *recorder, const struct id *id)
{
    return table_find(&recorder->aside, id);
}

enum status recorder_add_entry(struct recorder *recorder, const struct ledger_entry *entry)
{
    if (find_aside(recorder, &entry->id))
        return OK;
    struct pending_entry *pending = calloc(1, sizeof(*pending));
    if (!pending)
        return E_NOMEM;
    pending->entry = *entry;
    if (peer_whose(recorder->self, entry->node, &entry->owner) != WHOSE_OTHERS) {
        add_own(recorder, pending);
        return OK;
    }
    enum status st = table_insert(&recorder->aside, pending);
    if (st != OK)
        free(pending);
    return st;
}

void recorder_forget_entry(struct recorder *recorder, const struct id *id)
{
    struct pending_entry *pending = find_aside(recorder, id);
    if (!pending)
        return;
    table_remove(&recorder->aside, pending);
    free(pending);
}

void recorder_adopt_entries(struct recorder *recorder, struct now now,
                            bool (*is_ours)(void *context, struct now now, const char *node,
                                            const struct incarnation *owner),
                            void *context)
{
    struct pending_entry **ours = calloc(recorder->aside.count + 1, sizeof(struct pending_entry *));
    if (!ours)
        return; /* out of memory: with the next look */
    size_t at = 0, count = 0;
    for (struct pending_entry *pending; (pending = table_next(&recorder->aside, &at));) {
        if (is_ours(context, now, pending->entry.node, &pending->entry.owner))
            ours[count++] = pending;
    }
    for (size_t i = 0; i < count; i++) {
        table_remove(&recorder->aside, ours[i]);
        add_own(recorder, ours[i]);
    }
    free(ours);
}

/* ---- the record, in the history ---- */

/* Most runs print nothing, and need no look at the disk. A lost run may have output. */
static bool may_have_output(const struct run *run)
{
    return run->output_bytes || run->state == RUN_LOST;
}

/* This agent, or an earlier one of this home, has run it. */
static bool is_for_us(const struct recorder *recorder, const struct run *run)
{
    return peer_whose(recorder->self, run->node, &run->owner) != WHOSE_OTHERS;
}

/* The run was lost with its node, which may come back to amend it: the sweeper decides when it
 * leaves the store. */
static bool is_kept(const struct recorder *recorder, const struct open_run *open)
{
    return open->run.state == RUN_LOST && !open->is_forgotten && open->run.node[0] &&
           !is_for_us(recorder, &open->run);
}

static void run_recorded(struct recorder *recorder, struct open_run *open, enum status st)
{
    const struct output_source *output = &recorder->ports->output;
    enum open_phase next =
        is_kept(recorder, open) ? OPEN_ENDED_ELSEWHERE : open_runs_recorded(recorder->runs, open);
    open->is_recorded = st == OK;
    if (st == OK && output->remove && may_have_output(&open->run) && !open->has_unread)
        output->remove(output->context, &open->run.id);
    if (open->news)
        open->run = *open->news;
    free(open->news);
    open->news = NULL;
    if (next == OPEN_ENDED_ELSEWHERE)
        marks_sweep(recorder->marks); /* the sweeper sets how long it is kept */
    open_runs_move(recorder->runs, open, st == OK ? next : OPEN_FINISHED);
}

/* The records were appended, or are to be sent again. */
static void end_records(struct record_batch *batch, enum status st)
{
    struct recorder *recorder = batch->recorder;
    recorder->appending = false;
    for (size_t i = 0; i < batch->append.count; i++) {
        struct pending_entry *entry = batch->of[i].entry;
        if (!entry) {
            run_recorded(recorder, batch->of[i].run, st);
            continue;
        }
        entry->phase = st == OK ? ENTRY_RECORDED : ENTRY_NEW;
        recorder->new_entries += st != OK;
        recorder->recorded_entries += st == OK;
    }
    free_records(batch);
}

/* ---- people are told, before the store forgets ---- */

/* The node that found this run lost has sent its notification. */
static bool is_told(const struct recorder *recorder, const struct open_run *open)
{
    return open->is_told || (open->run.state == RUN_LOST && open->run.reason == REASON_NODE_DIED &&
                             is_for_us(recorder, &open->run));
}

/* For a run that another node ended, only the feed has what was before it. */
static bool was_bad(const struct open_run *open, const struct catalog_job *job)
{
    bool is_last = job && id_compare(&job->last.run_id, &open->run.id) == 0;
    return open->was_bad || (is_last && job->was_bad);
}

static struct ended ended_run(const struct recorder *recorder, const struct open_run *open)
{
    const struct catalog_job *job = catalog_by_uid(recorder->catalog, &open->run.job_uid);
    return (struct ended){.run = &open->run, .job = job, .was_bad = was_bad(open, job)};
}

static void records_told(void *context)
{
    end_records(context, OK);
}

/* False: no notifier, nothing to notify of, or out of memory. */
static bool tell(struct record_batch *batch)
{
    const struct recorder *recorder = batch->recorder;
    const struct teller *teller = &recorder->ports->teller;
    struct ended *ends = teller->tell ? calloc(batch->append.count, sizeof(struct ended)) : NULL;
    size_t count = 0;
    for (size_t i = 0; ends && i < batch->append.count; i++) {
        const struct history_record *record = &batch->records[i];
        if (record->entry) {
            ends[count++] =
                (struct ended){.entry = record->entry,
                               .job = catalog_by_uid(recorder->catalog, &record->entry->job_uid)};
        } else if (!is_told(recorder, batch->of[i].run) && run_ends_tick(&batch->of[i].run->run)) {
            ends[count] = ended_run(recorder, batch->of[i].run);
            ends[count].chunks = record->chunks;
            ends[count++].chunk_count = record->chunk_count;
            batch->of[i].run->is_told = true;
        }
    }
    if (count)
        teller->tell(teller->context, ends, count, records_told, batch);
    free(ends);
    return count > 0;
}

static void nothing_waits(void *context)
{
    (void)context;
}

void recorder_tell_lost(struct recorder *recorder, struct open_run *open)
{
    if (!run_ends_tick(&open->run))
        return;
    const struct teller *teller = &recorder->ports->teller;
    struct ended ended = ended_run(recorder, open);
    open->is_told = true;
    if (teller->tell)
        teller->tell(teller->context, &ended, 1, nothing_waits, NULL);
}

static void keep_answer(struct history_append *append, enum status st)
{
    struct record_batch *batch = append->context;
    batch->answer = st;
    batch->recorder->answered = batch;
}

void recorder_take_answer(struct recorder *recorder, struct now now)
{
    struct record_batch *batch = recorder->answered;
    recorder->answered = NULL;
    if (!batch)
        return;
    const struct record_observer *observer = &recorder->ports->records;
    if (batch->answer != OK)
        recorder->history_retry_at.ms = now.boot.ms + RECORDER_RETRY_MS;
    else if (observer->recorded)
        observer->recorded(observer->context, batch->records, batch->append.count);
    if (batch->answer != OK || !tell(batch))
        end_records(batch, batch->answer);
}

static bool is_unread(enum status st)
{
    return st != OK && st != E_NOT_FOUND;
}

/* Adds the run's output to its record, and its size to *bytes. Output that can't be read holds back
 * its run for a while: it may be that memory or descriptors are short. Then the run goes on record
 * without it, and the output stays where it is. */
static enum status add_output(struct recorder *recorder, struct open_run *open,
                              struct history_record *record, size_t *bytes)
{
    const struct output_source *output = &recorder->ports->output;
    struct output_chunk *chunks = NULL;
    size_t count = 0;
    if (!output->read || !may_have_output(&open->run))
        return OK;
    enum status st = output->read(output->context, &open->run.id, &chunks, &count);
    open->has_unread = is_unread(st);
    if (open->has_unread && ++open->read_tries < READ_TRIES)
        return st;
    if (open->has_unread) {
        char id[ID_TEXT + 1];
        id_format(&open->run.id, id);
        ports_log(recorder->ports, "output_unread", "run=%s job=%s error=\"%s\"", id,
                  open->run.job_name, status_text(st));
    }
    record->chunks = chunks;
    record->chunk_count = count;
    for (size_t i = 0; i < count; i++)
        *bytes += chunks[i].length;
    return OK;
}

/* A copy, since another node may forget the run meanwhile. */
static enum status copy_input(const struct recorder *recorder, const struct run *run, char **ret)
{
    const char *text = inputs_find(recorder->inputs, &run->input);
    *ret = text ? strdup(text) : NULL;
    return *ret || !text ? OK : E_NOMEM;
}

/* Adds what the request of the run has handed over: to an instance its plan, which its steps do
 * without; they have what they have written. Out of memory: later. */
static enum status add_input(const struct recorder *recorder, const struct run *run,
                             struct history_record *record, size_t *bytes)
{
    char *text;
    enum status st = run_is_step(run) ? instances_record(recorder->instances, run, &text)
                                      : copy_input(recorder, run, &text);
    if (st != OK || !text)
        return st;
    record->input = text;
    record->input_length = strlen(text);
    *bytes += record->input_length;
    return OK;
}

static void gather_runs(struct recorder *recorder, struct now now, struct record_batch *batch)
{
    size_t bytes = 0;
    struct open_run *open;
    while (batch->append.count < batch->room && bytes < OUTPUT_BYTES &&
           (open = open_runs_first(recorder->runs, OPEN_FINISHED))) {
        size_t i = batch->append.count;
        if (add_input(recorder, &open->run, &batch->records[i], &bytes) != OK ||
            add_output(recorder, open, &batch->records[i], &bytes) != OK) {
            free((char *)batch->records[i].input);
            recorder->history_retry_at.ms = now.boot.ms + RECORDER_RETRY_MS;
            return;
        }
        batch->append.count++;
        batch->of[i].run = open;
        batch->records[i].run = &open->run;
        open_runs_move(recorder->runs, open, OPEN_RECORDING);
    }
}

static void gather_entries(struct recorder *recorder, struct record_batch *batch)
{
    struct pending_entry *entry;
    TAILQ_FOREACH (entry, &recorder->entries, link) {
        if (batch->append.count == batch->room)
            return;
        if (entry->phase != ENTRY_NEW)
            continue;
        size_t i = batch->append.count++;
        batch->of[i].entry = entry;
        batch->records[i].entry = &entry->entry;
        entry->phase = ENTRY_RECORDING;
        recorder->new_entries--;
    }
}

/* Are there enough records to append? While runs wait for their start, many small appends would
 * slow them down; and where many runs end all the time, fewer appends cost less. */
static bool has_gathered(struct recorder *recorder, struct now now)
{
    const size_t *counts = recorder->runs->counts;
    size_t waiting = counts[OPEN_FINISHED] + recorder->new_entries;
    if (!waiting)
        return false;
    if (!recorder->gather_until.ms)
        recorder->gather_until.ms = now.boot.ms + GATHER_MS;
    bool for_starts = counts[OPEN_CLAIMED] && now.boot.ms < recorder->gather_until.ms;
    bool for_more = now.boot.ms < recorder->append_after.ms;
    if ((for_starts || for_more) && waiting < RECORDS && !recorder->is_ending)
        return false;
    recorder->gather_until.ms = 0;
    return true;
}

/* NULL: out of memory. */
static struct record_batch *new_records(struct recorder *recorder)
{
    size_t waiting = recorder->runs->counts[OPEN_FINISHED] + recorder->new_entries;
    size_t room = waiting < RECORDS ? waiting : RECORDS;
    struct record_batch *batch;
    batch = calloc(1, sizeof(*batch) + room * (sizeof(batch->records[0]) + sizeof(batch->of[0])));
    if (!batch)
        return NULL;
    batch->recorder = recorder;
    batch->room = room;
    batch->of = (struct recorded *)(batch->records + room);
    return batch;
}

static void send_records(struct recorder *recorder, struct now now)
{
    if (!has_gathered(recorder, now))
        return;
    struct record_batch *batch = new_records(recorder);
    if (!batch)
        return;
    gather_runs(recorder, now, batch);
    gather_entries(recorder, batch);
    if (!batch->append.count) {
        free(batch);
        return;
    }
    batch->append.records = batch->records;
    batch->append.done = keep_answer;
    batch->append.context = batch;
    recorder->appending = true;
    if (batch->append.count >= MANY_RECORDS)
        recorder->append_after.ms = now.boot.ms + APPEND_EVERY_MS;
    history_append(recorder->ports->history, &batch->append);
}

void recorder_finish(struct recorder *recorder, struct now now)
{
    recorder_look_at_ends(recorder, now);
    if (recorder_finish_at(recorder).ms <= now.boot.ms)
        recorder_send_finishes(recorder, now);
}

void recorder_send_along(struct recorder *recorder, struct now now)
{
    struct boot_ms at = recorder_forget_at(recorder);
    if (at.ms != INT64_MAX && recorder->sender.retry_at.ms <= now.boot.ms)
        recorder_send_forgets(recorder, now);
}

void recorder_flush(struct recorder *recorder, struct now now)
{
    if (recorder_forget_at(recorder).ms <= now.boot.ms)
        recorder_send_forgets(recorder, now);
    if (!recorder->appending && recorder->history_retry_at.ms <= now.boot.ms)
        send_records(recorder, now);
}

int64_t recorder_wake_at(const struct recorder *recorder, struct now now)
{
    struct boot_ms first = recorder_finish_at(recorder);
    struct boot_ms forget_at = recorder_forget_at(recorder);
    bool for_history = !recorder->appending &&
                       (open_runs_first(recorder->runs, OPEN_FINISHED) || recorder->new_entries);
    first = forget_at.ms < first.ms ? forget_at : first;
    if (for_history) {
        struct boot_ms at = recorder->history_retry_at;
        if (!recorder->is_ending && at.ms < recorder->gather_until.ms)
            at = recorder->gather_until;
        if (!recorder->is_ending && at.ms < recorder->append_after.ms)
            at = recorder->append_after;
        first = at.ms < first.ms ? at : first;
    }
    return first.ms == INT64_MAX ? NEVER_MS : wall_at(now, first);
}
