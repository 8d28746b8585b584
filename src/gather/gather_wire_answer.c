/* Encodes answers. Members of runs, entries and changes have the names of the tables' columns. */
#include <stdlib.h>
#include <string.h>

#include "gather_wire.h"
#include "history_columns.h"

/* ---- records ---- */

static json_t *clean_text(const char *text, size_t length)
{
    json_t *value = json_stringn(text, length);
    if (value)
        return value;
    struct strbuf clean; /* it is not UTF-8 */
    strbuf_init(&clean);
    text_add_clean(&clean, text, length);
    if (strbuf_status(&clean) == OK)
        value = json_stringn(clean.text, clean.length);
    strbuf_release(&clean);
    return value;
}

static json_t *encode_column(const struct column *column, const void *record)
{
    size_t length;
    if (column->kind == COLUMN_ID)
        return json_id(column_field(column, record));
    if (!column_is_text(column))
        return json_integer(column_read_int(column, record));
    const char *text = column_read_text(column, record, &length);
    return clean_text(text, length);
}

static int encode_columns(struct column_set columns, const void *record, json_t *to)
{
    int failed = !to;
    for (const struct column *column = NULL; !failed && (column = column_next(&columns, column));)
        failed = json_object_set_new(to, column->name, encode_column(column, record));
    return failed;
}

/* The ids, and the job's name, come last. */
static json_t *encode_record(enum record_table table, const void *record)
{
    json_t *value = json_object();
    if (encode_columns(record_columns(table, record), record, value) == 0 &&
        encode_columns(table_head(table), record, value) == 0)
        return value;
    json_decref(value);
    return NULL;
}

/* Words that only a newer node has stay as they are. */
static void decode_record(const json_t *json, enum record_table table, void *record)
{
    const struct column_set columns = table_record(table);
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        const json_t *value = json_object_get(json, column->name);
        struct id id;
        if (column->kind == COLUMN_ID) {
            wire_read_id(json, column->name, &id);
            column_write_id(column, record, &id);
        } else if (!column_is_text(column)) {
            column_write_int(column, record, json_integer_value(value));
        } else if (json_is_string(value)) {
            column_write_text(column, record, json_string_value(value), json_string_length(value));
        }
    }
}

json_t *wire_row(const struct history_row *row)
{
    json_t *value =
        encode_record(row_table(row), row->is_entry ? (const void *)&row->entry : &row->run);
    if (value && json_object_set_new(value, "is_entry", json_boolean(row->is_entry)) == 0 &&
        (!row->is_spooled || json_object_set_new(value, "is_spooled", json_true()) == 0))
        return value;
    json_decref(value);
    return NULL;
}

enum status wire_read_row(const json_t *json, struct history_row *ret)
{
    *ret = (struct history_row){.is_entry = json_is_true(json_object_get(json, "is_entry")),
                                .is_spooled = json_is_true(json_object_get(json, "is_spooled"))};
    decode_record(json, row_table(ret), row_record(ret));
    return id_is_zero(history_row_id(ret)) ? E_CORRUPT : OK;
}

static json_t *encode_change(const struct change_record *change)
{
    json_t *value = encode_record(TABLE_CHANGES, change);
    int failed = !value;
    if (change->before)
        failed = failed || json_object_set_new(value, "before",
                                               clean_text(change->before, strlen(change->before)));
    if (change->after)
        failed = failed || json_object_set_new(value, "after",
                                               clean_text(change->after, strlen(change->after)));
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

static enum status decode_change(const json_t *json, struct change_record *ret)
{
    struct change_record change = {0}, copy;
    decode_record(json, TABLE_CHANGES, &change);
    change.at_ms = history_id_made_ms(&change.id);
    change.before = (char *)wire_text(json, "before");
    change.after = (char *)wire_text(json, "after");
    if (id_is_zero(&change.id))
        return E_CORRUPT;
    enum status st = change_record_copy(&change, true, &copy);
    if (st == OK)
        *ret = copy;
    return st;
}

/* ---- lists ---- */

/* Takes `value` over; NULL fails. */
static void append(json_t **list, json_t *value)
{
    if (*list && json_array_append_new(*list, value) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

static json_t *encode_read(const struct history_read *read)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < read->count && rows; i++)
        append(&rows, wire_row(&read->rows[i]));
    return json_pack("{s:o, s:b, s:o}", "rows", rows, "more", read->more, "next",
                     read->more ? json_id(&read->next) : json_null());
}

/* Allocates for a list; also for an empty one. */
static enum status make_room(const json_t *list, size_t size, void *ret)
{
    void *room = json_is_array(list) ? calloc(json_array_size(list) + 1, size) : NULL;
    if (!room)
        return json_is_array(list) ? E_NOMEM : E_CORRUPT;
    memcpy(ret, &room, sizeof(room));
    return OK;
}

static enum status decode_read(const json_t *json, struct history_read *ret)
{
    const json_t *rows = json_object_get(json, "rows"), *row;
    size_t i;
    enum status st = make_room(rows, sizeof(*ret->rows), &ret->rows);
    json_array_foreach (rows, i, row) {
        st = st == OK ? wire_read_row(row, &ret->rows[i]) : st;
    }
    if (st != OK)
        return st;
    ret->count = json_array_size(rows);
    ret->more = json_is_true(json_object_get(json, "more"));
    wire_read_id(json, "next", &ret->next);
    return ret->more && id_is_zero(&ret->next) ? E_CORRUPT : OK;
}

static json_t *encode_changes(const struct history_changes *changes)
{
    json_t *items = json_array();
    for (size_t i = 0; i < changes->count && items; i++)
        append(&items, encode_change(&changes->items[i]));
    return json_pack("{s:o, s:b, s:o}", "items", items, "more", changes->more, "next",
                     changes->more ? json_id(&changes->next) : json_null());
}

static enum status decode_changes(const json_t *json, struct history_changes *ret)
{
    const json_t *items = json_object_get(json, "items"), *item;
    size_t i;
    enum status st = make_room(items, sizeof(*ret->items), &ret->items);
    json_array_foreach (items, i, item) {
        st = st == OK ? decode_change(item, &ret->items[i]) : st;
        ret->count += st == OK;
    }
    ret->more = json_is_true(json_object_get(json, "more"));
    wire_read_id(json, "next", &ret->next);
    if (st == OK && ret->more && id_is_zero(&ret->next))
        st = E_CORRUPT;
    return st;
}

/* ---- output ---- */

static json_t *encode_log(const struct history_log *log)
{
    struct history_row row = {.is_spooled = log->is_spooled, .run = log->run};
    return json_pack("{s:o, s:o, s:I, s:s*}", "run", log->found ? wire_row(&row) : json_null(),
                     "chunks", wire_chunks(log->chunks, log->count), "kept_bytes",
                     (json_int_t)log->kept_bytes, "input", log->input);
}

static enum status decode_log(const json_t *json, struct history_log *ret)
{
    const json_t *run = json_object_get(json, "run");
    struct history_row row = {0};
    enum status st = wire_read_chunks(json_object_get(json, "chunks"), &ret->chunks, &ret->count);
    if (st == OK && json_is_object(run))
        st = wire_read_row(run, &row);
    ret->found = json_is_object(run);
    ret->is_spooled = row.is_spooled;
    ret->run = row.run;
    ret->kept_bytes = wire_ms(json, "kept_bytes");
    const char *input = json_string_value(json_object_get(json, "input"));
    ret->input = input ? strdup(input) : NULL;
    return st == OK && input && !ret->input ? E_NOMEM : st;
}

/* ---- statistics ---- */

/* Encodes `count` numbers, without trailing zeros. */
static json_t *encode_numbers(const int64_t *numbers, int count)
{
    json_t *list = json_array();
    while (count && !numbers[count - 1])
        count--;
    for (int i = 0; i < count && list; i++)
        append(&list, json_integer(numbers[i]));
    return list;
}

static void decode_numbers(const json_t *list, int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = json_integer_value(json_array_get(list, i));
}

static json_t *encode_stats(const struct history_stats *stats)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < stats->count && rows; i++) {
        const struct history_stats_row *row = &stats->rows[i];
        append(&rows,
               json_pack("{s:I, s:o, s:I, s:I, s:I, s:I, s:o, s:I, s:I}", "from_ms",
                         (json_int_t)row->from_ms, "ends", encode_numbers(row->ends, RUN_STATES),
                         "timed", (json_int_t)row->timed, "duration_sum_ms",
                         (json_int_t)row->duration_sum_ms, "duration_min_ms",
                         (json_int_t)row->duration_min_ms, "duration_max_ms",
                         (json_int_t)row->duration_max_ms, "buckets",
                         encode_numbers(row->buckets, HISTORY_BUCKETS), "punctual",
                         (json_int_t)row->punctual, "late_sum_ms", (json_int_t)row->late_sum_ms));
    }
    return json_pack("{s:o}", "rows", rows);
}

static enum status decode_stats(const json_t *json, struct history_stats *ret)
{
    const json_t *rows = json_object_get(json, "rows"), *value;
    size_t i;
    enum status st = make_room(rows, sizeof(*ret->rows), &ret->rows);
    if (st != OK)
        return st;
    json_array_foreach (rows, i, value) {
        struct history_stats_row *row = &ret->rows[i];
        row->from_ms = wire_ms(value, "from_ms");
        row->timed = wire_ms(value, "timed");
        row->duration_sum_ms = wire_ms(value, "duration_sum_ms");
        row->duration_min_ms = wire_ms(value, "duration_min_ms");
        row->duration_max_ms = wire_ms(value, "duration_max_ms");
        row->punctual = wire_ms(value, "punctual");
        row->late_sum_ms = wire_ms(value, "late_sum_ms");
        decode_numbers(json_object_get(value, "ends"), row->ends, RUN_STATES);
        decode_numbers(json_object_get(value, "buckets"), row->buckets, HISTORY_BUCKETS);
    }
    ret->count = json_array_size(rows);
    return OK;
}

/* ---- any ---- */

static json_t *encode(enum history_request_kind kind, const union gather_answer *answer)
{
    switch (kind) {
    case HISTORY_READ:
        return encode_read(&answer->read);
    case HISTORY_LOG:
        return encode_log(&answer->log);
    case HISTORY_STATS:
        return encode_stats(&answer->stats);
    case HISTORY_CHANGES:
        return encode_changes(&answer->changes);
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
    return NULL;
}

enum status wire_encode_answer(enum history_request_kind kind, const union gather_answer *answer,
                               struct strbuf *out)
{
    return wire_print(encode(kind, answer), out);
}

static enum status decode(enum history_request_kind kind, const json_t *json,
                          union gather_answer *answer)
{
    switch (kind) {
    case HISTORY_READ:
        return decode_read(json, &answer->read);
    case HISTORY_LOG:
        return decode_log(json, &answer->log);
    case HISTORY_STATS:
        return decode_stats(json, &answer->stats);
    case HISTORY_CHANGES:
        return decode_changes(json, &answer->changes);
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
    return E_CORRUPT;
}

enum status wire_decode_answer(enum history_request_kind kind, const char *text, size_t length,
                               union gather_answer *ret)
{
    union gather_answer answer;
    memset(&answer, 0, sizeof(answer));
    json_t *json = json_loadb(text, length, JSON_ALLOW_NUL, NULL);
    enum status st = json ? decode(kind, json, &answer) : E_CORRUPT;
    json_decref(json);
    if (st == OK)
        *ret = answer;
    else
        gather_answer_release(kind, &answer);
    return st;
}
