#include "text/tr.h"

#include <stdlib.h>
#include <string.h>

/* Of the process: a text is looked up wherever something is printed. */
static struct {
    enum language language;
    bool prints_data;
    const struct message *const *tables;
    const struct message **index; /* by their English text; NULL: not made yet, or no memory */
    size_t count;
} texts;

void tr_begin(enum language language, const struct message *const *tables)
{
    free(texts.index);
    texts.index = NULL;
    texts.count = 0;
    texts.language = language;
    texts.prints_data = false;
    texts.tables = tables;
}

void tr_set_language(enum language language)
{
    texts.language = language;
}

enum language tr_language(void)
{
    return texts.language;
}

void tr_answers_are_data(void)
{
    texts.prints_data = true;
}

enum language tr_language_of_answers(void)
{
    return texts.prints_data ? LANGUAGE_EN : texts.language;
}

static int compare(const void *a, const void *b)
{
    return strcmp((*(const struct message *const *)a)->en, (*(const struct message *const *)b)->en);
}

static void make_index(void)
{
    size_t count = 0;
    for (const struct message *const *table = texts.tables; *table; table++) {
        for (const struct message *row = *table; row->en; row++)
            count++;
    }
    if (!(texts.index = calloc(count + 1, sizeof(const struct message *))))
        return;
    for (const struct message *const *table = texts.tables; *table; table++) {
        for (const struct message *row = *table; row->en; row++)
            texts.index[texts.count++] = row;
    }
    qsort(texts.index, count, sizeof(const struct message *), compare);
}

const char *tr(const char *english)
{
    if (texts.language == LANGUAGE_EN || !texts.tables)
        return english;
    if (!texts.index)
        make_index();
    const struct message wanted = {.en = english}, *key = &wanted;
    const struct message *const *found =
        texts.index
            ? bsearch(&key, texts.index, texts.count, sizeof(const struct message *), compare)
            : NULL;
    return found ? (*found)->zh : english;
}
