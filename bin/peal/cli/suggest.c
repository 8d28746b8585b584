#include "cli/suggest.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 32 }; /* longer words are not worth a guess */

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[a_length % 3][b_length];
}

struct suggestion suggest_start(const char *word, size_t length)
{
    /* A third of the word may be wrong, one letter in any case. */
    size_t allowed = length / 3 > 1 ? length / 3 : 1;
    return (struct suggestion){.word = word, .length = length, .distance = allowed + 1};
}

void suggest_offer(struct suggestion *suggestion, const char *name)
{
    size_t length = strlen(name);
    if (suggestion->length == 0 || suggestion->length > WORD_MAX || length > WORD_MAX)
        return;
    bool is_start = suggestion->length >= 3 && length > suggestion->length &&
                    strncmp(name, suggestion->word, suggestion->length) == 0;
    size_t distance =
        is_start ? 1 : edit_distance(suggestion->word, suggestion->length, name, length);
    if (distance < suggestion->distance) {
        suggestion->distance = distance;
        suggestion->name = name;
    }
}
