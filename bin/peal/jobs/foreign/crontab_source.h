/* Reads the crontabs of this machine; never changes them. */
#ifndef PEAL_CRONTAB_SOURCE_H
#define PEAL_CRONTAB_SOURCE_H

#include "crontab/crontab.h"
#include "jobs/definition.h"

struct crontab_request {
    const char *file;         /* or a folder; NULL: see the next two; "-": stdin */
    const char *user;         /* whose crontab, or NULL: one's own */
    const char *prefix;       /* of the names of the jobs; NULL: none */
    const char *mail_channel; /* of the jobs below a MAILTO; NULL: none */
    bool system;              /* `file`, or /etc/crontab and /etc/cron.d where there is none */
};

/* Reads them and adds their jobs to *jobs, with unique names. The files of a spool, the folder of
 * the users' crontabs, are named after the users, who are those of their jobs. Warnings go to
 * stderr, with their place. *ret_lost: number of lines that could not be read. */
MUST_CHECK enum exit_code crontab_source_read(const struct crontab_request *request,
                                              const struct reading *reading, struct job_list *jobs,
                                              size_t *ret_lost);

#endif
