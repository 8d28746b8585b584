/* Retention, in steps so short that an append never waits long:
 *
 *     OLD -> AGE -> (NEXT_JOB -> COUNT)... -> BYTES -> JOBS -> STATS -> CHANGES -> ROOM
 *
 * Rows are removed by age, of all jobs or of the requested one, then by count per job, then by
 * bytes of output. Every phase but NEXT_JOB is repeated until there is nothing left to remove. */
#include "history_prune.h"

#include <string.h>

#include "clock.h"
#include "history_stats.h"

enum { TURN_MS = 10 }; /* length of a turn, which is one transaction */

struct turn {
    const struct prune_driver *driver;
    struct history_link *link;
    const struct history_prune *prune;
    struct pruning *at;
};

static bool is_of_all(const struct turn *turn)
{
    return id_is_zero(&turn->prune->job_uid);
}

/* ---- rows ---- */

/* After the runs come the entries. False: both are done. */
static bool next_table(struct pruning *at)
{
    at->table = at->table == TABLE_RUNS ? TABLE_ENTRIES : TABLE_RUNS;
    at->oldest = (struct id){{0}};
    at->state = COUNT_BEGINS;
    return at->table == TABLE_ENTRIES;
}

static enum status remove_old(const struct turn *turn, const struct id *uid, const struct id *below,
                              int64_t before_ms, bool *ret_done)
{
    struct pruning *at = turn->at;
    struct prune_rows rows = {.count = 0};
    size_t done; /* not used: the next step finds the remaining rows again */
    enum status st = turn->driver->find_old(turn->link, at->table, uid, below, before_ms, &rows);
    if (st == OK && rows.count)
        return turn->driver->remove(turn->link, at->table, &rows, &at->removed, &done);
    *ret_done = st == OK && !next_table(at);
    return st;
}

static enum status drop_old(const struct turn *turn, bool *ret_done)
{
    *ret_done = !turn->driver->drop_old || !turn->prune->before_ms || !is_of_all(turn);
    if (*ret_done)
        return OK;
    return turn->driver->drop_old(turn->link, turn->prune->before_ms, &turn->at->place,
                                  &turn->at->removed, ret_done);
}

/* A row that ended before a time has an id made before it, which bounds the search by id. */
static enum status prune_age(const struct turn *turn, bool *ret_done)
{
    struct id below = history_id_at(turn->prune->before_ms);
    *ret_done = !turn->prune->before_ms;
    if (*ret_done)
        return OK;
    return remove_old(turn, &turn->prune->job_uid, &below, turn->prune->before_ms, ret_done);
}

static enum status next_job(const struct turn *turn, bool *ret_done)
{
    struct pruning *at = turn->at;
    enum status st = E_NOT_FOUND;
    if (turn->prune->keep_runs && is_of_all(turn))
        st = turn->driver->next_job(turn->link, &at->uid, &at->uid);
    else if (turn->prune->keep_runs && id_is_zero(&at->uid)) {
        at->uid = turn->prune->job_uid;
        st = OK;
    }
    *ret_done = st == OK;
    if (st != E_NOT_FOUND)
        return st;
    at->phase = PRUNE_BYTES;
    return OK;
}

/* Counts the next runs. An instance of a workflow is one run, and its steps, which were made after
 * it and so have larger ids, stay and go with it. */
static enum status count_runs(const struct turn *turn)
{
    struct pruning *at = turn->at;
    struct prune_rows rows = {.count = 0};
    enum status st = turn->driver->find_kinds(turn->link, &at->uid, &at->counted_to, &rows);
    if (st != OK)
        return st;
    for (size_t i = 0; i < rows.count && at->counted < turn->prune->keep_runs; i++) {
        at->counted += !rows.is_step[i];
        at->counted_to = rows.ids[i];
    }
    if (at->counted == turn->prune->keep_runs)
        at->oldest = at->counted_to;
    if (at->counted == turn->prune->keep_runs || rows.count < PRUNE_ROWS)
        at->state = COUNT_KNOWN;
    return OK;
}

/* Only a job that has steps among its newest runs is counted row by row. */
static enum status begin_count(const struct turn *turn)
{
    struct pruning *at = turn->at;
    struct prune_rows rows = {.count = 0};
    bool has_steps = false;
    memset(at->counted_to.bytes, 255, sizeof(at->counted_to.bytes));
    at->counted = 0;
    at->state = COUNT_KNOWN;
    enum status st = turn->driver->find_nth(turn->link, at->table, &at->uid, turn->prune->keep_runs,
                                            &at->oldest);
    if (st != OK || id_is_zero(&at->oldest) || at->table != TABLE_RUNS)
        return st;
    st = turn->driver->find_kinds(turn->link, &at->uid, &at->counted_to, &rows);
    for (size_t i = 0; i < rows.count; i++)
        has_steps |= rows.is_step[i];
    if (st != OK || !has_steps)
        return st;
    at->oldest = (struct id){{0}};
    at->state = COUNT_ROWS;
    return OK;
}

static enum status prune_count(const struct turn *turn, bool *ret_done)
{
    struct pruning *at = turn->at;
    if (at->state == COUNT_BEGINS)
        return begin_count(turn);
    if (at->state == COUNT_ROWS)
        return count_runs(turn);
    if (!id_is_zero(&at->oldest))
        return remove_old(turn, &at->uid, &at->oldest, 0, ret_done);
    *ret_done = !next_table(at);
    return OK;
}

/* Visits the next runs of the job or of all jobs, and removes those beyond keep_bytes. */
static enum status prune_bytes(const struct turn *turn, bool *ret_done)
{
    struct pruning *at = turn->at;
    struct prune_rows rows = {.count = 0}, victims = {.count = 0};
    struct byte_count before[PRUNE_ROWS]; /* each of them */
    struct id below = byte_count_below(&at->bytes);
    size_t done = 0;
    *ret_done = !turn->prune->keep_bytes;
    if (*ret_done)
        return OK;
    enum status st = turn->driver->find_bytes(turn->link, &turn->prune->job_uid, &below, &rows);
    for (size_t i = 0; i < rows.count && st == OK; i++) {
        before[victims.count] = at->bytes;
        if (byte_count_goes(&at->bytes, turn->prune->keep_bytes, &rows.ids[i],
                            rows.output_bytes[i]))
            victims.ids[victims.count++] = rows.ids[i];
    }
    if (st == OK && victims.count)
        st = turn->driver->remove(turn->link, TABLE_RUNS, &victims, &at->removed, &done);
    *ret_done = st == OK && rows.count < PRUNE_ROWS && done == victims.count;
    if (st == OK && done < victims.count)
        at->bytes = before[done]; /* the next step visits the remaining runs again */
    return st;
}

/* ---- jobs, statistics, changes, disk space ---- */

static enum status drop_jobs(const struct turn *turn, bool *ret_done)
{
    *ret_done = !turn->driver->drop_jobs || !turn->at->removed;
    if (*ret_done)
        return OK;
    return turn->driver->drop_jobs(turn->link, &turn->prune->job_uid, &turn->at->place, ret_done);
}

static enum status prune_stats(const struct turn *turn, bool *ret_done)
{
    int64_t hour = stats_prune_hour(turn->prune);
    *ret_done = !hour;
    if (*ret_done)
        return OK;
    return turn->driver->remove_stats(turn->link, &turn->prune->job_uid, hour, &turn->at->place,
                                      ret_done);
}

static enum status prune_changes(const struct turn *turn, bool *ret_done)
{
    *ret_done = !turn->prune->changes_before_ms || !is_of_all(turn);
    if (*ret_done)
        return OK;
    return turn->driver->remove_changes(turn->link, turn->prune->changes_before_ms,
                                        &turn->at->removed, ret_done);
}

static enum status shrink(const struct turn *turn, bool *ret_done)
{
    *ret_done = !turn->driver->shrink;
    return *ret_done ? OK : turn->driver->shrink(turn->link, &turn->at->place, ret_done);
}

/* ---- steps ---- */

static const struct {
    enum status (*step)(const struct turn *turn, bool *ret_done);
    enum prune_phase next;
} phases[] = {
    [PRUNE_OLD] = {drop_old, PRUNE_AGE},          [PRUNE_AGE] = {prune_age, PRUNE_NEXT_JOB},
    [PRUNE_NEXT_JOB] = {next_job, PRUNE_COUNT},   [PRUNE_COUNT] = {prune_count, PRUNE_NEXT_JOB},
    [PRUNE_BYTES] = {prune_bytes, PRUNE_JOBS},    [PRUNE_JOBS] = {drop_jobs, PRUNE_STATS},
    [PRUNE_STATS] = {prune_stats, PRUNE_CHANGES}, [PRUNE_CHANGES] = {prune_changes, PRUNE_ROOM},
    [PRUNE_ROOM] = {shrink, PRUNE_FINISHED},
};

static enum status take_step(const struct turn *turn)
{
    bool done = false;
    struct pruning *at = turn->at;
    enum status st = phases[at->phase].step(turn, &done);
    if (st == OK && done) {
        at->phase = phases[at->phase].next;
        at->place = (struct prune_place){.number = 0};
    }
    return st;
}

enum status prune_turn(const struct prune_driver *driver, struct history_link *link,
                       const struct history_prune *prune, struct pruning *at)
{
    const struct turn turn = {driver, link, prune, at};
    int64_t until_ms = clock_now().boot.ms + TURN_MS;
    enum status st = driver->begin ? driver->begin(link) : OK;
    if (st == OK)
        st = take_step(&turn);
    while (st == OK && driver->begin && at->phase != PRUNE_FINISHED &&
           clock_now().boot.ms < until_ms)
        st = take_step(&turn);
    return st == OK && driver->commit ? driver->commit(link) : st;
}
