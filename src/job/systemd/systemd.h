/* Timers of systemd as jobs, and jobs as timers. docs/FROM-OTHERS.md says what is converted. */
#ifndef PEAL_SYSTEMD_H
#define PEAL_SYSTEMD_H

#include "foreign/foreign.h"

/* A file of units, or a text that holds several, as `systemctl cat` prints them (unit_file.h). */
struct systemd_file {
    const char *path;
    const char *text;
    size_t length;
};

struct systemd_options {
    struct foreign_options foreign;
    const char *user; /* of services that name none; NULL: the agent's */
    bool is_user;     /* they are units of a user's own manager */
    const char *only; /* this timer alone, "backup.timer"; NULL: all */
};

/* Each timer becomes a job that runs what its service runs. A timer that can't be one becomes a
 * note, and the others are still read. The notes' files are the paths of `files`, which must
 * outlive *ret. E_INVALID: no timers in there; *reterr. *ret, which the caller has initialised, is
 * to be released in any case. */
MUST_CHECK enum status systemd_import(const struct systemd_file *files, size_t count,
                                      const struct systemd_options *options, struct zone_db *zones,
                                      struct foreign *ret, struct parse_error *reterr);

/* The two units of a job; the timer is empty for a job that runs only when asked. */
struct systemd_units {
    struct strbuf timer, service;
};

/* Appends them to *ret, which the caller has initialised. What systemd lacks becomes a comment in
 * them. *ret_why: the job can't be a timer, for this reason, and
 * nothing was appended; NULL: it can. `from_s`: the time from which its ticks are compared with
 * those of the timer. */
MUST_CHECK enum status systemd_export(const struct job *job, int64_t from_s, struct zone_db *zones,
                                      struct systemd_units *ret, const char **ret_why);

/* Appends the name of the job's units: "team/backup" is "team-backup". */
void systemd_unit_name(const char *job, struct strbuf *out);

#endif
