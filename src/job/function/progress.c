#include "function/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct progress progress_make(int percent, const char *words)
{
    struct progress progress = {.percent = percent < 0 ? 0 : percent > 100 ? 100 : percent};
    size_t length = 0;
    for (; words && words[length] && length < PROGRESS_WORDS; length++) {
        unsigned char c = (unsigned char)words[length];
        progress.words[length] = c < ' ' || c == 0x7f || c == ';' ? ' ' : (char)c;
    }
    if (words && ((unsigned char)words[length] & 0xC0) == 0x80) { /* within a character */
        while (length && ((unsigned char)progress.words[length - 1] & 0xC0) == 0x80)
            length--;
        length -= length > 0; /* its first byte */
    }
    progress.words[length] = '\0';
    return progress;
}

void progress_print(const struct progress *progress, char *to, size_t size)
{
    snprintf(to, size, "%d%%%s%s", progress->percent, *progress->words ? " " : "", progress->words);
}

/* "40% rows", up to `end`. */
static bool read_one(const char *text, const char *end, struct progress *ret)
{
    char *after;
    if (text == end || *text < '0' || *text > '9')
        return false;
    long percent = strtol(text, &after, 10);
    if (after >= end || *after != '%' || percent > 100 || (after + 1 < end && after[1] != ' '))
        return false;
    const char *words = after + 1 < end ? after + 2 : end;
    size_t length = (size_t)(end - words);
    if (length > PROGRESS_WORDS)
        return false;
    *ret = (struct progress){.percent = (int)percent};
    memcpy(ret->words, words, length);
    return true;
}

/* ID40% rows;ID7% files; */
bool progress_add(char text[PROGRESS_SIZE], const struct id *run_id,
                  const struct progress *progress)
{
    char id[ID_TEXT + 1], one[PROGRESS_WORDS + 8];
    size_t length = strlen(text);
    id_format(run_id, id);
    progress_print(progress, one, sizeof(one));
    if (length + strlen(id) + strlen(one) + 2 > PROGRESS_SIZE)
        return false;
    snprintf(text + length, PROGRESS_SIZE - length, "%s%s;", id, one);
    return true;
}

bool progress_find(const char *text, const struct id *run_id, struct progress *ret)
{
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    const char *found = strstr(text, id);
    const char *end = found ? strchr(found, ';') : NULL;
    return end && read_one(found + strlen(id), end, ret);
}

bool progress_of_run(const struct run *run, struct progress *ret)
{
    return run_state_is_end(run->state) &&
           read_one(run->detail, run->detail + strlen(run->detail), ret);
}
