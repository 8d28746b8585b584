/* Dependencies: the `after` of the catalog's jobs, indexed by the names that they wait for, and the
 * former names of renamed jobs, by which such a name is still found. A job with neither costs
 * nothing here. */
#ifndef PEAL_WAITS_H
#define PEAL_WAITS_H

#include <sys/queue.h>

#include "gates/conditions.h"
#include "job.h"
#include "table.h"

struct catalog_job;
struct awaited;

struct job_wait {
    struct catalog_job *job; /* the waiting job */
    const char *name;        /* of the awaited job, which need not exist */
    enum after_on on;
    struct awaited *awaited; /* NULL: not linked */
    LIST_ENTRY(job_wait) link;
};

/* A name that the job had before it was renamed. */
struct former_name {
    struct catalog_job *job;
    const char *name;
    int64_t until_ms;        /* when it was given up */
    struct awaited *awaited; /* NULL: not linked */
    LIST_ENTRY(former_name) link;
};

/* The former names of one job, oldest first. */
struct job_former {
    size_t count;
    struct former_name names[];
};

/* The dependencies of one job. */
struct job_waits {
    uint64_t mark; /* for graph walks in follow.c */
    struct job_waits *next;
    size_t count;
    struct job_wait waits[];
};

struct waits {
    struct table by_name; /* of struct awaited */
    uint64_t mark;        /* of the last walk */
};

void waits_init(struct waits *waits);
void waits_release(struct waits *waits);

/* The job's dependencies by this definition (NULL: it can't be decoded), not linked; *ret NULL:
 * none. */
MUST_CHECK enum status waits_read(struct catalog_job *job, const struct job *definition,
                                  struct job_waits **ret);

/* The job's former names, likewise. */
MUST_CHECK enum status former_read(struct catalog_job *job, const struct job *definition,
                                   struct job_former **ret);

/* Links the job's dependencies and former names into the index, and unlinks them. */
MUST_CHECK enum status waits_link(struct waits *waits, struct catalog_job *job);
void waits_unlink(struct waits *waits, struct catalog_job *job);

/* The jobs that wait for the job of this name, one after the other; NULL: the end. */
const struct job_wait *waits_first(const struct waits *waits, const char *name);
const struct job_wait *waits_next(const struct job_wait *wait);

/* The first condition (`only_if`) on the job of this name; the next is LIST_NEXT(…, link). */
const struct condition *waits_first_condition(const struct waits *waits, const char *name);

/* Does a job wait for this name, or have a condition on it? */
bool waits_is_named(const struct waits *waits, const char *name);

/* The last job that had this name before it was renamed; NULL: none. */
struct catalog_job *waits_former(const struct waits *waits, const char *name);

/* The job that had this name at that time and was renamed since then; NULL: none. */
struct catalog_job *waits_former_at(const struct waits *waits, const char *name, int64_t at_ms);

#endif
