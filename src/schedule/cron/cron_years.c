#include "cron/cron_years.h"

#include <stdlib.h>
#include <string.h>

static size_t words(const struct cron_years *years)
{
    return (size_t)(years->last - years->first) / 64 + 1;
}

struct cron_years *cron_years_new(int first, int last)
{
    struct cron_years *years =
        calloc(1, sizeof(*years) + ((size_t)(last - first) / 64 + 1) * sizeof(uint64_t));
    if (years) {
        years->first = first;
        years->last = last;
    }
    return years;
}

void cron_years_add(struct cron_years *years, int year)
{
    unsigned i = (unsigned)(year - years->first);
    years->bits[i / 64] |= UINT64_C(1) << (i % 64);
}

bool cron_years_has(const struct cron_years *years, int64_t year)
{
    if (year < years->first || year > years->last)
        return false;
    unsigned i = (unsigned)(year - years->first);
    return years->bits[i / 64] >> (i % 64) & 1;
}

int64_t cron_years_from(const struct cron_years *years, int64_t year)
{
    if (year > years->last)
        return INT64_MAX;
    unsigned i = year <= years->first ? 0 : (unsigned)(year - years->first);
    uint64_t word = years->bits[i / 64] & (~UINT64_C(0) << (i % 64));
    for (size_t w = i / 64;; word = years->bits[w]) {
        if (word)
            return years->first + (int64_t)(w * 64) + __builtin_ctzll(word);
        if (++w == words(years))
            return INT64_MAX;
    }
}

int64_t cron_years_until(const struct cron_years *years, int64_t year)
{
    if (year < years->first)
        return INT64_MIN;
    unsigned i = (unsigned)((year >= years->last ? years->last : year) - years->first);
    uint64_t word = years->bits[i / 64] & (~UINT64_C(0) >> (63 - i % 64));
    for (size_t w = i / 64;; word = years->bits[w]) {
        if (word)
            return years->first + (int64_t)(w * 64) + 63 - __builtin_clzll(word);
        if (w-- == 0)
            return INT64_MIN;
    }
}
