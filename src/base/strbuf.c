#include "strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty_text[1];

void strbuf_init(struct strbuf *buf)
{
    *buf = (struct strbuf){.text = empty_text};
}

void strbuf_release(struct strbuf *buf)
{
    if (buf->capacity)
        free(buf->text);
    strbuf_init(buf);
}

void strbuf_wipe(struct strbuf *buf)
{
    if (buf->capacity)
        explicit_bzero(buf->text, buf->capacity);
    strbuf_release(buf);
}

void strbuf_reset(struct strbuf *buf)
{
    buf->failed = false;
    strbuf_truncate(buf, 0);
}

void strbuf_truncate(struct strbuf *buf, size_t length)
{
    if (length >= buf->length)
        return;
    buf->length = length;
    buf->text[length] = '\0';
}

/* Room for `more` bytes and the terminator; false, and failed set, when there is none. */
static bool reserve(struct strbuf *buf, size_t more)
{
    if (buf->failed)
        return false;
    if (more < buf->capacity - buf->length && buf->capacity)
        return true;
    if (more > SIZE_MAX / 2 - buf->length - 1) {
        buf->failed = true;
        return false;
    }
    size_t capacity = buf->capacity ? buf->capacity * 2 : 64;
    if (capacity < buf->length + more + 1)
        capacity = buf->length + more + 1;
    char *text = realloc(buf->capacity ? buf->text : NULL, capacity);
    if (!text) {
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->capacity = capacity;
    buf->text[buf->length] = '\0';
    return true;
}

void strbuf_reserve(struct strbuf *buf, size_t more)
{
    (void)reserve(buf, more);
}

void strbuf_add(struct strbuf *buf, const void *bytes, size_t length)
{
    if (!length || !reserve(buf, length))
        return;
    memcpy(buf->text + buf->length, bytes, length);
    buf->length += length;
    buf->text[buf->length] = '\0';
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_addc(struct strbuf *buf, char c)
{
    if (!reserve(buf, 1))
        return;
    buf->text[buf->length++] = c;
    buf->text[buf->length] = '\0';
}

void strbuf_add_number(struct strbuf *buf, int64_t number)
{
    char digits[20]; /* of the least number */
    size_t at = sizeof(digits);
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do
        digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        digits[--at] = '-';
    strbuf_add(buf, digits + at, sizeof(digits) - at);
}

void strbuf_addv(struct strbuf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) {
        buf->failed = true;
        return;
    }
    if (!reserve(buf, (size_t)length))
        return;
    vsnprintf(buf->text + buf->length, (size_t)length + 1, format, args);
    buf->length += (size_t)length;
}

void strbuf_addf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_addv(buf, format, args);
    va_end(args);
}

enum status strbuf_status(const struct strbuf *buf)
{
    return buf->failed ? E_NOMEM : OK;
}

char *strbuf_detach(struct strbuf *buf)
{
    char *text = NULL;
    if (!buf->failed)
        text = buf->capacity ? buf->text : calloc(1, 1);
    else if (buf->capacity)
        free(buf->text);
    strbuf_init(buf);
    return text;
}
