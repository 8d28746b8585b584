#include "systemd/time_span.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    double us;
} units[] = {
    {"us", 1},
    {"usec", 1},
    {"\u00b5s", 1},
    {"\u03bcs", 1},
    {"ms", 1e3},
    {"msec", 1e3},
    {"", 1e6},
    {"s", 1e6},
    {"sec", 1e6},
    {"second", 1e6},
    {"seconds", 1e6},
    {"m", 60e6},
    {"min", 60e6},
    {"minute", 60e6},
    {"minutes", 60e6},
    {"h", 3600e6},
    {"hr", 3600e6},
    {"hour", 3600e6},
    {"hours", 3600e6},
    {"d", 86400e6},
    {"day", 86400e6},
    {"days", 86400e6},
    {"w", 604800e6},
    {"week", 604800e6},
    {"weeks", 604800e6},
    {"M", 2629800e6},
    {"month", 2629800e6},
    {"months", 2629800e6},
    {"y", 31557600e6},
    {"year", 31557600e6},
    {"years", 31557600e6},
};

/* Microseconds of a unit; 0: there is no such unit. */
static double find_unit(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].name) == length && strncmp(units[i].name, name, length) == 0)
            return units[i].us;
    }
    return 0;
}

/* Digits, perhaps with a fraction; "." alone is none. */
static size_t number_length(const char *text)
{
    size_t whole = strspn(text, "0123456789"), fraction = 0;
    if (text[whole] == '.')
        fraction = strspn(text + whole + 1, "0123456789");
    if (!whole && !fraction)
        return 0;
    return text[whole] == '.' ? whole + 1 + fraction : whole;
}

enum status time_span_read(const char *text, int64_t *ret_us, struct parse_error *reterr)
{
    static const double longest_us = 36500 * 86400e6;
    const char *at = text + strspn(text, " \t");
    double sum = 0;
    if (strcmp(at, "infinity") == 0) {
        *ret_us = SPAN_INFINITE;
        return OK;
    }
    if (!*at)
        return parse_fail(reterr, 1, "expected a time span like 5min or 1h 30s");
    while (*at) {
        char digits[40];
        size_t length = number_length(at);
        if (!length || length >= sizeof(digits))
            return parse_fail(reterr, (int)(at - text) + 1,
                              "expected a time span like 5min or 1h 30s");
        memcpy(digits, at, length);
        digits[length] = '\0';
        at += length;
        at += strspn(at, " \t");
        size_t letters = strcspn(at, "0123456789. \t");
        double unit = find_unit(at, letters);
        if (unit == 0)
            return parse_fail(reterr, (int)(at - text) + 1,
                              "unknown unit \"%.20s\"; known: us, ms, s, min, h, d, w, month, y",
                              at);
        sum += strtod(digits, NULL) * unit;
        at += letters;
        at += strspn(at, " \t");
        if (sum > longest_us)
            return parse_fail(reterr, 1, "the duration is too long; 36500d is the most");
    }
    *ret_us = (int64_t)(sum + 0.5);
    return OK;
}
