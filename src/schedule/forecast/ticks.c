#include "forecast/ticks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "array.h"

static enum status append(struct ticks *ticks, int64_t at_s)
{
    enum status st = array_grow(&ticks->at_s, ticks->count, sizeof(*ticks->at_s));
    if (st == OK)
        ticks->at_s[ticks->count++] = at_s;
    return st;
}

bool ticks_is_excluded(const struct schedule_set *set, const struct calendars *calendars,
                       int64_t at_s)
{
    for (size_t i = 0; i < set->count; i++) {
        if (schedule_next(set->items[i], at_s - 1) == at_s &&
            calendars_which(calendars, schedule_zone(set->items[i]), at_s) == CALENDARS_FREE)
            return false;
    }
    return true;
}

enum status ticks_collect(const struct schedule_set *set, const struct calendars *calendars,
                          int64_t from_s, int64_t until_s, size_t limit, struct ticks *ret)
{
    size_t looks = 0;
    int64_t after_s = from_s - 1;
    enum status st = OK;
    *ret = (struct ticks){.until_s = until_s};
    for (; set->count > 0 && st == OK; looks++) {
        int64_t at_s = schedule_set_next(set, after_s, NULL);
        if (at_s >= until_s)
            break;
        if (looks == limit) {
            ret->until_s = at_s;
            break;
        }
        if (calendars_matter(calendars) && ticks_is_excluded(set, calendars, at_s))
            ret->excluded++;
        else
            st = append(ret, at_s);
        after_s = at_s;
    }
    return st;
}

void ticks_release(struct ticks *ticks)
{
    free(ticks->at_s);
    *ticks = (struct ticks){0};
}

void ticks_cut(struct ticks *ticks, int64_t until_s)
{
    if (until_s >= ticks->until_s)
        return;
    while (ticks->count && ticks->at_s[ticks->count - 1] >= until_s)
        ticks->count--;
    ticks->until_s = until_s;
}

void ticks_key(const struct schedule_set *set, const struct calendars *calendars,
               struct strbuf *out)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct schedule *schedule = set->items[i];
        schedule_print(schedule, out);
        strbuf_addf(out, " %" PRId64 " %" PRId64 " %d\n", schedule_start(schedule),
                    schedule_end(schedule), (int)schedule_dst(schedule));
    }
    for (size_t i = 0; set->count && i < calendars->count + calendars->only_count; i++)
        strbuf_addf(out, "%s%p\n", i < calendars->count ? "" : "only ",
                    (const void *)calendars->items[i]);
}
