/* Rows as documents, and helpers for fields and filters. */
#include <string.h>

#include "mongo/history_mongo_internal.h"

/* ---- fields ---- */

void mongo_add_id(bson_t *to, const char *key, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    BSON_APPEND_UTF8(to, key, text);
}

void mongo_add_id_bound(bson_t *to, const char *key, const char *op, const struct id *id)
{
    bson_t bound;
    BSON_APPEND_DOCUMENT_BEGIN(to, key, &bound);
    mongo_add_id(&bound, op, id);
    bson_append_document_end(to, &bound);
}

void mongo_add_ids(bson_t *to, const char *key, const struct id *ids, size_t count)
{
    bson_t in, list;
    char buffer[16];
    const char *place;
    BSON_APPEND_DOCUMENT_BEGIN(to, key, &in);
    BSON_APPEND_ARRAY_BEGIN(&in, "$in", &list);
    for (size_t i = 0; i < count; i++) {
        bson_uint32_to_string((uint32_t)i, &place, buffer, sizeof(buffer));
        mongo_add_id(&list, place, &ids[i]);
    }
    bson_append_array_end(&in, &list);
    bson_append_document_end(to, &in);
}

struct id mongo_get_id(const bson_t *document, const char *key)
{
    bson_iter_t iter;
    struct id id;
    if (!bson_iter_init_find(&iter, document, key) || !BSON_ITER_HOLDS_UTF8(&iter) ||
        id_parse(bson_iter_utf8(&iter, NULL), &id) != OK)
        return (struct id){{0}};
    return id;
}

int64_t mongo_get_int(const bson_t *document, const char *key)
{
    bson_iter_t iter;
    return bson_iter_init_find(&iter, document, key) ? bson_iter_as_int64(&iter) : 0;
}

bson_t *mongo_opts(const char *sort_by, int direction, int64_t limit)
{
    bson_t *opts = bson_new();
    bson_t sort;
    BSON_APPEND_DOCUMENT_BEGIN(opts, "sort", &sort);
    BSON_APPEND_INT32(&sort, sort_by, direction);
    bson_append_document_end(opts, &sort);
    BSON_APPEND_INT64(opts, "limit", limit);
    return opts;
}

void mongo_add_set(bson_t *to, const char *key, uint64_t set)
{
    bson_t in, list;
    BSON_APPEND_DOCUMENT_BEGIN(to, key, &in);
    BSON_APPEND_ARRAY_BEGIN(&in, "$in", &list);
    for (int number = 0, count = 0; number < 64; number++) {
        char place[16];
        const char *name;
        if (!(set >> number & 1))
            continue;
        bson_uint32_to_string((uint32_t)count++, &name, place, sizeof(place));
        BSON_APPEND_INT32(&list, name, number);
    }
    bson_append_array_end(&in, &list);
    bson_append_document_end(to, &in);
}

void mongo_add_states(bson_t *to, unsigned states)
{
    mongo_add_set(to, "state", states);
}

void mongo_add_kinds(bson_t *to, bool runs, bool entries)
{
    mongo_add_set(to, "kind", (runs ? 1u << TABLE_RUNS : 0) | (entries ? 1u << TABLE_ENTRIES : 0));
}

/* ---- searches ---- */

/* Adds a regular expression that matches the text literally. */
static void add_pattern(bson_t *to, const char *key, const char *text)
{
    struct strbuf pattern;
    bson_t field;
    strbuf_init(&pattern);
    for (const char *c = text; *c; c++)
        strbuf_addf(&pattern, strchr("\\^$.|?*+()[]{}", *c) ? "\\%c" : "%c", *c);
    BSON_APPEND_DOCUMENT_BEGIN(to, key, &field);
    BSON_APPEND_REGEX(&field, "$regex", pattern.failed ? "" : pattern.text, "i");
    bson_append_document_end(to, &field);
    strbuf_release(&pattern);
}

void mongo_add_text_search(bson_t *to, const char *text, const char *const *texts,
                           const char *number, uint64_t numbers)
{
    bson_t any, part;
    char buffer[16];
    const char *place;
    uint32_t count = 0;
    BSON_APPEND_ARRAY_BEGIN(to, "$or", &any);
    for (; *texts; texts++) {
        bson_uint32_to_string(count++, &place, buffer, sizeof(buffer));
        BSON_APPEND_DOCUMENT_BEGIN(&any, place, &part);
        add_pattern(&part, *texts, text);
        bson_append_document_end(&any, &part);
    }
    bson_uint32_to_string(count, &place, buffer, sizeof(buffer));
    BSON_APPEND_DOCUMENT_BEGIN(&any, place, &part);
    mongo_add_set(&part, number, numbers);
    bson_append_document_end(&any, &part);
    bson_append_array_end(to, &any);
}

enum status mongo_find_nth(struct mongo_link *link, enum mongo_collection collection,
                           const bson_t *filter, int64_t nth, struct id *ret)
{
    bson_t found;
    bson_t *opts = mongo_opts("_id", -1, 1);
    BSON_APPEND_INT64(opts, "skip", nth - 1);
    BCON_APPEND(opts, "projection", "{", "_id", BCON_INT32(1), "}");
    enum status st = mongo_find_one(link, collection, filter, opts, &found);
    bson_destroy(opts);
    if (st == OK) {
        *ret = mongo_get_id(&found, "_id");
        bson_destroy(&found);
    } else if (st == E_NOT_FOUND) {
        *ret = (struct id){{0}};
        st = OK;
    }
    return st;
}

/* ---- rows ---- */

enum status mongo_add_text(bson_t *to, const char *key, const char *text, size_t length)
{
    struct strbuf clean;
    strbuf_init(&clean);
    text_add_clean(&clean, text, length);
    enum status st = strbuf_status(&clean);
    if (st == OK)
        bson_append_utf8(to, key, -1, clean.text, (int)clean.length);
    strbuf_release(&clean);
    return st;
}

static const void *record_of(const struct history_row *row)
{
    return row->is_entry ? (const void *)&row->entry : (const void *)&row->run;
}

/* A run's tick is stored as from_ms and to_ms, so that one filter serves runs and entries. */
static void add_span(bson_t *to, const struct history_row *row)
{
    if (!row->is_entry) {
        BSON_APPEND_INT64(to, "from_ms", row->run.tick_ms);
        BSON_APPEND_INT64(to, "to_ms", row->run.tick_ms);
    }
    if (row_stray(row))
        BSON_APPEND_INT64(to, "stray_ms", row->is_entry ? row->entry.to_ms : row->run.tick_ms);
}

static enum status add_column(bson_t *to, const struct column *column, const void *record)
{
    size_t length;
    if (column_is_text(column)) {
        const char *text = column_read_text(column, record, &length);
        return mongo_add_text(to, column->name, text, length);
    }
    if (column->kind == COLUMN_ID) {
        mongo_add_id(to, column->name, column_field(column, record));
        return OK;
    }
    int64_t number = column_read_int(column, record);
    if (column->kind == COLUMN_BOOL)
        BSON_APPEND_BOOL(to, column->name, number != 0);
    else if (column_is_int(column))
        BSON_APPEND_INT32(to, column->name, (int32_t)number);
    else
        BSON_APPEND_INT64(to, column->name, number);
    return OK;
}

enum status mongo_add_columns(bson_t *to, enum record_table table, const void *record)
{
    const struct column_set columns = record_columns(table, record);
    enum status st = OK;
    for (const struct column *column = NULL; st == OK && (column = column_next(&columns, column));)
        st = add_column(to, column, record);
    return st;
}

enum status mongo_add_row(bson_t *to, const struct history_row *row, int64_t writer, int64_t seq)
{
    const char *name = history_row_job_name(row);
    mongo_add_id(to, "_id", history_row_id(row));
    BSON_APPEND_INT32(to, "kind", (int32_t)row_table(row));
    mongo_add_id(to, "job_uid", history_row_job_uid(row));
    enum status st = mongo_add_text(to, "job_name", name, strlen(name));
    if (st == OK)
        st = mongo_add_columns(to, row_table(row), record_of(row));
    add_span(to, row);
    if (!row->is_entry && row->run.started_ms && row->run.finished_ms)
        BSON_APPEND_INT64(to, "duration_ms", row->run.finished_ms - row->run.started_ms);
    BSON_APPEND_DATE_TIME(to, "ended", history_row_ended_ms(row));
    BSON_APPEND_INT64(to, "writer", writer);
    BSON_APPEND_INT64(to, "seq", seq);
    return st;
}

static void load_column(const bson_iter_t *iter, const struct column *column, void *record)
{
    uint32_t length = 0;
    struct id id;
    if (!column_is_text(column) && column->kind != COLUMN_ID) {
        column_write_int(column, record, bson_iter_as_int64(iter));
        return;
    }
    const char *text = BSON_ITER_HOLDS_UTF8(iter) ? bson_iter_utf8(iter, &length) : "";
    if (column->kind == COLUMN_ID && id_parse(text, &id) == OK)
        column_write_id(column, record, &id);
    if (column_is_text(column))
        column_write_text(column, record, text, length);
}

/* One pass finds all fields: they are in the order in which mongo_add_columns adds them. */
void mongo_load_columns(const bson_t *document, enum record_table table, void *record)
{
    const struct column_set columns = table_columns(table);
    const struct column *next = column_next(&columns, NULL);
    bson_iter_t iter;
    if (!bson_iter_init(&iter, document))
        return;
    while (next && bson_iter_next(&iter)) {
        if (strcmp(bson_iter_key(&iter), next->name) == 0) {
            load_column(&iter, next, record);
            next = column_next(&columns, next);
        }
    }
}

void mongo_load_row(const bson_t *document, struct history_row *ret)
{
    ret->is_entry = mongo_get_int(document, "kind") == TABLE_ENTRIES;
    const struct column_set head = table_head(row_table(ret));
    for (const struct column *column = NULL; (column = column_next(&head, column));) {
        bson_iter_t iter;
        struct id id = mongo_get_id(document, column == head.columns ? "_id" : column->name);
        if (column->kind == COLUMN_ID)
            column_write_id(column, row_record(ret), &id);
        else if (bson_iter_init_find(&iter, document, column->name))
            load_column(&iter, column, row_record(ret));
    }
    mongo_load_columns(document, row_table(ret), row_record(ret));
}
