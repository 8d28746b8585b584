#include "transport/grpc_frame.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void grpc_deframer_init(struct grpc_deframer *deframer, size_t limit)
{
    *deframer = (struct grpc_deframer){.limit = limit};
}

void grpc_deframer_release(struct grpc_deframer *deframer)
{
    free(deframer->message);
    deframer->message = NULL;
}

static enum status deframe_fail(struct grpc_deframer *deframer, enum status st, const char *error)
{
    deframer->error = error;
    return st;
}

static enum status read_prefix(struct grpc_deframer *deframer)
{
    const uint8_t *prefix = deframer->prefix;
    if (prefix[0] == 1)
        return deframe_fail(deframer, E_CORRUPT, "the server sent a compressed message");
    if (prefix[0] != 0)
        return deframe_fail(deframer, E_CORRUPT, "the server does not speak gRPC");
    deframer->length = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 |
                       (size_t)prefix[4];
    deframer->have = 0;
    if (deframer->length > deframer->limit)
        return deframe_fail(deframer, E_TOO_LARGE, "the server's message is too large");
    return OK;
}

/* Grows with the bytes received: an announced length is not trusted. */
static enum status keep_piece(struct grpc_deframer *deframer, const uint8_t *bytes, size_t length)
{
    size_t need = deframer->have + length;
    if (need > deframer->capacity) {
        size_t capacity = deframer->capacity ? deframer->capacity : 4096;
        while (capacity < need)
            capacity *= 2;
        uint8_t *grown = realloc(deframer->message, capacity);
        if (!grown)
            return deframe_fail(deframer, E_NOMEM, "out of memory");
        deframer->message = grown;
        deframer->capacity = capacity;
    }
    memcpy(deframer->message + deframer->have, bytes, length);
    deframer->have = need;
    return OK;
}

/* Takes the bytes that belong to the current message; *used is their number. */
static enum status take_message(struct grpc_deframer *deframer, const uint8_t *bytes, size_t length,
                                size_t *used, grpc_on_message *on_message, void *context)
{
    size_t missing = deframer->length - deframer->have;
    size_t piece = length < missing ? length : missing;
    *used = piece;
    if (deframer->have == 0 && piece == deframer->length) { /* came whole: no copy */
        deframer->prefix_have = 0;
        return on_message(context, piece ? bytes : (const uint8_t *)"", piece);
    }
    if (piece == 0)
        return OK;
    enum status st = keep_piece(deframer, bytes, piece);
    if (st != OK || deframer->have < deframer->length)
        return st;
    deframer->prefix_have = 0;
    return on_message(context, deframer->message, deframer->length);
}

enum status grpc_deframe(struct grpc_deframer *deframer, const uint8_t *bytes, size_t length,
                         grpc_on_message *on_message, void *context)
{
    while (length > 0) {
        size_t used;
        enum status st;
        if (deframer->prefix_have < GRPC_PREFIX) {
            deframer->prefix[deframer->prefix_have++] = *bytes++;
            length--;
            if (deframer->prefix_have < GRPC_PREFIX)
                continue;
            st = read_prefix(deframer);
            if (st != OK)
                return st;
            if (length == 0 && deframer->length > 0)
                return OK;
        }
        st = take_message(deframer, bytes, length, &used, on_message, context);
        if (st != OK)
            return st;
        bytes += used;
        length -= used;
    }
    return OK;
}

enum status grpc_deframe_end(struct grpc_deframer *deframer)
{
    if (deframer->prefix_have == 0)
        return OK;
    return deframe_fail(deframer, E_CORRUPT, "the answer ends within a message");
}

void grpc_prefix_write(uint8_t prefix[GRPC_PREFIX], size_t length)
{
    prefix[0] = 0;
    prefix[1] = (uint8_t)(length >> 24);
    prefix[2] = (uint8_t)(length >> 16);
    prefix[3] = (uint8_t)(length >> 8);
    prefix[4] = (uint8_t)length;
}

int grpc_code_parse(const char *text, size_t length)
{
    int code = 0;
    if (length == 0 || length > 3)
        return GRPC_UNKNOWN;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return GRPC_UNKNOWN;
        code = code * 10 + (text[i] - '0');
    }
    return code;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

void grpc_text_decode(const char *text, size_t length, char ret[GRPC_TEXT])
{
    size_t out = 0;
    for (size_t i = 0; i < length && out < GRPC_TEXT - 1; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '%' && length - i > 2 && hex_digit(text[i + 1]) >= 0 &&
            hex_digit(text[i + 2]) >= 0) {
            c = (unsigned char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
            i += 2;
        }
        ret[out++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    ret[out] = '\0';
}

enum status grpc_status(int code, const char *message)
{
    switch (code) {
    case GRPC_OK:
        return OK;
    case GRPC_INVALID_ARGUMENT:
        return strstr(message, "too large") ? E_TOO_LARGE : E_INVALID;
    case GRPC_NOT_FOUND:
    case GRPC_OUT_OF_RANGE: /* compacted, or yet to come */
        return E_NOT_FOUND;
    case GRPC_ALREADY_EXISTS:
    case GRPC_ABORTED:
        return E_CONFLICT;
    case GRPC_RESOURCE_EXHAUSTED:
        return strstr(message, "larger than max") ? E_TOO_LARGE : E_BUSY;
    case GRPC_PERMISSION_DENIED:
    case GRPC_FAILED_PRECONDITION:
    case GRPC_UNAUTHENTICATED:
        return E_INVALID;
    case GRPC_UNIMPLEMENTED:
        return E_VERSION;
    case GRPC_DATA_LOSS:
        return E_CORRUPT;
    case GRPC_UNAVAILABLE: /* refused before anything was done, by the member that was asked */
        return strstr(message, "no leader") ? E_UNREACHABLE : E_UNKNOWN;
    default:
        return E_UNKNOWN;
    }
}
