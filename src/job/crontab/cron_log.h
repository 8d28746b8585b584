/* What cron says in the system's log of the commands that it has started. Pure. */
#ifndef PEAL_CRON_LOG_H
#define PEAL_CRON_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"
#include "zone/zone.h"

/* "CRON[123]: (root) CMD (run-parts /etc/cron.hourly)" */
struct cron_start {
    int64_t at_s;
    char *user, *command;
};

struct cron_log {
    struct cron_start *starts; /* by time */
    size_t count;
    int64_t first_s, last_s; /* of the starts; 0: there are none */
};
void cron_log_init(struct cron_log *log);
void cron_log_release(struct cron_log *log);

/* Reads the lines of syslog ("Nov 19 18:37:01", which names no year: the last one before now_s) and
 * of `journalctl -o short-iso`, of cron (CRON, CROND, cron). All other lines are passed over.
 * `zone`: of times without one. Adds to *ret, which the caller has initialised. */
MUST_CHECK enum status cron_log_read(const char *text, size_t length, const struct zone *zone,
                                     int64_t now_s, struct cron_log *ret);

/* Puts the starts into the order of their times. */
void cron_log_sort(struct cron_log *log);

#endif
