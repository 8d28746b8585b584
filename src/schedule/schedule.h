/* When a job is due: one schedule as people write it (SCHEDULES.md), with its time zone, window
 * and jitter. Pure, apart from the zone database that parsing asks for zones.
 *
 * All times are Unix seconds. */
#ifndef PEAL_SCHEDULE_H
#define PEAL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "cron/cron_expr.h"
#include "status.h"
#include "strbuf.h"
#include "zone/zone_db.h"

#define TIME_UNSET INT64_MIN

enum schedule_kind {
    SCHEDULE_CRON,
    SCHEDULE_EVERY,  /* fixed rate, from an anchor */
    SCHEDULE_AFTER,  /* fixed delay, from the end of the last run */
    SCHEDULE_AT,     /* once */
    SCHEDULE_REBOOT, /* when the node starts */
    SCHEDULE_MANUAL, /* only when asked for */
};

/* What a fixed time does where the clock jumps, unless told otherwise: a skipped one fires once at
 * the end of the gap, a repeated one in its first pass only. */
enum dst_policy {
    DST_DEFAULT,
    DST_SKIP, /* skipped times do not fire */
    DST_BOTH, /* repeated times fire in both passes */
};

struct schedule_options {
    const char *tz;         /* the job's zone; an error when the text names one too. May be NULL */
    const char *default_tz; /* where neither the text nor `tz` names one. NULL: UTC */
    int64_t start_s;        /* nothing is due before; years 1 to 9999; TIME_UNSET: no bound */
    int64_t end_s;          /* nothing is due at or after; likewise */
    int64_t jitter_s;       /* spread over this many seconds; 0: none */
    enum dst_policy dst;
    enum cron_profile profile;
    const char *job_name; /* seed of `H`; may be NULL */
    const char *job_uid;  /* seed of `~`, `R` and jitter; may be NULL */
};

/* No bounds, peal's own dialect. */
struct schedule_options schedule_options_default(void);

struct schedule;

/* OK: *ret is new and the caller's. E_INVALID: *reterr says where and why. The zone belongs to
 * `zones`, which must outlive the schedule. */
MUST_CHECK enum status schedule_parse(const char *text, const struct schedule_options *options,
                                      struct zone_db *zones, struct schedule **ret,
                                      struct parse_error *reterr);
struct schedule *schedule_free(struct schedule *schedule);

/* The first tick strictly after, the last strictly before; NEVER / NEVER_BEFORE when there is none.
 * Ticks are in the years 1 to 9999. Bounded time for every schedule and instant.
 * `@after`, `@reboot` and `@manual` have no ticks of their own: always NEVER. */
int64_t schedule_next(const struct schedule *schedule, int64_t after_s);
int64_t schedule_prev(const struct schedule *schedule, int64_t before_s);

/* `@after` only: the tick that follows a run which ended (or a job which was created) then. */
int64_t schedule_next_after(const struct schedule *schedule, int64_t ended_s);

/* How much later than its tick a run starts: the same on every node and for every tick of the job,
 * so that runs keep their order and spacing. 0 <= result < jitter. */
int64_t schedule_jitter_ms(const struct schedule *schedule);
int64_t schedule_jitter_limit(const struct schedule *schedule); /* seconds, as given */

enum schedule_kind schedule_kind(const struct schedule *schedule);
const struct zone *schedule_zone(const struct schedule *schedule);
int64_t schedule_start(const struct schedule *schedule);
int64_t schedule_end(const struct schedule *schedule);
enum dst_policy schedule_dst(const struct schedule *schedule);

/* The expression of a SCHEDULE_CRON, the length of an EVERY or AFTER, the instant of an AT. */
const struct cron_expr *schedule_cron(const struct schedule *schedule);
int64_t schedule_interval(const struct schedule *schedule);
int64_t schedule_at(const struct schedule *schedule);

/* Appends the canonical text, zone prefix included unless it is UTC. Parses back to an equal
 * schedule. */
void schedule_print(const struct schedule *schedule, struct strbuf *out);

/* What the clock did at a tick that schedule_next gave. */
enum tick_note_kind {
    TICK_PLAIN,
    TICK_MOVED,      /* its local time does not exist on this day; it fires at the end of the gap */
    TICK_FIRST_PASS, /* its local time happens twice; this is the first */
    TICK_SECOND_PASS,
};
struct tick_note {
    enum tick_note_kind kind;
    int64_t wanted_local_s; /* TICK_MOVED: the first local time that was skipped */
};
struct tick_note schedule_tick_note(const struct schedule *schedule, int64_t tick_s);

#endif
