#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hash.h"
#include "store_memory.h"

#define START_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

/* ---- life ---- */

static void no_wake(void *context)
{
    (void)context;
}

static void fill_random(void *context, void *bytes, size_t length)
{
    struct world *world = context;
    for (size_t i = 0; i < length; i++) {
        world->seed = world->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        ((uint8_t *)bytes)[i] = (uint8_t)(world->seed >> 56);
    }
}

static void tell(void *context, const struct ended *ends, size_t count,
                 void (*done)(void *done_context), void *done_context)
{
    struct world *world = context;
    for (size_t i = 0; i < count && world->told_count < WORLD_ROWS; i++) {
        const struct ended *end = &ends[i];
        world->told[world->told_count++] =
            (struct world_told){.id = end->run ? end->run->id : end->entry->id,
                                .state = end->run ? end->run->state : end->entry->state,
                                .is_entry = !end->run,
                                .was_bad = end->was_bad};
    }
    if (world->is_telling_held) {
        world->held_done = done;
        world->held_context = done_context;
    } else {
        done(done_context);
    }
}

void world_release_told(struct world *world)
{
    void (*done)(void *context) = world->held_done;
    world->is_telling_held = false;
    world->held_done = NULL;
    if (done)
        done(world->held_context);
}

/* ---- the output: a chunk of each run ---- */

static enum status read_output(void *context, const struct id *run_id, struct output_chunk **ret,
                               size_t *ret_count)
{
    struct world *world = context;
    (void)run_id;
    if (world->output_status != OK)
        return world->output_status;
    struct output_chunk *chunk = calloc(1, sizeof(*chunk));
    assert_non_null(chunk);
    *chunk = (struct output_chunk){.bytes = "", .length = (size_t)world->output_bytes};
    if (world->says) {
        chunk->bytes = world->says;
        chunk->length = strlen(world->says);
    }
    *ret = chunk;
    *ret_count = 1;
    return OK;
}

static void release_output(void *context, struct output_chunk *chunks, size_t count)
{
    (void)context;
    (void)count;
    free(chunks);
}

static void remove_output(void *context, const struct id *run_id)
{
    struct world *world = context;
    (void)run_id;
    world->removed_outputs++;
}

static bool has_function(void *context, const char *function)
{
    const struct world *world = context;
    return !world->lacks || (strcmp(world->lacks, "*") != 0 && strcmp(world->lacks, function) != 0);
}

static bool find_lesson(void *context, const struct id *job_uid, struct learned *ret)
{
    struct world *world = context;
    (void)job_uid;
    world->lessons++;
    *ret = world->learned;
    return !world->history_is_slow;
}

static void read_pressure(void *context, struct peer *ret)
{
    ret->cpu_pressure = ((const struct world *)context)->cpu_pressure;
}

static void new_engine(struct world *world)
{
    struct engine_ports ports = {
        .store = &world->front,
        .executor = &world->executor,
        .history = &world->history,
        .zones = world->zones,
        .entropy = {fill_random, world},
        .pressure = {read_pressure, world},
        .functions = {has_function, world},
        .lessons = {find_lesson, world},
        .teller = {tell, world},
        .output = {read_output, release_output, remove_output, world},
    };
    assert_int_equal(engine_new(&world->config, &ports, &world->engine), OK);
    world->tell_ready = true;
    world->ready_sent = 0;
    world_pass(world, 0);
}

static struct world *new_world(void)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->duration_ms = 10;
    world_open_ports(world);
    assert_int_equal(zone_db_new(NULL, &world->zones), OK);
    return world;
}

struct world *world_new(void)
{
    struct world *world = new_world();
    world->now = (struct now){{START_MS}, {1000000}};
    world->seed = 1;
    world->config = engine_config_default();
    snprintf(world->config.node, sizeof(world->config.node), "node-1");
    snprintf(world->config.boot_id, sizeof(world->config.boot_id), "boot-1");
    struct store_wake wake = {no_wake, NULL};
    assert_int_equal(store_memory_new(wake, &world->store), OK);
    new_engine(world);
    return world;
}

struct world *world_join(struct world *other, const struct engine_config *config)
{
    struct world *world = new_world();
    world->now = other->now;
    world->now.boot.ms += 12345678; /* each machine has its own */
    world->seed = hash_text(other->seed, config->node);
    world->config = *config;
    struct store_wake wake = {no_wake, NULL};
    assert_int_equal(store_memory_attach(other->store, wake, &world->store), OK);
    new_engine(world);
    return world;
}

struct world *world_free(struct world *world)
{
    world->door = DOOR_OPEN;
    world_release_told(world);
    store_dispatch(&world->front);
    store_free(world->store);
    history_dispatch(&world->history);
    engine_free(world->engine);
    for (size_t i = 0; i < world->dead_count; i++)
        engine_free(world->dead[i]);
    zone_db_free(world->zones);
    free(world);
    return NULL;
}

int world_set_up(void **state)
{
    *state = world_new();
    return 0;
}

int world_tear_down(void **state)
{
    *state = world_free(*state);
    return 0;
}

/* ---- what happens ---- */

static void turns_of(struct world *const *worlds, size_t count)
{
    /* Whatever a turn submits is answered in the next one. */
    for (int i = 0; i < 12; i++) {
        for (size_t k = 0; k < count; k++) {
            if (!worlds[k]->frozen)
                engine_step(worlds[k]->engine, worlds[k]->now);
        }
    }
}

static void turns(struct world *world)
{
    turns_of(&world, 1);
}

static void move_clock(struct world *world, int64_t ms)
{
    world->now.wall.ms += ms;
    world->now.boot.ms += ms;
}

/* How long until something happens: the engine's wish, a slow answer, or a process ends. */
static int64_t until_next(const struct world *world)
{
    int64_t wait = engine_wake_at(world->engine).ms;
    wait = wait == NEVER_MS ? INT64_MAX : wait - world->now.wall.ms;
    if (world->submitted_count && world->applied_ms[0]) {
        int64_t left = world->applied_ms[0] + WORLD_SLOW_MS - world->now.wall.ms;
        wait = left < wait ? left : wait;
    }
    for (size_t i = 0; i < world->process_count; i++) {
        const struct world_process *process = &world->processes[i];
        bool is_early = process->at.ms > world->now.boot.ms;
        int64_t left = (is_early ? process->at.ms : process->ends_ms) - world->now.boot.ms;
        if (!world->processes[i].ended && left < wait)
            wait = left;
    }
    return wait < 1 ? 1 : wait;
}

void worlds_pass(struct world *const *worlds, size_t count, int64_t ms)
{
    turns_of(worlds, count);
    while (ms > 0) {
        int64_t wait = ms;
        for (size_t i = 0; i < count; i++) {
            int64_t next = worlds[i]->frozen ? ms : until_next(worlds[i]);
            wait = next < wait ? next : wait;
        }
        for (size_t i = 0; i < count; i++)
            move_clock(worlds[i], wait);
        ms -= wait;
        turns_of(worlds, count);
    }
}

void world_pass(struct world *world, int64_t ms)
{
    worlds_pass(&world, 1, ms);
}

void world_sleep(struct world *world, int64_t ms)
{
    move_clock(world, ms);
}

void world_set_clock(struct world *world, int64_t by_ms)
{
    world->now.wall.ms += by_ms;
    turns(world);
}

struct put {
    struct store_request request;
    struct store_put_job item;
    bool done;
};

static void put_done(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    ((struct put *)request->context)->done = true;
}

static void put_job(struct world *world, const struct job *job, int64_t expected)
{
    char *json = job_encode_text(job);
    assert_non_null(json);
    struct put put = {
        .item = {.uid = job->uid,
                 .name = job->name,
                 .json = json,
                 .deleted = job->deleted_ms != 0,
                 .paused = job->paused,
                 .expected_revision = expected,
                 .cursor_ms = expected && !world->cursor_with_change ? -1 : world->now.wall.ms}};
    put.request = (struct store_request){.op = STORE_PUT_JOB,
                                         .count = 1,
                                         .items.puts = &put.item,
                                         .done = put_done,
                                         .context = &put};
    store_submit(world->store, &put.request);
    if (world->open_with_change)
        world->door = DOOR_OPEN;
    turns(world);
    assert_true(put.done);
    assert_int_equal(put.item.result, PUT_OK);
    free(json);
}

struct id world_add(struct world *world, const char *yaml)
{
    struct job_list list;
    struct job_error error = {0};
    job_list_init(&list);
    if (jobs_decode_text(yaml, strlen(yaml), "UTC", world->zones, &list, &error) != OK)
        fail_msg("%d:%d %s", error.line, error.column, error.message);
    assert_int_equal(list.count, 1);
    uint8_t random[10];
    fill_random(world, random, sizeof(random));
    struct job *job = list.items[0];
    job->uid = id_make(world->now.wall, random);
    job->created_ms = world->now.wall.ms;
    put_job(world, job, 0);
    struct id uid = job->uid;
    job_list_release(&list);
    return uid;
}

void world_change(struct world *world, const struct id *uid, void (*change)(struct job *job))
{
    const struct catalog_job *known = catalog_by_uid(engine_catalog(world->engine), uid);
    struct job *job = NULL;
    struct job_error error;
    assert_int_equal(job_decode_stored(known->json, world->zones, &job, &error), OK);
    change(job);
    put_job(world, job, known->revision);
    job_free(job);
}

void world_attach(struct world *world)
{
    world->executor_away = false;
    world->tell_ready = true;
    world->ready_sent = 0;
}

void world_restart(struct world *world)
{
    assert_true(world->dead_count < sizeof(world->dead) / sizeof(world->dead[0]));
    world->dead[world->dead_count++] = world->engine;
    store_dispatch(&world->front);
    store_memory_reload(world->store);
    for (size_t i = 0; i < world->process_count; i++) {
        if (!world->processes[i].acknowledged && world->processes[i].ended)
            world->processes[i].ended = false; /* told again */
        world->processes[i].is_named = world->processes[i].is_looked_at = false;
    }
    world->config.self.instance.bytes[1]++;
    new_engine(world);
}

struct add {
    struct store_request request;
    struct store_add_run item;
    bool done;
};

static void add_done(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    ((struct add *)request->context)->done = true;
}

static bool add_run(struct world *world, const struct id *uid, int64_t tick_ms,
                    enum run_cause cause)
{
    const struct catalog_job *job = catalog_by_uid(engine_catalog(world->engine), uid);
    uint8_t random[10];
    fill_random(world, random, sizeof(random));
    struct add add = {.item = {.run = {.id = id_make(world->now.wall, random),
                                       .job_uid = *uid,
                                       .tick_ms = tick_ms,
                                       .attempt = 1,
                                       .cause = cause,
                                       .exit_code = -1}}};
    snprintf(add.item.run.job_name, sizeof(add.item.run.job_name), "%s", job->name);
    add.request = (struct store_request){.op = STORE_ADD_RUN,
                                         .count = 1,
                                         .items.adds = &add.item,
                                         .done = add_done,
                                         .context = &add};
    store_submit(world->store, &add.request);
    turns(world);
    assert_true(add.done);
    return add.item.added;
}

bool world_trigger(struct world *world, const struct id *uid)
{
    return add_run(world, uid, world->now.wall.ms, CAUSE_MANUAL);
}

bool world_backfill(struct world *world, const struct id *uid, int64_t tick_ms)
{
    return add_run(world, uid, tick_ms, CAUSE_BACKFILL);
}

static void order_done(struct store_request *request, enum status st)
{
    (void)request;
    assert_int_equal(st, OK);
}

void world_kill(struct world *world, const struct id *run_id)
{
    struct store_order order = {.run_id = *run_id, .reason = REASON_USER, .by = "tester"};
    struct store_request request = {
        .op = STORE_ORDER, .count = 1, .items.orders = &order, .done = order_done};
    store_submit(world->store, &request);
    turns(world);
    assert_true(order.known);
}

/* ---- what came of it ---- */

size_t world_count(const struct world *world, const char *job_name, enum run_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < world->run_count; i++)
        count += strcmp(world->runs[i].job_name, job_name) == 0 && world->runs[i].state == state;
    return count;
}

int64_t world_passed(const struct world *world, const char *job_name, enum run_state state,
                     enum run_reason reason)
{
    int64_t count = 0;
    for (size_t i = 0; i < world->entry_count; i++) {
        const struct ledger_entry *entry = &world->entries[i];
        if (strcmp(entry->job_name, job_name) == 0 && entry->state == state &&
            entry->reason == reason)
            count += entry->count;
    }
    return count;
}

/* A note that the clock was set back, or an entry of ticks that came again after it: the later word
 * counts. */
static bool is_void(const struct world *world, size_t at)
{
    const struct ledger_entry *entry = &world->entries[at];
    bool is_void = entry->reason == REASON_CLOCK;
    for (size_t i = at + 1; i < world->entry_count && !is_void; i++) {
        const struct ledger_entry *later = &world->entries[i];
        is_void = later->reason == REASON_CLOCK && entry->to_ms > later->from_ms &&
                  id_compare(&entry->job_uid, &later->job_uid) == 0;
    }
    return is_void;
}

void world_check(const struct world *world)
{
    for (size_t i = 0; i < world->process_count; i++) {
        const struct world_process *process = &world->processes[i];
        for (size_t k = 0; k < i; k++) {
            const struct world_process *other = &world->processes[k];
            if (strcmp(process->job_name, other->job_name) != 0)
                continue;
            assert_int_not_equal(process->tick_ms, other->tick_ms);
            assert_true(process->fence > other->fence);
        }
    }
    for (size_t i = 0; i < world->run_count; i++) {
        for (size_t k = 0; k < world->entry_count; k++) {
            const struct ledger_entry *entry = &world->entries[k];
            if (id_compare(&entry->job_uid, &world->runs[i].job_uid) == 0 &&
                world->runs[i].cause != CAUSE_MANUAL && world->runs[i].cause != CAUSE_BACKFILL &&
                !is_void(world, k))
                assert_false(world->runs[i].tick_ms >= entry->from_ms &&
                             world->runs[i].tick_ms <= entry->to_ms);
        }
    }
}
