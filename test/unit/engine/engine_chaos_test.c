/* Nodes stop, vanish, come back, restart, lose answers and have their clocks set, at random; and
 * yet each tick is started at most once, and has one end on record, and each end is followed once
 * by what waits for it. PEAL_SIM_SEEDS and PEAL_SIM_FIRST_SEED choose the lives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "store_memory.h"

enum { SEEDS = 10, NODES = 4, JOBS = 13, EVENTS = 120 };

struct chaos {
    struct cluster *cluster;
    uint64_t random;
    unsigned seed;
    size_t restarts[NODES];
    struct id uids[JOBS];
    int64_t began_ms;
};

static int64_t below(struct chaos *chaos, int64_t limit)
{
    uint64_t z = chaos->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)limit);
}

static const char *const jobs[JOBS] = {
    "name: a\nschedule: '* * * * *'\ncommand: [x]\n",
    "name: b\nschedule: '* * * * *'\ncommand: [x]\noverlap: queue\n",
    "name: c\nschedule: '* * * * *'\ncommand: [x]\noverlap: allow\n",
    "name: d\nschedule: '* * * * *'\ncommand: [x]\noverlap: replace\n",
    "name: e\nschedule: '* * * * *'\ncommand: [x]\ncatch_up: all\n",
    "name: f\nschedule: '* * * * *'\ncommand: [x]\nwhere: even\n",
    "name: g\nschedule: '@every 10s'\ncommand: [x]\n",
    "name: h\nschedule: '@after 5s'\ncommand: [x]\n",
    "name: i\nafter: c\ncommand: [x]\noverlap: allow\n",
    "name: j\nafter: {jobs: [c], on: failure}\ncommand: [x]\noverlap: allow\n",
    "name: k\nafter: {jobs: [c], on: always}\ncommand: [x]\noverlap: allow\n",
    "name: l\nafter: {jobs: [k], on: always}\ncommand: [x]\noverlap: allow\n",
    "name: m\nafter: [b, c, g]\ncommand: [x]\noverlap: queue\n",
};

/* Who follows whom, always. */
static const struct {
    size_t job, after;
    enum after_on on;
} follows[] = {
    {8, 2, AFTER_SUCCESS}, {9, 2, AFTER_FAILURE}, {10, 2, AFTER_ALWAYS}, {11, 10, AFTER_ALWAYS}};

static void set_up(struct chaos *chaos, unsigned seed)
{
    *chaos = (struct chaos){.seed = seed, .random = seed, .cluster = cluster_new(1)};
    while (chaos->cluster->count < NODES)
        cluster_join(chaos->cluster, chaos->cluster->count % 2 ? "even" : "odd", 0);
    cluster_pass(chaos->cluster, 5000);
    chaos->began_ms = chaos->cluster->nodes[0]->now.wall.ms;
    for (size_t i = 0; i < JOBS; i++)
        chaos->uids[i] = world_add(chaos->cluster->nodes[0], jobs[i]);
}

/* ---- what happens ---- */

static void restart(struct chaos *chaos, size_t number)
{
    struct world *node = chaos->cluster->nodes[number];
    if (chaos->restarts[number]++ > 12)
        return;
    node->door = DOOR_OPEN;
    node->frozen = false;
    if (below(chaos, 2))
        store_memory_expire(node->store);
    node->config.self.instance.bytes[1]++;
    world_restart(node);
}

static void close_door(struct chaos *chaos, struct world *node)
{
    static const enum store_op ops[] = {STORE_CLAIM, STORE_TAKE, STORE_BEGIN, STORE_FINISH,
                                        STORE_FORGET};
    static const enum door doors[] = {DOOR_HELD, DOOR_BROKEN, DOOR_ONE_WAY, DOOR_SLOW};
    node->door_op = ops[below(chaos, 5)];
    node->door = doors[below(chaos, 4)];
    node->door_status = E_UNREACHABLE;
}

static void person(struct chaos *chaos)
{
    struct world *first = chaos->cluster->nodes[0];
    const struct id *uid = &chaos->uids[below(chaos, JOBS)];
    if (!first->frozen && first->door == DOOR_OPEN && below(chaos, 2))
        world_trigger(first, uid);
    else
        cluster_drain(chaos->cluster, chaos->cluster->nodes[below(chaos, NODES)],
                      below(chaos, 3) == 0);
}

static void event(struct chaos *chaos)
{
    size_t number = (size_t)below(chaos, NODES);
    struct world *node = chaos->cluster->nodes[number];
    switch (below(chaos, 10)) {
    case 0:
    case 1:
        node->frozen = true;
        if (below(chaos, 2))
            store_memory_expire(node->store);
        break;
    case 2:
        if (node->frozen)
            store_memory_expire(node->store);
        break;
    case 3:
        node->frozen = false;
        node->door = DOOR_OPEN;
        break;
    case 4:
        restart(chaos, number);
        break;
    case 5:
        close_door(chaos, node);
        break;
    case 6:
        node->now.wall.ms += below(chaos, 6000) - 3000;
        break;
    case 7:
        person(chaos);
        break;
    case 8:
        node->history_away = !node->history_away;
        break;
    default:
        node->duration_ms = below(chaos, 3) ? below(chaos, 8000) + 1 : below(chaos, 200000) + 1;
        break;
    }
}

/* A node dies for good in the middle of things: what it claims is not begun, and what it has ended
 * is not on record. */
static void die(struct chaos *chaos, struct world *node)
{
    node->frozen = false;
    node->history_away = below(chaos, 2);
    node->door = DOOR_HELD;
    node->door_op = below(chaos, 2) ? STORE_BEGIN : STORE_FORGET;
    cluster_pass(chaos->cluster, below(chaos, 90000));
    node->frozen = true;
    store_memory_expire(node->store);
}

/* All is well, but for a node that may never come back. */
static void heal(struct chaos *chaos)
{
    size_t dead = (size_t)below(chaos, 2 * NODES);
    if (dead < NODES)
        die(chaos, chaos->cluster->nodes[dead]);
    for (size_t i = 0; i < NODES; i++) {
        struct world *node = chaos->cluster->nodes[i];
        node->frozen = i == dead;
        if (i != dead) {
            node->door = DOOR_OPEN;
            node->history_away = false;
        }
        node->now.wall.ms = chaos->cluster->nodes[0]->now.wall.ms;
        cluster_drain(chaos->cluster, node, false);
    }
}

/* ---- what must hold ---- */

static void fail_with(const struct chaos *chaos, const char *what, const char *job)
{
    fail_msg("seed %u: %s: %s", chaos->seed, what, job);
}

/* Lost with a node that may still come back and amend it. */
static bool is_kept(const struct chaos *chaos, const struct run *run)
{
    for (size_t i = 0; i < NODES; i++) {
        const struct world *node = chaos->cluster->nodes[i];
        if (strcmp(node->config.node, run->node) == 0)
            return node->frozen && run->state == RUN_LOST;
    }
    return false;
}

static void check_store_is_empty(const struct chaos *chaos)
{
    struct store *view;
    struct store_change change;
    assert_int_equal(store_memory_attach(chaos->cluster->nodes[0]->store,
                                         (struct store_wake){NULL, NULL}, &view),
                     OK);
    while (store_next_change(view, &change) && change.kind != STORE_CHANGE_LOADED) {
        if (change.kind == STORE_CHANGE_RUN && !is_kept(chaos, change.run))
            fail_with(chaos, run_state_name(change.run->state), change.run->job_name);
        if (change.kind == STORE_CHANGE_ENTRY)
            fail_with(chaos, "an entry is left", change.entry->job_name);
    }
    store_free(view);
}

/* A note says that the clock was set back before the tick, when it had come already. */
static bool came_again(const struct chaos *chaos, const struct id *uid, int64_t tick_ms)
{
    for (size_t i = 0; i < NODES; i++) {
        const struct world *node = chaos->cluster->nodes[i];
        for (size_t k = 0; k < node->entry_count; k++) {
            const struct ledger_entry *entry = &node->entries[k];
            if (entry->reason == REASON_CLOCK && id_compare(&entry->job_uid, uid) == 0 &&
                entry->from_ms < tick_ms && entry->to_ms >= tick_ms)
                return true;
        }
    }
    return false;
}

/* Runs, and entries, that cover the tick, each counted once however often it is on record. */
static size_t ends_of(const struct chaos *chaos, const struct id *uid, int64_t tick_ms,
                      bool with_entries)
{
    struct id seen[8];
    size_t count = 0;
    for (size_t i = 0; i < NODES; i++) {
        const struct world *node = chaos->cluster->nodes[i];
        for (size_t k = 0; k < node->run_count + node->entry_count && count < 8; k++) {
            const struct run *run = k < node->run_count ? &node->runs[k] : NULL;
            const struct ledger_entry *entry = run ? NULL : &node->entries[k - node->run_count];
            bool covers = run ? run->tick_ms == tick_ms && run->cause != CAUSE_MANUAL
                              : entry->from_ms <= tick_ms && entry->to_ms >= tick_ms &&
                                    entry->reason != REASON_CLOCK && with_entries;
            if (!covers || id_compare(run ? &run->job_uid : &entry->job_uid, uid) != 0)
                continue;
            const struct id *id = run ? &run->id : &entry->id;
            size_t m = 0;
            while (m < count && id_compare(&seen[m], id) != 0)
                m++;
            seen[m] = *id;
            count += m == count;
        }
    }
    return count;
}

static void check_ticks(const struct chaos *chaos, int64_t until_ms)
{
    for (size_t i = 0; i < 6; i++) { /* those of the calendar */
        for (int64_t tick_ms = (chaos->began_ms / 60000 + 1) * 60000; tick_ms < until_ms;
             tick_ms += 60000) {
            const struct id *uid = &chaos->uids[i];
            size_t ends = ends_of(chaos, uid, tick_ms, true);
            bool is_right = came_again(chaos, uid, tick_ms)
                                ? ends && ends_of(chaos, uid, tick_ms, false) <= 1
                                : ends == 1;
            if (!is_right)
                fail_msg("seed %u: tick %lld of %.7s has %zu ends", chaos->seed,
                         (long long)(tick_ms - chaos->began_ms) / 1000, jobs[i], ends);
        }
    }
}

static const struct run *find_record(const struct world *node, const struct id *run_id)
{
    for (size_t i = 0; i < node->run_count; i++) {
        if (id_compare(&node->runs[i].id, run_id) == 0)
            return &node->runs[i];
    }
    return NULL;
}

/* Runs of the job that the other run made due, each counted once however often it is on record. */
static size_t count_after(const struct chaos *chaos, const struct id *uid, const struct id *run_id)
{
    struct id seen[8];
    char by[ID_TEXT + 1];
    size_t count = 0;
    id_format(run_id, by);
    for (size_t i = 0; i < NODES; i++) {
        const struct world *node = chaos->cluster->nodes[i];
        for (size_t k = 0; k < node->run_count && count < 8; k++) {
            const struct run *run = &node->runs[k];
            if (run->cause != CAUSE_AFTER || strcmp(run->by, by) != 0 ||
                id_compare(&run->job_uid, uid) != 0)
                continue;
            size_t m = 0;
            while (m < count && id_compare(&seen[m], &run->id) != 0)
                m++;
            seen[m] = run->id;
            count += m == count;
        }
    }
    return count;
}

/* A run that was lost and then amended has ended twice, and may be on record with either end. */
static void check_followed(const struct chaos *chaos, size_t f, const struct run *run)
{
    enum after_on on = follows[f].on;
    size_t count = count_after(chaos, &chaos->uids[follows[f].job], &run->id);
    bool may_be = run->state == RUN_LOST || after_wants(on, RUN_LOST);
    if (after_wants(on, run->state) ? count != 1 : count > may_be)
        fail_msg("seed %u: %s of %.7s is followed by %zu of %.7s", chaos->seed,
                 run_state_name(run->state), jobs[follows[f].after], count, jobs[follows[f].job]);
}

static void check_follows(const struct chaos *chaos)
{
    for (size_t f = 0; f < sizeof(follows) / sizeof(follows[0]); f++) {
        for (size_t i = 0; i < NODES; i++) {
            const struct world *node = chaos->cluster->nodes[i];
            for (size_t k = 0; k < node->run_count; k++) {
                if (id_compare(&node->runs[k].job_uid, &chaos->uids[follows[f].after]) == 0)
                    check_followed(chaos, f, &node->runs[k]);
            }
        }
    }
}

/* A run that is on record twice ended in one way; but who thought it lost may not know better. */
static void check_records(const struct chaos *chaos)
{
    for (size_t i = 0; i < NODES; i++) {
        const struct world *node = chaos->cluster->nodes[i];
        for (size_t k = 0; k < node->run_count; k++) {
            const struct run *run = &node->runs[k], *same;
            for (size_t m = 0; m < i; m++) {
                same = find_record(chaos->cluster->nodes[m], &run->id);
                if (same && same->state != run->state && same->state != RUN_LOST &&
                    run->state != RUN_LOST)
                    fail_with(chaos, "two different ends of a run", run->job_name);
            }
        }
    }
}

/* What ran on a node that is there is on record with its real end. */
static void check_processes(const struct chaos *chaos)
{
    for (size_t i = 0; i < NODES; i++) {
        const struct world *node = chaos->cluster->nodes[i];
        for (size_t k = 0; !node->frozen && k < node->process_count; k++) {
            const struct run *run = find_record(node, &node->processes[k].run_id);
            enum run_state want = node->processes[k].killed ? RUN_KILLED : RUN_OK;
            if (!run || run->state != want)
                fail_with(chaos, run ? run_state_name(run->state) : "ran, and is not on record",
                          node->processes[k].job_name);
        }
    }
}

static void fail_at_run(void *context, const struct run *run)
{
    fail_with(*(const struct chaos *const *)context, "a node still knows a run", run->job_name);
}

static void check_engines_are_empty(const struct chaos *chaos)
{
    for (size_t i = 0; i < NODES; i++) {
        const struct world *node = chaos->cluster->nodes[i];
        if (!node->frozen)
            engine_each_open_run(node->engine, fail_at_run, &chaos);
    }
}

/* Jobs are paused, so that everything comes to an end. */
static void pause_job(struct job *job)
{
    job->paused = true;
}

static void wind_down(struct chaos *chaos)
{
    struct world *alive = chaos->cluster->nodes[0];
    heal(chaos);
    cluster_pass(chaos->cluster, 60000);
    if (alive->frozen)
        alive = chaos->cluster->nodes[1];
    for (size_t i = 0; i < NODES; i++)
        chaos->cluster->nodes[i]->duration_ms = 10;
    int64_t until_ms = alive->now.wall.ms - 1000;
    for (size_t i = 0; i < JOBS; i++)
        world_change(alive, &chaos->uids[i], pause_job);
    cluster_pass(chaos->cluster, 30 * 60000);
    check_ticks(chaos, until_ms);
    check_records(chaos);
    check_follows(chaos);
    check_processes(chaos);
    check_store_is_empty(chaos);
    check_engines_are_empty(chaos);
}

static void survive(unsigned seed)
{
    struct chaos chaos;
    set_up(&chaos, seed);
    for (int i = 0; i < EVENTS; i++) {
        cluster_pass(chaos.cluster, below(&chaos, 3) ? below(&chaos, 20000) : below(&chaos, 400));
        event(&chaos);
    }
    wind_down(&chaos);
    cluster_free(chaos.cluster);
}

static void nothing_is_lost_or_doubled(void **state)
{
    (void)state;
    const char *first = getenv("PEAL_SIM_FIRST_SEED"), *seeds = getenv("PEAL_SIM_SEEDS");
    unsigned from = first ? (unsigned)atoi(first) : 1;
    unsigned count = seeds ? (unsigned)atoi(seeds) : SEEDS;
    for (unsigned i = 0; i < count; i++)
        survive(from + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost_or_doubled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
