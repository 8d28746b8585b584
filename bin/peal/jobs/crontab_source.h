/* The crontabs of this machine, which are read and never touched. */
#ifndef PEAL_CRONTAB_SOURCE_H
#define PEAL_CRONTAB_SOURCE_H

#include "crontab/crontab.h"
#include "jobs/definition.h"

struct crontab_request {
    const char *file; /* NULL: by the two below; "-": stdin */
    const char *user; /* whose crontab, or NULL: one's own */
    bool system;      /* `file`, or /etc/crontab and /etc/cron.d where there is none */
};

/* Reads them and adds their jobs to *jobs, each name once. What there is to note is told on stderr,
 * with its place. *ret_lost: lines that could not be read. */
MUST_CHECK enum exit_code crontab_source_read(const struct crontab_request *request,
                                              const struct reading *reading, struct job_list *jobs,
                                              size_t *ret_lost);

#endif
