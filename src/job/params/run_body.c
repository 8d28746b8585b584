#include "params/run_body.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- base 64 ---- */

char *run_body_base64(const void *bytes, size_t length)
{
    char *text = malloc((length + 2) / 3 * 4 + 1);
    if (text)
        text[EVP_EncodeBlock((unsigned char *)text, bytes, (int)length)] = '\0';
    return text;
}

/* Bytes that the text stands for, by its length and its padding. */
static size_t decoded_length(const char *text, size_t length)
{
    size_t padding = length && text[length - 1] == '=' ? 1 : 0;
    padding += length > 1 && text[length - 2] == '=' ? 1 : 0;
    return length / 4 * 3 - padding;
}

/* EVP_DecodeBlock ignores blanks at both ends, and padding that is not at the end. */
static bool is_base64(const char *text, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t digit_count = length;
    while (digit_count && length - digit_count < 2 && text[digit_count - 1] == '=')
        digit_count--;
    return length % 4 == 0 && strspn(text, digits) == digit_count;
}

enum status run_body_from_base64(const char *text, size_t length, char **ret, size_t *ret_length)
{
    if (length > INT32_MAX || strlen(text) != length || !is_base64(text, length))
        return E_INVALID;
    char *bytes = malloc(length / 4 * 3 + 1);
    if (!bytes)
        return E_NOMEM;
    if (EVP_DecodeBlock((unsigned char *)bytes, (const unsigned char *)text, (int)length) < 0) {
        free(bytes);
        return E_INVALID;
    }
    *ret_length = decoded_length(text, length);
    bytes[*ret_length] = '\0';
    *ret = bytes;
    return OK;
}

/* ---- the object ---- */

static json_t *text_or_none(const char *text)
{
    return *text ? json_string(text) : NULL;
}

json_t *run_body_encode(const struct run_body *body)
{
    char *data = run_body_base64(body->bytes ? body->bytes : "", body->length);
    json_t *document =
        data ? json_pack("{s:s, s:o*, s:o*, s:o*, s:o*}", "data", data, "type",
                         text_or_none(body->type), "source", text_or_none(body->source), "event",
                         text_or_none(body->event), "delivery", text_or_none(body->delivery))
             : NULL;
    free(data);
    return document;
}

/* What another program has written there is cleaned again. */
static void read_text(const json_t *document, const char *name, char *ret, size_t size)
{
    const char *text = json_string_value(json_object_get(document, name));
    run_body_clean(text ? text : "", ret, size);
}

enum status run_body_decode(const json_t *document, struct run_body **ret)
{
    const json_t *data = json_object_get(document, "data");
    const char *text = json_string_value(data);
    if (!text || run_body_length(document) > RUN_BODY_MAX)
        return E_CORRUPT;
    struct run_body *body = calloc(1, sizeof(*body));
    if (!body)
        return E_NOMEM;
    enum status st =
        run_body_from_base64(text, json_string_length(data), &body->bytes, &body->length);
    if (st != OK) {
        free(body);
        return st == E_INVALID ? E_CORRUPT : st;
    }
    read_text(document, "type", body->type, sizeof(body->type));
    read_text(document, "source", body->source, sizeof(body->source));
    read_text(document, "event", body->event, sizeof(body->event));
    read_text(document, "delivery", body->delivery, sizeof(body->delivery));
    *ret = body;
    return OK;
}

long long run_body_length(const json_t *document)
{
    const json_t *data = json_object_get(document, "data");
    return json_is_string(data)
               ? (long long)decoded_length(json_string_value(data), json_string_length(data))
               : -1;
}

struct run_body *run_body_free(struct run_body *body)
{
    if (body)
        free(body->bytes);
    free(body);
    return NULL;
}

void run_body_clean(const char *text, char *ret, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_.:/+;= ";
    size_t i = 0;
    for (; text[i] && i + 1 < size; i++)
        ret[i] = strchr(plain, text[i]) ? text[i] : '_';
    ret[i] = '\0';
}
