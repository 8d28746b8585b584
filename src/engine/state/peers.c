#include "state/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SKEWED_MS = 500,  /* a clock that is further from the cluster's time is wrong ... */
    WELL_MS = 400,    /* ... until it is nearer than this */
    STEP_MS = 20,     /* the wall clock was set, or slewed for long: compute again */
    SETTLE_MS = 2500, /* by then all live nodes have sent a heartbeat */
    AWAKE_MS = 100,   /* between turns, while the age of heartbeats matters */
    WAKING_MS = 1000, /* after a sleep, until the backlog of the feed has been read */
    GONE_MS = 2500,   /* without a turn; heartbeats are nearer to each other */
    KEEP_MS = 24 * 3600 * 1000,
};

static const struct table_type by_name_type = {.key_at = offsetof(struct known_peer, peer.name)};

void peers_init(struct peers *peers, const struct peer *self)
{
    *peers = (struct peers){.self = self};
    table_init(&peers->by_name, &by_name_type);
}

void peers_release(struct peers *peers)
{
    table_release_items(&peers->by_name);
}

const struct peer *peers_without(const struct peers *peers, enum peer_knowledge knowledge)
{
    size_t at = 0;
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        const struct peer *peer = &known->peer;
        if (peer->is_alive && peer_runs_jobs(peer) && !(peer->knows & knowledge))
            return peer;
    }
    return NULL;
}

static struct known_peer *find(const struct peers *peers, const char *name)
{
    return table_find(&peers->by_name, name);
}

const struct known_peer *peers_find(const struct peers *peers, const char *name)
{
    return find(peers, name);
}

bool peers_is_alive(const struct peers *peers, const char *name, const struct incarnation *owner)
{
    const struct known_peer *known = find(peers, name);
    return known && known->peer.is_alive && peer_goes_on_as(&known->peer, owner);
}

bool peers_is_in_life(const struct peers *peers, const char *name, const struct incarnation *owner)
{
    const struct known_peer *known = find(peers, name);
    bool is_known = !id_is_zero(&owner->instance); /* else an older version has claimed it */
    return known && known->peer.is_alive &&
           (!is_known || id_compare(&known->peer.instance, &owner->instance) == 0);
}

static bool is_this_life(const struct peers *peers)
{
    return id_compare(&peers->me->peer.instance, &peers->self->instance) == 0;
}

bool peers_am_alive(const struct peers *peers)
{
    return peers->me && peers->me->peer.is_alive && is_this_life(peers);
}

bool peers_am_shut_out(const struct peers *peers)
{
    return peers->me && peers->me->peer.is_alive && !is_this_life(peers);
}

int64_t peers_gone_for_ms(const struct peers *peers, const char *name,
                          const struct incarnation *owner, struct now now)
{
    const struct known_peer *known = find(peers, name);
    if (!known)
        return now.boot.ms - peers->live_since.ms;
    if (!known->peer.is_alive)
        return now.boot.ms - known->gone.ms;
    return peer_goes_on_as(&known->peer, owner) ? -1 : now.boot.ms - known->since.ms;
}

/* Who looks after the node of this name; NULL: nobody. */
static const struct known_peer *lookout_for(const struct peers *peers, const char *name)
{
    const struct known_peer *first = NULL;
    size_t at = 0;
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        if (!known->peer.is_alive || !peer_can_lead(&known->peer) ||
            strcmp(known->peer.name, name) == 0)
            continue;
        if (strcmp(known->peer.name, peers->leader) == 0)
            return known;
        if (!first || known->peer.joined < first->peer.joined)
            first = known;
    }
    return first;
}

bool peers_am_lookout(const struct peers *peers)
{
    return peers_am_alive(peers) &&
           (lookout_for(peers, "") == peers->me || lookout_for(peers, peers->leader) == peers->me);
}

bool peers_look_at(struct peers *peers, const char *name, const struct incarnation *owner,
                   struct now now)
{
    struct known_peer *known = find(peers, name);
    if (!peers_is_alive(peers, name, owner) || known == peers->me ||
        known->looked.ms == now.boot.ms || lookout_for(peers, name) != peers->me)
        return false;
    if (now.boot.ms - known->looked.ms > STORE_SILENT_MS)
        known->looking_since = now.boot;
    known->looked = now.boot;
    return true;
}

bool peers_was_silent(const struct peers *peers, const char *name)
{
    const struct known_peer *known = find(peers, name);
    return known && !known->peer.is_alive && known->gone.ms - known->looked.ms <= STORE_SILENT_MS &&
           known->looked.ms - known->looking_since.ms >= 2 * STORE_LOOK_MS;
}

bool known_peer_accepts(const struct known_peer *known)
{
    return known->peer.is_alive && peer_runs_jobs(&known->peer) && !known->is_drained &&
           known->peer.refusal == PEER_ACCEPTS;
}

/* ---- what the feed tells ---- */

static struct known_peer *find_or_add(struct peers *peers, const char *name, struct now now)
{
    struct known_peer *known = find(peers, name);
    if (known)
        return known;
    known = calloc(1, sizeof(*known));
    if (!known)
        return NULL;
    snprintf(known->peer.name, sizeof(known->peer.name), "%s", name);
    known->gone = now.boot;
    if (table_insert(&peers->by_name, known) != OK) {
        free(known);
        return NULL;
    }
    if (strcmp(name, peers->self->name) == 0)
        peers->me = known;
    return known;
}

/* Drops nodes that are gone for a day, unless they are drained: a drain must not be forgotten. */
static void drop_old(struct peers *peers, struct now now)
{
    struct known_peer *old = NULL;
    do {
        if (old) {
            table_remove(&peers->by_name, old);
            peers->me = peers->me == old ? NULL : peers->me;
            free(old);
        }
        old = NULL;
        size_t at = 0;
        for (struct known_peer *known; !old && (known = table_next(&peers->by_name, &at));) {
            bool is_old = !known->peer.is_alive && now.boot.ms - known->gone.ms > KEEP_MS;
            old = is_old && !known->is_drained ? known : NULL;
        }
    } while (old);
}

/* How long a heartbeat that comes now may have lain in the feed: since the last turn; or, shortly
 * after two turns that were far apart, since the first of those. An idle node and a stopped one
 * look the same. */
static int64_t lain_ms(const struct peers *peers, struct now now)
{
    bool is_waking = now.boot.ms - peers->slept_to.ms <= WAKING_MS;
    return now.boot.ms - (is_waking ? peers->slept_from.ms : peers->turned.ms);
}

/* The sender's clock seems to be too far behind ours, and would not be if the heartbeat were that
 * old. */
static bool may_be_old(const struct peers *peers, const struct peer *news, struct now now)
{
    int64_t behind_ms = now.wall.ms - news->wall_ms;
    return behind_ms > WELL_MS && behind_ms - lain_ms(peers, now) <= SKEWED_MS;
}

/* A repeated heartbeat, one that a restored store has from its backup, or one from before this node
 * was live, says nothing about the clocks. */
static void hear(const struct peers *peers, struct known_peer *known, const struct peer *news,
                 struct now now)
{
    bool same_life = id_compare(&known->peer.instance, &news->instance) == 0;
    bool same_news = same_life && known->heard.ms && news->boot_ms == known->peer.boot_ms &&
                     news->wall_ms == known->peer.wall_ms;
    bool is_from_backup =
        same_life && known->heard.ms && news->boot_ms < known->peer.boot_ms; /* it only grows */
    if (!same_life)
        known->heard_count = 0;
    if (same_news || is_from_backup)
        return;
    known->heard = now.boot;
    if (!peers->is_live)
        return;
    known->is_unsure = may_be_old(peers, news, now);
    if (known->is_unsure)
        return;
    size_t room = sizeof(known->offsets_ms) / sizeof(known->offsets_ms[0]);
    known->offsets_ms[known->heard_count++ % room] = news->boot_ms - now.boot.ms;
}

/* Does anything differ that matters to placement? */
static bool is_other_choice(const struct peer *was, const struct peer *is)
{
    return was->is_alive != is->is_alive || was->refusal != is->refusal ||
           was->roles != is->roles || was->capacity != is->capacity ||
           strcmp(was->program, is->program) != 0 || strcmp(was->labels, is->labels) != 0 ||
           strcmp(was->lacks, is->lacks) != 0;
}

static bool has_agent(const struct peers *peers)
{
    size_t at = 0;
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        const struct peer *peer = &known->peer;
        if (peer->is_alive && peer_is_agent_worker(peer) && peer_can_lead(peer))
            return true;
    }
    return false;
}

static enum status take_peer(struct peers *peers, const struct peer *news, struct now now)
{
    struct known_peer *known = find_or_add(peers, news->name, now);
    if (!known)
        return E_NOMEM;
    struct peer was = known->peer;
    if (news->is_alive) {
        if (!was.is_alive || id_compare(&was.instance, &news->instance) != 0)
            known->since = now.boot;
        hear(peers, known, news, now);
        known->peer = *news;
        known->gone.ms = 0;
    } else if (was.is_alive) {
        known->peer.is_alive = false;
        known->heard_count = 0;
        known->gone = now.boot;
    }
    peers->alive_count += (size_t)known->peer.is_alive - (size_t)was.is_alive;
    if (is_other_choice(&was, &known->peer)) {
        peers->generation++;
        peers->has_agent = has_agent(peers);
    }
    peers->loads += peer_free_share(&was) != peer_free_share(&known->peer);
    peers->is_reckoned = false;
    if (was.is_alive != known->peer.is_alive)
        drop_old(peers, now);
    return OK;
}

static enum status take_drain(struct peers *peers, const struct store_drain *drain, struct now now)
{
    struct known_peer *known = find_or_add(peers, drain->node, now);
    if (!known)
        return E_NOMEM;
    peers->generation += known->is_drained != drain->drained;
    known->is_drained = drain->drained;
    snprintf(known->drained_by, sizeof(known->drained_by), "%s", drain->drained ? drain->by : "");
    return OK;
}

enum status peers_take(struct peers *peers, const struct store_change *change, struct now now)
{
    if (change->kind == STORE_CHANGE_PEER)
        return take_peer(peers, change->peer, now);
    if (change->kind == STORE_CHANGE_DRAIN)
        return take_drain(peers, change->drain, now);
    snprintf(peers->leader, sizeof(peers->leader), "%s", change->leader);
    return OK;
}

void peers_go_live(struct peers *peers, struct now now)
{
    peers->is_live = true;
    peers->live_since = peers->turned = now.boot;
    peers->is_reckoned = false;
}

/* ---- clocks ---- */

struct clock_of {
    int64_t offset_ms, joined;
};

static int by_offset_then_age(const void *a, const void *b)
{
    const struct clock_of *one = a, *other = b;
    if (one->offset_ms != other->offset_ms)
        return one->offset_ms < other->offset_ms ? -1 : 1;
    return one->joined < other->joined ? -1 : one->joined > other->joined;
}

/* Of two in the middle, the clock of the older node: between two nodes the newcomer is taken to be
 * wrong. */
static int64_t median_ms(struct clock_of *clocks, size_t count)
{
    qsort(clocks, count, sizeof(*clocks), by_offset_then_age);
    const struct clock_of *upper = &clocks[count / 2];
    const struct clock_of *lower = &clocks[(count - 1) / 2];
    return lower->joined < upper->joined ? lower->offset_ms : upper->offset_ms;
}

static void reckon_offset(struct known_peer *known, struct now now)
{
    size_t room = sizeof(known->offsets_ms) / sizeof(known->offsets_ms[0]);
    int64_t best_ms = INT64_MIN;
    for (size_t i = 0; i < room && i < known->heard_count; i++)
        best_ms = known->offsets_ms[i] > best_ms ? known->offsets_ms[i] : best_ms;
    known->offset_ms =
        best_ms + (known->peer.wall_ms - known->peer.boot_ms) - (now.wall.ms - now.boot.ms);
}

static bool is_agent(const struct known_peer *known)
{
    return known->peer.is_alive && peer_is_agent_worker(&known->peer);
}

/* Agents have the cluster's time. Programs have it only for each other, where no agent is: a
 * machine may have many of them, and its clock is still one. */
static bool has_time(const struct peers *peers, const struct known_peer *known)
{
    bool by_programs = peer_is_program(peers->self) && !peers->has_agent;
    return is_agent(known) ||
           (by_programs && known->peer.is_alive && peer_is_program(&known->peer));
}

/* A node that doubts its own clock does not count. */
static bool counts(const struct peers *peers, const struct known_peer *known)
{
    return known->peer.refusal != PEER_DOUBT && has_time(peers, known);
}

bool peers_trust_clock(const struct peers *peers)
{
    return peers->is_settled && !peers->is_skewed && !peers->is_doubted;
}

/* Nodes that doubt their clocks count here: when all were set alike, each is confirmed by the
 * others. */
bool peers_confirm(struct peers *peers, struct now now)
{
    size_t others = 0, same = 0, at = 0;
    for (struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        if (known == peers->me || !has_time(peers, known))
            continue;
        others++;
        if (!known->heard_count)
            continue;
        reckon_offset(known, now);
        same += llabs(known->offset_ms) <= SKEWED_MS;
    }
    return 2 * same > others;
}

/* Notes that there is a turn. */
static void turn(struct peers *peers, struct now now)
{
    if (now.boot.ms - peers->turned.ms > 2 * AWAKE_MS) {
        peers->slept_from = peers->turned;
        peers->slept_to = now.boot;
    }
    if (now.boot.ms - peers->turned.ms > GONE_MS)
        peers->woke = now.boot;
    peers->turned = now.boot;
}

void peers_reckon(struct peers *peers, struct now now)
{
    turn(peers, now);
    int64_t ahead_ms = now.wall.ms - now.boot.ms;
    bool is_settling = !peers->is_settled && peers->is_live;
    if (peers->is_reckoned && !is_settling && llabs(ahead_ms - peers->ahead_ms) < STEP_MS)
        return;
    struct clock_of *clocks = calloc(peers->by_name.count + 1, sizeof(*clocks));
    if (!clocks)
        return; /* with the next turn */
    clocks[0] = (struct clock_of){0, peers_am_alive(peers) ? peers->me->peer.joined : INT64_MAX};
    size_t count = 1, silent = 0, at = 0;
    peers->is_unsure = false;
    for (struct known_peer *known; (known = table_next(&peers->by_name, &at));) {
        if (known == peers->me || !counts(peers, known))
            continue;
        peers->is_unsure |= known->is_unsure;
        if (known->heard_count) {
            reckon_offset(known, now);
            clocks[count++] = (struct clock_of){known->offset_ms, known->peer.joined};
        } else {
            silent++;
        }
    }
    peers->skew_ms = -median_ms(clocks, count);
    free(clocks);
    bool was_set = llabs(ahead_ms - peers->ahead_ms) > SKEWED_MS; /* a set clock is judged again */
    bool is_wrong_still = peers->is_skewed && !was_set;
    peers->is_skewed = llabs(peers->skew_ms) > (is_wrong_still ? WELL_MS : SKEWED_MS);
    if (is_settling)
        peers->is_settled = !silent || now.boot.ms - peers->live_since.ms >= SETTLE_MS;
    peers->is_reckoned = true;
    peers->ahead_ms = ahead_ms;
}

struct boot_ms peers_settle_at(const struct peers *peers)
{
    bool is_settling = peers->is_live && !peers->is_settled;
    int64_t at_ms = is_settling ? peers->live_since.ms + SETTLE_MS : INT64_MAX;
    if ((peers->is_unsure || is_settling) && peers->turned.ms + AWAKE_MS < at_ms)
        at_ms = peers->turned.ms + AWAKE_MS;
    return (struct boot_ms){at_ms};
}

/* ---- who there is ---- */

static int by_name(const void *a, const void *b)
{
    const struct known_peer *one = *(struct known_peer *const *)a;
    const struct known_peer *other = *(struct known_peer *const *)b;
    return strcmp(one->peer.name, other->peer.name);
}

void peers_each(const struct peers *peers,
                bool (*visit)(void *context, const struct known_peer *known), void *context)
{
    const struct known_peer **sorted = calloc(peers->by_name.count + 1, sizeof(const void *));
    size_t at = 0, count = 0;
    for (const struct known_peer *known; !sorted && (known = table_next(&peers->by_name, &at));) {
        if (!visit(context, known))
            return;
    }
    if (!sorted)
        return;
    for (const struct known_peer *known; (known = table_next(&peers->by_name, &at));)
        sorted[count++] = known;
    qsort(sorted, count, sizeof(sorted[0]), by_name);
    for (size_t i = 0; i < count && visit(context, sorted[i]); i++)
        continue;
    free(sorted);
}
