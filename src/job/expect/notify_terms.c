#include "expect/notify_terms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"

enum { MORE_MS = 30000 };

int64_t notify_limit_ms(const char *text)
{
    struct parse_error error;
    int64_t seconds;
    if (!text)
        return -1;
    if (strcmp(text, "auto") == 0)
        return 0;
    return duration_parse(text, 1, &seconds, &error) == OK && seconds > 0 ? seconds * 1000 : -1;
}

const char *notify_limit_complaint(const char *text)
{
    return notify_limit_ms(text) < 0 ? "is neither a duration like 2h nor auto" : NULL;
}

static bool read_clock(const char *text, int *ret_hour, int *ret_minute)
{
    if (!text || strlen(text) != 5 || text[2] != ':' || strspn(text, "0123456789") != 2 ||
        strspn(text + 3, "0123456789") != 2)
        return false;
    *ret_hour = atoi(text);
    *ret_minute = atoi(text + 3);
    return *ret_hour < 24 && *ret_minute < 60;
}

const char *notify_clock_complaint(const char *text)
{
    int hour, minute;
    return read_clock(text, &hour, &minute) ? NULL : "is not a time of day like 06:00";
}

bool notify_clock_cron(const char *text, char ret[32])
{
    int hour, minute;
    if (!read_clock(text, &hour, &minute))
        return false;
    snprintf(ret, 32, "%d %d * * *", minute, hour);
    return true;
}

/* ---- learned ---- */

static int by_length(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

struct learned learn_limits(int64_t *durations_ms, size_t count)
{
    if (count < LEARNED_MIN)
        return (struct learned){0};
    qsort(durations_ms, count, sizeof(durations_ms[0]), by_length);
    int64_t p95 = durations_ms[(count - 1) * 95 / 100], p5 = durations_ms[(count - 1) * 5 / 100];
    int64_t half_more = p95 + p95 / 2;
    return (struct learned){
        .too_long_ms = half_more > p95 + MORE_MS ? half_more : p95 + MORE_MS,
        .too_short_ms = p5 / 2,
        .runs = count,
    };
}

struct length_bounds expected_bounds(const struct job_expect *expect, const struct learned *learned)
{
    bool may_learn = expect->duration == EXPECT_DURATION_AUTO;
    struct length_bounds bounds = {
        .min_ms = expect->min_s * 1000,
        .max_ms = expect->max_s * 1000,
        .min_is_learned =
            may_learn && !expect->min_s && learned->too_short_ms >= LEARNED_SHORT_MIN_MS,
        .max_is_learned = may_learn && !expect->max_s && learned->too_long_ms,
    };
    if (bounds.min_is_learned)
        bounds.min_ms = learned->too_short_ms;
    if (bounds.max_is_learned)
        bounds.max_ms = learned->too_long_ms;
    return bounds;
}

/* ---- not succeeded by ---- */

int64_t overdue_deadline_ms(const struct overdue_facts *f, int64_t now_ms)
{
    int64_t base_ms = f->succeeded_ms > f->from_ms ? f->succeeded_ms : f->from_ms;
    if (f->by_ms && f->by_ms <= now_ms && f->by_ms > f->from_ms && f->had_tick &&
        f->succeeded_ms <= f->before_ms)
        return f->by_ms;
    if (f->within_s && base_ms && base_ms + f->within_s * 1000 <= now_ms)
        return base_ms + f->within_s * 1000;
    return 0;
}
