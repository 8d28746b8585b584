/* Statistics: one document for each job, hour and writer holds the cells that the writer's appends
 * add to. No two writers change the same document, so that none waits for another, and a server
 * without atomic updates loses none. Adding is not idempotent: a document therefore holds the
 * number of the last append added; appends are added in order.
 *
 * Documents of earlier versions are shared by all writers, and have no writer in their _id. They
 * are read like the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mongo/history_mongo_internal.h"

enum { DOCUMENTS_AT_ONCE = 25 };

/* Selects the document by its _id. If the cells may have been added already, a document with this
 * append is excluded: the upsert then tries to insert, and fails with a duplicate _id. */
static void filter_hour(const struct mongo_link *link, const struct stats_cell *cell, bson_t *to)
{
    char uid[ID_TEXT + 1], id[ID_TEXT + 64];
    id_format(&cell->job_uid, uid);
    snprintf(id, sizeof(id), "%s-%lld-%016llx", uid, (long long)cell->hour,
             (unsigned long long)link->writer);
    BSON_APPEND_UTF8(to, "_id", id);
    if (link->pending_is_unsure)
        BCON_APPEND(to, "last", "{", "$not", "{", "$gte", BCON_INT64(link->pending_seq), "}", "}");
}

/* "cells.STATE_BUCKET.FIELD" */
static void add_number(bson_t *to, const struct stats_cell *cell, const char *field, int64_t value)
{
    char path[64];
    snprintf(path, sizeof(path), "cells.%d_%d.%s", cell->state, cell->bucket, field);
    BSON_APPEND_INT64(to, path, value);
}

/* The update that adds the cells of one job and hour. */
static void update_hour(const struct mongo_link *link, const struct stats_cell *cells, size_t count,
                        bson_t *to)
{
    bson_t part;
    BSON_APPEND_DOCUMENT_BEGIN(to, "$inc", &part);
    for (size_t i = 0; i < count; i++) {
        add_number(&part, &cells[i], "count", cells[i].count);
        add_number(&part, &cells[i], "sum_ms", cells[i].sum_ms);
        add_number(&part, &cells[i], "punctual", cells[i].punctual);
        add_number(&part, &cells[i], "late_sum_ms", cells[i].late_sum_ms);
    }
    bson_append_document_end(to, &part);
    BSON_APPEND_DOCUMENT_BEGIN(to, "$min", &part);
    for (size_t i = 0; i < count; i++)
        add_number(&part, &cells[i], "min_ms", cells[i].min_ms);
    bson_append_document_end(to, &part);
    BSON_APPEND_DOCUMENT_BEGIN(to, "$max", &part);
    for (size_t i = 0; i < count; i++)
        add_number(&part, &cells[i], "max_ms", cells[i].max_ms);
    bson_append_document_end(to, &part);
    BCON_APPEND(to, "$set", "{", "last", BCON_INT64(link->pending_seq), "}");
    BSON_APPEND_DOCUMENT_BEGIN(to, "$setOnInsert", &part);
    mongo_add_id(&part, "job_uid", &cells->job_uid);
    BSON_APPEND_INT64(&part, "hour", cells->hour);
    bson_append_document_end(to, &part);
}

/* The number of cells, from the first on, with the same job and hour. */
static size_t same_hour(const struct stats_cell *cells, size_t count)
{
    size_t same = 1;
    while (same < count && cells[same].hour == cells->hour &&
           id_compare(&cells[same].job_uid, &cells->job_uid) == 0)
        same++;
    return same;
}

/* A duplicate _id: the cells were added by an earlier attempt. */
static void ignore_existing(void *context, size_t place)
{
    (void)context;
    (void)place;
}

/* Adds the cells of up to DOCUMENTS_AT_ONCE documents; *ret_added: the number of cells. */
static enum status add_some(struct mongo_link *link, const struct stats_cell *pending, size_t left,
                            size_t *ret_added)
{
    bson_t opts = BSON_INITIALIZER;
    bson_error_t error;
    size_t added = 0;
    BSON_APPEND_BOOL(&opts, "upsert", true);
    mongoc_bulk_operation_t *bulk = mongo_bulk(link, MONGO_STATS);
    for (size_t i = 0, count; i < DOCUMENTS_AT_ONCE && added < left; i++, added += count) {
        const struct stats_cell *cells = &pending[added];
        bson_t filter = BSON_INITIALIZER, update = BSON_INITIALIZER;
        count = same_hour(cells, left - added);
        filter_hour(link, cells, &filter);
        update_hour(link, cells, count, &update);
        mongoc_bulk_operation_update_one_with_opts(bulk, &filter, &update, &opts, &error);
        bson_destroy(&filter);
        bson_destroy(&update);
    }
    bson_destroy(&opts);
    *ret_added = added;
    return mongo_bulk_do(link, bulk, ignore_existing, NULL);
}

/* Works in small bulks, so that with a slow server each attempt makes progress before a time-out.
 */
enum status mongo_stats_settle(struct mongo_link *link)
{
    struct stats_changes *pending = &link->pending;
    enum status st = OK;
    while (pending->count && st == OK) {
        size_t added;
        st = add_some(link, pending->cells, pending->count, &added);
        if (st != OK)
            break;
        pending->count -= added;
        memmove(pending->cells, pending->cells + added, pending->count * sizeof(*pending->cells));
    }
    link->pending_is_unsure = st != OK;
    return st;
}

/* ---- reading ---- */

/* Loads a cell from a field with the name "STATE_BUCKET". */
static bool load_cell(const bson_iter_t *iter, int64_t hour, struct stats_cell *ret)
{
    bson_t cell;
    const uint8_t *bytes;
    uint32_t length;
    char *end;
    *ret = (struct stats_cell){.hour = hour, .state = (int)strtol(bson_iter_key(iter), &end, 10)};
    if (*end != '_' || !BSON_ITER_HOLDS_DOCUMENT(iter))
        return false;
    ret->bucket = (int)strtol(end + 1, NULL, 10);
    bson_iter_document(iter, &length, &bytes);
    if (!bson_init_static(&cell, bytes, length))
        return false;
    ret->count = mongo_get_int(&cell, "count");
    ret->sum_ms = mongo_get_int(&cell, "sum_ms");
    ret->min_ms = mongo_get_int(&cell, "min_ms");
    ret->max_ms = mongo_get_int(&cell, "max_ms");
    ret->punctual = mongo_get_int(&cell, "punctual");
    ret->late_sum_ms = mongo_get_int(&cell, "late_sum_ms");
    return true;
}

/* Adds the cells of a document to those of other writers in the same hour. */
static enum status gather(const bson_t *document, int64_t hour, struct stats_changes *to)
{
    bson_iter_t iter, cells;
    struct stats_cell cell;
    enum status st = OK;
    if (!bson_iter_init_find(&iter, document, "cells") || !bson_iter_recurse(&iter, &cells))
        return OK;
    while (st == OK && bson_iter_next(&cells)) {
        if (!load_cell(&cells, hour, &cell))
            continue;
        st = stats_changes_reserve(to, 1);
        if (st == OK)
            to->cells[to->count++] = cell;
    }
    return st;
}

/* Sums over the writers first: one may have subtracted a run that another had added. */
static enum status answer_hour(struct stats_changes *hour, struct history_stats *answer)
{
    enum status st = OK;
    stats_changes_merge(hour);
    for (size_t i = 0; i < hour->count && st == OK; i++)
        st = stats_answer_add(answer, &hour->cells[i]);
    hour->count = 0;
    return st;
}

/* The cursor returns documents in the order of hours. */
static enum status answer_all(struct mongo_cursor *cursor, struct history_stats *answer)
{
    struct stats_changes cells = {0};
    const bson_t *document;
    int64_t hour = 0;
    enum status st;
    while ((st = mongo_next(cursor, &document)) == OK) {
        int64_t next_hour = mongo_get_int(document, "hour");
        if (next_hour != hour)
            st = answer_hour(&cells, answer);
        hour = next_hour;
        if (st == OK)
            st = gather(document, hour, &cells);
        if (st != OK)
            break;
    }
    if (st == E_NOT_FOUND)
        st = answer_hour(&cells, answer);
    stats_changes_release(&cells);
    return st;
}

enum status mongo_stats_read(struct mongo_link *link, struct history_stats *stats)
{
    struct mongo_cursor cursor;
    int64_t from, to;
    stats_request_hours(stats, &from, &to);
    bson_t filter = BSON_INITIALIZER;
    mongo_add_id(&filter, "job_uid", &stats->job_uid);
    BCON_APPEND(&filter, "hour", "{", "$gte", BCON_INT64(from), "$lt", BCON_INT64(to), "}");
    bson_t *opts = mongo_opts("hour", 1, 0);
    mongo_find(link, MONGO_STATS, &filter, opts, &cursor);
    enum status st = answer_all(&cursor, stats);
    mongo_cursor_release(&cursor);
    bson_destroy(&filter);
    bson_destroy(opts);
    return st;
}
