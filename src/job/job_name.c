#include "job_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* What may be in a name besides letters and digits, and what is told of anything else. */
struct alphabet {
    const char *marks;
    const char *complaint;
    size_t max; /* bytes */
    const char *too_long;
    bool starts_with_mark; /* may it? */
};

enum letter_kind { LETTER_NONE, LETTER_FIRST, LETTER_LATER };

/* Invisible letters, such as the fillers of Hangul, are none; accents that no letter is composed
 * with stand behind another one. */
static enum letter_kind kind_of(utf8proc_int32_t c)
{
    const utf8proc_property_t *property = utf8proc_get_property(c);
    if (property->ignorable)
        return LETTER_NONE;
    int category = property->category;
    bool is_letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    if (is_letter || category == UTF8PROC_CATEGORY_ND)
        return LETTER_FIRST;
    bool is_accent = category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC;
    return is_accent ? LETTER_LATER : LETTER_NONE;
}

/* Out of memory counts as not composed: the name is refused, not taken unchecked. */
static bool is_composed(const char *name)
{
    utf8proc_uint8_t *composed = utf8proc_NFC((const utf8proc_uint8_t *)name);
    bool is_same = composed && strcmp((const char *)composed, name) == 0;
    free(composed);
    return is_same;
}

static const char *complaint(const char *name, const struct alphabet *alphabet)
{
    if (!*name)
        return "is empty";
    bool is_ascii = true;
    for (const char *at = name; *at;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t length = utf8proc_iterate((const utf8proc_uint8_t *)at, -1, &c);
        if (length <= 0)
            return "is not UTF-8";
        enum letter_kind kind = kind_of(c);
        if (at == name && kind != LETTER_FIRST && !alphabet->starts_with_mark)
            return "must start with a letter or a digit";
        if (kind == LETTER_NONE && !(c < 0x80 && strchr(alphabet->marks, c)))
            return alphabet->complaint;
        is_ascii = is_ascii && c < 0x80;
        at += length;
    }
    if (strlen(name) > alphabet->max)
        return alphabet->too_long;
    return is_ascii || is_composed(name)
               ? NULL
               : "is written with separate accents; write it with composed letters (Unicode NFC)";
}

const char *job_name_complaint(const char *name)
{
    static const struct alphabet alphabet = {"._/-", "may hold letters, digits and . _ / - only",
                                             JOB_NAME_MAX, "is longer than 128 bytes", false};
    const char *found = complaint(name, &alphabet);
    if (!found && (strstr(name, "//") || name[strlen(name) - 1] == '/'))
        return "has a slash with no name behind it";
    return found;
}

const char *channel_name_complaint(const char *name)
{
    static const struct alphabet alphabet = {"._-", "may hold letters, digits and . _ - only",
                                             CHANNEL_NAME_MAX, "is longer than 63 bytes", false};
    return complaint(name, &alphabet);
}

const char *calendar_name_complaint(const char *name)
{
    static const struct alphabet alphabet = {"._-", "may hold letters, digits and . _ - only",
                                             CALENDAR_NAME_MAX, "is longer than 63 bytes", false};
    return complaint(name, &alphabet);
}

const char *group_name_complaint(const char *name)
{
    static const struct alphabet alphabet = {"._-", "may hold letters, digits and . _ - only",
                                             GROUP_NAME_MAX, "is longer than 63 bytes", false};
    return complaint(name, &alphabet);
}

const char *namespace_complaint(const char *name)
{
    static const struct alphabet alphabet = {
        "._/-", "a namespace may hold letters, digits and . _ / - only", NAMESPACE_MAX,
        "a namespace has 1 to 127 bytes", true};
    if (!*name)
        return alphabet.too_long;
    if (name[0] == '/' || name[strlen(name) - 1] == '/' || strstr(name, "//"))
        return "the slashes of a namespace stand between its parts";
    return complaint(name, &alphabet);
}

static size_t namespace_length(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? (size_t)(slash - name) : 0;
}

bool job_name_is_beside(const char *name, const char *other)
{
    size_t length = namespace_length(name);
    return namespace_length(other) == length && strncmp(name, other, length) == 0;
}
