/* Nobody was there: no agent had a turn anywhere for longer than a tick may be late. What fell due
 * meanwhile is catch_up's, however late it is, and nothing else is. */
#include <stdlib.h>

#include "attendance.h"
#include "cluster.h"

enum {
    ON_TIME_MS = 30 * SECOND,
    MARGIN_MS = 1500,        /* two clocks, and what is claimed ahead of its tick */
    MARKS_MS = 15 * SECOND,  /* the age of a mark with which ticks are still claimed */
    UNSURE_MS = 25 * MINUTE, /* after a wrong clock, or a backup: what was when is not known */
};

static bool is_sure(const struct cluster *cluster)
{
    int64_t now_ms = cluster->stage.now_ms;
    return !(cluster->clock_off_ms && now_ms < cluster->clock_off_ms + UNSURE_MS) &&
           !(cluster->restored_ms && now_ms < cluster->restored_ms + UNSURE_MS);
}

void absence_see_turn(struct cluster *cluster, int64_t wall_ms)
{
    struct known_absence *absence = &cluster->absence;
    int64_t gap_ms = cluster->stage.now_ms - absence->turned_ms;
    if (absence->has_turned && gap_ms > ON_TIME_MS + MARGIN_MS) {
        absence->from_ms = wall_ms - gap_ms;
        absence->to_ms = wall_ms;
    }
    if (absence->to_ms > wall_ms + MARGIN_MS) /* by a clock that was set back since */
        absence->from_ms = absence->to_ms = 0;
    absence->has_turned = true;
    absence->turned_ms = cluster->stage.now_ms;
}

/* Should it have started while nobody was there, for sure? */
static bool is_in_absence(const struct cluster *cluster, int64_t start_ms)
{
    const struct known_absence *absence = &cluster->absence;
    return start_ms > absence->from_ms + MARGIN_MS && start_ms < absence->to_ms - MARGIN_MS;
}

/* A later tick that could run has fallen due in the absence, too. */
static bool is_newest(const struct cluster *cluster, const struct known_job *job,
                      const struct run *run)
{
    const struct ledger_epoch *epoch = &job->epochs[job->epoch_count - 1];
    int64_t jitter_ms = run->not_before_ms - run->tick_ms, tick_ms = run->tick_ms;
    do {
        tick_ms = ledger_next_tick(epoch, tick_ms);
    } while (tick_ms != NEVER_MS && ledger_is_out(epoch, tick_ms));
    return tick_ms == NEVER_MS || !is_in_absence(cluster, tick_ms + jitter_ms);
}

void absence_see_run(struct cluster *cluster, const struct known_job *job, const struct run *run)
{
    struct stage *stage = &cluster->stage;
    struct known_absence *absence = &cluster->absence;
    long long tick_s = (long long)run->tick_ms / 1000;
    if (run->cause != CAUSE_TICK && run->cause != CAUSE_CATCH_UP)
        return;
    absence->claimed_ms[absence->claims++ % ABSENCE_CLAIMS] = run->claimed_ms;
    if (run->cause == CAUSE_CATCH_UP && job->definition->catch_up == CATCH_UP_SKIP)
        stage_fail(stage, "tick %lld of %s is made good, which nobody asked for", tick_s,
                   job->name);
    if (!is_sure(cluster) || !is_in_absence(cluster, run->not_before_ms))
        return;
    if (run->cause == CAUSE_TICK)
        stage_fail(stage, "tick %lld of %s is on time, but nobody was there", tick_s, job->name);
    bool is_computable = job->epochs[job->epoch_count - 1].computable && !job->rewinds.count;
    if (job->definition->catch_up == CATCH_UP_LAST && is_computable &&
        !is_newest(cluster, job, run))
        stage_fail(stage, "tick %lld of %s is made good, and is not the last one", tick_s,
                   job->name);
}

static bool is_of_catch_up(enum run_reason reason)
{
    return reason == REASON_CATCH_UP || reason == REASON_DISK_FULL || reason == REASON_STORE_AWAY ||
           reason == REASON_CLOCK_DOUBTED || reason == REASON_DRAINED;
}

/* What is hardly late is passed over by catch_up only if nobody was there. */
void absence_see_entry(struct cluster *cluster, const struct known_job *job,
                       const struct ledger_entry *entry)
{
    const struct attendance *mark = &cluster->absence.mark;
    const struct ledger_epoch *epoch = &job->epochs[job->epoch_count - 1];
    if (entry->state != RUN_MISSED || !is_of_catch_up(entry->reason) || !is_sure(cluster) ||
        !epoch->schedules.count || schedule_jitter_ms(epoch->schedules.items[0]))
        return;
    bool is_late = entry->recorded_ms - entry->to_ms > ON_TIME_MS - MARGIN_MS;
    if (!is_late && (entry->to_ms < mark->away_from_ms || entry->to_ms > mark->away_to_ms))
        stage_fail(&cluster->stage, "tick %lld of %s is missed, though it is not late",
                   (long long)entry->to_ms / 1000, job->name);
}

void oracle_see_attendance(struct cluster *cluster, const char *json)
{
    struct known_absence *absence = &cluster->absence;
    struct attendance mark = {0};
    if (json && attendance_decode(json, &mark) != OK)
        stage_fail(&cluster->stage, "a mark of attendance can't be read");
    bool is_new = mark.away_to_ms != absence->mark.away_to_ms && mark.away_to_ms;
    absence->mark = mark;
    if (!is_new || cluster->is_restoring || !is_sure(cluster))
        return;
    stage_log(&cluster->stage, "store: nobody was there from %lld to %lld",
              (long long)mark.away_from_ms / 1000, (long long)mark.away_to_ms / 1000);
    if (mark.away_to_ms - mark.away_from_ms <= ON_TIME_MS)
        stage_fail(&cluster->stage, "an absence of only %lld ms is on record",
                   (long long)(mark.away_to_ms - mark.away_from_ms));
    int64_t from_ms = mark.away_from_ms + MARKS_MS + MARGIN_MS;
    if (from_ms < mark.away_to_ms - ON_TIME_MS) /* what is older is late in any case */
        from_ms = mark.away_to_ms - ON_TIME_MS;
    for (size_t i = 0; i < ABSENCE_CLAIMS; i++)
        if (absence->claimed_ms[i] > from_ms &&
            absence->claimed_ms[i] < mark.away_to_ms - MARGIN_MS)
            stage_fail(&cluster->stage, "an absence is on record, in which a tick was claimed");
}
