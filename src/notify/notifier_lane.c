#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "notifier_internal.h"

enum { TOLD_MAX = 4096 }; /* jobs and events, before expired ones are dropped */

static uint64_t told_hash(const void *key)
{
    const struct told *told = key;
    uint64_t hash = hash_bytes(0, told->job_uid.bytes, sizeof(told->job_uid.bytes));
    return hash_bytes(hash, &told->event, sizeof(told->event));
}

static bool told_is(const void *key, const void *other)
{
    const struct told *a = key, *b = other;
    return a->event == b->event && id_compare(&a->job_uid, &b->job_uid) == 0;
}

static const struct table_type told_type = {.hash = told_hash, .is_same = told_is};

struct lane *lane_find(const struct notifier *notifier, const char *name)
{
    struct lane *lane;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        if (strcmp(lane->name, name) == 0)
            return lane;
    }
    return NULL;
}

struct lane *lane_new(struct notifier *notifier, const char *name)
{
    struct lane *lane = calloc(1, sizeof(*lane));
    if (!lane)
        return NULL;
    lane->notifier = notifier;
    snprintf(lane->name, sizeof(lane->name), "%s", name);
    TAILQ_INIT(&lane->waiting);
    TAILQ_INIT(&lane->past);
    table_init(&lane->told, &told_type);
    return lane;
}

struct lane *lane_get(struct notifier *notifier, const char *name)
{
    struct lane *lane = lane_find(notifier, name), *next;
    if (lane || !(lane = lane_new(notifier, name)))
        return lane;
    TAILQ_FOREACH (next, &notifier->lanes, link) {
        if (strcmp(next->name, name) > 0)
            break;
    }
    if (next)
        TAILQ_INSERT_BEFORE(next, lane, link);
    else
        TAILQ_INSERT_TAIL(&notifier->lanes, lane, link);
    return lane;
}

static void forget_told(struct lane *lane)
{
    table_release_items(&lane->told);
    table_init(&lane->told, &told_type);
}

void lane_free(struct lane *lane)
{
    for (struct waiting *waiting; (waiting = TAILQ_FIRST(&lane->waiting));) {
        TAILQ_REMOVE(&lane->waiting, waiting, link);
        notice_release(&waiting->notice);
        free(waiting->answer);
        free(waiting);
    }
    past_release(lane);
    forget_told(lane);
    table_release(&lane->told);
    channel_free(lane->channel);
    free(lane);
}

/* ---- quiet ---- */

static struct told *find_told(const struct lane *lane, const struct notice *notice)
{
    struct told key = {.job_uid = notice->job_uid, .event = notice->event};
    return table_find(&lane->told, &key);
}

/* Drops entries that no longer hold back anything. The table can't be changed during a walk, so it
 * is rebuilt. */
static void drop_old(struct lane *lane, int64_t now_ms)
{
    struct table old = lane->told;
    size_t at = 0;
    table_init(&lane->told, &told_type);
    for (struct told *told; (told = table_next(&old, &at));) {
        bool is_old = told->at_ms + lane->channel->quiet_s * 1000 <= now_ms;
        if (is_old || table_insert(&lane->told, told) != OK)
            free(told);
    }
    table_release(&old);
}

void lane_note_told(struct lane *lane, const struct notice *notice, int64_t at_ms)
{
    struct told *told = find_told(lane, notice);
    if (!told)
        told = table_add(&lane->told,
                         &(struct told){.job_uid = notice->job_uid, .event = notice->event},
                         sizeof(*told));
    if (told) /* else out of memory: the next notice is not held back */
        told->at_ms = at_ms;
}

int64_t lane_hold_until(struct lane *lane, const struct notice *notice, int64_t now_ms)
{
    int64_t quiet_ms = lane->channel->quiet_s * 1000;
    if (!quiet_ms)
        return 0;
    if (lane->told.count >= TOLD_MAX)
        drop_old(lane, now_ms);
    const struct told *told = find_told(lane, notice);
    int64_t until_ms = told && told->at_ms + quiet_ms > now_ms ? told->at_ms + quiet_ms : 0;
    if (until_ms > now_ms + quiet_ms) /* the clock was set back */
        until_ms = now_ms + quiet_ms;
    lane_note_told(lane, notice, until_ms ? until_ms : now_ms);
    return until_ms;
}

struct waiting *lane_held(const struct lane *lane, const struct notice *notice, int64_t now_ms)
{
    struct waiting *waiting;
    TAILQ_FOREACH (waiting, &lane->waiting, link) {
        if (waiting->notice.not_before_ms > now_ms && waiting != lane->sending &&
            !notice_is_group(&waiting->notice) && waiting->notice.event == notice->event &&
            id_compare(&waiting->notice.job_uid, &notice->job_uid) == 0)
            return waiting;
    }
    return NULL;
}

struct waiting *lane_same(const struct lane *lane, const struct notice *notice)
{
    struct waiting *waiting;
    TAILQ_FOREACH (waiting, &lane->waiting, link) {
        if (waiting->notice.event == notice->event &&
            id_compare(&waiting->notice.id, &notice->id) == 0)
            return waiting;
    }
    return NULL;
}

bool lane_had(const struct lane *lane, const struct notice *notice)
{
    const struct past *past;
    if (notice->event != NOTIFY_TOO_LONG && notice->event != NOTIFY_OVERDUE)
        return false;
    TAILQ_FOREACH (past, &lane->past, link) {
        if (past->event == notice->event && id_compare(&past->id, &notice->id) == 0)
            return true;
    }
    return false;
}

/* ---- many at once ---- */

struct waiting *lane_group(const struct lane *lane, int64_t now_ms)
{
    struct waiting *waiting;
    TAILQ_FOREACH (waiting, &lane->waiting, link) {
        if (notice_is_group(&waiting->notice) && waiting != lane->sending &&
            waiting->notice.not_before_ms > now_ms)
            return waiting;
    }
    return NULL;
}

bool lane_may_send_alone(struct lane *lane, int64_t now_ms, int64_t *ret_until_ms)
{
    int64_t group_ms = channel_group_s(lane->channel) * 1000;
    int64_t *oldest_ms = &lane->alone_ms[lane->alone_next];
    bool is_free = !*oldest_ms || now_ms - *oldest_ms >= group_ms || now_ms < *oldest_ms;
    if (group_ms && !is_free) {
        int64_t first_ms =
            now_ms + (group_ms < GROUP_FIRST_MS ? group_ms : (int64_t)GROUP_FIRST_MS);
        int64_t next_ms = lane->grouped_ms + group_ms;
        bool is_next = next_ms > first_ms && next_ms <= now_ms + group_ms;
        *ret_until_ms = lane->grouped_ms = is_next ? next_ms : first_ms;
        return false;
    }
    *oldest_ms = now_ms;
    lane->alone_next = (lane->alone_next + 1) % GROUP_AFTER;
    return true;
}
