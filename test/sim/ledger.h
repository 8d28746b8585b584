/* What must be on record of a job's ticks: each one that was due has exactly one end, and nothing
 * that is no tick has any. Shared by the simulations; computed from the schedules alone. */
#ifndef PEAL_SIM_LEDGER_H
#define PEAL_SIM_LEDGER_H

#include "state/catalog.h"

/* The calendar that some jobs name: on Tuesdays and Saturdays they do not run. */
#define LEDGER_CALENDAR      "closed"
#define LEDGER_CALENDAR_JSON "{\"weekdays\":[\"tue\",\"sat\"]}"

/* A definition, from the moment it was stored to the moment it was replaced: all ticks that the
 * cursor passed meanwhile are its own. */
struct ledger_epoch {
    int64_t revision;
    int version; /* in the command or function of the job, so that a start tells what it was made
                    from */
    struct schedule_set schedules;
    int64_t from_ms, to_ms; /* cursor then and when it was replaced (or now) */
    bool paused, deleted;
    bool computable;  /* no @after, and no `after`: its ticks follow from the schedule alone */
    bool allow;       /* overlap: allow */
    bool is_closed;   /* on the days of the calendar */
    int64_t delay_ms; /* of an @after that is its only schedule; else 0 */
};

/* The command of the definition is (anything, version), or its function has the version; of a
 * workflow all steps have it. */
int ledger_version(const struct job *definition);

/* E_INVALID: schedules that can't be read. */
MUST_CHECK enum status ledger_epoch_init(struct ledger_epoch *epoch, const struct job *definition,
                                         struct zone_db *zones, int64_t cursor_ms);
void ledger_epoch_release(struct ledger_epoch *epoch);

/* Ticks that have an end: of a run, or of an entry for several. */
struct ledger_cover {
    int64_t from_ms, to_ms, count;
    bool is_run;
    enum run_cause cause;
    enum run_reason reason;
};

struct ledger_check {
    const char *job;
    void (*fail)(void *context, const char *what); /* does not return */
    void *context;
};

/* Sorts the covers. */
void ledger_check(const struct ledger_check *check, const struct ledger_epoch *epochs,
                  size_t epoch_count, struct ledger_cover *covers, size_t count);

int64_t ledger_next_tick(const struct ledger_epoch *epoch, int64_t after_ms); /* NEVER_MS: none */

/* The calendar takes the tick out. */
bool ledger_is_out(const struct ledger_epoch *epoch, int64_t tick_ms);

#endif
