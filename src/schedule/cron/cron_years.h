/* The set of years that an expression allows; for cron_*.c. */
#ifndef PEAL_CRON_YEARS_H
#define PEAL_CRON_YEARS_H

#include <stdbool.h>
#include <stdint.h>

/* One bit a year from `first` on. Immutable once the expression is parsed. */
struct cron_years {
    int first, last; /* the range that `bits` covers */
    uint64_t bits[]; /* (last - first) / 64 + 1 words */
};

/* Room for first..last, all bits clear; NULL when out of memory. */
struct cron_years *cron_years_new(int first, int last);

void cron_years_add(struct cron_years *years, int year);
bool cron_years_has(const struct cron_years *years, int64_t year);

/* The nearest allowed year at or after (at or before) `year`; INT64_MAX (INT64_MIN) for none. */
int64_t cron_years_from(const struct cron_years *years, int64_t year);
int64_t cron_years_until(const struct cron_years *years, int64_t year);

#endif
