/* What the exports to other programs share: what they can't carry over. */
#ifndef PEAL_EXPORT_H
#define PEAL_EXPORT_H

#include "job.h"

/* What a program has of a job's fields. */
enum carried {
    CARRIES_TIMEOUT = 1 << 0,
    CARRIES_DEADLINE = 1 << 1,
    CARRIES_JITTER = 1 << 2,
    CARRIES_LIMITS = 1 << 3,
    CARRIES_RETRIES = 1 << 4,
    CARRIES_REPLACE = 1 << 5, /* overlap: replace */
    CARRIES_ALLOW = 1 << 6,   /* overlap: allow */
    CARRIES_EXIT = 1 << 7,    /* expect.exit alone */
};

struct export_target {
    const char *name; /* "cron" */
    unsigned carries; /* 1 << enum carried */
};

/* Appends a comment for each field of the job that the program lacks: "# not in cron: timeout: 5m".
 */
void export_remarks(const struct job *job, const struct export_target *target, struct strbuf *out);

/* Why no other program can run the job as it is; NULL: one may be able to. */
const char *export_complaint(const struct job *job);

/* Appends the text as comments, a "# " in front of each line. */
void export_comment(const char *text, struct strbuf *out);

/* The ticks of a job beside those of what was exported for it. */
struct export_proof {
    bool is_equal;     /* all of them, for a year or a hundred thousand ticks */
    bool is_by_clock;  /* where they differ, the job's clock is set forward or back */
    int64_t differs_s; /* the first tick that only one of them has */
};

/* Compares the ticks of a schedule after from_s with those of several others together. */
struct export_proof export_compare(const struct schedule *ours, struct schedule *const *theirs,
                                   size_t count, int64_t from_s);

#endif
