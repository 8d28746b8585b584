/* Why nothing can be started: by any node, or by this one while others can. The times at which that
 * was so are the reasons of ticks that catch_up does not run later. */
#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"
#include "function/eligible.h"

/* E_BUSY: etcd's database is full. A restored store and a node that is shut out are reported in
 * other ways. */
static enum run_reason of_store(enum status health)
{
    if (health == E_IO || health == E_BUSY)
        return REASON_DISK_FULL;
    return health == E_ROLLED_BACK || health == E_CONFLICT ? REASON_NONE : REASON_STORE_AWAY;
}

/* Whatever the other nodes can do: as far as this one knows, they have the same trouble. */
static enum run_reason for_all_nodes(const struct engine *engine)
{
    const struct peers *peers = &engine->peers;
    bool is_cut_off = engine->joined && !peers_am_alive(peers) && !peers_am_shut_out(peers);
    if (engine->health != OK)
        return of_store(engine->health);
    bool is_waiting = engine->claimer.sender.retry_at.ms > engine->now.boot.ms;
    return is_cut_off || is_waiting ? REASON_STORE_AWAY : REASON_NONE;
}

static enum run_reason for_this_node(const struct engine *engine)
{
    if (engine->peers.is_doubted || engine->peers.is_skewed)
        return REASON_CLOCK_DOUBTED;
    return engine_is_drained(engine) ? REASON_DRAINED : REASON_NONE;
}

static bool runs_jobs(const struct engine *engine)
{
    return peer_runs_jobs(&engine->config.self);
}

static bool fits(const char *where, const struct peer *peer)
{
    return eligible_matches(where, peer->program, peer->labels);
}

/* Can another node start a run of such a job? *ret_drained: a drained one could, else. */
static bool another_can(const struct peers *peers, const char *where, bool *ret_drained)
{
    size_t at = 0;
    *ret_drained = false;
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        if (known == peers->me || !fits(where, &known->peer))
            continue;
        if (known_peer_accepts(known))
            return true;
        *ret_drained |= known->is_drained && known->peer.is_alive && peer_runs_jobs(&known->peer);
    }
    return false;
}

int64_t engine_last_node_gone_ms(const struct engine *engine, const char *where)
{
    struct boot_ms last = {0};
    size_t at = 0;
    for (const struct known_peer *known; (known = table_next(&engine->peers.by_name, &at));) {
        if (known->gone.ms > last.ms && peer_runs_jobs(&known->peer) && fits(where, &known->peer))
            last = known->gone;
    }
    return last.ms ? wall_at(engine->now, last) : 0;
}

enum run_reason engine_hindrance(const struct engine *engine, const char *where)
{
    bool is_another_drained;
    if (!engine->loaded || engine->draining)
        return REASON_NONE;
    enum run_reason of_all = runs_jobs(engine) ? for_all_nodes(engine) : REASON_NONE;
    if (of_all || another_can(&engine->peers, where, &is_another_drained))
        return of_all;
    if (runs_jobs(engine) && fits(where, &engine->config.self))
        return for_this_node(engine);
    return is_another_drained ? REASON_DRAINED : REASON_NONE;
}

static int by_kind(const void *a, const void *b)
{
    const struct peer *one = *(const struct peer *const *)a;
    const struct peer *other = *(const struct peer *const *)b;
    int order = strcmp(one->program, other->program);
    return order ? order : strcmp(one->labels, other->labels);
}

/* The programs and labels of the other nodes that can start runs, each once and with a line, as
 * struct hindrance has them; empty: none can. */
static enum status kinds_of_others(const struct peers *peers, struct strbuf *ret)
{
    const struct peer **found = calloc(peers->by_name.count + 1, sizeof(const void *));
    size_t count = 0, at = 0;
    if (!found)
        return E_NOMEM;
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        if (known != peers->me && known_peer_accepts(known))
            found[count++] = &known->peer;
    }
    qsort(found, count, sizeof(found[0]), by_kind);
    strbuf_reset(ret);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || by_kind(&found[i - 1], &found[i]) != 0)
            strbuf_addf(ret, "%s %s\n", found[i]->program, found[i]->labels);
    }
    free(found);
    return strbuf_status(ret);
}

/* Looks at the other nodes if anything has changed. False: out of memory. */
static bool look_at_others(struct engine *engine)
{
    struct attendance_watch *watch = &engine->attendance;
    if (watch->others_generation == engine->peers.generation)
        return true;
    if (kinds_of_others(&engine->peers, &watch->others) != OK)
        return false;
    watch->others_generation = engine->peers.generation;
    return true;
}

/* The hindrance of this turn, with the nodes that do not have it. */
static enum run_reason find_hindrance(struct engine *engine, const char **ret_others)
{
    *ret_others = NULL;
    if (!engine->loaded || engine->draining || !runs_jobs(engine))
        return REASON_NONE;
    enum run_reason reason = for_all_nodes(engine);
    if (reason)
        return reason;
    reason = for_this_node(engine);
    if (reason && !look_at_others(engine))
        return REASON_NONE;
    if (reason && engine->attendance.others.length)
        *ret_others = engine->attendance.others.text;
    return reason;
}

/* A hindrance counts from the turn before it was seen, since a tick that was due in between would
 * have caused a turn, to the turn that sees its end. */
void engine_note_hindrance(struct engine *engine)
{
    struct attendance_watch *watch = &engine->attendance;
    int64_t now_ms = engine->now.wall.ms;
    int64_t from_ms = watch->turned_ms && watch->turned_ms < now_ms ? watch->turned_ms : now_ms;
    const char *others;
    enum run_reason now = find_hindrance(engine, &others);
    if (now)
        hindrances_note(&engine->hindrances, now, others, from_ms, now_ms);
    else if (watch->hindrance)
        hindrances_go_on(&engine->hindrances, from_ms, now_ms);
    watch->hindrance = now;
    watch->turned_ms = now_ms;
}
