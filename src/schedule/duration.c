#include "duration.h"

#include <ctype.h>
#include <string.h>

static const struct {
    char letter;
    int64_t seconds;
} units[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* Longer than any schedule needs, and far from any overflow. */
static const int64_t max_s = INT64_C(36500) * 86400;

/* The unit at `text`, or UNITS. A unit is a single letter: `ms` is none. */
static int unit_at(const char *text)
{
    for (int i = 0; i < UNITS; i++) {
        if (text[0] == units[i].letter && !isalpha((unsigned char)text[1]))
            return i;
    }
    return UNITS;
}

enum status duration_parse(const char *text, int column, int64_t *ret_s, struct parse_error *reterr)
{
    int64_t total = 0;
    int next_unit = 0; /* units go from large to small */
    const char *at = text;
    if (!*at)
        return parse_fail(reterr, column, "a duration is missing, like 90s or 1h30m");
    while (*at) {
        const char *begin = at;
        int64_t value = 0;
        for (; isdigit((unsigned char)*at); at++) {
            value = value * 10 + (*at - '0');
            if (value > max_s)
                return parse_fail(reterr, column + (int)(begin - text),
                                  "the duration is too long; 36500d is the most");
        }
        int here = column + (int)(at - text);
        if (at == begin)
            return parse_fail(reterr, here, "a duration is numbers with units, like 90s or 1h30m");
        if (*at == '.')
            return parse_fail(reterr, here, "a duration has no fractions; write 1h30m for 1.5h");
        if (!*at)
            return parse_fail(reterr, here, "a unit is missing; use w, d, h, m or s");
        int unit = unit_at(at);
        if (unit == UNITS)
            return parse_fail(reterr, here, "unknown unit; use w, d, h, m or s");
        if (unit < next_unit)
            return parse_fail(reterr, here, "units go from large to small, each once: w d h m s");
        if (value > (max_s - total) / units[unit].seconds)
            return parse_fail(reterr, column, "the duration is too long; 36500d is the most");
        total += value * units[unit].seconds;
        next_unit = unit + 1;
        at++;
    }
    *ret_s = total;
    return OK;
}

void duration_print(int64_t seconds, struct strbuf *out)
{
    if (seconds == 0)
        strbuf_adds(out, "0s");
    for (int i = 0; i < UNITS; i++) {
        /* 8 days are 8d to most people, not 1w1d: weeks only when whole. */
        if (units[i].letter == 'w' && seconds % units[i].seconds != 0)
            continue;
        if (seconds >= units[i].seconds)
            strbuf_addf(out, "%lld%c", (long long)(seconds / units[i].seconds), units[i].letter);
        seconds %= units[i].seconds;
    }
}
