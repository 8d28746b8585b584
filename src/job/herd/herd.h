/* A herd: many jobs that start in the same second. Counts the starts of a span of time, and
 * proposes how to spread them: `H` in place of a constant, or jitter. Pure.
 *
 * A proposal never changes how often a job runs on a day. A job whose exact time something may
 * depend on has none: see enum herd_keep. */
#ifndef PEAL_HERD_H
#define PEAL_HERD_H

#include "forecast/crowd.h"
#include "gates/maintenance.h"
#include "herd/herd_limits.h"
#include "herd/tick_groups.h"
#include "job.h"

/* Why a job's schedule is left alone. */
enum herd_keep {
    HERD_FREE,     /* it is not */
    HERD_LABEL,    /* the job has the label herd=keep */
    HERD_AWAITED,  /* other jobs wait for it (`after`) */
    HERD_INSTANT,  /* `@at` */
    HERD_SPREAD,   /* it has jitter, or H, ~ or R */
    HERD_SEVERAL,  /* it has several schedules */
    HERD_DEADLINE, /* a later start could be too late for its `deadline` */
    HERD_NO_USE,   /* nothing would make it start in a less crowded second */
};
const char *herd_keep_name(enum herd_keep keep); /* "label" */

#define HERD_LABEL_NAME "herd" /* its value "keep" */

/* What the ticks of a job with one schedule are made from. */
struct herd_when {
    char *schedule, *timezone, *hash_name;
    struct id uid;
    int64_t start_s, end_s, deadline_s;
    enum dst_policy dst;
    struct calendars calendars;
};

/* One job that has ticks. */
struct herd_job {
    char *name;
    struct tick_group *ticks;
    int64_t later_s; /* by which it starts after them: its jitter */
    enum herd_keep keep;
    struct herd_when when; /* only of a HERD_FREE */

    char *schedule;               /* proposed; NULL: its own stays */
    int64_t jitter_s;             /* proposed; 0: none */
    struct tick_group *new_ticks; /* NULL: nothing is proposed */
    int64_t new_later_s;
    uint32_t worst, new_worst; /* starts in the most crowded second of its own, both times */
};

/* Maintenance, or a pause: what would start in it does not. */
struct herd_window {
    const struct maintenance *item;
    size_t starts; /* of all jobs, in it */
};

struct herd {
    struct herd_window *windows; /* of the caller; herd_add counts */
    size_t window_count;
    struct herd_limits *limits; /* of the caller, which herd_add adds jobs to; NULL: none */
    struct crowd now, then;     /* after herd_count; as it would be, after herd_propose */
    struct tick_groups groups;
    struct zone_db *zones;
    struct herd_job *jobs;
    size_t count, proposed;
    size_t at; /* of herd_propose */
};

/* `limit`: of the ticks of all schedules that differ. To be released in any case. */
void herd_init(struct herd *herd, struct zone_db *zones, int64_t from_s, int64_t until_s,
               size_t limit);
void herd_release(struct herd *herd);

/* Adds a job; one that is paused or has no ticks in the span does not count. `is_awaited`: others
 * wait for it. The calendars must outlive the herd. E_INVALID: a schedule is wrong. E_TOO_LARGE:
 * there are more ticks than the limit allows; a shorter span has fewer. */
MUST_CHECK enum status herd_add(struct herd *herd, const struct job *job,
                                const struct calendars *calendars, bool is_awaited);

/* To be called when all were added: fills in `now`, and sorts the jobs by name. */
MUST_CHECK enum status herd_count(struct herd *herd);

/* Which of the windows, by their number, keeps the job from starting then; -1: none. */
int herd_window_at(const struct herd *herd, const char *job_name, int64_t at_s);

/* How many of the starts of that second maintenance skips. */
size_t herd_skipped(const struct herd *herd, int64_t at_s);

/* The first jobs that start then: at most `limit` names, sorted. Returns how many there are in
 * `ret`. */
size_t herd_names(const struct herd *herd, int64_t at_s, size_t limit, const char **ret);

/* Proposes until no second has more than `at_most` starts, or nothing more helps; a start moves by
 * less than `within_s`. Some `jobs` at a time: *ret_is_done is false if it is to be called again.
 * The same jobs always have the same proposals. */
struct herd_wish {
    uint32_t at_most;
    int64_t within_s;
};
MUST_CHECK enum status herd_propose(struct herd *herd, const struct herd_wish *wish, size_t jobs,
                                    bool *ret_is_done);

#endif
