/* Attendance: the last time at which some node could start runs. The leader, or another node if the
 * leader does not, writes it to the store every ten seconds, and every two while runs are claimed.
 * The first node to return after an absence of all nodes reads from it how long the absence was. */
#include "engine_internal.h"

enum {
    ATTEND_EVERY_MS = 10000,
    ATTEND_BUSY_MS = 2000,   /* while runs are claimed */
    ATTEND_LATER_MS = 3000,  /* the other nodes write this much later than the leader */
    ATTEND_FRESH_MS = 15000, /* who returns after that plans only with a new mark */
    CONFLICT_MS = 1000,      /* by then the feed has brought the current document ... */
    CONFLICTS = 5,           /* ... if not, the answer's revision is used */
};

/* A mark that was sent and not answered yet. */
struct mark_note {
    struct attendance mark;
    char json[ATTENDANCE_JSON_SIZE];
};

static int64_t earlier(int64_t one_ms, int64_t other_ms)
{
    return one_ms < other_ms ? one_ms : other_ms;
}

static int64_t later(int64_t one_ms, int64_t other_ms)
{
    return one_ms > other_ms ? one_ms : other_ms;
}

/* The last known time at which some node could start runs: from the mark and from this node's own
 * turns. Cursors and runs prove nothing: a node that has returned and may not plan yet records
 * ends, which make other jobs due, and people change jobs through it. After the clock was set back,
 * a mark in the future counts as now. */
static int64_t attended_ms(const struct engine *engine)
{
    const struct attendance_watch *watch = &engine->attendance;
    return earlier(later(watch->mark.until_ms, watch->able_ms), engine->now.wall.ms);
}

static bool were_all_absent(const struct engine *engine)
{
    const struct attendance_watch *watch = &engine->attendance;
    return watch->has_mark && engine->now.wall.ms - attended_ms(engine) > engine->config.on_time_ms;
}

/* Only the mark counts, which the others see, too: a node that is able now and then, but never long
 * enough to write one, would start ticks in what is an absence for them. */
bool engine_is_attended(const struct engine *engine)
{
    const struct attendance_watch *watch = &engine->attendance;
    int64_t until_ms = earlier(watch->mark.until_ms, engine->now.wall.ms);
    return !watch->has_mark || engine->now.wall.ms - until_ms <= ATTEND_FRESH_MS;
}

static void take_mark(struct engine *engine, const struct attendance *mark, int64_t revision)
{
    struct attendance_watch *watch = &engine->attendance;
    watch->has_mark = mark != NULL;
    watch->mark = mark ? *mark : (struct attendance){0};
    watch->revision = revision;
    watch->told = engine->now.boot;
    watch->is_busy = false;
    watch->conflicts = 0;
}

void engine_take_attendance(struct engine *engine, const struct store_doc *doc)
{
    struct attendance mark;
    if (!doc->json) {
        take_mark(engine, NULL, 0);
    } else if (attendance_decode(doc->json, &mark) != OK) { /* the next mark replaces it */
        ports_log(&engine->ports, "attendance_unreadable", "revision=%lld",
                  (long long)doc->revision);
        take_mark(engine, NULL, doc->revision);
    } else {
        take_mark(engine, &mark, doc->revision);
    }
    if (!engine->loaded) /* of unknown age: write a new one at once */
        engine->attendance.told.ms = 0;
}

static void mark_answered(void *stage, struct outbox_batch *batch, enum status st, struct now now)
{
    struct engine *engine = stage;
    struct attendance_watch *watch = &engine->attendance;
    const struct store_put_doc *put = &batch->request.items.docs[0];
    const struct mark_note *note = batch->notes;
    if (st != OK)
        return;
    if (put->result == PUT_OK) {
        take_mark(engine, &note->mark, put->revision);
        return;
    }
    watch->sender.retry_at.ms = now.boot.ms + CONFLICT_MS;
    if (++watch->conflicts >= CONFLICTS)
        watch->revision = put->result == PUT_CONFLICT ? put->revision : 0;
}

static const struct outbox_kind mark_kind = {.op = STORE_PUT_DOC,
                                             .item_size = sizeof(struct store_put_doc),
                                             .note_size = sizeof(struct mark_note),
                                             .answered = mark_answered};

/* An absence in the future is from before the clock was set back, and is left out. */
static struct attendance next_mark(const struct engine *engine)
{
    struct attendance mark = engine->attendance.mark;
    int64_t now_ms = engine->now.wall.ms;
    if (were_all_absent(engine)) {
        mark.away_from_ms = attended_ms(engine);
        mark.away_to_ms = now_ms;
    } else if (mark.away_to_ms > now_ms) {
        mark.away_from_ms = mark.away_to_ms = 0;
    }
    mark.until_ms = now_ms;
    return mark;
}

static void send_mark(struct engine *engine)
{
    struct attendance_watch *watch = &engine->attendance;
    struct outbox_batch *batch = NULL;
    struct store_put_doc *put = outbox_add(&batch, &watch->sender, &mark_kind);
    if (!put) {
        outbox_free(batch);
        watch->sender.retry_at.ms = engine->now.boot.ms + CONFLICT_MS;
        return;
    }
    struct mark_note *note = batch->notes;
    note->mark = next_mark(engine);
    attendance_encode(&note->mark, note->json);
    *put = (struct store_put_doc){.kind = ATTENDANCE_DOC,
                                  .name = ATTENDANCE_NAME,
                                  .json = note->json,
                                  .expected_revision = watch->revision};
    if (were_all_absent(engine))
        ports_log(&engine->ports, "was_away", "for_ms=%lld",
                  (long long)(note->mark.away_to_ms - note->mark.away_from_ms));
    outbox_send(&batch, engine->now);
}

/* Boot time at which this node writes the next mark. At once, on every node, if planning waits for
 * it: the first write wins, and the feed brings it to the others. */
static int64_t due_at_ms(const struct engine *engine)
{
    const struct attendance_watch *watch = &engine->attendance;
    int64_t every_ms = watch->is_busy ? ATTEND_BUSY_MS : ATTEND_EVERY_MS;
    int64_t at_ms = watch->told.ms + every_ms;
    if (!engine->planner.leads)
        at_ms = later(at_ms, watch->able_since.ms) + ATTEND_LATER_MS;
    return later(engine_is_attended(engine) ? at_ms : 0, watch->sender.retry_at.ms);
}

static void send_if_due(struct engine *engine)
{
    if (!engine->attendance.sender.in_flight && due_at_ms(engine) <= engine->now.boot.ms)
        send_mark(engine);
}

void engine_attend(struct engine *engine, bool is_able)
{
    struct attendance_watch *watch = &engine->attendance;
    bool was_able = watch->is_able;
    engine_note_hindrance(engine);
    watch->is_able = is_able;
    if (is_able && !was_able)
        watch->able_since = engine->now.boot;
    if (is_able)
        send_if_due(engine);
    else if (was_able && engine->draining && watch->led && !watch->sender.in_flight)
        send_mark(engine); /* the last mark before the stop: the absence begins here */
    watch->led = engine->planner.leads;
    if (is_able && engine_is_attended(engine))
        watch->able_ms = engine->now.wall.ms;
}

int64_t engine_attend_at(const struct engine *engine)
{
    const struct attendance_watch *watch = &engine->attendance;
    if (!watch->is_able || watch->sender.in_flight) /* the answer causes a turn */
        return NEVER_MS;
    return wall_at(engine->now, (struct boot_ms){due_at_ms(engine)});
}
