/* Appends: runs and entries first, then output, then statistics. A reader may see the end of a run
 * before its output, but never output without its run.
 *
 * Several nodes write at the same time, sometimes the same run. A document is inserted if there is
 * none, or replaced if it is unchanged since it was read; else it is read again. The writer that
 * inserts or replaces a document updates the statistics. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mongo/history_mongo_internal.h"

enum {
    TRIES = 8,
    OUTPUT_BATCH = 4 * 1024 * 1024, /* bytes of output in one bulk */
};

/* The records of the append with one id, folded into one row. */
struct item {
    struct history_row row;
    const struct history_record *output; /* the record with the output to keep; NULL: no output */
    int64_t kept_bytes;                  /* size of that output, or of the stored output */
    bool exists;                         /* a document with the id is stored already */
    bool writes_output;
};

struct writing {
    struct mongo_link *link;
    struct item *items;
    size_t count;
    struct piece *piece;
    mongoc_bulk_operation_t *bulk; /* of output; NULL: empty */
    size_t bulk_bytes;
    int64_t ended_ms; /* of the run whose output is being written */
};

/* ---- items ---- */

static int compare_items(const void *a, const void *b)
{
    const struct item *left = a, *right = b;
    return id_compare(history_row_id(&left->row), history_row_id(&right->row));
}

static int64_t bytes_of(const struct history_record *record)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < record->chunk_count; i++)
        bytes += (int64_t)record->chunks[i].length;
    return bytes;
}

static enum status add_item(const struct mongo_link *link, const struct item *item, bson_t *to)
{
    enum status st = mongo_add_row(to, &item->row, link->writer, link->seq);
    if (item->kept_bytes)
        BSON_APPEND_INT64(to, "kept_bytes", item->kept_bytes);
    return st;
}

/* A later record with the same id replaces the item by the rules of history.h. */
static void fold(struct item *to, const struct item *later)
{
    if (!history_row_gives_way(&to->row, &later->row))
        return;
    struct item before = *to;
    *to = *later;
    if (!later->output || !later->output->chunk_count) {
        to->output = before.output;
        to->kept_bytes = before.kept_bytes;
    }
}

static int compare_in_order(const void *a, const void *b)
{
    const struct history_record *const *left = a, *const *right = b;
    const struct id *left_id = (*left)->entry ? &(*left)->entry->id : &(*left)->run->id;
    const struct id *right_id = (*right)->entry ? &(*right)->entry->id : &(*right)->run->id;
    int order = id_compare(left_id, right_id);
    return order ? order : (*left > *right) - (*left < *right);
}

static enum status make_items(struct writing *writing, const struct history_append *append)
{
    size_t count = 0;
    const struct history_record **sorted = calloc(append->count, sizeof(*sorted));
    writing->items = calloc(append->count, sizeof(*writing->items));
    if (!sorted || !writing->items) {
        free(sorted);
        return E_NOMEM;
    }
    for (size_t i = 0; i < append->count; i++) {
        if (!append->records[i].change)
            sorted[count++] = &append->records[i];
    }
    qsort(sorted, count, sizeof(*sorted), compare_in_order);
    for (size_t i = 0; i < count; i++) {
        struct item *item = &writing->items[writing->count];
        row_of_record(sorted[i], &item->row);
        item->output = record_has_pieces(sorted[i], true) ? sorted[i] : NULL;
        item->kept_bytes = bytes_of(sorted[i]);
        if (i && compare_items(item - 1, item) == 0)
            fold(item - 1, item);
        else
            writing->count++;
    }
    free(sorted);
    return OK;
}

/* ---- documents ---- */

static void note_existing(void *context, size_t place)
{
    struct writing *writing = context;
    if (place < writing->count)
        writing->items[place].exists = true;
}

static void count_row(struct writing *writing, const struct history_row *row, int sign)
{
    stats_changes_add(&writing->link->pending, row, sign);
}

static enum status insert_all(struct writing *writing)
{
    struct mongo_link *link = writing->link;
    mongoc_bulk_operation_t *bulk = mongo_bulk(link, MONGO_RUNS);
    bson_error_t error;
    enum status st = OK;
    for (size_t i = 0; i < writing->count && st == OK; i++) {
        bson_t document = BSON_INITIALIZER;
        st = add_item(link, &writing->items[i], &document);
        if (st == OK && !mongoc_bulk_operation_insert_with_opts(bulk, &document, NULL, &error))
            st = mongo_fail(link, &error);
        bson_destroy(&document);
    }
    if (st != OK) {
        mongoc_bulk_operation_destroy(bulk);
        return st;
    }
    st = mongo_bulk_do(link, bulk, note_existing, writing);
    for (size_t i = 0; i < writing->count && st == OK; i++) {
        struct item *item = &writing->items[i];
        item->writes_output = item->output && !item->exists;
        if (!item->exists)
            count_row(writing, &item->row, 1);
    }
    return st;
}

/* Whether an append of this writer wrote the document and failed before the statistics. */
static bool is_uncounted(const struct mongo_link *link, const bson_t *document)
{
    int64_t seq = mongo_get_int(document, "seq");
    bool found = false;
    for (size_t i = 0; i < MONGO_FAILED_MAX && !found; i++)
        found = link->failed[i] == seq;
    return found && seq && mongo_get_int(document, "writer") == link->writer;
}

/* E_CONFLICT: the document was changed since it was read. */
static enum status replace(struct writing *writing, const struct item *item, const bson_t *old)
{
    struct mongo_link *link = writing->link;
    bson_t filter = BSON_INITIALIZER, document = BSON_INITIALIZER, reply = BSON_INITIALIZER;
    bson_error_t error;
    mongo_add_id(&filter, "_id", history_row_id(&item->row));
    BSON_APPEND_INT64(&filter, "writer", mongo_get_int(old, "writer"));
    BSON_APPEND_INT64(&filter, "seq", mongo_get_int(old, "seq"));
    enum status st = add_item(link, item, &document);
    if (st == OK) {
        bson_destroy(&reply);
        bool done = mongoc_collection_replace_one(link->collections[MONGO_RUNS], &filter, &document,
                                                  NULL, &reply, &error);
        st = done ? OK : mongo_fail(link, &error);
    }
    if (st == OK && !mongo_get_int(&reply, "matchedCount"))
        st = E_CONFLICT;
    bson_destroy(&filter);
    bson_destroy(&document);
    bson_destroy(&reply);
    return st;
}

/* Replaces the stored document if history_row_gives_way allows it, and updates the statistics. */
static enum status amend(struct writing *writing, struct item *item, const bson_t *document)
{
    struct history_row *old = calloc(1, sizeof(*old));
    if (!old)
        return E_NOMEM;
    mongo_load_row(document, old);
    if (!item->output || !item->output->chunk_count)
        item->kept_bytes = mongo_get_int(document, "kept_bytes");
    bool is_counted = !is_uncounted(writing->link, document);
    enum status st = OK;
    if (history_row_gives_way(old, &item->row)) {
        st = replace(writing, item, document);
        if (st == OK) {
            item->writes_output = item->output != NULL;
            count_row(writing, &item->row, 1);
        }
        if (st == OK && is_counted)
            count_row(writing, old, -1);
    }
    free(old);
    return st;
}

/* Inserts the item after all: its document was removed since the first attempt. */
static enum status insert_again(struct writing *writing, struct item *item)
{
    struct mongo_link *link = writing->link;
    mongoc_bulk_operation_t *bulk = mongo_bulk(link, MONGO_RUNS);
    struct writing one = {.link = link, .items = item, .count = 1};
    bson_t document = BSON_INITIALIZER;
    bson_error_t error;
    enum status st = add_item(link, item, &document);
    item->exists = false;
    if (st == OK && !mongoc_bulk_operation_insert_with_opts(bulk, &document, NULL, &error))
        st = mongo_fail(link, &error);
    if (st == OK)
        st = mongo_bulk_do(link, bulk, note_existing, &one);
    else
        mongoc_bulk_operation_destroy(bulk);
    bson_destroy(&document);
    if (st == OK && item->exists)
        return E_CONFLICT;
    if (st == OK) {
        item->writes_output = item->output != NULL;
        count_row(writing, &item->row, 1);
    }
    return st;
}

static enum status amend_until_done(struct writing *writing, struct item *item)
{
    enum status st = E_CONFLICT;
    for (int i = 0; i < TRIES && st == E_CONFLICT; i++) {
        bson_t filter = BSON_INITIALIZER, document;
        mongo_add_id(&filter, "_id", history_row_id(&item->row));
        st = mongo_find_one(writing->link, MONGO_RUNS, &filter, NULL, &document);
        bson_destroy(&filter);
        if (st == OK) {
            st = amend(writing, item, &document);
            bson_destroy(&document);
        } else if (st == E_NOT_FOUND) {
            st = insert_again(writing, item);
        }
    }
    return st;
}

/* ---- output ---- */

static enum status flush_output(struct writing *writing)
{
    mongoc_bulk_operation_t *bulk = writing->bulk;
    writing->bulk = NULL;
    writing->bulk_bytes = 0;
    return bulk ? mongo_bulk_do(writing->link, bulk, NULL, NULL) : OK;
}

static void add_piece(bson_t *to, const struct id *run_id, const struct piece *piece,
                      int64_t ended_ms)
{
    char run[ID_TEXT + 1], id[ID_TEXT + 16];
    id_format(run_id, run);
    snprintf(id, sizeof(id), "%s-%d", run, piece->seq);
    BSON_APPEND_UTF8(to, "_id", id);
    BSON_APPEND_UTF8(to, "run", run);
    BSON_APPEND_INT32(to, "n", piece->seq);
    BSON_APPEND_INT64(to, "start", piece->start);
    BSON_APPEND_INT64(to, "length", (int64_t)piece->length);
    BSON_APPEND_INT32(to, "stream", (int32_t)piece->chunk.stream);
    BSON_APPEND_INT64(to, "at_ms", piece->chunk.at_ms);
    BSON_APPEND_INT64(to, "gap_bytes", piece->chunk.gap_bytes);
    BSON_APPEND_DATE_TIME(to, "ended", ended_ms);
    bson_append_binary(to, "bytes", -1, BSON_SUBTYPE_BINARY, (const uint8_t *)piece->bytes,
                       (uint32_t)piece->length);
}

/* A piece of input never changes: an append that failed half-way may have written it. */
static bool put_input(struct writing *writing, const bson_t *document, bson_error_t *error)
{
    bson_iter_t id;
    bson_t selector = BSON_INITIALIZER, *opts = BCON_NEW("upsert", BCON_BOOL(true));
    if (bson_iter_init_find(&id, document, "_id"))
        bson_append_iter(&selector, "_id", -1, &id);
    bool added = mongoc_bulk_operation_replace_one_with_opts(writing->bulk, &selector, document,
                                                             opts, error);
    bson_destroy(&selector);
    bson_destroy(opts);
    return added;
}

static enum status put_piece(void *context, const struct id *run_id, const struct piece *piece)
{
    struct writing *writing = context;
    bson_t document = BSON_INITIALIZER;
    bson_error_t error;
    if (!writing->bulk)
        writing->bulk = mongo_bulk(writing->link, MONGO_OUTPUT);
    add_piece(&document, run_id, piece, writing->ended_ms);
    bool added =
        piece->chunk.stream == OUTPUT_INPUT
            ? put_input(writing, &document, &error)
            : mongoc_bulk_operation_insert_with_opts(writing->bulk, &document, NULL, &error);
    writing->bulk_bytes += document.len;
    bson_destroy(&document);
    if (!added)
        return mongo_fail(writing->link, &error);
    return writing->bulk_bytes >= OUTPUT_BATCH ? flush_output(writing) : OK;
}

/* Deletes stored output that the append replaces. */
static enum status delete_old_output(struct writing *writing)
{
    int64_t gone;
    size_t count = 0;
    bson_t filter = BSON_INITIALIZER;
    struct id *ids = calloc(writing->count, sizeof(*ids));
    if (!ids)
        return E_NOMEM;
    for (size_t i = 0; i < writing->count; i++) {
        const struct item *item = &writing->items[i];
        if (item->writes_output && item->exists && item->output->chunk_count)
            ids[count++] = writing->items[i].row.run.id;
    }
    mongo_add_ids(&filter, "run", ids, count);
    BCON_APPEND(&filter, "start", "{", "$gte", BCON_INT64(0), "}");
    enum status st = count ? mongo_delete(writing->link, MONGO_OUTPUT, &filter, &gone) : OK;
    bson_destroy(&filter);
    free(ids);
    return st;
}

static enum status write_output(struct writing *writing)
{
    const struct piece_sink sink = {put_piece, writing};
    enum status st = delete_old_output(writing);
    for (size_t i = 0; i < writing->count && st == OK; i++) {
        const struct item *item = &writing->items[i];
        writing->ended_ms = history_row_ended_ms(&item->row);
        if (item->writes_output)
            st = pieces_make(item->output, true, writing->piece, &sink);
    }
    if (st == OK)
        return flush_output(writing);
    if (writing->bulk)
        mongoc_bulk_operation_destroy(writing->bulk);
    return st;
}

/* ---- the whole ---- */

static enum status write_all(struct writing *writing)
{
    enum status st = writing->count ? insert_all(writing) : OK;
    for (size_t i = 0; i < writing->count && st == OK; i++) {
        if (writing->items[i].exists)
            st = amend_until_done(writing, &writing->items[i]);
    }
    return st == OK && writing->count ? write_output(writing) : st;
}

/* It is unknown which documents of a failed append are stored: those found later count as new. */
static void note_failed(struct mongo_link *link)
{
    link->failed[link->failed_next++ % MONGO_FAILED_MAX] = link->seq;
    link->pending.count = 0;
}

enum status mongo_append(struct history_link *base, const struct history_append *append)
{
    struct mongo_link *link = mongo_link_of(base);
    struct writing writing = {.link = link};
    if (!append->count)
        return OK;
    enum status st = mongo_stats_settle(link);
    if (st != OK)
        return st;
    writing.piece = malloc(sizeof(*writing.piece));
    st = writing.piece ? make_items(&writing, append) : E_NOMEM;
    if (st == OK)
        st = stats_changes_reserve(&link->pending, 2 * writing.count);
    if (st == OK) {
        link->seq++;
        st = write_all(&writing);
        if (st != OK)
            note_failed(link);
    }
    if (st == OK) {
        link->pending_seq = link->seq;
        stats_changes_merge(&link->pending);
        st = mongo_stats_settle(link);
    }
    if (st == OK)
        st = mongo_write_changes(link, append);
    free(writing.items);
    free(writing.piece);
    return st;
}
