#include "log/particulars.h"

#include <string.h>

/* Length of a name with its "=" at the start of the text; 0: none is there. */
static size_t key_length(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length && text[length] == '=' ? length + 1 : 0;
}

/* Length of a value: up to the closing quote, or to the blank before the next name. */
static size_t value_length(const char *text)
{
    size_t at = 0;
    if (*text == '"') {
        const char *end = strchr(text + 1, '"');
        /* Quotes inside are not marked: the last one before a name, or the end, closes it. */
        while (end && end[1] && !(end[1] == ' ' && key_length(end + 2)))
            end = strchr(end + 1, '"');
        return end ? (size_t)(end - text) + 1 : strlen(text);
    }
    while (text[at] && !(text[at] == ' ' && key_length(text + at + 1)))
        at++;
    return at;
}

bool particulars_next(const char **text, struct particular *ret)
{
    const char *at = *text + strspn(*text, " ");
    if (!*at)
        return false;
    size_t key = key_length(at);
    ret->key = key ? at : NULL;
    ret->key_length = key ? key - 1 : 0;
    ret->value = at + key;
    ret->value_length = value_length(ret->value);
    *text = ret->value + ret->value_length;
    ret->is_quoted = ret->value_length >= 2 && ret->value[0] == '"' && (*text)[-1] == '"';
    if (ret->is_quoted) {
        ret->value++;
        ret->value_length -= 2;
    }
    return true;
}
