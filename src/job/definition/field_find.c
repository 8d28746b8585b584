/* Finds fields and words by name, and the nearest ones to a mistyped name. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "definition/job_fields.h"

static const struct field *find_from(const struct field *field, const char *name, size_t length)
{
    for (; field->name; field++) {
        if (field->name[0] == name[0] && strncmp(field->name, name, length) == 0 &&
            !field->name[length])
            return field;
    }
    return NULL;
}

const struct field *field_find(const struct field *fields, const struct field **next,
                               const char *name, size_t length)
{
    const struct field *field = length ? find_from(*next, name, length) : NULL;
    if (!field && length)
        field = find_from(fields, name, length);
    if (field)
        *next = field + 1;
    return field;
}

void field_words(const struct field *field, char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; field->words[i] && used < size; i++) {
        const char *before = i == 0 ? "" : field->words[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, field->words[i]);
    }
}

/* Edit distance: letters to add, drop, change or swap with their neighbour, ignoring case. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t rows[3][LONGEST + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            size_t best = above[j - 1] + (x != y);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && rows[(i - 2) % 3][j - 2] + 1 < best)
                best = rows[(i - 2) % 3][j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[length_a % 3][length_b];
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (; length && list; list = strchr(list, ' ')) {
        list += *list == ' ';
        if (strncmp(list, word, length) == 0 && strchr(" ", list[length]))
            return true;
    }
    return false;
}

/* Keeps the better of two candidates. A prefix of three letters or more has the distance 1. */
static void consider(const char *typed, const char *name, const char **best, size_t *best_distance)
{
    size_t length = strlen(typed);
    bool is_start = length >= 3 && strncmp(name, typed, length) == 0;
    size_t d = is_start ? 1 : distance(typed, name);
    if (d < *best_distance) {
        *best_distance = d;
        *best = name;
    }
}

/* A third of the letters may be wrong. */
static size_t worst_distance(const char *typed)
{
    return strlen(typed) / 3 + 1;
}

const char *field_nearest(const struct field *fields, bool with_meta, const char *typed)
{
    const char *best = NULL;
    size_t best_distance = worst_distance(typed);
    for (const struct field *field = fields; field->name; field++) {
        if (has_word(field->also, typed))
            return field->name;
    }
    for (; fields->name; fields++) {
        if (with_meta || !fields->meta)
            consider(typed, fields->name, &best, &best_distance);
    }
    return best;
}

const char *word_nearest(const char *const *words, const char *typed)
{
    const char *best = NULL;
    size_t best_distance = worst_distance(typed);
    for (; *words; words++)
        consider(typed, *words, &best, &best_distance);
    return best;
}
