/* An append is one transaction with a few statements over arrays, whatever the number of records.
 *
 * Several nodes write at the same time, sometimes the same run. To avoid deadlocks, locks are taken
 * in one order everywhere: the shared advisory lock against the removal of jobs, jobs, rows by id,
 * statistics by cell, changes by id. A transaction that fails with a conflict is retried. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "history_internal.h"
#include "postgres/history_postgres_internal.h"

enum {
    TRIES = 4,
    OUTPUT_BATCH = 4 * 1024 * 1024, /* bytes of output in one statement */
    SLOTS = 8,                      /* rows per cell of all jobs, to spread row locks */
    AHEAD_MS = 7 * 24 * 3600 * 1000,
};

/* A record of the append. Records with the same id are written in successive rounds. */
struct item {
    const struct history_record *record;
    const struct id *id;
    size_t place;
    int round;
    bool is_entry;
    bool is_new;  /* the row was inserted */
    bool changes; /* the row was inserted, or replaces the stored one */
};

struct writing {
    struct postgres_link *link;
    struct item *items; /* entries after runs, each by id */
    size_t count;
    int rounds;
    struct stats_changes stats;
    struct history_row *row, *old; /* buffers */
    struct piece *piece;
};

/* ---- items ---- */

static int compare_items(const void *a, const void *b)
{
    const struct item *left = a, *right = b;
    int order = left->is_entry - right->is_entry;
    if (!order)
        order = id_compare(left->id, right->id);
    return order ? order : (left->place > right->place) - (left->place < right->place);
}

static void make_items(struct writing *writing, const struct history_append *append)
{
    size_t count = 0;
    for (size_t i = 0; i < append->count; i++) {
        const struct history_record *record = &append->records[i];
        if (record->change)
            continue;
        writing->items[count++] =
            (struct item){.record = record,
                          .id = record->entry ? &record->entry->id : &record->run->id,
                          .place = i,
                          .is_entry = record->entry != NULL};
    }
    if (count)
        qsort(writing->items, count, sizeof(struct item), compare_items);
    for (size_t i = 0; i < count; i++) {
        struct item *item = &writing->items[i];
        bool again =
            i && item[-1].is_entry == item->is_entry && id_compare(item[-1].id, item->id) == 0;
        item->round = again ? item[-1].round + 1 : 0;
        if (item->round >= writing->rounds)
            writing->rounds = item->round + 1;
    }
    writing->count = count;
}

static bool is_in(const struct item *item, enum record_table table, int round)
{
    return item->is_entry == (table == TABLE_ENTRIES) && item->round == round;
}

/* ---- rows ---- */

static const void *record_of(const struct item *item)
{
    return item->is_entry ? (const void *)item->record->entry : (const void *)item->record->run;
}

/* Adds a value of one of the columns before table_columns. */
static void add_head(struct writing *writing, struct params *params, const struct item *item,
                     int column)
{
    struct history_row *row = writing->row;
    row_of_record(item->record, row);
    const char *name = history_row_job_name(row);
    switch (column) {
    case 0:
        params_add_id(params, item->id);
        break;
    case 1:
        params_add_id(params, history_row_job_uid(row));
        break;
    case 2:
        params_add_text(params, name, strlen(name));
        break;
    case 3:
        params_add_int(params, history_row_ended_ms(row));
        break;
    default:
        params_add_int(params, row_stray(row));
    }
}

/* Adds the arrays for SQL_INSERT or SQL_UPDATE with the items of a round. */
static void add_rows(struct writing *writing, struct params *params, enum record_table table,
                     int round, bool only_changes)
{
    static const enum array_type head[] = {ARRAY_ID, ARRAY_ID, ARRAY_TEXT, ARRAY_INT, ARRAY_INT};
    const struct column_set columns = table_columns(table);
    const struct column *column = NULL;
    for (int c = 0; c < 5 || (column = column_next(&columns, column)); c++) {
        params_array(params, column ? column_array(column) : head[c]);
        for (size_t i = 0; i < writing->count; i++) {
            const struct item *item = &writing->items[i];
            if (!is_in(item, table, round) || (only_changes && !item->changes))
                continue;
            if (column)
                params_add_column(params, column, record_of(item));
            else
                add_head(writing, params, item, c);
        }
        params_array_end(params);
    }
}

static struct item *find_item(struct writing *writing, enum record_table table, int round,
                              const struct id *id)
{
    size_t low = 0, high = writing->count;
    const struct item wanted = {.id = id, .is_entry = table == TABLE_ENTRIES, .place = (size_t)-1};
    while (low < high) { /* to just after the last item with this id */
        size_t middle = low + (high - low) / 2;
        if (compare_items(&writing->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low-- > 0 && id_compare(writing->items[low].id, id) == 0) {
        if (is_in(&writing->items[low], table, round))
            return &writing->items[low];
    }
    return NULL;
}

static enum status insert_rows(struct writing *writing, enum record_table table, int round,
                               size_t *ret_new)
{
    struct params params;
    PGresult *result = NULL;
    params_init(&params);
    add_rows(writing, &params, table, round, false);
    enum status st = link_run(writing->link, table, SQL_INSERT, &params, &result);
    params_release(&params);
    if (st != OK)
        return st;
    *ret_new = (size_t)PQntuples(result);
    for (int i = 0; i < PQntuples(result); i++) {
        struct id id = result_id(result, i, 0);
        struct item *item = find_item(writing, table, round, &id);
        if (!item)
            continue;
        item->is_new = item->changes = true;
        row_of_record(item->record, writing->row);
        stats_changes_add(&writing->stats, writing->row, 1);
    }
    PQclear(result);
    return OK;
}

static void compare_with_old(struct writing *writing, const PGresult *result, int at,
                             enum record_table table, int round)
{
    struct history_row *row = writing->row, *old = writing->old;
    postgres_load_row(result, at, 0, table, old);
    struct item *item = find_item(writing, table, round, history_row_id(old));
    if (!item)
        return;
    row_of_record(item->record, row);
    if (!history_row_gives_way(old, row))
        return;
    item->changes = true;
    stats_changes_add(&writing->stats, old, -1);
    stats_changes_add(&writing->stats, row, 1);
}

static enum status replace_rows(struct writing *writing, enum record_table table, int round)
{
    struct params params;
    PGresult *result = NULL;
    size_t looked_for = 0;
    params_init(&params);
    params_array(&params, ARRAY_ID);
    for (size_t i = 0; i < writing->count; i++) {
        if (is_in(&writing->items[i], table, round) && !writing->items[i].is_new) {
            params_add_id(&params, writing->items[i].id);
            looked_for++;
        }
    }
    params_array_end(&params);
    enum status st = link_run(writing->link, table, SQL_SELECT_OLD, &params, &result);
    params_release(&params);
    if (st != OK)
        return st;
    size_t found = (size_t)PQntuples(result);
    for (int i = 0; i < (int)found; i++)
        compare_with_old(writing, result, i, table, round);
    PQclear(result);
    if (found != looked_for)
        return E_CONFLICT; /* another transaction has removed a row since the insert */
    params_init(&params);
    add_rows(writing, &params, table, round, true); /* writes new rows again, unchanged */
    st = link_do(writing->link, table, SQL_UPDATE, &params);
    params_release(&params);
    return st;
}

/* ---- output ---- */

struct stored_piece {
    struct id run_id;
    int64_t start, at_ms, gap_bytes;
    int seq, stream;
    size_t at, length; /* within output_batch.bytes */
};

struct output_batch {
    struct postgres_link *link;
    struct stored_piece *pieces;
    size_t count, capacity;
    struct strbuf bytes;
};

static enum status flush_output(struct output_batch *batch)
{
    struct params params;
    if (!batch->count)
        return OK;
    enum status st = strbuf_status(&batch->bytes);
    if (st != OK)
        return st;
    params_init(&params);
    params_array(&params, ARRAY_ID);
    for (size_t i = 0; i < batch->count; i++)
        params_add_id(&params, &batch->pieces[i].run_id);
    params_array_end(&params);
    for (int column = 0; column < 5; column++) {
        params_array(&params, ARRAY_INT);
        for (size_t i = 0; i < batch->count; i++) {
            const struct stored_piece *piece = &batch->pieces[i];
            const int64_t numbers[] = {piece->start, piece->seq, piece->stream, piece->at_ms,
                                       piece->gap_bytes};
            params_add_int(&params, numbers[column]);
        }
        params_array_end(&params);
    }
    params_array(&params, ARRAY_BYTES);
    for (size_t i = 0; i < batch->count; i++)
        params_add_bytes(&params, batch->bytes.text + batch->pieces[i].at, batch->pieces[i].length);
    params_array_end(&params);
    st = link_do(batch->link, TABLE_RUNS, SQL_ADD_OUTPUT, &params);
    params_release(&params);
    batch->count = 0;
    strbuf_reset(&batch->bytes);
    return st;
}

static enum status put_piece(void *context, const struct id *run_id, const struct piece *piece)
{
    struct output_batch *batch = context;
    if (array_reserve(&batch->pieces, batch->count, &batch->capacity, sizeof(*batch->pieces)) != OK)
        return E_NOMEM;
    batch->pieces[batch->count++] = (struct stored_piece){
        .run_id = *run_id,
        .start = piece->start,
        .at_ms = piece->chunk.at_ms,
        .gap_bytes = piece->chunk.gap_bytes,
        .seq = piece->seq,
        .stream = (int)piece->chunk.stream,
        .at = batch->bytes.length,
        .length = piece->length,
    };
    strbuf_add(&batch->bytes, piece->bytes, piece->length);
    return batch->bytes.length >= OUTPUT_BATCH ? flush_output(batch) : OK;
}

static bool has_output(const struct item *item, int round)
{
    return is_in(item, TABLE_RUNS, round) && item->changes &&
           record_has_pieces(item->record, item->is_new);
}

/* Deletes stored output that the round replaces. */
static enum status delete_old_output(struct writing *writing, int round)
{
    struct params params;
    size_t count = 0;
    enum status st = OK;
    params_init(&params);
    params_array(&params, ARRAY_ID);
    for (size_t i = 0; i < writing->count; i++) {
        if (has_output(&writing->items[i], round) && !writing->items[i].is_new) {
            params_add_id(&params, writing->items[i].id);
            count++;
        }
    }
    params_array_end(&params);
    if (count)
        st = link_do(writing->link, TABLE_RUNS, SQL_REPLACE_OUTPUT, &params);
    params_release(&params);
    return st;
}

static enum status write_output(struct writing *writing, int round)
{
    struct output_batch batch = {.link = writing->link};
    const struct piece_sink sink = {put_piece, &batch};
    enum status st = delete_old_output(writing, round);
    strbuf_init(&batch.bytes);
    for (size_t i = 0; i < writing->count && st == OK; i++) {
        if (has_output(&writing->items[i], round))
            st = pieces_make(writing->items[i].record, writing->items[i].is_new, writing->piece,
                             &sink);
    }
    if (st == OK)
        st = flush_output(&batch);
    strbuf_release(&batch.bytes);
    free(batch.pieces);
    return st;
}

/* ---- jobs, partitions, statistics ---- */

static enum status add_jobs(struct writing *writing)
{
    struct params params;
    params_init(&params);
    for (int column = 1; column <= 2; column++) {
        params_array(&params, column == 1 ? ARRAY_ID : ARRAY_TEXT);
        for (size_t i = 0; i < writing->count; i++)
            add_head(writing, &params, &writing->items[i], column);
        params_array_end(&params);
    }
    enum status st = link_do(writing->link, TABLE_RUNS, SQL_ADD_JOBS, &params);
    params_release(&params);
    return st;
}

/* Creates the partitions of the records' months, and those of the next month a week ahead. */
static enum status ensure_months(struct writing *writing)
{
    enum status st = OK;
    for (size_t i = 0; i < writing->count && st == OK; i++) {
        int64_t made_ms = history_id_made_ms(writing->items[i].id);
        st = schema_ensure_month(writing->link, month_of_ms(made_ms));
        if (st == OK && history_id_made_ms(writing->items[i].id) < ((int64_t)1 << 47))
            st = schema_ensure_month(writing->link, month_of_ms(made_ms + AHEAD_MS));
    }
    return st;
}

static enum status write_stats(struct writing *writing)
{
    struct params params;
    struct stats_changes *stats = &writing->stats;
    int slot = PQbackendPID(writing->link->conn) % SLOTS;
    stats_changes_merge(stats);
    if (!stats->count)
        return OK;
    params_init(&params);
    params_array(&params, ARRAY_ID);
    for (size_t i = 0; i < stats->count; i++)
        params_add_id(&params, &stats->cells[i].job_uid);
    params_array_end(&params);
    for (int column = 0; column < 10; column++) {
        params_array(&params, ARRAY_INT);
        for (size_t i = 0; i < stats->count; i++) {
            const struct stats_cell *cell = &stats->cells[i];
            const int64_t numbers[] = {cell->hour,     cell->state,
                                       cell->bucket,   id_is_zero(&cell->job_uid) ? slot : 0,
                                       cell->count,    cell->sum_ms,
                                       cell->min_ms,   cell->max_ms,
                                       cell->punctual, cell->late_sum_ms};
            params_add_int(&params, numbers[column]);
        }
        params_array_end(&params);
    }
    enum status st = link_do(writing->link, TABLE_RUNS, SQL_ADD_STATS, &params);
    params_release(&params);
    return st;
}

/* ---- the transaction ---- */

static size_t count_items(const struct writing *writing, enum record_table table, int round)
{
    size_t count = 0;
    for (size_t i = 0; i < writing->count; i++)
        count += is_in(&writing->items[i], table, round);
    return count;
}

static enum status write_round(struct writing *writing, enum record_table table, int round)
{
    size_t count = count_items(writing, table, round), new_count = 0;
    if (!count)
        return OK;
    enum status st = insert_rows(writing, table, round, &new_count);
    if (st == OK && new_count < count)
        st = replace_rows(writing, table, round);
    if (st == OK && table == TABLE_RUNS)
        st = write_output(writing, round);
    return st;
}

static enum status try_append(struct writing *writing, const struct history_append *append)
{
    struct postgres_link *link = writing->link;
    writing->stats.count = 0;
    for (size_t i = 0; i < writing->count; i++)
        writing->items[i].is_new = writing->items[i].changes = false;
    enum status st = ensure_months(writing);
    if (st == OK)
        st = link_command(link,
                          "BEGIN; SELECT pg_advisory_xact_lock_shared(1885692268,"
                          " hashtext(current_schema() || ' jobs'))",
                          NULL);
    if (st == OK && writing->count)
        st = add_jobs(writing);
    for (int round = 0; round < writing->rounds && st == OK; round++) {
        st = write_round(writing, TABLE_RUNS, round);
        if (st == OK)
            st = write_round(writing, TABLE_ENTRIES, round);
    }
    if (st == OK)
        st = write_stats(writing);
    if (st == OK)
        st = postgres_add_changes(link, append);
    return st == OK ? link_command(link, "COMMIT", NULL) : st;
}

enum status postgres_append(struct history_link *base, const struct history_append *append)
{
    struct postgres_link *link = link_of(base);
    struct writing writing = {.link = link};
    if (!append->count)
        return OK;
    writing.items = calloc(append->count, sizeof(*writing.items));
    writing.row = malloc(sizeof(*writing.row));
    writing.old = malloc(sizeof(*writing.old));
    writing.piece = malloc(sizeof(*writing.piece));
    enum status st = stats_changes_reserve(&writing.stats, 2 * append->count);
    if (!writing.items || !writing.row || !writing.old || !writing.piece)
        st = E_NOMEM;
    if (st == OK) {
        make_items(&writing, append);
        st = E_CONFLICT;
    }
    for (int i = 0; i < TRIES && st == E_CONFLICT; i++) {
        st = try_append(&writing, append);
        if (st != OK)
            link_roll_back(link);
        if (st == E_CONFLICT)
            schema_forget_months(link);
    }
    free(writing.items);
    free(writing.row);
    free(writing.old);
    free(writing.piece);
    stats_changes_release(&writing.stats);
    return st;
}
