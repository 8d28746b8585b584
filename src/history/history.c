#include "history_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

void history_queue_push(struct history_queue *queue, struct history_request *request)
{
    request->next = NULL;
    if (queue->last)
        queue->last->next = request;
    else
        queue->first = request;
    queue->last = request;
}

struct history_request *history_queue_pop(struct history_queue *queue)
{
    struct history_request *request = queue->first;
    if (!request)
        return NULL;
    queue->first = request->next;
    if (!queue->first)
        queue->last = NULL;
    return request;
}

struct history_request *history_next_write(struct history_queue *appends,
                                           const struct history_queue *prunes, bool prune_waited)
{
    if (prunes->first && (prune_waited || !appends->first))
        return prunes->first;
    return history_queue_pop(appends);
}

void history_request_done(struct history_request *request)
{
    enum status st = request->answer;
    switch (request->kind) {
    case HISTORY_APPEND: {
        struct history_append *append = history_request_of(request, history_append);
        append->done(append, st);
        break;
    }
    case HISTORY_READ: {
        struct history_read *read = history_request_of(request, history_read);
        read->done(read, st);
        break;
    }
    case HISTORY_LOG: {
        struct history_log *log = history_request_of(request, history_log);
        log->done(log, st);
        break;
    }
    case HISTORY_STATS: {
        struct history_stats *stats = history_request_of(request, history_stats);
        stats->done(stats, st);
        break;
    }
    case HISTORY_CHANGES: {
        struct history_changes *changes = history_request_of(request, history_changes);
        changes->done(changes, st);
        break;
    }
    case HISTORY_PRUNE: {
        struct history_prune *prune = history_request_of(request, history_prune);
        prune->done(prune, st);
        break;
    }
    }
}

void history_queue_done(struct history_queue *queue)
{
    struct history_queue now = *queue;
    *queue = (struct history_queue){0};
    for (struct history_request *request; (request = history_queue_pop(&now));)
        history_request_done(request);
}

void history_absences_release(struct history_absences *absent)
{
    free(absent->items);
    *absent = (struct history_absences){0};
}

void history_read_release(struct history_read *read)
{
    history_absences_release(&read->absent);
    free(read->rows);
    read->rows = NULL;
    read->count = 0;
}

void history_log_release(struct history_log *log)
{
    history_absences_release(&log->absent);
    for (size_t i = 0; i < log->count; i++)
        free((void *)log->chunks[i].bytes);
    free(log->chunks);
    log->chunks = NULL;
    log->count = 0;
    log->is_spooled = false;
    free(log->input);
    log->input = NULL;
}

/* ---- ids ---- */

int64_t history_id_made_ms(const struct id *id)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | id->bytes[i];
    return ms;
}

struct id history_id_at(int64_t made_ms)
{
    static const uint8_t none[10];
    const int64_t last_ms = ((int64_t)1 << 48) - 1;
    if (made_ms < 0)
        made_ms = 0;
    return id_make((struct wall_ms){made_ms < last_ms ? made_ms : last_ms}, none);
}

/* ---- rows and queries ---- */

/* LOST as recorded by another node, which only knows that the run's node died. The run's own node
 * may know more. */
static bool is_from_afar(const struct run *run)
{
    return run->state == RUN_LOST && run->reason == REASON_NODE_DIED;
}

bool history_row_gives_way(const struct history_row *old, const struct history_row *to)
{
    if (to->is_entry)
        return true;
    bool has_run = old->run.state >= RUN_OK && old->run.state <= RUN_KILLED;
    if (to->run.state == RUN_MISSED)
        return !has_run;
    if (to->run.state != RUN_LOST)
        return true;
    return old->run.state == RUN_LOST && (is_from_afar(&old->run) || !is_from_afar(&to->run));
}

const struct id *history_row_id(const struct history_row *row)
{
    return row->is_entry ? &row->entry.id : &row->run.id;
}

int64_t history_row_ended_ms(const struct history_row *row)
{
    if (row->is_entry)
        return row->entry.recorded_ms;
    return row->run.finished_ms ? row->run.finished_ms : history_id_made_ms(&row->run.id);
}

struct id byte_count_below(const struct byte_count *count)
{
    struct id below = count->last;
    if (id_is_zero(&below))
        memset(below.bytes, 255, sizeof(below.bytes));
    return below;
}

bool byte_count_goes(struct byte_count *count, int64_t keep_bytes, const struct id *id,
                     int64_t output_bytes)
{
    bool goes = output_bytes && count->bytes && count->bytes + output_bytes > keep_bytes;
    count->last = *id;
    count->bytes += output_bytes;
    return goes;
}

/* The fields of a run or an entry that queries filter by. */
struct facts {
    const struct id *job_uid;
    const char *job_name, *detail;
    enum run_state state;
    enum run_reason reason;
    int64_t from_ms, to_ms;
};

static struct facts facts_of(const struct history_row *row)
{
    const struct run *run = &row->run;
    const struct ledger_entry *entry = &row->entry;
    if (row->is_entry)
        return (struct facts){&entry->job_uid, entry->job_name, entry->detail, entry->state,
                              entry->reason,   entry->from_ms,  entry->to_ms};
    return (struct facts){&run->job_uid, run->job_name, run->detail, run->state,
                          run->reason,   run->tick_ms,  run->tick_ms};
}

static bool ran_on(const struct history_row *row, const char *node)
{
    return !row->is_entry && strcmp(row->run.node, node) == 0;
}

static bool lasted(const struct history_row *row, int64_t min_duration_ms)
{
    const struct run *run = &row->run;
    return !row->is_entry && run->started_ms && run->finished_ms &&
           run->finished_ms - run->started_ms >= min_duration_ms;
}

static bool has_text(const struct facts *facts, const char *text)
{
    return strcasestr(facts->job_name, text) || strcasestr(facts->detail, text) ||
           strcasestr(run_reason_name(facts->reason), text);
}

bool history_query_matches(const struct history_query *query, const struct history_row *row)
{
    struct facts facts = facts_of(row);
    return (query->with_entries || !row->is_entry) &&
           (!query->states || run_state_is_in(query->states, facts.state)) &&
           (id_is_zero(&query->job_uid) || id_compare(&query->job_uid, facts.job_uid) == 0) &&
           (!query->job_name || strcmp(query->job_name, facts.job_name) == 0) &&
           (!query->since_ms || facts.to_ms >= query->since_ms) &&
           (!query->until_ms || facts.from_ms < query->until_ms) &&
           (!query->node || ran_on(row, query->node)) &&
           (!query->min_duration_ms || lasted(row, query->min_duration_ms)) &&
           (!query->text || has_text(&facts, query->text));
}

static bool is_valid(const struct history_record *record)
{
    if (!!record->run + !!record->entry + !!record->change != 1)
        return false;
    if ((record->chunk_count || record->input) && !record->run)
        return false;
    if (record->change)
        return history_id_made_ms(&record->change->id) == record->change->at_ms;
    if (record->entry)
        return record->entry->state == RUN_SKIPPED || record->entry->state == RUN_MISSED ||
               !run_state_is_known(record->entry->state);
    return run_state_is_end(record->run->state) || !run_state_is_known(record->run->state);
}

bool history_append_is_valid(const struct history_append *append)
{
    for (size_t i = 0; i < append->count; i++) {
        if (!is_valid(&append->records[i]))
            return false;
    }
    return true;
}

bool history_log_part(const struct history_log *log, int64_t start, size_t length, size_t *ret_skip,
                      size_t *ret_length)
{
    int64_t kept = log->kept_bytes, offset = log->offset;
    if (offset > kept || !log->limit)
        return false;
    int64_t end = (uint64_t)(kept - offset) > log->limit ? offset + (int64_t)log->limit : kept;
    int64_t from = start > offset ? start : offset;
    int64_t to = start + (int64_t)length < end ? start + (int64_t)length : end;
    bool here = to > from;
    if (!length)
        here = start >= offset &&
               (start < end || (start == kept && end == kept && (offset < kept || !kept)));
    *ret_skip = (size_t)(from - start);
    *ret_length = to > from ? (size_t)(to - from) : 0;
    return here;
}
