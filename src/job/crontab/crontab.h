/* Import of crontabs: users' own, and the system's (/etc/crontab, /etc/cron.d), which
 * name a user in every line. docs/FROM-CRONTAB.md says what is converted. */
#ifndef PEAL_CRONTAB_H
#define PEAL_CRONTAB_H

#include "definition/job_codec.h"

struct crontab_options {
    bool system;              /* the sixth field is a user */
    const char *user;         /* owner of the crontab; NULL: the agent's user. Not for `system` */
    const char *default_tz;   /* for lines without CRON_TZ */
    const char *mail_channel; /* that the jobs below a MAILTO notify; NULL: they notify nobody */
};

enum crontab_severity {
    CRONTAB_INFO,    /* converted in another form; nothing is lost */
    CRONTAB_WARNING, /* something could not be converted */
    CRONTAB_ERROR,   /* the line was not imported */
};

struct crontab_note {
    int line, column; /* from 1; column 0: the whole line */
    enum crontab_severity severity;
    char text[240];
};

struct crontab {
    struct job_list jobs;
    struct crontab_note *notes; /* in the order of lines */
    size_t note_count;
};
void crontab_init(struct crontab *crontab);
void crontab_release(struct crontab *crontab);

/* Reads a crontab. An invalid line becomes a note, and the other lines are still read.
 * E_INVALID: not a text; E_TOO_LARGE: more than 1 MiB; *reterr says why. */
MUST_CHECK enum status crontab_import(const char *text, size_t length,
                                      const struct crontab_options *options, struct zone_db *zones,
                                      struct crontab *ret, struct parse_error *reterr);

/* Appends a name for a job with this command line: "/opt/backup.sh --full" -> "backup". It is a
 * valid job name of at most 100 characters. */
void crontab_job_name(const char *command, struct strbuf *out);

const char *crontab_severity_name(enum crontab_severity severity);

#endif
