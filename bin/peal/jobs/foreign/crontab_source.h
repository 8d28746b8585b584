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

/* Reads one text, and tells its notes; `place` stands before them. `inout_lost` NULL: they are not
 * told. Lines that
 * could not be read are added to *inout_lost. *ret, which the caller has initialised, is to be
 * released in any case. */
MUST_CHECK enum exit_code crontab_source_text(const char *place, const struct strbuf *text,
                                              const struct crontab_options *options,
                                              const struct reading *reading, struct crontab *ret,
                                              size_t *inout_lost);

/* Does cron read a file of this name: below /etc/cron.d, where names are letters, digits, _ and -
 * only; of a spool, where they are users, whose names may have dots? */
struct dirent;
int crontab_is_system(const struct dirent *entry);
int crontab_is_user(const struct dirent *entry);

#endif
