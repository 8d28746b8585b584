/* The payloads of frames; numbers are little-endian. A newer peal must be able to read this format:
 * the first bytes of each file name its version. */
#include <stdlib.h>
#include <string.h>

#include "spool/history_spool_files.h"
#include "words.h"

/* The first byte of a state frame. */
enum frame_kind {
    FRAME_FIRST_RUN, /* of the first format: without the columns marked LATER */
    FRAME_ENTRY,
    FRAME_CHANGE,
    FRAME_SECOND_RUN, /* without those marked SINCE_4 */
    FRAME_RUN,        /* without those marked SINCE_7 */
    FRAME_WORKFLOW_RUN,
};

/* ---- writing ---- */

static void add_number(struct strbuf *to, uint64_t value, size_t width)
{
    char bytes[8];
    for (size_t i = 0; i < width; i++)
        bytes[i] = (char)(value >> 8 * i);
    strbuf_add(to, bytes, width);
}

static void add_text(struct strbuf *to, const char *text, size_t length)
{
    add_number(to, length, 2);
    strbuf_add(to, text, length);
}

static void add_chunk(struct strbuf *payload, const struct output_chunk *chunk)
{
    add_number(payload, (uint64_t)chunk->stream, 1);
    add_number(payload, (uint64_t)chunk->at_ms, 8);
    add_number(payload, (uint64_t)chunk->gap_bytes, 8);
    add_number(payload, chunk->length, 4);
    strbuf_add(payload, chunk->bytes, chunk->length);
}

/* The input of the run comes first. */
void payload_of_output(const struct history_record *record, struct strbuf *payload)
{
    const struct output_chunk input = {.stream = OUTPUT_INPUT,
                                       .at_ms = record->run->tick_ms,
                                       .bytes = record->input,
                                       .length = record->input_length};
    add_number(payload, record->chunk_count + (record->input_length > 0), 4);
    if (record->input_length)
        add_chunk(payload, &input);
    for (size_t i = 0; i < record->chunk_count; i++)
        add_chunk(payload, &record->chunks[i]);
}

static void add_record(struct strbuf *to, enum record_table table, unsigned without,
                       const void *record)
{
    struct column_set columns = table_record(table);
    columns.without = without;
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        size_t length;
        if (column_is_text(column)) {
            const char *text = column_read_text(column, record, &length);
            add_text(to, text, length);
        } else if (column->kind == COLUMN_ID) {
            strbuf_add(to, column_field(column, record), sizeof(struct id));
        } else {
            add_number(to, (uint64_t)column_read_int(column, record), 8);
        }
    }
}

/* An absent definition is an empty one. */
static void add_definition(struct strbuf *to, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    add_number(to, length, 4);
    strbuf_add(to, text ? text : "", length);
}

static void payload_of_change(const struct change_record *change, struct strbuf *payload)
{
    add_number(payload, FRAME_CHANGE, 1);
    add_record(payload, TABLE_CHANGES, 0, change);
    add_definition(payload, change->before);
    add_definition(payload, change->after);
}

static enum frame_kind kind_of_run(const struct run *run)
{
    return id_is_zero(&run->instance) ? FRAME_RUN : FRAME_WORKFLOW_RUN;
}

/* Columns that a frame of this kind does not have: those of a mark, or of later ones. */
static unsigned missing_in(enum frame_kind kind)
{
    return kind == FRAME_FIRST_RUN    ? LATER
           : kind == FRAME_SECOND_RUN ? SINCE_4 | SINCE_7
           : kind == FRAME_RUN        ? SINCE_7
                                      : 0;
}

void payload_of_state(const struct history_record *record, const struct output_ref *ref,
                      struct strbuf *payload)
{
    if (record->change) {
        payload_of_change(record->change, payload);
        return;
    }
    enum frame_kind kind = record->entry ? FRAME_ENTRY : kind_of_run(record->run);
    add_number(payload, kind, 1);
    if (record->entry)
        add_record(payload, TABLE_ENTRIES, 0, record->entry);
    else
        add_record(payload, TABLE_RUNS, missing_in(kind), record->run);
    add_number(payload, ref->segment, 8);
    add_number(payload, (uint64_t)ref->at, 8);
    add_number(payload, (uint64_t)ref->chunks, 8);
    add_number(payload, (uint64_t)ref->bytes, 8);
}

/* ---- reading ---- */

struct reader {
    const char *at;
    size_t left;
    bool failed;
};

static const char *take(struct reader *reader, size_t length)
{
    static const char none[8];
    const char *at = reader->at;
    if (length > reader->left) {
        reader->failed = true;
        reader->left = 0;
        return length <= sizeof(none) ? none : NULL;
    }
    reader->at += length;
    reader->left -= length;
    return at;
}

static uint64_t number_at(const char *bytes, size_t width)
{
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static uint64_t take_number(struct reader *reader, size_t width)
{
    return number_at(take(reader, width), width);
}

static const char *take_text(struct reader *reader, size_t *ret_length)
{
    *ret_length = take_number(reader, 2);
    const char *text = take(reader, *ret_length);
    if (reader->failed)
        *ret_length = 0;
    return text;
}

static void take_record(struct reader *reader, const struct column_set *columns, void *record)
{
    for (const struct column *column = NULL;
         !reader->failed && (column = column_next(columns, column));) {
        size_t length;
        if (column_is_text(column)) {
            const char *text = take_text(reader, &length);
            column_write_text(column, record, text, length);
        } else if (column->kind == COLUMN_ID) {
            const void *id = take(reader, sizeof(struct id));
            if (id)
                column_write_id(column, record, id);
        } else {
            column_write_int(column, record, (int64_t)take_number(reader, 8));
        }
    }
}

static enum status take_definition(struct reader *reader, char **ret)
{
    size_t length = take_number(reader, 4);
    const char *text = take(reader, length);
    if (reader->failed || !length)
        return OK;
    *ret = strndup(text, length);
    return *ret ? OK : E_NOMEM;
}

static enum status take_change(struct reader *reader, struct spooled *ret)
{
    const struct column_set columns = table_record(TABLE_CHANGES);
    struct change_record *change = &ret->change;
    ret->is_change = true;
    take_record(reader, &columns, change);
    change->at_ms = history_id_made_ms(&change->id);
    enum status st = take_definition(reader, &change->before);
    if (st == OK)
        st = take_definition(reader, &change->after);
    if (st == OK && (reader->failed || reader->left || !word_can_be(change->action)))
        st = E_CORRUPT;
    if (st != OK)
        change_record_release(change);
    else
        ret->bytes = change_record_bytes(change);
    return st;
}

/* A newer peal may have more states: they are delivered unchanged. */
static bool is_end(enum run_state state)
{
    return run_state_is_end(state) || (!run_state_is_known(state) && word_can_be(state));
}

static bool is_sound(const struct history_row *row)
{
    const struct run *run = &row->run;
    const struct ledger_entry *entry = &row->entry;
    return row->is_entry
               ? is_end(entry->state) && word_can_be(entry->reason)
               : is_end(run->state) && word_can_be(run->reason) && word_can_be(run->cause);
}

static enum status take_row(struct reader *reader, enum frame_kind kind, struct spooled *ret)
{
    struct column_set columns = table_record(kind == FRAME_ENTRY ? TABLE_ENTRIES : TABLE_RUNS);
    columns.without = missing_in(kind);
    ret->row.is_entry = kind == FRAME_ENTRY;
    take_record(reader, &columns, row_record(&ret->row));
    ret->ref.segment = take_number(reader, 8);
    ret->ref.at = (int64_t)take_number(reader, 8);
    ret->ref.chunks = (int64_t)take_number(reader, 8);
    ret->ref.bytes = (int64_t)take_number(reader, 8);
    return reader->failed || reader->left || !is_sound(&ret->row) ? E_CORRUPT : OK;
}

enum status state_of_payload(const char *payload, size_t length, struct spooled *ret)
{
    struct reader reader = {payload, length, false};
    struct spooled item = {.is_change = false};
    uint64_t kind = take_number(&reader, 1);
    enum status st = E_CORRUPT;
    if (kind == FRAME_CHANGE)
        st = take_change(&reader, &item);
    else if (kind <= FRAME_WORKFLOW_RUN)
        st = take_row(&reader, (enum frame_kind)kind, &item);
    if (st == OK)
        *ret = item;
    return st;
}

enum status output_of_payload(const char *payload, size_t length, struct output_chunk **ret_chunks,
                              size_t *ret_count)
{
    enum { CHUNK_HEAD = 1 + 8 + 8 + 4 };
    struct reader reader = {payload, length, false};
    size_t count = take_number(&reader, 4);
    if (reader.failed || count > length / CHUNK_HEAD)
        return E_CORRUPT;
    struct output_chunk *chunks = calloc(count + 1, sizeof(*chunks));
    if (!chunks)
        return E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        chunks[i].stream = output_stream_of((int64_t)take_number(&reader, 1));
        chunks[i].at_ms = (int64_t)take_number(&reader, 8);
        chunks[i].gap_bytes = (int64_t)take_number(&reader, 8);
        chunks[i].length = take_number(&reader, 4);
        chunks[i].bytes = take(&reader, chunks[i].length);
    }
    if (reader.failed || reader.left) {
        free(chunks);
        return E_CORRUPT;
    }
    *ret_chunks = chunks;
    *ret_count = count;
    return OK;
}
