/* Reading the pieces of a field: numbers, names, steps, and saying what is wrong with them. For
 * cron_field.c. */
#ifndef PEAL_CRON_SCAN_H
#define PEAL_CRON_SCAN_H

#include "cron/cron_field.h"

struct scanner {
    const struct cron_field_source *source;
    struct cron_field_set *set;
    struct parse_error *err;
    int at;          /* next byte to read */
    int item;        /* first byte of the item under way */
    const char *had; /* what was read last, for "unexpected ... after ..." */
};

#define FAIL(scanner, at, ...) parse_fail((scanner)->err, (at) + 1, __VA_ARGS__)

bool scan_has(const struct scanner *p, unsigned feature); /* of the dialect: enum cron_feature */

char scan_peek(const struct scanner *p); /* '\0' at the field's end */
bool scan_take(struct scanner *p, char c);

/* Letters from p->at on. */
int scan_word_length(const struct scanner *p);
bool scan_word_is(const struct scanner *p, int length, const char *word);

/* Digits, of any value up to 9 places. */
MUST_CHECK enum status scan_number(struct scanner *p, int *ret);

/* A number that the field allows, or a name (*ret_named). Weekdays come out as 0-7, Sunday first,
 * whatever the dialect's numbering. */
MUST_CHECK enum status scan_value(struct scanner *p, int *ret, bool *ret_named);

/* The same behind a '-' or '~': there SUN is 7, the end of the week. */
MUST_CHECK enum status scan_range_end(struct scanner *p, int *ret);

/* `/n`, if it is there: then *step is n. */
MUST_CHECK enum status scan_step(struct scanner *p, int *step);

/* Return the error for unexpected text at p->at, or for a form that the dialect does not have. */
enum status scan_unexpected(const struct scanner *p);
enum status scan_not_in_dialect(const struct scanner *p, int at, const char *what);

#endif
