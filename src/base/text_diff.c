#include "text_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3, LINES_MAX = 5000 };

struct line {
    const char *text;
    size_t length; /* without its line end */
};

struct lines {
    struct line *items;
    size_t count;
};

/* One step of the way from the old text to the new one. */
struct step {
    char mark; /* ' ', '-' or '+' */
    const struct line *line;
};

static enum status split(const char *text, struct lines *ret)
{
    size_t count = 0;
    for (const char *c = text; *c; c++)
        count += *c == '\n' || !c[1];
    if (count > LINES_MAX)
        return E_TOO_LARGE;
    ret->items = calloc(count + 1, sizeof(*ret->items));
    if (!ret->items)
        return E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(text, "\n");
        ret->items[i] = (struct line){text, length};
        text += length + (text[length] == '\n');
    }
    ret->count = count;
    return OK;
}

static bool same(const struct line *a, const struct line *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* best[i][j]: the length of the longest common subsequence of old[i..] and new[j..]. */
static uint16_t *common_lengths(const struct lines *old, const struct lines *new)
{
    size_t width = new->count + 1;
    uint16_t *best = calloc((old->count + 1) * width, sizeof(*best));
    if (!best)
        return NULL;
    for (size_t i = old->count; i-- > 0;) {
        for (size_t j = new->count; j-- > 0;) {
            uint16_t down = best[(i + 1) * width + j], right = best[i * width + j + 1];
            best[i * width + j] = same(&old->items[i], &new->items[j])
                                      ? (uint16_t)(best[(i + 1) * width + j + 1] + 1)
                                      : (down > right ? down : right);
        }
    }
    return best;
}

static size_t walk(const struct lines *old, const struct lines *new, const uint16_t *best,
                   struct step *steps)
{
    size_t width = new->count + 1, i = 0, j = 0, count = 0;
    while (i < old->count || j < new->count) {
        bool both = i < old->count && j < new->count;
        if (both && same(&old->items[i], &new->items[j])) {
            steps[count++] = (struct step){' ', &old->items[i]};
            i++;
            j++;
        } else if (i < old->count &&
                   (!both || best[(i + 1) * width + j] >= best[i * width + j + 1])) {
            steps[count++] = (struct step){'-', &old->items[i++]};
        } else {
            steps[count++] = (struct step){'+', &new->items[j++]};
        }
    }
    return count;
}

/* The end of the hunk that starts at `from`: where more than twice the context stays the same. */
static size_t hunk_end(const struct step *steps, size_t count, size_t from)
{
    size_t end = from, quiet = 0;
    for (size_t i = from; i < count && quiet <= 2 * (size_t)CONTEXT; i++) {
        quiet = steps[i].mark == ' ' ? quiet + 1 : 0;
        if (!quiet)
            end = i + 1;
    }
    return end + CONTEXT < count ? end + CONTEXT : count;
}

static void print_range(char mark, size_t start, size_t length, struct strbuf *out)
{
    strbuf_addf(out, "%c%zu", mark, length ? start + 1 : start);
    if (length != 1)
        strbuf_addf(out, ",%zu", length);
}

static void print_hunk(const struct step *steps, size_t from, size_t to, size_t old_at,
                       size_t new_at, struct strbuf *out)
{
    size_t old_length = 0, new_length = 0;
    for (size_t i = from; i < to; i++) {
        old_length += steps[i].mark != '+';
        new_length += steps[i].mark != '-';
    }
    strbuf_adds(out, "@@ ");
    print_range('-', old_at, old_length, out);
    strbuf_addc(out, ' ');
    print_range('+', new_at, new_length, out);
    strbuf_adds(out, " @@\n");
    for (size_t i = from; i < to; i++) {
        strbuf_addc(out, steps[i].mark);
        strbuf_add(out, steps[i].line->text, steps[i].line->length);
        strbuf_addc(out, '\n');
    }
}

static void print_hunks(const struct step *steps, size_t count, struct strbuf *out)
{
    size_t done = 0, old_at = 0, new_at = 0; /* lines of either text before steps[done] */
    for (size_t i = 0; i < count; i++) {
        if (steps[i].mark == ' ' || i < done)
            continue;
        size_t from = i > done + CONTEXT ? i - CONTEXT : done;
        size_t to = hunk_end(steps, count, i);
        for (; done < from; done++) { /* all of these are unchanged */
            old_at++;
            new_at++;
        }
        print_hunk(steps, from, to, old_at, new_at, out);
        for (; done < to; done++) {
            old_at += steps[done].mark != '+';
            new_at += steps[done].mark != '-';
        }
    }
}

enum status text_diff(const char *old_name, const char *old_text, const char *new_name,
                      const char *new_text, struct strbuf *out)
{
    struct lines old = {0}, new = {0};
    uint16_t *best = NULL;
    struct step *steps = NULL;
    if (strcmp(old_text, new_text) == 0)
        return OK;
    enum status st = split(old_text, &old);
    if (st == OK)
        st = split(new_text, &new);
    if (st != OK)
        goto out;
    best = common_lengths(&old, &new);
    steps = calloc(old.count + new.count + 1, sizeof(*steps));
    st = E_NOMEM;
    if (!best || !steps)
        goto out;
    size_t count = walk(&old, &new, best, steps);
    strbuf_addf(out, "--- %s\n+++ %s\n", old_name, new_name);
    print_hunks(steps, count, out);
    st = strbuf_status(out);
out:
    free(steps);
    free(best);
    free(old.items);
    free(new.items);
    return st;
}
