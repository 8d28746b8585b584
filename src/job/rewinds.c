#include "rewinds.h"

#include <stdlib.h>
#include <string.h>

/* ---- gaps ---- */

static void remove_at(struct rewinds *rewinds, int at)
{
    rewinds->gap_count--;
    memmove(&rewinds->gaps[at], &rewinds->gaps[at + 1],
            (size_t)(rewinds->gap_count - at) * sizeof(rewinds->gaps[0]));
}

/* Merges the gaps that overlap it or are adjacent; drops the oldest gap when there is no room. */
static void add_gap(struct rewinds *rewinds, struct tick_gap gap)
{
    if (gap.from_ms > gap.to_ms)
        return;
    for (int i = rewinds->gap_count - 1; i >= 0; i--) {
        struct tick_gap *other = &rewinds->gaps[i];
        if (other->to_ms < gap.from_ms - 1 || other->from_ms > gap.to_ms + 1)
            continue;
        gap.from_ms = other->from_ms < gap.from_ms ? other->from_ms : gap.from_ms;
        gap.to_ms = other->to_ms > gap.to_ms ? other->to_ms : gap.to_ms;
        remove_at(rewinds, i);
    }
    if (rewinds->gap_count == REWIND_GAPS_MAX) {
        if (gap.to_ms < rewinds->gaps[0].from_ms)
            return;
        remove_at(rewinds, 0);
    }
    int at = rewinds->gap_count++;
    for (; at > 0 && rewinds->gaps[at - 1].from_ms > gap.from_ms; at--)
        rewinds->gaps[at] = rewinds->gaps[at - 1];
    rewinds->gaps[at] = gap;
}

/* Removes from..to from all gaps. */
static void cut(struct rewinds *rewinds, int64_t from_ms, int64_t to_ms)
{
    struct rewinds before = *rewinds;
    rewinds->gap_count = 0;
    for (int i = 0; i < before.gap_count; i++) {
        struct tick_gap gap = before.gaps[i];
        if (gap.to_ms < from_ms || gap.from_ms > to_ms) {
            add_gap(rewinds, gap);
            continue;
        }
        add_gap(rewinds, (struct tick_gap){gap.from_ms, from_ms - 1});
        add_gap(rewinds, (struct tick_gap){to_ms + 1, gap.to_ms});
    }
}

static int64_t later(int64_t one_ms, int64_t other_ms)
{
    return one_ms > other_ms ? one_ms : other_ms;
}

static int64_t sooner(int64_t one_ms, int64_t other_ms)
{
    return one_ms < other_ms ? one_ms : other_ms;
}

/* ---- the cursor moves ---- */

/* Where the cursor passes a span again, only instants that were in a gap before can stay in one. */
void rewinds_move_on(struct rewinds *rewinds, int64_t from_ms, int64_t to_ms, int64_t unstarted_ms)
{
    struct rewinds before = *rewinds;
    struct tick_gap unstarted = {from_ms + 1, unstarted_ms};
    if (from_ms < before.high_ms) {
        cut(rewinds, from_ms + 1, to_ms);
        for (int i = 0; i < before.gap_count; i++)
            add_gap(rewinds, (struct tick_gap){later(before.gaps[i].from_ms, unstarted.from_ms),
                                               sooner(before.gaps[i].to_ms, unstarted.to_ms)});
        unstarted.from_ms = later(unstarted.from_ms, before.high_ms + 1);
    }
    add_gap(rewinds, unstarted);
    if (to_ms >= rewinds->high_ms)
        rewinds->high_ms = 0;
}

void rewinds_move_back(struct rewinds *rewinds, int64_t from_ms)
{
    rewinds->count++;
    rewinds->high_ms = later(rewinds->high_ms, from_ms);
}

bool rewinds_start(struct rewinds *rewinds, int64_t tick_ms)
{
    for (int i = 0; i < rewinds->gap_count; i++) {
        if (rewinds->gaps[i].from_ms <= tick_ms && tick_ms <= rewinds->gaps[i].to_ms) {
            cut(rewinds, tick_ms, tick_ms);
            return true;
        }
    }
    return false;
}

int64_t rewinds_next_open(const struct rewinds *rewinds, int64_t after_ms)
{
    if (after_ms > rewinds->high_ms)
        return after_ms;
    for (int i = 0; i < rewinds->gap_count; i++) {
        if (rewinds->gaps[i].to_ms >= after_ms)
            return sooner(later(after_ms, rewinds->gaps[i].from_ms), rewinds->high_ms + 1);
    }
    return rewinds->high_ms + 1;
}

bool rewinds_is_open(const struct rewinds *rewinds, int64_t tick_ms)
{
    return rewinds_next_open(rewinds, tick_ms) == tick_ms;
}

bool rewinds_are_open(const struct rewinds *rewinds, int64_t from_ms, int64_t to_ms)
{
    if (from_ms > rewinds->high_ms)
        return true;
    for (int i = 0; i < rewinds->gap_count; i++) {
        const struct tick_gap *gap = &rewinds->gaps[i];
        if (gap->from_ms <= from_ms && from_ms <= gap->to_ms)
            return to_ms <= gap->to_ms || gap->to_ms >= rewinds->high_ms;
    }
    return false;
}

/* ---- text ---- */

/* By hand: they are written with each step of a job's cursor. */
static char *write_number(char *to, int64_t value)
{
    char digits[24];
    int count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        digits[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *to++ = '-';
    while (count)
        *to++ = digits[--count];
    return to;
}

void rewinds_write_gaps(const struct rewinds *rewinds, char text[static REWIND_GAPS_TEXT])
{
    char *to = text;
    for (int i = 0; i < rewinds->gap_count; i++) {
        if (i)
            *to++ = ',';
        to = write_number(to, rewinds->gaps[i].from_ms);
        *to++ = '-';
        to = write_number(to, rewinds->gaps[i].to_ms);
    }
    *to = '\0';
}

bool rewinds_read_gaps(struct rewinds *rewinds, const char *text)
{
    struct rewinds read = {.gap_count = 0};
    rewinds->gap_count = 0;
    while (*text) {
        char *end;
        struct tick_gap gap = {.from_ms = strtoll(text, &end, 10)};
        if (end == text || *end != '-' || read.gap_count == REWIND_GAPS_MAX)
            return false;
        text = end + 1;
        gap.to_ms = strtoll(text, &end, 10);
        if (end == text || (*end && *end != ','))
            return false;
        text = *end ? end + 1 : end;
        add_gap(&read, gap);
    }
    rewinds->gap_count = read.gap_count;
    memcpy(rewinds->gaps, read.gaps, sizeof(read.gaps));
    return true;
}
