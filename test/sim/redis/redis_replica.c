/* The replica of the Redis that is played. It takes each change some time after the server has made
 * it, and takes its place when that is killed: what it has not got by then is gone. So the oracle
 * is told of a change when the replica has it: what it holds nodes to is what they can count on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "redis_play.h"

static const int64_t NEVER_MS = INT64_MAX / 2;

enum {
    LATENCY_MS = 10, /* at most, to a server with a replica: see replica_begin */
    LAG_MS = 30,     /* of most changes */
    AWAY_MS = 3000,  /* until the former master follows */
    AWAY_MORE_MS = 8000,
    COUNT_MS = 1100, /* in which a replica that comes is asked for, and a little more */
};

/* A revision that the replica does not have yet. */
struct play_pending {
    int64_t rev, due_ms;
    struct model_version **versions; /* copies: those of the model may be compacted meanwhile */
    size_t count;
    TAILQ_ENTRY(play_pending) entry;
};

static struct redis_play *play_of_due(struct task *task)
{
    return (struct redis_play *)((char *)task - offsetof(struct redis_play, replica_task));
}

/* ---- what is on its way to it ---- */

void replica_told(struct redis_conn *conn, const struct redis_play *play)
{
    if (play->has_replica)
        conn->told_ms = play->base.stage->now_ms;
}

void replica_read(struct redis_conn *conn, const struct redis_play *play)
{
    if (conn->asked_ms != play->replica_since_ms)
        conn->asked_too_late = 0;
    conn->asked_ms = play->replica_since_ms;
    conn->asked_too_late +=
        play->has_replica && play->base.stage->now_ms > play->replica_since_ms + COUNT_MS;
}

/* Whoever was told of it takes no answer that comes later, and has no WAIT behind it. And each asks
 * once a second: of the readings that begin after that, the first may be of before, and the second
 * asks. */
static bool waits_for_it(const struct redis_conn *conn, const struct redis_play *play)
{
    return conn->waited_ms >= play->replica_since_ms || conn->told_ms >= play->replica_since_ms ||
           (conn->asked_ms == play->replica_since_ms && conn->asked_too_late >= 2);
}

/* Each connection, that of a feed as well, must wait for this one by now: until then nobody can
 * rely on what it has, and it is not promoted. A connection goes by what it was told itself: the
 * other one of its node may be closed all the time. */
static bool is_known_to_all(const struct redis_play *play)
{
    const struct line *line;
    TAILQ_FOREACH (line, &play->base.lines.list, entry)
        if (line->near && !line->is_ended && !waits_for_it((const struct redis_conn *)line, play))
            return false;
    return true;
}

/* When it has what the server does now; in order. */
static int64_t arrival_ms(struct redis_play *play)
{
    if (play->is_replica_frozen)
        return NEVER_MS;
    int64_t lag_ms =
        play->base.net->lag_ms[0] > LAG_MS ? play->base.net->lag_ms[0] : play->replica_lag_ms;
    int64_t at_ms = play->base.stage->now_ms + stage_below(play->base.stage, lag_ms + 1);
    if (at_ms > play->replica_at_ms)
        play->replica_at_ms = at_ms;
    return play->replica_at_ms;
}

static void drop(struct redis_play *play, struct play_pending *pending)
{
    TAILQ_REMOVE(&play->pending, pending, entry);
    for (size_t i = 0; i < pending->count; i++)
        free(pending->versions[i]);
    free(pending->versions);
    free(pending);
}

static void drop_all(struct redis_play *play)
{
    struct play_pending *pending, *next;
    for (pending = TAILQ_FIRST(&play->pending); pending; pending = next) {
        next = TAILQ_NEXT(pending, entry);
        drop(play, pending);
    }
}

/* It has all that was due by then. */
static void take_until(struct redis_play *play, int64_t ms)
{
    struct play_pending *first;
    while ((first = TAILQ_FIRST(&play->pending)) && first->due_ms <= ms) {
        play_tell_oracle(&play->base, first->versions, first->count);
        drop(play, first);
    }
    if (first && first->due_ms < NEVER_MS)
        task_at(play->base.stage, &play->replica_task, first->due_ms);
}

static void on_due(struct task *task)
{
    struct redis_play *play = play_of_due(task);
    take_until(play, play->base.stage->now_ms);
}

static struct model_version *copy(const struct model_version *version)
{
    size_t size = sizeof(*version) + version->length;
    struct model_version *ret = malloc(size);
    if (!ret)
        abort();
    memcpy(ret, version, size);
    return ret;
}

void replica_changed(struct redis_play *play, struct model_version *const *versions, size_t count)
{
    if (!play->has_replica || !is_known_to_all(play)) {
        replica_catch_up(play);
        play_tell_oracle(&play->base, versions, count);
        return;
    }
    struct play_pending *pending = calloc(1, sizeof(*pending));
    if (!pending || !(pending->versions = malloc(count * sizeof(*versions))))
        abort();
    for (size_t i = 0; i < count; i++)
        pending->versions[i] = copy(versions[i]);
    pending->count = count;
    pending->rev = play->base.model->revision;
    pending->due_ms = arrival_ms(play);
    TAILQ_INSERT_TAIL(&play->pending, pending, entry);
    if (!task_is_set(&play->replica_task) && pending->due_ms < NEVER_MS)
        task_at(play->base.stage, &play->replica_task, pending->due_ms);
}

/* ---- WAIT ---- */

void replica_wait(struct redis_conn *conn, int64_t timeout_ms)
{
    struct redis_play *play = (struct redis_play *)play_of(conn->line.loop->net);
    int64_t now_ms = play->base.stage->now_ms;
    int64_t due_ms = play->has_replica ? arrival_ms(play) : INT64_MAX;
    bool is_late = !play->has_replica || due_ms > now_ms + timeout_ms;
    conn->is_in_wait = true;
    conn->waited_ms = now_ms;
    conn->waited_for = is_late ? 0 : 1;
    line_busy(&conn->line, is_late ? now_ms + timeout_ms : due_ms);
}

redisReply *replica_waited(struct redis_conn *conn)
{
    conn->is_in_wait = false;
    if (conn->waited_for)
        take_until((struct redis_play *)play_of(conn->line.loop->net),
                   conn->line.loop->stage->now_ms);
    return reply_int(conn->waited_for);
}

/* ---- its place ---- */

static void on_back(struct task *task)
{
    struct redis_play *play =
        (struct redis_play *)((char *)task - offsetof(struct redis_play, back_task));
    play->has_replica = true;
    play->histories += stage_chance(play->base.stage, 500); /* as of a master without a backlog */
    play->replica_since_ms = play->base.stage->now_ms;
    stage_log(play->base.stage, "a replica follows");
}

bool replica_promote(struct redis_play *play)
{
    struct etcd_model *model = play->base.model;
    struct play_pending *first = TAILQ_FIRST(&play->pending);
    if (!play->has_replica || !is_known_to_all(play) || (first && first->rev <= model->compacted))
        return false;
    if (first) {
        stage_log(play->base.stage, "the replica that takes its place lacks %" PRId64 " changes",
                  model->revision - first->rev + 1);
        etcd_model_restore(model, first->rev - 1, true);
    }
    drop_all(play);
    play->has_replica = false;
    task_at(play->base.stage, &play->back_task,
            play->base.stage->now_ms + AWAY_MS + stage_below(play->base.stage, AWAY_MORE_MS));
    return true;
}

void replica_catch_up(struct redis_play *play)
{
    take_until(play, INT64_MAX);
}

void replica_freeze(struct redis_play *play, bool is_frozen)
{
    if (play->is_replica_frozen && !is_frozen)
        replica_catch_up(play);
    play->is_replica_frozen = is_frozen;
}

void replica_init(struct redis_play *play)
{
    TAILQ_INIT(&play->pending);
    task_init(&play->replica_task, NULL, on_due);
    task_init(&play->back_task, NULL, on_back);
}

/* What is told waits for the replica and makes the way to the server twice: at some hundred
 * milliseconds each, news of other clocks are so old that nobody starts anything. */
void replica_begin(struct redis_play *play, int64_t latency_ms)
{
    play->has_replica = latency_ms <= LATENCY_MS && stage_chance(play->base.stage, 700);
    play->replica_lag_ms = stage_below(play->base.stage, LAG_MS) + 1;
}

void replica_release(struct redis_play *play)
{
    drop_all(play);
    task_stop(play->base.stage, &play->replica_task);
    task_stop(play->base.stage, &play->back_task);
}
