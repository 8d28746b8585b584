#include "forecast/crowd.h"

#include <stdlib.h>
#include <string.h>

enum status crowd_init(struct crowd *crowd, int64_t from_s, int64_t until_s)
{
    size_t seconds = until_s > from_s ? (size_t)(until_s - from_s) : 0;
    uint32_t *starts = calloc(seconds + 1, sizeof(*starts));
    if (!starts)
        return E_NOMEM;
    *crowd = (struct crowd){.from_s = from_s, .seconds = seconds, .starts = starts};
    return OK;
}

void crowd_release(struct crowd *crowd)
{
    free(crowd->starts);
    *crowd = (struct crowd){0};
}

int64_t crowd_until(const struct crowd *crowd)
{
    return crowd->from_s + (int64_t)crowd->seconds;
}

void crowd_add(struct crowd *crowd, const struct ticks *ticks, int64_t later_s, int weight)
{
    for (size_t i = 0; i < ticks->count; i++) {
        int64_t at_s = ticks->at_s[i] + later_s;
        if (at_s >= crowd->from_s && at_s < crowd_until(crowd))
            crowd->starts[at_s - crowd->from_s] += (uint32_t)weight;
    }
}

uint32_t crowd_at(const struct crowd *crowd, int64_t at_s)
{
    bool is_inside = at_s >= crowd->from_s && at_s < crowd_until(crowd);
    return is_inside ? crowd->starts[at_s - crowd->from_s] : 0;
}

struct crowd_second crowd_worst(const struct crowd *crowd)
{
    struct crowd_second worst = {.at_s = crowd->from_s};
    crowd_worst_many(crowd, 1, 1, &worst);
    return worst;
}

size_t crowd_worst_many(const struct crowd *crowd, uint32_t least, size_t limit,
                        struct crowd_second *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < crowd->seconds; i++) {
        uint32_t starts = crowd->starts[i];
        if (starts < least || !limit || (count == limit && starts <= ret[limit - 1].starts))
            continue;
        size_t at = count < limit ? count++ : limit - 1;
        for (; at > 0 && ret[at - 1].starts < starts; at--)
            ret[at] = ret[at - 1];
        ret[at] = (struct crowd_second){crowd->from_s + (int64_t)i, starts};
    }
    return count;
}

static size_t class_of(uint32_t starts)
{
    return 31 - (size_t)__builtin_clz(starts);
}

struct crowd_classes crowd_classes_of(const struct crowd *crowd)
{
    struct crowd_classes classes = {0};
    for (size_t i = 0; i < crowd->seconds; i++) {
        if (!crowd->starts[i])
            continue;
        classes.seconds[class_of(crowd->starts[i])]++;
        classes.starts += crowd->starts[i];
    }
    return classes;
}
