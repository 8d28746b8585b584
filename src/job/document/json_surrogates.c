#include "document/json_surrogates.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { PAIR_LENGTH = 12 }; /* \ud83d\ude00 */

static int hex_value(char c)
{
    if (isdigit((unsigned char)c))
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The code unit of the six-byte escape at `at`; -1: not an escape. */
static int32_t escape_at(const char *at)
{
    int32_t value = 0;
    if (at[0] != '\\' || at[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The character of the surrogate pair at `at`; 0: not a pair. */
static uint32_t pair_at(const char *at, const char *end)
{
    if (end - at < PAIR_LENGTH)
        return 0;
    int32_t high = escape_at(at), low = escape_at(at + PAIR_LENGTH / 2);
    if (high < 0xD800 || high > 0xDBFF || low < 0xDC00 || low > 0xDFFF)
        return 0;
    return (uint32_t)(0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00));
}

/* The next backslash, or the end. */
static const char *next_backslash(const char *at, const char *end)
{
    const char *found = memchr(at, '\\', (size_t)(end - at));
    return found ? found : end;
}

bool json_has_surrogates(const char *text, size_t length)
{
    const char *end = text + length;
    const char *at = text;
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    if (at == end || (*at != '{' && *at != '['))
        return false;
    for (at = next_backslash(at, end); at < end; at = next_backslash(at, end)) {
        if (pair_at(at, end))
            return true;
        at += end - at > 1 ? 2 : 1; /* the escaped character can't start an escape */
    }
    return false;
}

void json_join_surrogates(const char *text, size_t length, struct strbuf *out)
{
    const char *end = text + length;
    while (text < end) {
        const char *backslash = next_backslash(text, end);
        strbuf_add(out, text, (size_t)(backslash - text));
        text = backslash;
        if (text == end)
            break;
        uint32_t c = pair_at(text, end);
        size_t size = c ? PAIR_LENGTH : end - text > 1 ? 2 : 1;
        if (c)
            strbuf_addf(out, "\\U%08X", (unsigned)c);
        else
            strbuf_add(out, text, size);
        text += size;
    }
}
