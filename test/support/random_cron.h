/* Random cron expressions as text beside a model of what the text means, and a matcher that reads
 * the model alone: written from docs/SCHEDULES.md, it shares no code with the product, so that the
 * two can be held against each other. */
#ifndef PEAL_TEST_RANDOM_CRON_H
#define PEAL_TEST_RANDOM_CRON_H

#include <stdbool.h>
#include <stdint.h>

/* A stream of random numbers that a seed repeats. */
struct random {
    uint64_t state;
};

/* The seed of a run: $PEAL_SEED, or a fixed one, so that a failure can be repeated. */
uint64_t random_seed(void);

/* How many times more than usual random tests try: $PEAL_ROUNDS, or 1. */
int random_rounds(void);

struct random random_new(uint64_t seed);
uint64_t random_next(struct random *random);
int random_between(struct random *random, int low, int high); /* both inclusive */
bool random_chance(struct random *random, int percent);

enum model_kind {
    MODEL_STAR,         /* * or * / step */
    MODEL_QUESTION,     /* ? */
    MODEL_VALUE,        /* a */
    MODEL_RANGE,        /* a-b/step, may wrap around */
    MODEL_OPEN,         /* a/step */
    MODEL_LAST_DAY,     /* L-a, L for 0 */
    MODEL_LAST_WORKDAY, /* LW */
    MODEL_WORKDAY,      /* aW */
    MODEL_NTH,          /* a#b; b below 0 counts from the end */
};

struct model_item {
    enum model_kind kind;
    int a, b, step;
};

struct model_field {
    struct model_item items[4];
    int count;
};

enum { FIELD_SECOND, FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY, FIELD_YEAR };

struct random_cron {
    struct model_field fields[7]; /* FIELD_...; no items: the field was not written */
    bool both_days;               /* a leading + in the day of week */
    char text[400];
};

enum random_cron_flags {
    RANDOM_CRON_ANY = 0,
    RANDOM_CRON_DENSE = 1 << 0,  /* due on most days: for walks over a few days */
    RANDOM_CRON_MINUTE = 1 << 1, /* second 0 only */
};

void random_cron_make(struct random *random, unsigned flags, struct random_cron *ret);

/* Does the model match this second of a local clock? */
bool random_cron_date_matches(const struct random_cron *cron, int64_t year, int month, int day);
bool random_cron_minute_matches(const struct random_cron *cron, int hour, int minute);
bool random_cron_time_matches(const struct random_cron *cron, int hour, int minute, int second);

/* "Fixed" in the sense of the DST rules. */
bool random_cron_is_fixed(const struct random_cron *cron);

#endif
