/* The wall clock: when it is doubted, and what happens when it was set back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"
#include "timestamp.h"

enum {
    STEP_MS = 1000,                 /* of the wall clock against the boot clock: it was set */
    DOUBT_MS = 2 * 60 * 1000,       /* a jump ahead by more is doubted ... */
    FAR_BACK_MS = 24 * 3600 * 1000, /* ... and one back by more ... */
    BEHIND_MS = 5 * 60 * 1000, /* ... and a start this far behind the store's newest time ... */
    BELIEVE_AFTER_MS = 10 * 60 * 1000, /* ... for this long at most */
    AHEAD_MS = STORE_AHEAD_MS, /* a cursor that is further ahead was moved by a wrong clock */
    LATER_MS = 5000,           /* nodes that do not lead wait this long before they move it back */
};

static int64_t ahead_of_boot_ms(const struct engine *engine)
{
    return engine->now.wall.ms - engine->now.boot.ms;
}

/* ---- steps ---- */

/* Times that were set while the wall clock was ahead would not come for long: they are moved
 * back. */
static void set_back(struct engine *engine)
{
    size_t at = 0;
    for (struct catalog_job *job; (job = table_next(&engine->catalog.by_uid, &at));)
        catalog_job_set_back(job, engine->now.wall.ms);
    hindrances_set_back(&engine->hindrances, engine->now.wall.ms);
    engine_replan(engine);
}

/* "FROM%sTO", for people. */
static void print_span(struct strbuf *out, int64_t from_ms, const char *between, int64_t to_ms)
{
    timestamp_print_utc(from_ms / 1000, out);
    strbuf_adds(out, between);
    timestamp_print_utc(to_ms / 1000, out);
}

static void note_step(struct engine *engine, int64_t by_ms)
{
    struct clock_watch *clock = &engine->clock;
    struct strbuf span;
    strbuf_init(&span);
    print_span(&span, engine->now.wall.ms - by_ms, " to=", engine->now.wall.ms);
    ports_log(&engine->ports, "clock_step", "by_ms=%lld from=%s", (long long)by_ms, span.text);
    strbuf_release(&span);
    clock->steps++;
    clock->step_ms = by_ms;
    clock->stepped_ms = engine->now.wall.ms;
    ports_step(&engine->ports, &(struct clock_step){by_ms, engine->now.wall.ms});
}

/* ---- doubt ---- */

static const char *const doubts[] = {
    [DOUBT_NONE] = "",
    [DOUBT_AHEAD] = "it jumped ahead, and no other node confirms it",
    [DOUBT_BACK] = "it jumped far back",
    [DOUBT_START] = "it is behind what the store has",
};

const char *engine_doubt_text(enum clock_doubt doubt)
{
    return doubts[doubt];
}

static void begin_doubt(struct engine *engine, enum clock_doubt doubt)
{
    engine->clock.doubt = doubt;
    engine->clock.doubt_since = engine->now.boot;
    engine->peers.is_doubted = true;
    ports_log(
        &engine->ports, "clock_doubted",
        "why=\"%s\" what=\"nothing is started for %d minutes, unless it is corrected or other "
        "nodes confirm it\"",
        doubts[doubt], BELIEVE_AFTER_MS / 60000);
}

/* The clock before the step is remembered, so that a step back to it is believed at once. */
static void take_over(struct clock_watch *clock, int64_t ahead_ms)
{
    if (llabs(ahead_ms - clock->believed_ms) > DOUBT_MS) {
        clock->before_ms = clock->believed_ms;
        clock->has_before = true;
    }
    clock->believed_ms = ahead_ms;
}

static void believe(struct engine *engine, const char *why)
{
    struct clock_watch *clock = &engine->clock;
    int64_t ahead_ms = ahead_of_boot_ms(engine);
    if (clock->doubt == DOUBT_START)
        clock->believed_ms = ahead_ms; /* no step before */
    take_over(clock, ahead_ms);
    clock->doubt = DOUBT_NONE;
    engine->peers.is_doubted = false;
    ports_log(&engine->ports, "clock_trusted", "why=\"%s\"", why);
    marks_sweep(&engine->marks);
    engine_look_ahead(engine);
    set_back(engine);
}

static bool is_near(int64_t one_ms, int64_t other_ms)
{
    return llabs(one_ms - other_ms) <= DOUBT_MS;
}

/* Was the clock at the agent's start behind the store's newest time? */
static bool is_behind(const struct engine *engine)
{
    return engine->now.wall.ms < engine->config.made_ms ||
           engine->now.wall.ms < engine->clock.newest_ms - BEHIND_MS;
}

static enum clock_doubt doubt_of(struct engine *engine)
{
    const struct clock_watch *clock = &engine->clock;
    int64_t ahead_ms = ahead_of_boot_ms(engine), step_ms = ahead_ms - clock->believed_ms;
    bool is_absurd = engine->now.wall.ms < engine->config.made_ms && step_ms < -STEP_MS;
    bool is_far = step_ms > DOUBT_MS || step_ms < -FAR_BACK_MS || is_absurd;
    if (!is_far || (clock->has_before && is_near(ahead_ms, clock->before_ms)) ||
        peers_confirm(&engine->peers, engine->now))
        return DOUBT_NONE;
    return step_ms > 0 ? DOUBT_AHEAD : DOUBT_BACK;
}

void engine_end_doubt(struct engine *engine)
{
    const struct clock_watch *clock = &engine->clock;
    if (clock->doubt == DOUBT_NONE)
        return;
    bool is_start = clock->doubt == DOUBT_START;
    bool is_right =
        is_start ? !is_behind(engine) : is_near(ahead_of_boot_ms(engine), clock->believed_ms);
    if (is_right)
        believe(engine, "it is right again");
    else if (peers_confirm(&engine->peers, engine->now))
        believe(engine, "most of the other nodes have the same time");
    else if (engine->now.boot.ms - clock->doubt_since.ms >= BELIEVE_AFTER_MS)
        believe(engine, "it has stayed so");
}

void engine_follow_clock(struct engine *engine)
{
    struct clock_watch *clock = &engine->clock;
    int64_t ahead_ms = ahead_of_boot_ms(engine);
    if (!clock->is_known) {
        clock->is_known = true;
        clock->last_ms = clock->most_ms = clock->believed_ms = ahead_ms;
    }
    int64_t step_ms = ahead_ms - clock->last_ms;
    clock->last_ms = ahead_ms;
    if (llabs(step_ms) > STEP_MS)
        note_step(engine, step_ms);
    if (engine->loaded && ahead_ms < clock->most_ms - STEP_MS) {
        clock->most_ms = ahead_ms;
        set_back(engine);
        engine_look_ahead(engine);
    } else if (ahead_ms > clock->most_ms) {
        clock->most_ms = ahead_ms;
    }
    if (clock->doubt != DOUBT_NONE) {
        if (llabs(step_ms) > DOUBT_MS)
            clock->doubt_since = engine->now.boot;
        engine_end_doubt(engine);
        return;
    }
    enum clock_doubt doubt = doubt_of(engine);
    if (doubt != DOUBT_NONE) {
        begin_doubt(engine, doubt);
        return;
    }
    take_over(clock, ahead_ms);
}

static int64_t later(int64_t one_ms, int64_t other_ms)
{
    return one_ms > other_ms ? one_ms : other_ms;
}

void engine_judge_start(struct engine *engine)
{
    size_t at = 0;
    for (const struct catalog_job *job; (job = table_next(&engine->catalog.by_uid, &at));)
        engine->clock.newest_ms =
            later(engine->clock.newest_ms, later(job->cursor_ms, job->last.ended_ms));
    if (engine->clock.newest_ms > engine->now.wall.ms + AHEAD_MS)
        engine_look_ahead(engine);
    if (is_behind(engine))
        begin_doubt(engine, DOUBT_START);
}

/* ---- back ---- */

static bool is_ahead(const struct engine *engine, const struct catalog_job *job)
{
    int64_t limit_ms = engine->now.wall.ms + AHEAD_MS;
    return job->cursor_ms > limit_ms || job->last.ended_ms > limit_ms;
}

void engine_look_ahead(struct engine *engine)
{
    int64_t at_ms = engine->now.boot.ms + (engine->sweeper.leads ? 0 : LATER_MS);
    if (at_ms < engine->clock.look_at.ms)
        engine->clock.look_at.ms = at_ms;
}

/* A request that moves cursors back is under way. */
static bool is_moving(const struct clock_watch *clock)
{
    return clock->sender.in_flight > 0;
}

void engine_see_cursor(struct engine *engine, const struct catalog_job *job)
{
    if (engine->loaded && is_ahead(engine, job) && engine->clock.look_at.ms == INT64_MAX)
        engine->clock.look_at.ms =
            engine->now.boot.ms + (engine->sweeper.leads ? STEP_MS : LATER_MS);
}

static void fill_rewind(struct engine *engine, const struct catalog_job *job,
                        struct store_rewind *rewind)
{
    int64_t to_ms = engine->now.wall.ms;
    struct strbuf span;
    *rewind = (struct store_rewind){
        .job_uid = job->uid,
        .cursor_ms = job->cursor_ms,
        .rewinds = job->rewinds,
        .to_ms = to_ms,
        .entry = {.id = ports_new_id(&engine->ports, engine->now.wall),
                  .job_uid = job->uid,
                  .from_ms = to_ms,
                  .to_ms = job->cursor_ms,
                  .state = RUN_SKIPPED,
                  .reason = REASON_CLOCK,
                  .recorded_ms = to_ms},
    };
    snprintf(rewind->entry.job_name, sizeof(rewind->entry.job_name), "%s", job->name);
    snprintf(rewind->entry.node, sizeof(rewind->entry.node), "%s", engine->config.node);
    rewind->entry.owner = peer_incarnation(&engine->config.self);
    strbuf_init(&span);
    print_span(&span, job->cursor_ms, " to ", to_ms);
    snprintf(rewind->entry.detail, sizeof(rewind->entry.detail),
             "set back from %s: what had started is not started again, the rest starts at its time",
             span.text);
    strbuf_release(&span);
}

static void rewinds_answered(void *stage, struct outbox_batch *batch, enum status st,
                             struct now now)
{
    struct engine *engine = stage;
    size_t done = 0;
    for (size_t i = 0; st == OK && i < outbox_count(batch); i++)
        done += batch->request.items.rewinds[i].done;
    if (done)
        ports_log(&engine->ports, "cursors_moved_back", "jobs=%zu", done);
    engine->clock.look_at.ms = now.boot.ms + STEP_MS; /* look for more */
}

/* Cursors to be moved back. */
static const struct outbox_kind rewinds_kind = {
    .op = STORE_REWIND, .item_size = sizeof(struct store_rewind), .answered = rewinds_answered};

/* A batch of cursors that are ahead; NULL: none, or out of memory. */
static struct outbox_batch *gather_rewinds(struct engine *engine)
{
    struct outbox_batch *batch = NULL;
    size_t at = 0;
    engine->clock.jobs_ahead = 0;
    for (const struct catalog_job *job; (job = table_next(&engine->catalog.by_uid, &at));) {
        if (!is_ahead(engine, job))
            continue;
        engine->clock.jobs_ahead++;
        struct store_rewind *rewind = NULL;
        if (outbox_count(batch) < OUTBOX_MAX)
            rewind = outbox_add(&batch, &engine->clock.sender, &rewinds_kind);
        if (rewind)
            fill_rewind(engine, job, rewind);
    }
    return batch;
}

/* Only with a trusted clock; a program only where no agent is. */
static bool may_move_back(const struct engine *engine)
{
    const struct peer *self = &engine->config.self;
    return engine->health == OK && peers_trust_clock(&engine->peers) &&
           peers_am_alive(&engine->peers) &&
           (peer_is_agent_worker(self) || (peer_is_program(self) && !engine->peers.has_agent));
}

void engine_move_back(struct engine *engine)
{
    if (engine->clock.look_at.ms > engine->now.boot.ms || is_moving(&engine->clock))
        return;
    struct outbox_batch *batch = gather_rewinds(engine);
    if (outbox_count(batch) && may_move_back(engine)) {
        outbox_send(&batch, engine->now);
        return;
    }
    bool has_more = engine->clock.jobs_ahead > 0;
    engine->clock.look_at.ms = has_more ? engine->now.boot.ms + LATER_MS : INT64_MAX;
    outbox_free(batch);
}

/* ---- for others ---- */

int64_t engine_clock_at(const struct engine *engine)
{
    const struct clock_watch *clock = &engine->clock;
    struct boot_ms at = {INT64_MAX};
    if (clock->doubt != DOUBT_NONE)
        at.ms = clock->doubt_since.ms + BELIEVE_AFTER_MS;
    if (!is_moving(clock) && clock->look_at.ms < at.ms)
        at = clock->look_at;
    return at.ms == INT64_MAX ? NEVER_MS : wall_at(engine->now, at);
}

bool engine_trusts_clock(const struct engine *engine, struct now now)
{
    const struct clock_watch *clock = &engine->clock;
    int64_t step_ms = now.wall.ms - now.boot.ms - clock->last_ms;
    return clock->is_known && llabs(step_ms) <= STEP_MS && clock->doubt == DOUBT_NONE &&
           peers_trust_clock(&engine->peers);
}

/* A doubted clock says nothing of when: the one before its step does. */
static int64_t troubled_since_ms(const struct engine *engine)
{
    const struct clock_watch *clock = &engine->clock;
    if (clock->doubt != DOUBT_NONE)
        return clock->doubt_since.ms + clock->believed_ms;
    if (engine->peers.is_skewed)
        return wall_at(engine->now, engine->skewed_since) - engine->peers.skew_ms;
    return 0;
}

struct engine_clock engine_clock(const struct engine *engine)
{
    const struct clock_watch *clock = &engine->clock;
    return (struct engine_clock){
        .doubt = clock->doubt,
        .until_ms =
            clock->doubt == DOUBT_NONE
                ? 0
                : wall_at(engine->now, (struct boot_ms){clock->doubt_since.ms + BELIEVE_AFTER_MS}),
        .left_ms = clock->doubt == DOUBT_NONE
                       ? 0
                       : clock->doubt_since.ms + BELIEVE_AFTER_MS - engine->now.boot.ms,
        .is_skewed = engine->peers.is_skewed,
        .since_ms = troubled_since_ms(engine),
        .skew_ms = engine->peers.skew_ms,
        .steps = clock->steps,
        .step_ms = clock->step_ms,
        .stepped_ms = clock->stepped_ms,
        .jobs_ahead = clock->jobs_ahead,
    };
}
