/* Rows as libpq has them, made without a server; and arrays in PostgreSQL's binary form. */
#include <stdlib.h>
#include <string.h>

#include "pg_play.h"

enum { COLUMNS_MAX = 16, NO_OID = 0 };

PGresult *rows_new(int columns)
{
    PGresAttDesc attributes[COLUMNS_MAX];
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    if (!rows || columns > COLUMNS_MAX)
        abort();
    for (int i = 0; i < columns; i++)
        attributes[i] = (PGresAttDesc){.name = (char *)"", .format = 1};
    if (!PQsetResultAttrs(rows, columns, attributes))
        abort();
    return rows;
}

void rows_add(PGresult *rows)
{
    if (!PQsetvalue(rows, PQntuples(rows), 0, NULL, -1))
        abort();
}

void rows_bytes(PGresult *rows, int column, const void *bytes, size_t length)
{
    if (!PQsetvalue(rows, PQntuples(rows) - 1, column, length ? (char *)bytes : (char *)"",
                    (int)length))
        abort();
}

static void write_number(char *to, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        to[i] = (char)(number >> (8 * (size - 1 - i)));
}

void rows_int8(PGresult *rows, int column, int64_t number)
{
    char bytes[8];
    write_number(bytes, (uint64_t)number, 8);
    rows_bytes(rows, column, bytes, 8);
}

void rows_int4(PGresult *rows, int column, int number)
{
    char bytes[4];
    write_number(bytes, (uint64_t)(uint32_t)number, 4);
    rows_bytes(rows, column, bytes, 4);
}

void rows_bool(PGresult *rows, int column, bool is_true)
{
    char byte = is_true ? 1 : 0;
    rows_bytes(rows, column, &byte, 1);
}

void rows_text(PGresult *rows, int column, const char *text)
{
    rows_bytes(rows, column, text, strlen(text));
}

PGresult *rows_of(int64_t number)
{
    PGresult *rows = rows_new(1);
    rows_add(rows);
    rows_int8(rows, 0, number);
    return rows;
}

/* ---- arrays ---- */

static void add_number(struct strbuf *to, uint64_t number, int size)
{
    char bytes[8];
    write_number(bytes, number, size);
    strbuf_add(to, bytes, (size_t)size);
}

void array_init(struct pg_array *array)
{
    *array = (struct pg_array){.count = 0};
    strbuf_init(&array->elements);
}

void array_bytes(struct pg_array *array, const void *bytes, size_t length)
{
    add_number(&array->elements, bytes ? length : UINT32_MAX, 4);
    if (bytes && length)
        strbuf_add(&array->elements, bytes, length);
    array->count++;
}

void array_int8(struct pg_array *array, int64_t number)
{
    add_number(&array->elements, 8, 4);
    add_number(&array->elements, (uint64_t)number, 8);
    array->count++;
}

void rows_array(PGresult *rows, int column, struct pg_array *array)
{
    struct strbuf whole;
    strbuf_init(&whole);
    add_number(&whole, 1, 4); /* dimension */
    add_number(&whole, 1, 4); /* there may be NULLs */
    add_number(&whole, NO_OID, 4);
    add_number(&whole, (uint64_t)array->count, 4);
    add_number(&whole, 1, 4); /* the first has number 1 */
    if (array->elements.length)
        strbuf_add(&whole, array->elements.text, array->elements.length);
    rows_bytes(rows, column, whole.text, whole.length);
    strbuf_release(&whole);
    strbuf_release(&array->elements);
}

static uint64_t read_number(const char *from, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number = number << 8 | (uint8_t)from[i];
    return number;
}

int64_t pg_number(const struct pg_query *query, int param)
{
    const struct pg_param *value = &query->params[param];
    uint64_t number = read_number(value->bytes, value->length);
    return value->length == 4 ? (int32_t)number : (int64_t)number;
}

struct pg_elements elements_of(const struct pg_query *query, int param)
{
    const char *bytes = query->params[param].bytes;
    if (read_number(bytes, 4) == 0)
        return (struct pg_elements){.count = 0};
    return (struct pg_elements){bytes + 20, (int)read_number(bytes + 12, 4)};
}

ProtobufCBinaryData elements_bytes(struct pg_elements *elements)
{
    size_t length = read_number(elements->at, 4);
    ProtobufCBinaryData ret = {length, (uint8_t *)elements->at + 4};
    elements->at += 4 + length;
    elements->count--;
    return ret;
}

int64_t elements_number(struct pg_elements *elements)
{
    ProtobufCBinaryData bytes = elements_bytes(elements);
    uint64_t number = read_number((const char *)bytes.data, bytes.len);
    return bytes.len == 4 ? (int32_t)number : (int64_t)number;
}
