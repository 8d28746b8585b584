/* Frames: a length, a checksum, a payload; numbers with the low byte first. The format is part of
 * what a newer peal must be able to read: it has a number in the name of each file's first bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "history_spool_files.h"

static const char frame_mark[4] = {'P', 'E', 'A', 'L'};

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

static uint64_t checksum(const char *payload, size_t length)
{
    return hash_bytes(length, payload, length);
}

void frame_add(struct strbuf *to, const struct strbuf *payload)
{
    strbuf_add(to, frame_mark, sizeof(frame_mark));
    add_number(to, payload->length, 4);
    add_number(to, checksum(payload->text, payload->length), 8);
    strbuf_add(to, payload->text, payload->length);
}

void payload_of_output(const struct history_record *record, struct strbuf *payload)
{
    add_number(payload, record->chunk_count, 4);
    for (size_t i = 0; i < record->chunk_count; i++) {
        const struct output_chunk *chunk = &record->chunks[i];
        add_number(payload, (uint64_t)chunk->stream, 1);
        add_number(payload, (uint64_t)chunk->at_ms, 8);
        add_number(payload, (uint64_t)chunk->gap_bytes, 8);
        add_number(payload, chunk->length, 4);
        strbuf_add(payload, chunk->bytes, chunk->length);
    }
}

void payload_of_state(const struct history_record *record, const struct output_ref *ref,
                      struct strbuf *payload)
{
    bool is_entry = record->entry != NULL;
    const struct table_columns *table = &table_columns[is_entry ? TABLE_ENTRIES : TABLE_RUNS];
    const void *from = is_entry ? (const void *)record->entry : (const void *)record->run;
    const struct id *id = is_entry ? &record->entry->id : &record->run->id;
    const struct id *uid = is_entry ? &record->entry->job_uid : &record->run->job_uid;
    const char *name = is_entry ? record->entry->job_name : record->run->job_name;
    add_number(payload, is_entry, 1);
    strbuf_add(payload, id->bytes, sizeof(id->bytes));
    strbuf_add(payload, uid->bytes, sizeof(uid->bytes));
    add_text(payload, name, strlen(name));
    for (size_t i = 0; i < table->count; i++) {
        size_t length;
        const struct column *column = &table->columns[i];
        if (column->kind == COLUMN_TEXT) {
            const char *text = column_read_text(column, from, &length);
            add_text(payload, text, length);
        } else {
            add_number(payload, (uint64_t)column_read_int(column, from), 8);
        }
    }
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

bool frame_read_head(const char head[FRAME_HEAD], size_t *ret_length)
{
    *ret_length = number_at(head + 4, 4);
    return memcmp(head, frame_mark, sizeof(frame_mark)) == 0 && *ret_length <= FRAME_MAX;
}

bool frame_check(const char head[FRAME_HEAD], const char *payload, size_t length)
{
    return number_at(head + 8, 8) == checksum(payload, length);
}

enum status state_of_payload(const char *payload, size_t length, struct history_row *ret,
                             struct output_ref *ret_ref)
{
    struct reader reader = {payload, length, false};
    struct id id = {{0}}, uid = {{0}};
    *ret = (struct history_row){.is_entry = take_number(&reader, 1) != 0};
    const struct table_columns *table = &table_columns[ret->is_entry ? TABLE_ENTRIES : TABLE_RUNS];
    if (reader.left < sizeof(id) + sizeof(uid))
        return E_CORRUPT;
    memcpy(id.bytes, take(&reader, sizeof(id)), sizeof(id));
    memcpy(uid.bytes, take(&reader, sizeof(uid)), sizeof(uid));
    row_set_ids(ret, &id, &uid);
    const char *text = take_text(&reader, &length);
    row_set_job_name(ret, text, length);
    for (size_t i = 0; i < table->count && !reader.failed; i++) {
        const struct column *column = &table->columns[i];
        if (column->kind == COLUMN_TEXT) {
            text = take_text(&reader, &length);
            column_write_text(column, row_record(ret), text, length);
        } else {
            column_write_int(column, row_record(ret), (int64_t)take_number(&reader, 8));
        }
    }
    ret_ref->segment = take_number(&reader, 8);
    ret_ref->at = (int64_t)take_number(&reader, 8);
    ret_ref->chunks = (int64_t)take_number(&reader, 8);
    ret_ref->bytes = (int64_t)take_number(&reader, 8);
    return reader.failed || reader.left ? E_CORRUPT : OK;
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
        chunks[i].stream = (enum output_stream)take_number(&reader, 1);
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
