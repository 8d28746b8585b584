#include "serve/mask_forms.h"

#include <stdlib.h>
#include <string.h>

static const char plain_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static enum status add(struct masks *masks, const char *bytes, size_t length)
{
    return length >= MASKED_MIN ? masks_add(masks, bytes, length) : OK;
}

/* A program may print the lines of a value one by one, with something before each. */
static enum status add_lines(struct masks *masks, const char *value, size_t length)
{
    enum status st = OK;
    for (size_t at = 0; at < length && st == OK;) {
        const char *newline = memchr(value + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - value) : length, next = end + 1;
        if (end > at && value[end - 1] == '\r')
            end--;
        st = add(masks, value + at, end - at);
        at = next;
    }
    return st;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~", c));
}

/* `kept`: further characters that stay as they are. */
static enum status add_percent(struct masks *masks, const char *value, size_t length,
                               const char *digits, const char *kept, bool has_plus)
{
    char *text = malloc(length * 3 + 1);
    size_t to = 0;
    if (!text)
        return E_NOMEM;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)value[i];
        if (is_unreserved(value[i]) || (c && strchr(kept, c))) {
            text[to++] = value[i];
        } else if (c == ' ' && has_plus) {
            text[to++] = '+';
        } else {
            text[to++] = '%';
            text[to++] = digits[c >> 4];
            text[to++] = digits[c & 15];
        }
    }
    enum status st = add(masks, text, to);
    explicit_bzero(text, length * 3);
    free(text);
    return st;
}

/* As programs do it: RFC 3986, with small letters, a form's, and with what a path may hold. */
static enum status add_percents(struct masks *masks, const char *value, size_t length)
{
    static const char large[] = "0123456789ABCDEF", small[] = "0123456789abcdef";
    static const char of_paths[] = "/:@!$&'()*+,;=";
    enum status st = add_percent(masks, value, length, large, "", false);
    if (st == OK)
        st = add_percent(masks, value, length, small, "", false);
    if (st == OK)
        st = add_percent(masks, value, length, large, "*", true);
    if (st == OK)
        st = add_percent(masks, value, length, large, of_paths, false);
    return st == OK ? add_percent(masks, value, length, large, "/", false) : st;
}

/* Six bits of the value from bit `at` on; those behind its end are 0. */
static unsigned bits_at(const char *value, size_t length, size_t at)
{
    size_t byte = at / 8, shift = at % 8;
    unsigned first = (unsigned char)value[byte];
    unsigned second = byte + 1 < length ? (unsigned char)value[byte + 1] : 0;
    return ((first << 8 | second) >> (10 - shift)) & 63;
}

/* The digits that stand for bits of the value alone, but for its first ones. */
static size_t encode(const char *value, size_t length, size_t skipped, const char *digits,
                     char *ret)
{
    size_t count = 0, bits = length * 8;
    for (size_t at = skipped; at + 6 <= bits; at += 6)
        ret[count++] = digits[bits_at(value, length, at)];
    return count;
}

/* What stands in a line of its own, if a program writes lines of that length. */
static enum status add_wrapped(struct masks *masks, const char *text, size_t length, size_t line)
{
    enum status st = OK;
    for (size_t at = 0; length > line && at < length && st == OK; at += line)
        st = add(masks, text + at, length - at < line ? length - at : line);
    return st;
}

static enum status add_base64_of(struct masks *masks, const char *value, size_t length,
                                 const char *digits, char *text)
{
    enum status st = OK;
    size_t count = 0;
    /* After one byte of something else the first 4 bits share a digit with that, after two 2. */
    for (size_t skipped = 6; skipped > 0 && st == OK;) {
        skipped -= 2;
        count = encode(value, length, skipped, digits, text);
        st = add(masks, text, count);
        size_t rest = length * 8 - skipped - count * 6;
        if (rest) { /* at the end of the whole */
            text[count++] = digits[bits_at(value, length, length * 8 - rest)];
            st = st == OK ? add(masks, text, count) : st;
        }
    }
    if (st == OK)
        st = add_wrapped(masks, text, count, 76);               /* base64(1), MIME */
    return st == OK ? add_wrapped(masks, text, count, 64) : st; /* PEM */
}

static enum status add_base64(struct masks *masks, const char *value, size_t length)
{
    char *text = malloc(length * 2 + 8);
    if (!text)
        return E_NOMEM;
    enum status st = add_base64_of(masks, value, length, plain_digits, text);
    if (st == OK)
        st = add_base64_of(masks, value, length, url_digits, text);
    explicit_bzero(text, length * 2 + 8);
    free(text);
    return st;
}

enum status mask_forms_add(struct masks *masks, const char *value, size_t length)
{
    if (length < MASKED_MIN)
        return OK;
    enum status st = add_lines(masks, value, length);
    if (st == OK)
        st = add_percents(masks, value, length);
    return st == OK ? add_base64(masks, value, length) : st;
}
