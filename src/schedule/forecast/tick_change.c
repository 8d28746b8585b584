#include "forecast/tick_change.h"

/* One list on the way through both, without the ticks that both have. */
struct walk {
    const struct ticks *ticks, *other;
    size_t at, other_at;
};

/* The tick that is next in this list alone, from *at on; NEVER: none. */
static int64_t peek(const struct walk *walk, size_t *at, size_t *other_at)
{
    const struct ticks *ticks = walk->ticks, *other = walk->other;
    for (; *at < ticks->count; ++*at) {
        int64_t tick_s = ticks->at_s[*at];
        while (*other_at < other->count && other->at_s[*other_at] < tick_s)
            ++*other_at;
        if (*other_at == other->count || other->at_s[*other_at] != tick_s)
            return tick_s;
    }
    return NEVER;
}

static int64_t first(struct walk *walk)
{
    return peek(walk, &walk->at, &walk->other_at);
}

/* The one after the first. */
static int64_t second(const struct walk *walk)
{
    size_t at = walk->at + 1, other_at = walk->other_at;
    return peek(walk, &at, &other_at);
}

static int64_t distance(int64_t a_s, int64_t b_s)
{
    if (a_s == NEVER || b_s == NEVER)
        return NEVER;
    return a_s < b_s ? b_s - a_s : a_s - b_s;
}

static void note(struct tick_change *change, enum tick_change_kind kind, int64_t before_s,
                 int64_t after_s)
{
    int64_t early_s = kind == TICK_GAINED ? after_s : before_s;
    int64_t late_s = kind == TICK_LOST ? before_s : after_s;
    if (late_s < early_s) {
        int64_t swapped_s = early_s;
        early_s = late_s;
        late_s = swapped_s;
    }
    if (change->gained + change->lost + change->moved == 0 || early_s < change->first_s)
        change->first_s = early_s;
    if (late_s > change->last_s)
        change->last_s = late_s;
    if (change->shown_count < TICK_DIFFERENCES)
        change->shown[change->shown_count++] = (struct tick_difference){kind, before_s, after_s};
    change->gained += kind == TICK_GAINED;
    change->lost += kind == TICK_LOST;
    if (kind != TICK_SHIFTED)
        return;
    int64_t shift_s = after_s - before_s;
    if (change->moved == 0 || shift_s < change->least_s)
        change->least_s = shift_s;
    if (change->moved == 0 || shift_s > change->most_s)
        change->most_s = shift_s;
    change->moved++;
}

/* Whether a tick may be left alone for the sake of a nearer pair. */
enum pairing {
    PAIR_MOST,    /* if the number of pairs stays the same */
    PAIR_NEAREST, /* in any case */
};

/* Is the earlier of the two better left alone, so that the later one gets the nearer partner? */
static bool is_passed_by(enum pairing pairing, const struct walk *early, const struct walk *late,
                         int64_t limit_s)
{
    struct walk others[] = {*early, *late};
    int64_t early_s = first(&others[0]), late_s = first(&others[1]), next_s = second(early);
    return distance(next_s, late_s) < late_s - early_s &&
           (pairing == PAIR_NEAREST || distance(next_s, second(late)) >= limit_s);
}

/* Nearer than this two ticks may be one that has moved. */
static int64_t pair_limit(const struct ticks *before, const struct ticks *after, int64_t from_s)
{
    size_t most = before->count > after->count ? before->count : after->count;
    return most ? (after->until_s - from_s) / (int64_t)most : 0;
}

static struct tick_change pair(enum pairing pairing, const struct ticks *before,
                               const struct ticks *after, int64_t limit_s, double *ret_cost)
{
    struct tick_change change = {.before = before->count, .after = after->count};
    struct walk old = {.ticks = before, .other = after}, new = {.ticks = after, .other = before};
    double shifts_s = 0;
    for (;;) {
        int64_t old_s = first(&old), new_s = first(&new), apart_s = distance(old_s, new_s);
        if (old_s == NEVER && new_s == NEVER)
            break;
        bool is_near = apart_s < limit_s;
        if (old_s < new_s && (!is_near || is_passed_by(pairing, &old, &new, limit_s))) {
            note(&change, TICK_LOST, old_s, 0);
            old.at++;
        } else if (new_s < old_s && (!is_near || is_passed_by(pairing, &new, &old, limit_s))) {
            note(&change, TICK_GAINED, 0, new_s);
            new.at++;
        } else {
            note(&change, TICK_SHIFTED, old_s, new_s);
            shifts_s += (double)apart_s;
            old.at++;
            new.at++;
        }
    }
    change.kept = change.before - change.lost - change.moved;
    *ret_cost = shifts_s + 2.0 * (double)limit_s * (double)(change.lost + change.gained);
    return change;
}

/* Weekdays at 01:00 that go to 23:00 are all a day's length later: the most pairs. A daily job
 * whose first tick of the span is in one list alone would be moved by nearly a day: the nearest
 * ones. */
struct tick_change tick_change_of(const struct ticks *before, const struct ticks *after,
                                  int64_t from_s)
{
    int64_t limit_s = pair_limit(before, after, from_s);
    double most_cost, nearest_cost;
    struct tick_change most = pair(PAIR_MOST, before, after, limit_s, &most_cost);
    struct tick_change nearest = pair(PAIR_NEAREST, before, after, limit_s, &nearest_cost);
    return nearest_cost < most_cost ? nearest : most;
}
