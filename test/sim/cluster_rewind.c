/* The oracle, when clocks are set back. The cursor goes back with them, and the job goes over some
 * ticks again: what has started never starts again, and of every tick there is an end, of which the
 * later counts where a note that the clock was set back comes between. */
#include <stdlib.h>

#include "cluster.h"

enum { LATE_MS = 5 * MINUTE }; /* for a request that was held up */

/* ---- the cursor moves back ---- */

/* What follows are ticks of the same definition, from there on. */
static void begin_again(struct cluster *cluster, struct known_job *job, int64_t cursor_ms)
{
    struct ledger_epoch was = job->epochs[job->epoch_count - 1];
    struct ledger_epoch *epoch = oracle_add_epoch(job);
    if (ledger_epoch_init(epoch, job->definition, cluster->zones, cursor_ms) != OK)
        stage_fail(&cluster->stage, "%s has unreadable schedules", job->name);
    epoch->revision = was.revision;
    epoch->paused = was.paused;
    epoch->deleted = was.deleted;
}

/* Clocks drift; and whoever changes a job does it by the clock of the node that is asked. */
static bool is_any_clock_off(const struct cluster *cluster)
{
    int64_t right_ms = cluster->wall_ms + cluster->stage.now_ms;
    for (int i = 0; i < cluster->node_count; i++)
        if (llabs(machine_now(&cluster->nodes[i].machine).wall.ms - right_ms) > CLOCK_OFF_MS)
            return true;
    return false;
}

/* Some clock is wrong, or was a while ago; or the cursor is ahead still, since one was. */
static bool may_move_back(const struct cluster *cluster, const struct known_job *job)
{
    int64_t now_ms = cluster->stage.now_ms;
    bool was_off = cluster->clock_off_ms != 0;
    return is_any_clock_off(cluster) || (was_off && now_ms < cluster->clock_off_ms + LATE_MS) ||
           (was_off && job->cursor_ms > cluster->wall_ms + now_ms);
}

void rewind_see_cursor(struct cluster *cluster, struct known_job *job, int64_t cursor_ms,
                       const struct rewinds *rewinds)
{
    struct stage *stage = &cluster->stage;
    const struct rewinds *was = &job->rewinds;
    bool is_back = cursor_ms < job->cursor_ms;
    if (is_back && rewinds->count == was->count)
        stage_fail(stage, "the cursor of %s moves back", job->name);
    if (rewinds->count < was->count || rewinds->count > was->count + 1)
        stage_fail(stage, "the cursor of %s was moved back %lld times, and then %lld", job->name,
                   (long long)was->count, (long long)rewinds->count);
    bool is_again = rewinds->count > was->count;
    int64_t high_ms = was->high_ms > job->cursor_ms ? was->high_ms : job->cursor_ms;
    if (is_again && (!is_back || rewinds->high_ms != high_ms))
        stage_fail(stage, "the cursor of %s moves back from %lld, and keeps %lld", job->name,
                   (long long)high_ms, (long long)rewinds->high_ms);
    if (is_again && !may_move_back(cluster, job))
        stage_fail(stage, "the cursor of %s moves back, and all clocks are right", job->name);
    job->rewinds = *rewinds;
    if (!is_again)
        return;
    stage_log(stage, "store: the cursor of %s moves back from %lld to %lld", job->name,
              (long long)job->cursor_ms / 1000, (long long)cursor_ms / 1000);
    cluster->rewinds++;
    if (job->epoch_count)
        begin_again(cluster, job, cursor_ms);
}

/* ---- in which order what is said of ticks was written ---- */

static struct word *add_word(struct known_job *job)
{
    job->words = realloc(job->words, (job->word_count + 1) * sizeof(*job->words));
    if (!job->words)
        abort();
    return &job->words[job->word_count++];
}

void rewind_see_run(struct known_job *job, const struct run *run)
{
    bool is_no_tick = run_is_asked_for(run) || run->cause == CAUSE_REBOOT;
    *add_word(job) = (struct word){.id = run->id,
                                   .from_ms = run->tick_ms,
                                   .to_ms = run->tick_ms,
                                   .is_run = true,
                                   .is_follower = run->cause == CAUSE_AFTER,
                                   .is_no_tick = is_no_tick};
}

void rewind_see_entry(struct cluster *cluster, struct known_job *job,
                      const struct ledger_entry *entry)
{
    *add_word(job) = (struct word){.id = entry->id,
                                   .from_ms = entry->from_ms,
                                   .to_ms = entry->to_ms,
                                   .is_note = entry->reason == REASON_CLOCK,
                                   .is_no_tick = is_end_of_boot(cluster, &entry->id)};
}

/* ---- what is due ---- */

static bool is_rhythm(const struct schedule *schedule)
{
    return schedule_kind(schedule) == SCHEDULE_EVERY;
}

static bool has_ticks(const struct schedule *schedule)
{
    enum schedule_kind kind = schedule_kind(schedule);
    return kind == SCHEDULE_CRON || kind == SCHEDULE_AT || kind == SCHEDULE_EVERY;
}

static int64_t next_of(const struct schedule *schedule, int64_t after_ms)
{
    int64_t tick_s = schedule_next(schedule, after_ms / 1000);
    return tick_s == NEVER ? NEVER_MS : tick_s * 1000;
}

int64_t rewind_next_tick(const struct known_job *job, const struct ledger_epoch *epoch,
                         int64_t after_ms, int64_t now_ms)
{
    int64_t first_ms = NEVER_MS;
    bool is_over = job->rewinds.high_ms > after_ms && now_ms > job->rewinds.high_ms;
    for (size_t i = 0; i < epoch->schedules.count; i++) {
        const struct schedule *schedule = epoch->schedules.items[i];
        int64_t from_ms =
            is_over && is_rhythm(schedule) ? job->rewinds.high_ms : after_ms; /* it goes on there */
        int64_t tick_ms = has_ticks(schedule) ? next_of(schedule, from_ms) : NEVER_MS;
        while (tick_ms != NEVER_MS && !is_rhythm(schedule) &&
               !rewinds_is_open(&job->rewinds, tick_ms))
            tick_ms = next_of(schedule, tick_ms);
        first_ms = tick_ms < first_ms ? tick_ms : first_ms;
    }
    return first_ms;
}

/* ---- at the end ---- */

/* The end of the longest word that covers this tick, and so all ticks until then; or NEVER_MS. */
static int64_t covered_until(const struct known_job *job, int64_t tick_ms)
{
    int64_t until_ms = NEVER_MS;
    for (size_t i = 0; i < job->word_count; i++) {
        const struct word *word = &job->words[i];
        if (!word->is_no_tick && word->from_ms <= tick_ms && tick_ms <= word->to_ms &&
            (until_ms == NEVER_MS || until_ms < word->to_ms))
            until_ms = word->to_ms;
    }
    return until_ms;
}

/* Rhythms have other ticks when the clock comes by again. A clock that was years ahead leaves words
 * that cover more ticks than anybody can look at one by one. */
static void check_epoch(struct cluster *cluster, const struct known_job *job, size_t at)
{
    const struct ledger_epoch *epoch = &job->epochs[at];
    for (size_t i = 0; i < epoch->schedules.count; i++) {
        const struct schedule *schedule = epoch->schedules.items[i];
        if (!has_ticks(schedule) || (is_rhythm(schedule) && at > 0))
            continue;
        for (int64_t until_ms, tick_ms = next_of(schedule, epoch->from_ms); tick_ms <= epoch->to_ms;
             tick_ms = next_of(schedule, until_ms)) {
            until_ms = covered_until(job, tick_ms);
            if (until_ms == NEVER_MS)
                stage_fail(&cluster->stage, "%s: tick %lld has no end", job->name,
                           (long long)tick_ms / 1000);
        }
    }
}

static bool overlap(const struct word *one, const struct word *other)
{
    return one->from_ms <= other->to_ms && other->from_ms <= one->to_ms;
}

/* Was it noted between the two that the clock was set back, before where they meet? Or before both:
 * a run that follows another after that has a tick to which the clock is still to come. */
static bool is_noted(const struct known_job *job, size_t first, size_t second)
{
    const struct word *one = &job->words[first], *other = &job->words[second];
    int64_t from_ms = one->from_ms > other->from_ms ? one->from_ms : other->from_ms;
    for (size_t i = one->is_follower ? 0 : first + 1; i < second; i++)
        if (job->words[i].is_note && job->words[i].from_ms < from_ms)
            return true;
    return false;
}

/* Its ticks when the clock comes by again lie between those of before, and so do ranges of them. */
static bool has_rhythm(const struct known_job *job)
{
    for (size_t i = 0; i < job->epoch_count; i++)
        for (size_t k = 0; k < job->epochs[i].schedules.count; k++)
            if (is_rhythm(job->epochs[i].schedules.items[k]) ||
                schedule_kind(job->epochs[i].schedules.items[k]) == SCHEDULE_AFTER)
                return true;
    return false;
}

/* Of what was before a backup was restored nobody knows all. */
static bool is_forgotten(const struct known_job *job, const struct word *word)
{
    return word->to_ms <= job->ledger_from_ms;
}

/* A range of ticks may have that of a run between them which was not one of the range: a run of a
 * rhythm, or one that has followed another before the job was given times. */
static bool is_between(const struct known_job *job, const struct word *run,
                       const struct word *range)
{
    return !range->is_run &&
           (has_rhythm(job) || (run->is_follower && range->from_ms < range->to_ms));
}

static void check_twice(struct cluster *cluster, const struct known_job *job, size_t second)
{
    const struct word *other = &job->words[second];
    for (size_t i = 0; i < second; i++) {
        const struct word *one = &job->words[i];
        if (one->is_note || one->is_no_tick || is_forgotten(job, one) || !overlap(one, other))
            continue;
        bool may_overlap = !one->is_run || is_between(job, one, other);
        if (!may_overlap || !is_noted(job, i, second))
            stage_fail(&cluster->stage, "%s: tick %lld has two ends", job->name,
                       (long long)other->from_ms / 1000);
    }
}

void rewind_check_ledger(struct cluster *cluster, const struct known_job *job)
{
    for (size_t i = 0; i < job->word_count; i++) {
        const struct word *word = &job->words[i];
        if (is_forgotten(job, word))
            continue;
        if (!find_record(cluster, &word->id))
            stage_fail(&cluster->stage, "%s: what became of tick %lld is not on record", job->name,
                       (long long)word->from_ms / 1000);
        if (!word->is_note && !word->is_no_tick)
            check_twice(cluster, job, i);
    }
    for (size_t i = 0; i < job->epoch_count; i++)
        check_epoch(cluster, job, i);
}
