/* Who waits for whom: the `after` of the catalog's jobs, by the names that they wait for. A job
 * that waits for nobody costs nothing here. */
#ifndef PEAL_WAITS_H
#define PEAL_WAITS_H

#include <sys/queue.h>

#include "job.h"
#include "table.h"

struct catalog_job;
struct awaited;

struct job_wait {
    struct catalog_job *job; /* it waits */
    const char *name;        /* for a job of this name, which need not be there */
    enum after_on on;
    struct awaited *awaited; /* NULL: not among those of that name */
    LIST_ENTRY(job_wait) link;
};

/* What one job waits for. */
struct job_waits {
    uint64_t mark; /* follow.c's, for walks from job to job */
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

/* What the job waits for by this definition (NULL: it can't be read), not linked; NULL: for none.
 */
MUST_CHECK enum status waits_read(struct catalog_job *job, const struct job *definition,
                                  struct job_waits **ret);

/* Among those who wait for its names, and no longer. */
MUST_CHECK enum status waits_link(struct waits *waits, struct catalog_job *job);
void waits_unlink(struct waits *waits, struct catalog_job *job);

/* Those who wait for the job of this name, one after the other; NULL: no more. */
const struct job_wait *waits_first(const struct waits *waits, const char *name);
const struct job_wait *waits_next(const struct job_wait *wait);

#endif
