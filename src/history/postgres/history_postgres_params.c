/* Values in PostgreSQL's binary form: numbers are big-endian, arrays have a header. */
#include <assert.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

/* Type OIDs from PostgreSQL's pg_type, which are stable. */
enum {
    TYPE_BYTES = 17,
    TYPE_INT = 20,
    TYPE_TEXT = 25,
    TYPE_ID = 2950,
};

static const struct {
    Oid element, array;
} array_types[] = {
    [ARRAY_INT] = {TYPE_INT, 1016},
    [ARRAY_ID] = {TYPE_ID, 2951},
    [ARRAY_TEXT] = {TYPE_TEXT, 1009},
    [ARRAY_BYTES] = {TYPE_BYTES, 1001},
};

enum { ARRAY_COUNT_AT = 12, ARRAY_HEAD = 20 };

static void write_number(char *to, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        to[i] = (char)(value >> 8 * (width - 1 - i));
}

static void add_number(struct strbuf *to, uint64_t value, size_t width)
{
    char bytes[8];
    write_number(bytes, value, width);
    strbuf_add(to, bytes, width);
}

void params_init(struct params *params)
{
    params->count = 0;
    strbuf_init(&params->bytes);
}

void params_release(struct params *params)
{
    strbuf_release(&params->bytes);
    params->count = 0;
}

static void begin(struct params *params, Oid type)
{
    assert(params->count < PARAMS_MAX);
    params->types[params->count] = type;
    params->at[params->count] = params->bytes.length;
}

static void end(struct params *params)
{
    params->length[params->count] = params->bytes.length - params->at[params->count];
    params->count++;
}

void params_int(struct params *params, int64_t value)
{
    begin(params, TYPE_INT);
    add_number(&params->bytes, (uint64_t)value, 8);
    end(params);
}

void params_id(struct params *params, const struct id *id)
{
    begin(params, TYPE_ID);
    strbuf_add(&params->bytes, id->bytes, sizeof(id->bytes));
    end(params);
}

static void add_null(struct params *params, Oid type)
{
    begin(params, type);
    params->length[params->count++] = SIZE_MAX;
}

void params_null_int(struct params *params)
{
    add_null(params, TYPE_INT);
}

void params_null_ints(struct params *params)
{
    add_null(params, array_types[ARRAY_INT].array);
}

void params_null_id(struct params *params)
{
    add_null(params, TYPE_ID);
}

void params_text(struct params *params, const char *text)
{
    if (!text) {
        add_null(params, TYPE_TEXT);
        return;
    }
    begin(params, TYPE_TEXT);
    text_add_clean(&params->bytes, text, strlen(text));
    end(params);
}

/* ---- arrays ---- */

void params_array(struct params *params, enum array_type type)
{
    begin(params, array_types[type].array);
    const uint32_t head[] = {1, 0, array_types[type].element, 0,
                             1}; /* dimensions ... first index */
    for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
        add_number(&params->bytes, head[i], 4);
}

/* Increments the number of elements in the array's header. */
static void count_element(struct params *params)
{
    if (params->bytes.failed)
        return;
    unsigned char *at =
        (unsigned char *)params->bytes.text + params->at[params->count] + ARRAY_COUNT_AT;
    uint32_t count = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    write_number((char *)at, count + 1, 4);
}

void params_add_bytes(struct params *params, const void *bytes, size_t length)
{
    count_element(params);
    add_number(&params->bytes, length, 4);
    strbuf_add(&params->bytes, bytes, length);
}

void params_add_int(struct params *params, int64_t value)
{
    char bytes[8];
    write_number(bytes, (uint64_t)value, 8);
    params_add_bytes(params, bytes, sizeof(bytes));
}

void params_add_id(struct params *params, const struct id *id)
{
    params_add_bytes(params, id->bytes, sizeof(id->bytes));
}

void params_add_text(struct params *params, const char *text, size_t length)
{
    size_t at = params->bytes.length;
    count_element(params);
    add_number(&params->bytes, 0, 4);
    text_add_clean(&params->bytes, text, length);
    if (!params->bytes.failed)
        write_number(params->bytes.text + at, params->bytes.length - at - 4, 4);
}

void params_array_end(struct params *params)
{
    assert(params->bytes.failed || params->bytes.length - params->at[params->count] >= ARRAY_HEAD);
    end(params);
}

/* ---- results ---- */

int64_t result_int(const PGresult *result, int row, int column)
{
    const unsigned char *bytes = (const unsigned char *)PQgetvalue(result, row, column);
    int length = PQgetlength(result, row, column);
    uint64_t value = length && bytes[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    return (int64_t)value;
}

struct id result_id(const PGresult *result, int row, int column)
{
    struct id id = {{0}};
    if (PQgetlength(result, row, column) == sizeof(id.bytes))
        memcpy(id.bytes, PQgetvalue(result, row, column), sizeof(id.bytes));
    return id;
}

const char *result_bytes(const PGresult *result, int row, int column, size_t *ret_length)
{
    *ret_length = (size_t)PQgetlength(result, row, column);
    return PQgetvalue(result, row, column);
}
