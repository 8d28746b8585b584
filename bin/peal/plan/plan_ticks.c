#include "plan/plan_ticks.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUDGET = 60 * 1000 * 1000, /* some seconds */
    MOST = 600 * 1000,         /* of one job: each minute of a year */
    LEAST = 400,               /* each day of a year */
};

static const struct table_type known_type = {.key_at = offsetof(struct plan_ticks, key),
                                             .is_pointer = true};

void plan_clock_init(struct plan_clock *clock, struct zone_db *zones, int64_t from_s,
                     int64_t until_s)
{
    *clock =
        (struct plan_clock){.zones = zones, .from_s = from_s, .until_s = until_s, .budget = BUDGET};
    table_init(&clock->known, &known_type);
}

static void ticks_free(struct plan_ticks *ticks)
{
    free(ticks->key);
    free(ticks);
}

void plan_clock_release(struct plan_clock *clock)
{
    struct plan_ticks *ticks;
    size_t at = 0;
    while ((ticks = table_next(&clock->known, &at)))
        ticks_free(ticks);
    table_release(&clock->known);
}

/* A side on its way to ticks. */
struct reading_side {
    const struct plan_side *side;
    struct schedule_set set;
    struct ticks ticks;
};

static enum status parse(const struct plan_clock *clock, struct reading_side *side)
{
    struct parse_error error;
    if (!side->side->job || side->side->job->paused)
        return OK;
    return job_schedules(side->side->job, clock->zones, &side->set, &error);
}

static void find_clocks(const struct plan_clock *clock, const struct schedule_set *set,
                        struct plan_ticks *ret)
{
    for (size_t i = 0; i < set->count; i++) {
        int64_t after_s = clock->from_s;
        struct clock_change change;
        while (ret->clock_count < PLAN_CLOCKS &&
               clock_change_next(set->items[i], after_s, clock->until_s, &change)) {
            ret->clocks[ret->clock_count++] = change;
            after_s = change.at_s;
        }
    }
}

/* Frequent ticks get what is left of the budget, in equal parts. */
static size_t limit_of(const struct plan_clock *clock, size_t left)
{
    size_t share = clock->budget / (2 * (left ? left : 1));
    return share > MOST ? MOST : share < LEAST ? LEAST : share;
}

static enum status compare(struct plan_clock *clock, struct reading_side *before,
                           struct reading_side *after, size_t left, struct plan_ticks *ret)
{
    size_t limit = limit_of(clock, left);
    enum status st = ticks_collect(&before->set, &before->side->calendars, clock->from_s,
                                   clock->until_s, limit, &before->ticks);
    if (st == OK)
        st = ticks_collect(&after->set, &after->side->calendars, clock->from_s,
                           before->ticks.until_s, limit, &after->ticks);
    if (st != OK)
        return st;
    size_t used = before->ticks.count + after->ticks.count;
    clock->budget -= used < clock->budget ? used : clock->budget;
    ticks_cut(&before->ticks, after->ticks.until_s);
    ret->change = tick_change_of(&before->ticks, &after->ticks, clock->from_s);
    ret->until_s = after->ticks.until_s;
    ret->excluded_before = before->ticks.excluded;
    ret->excluded = after->ticks.excluded;
    const struct schedule_set *shown = after->set.count ? &after->set : &before->set;
    ret->zone = shown->count ? schedule_zone(shown->items[0]) : zone_utc();
    find_clocks(clock, &after->set, ret);
    return OK;
}

static enum status remember(struct plan_clock *clock, struct reading_side *before,
                            struct reading_side *after, const char *key, size_t left,
                            const struct plan_ticks **ret)
{
    struct plan_ticks *ticks = calloc(1, sizeof(*ticks));
    enum status st = ticks && (ticks->key = strdup(key)) ? OK : E_NOMEM;
    if (st == OK)
        st = compare(clock, before, after, left, ticks);
    if (st == OK)
        st = table_insert(&clock->known, ticks);
    if (st == OK)
        *ret = ticks;
    else if (ticks)
        ticks_free(ticks);
    return st;
}

enum status plan_ticks_of(struct plan_clock *clock, const struct plan_side *before,
                          const struct plan_side *after, size_t left, const struct plan_ticks **ret)
{
    struct reading_side old = {.side = before}, new = {.side = after};
    struct strbuf key, other;
    strbuf_init(&key);
    strbuf_init(&other);
    schedule_set_init(&old.set);
    schedule_set_init(&new.set);
    enum status st = parse(clock, &old);
    if (st == OK)
        st = parse(clock, &new);
    ticks_key(&old.set, &before->calendars, &key);
    ticks_key(&new.set, &after->calendars, &other);
    bool is_same = strcmp(key.text, other.text) == 0;
    strbuf_addf(&key, "to\n%s", other.text);
    if (st == OK)
        st = other.failed ? E_NOMEM : strbuf_status(&key);
    if (st == OK) {
        *ret = is_same ? NULL : table_find(&clock->known, key.text);
        if (!is_same && !*ret)
            st = remember(clock, &old, &new, key.text, left, ret);
    }
    ticks_release(&old.ticks);
    ticks_release(&new.ticks);
    schedule_set_release(&old.set);
    schedule_set_release(&new.set);
    strbuf_release(&other);
    strbuf_release(&key);
    return st;
}
