#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 8, TEXT_SIZE = 32 };

/* In buffers of the thread, as strerror does it: callers treat a name as a constant, and unknown
 * numbers are rare. */
static const char *unknown_name(const struct word_table *words, unsigned number)
{
    static _Thread_local char texts[TEXTS][TEXT_SIZE];
    static _Thread_local unsigned next;
    char *text = texts[next++ % TEXTS];
    if (word_can_be(number))
        snprintf(text, TEXT_SIZE, "%s-%u", words->kind, number);
    else
        snprintf(text, TEXT_SIZE, "%s-?", words->kind);
    return text;
}

const char *words_name(const struct word_table *words, unsigned number)
{
    return number < words->count ? words->names[number] : unknown_name(words, number);
}

enum status words_find(const struct word_table *words, const char *name, unsigned *ret)
{
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(name, words->names[i]) == 0) {
            *ret = (unsigned)i;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

enum status words_read(const struct word_table *words, const char *name, unsigned *ret)
{
    size_t kind = strlen(words->kind);
    enum status st = words_find(words, name, ret);
    if (st == OK || strncmp(name, words->kind, kind) != 0 || name[kind] != '-')
        return st;
    const char *digits = name + kind + 1;
    size_t length = strspn(digits, "0123456789");
    if (!length || length > 4 || digits[length] || (digits[0] == '0' && length > 1))
        return E_NOT_FOUND;
    unsigned number = (unsigned)strtoul(digits, NULL, 10);
    if (!word_can_be(number) || number < words->count)
        return E_NOT_FOUND;
    *ret = number;
    return OK;
}
