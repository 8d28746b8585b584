/* The history in memory: an array in the order of ids. The simplest backend, a reference for the
 * others. */
#include "history_memory.h"

#include <stdlib.h>
#include <string.h>

#include "history_memory_changes.h"
#include "history_stats.h"

struct memory_row {
    struct history_row row;
    struct output_chunk *chunks; /* each with bytes of its own */
    size_t chunk_count;
    char *input;  /* NULL: none */
    bool removed; /* while pruning */
};

struct history_memory {
    struct history base;
    struct history_wake wake;
    struct history_queue waiting;
    bool closing;
    struct memory_row **rows; /* oldest first */
    size_t count, capacity;
    struct stats_changes stats; /* of recorded rows, also of removed ones */
    size_t merged;              /* number of cells after the last merge */
    struct memory_changes changes;
};

static void free_chunks(struct output_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)chunks[i].bytes);
    free(chunks);
}

static void free_row(struct memory_row *row)
{
    if (!row)
        return;
    free_chunks(row->chunks, row->chunk_count);
    free(row->input);
    free(row);
}

/* The number of rows older than the id, which is the index of a row with this id. */
static size_t place_of(const struct history_memory *memory, const struct id *id)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (id_compare(history_row_id(&memory->rows[middle]->row), id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct memory_row *find(const struct history_memory *memory, const struct id *id)
{
    size_t place = place_of(memory, id);
    if (place == memory->count || id_compare(history_row_id(&memory->rows[place]->row), id) != 0)
        return NULL;
    return memory->rows[place];
}

/* ---- append ---- */

/* Bytes `skip` to `skip + length` of a chunk. */
static enum status copy_part(const struct output_chunk *chunk, size_t skip, size_t length,
                             struct output_chunk *ret)
{
    char *bytes = malloc(length ? length : 1);
    if (!bytes)
        return E_NOMEM;
    if (length)
        memcpy(bytes, (const char *)chunk->bytes + skip, length);
    *ret = *chunk;
    ret->gap_bytes = skip ? 0 : chunk->gap_bytes;
    ret->bytes = bytes;
    ret->length = length;
    return OK;
}

static enum status copy_record(const struct history_record *record, struct memory_row **ret)
{
    struct memory_row *row = calloc(1, sizeof(*row));
    if (!row)
        return E_NOMEM;
    row->row.is_entry = record->entry != NULL;
    if (record->entry)
        row->row.entry = *record->entry;
    else
        row->row.run = *record->run;
    row->input = record->input ? strndup(record->input, record->input_length) : NULL;
    if (record->input && !row->input)
        goto fail;
    if (record->chunk_count) {
        row->chunks = calloc(record->chunk_count, sizeof(*row->chunks));
        if (!row->chunks)
            goto fail;
    }
    for (size_t i = 0; i < record->chunk_count; i++) {
        const struct output_chunk *chunk = &record->chunks[i];
        if (copy_part(chunk, 0, chunk->length, &row->chunks[i]) != OK)
            goto fail;
        row->chunk_count++;
    }
    *ret = row;
    return OK;
fail:
    free_row(row);
    return E_NOMEM;
}

static enum status reserve(struct history_memory *memory, size_t count)
{
    if (memory->count + count <= memory->capacity)
        return OK;
    size_t capacity = (memory->count + count) * 2;
    struct memory_row **rows = realloc(memory->rows, capacity * sizeof(struct memory_row *));
    if (!rows)
        return E_NOMEM;
    memory->rows = rows;
    memory->capacity = capacity;
    return OK;
}

/* Takes over the row. Room must have been reserved. */
static void put(struct history_memory *memory, struct memory_row *row)
{
    const struct id *id = history_row_id(&row->row);
    size_t place = place_of(memory, id);
    struct memory_row *old = find(memory, id);
    if (!old) {
        memmove(&memory->rows[place + 1], &memory->rows[place],
                (memory->count - place) * sizeof(struct memory_row *));
        memory->rows[place] = row;
        memory->count++;
        stats_changes_add(&memory->stats, &row->row, 1);
        return;
    }
    if (!history_row_gives_way(&old->row, &row->row)) {
        free_row(row);
        return;
    }
    free(row->input); /* the first record has it */
    row->input = old->input;
    old->input = NULL;
    if (!row->chunk_count) {
        free(row->chunks);
        row->chunks = old->chunks;
        row->chunk_count = old->chunk_count;
        old->chunks = NULL;
        old->chunk_count = 0;
    }
    stats_changes_add(&memory->stats, &old->row, -1);
    stats_changes_add(&memory->stats, &row->row, 1);
    memory->rows[place] = row;
    free_row(old);
}

static void merge_stats(struct history_memory *memory)
{
    stats_changes_merge(&memory->stats);
    memory->merged = memory->stats.count;
}

/* A copy of a record: a row or a change. */
struct copy {
    struct memory_row *row; /* NULL: the record is a change */
    struct change_record change;
};

static enum status make_copy(const struct history_record *record, struct copy *ret)
{
    if (record->change)
        return change_record_copy(record->change, true, &ret->change);
    return copy_record(record, &ret->row);
}

static void put_copy(struct history_memory *memory, struct copy *copy)
{
    if (copy->row)
        put(memory, copy->row);
    else
        memory_changes_put(&memory->changes, &copy->change);
}

static void free_copy(struct copy *copy)
{
    free_row(copy->row);
    change_record_release(&copy->change);
}

static enum status do_append(struct history_memory *memory, const struct history_append *append)
{
    if (!history_append_is_valid(append))
        return E_INVALID;
    enum status st = reserve(memory, append->count);
    if (st == OK)
        st = stats_changes_reserve(&memory->stats, 2 * append->count);
    if (st == OK)
        st = memory_changes_reserve(&memory->changes, append->count);
    size_t copied = 0;
    struct copy *copies = calloc(append->count + 1, sizeof(*copies));
    if (!copies)
        st = E_NOMEM;
    for (; st == OK && copied < append->count; copied += st == OK)
        st = make_copy(&append->records[copied], &copies[copied]);
    for (size_t i = 0; i < copied; i++) {
        if (st == OK)
            put_copy(memory, &copies[i]);
        else
            free_copy(&copies[i]);
    }
    free(copies);
    if (memory->stats.count > 2 * memory->merged + 1000)
        merge_stats(memory);
    return st;
}

/* ---- read ---- */

static enum status do_read(const struct history_memory *memory, struct history_read *read)
{
    const struct history_query *query = &read->query;
    if (query->limit < 1 || query->limit > HISTORY_LIMIT_MAX)
        return E_INVALID;
    struct history_row *rows = calloc(query->limit, sizeof(*rows));
    if (!rows)
        return E_NOMEM;
    size_t count = 0;
    bool more = false;
    size_t at = id_is_zero(&query->before) ? memory->count : place_of(memory, &query->before);
    while (at-- > 0 && !more) {
        const struct history_row *row = &memory->rows[at]->row;
        if (!history_query_matches(query, row))
            continue;
        more = count == query->limit;
        if (!more)
            rows[count++] = *row;
    }
    read->rows = rows;
    read->count = count;
    read->more = more;
    if (more)
        read->next = *history_row_id(&rows[count - 1]);
    return OK;
}

static enum status do_log(const struct history_memory *memory, struct history_log *log)
{
    const struct memory_row *row = find(memory, &log->run_id);
    struct history_log answer = *log;
    if (log->offset < 0)
        return E_INVALID;
    answer.found = row && !row->row.is_entry;
    answer.kept_bytes = 0;
    answer.chunks = NULL;
    answer.count = 0;
    answer.input = NULL;
    if (answer.found) {
        answer.run = row->row.run;
        if (log->with_input && row->input && !(answer.input = strdup(row->input)))
            return E_NOMEM;
        answer.chunks = calloc(row->chunk_count + 1, sizeof(*answer.chunks));
        if (!answer.chunks)
            return E_NOMEM;
        for (size_t i = 0; i < row->chunk_count; i++)
            answer.kept_bytes += (int64_t)row->chunks[i].length;
    }
    int64_t start = 0;
    for (size_t i = 0; answer.found && i < row->chunk_count; i++) {
        const struct output_chunk *chunk = &row->chunks[i];
        size_t skip, length;
        if (history_log_part(&answer, start, chunk->length, &skip, &length)) {
            if (copy_part(chunk, skip, length, &answer.chunks[answer.count]) != OK) {
                history_log_release(&answer);
                return E_NOMEM;
            }
            answer.count++;
        }
        start += (int64_t)chunk->length;
    }
    *log = answer;
    return OK;
}

/* ---- statistics ---- */

static enum status do_stats(struct history_memory *memory, struct history_stats *stats)
{
    struct history_stats answer = *stats;
    int64_t from, to;
    enum status st = OK;
    answer.rows = NULL;
    answer.count = 0;
    if (!stats_request_is_valid(stats))
        return E_INVALID;
    stats_request_hours(stats, &from, &to);
    merge_stats(memory);
    for (size_t i = 0; i < memory->stats.count && st == OK; i++) {
        const struct stats_cell *cell = &memory->stats.cells[i];
        if (id_compare(&cell->job_uid, &stats->job_uid) == 0 && cell->hour >= from &&
            cell->hour < to)
            st = stats_answer_add(&answer, cell);
    }
    if (st != OK)
        history_stats_release(&answer);
    else
        *stats = answer;
    return st;
}

/* ---- prune ---- */

static const struct id *job_of(const struct memory_row *row)
{
    return row->row.is_entry ? &row->row.entry.job_uid : &row->row.run.job_uid;
}

/* Order by job, then runs before entries, then newest first. */
static int compare_for_pruning(const void *a, const void *b)
{
    const struct memory_row *left = *(struct memory_row *const *)a;
    const struct memory_row *right = *(struct memory_row *const *)b;
    int order = id_compare(job_of(left), job_of(right));
    if (!order)
        order = left->row.is_entry - right->row.is_entry;
    return order ? order : id_compare(history_row_id(&right->row), history_row_id(&left->row));
}

static void mark_removed(struct memory_row **sorted, size_t count,
                         const struct history_prune *prune)
{
    int64_t of_group = 0;
    for (size_t i = 0; i < count; i++) {
        struct memory_row *row = sorted[i];
        bool same = i && sorted[i - 1]->row.is_entry == row->row.is_entry &&
                    id_compare(job_of(sorted[i - 1]), job_of(row)) == 0;
        bool is_step = !row->row.is_entry && run_is_step(&row->row.run);
        of_group = (same ? of_group : 0) + !is_step;
        if (!id_is_zero(&prune->job_uid) && id_compare(&prune->job_uid, job_of(row)) != 0)
            continue;
        row->removed = (prune->keep_runs && of_group + is_step > prune->keep_runs) ||
                       (prune->before_ms && history_row_ended_ms(&row->row) < prune->before_ms);
    }
}

static void mark_by_bytes(struct history_memory *memory, const struct history_prune *prune)
{
    struct byte_count count = {.bytes = 0};
    for (size_t i = memory->count; i-- > 0 && prune->keep_bytes;) {
        struct memory_row *row = memory->rows[i];
        int64_t bytes = 0;
        if (row->removed ||
            (!id_is_zero(&prune->job_uid) && id_compare(&prune->job_uid, job_of(row)) != 0))
            continue;
        for (size_t k = 0; k < row->chunk_count; k++)
            bytes += (int64_t)row->chunks[k].length;
        row->removed = byte_count_goes(&count, prune->keep_bytes, history_row_id(&row->row), bytes);
    }
}

static void prune_stats(struct history_memory *memory, const struct history_prune *prune)
{
    int64_t hour = stats_prune_hour(prune);
    size_t kept = 0;
    for (size_t i = 0; i < memory->stats.count; i++) {
        const struct stats_cell *cell = &memory->stats.cells[i];
        bool meant =
            id_is_zero(&prune->job_uid) || id_compare(&prune->job_uid, &cell->job_uid) == 0;
        if (!meant || cell->hour >= hour)
            memory->stats.cells[kept++] = *cell;
    }
    memory->stats.count = kept;
}

static enum status do_prune(struct history_memory *memory, struct history_prune *prune)
{
    struct memory_row **sorted = calloc(memory->count + 1, sizeof(struct memory_row *));
    if (!sorted)
        return E_NOMEM;
    if (memory->count) {
        memcpy(sorted, memory->rows, memory->count * sizeof(struct memory_row *));
        qsort(sorted, memory->count, sizeof(struct memory_row *), compare_for_pruning);
    }
    mark_removed(sorted, memory->count, prune);
    mark_by_bytes(memory, prune);
    free(sorted);

    size_t kept = 0;
    for (size_t i = 0; i < memory->count; i++) {
        if (memory->rows[i]->removed)
            free_row(memory->rows[i]);
        else
            memory->rows[kept++] = memory->rows[i];
    }
    prune->removed = (int64_t)(memory->count - kept);
    memory->count = kept;
    if (prune->changes_before_ms && id_is_zero(&prune->job_uid))
        prune->removed += (int64_t)memory_changes_prune(&memory->changes, prune->changes_before_ms);
    prune_stats(memory, prune);
    return OK;
}

/* ---- the contract ---- */

static enum status do_request(struct history_memory *memory, struct history_request *request)
{
    switch (request->kind) {
    case HISTORY_APPEND:
        return do_append(memory, history_request_of(request, history_append));
    case HISTORY_READ:
        return do_read(memory, history_request_of(request, history_read));
    case HISTORY_LOG:
        return do_log(memory, history_request_of(request, history_log));
    case HISTORY_STATS:
        return do_stats(memory, history_request_of(request, history_stats));
    case HISTORY_CHANGES:
        return memory_changes_read(&memory->changes, history_request_of(request, history_changes));
    case HISTORY_PRUNE:
        return do_prune(memory, history_request_of(request, history_prune));
    }
    return E_INVALID;
}

static void memory_submit(struct history *history, struct history_request *request)
{
    struct history_memory *memory = (struct history_memory *)history;
    history_queue_push(&memory->waiting, request);
    if (memory->wake.wake)
        memory->wake.wake(memory->wake.context);
}

/* A request that a `done` submits waits for the next dispatch. */
static void memory_dispatch(struct history *history)
{
    struct history_memory *memory = (struct history_memory *)history;
    struct history_queue now = memory->waiting;
    memory->waiting = (struct history_queue){0};
    for (struct history_request *request; (request = history_queue_pop(&now));) {
        request->answer = memory->closing ? E_UNREACHABLE : do_request(memory, request);
        history_request_done(request);
    }
}

static enum status memory_health(struct history *history, struct strbuf *why)
{
    (void)history;
    (void)why;
    return OK;
}

static struct history *memory_free(struct history *history)
{
    struct history_memory *memory = (struct history_memory *)history;
    memory_dispatch(history);
    memory->closing = true;
    while (memory->waiting.first)
        memory_dispatch(history);
    for (size_t i = 0; i < memory->count; i++)
        free_row(memory->rows[i]);
    free(memory->rows);
    stats_changes_release(&memory->stats);
    memory_changes_release(&memory->changes);
    free(memory);
    return NULL;
}

static const struct history_ops memory_ops = {
    .submit = memory_submit,
    .dispatch = memory_dispatch,
    .health = memory_health,
    .free = memory_free,
};

enum status history_memory_new(struct history_wake wake, struct history **ret)
{
    struct history_memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return E_NOMEM;
    memory->base.ops = &memory_ops;
    memory->wake = wake;
    *ret = &memory->base;
    return OK;
}
