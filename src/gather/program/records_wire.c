#include "program/records_wire.h"

#include <stdlib.h>
#include <string.h>

#include "history_columns.h"

enum { REQUEST_BYTES = 8 << 20 };

/* ---- records ---- */

static json_t *encode_record(const struct history_record *record)
{
    struct history_row row = {0};
    row_of_record(record, &row);
    return json_pack("{s:o, s:o, s:o*}", "row", wire_row(&row), "chunks",
                     wire_chunks(record->chunks, record->chunk_count), "input",
                     record->input ? json_stringn(record->input, record->input_length) : NULL);
}

static enum status add_record(const struct history_record *record, struct strbuf *out)
{
    struct strbuf text;
    if (record->change)
        return E_INVALID;
    strbuf_init(&text);
    enum status st = wire_print(encode_record(record), &text);
    if (st == OK)
        strbuf_add(out, text.text, text.length);
    strbuf_release(&text);
    return st;
}

enum status wire_encode_records(const struct history_record *records, size_t count,
                                struct strbuf *out, size_t *ret_count)
{
    enum status st = OK;
    size_t done = 0;
    strbuf_adds(out, "{\"records\":[");
    for (; done < count && out->length < REQUEST_BYTES; done++) {
        size_t before = out->length;
        if (done)
            strbuf_addc(out, ',');
        st = add_record(&records[done], out);
        if (st == OK && (!done || out->length < WIRE_RECORDS_MAX - 16))
            continue;
        strbuf_truncate(out, before); /* it is the first of the next request */
        st = done ? OK : st;
        break;
    }
    strbuf_adds(out, "]}");
    *ret_count = done;
    return st == OK ? strbuf_status(out) : st;
}

static enum status decode_record(const json_t *json, struct history_row *row,
                                 struct history_record *ret)
{
    struct output_chunk *chunks = NULL;
    const json_t *input = json_object_get(json, "input");
    enum status st = wire_read_row(json_object_get(json, "row"), row);
    if (st == OK)
        st = wire_read_chunks(json_object_get(json, "chunks"), &chunks, &ret->chunk_count);
    ret->chunks = chunks;
    if (row->is_entry)
        ret->entry = &row->entry;
    else
        ret->run = &row->run;
    ret->input = json_string_value(input);
    ret->input_length = json_string_length(input);
    return st;
}

void wire_records_release(struct wire_records *records)
{
    for (size_t i = 0; i < records->count; i++) {
        struct history_record *record = &records->records[i];
        for (size_t j = 0; j < record->chunk_count; j++)
            free((void *)record->chunks[j].bytes);
        free((void *)record->chunks);
    }
    free(records->records);
    free(records->rows);
    json_decref(records->json);
    *records = (struct wire_records){0};
}

enum status wire_decode_records(const char *text, size_t length, struct wire_records *ret)
{
    struct wire_records records = {.json = length ? json_loadb(text, length, JSON_ALLOW_NUL, NULL)
                                                  : NULL};
    const json_t *list = json_object_get(records.json, "records"), *item;
    size_t i, count = json_array_size(list);
    enum status st = count ? OK : E_INVALID;
    records.records = calloc(count + 1, sizeof(*records.records));
    records.rows = calloc(count + 1, sizeof(*records.rows));
    if (!records.records || !records.rows)
        st = E_NOMEM;
    json_array_foreach (list, i, item) {
        if (st != OK)
            break;
        records.count++;
        st = decode_record(item, &records.rows[i], &records.records[i]);
    }
    if (st == OK)
        *ret = records;
    else
        wire_records_release(&records);
    return st == E_CORRUPT ? E_INVALID : st;
}

/* ---- questions ---- */

enum status wire_encode_questions(const struct wire_question *questions, size_t count,
                                  struct strbuf *out)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++) {
        const struct wire_question *question = &questions[i];
        json_t *item =
            json_pack("{s:I, s:o, s:I, s:I}", "number", (json_int_t)question->number, "run_id",
                      json_id(&question->run_id), "offset", (json_int_t)question->offset, "limit",
                      (json_int_t)question->limit);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return wire_print(list ? json_pack("{s:o}", "questions", list) : NULL, out);
}

enum status wire_decode_questions(const char *text, size_t length,
                                  struct wire_question ret[WIRE_QUESTIONS_MAX], size_t *ret_count)
{
    json_t *json = length ? json_loadb(text, length, 0, NULL) : NULL;
    const json_t *list = json_object_get(json, "questions"), *item;
    bool is_list = json_is_array(list);
    size_t i;
    *ret_count = 0;
    json_array_foreach (list, i, item) {
        int64_t limit = wire_number(item, "limit");
        struct wire_question question = {.number = wire_number(item, "number"),
                                         .offset = wire_ms(item, "offset"),
                                         .limit = limit < 0 ? 0 : (size_t)limit};
        wire_read_id(item, "run_id", &question.run_id);
        if (*ret_count < WIRE_QUESTIONS_MAX && question.offset >= 0)
            ret[(*ret_count)++] = question;
    }
    json_decref(json);
    return is_list ? OK : E_CORRUPT;
}

/* ---- answers ---- */

json_t *wire_offer(void)
{
    return json_pack("{s:[]}", "answers");
}

/* One that there is no memory for is missed, and asked for again. */
void wire_offer_answer(json_t *offer, int64_t number, const struct live_read *read)
{
    json_t *item = json_pack("{s:I, s:b, s:o}", "number", (json_int_t)number, "found", read->found,
                             "chunks", wire_chunks(read->chunks, read->count));
    (void)json_array_append_new(json_object_get(offer, "answers"), item);
}

enum status wire_offer_next(const json_t *offer, size_t *inout_i, int64_t *ret_number,
                            struct live_read *read)
{
    const json_t *list = json_object_get(offer, "answers");
    const json_t *item = json_array_get(list, *inout_i);
    if (!item)
        return E_NOT_FOUND;
    ++*inout_i;
    *ret_number = wire_number(item, "number");
    read->found = json_is_true(json_object_get(item, "found"));
    enum status st = wire_read_chunks(json_object_get(item, "chunks"), &read->chunks, &read->count);
    if (st != OK)
        live_read_release(read);
    return st;
}
