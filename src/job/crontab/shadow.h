/* A job that was imported and is paused, beside the line of a crontab that still runs: has cron
 * started what the job would have started? Pure. */
#ifndef PEAL_SHADOW_H
#define PEAL_SHADOW_H

#include "crontab/cron_log.h"
#include "job.h"

#define SHADOW_LABEL "shadow"
#define SHADOW_CRON  "cron"  /* cron runs it */
#define SHADOW_TAKEN "taken" /* peal does, and the line of the crontab is commented out */

enum shadow_why {
    SHADOW_NO_TICK, /* only cron: not a tick of the job */
    SHADOW_REBOOT,  /* only cron: at a boot, which is no tick */
    SHADOW_SILENT,  /* only peal: cron has logged nothing near that time */
    SHADOW_OTHERS,  /* only peal: cron has logged other commands */
    SHADOW_CLOCK,   /* only peal: the clock was set forward or back there */
};

struct shadow_difference {
    int64_t at_s;
    bool is_cron; /* only cron; else only peal */
    enum shadow_why why;
};

enum { SHADOW_DIFFERENCES_MAX = 20 };

struct shadow_report {
    size_t equal, only_cron, only_peal;
    struct shadow_difference items[SHADOW_DIFFERENCES_MAX]; /* the first ones */
    size_t count;
};

/* Is this start of cron's the job's? `user`: that of jobs without one; NULL: any. */
bool shadow_is_start(const struct job *job, const struct cron_start *start, const char *user);

/* Is the job what this line of a crontab was imported as: same user, schedule and command? */
bool shadow_is_line(const struct job *job, const struct job *line);

/* Compares the job's ticks in [from_s, until_s] with its starts in the log, which is sorted. */
void shadow_compare(const struct job *job, const struct schedule_set *schedules,
                    const struct cron_log *log, const char *user, int64_t from_s, int64_t until_s,
                    struct shadow_report *ret);

/* The value of the job's label, or "". */
const char *shadow_label(const struct job *job);

#endif
