/* One field of a cron expression: a comma list of items, read into a set. For cron_parse.c. */
#ifndef PEAL_CRON_FIELD_H
#define PEAL_CRON_FIELD_H

#include "cron/cron_profile.h"
#include "cron/cron_years.h"

/* What a field means, whichever field it is; years are in `years`, all others in `bits`. */
struct cron_field_set {
    uint64_t bits;
    uint32_t days_to_last, workdays;
    uint8_t nth[5], nth_last[5];
    bool last_workday;
    bool star;     /* has a `*`, or a `?` that counts as `*` */
    bool question; /* is `?` */
    unsigned notes;
    struct cron_years *years; /* YEAR_MIN..YEAR_MAX; the caller frees it */
};

/* Where a field is in the text, and the dialect and seed to read it with. */
struct cron_field_source {
    const char *text;
    int begin, end; /* bytes of `text`; not empty */
    enum cron_field field;
    int field_count; /* of the whole expression, for better messages */
    const struct cron_dialect *dialect;
    const struct cron_seed *seed;
};

MUST_CHECK enum status cron_field_parse(const struct cron_field_source *source,
                                        struct cron_field_set *set, struct parse_error *reterr);

/* Lowest and highest value of a field as people number it, and all its values as bits (of the
 * numbering in struct cron_expr). */
int cron_field_min(enum cron_field field);
int cron_field_max(enum cron_field field);
int cron_field_size(enum cron_field field); /* of different values: weekdays 0 and 7 are one */
uint64_t cron_field_all(enum cron_field field);

/* "minute", "day of month", ... */
const char *cron_field_name(enum cron_field field);

#endif
