/* Crontabs in and out: a user's own, and the system's (/etc/crontab, /etc/cron.d), which name a
 * user in every line. docs/FROM-CRONTAB.md says what is carried over. */
#ifndef PEAL_CRONTAB_H
#define PEAL_CRONTAB_H

#include "definition/job_codec.h"

struct crontab_options {
    bool system;            /* the sixth field is a user */
    const char *user;       /* whose crontab it is; NULL: the agent's own. Not for `system` */
    const char *default_tz; /* where the crontab has no CRON_TZ */
};

enum crontab_severity {
    CRONTAB_INFO,    /* done differently here; nothing is lost */
    CRONTAB_WARNING, /* something could not be carried over */
    CRONTAB_ERROR,   /* the line was not imported */
};

struct crontab_note {
    int line, column; /* from 1; column 0: the whole line */
    enum crontab_severity severity;
    char text[240];
};

struct crontab {
    struct job_list jobs;
    struct crontab_note *notes; /* in the order of their lines */
    size_t note_count;
};
void crontab_init(struct crontab *crontab);
void crontab_release(struct crontab *crontab);

/* Reads a crontab. A line that peal can't read becomes a note, and the others are still read.
 * E_INVALID: not a text at all; E_TOO_LARGE: more than 1 MiB; *reterr says why. */
MUST_CHECK enum status crontab_import(const char *text, size_t length,
                                      const struct crontab_options *options, struct zone_db *zones,
                                      struct crontab *ret, struct parse_error *reterr);

/* Appends the jobs as a crontab. What a crontab can't say stands beside the job as a comment; a job
 * that a crontab can't hold is commented out, with the reason. */
MUST_CHECK enum status crontab_export(struct job *const *jobs, size_t count, bool system,
                                      struct zone_db *zones, struct strbuf *out);

/* A name for the job that runs this command line: "/opt/backup.sh --full" -> "backup". At most 100
 * characters, valid as a job's name. Appends to *out. */
void crontab_job_name(const char *command, struct strbuf *out);

const char *crontab_severity_name(enum crontab_severity severity);

#endif
