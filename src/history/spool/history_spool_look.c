/* Reads of what waits in the spool. The spool's thread goes through the files; what it found is
 * merged with the answer of the inner history, which is asked afterwards: a record that is
 * delivered meanwhile is found twice, and shown once. Statistics and changes are those of the inner
 * history alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spool/history_spool_internal.h"

/* ---- the spool's thread: a page ---- */

/* The newest rows that match. */
struct found {
    const struct history_query *query;
    struct history_row **rows; /* newest first */
    size_t count;
    bool more; /* older ones match, too */
};

/* The number of newer rows. */
static size_t place_of(const struct found *found, const struct id *id)
{
    size_t low = 0, high = found->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (id_compare(history_row_id(found->rows[middle]), id) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum status keep_row(struct found *found, const struct history_row *row)
{
    size_t place = place_of(found, history_row_id(row)), limit = found->query->limit;
    struct history_row *same = place < found->count ? found->rows[place] : NULL;
    if (same && id_compare(history_row_id(same), history_row_id(row)) == 0) {
        if (history_row_gives_way(same, row))
            *same = *row;
        return OK;
    }
    if (found->count == limit) {
        found->more = true;
        if (place == limit)
            return OK;
        free(found->rows[--found->count]);
    }
    struct history_row *copy = malloc(sizeof(*copy));
    if (!copy)
        return E_NOMEM;
    *copy = *row;
    memmove(&found->rows[place + 1], &found->rows[place],
            (found->count - place) * sizeof(struct history_row *));
    found->rows[place] = copy;
    found->count++;
    return OK;
}

static enum status visit_row(void *context, const struct spooled *item)
{
    struct found *found = context;
    const struct id *before = &found->query->before;
    if (item->is_change || !history_query_matches(found->query, &item->row) ||
        (!id_is_zero(before) && id_compare(history_row_id(&item->row), before) >= 0))
        return OK;
    return keep_row(found, &item->row);
}

static enum status make_part(const struct found *found, struct page_part *ret)
{
    struct page_part part = {.count = found->count, .more = found->more};
    part.rows = calloc(found->count + 1, sizeof(*part.rows));
    if (!part.rows)
        return E_NOMEM;
    for (size_t i = 0; i < found->count; i++) {
        part.rows[i] = *found->rows[i];
        part.rows[i].is_spooled = true;
    }
    if (part.more)
        part.horizon = *history_row_id(&part.rows[part.count - 1]);
    *ret = part;
    return OK;
}

static enum status find_rows(struct spool_files *files, const struct history_query *query,
                             struct page_part *ret)
{
    struct found found = {.query = query};
    if (query->limit < 1 || query->limit > 1000)
        return E_INVALID;
    found.rows = calloc(query->limit + 1, sizeof(struct history_row *));
    enum status st = found.rows ? spool_files_each(files, visit_row, &found) : E_NOMEM;
    if (st == OK)
        st = make_part(&found, ret);
    for (size_t i = 0; i < found.count; i++)
        free(found.rows[i]);
    free(found.rows);
    return st;
}

/* ---- the spool's thread: one run ---- */

struct wanted_run {
    const struct id *id;
    bool found;
    struct spooled item; /* without its output */
};

static enum status visit_run(void *context, const struct spooled *item)
{
    struct wanted_run *wanted = context;
    if (item->is_change || item->row.is_entry || id_compare(&item->row.run.id, wanted->id) != 0 ||
        (wanted->found && !history_row_gives_way(&wanted->item.row, &item->row)))
        return OK;
    wanted->found = true;
    wanted->item = (struct spooled){.row = item->row, .ref = item->ref};
    return OK;
}

/* Copies the bytes that are asked for. */
static enum status fill_log(const struct spooled *item, struct history_log *log)
{
    int64_t start = 0;
    log->chunks = calloc(item->chunk_count + 1, sizeof(*log->chunks));
    if (!log->chunks)
        return E_NOMEM;
    for (size_t i = 0; i < item->chunk_count; i++)
        log->kept_bytes += (int64_t)item->chunks[i].length;
    for (size_t i = 0; i < item->chunk_count; i++) {
        const struct output_chunk *chunk = &item->chunks[i];
        size_t skip, length;
        if (history_log_part(log, start, chunk->length, &skip, &length)) {
            char *bytes = malloc(length + 1);
            if (!bytes)
                return E_NOMEM;
            memcpy(bytes, (const char *)chunk->bytes + skip, length);
            log->chunks[log->count++] =
                (struct output_chunk){.stream = chunk->stream,
                                      .at_ms = chunk->at_ms,
                                      .gap_bytes = skip ? 0 : chunk->gap_bytes,
                                      .bytes = bytes,
                                      .length = length};
        }
        start += (int64_t)chunk->length;
    }
    return OK;
}

static enum status find_run(struct spool_files *files, struct history_log *log)
{
    struct wanted_run wanted = {.id = &log->run_id};
    if (log->offset < 0)
        return E_INVALID;
    enum status st = spool_files_each(files, visit_run, &wanted);
    if (st != OK || !wanted.found)
        return st;
    st = spool_files_load_output(files, &wanted.item);
    log->found = true;
    log->is_spooled = true;
    log->run = wanted.item.row.run;
    if (st == OK)
        st = fill_log(&wanted.item, log);
    if (st == OK && log->with_input && wanted.item.input) {
        log->input = strndup(wanted.item.input, wanted.item.input_length);
        st = log->input ? OK : E_NOMEM;
    }
    spooled_release(&wanted.item);
    return st;
}

void spool_look_files(struct spool_files *files, struct spool_look *look)
{
    if (look->request->kind == HISTORY_READ)
        look->st = find_rows(files, &look->read.query, &look->part);
    else
        look->st = find_run(files, &look->log);
}

/* ---- the owner's thread ---- */

static void look_free(struct spool_look *look)
{
    free(look->part.rows);
    history_log_release(&look->log);
    history_read_release(&look->read);
    free(look);
}

static void finish(struct spool_look *look, enum status st)
{
    history_spool_answer(look->spool, look->request, st);
    look_free(look);
}

static enum status tell_absent(struct history_absences *ret)
{
    ret->items = calloc(1, sizeof(*ret->items));
    if (!ret->items)
        return E_NOMEM;
    ret->count = 1;
    snprintf(ret->items->why, sizeof(ret->items->why), "does not answer");
    return OK;
}

/* `inner`: the status of the inner history, whose rows are in look->read. */
static void finish_page(struct spool_look *look, enum status inner)
{
    struct history_read *to = history_request_of(look->request, history_read);
    struct history_read answer = {.query = to->query};
    struct page_part parts[2] = {look->part};
    if (inner == OK)
        parts[1] = (struct page_part){.rows = look->read.rows,
                                      .count = look->read.count,
                                      .more = look->read.more,
                                      .horizon = look->read.next};
    enum status st = page_merge(parts, inner == OK ? 2 : 1, &answer);
    if (st == OK && inner != OK)
        st = tell_absent(&answer.absent);
    if (st == OK) {
        to->rows = answer.rows;
        to->count = answer.count;
        to->more = answer.more;
        to->next = answer.next;
        to->absent = answer.absent;
    } else {
        history_read_release(&answer);
    }
    finish(look, st);
}

static void inner_read(struct history_read *read, enum status st)
{
    struct spool_look *look = read->context;
    if (st == E_INVALID || st == E_NOMEM || (st != OK && look->spool->ending))
        finish(look, st);
    else
        finish_page(look, st);
}

static void finish_log(struct spool_look *look)
{
    struct history_log *to = history_request_of(look->request, history_log);
    struct history_spool *spool = look->spool;
    if (!look->log.found && spool->inner) { /* only the inner history can tell */
        history_submit(spool->inner, look->request);
        look_free(look);
        return;
    }
    if (!look->log.found) {
        finish(look, E_UNREACHABLE);
        return;
    }
    to->run = look->log.run;
    to->found = to->is_spooled = true;
    to->chunks = look->log.chunks;
    to->count = look->log.count;
    to->kept_bytes = look->log.kept_bytes;
    to->input = look->log.input;
    look->log.chunks = NULL;
    look->log.count = 0;
    look->log.input = NULL;
    finish(look, OK);
}

void spool_look_go_on(struct spool_look *look)
{
    struct history_spool *spool = look->spool;
    if (look->st != OK) {
        finish(look, look->st);
    } else if (look->request->kind == HISTORY_LOG) {
        finish_log(look);
    } else if (!spool->inner) {
        finish(look, E_UNREACHABLE);
    } else if (history_spool_inner_health(spool) == E_UNREACHABLE) { /* to try takes seconds */
        finish_page(look, E_UNREACHABLE);
    } else {
        look->read.done = inner_read;
        look->read.context = look;
        history_read(spool->inner, &look->read);
    }
}

struct spool_look *spool_look_new(struct history_spool *spool, struct history_request *request)
{
    struct spool_look *look = calloc(1, sizeof(*look));
    if (!look)
        return NULL;
    look->spool = spool;
    look->request = request;
    if (request->kind == HISTORY_READ) {
        look->read.query = history_request_of(request, history_read)->query;
    } else {
        const struct history_log *log = history_request_of(request, history_log);
        look->log.run_id = log->run_id;
        look->log.offset = log->offset;
        look->log.limit = log->limit;
        look->log.with_input = log->with_input;
    }
    return look;
}
