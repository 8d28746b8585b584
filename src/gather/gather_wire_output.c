/* Output of runs: chunks, and the question for those of a run that the history does not have. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_wire.h"

enum { OUTPUT_BYTES_MAX = 4 << 20 }; /* the API's limit */

/* ---- chunks ---- */

/* Bytes need not be UTF-8. */
static json_t *encode_bytes(const void *bytes, size_t length)
{
    unsigned char *text = malloc((length + 2) / 3 * 4 + 1);
    if (!text)
        return NULL;
    int written = EVP_EncodeBlock(text, bytes, (int)length);
    json_t *value = json_stringn_nocheck((char *)text, (size_t)written);
    free(text);
    return value;
}

static enum status decode_bytes(const json_t *value, struct output_chunk *ret)
{
    size_t length = json_string_length(value);
    const char *text = json_string_value(value);
    if (!text || length % 4 != 0 || length > INT32_MAX)
        return E_CORRUPT;
    unsigned char *bytes = malloc(length / 4 * 3 + 1);
    if (!bytes)
        return E_NOMEM;
    int decoded = EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)length);
    if (decoded < 0) {
        free(bytes);
        return E_CORRUPT;
    }
    size_t padding = length < 4 ? 0 : (size_t)(text[length - 1] == '=') + (text[length - 2] == '=');
    ret->bytes = bytes;
    ret->length = (size_t)decoded - padding;
    return OK;
}

static json_t *encode_chunk(const struct output_chunk *chunk)
{
    return json_pack("{s:i, s:I, s:I, s:o}", "stream", (int)chunk->stream, "at_ms",
                     (json_int_t)chunk->at_ms, "gap_bytes", (json_int_t)chunk->gap_bytes, "bytes",
                     encode_bytes(chunk->bytes, chunk->length));
}

json_t *wire_chunks(const struct output_chunk *chunks, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++) {
        if (json_array_append_new(list, encode_chunk(&chunks[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

enum status wire_read_chunks(const json_t *list, struct output_chunk **ret, size_t *ret_count)
{
    const json_t *value;
    size_t i;
    enum status st = OK;
    if (!json_is_array(list))
        return E_CORRUPT;
    *ret_count = 0;
    *ret = calloc(json_array_size(list) + 1, sizeof(**ret));
    if (!*ret)
        return E_NOMEM;
    json_array_foreach (list, i, value) {
        struct output_chunk *to = &(*ret)[i];
        if (st != OK)
            break;
        st = decode_bytes(json_object_get(value, "bytes"), to);
        to->stream = output_stream_of(wire_number(value, "stream"));
        to->at_ms = wire_ms(value, "at_ms");
        to->gap_bytes = wire_ms(value, "gap_bytes");
        *ret_count += st == OK;
    }
    return st;
}

enum status wire_encode_output_question(const struct live_read *read, struct strbuf *out)
{
    return wire_print(json_pack("{s:o, s:I, s:I, s:s}", "run_id", json_id(&read->run_id), "offset",
                                (json_int_t)read->offset, "limit", (json_int_t)read->limit, "node",
                                read->node),
                      out);
}

enum status wire_decode_output_question(const char *text, size_t length, struct live_read *ret)
{
    json_t *json = length ? json_loadb(text, length, 0, NULL) : NULL;
    struct live_read read = {.offset = wire_ms(json, "offset")};
    int64_t limit = wire_number(json, "limit");
    const char *node = wire_text(json, "node");
    snprintf(read.node, sizeof(read.node), "%s", node ? node : ""); /* "": asked by an older peal */
    wire_read_id(json, "run_id", &read.run_id);
    json_decref(json);
    if (id_is_zero(&read.run_id) || read.offset < 0 || limit < 0 || limit > OUTPUT_BYTES_MAX)
        return E_INVALID;
    read.limit = (size_t)limit;
    *ret = read;
    return OK;
}

enum status wire_encode_output(const struct live_read *read, struct strbuf *out)
{
    return wire_print(json_pack("{s:b, s:o}", "found", read->found, "chunks",
                                wire_chunks(read->chunks, read->count)),
                      out);
}

enum status wire_decode_output(const char *text, size_t length, struct live_read *read)
{
    struct live_read answer = {0};
    json_t *json = json_loadb(text, length, JSON_ALLOW_NUL, NULL);
    enum status st =
        wire_read_chunks(json_object_get(json, "chunks"), &answer.chunks, &answer.count);
    answer.found = json_is_true(json_object_get(json, "found"));
    json_decref(json);
    if (st != OK) {
        live_read_release(&answer);
        return st;
    }
    read->found = answer.found;
    read->chunks = answer.chunks;
    read->count = answer.count;
    return OK;
}
