#include "history_server_contract.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { BACK_MS = 60000, WRITERS_MAX = 8, BATCH = 20 }; /* BACK_MS only ends a hang */

/* ---- helpers ---- */

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

void assert_health(struct history_world *world, enum status want, const char *words)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_health(world->history, &why);
    if (st != want || (words && !strcasestr(why.text, words)))
        fail_msg("%s: \"%s\" is not in: %s", status_text(st), words ? words : "", why.text);
    assert_null(strstr(why.text, "horse")); /* the password */
    strbuf_release(&why);
}

void wait_for_health(struct history_world *world, enum status want)
{
    struct strbuf why;
    int64_t end_ms = now_ms() + BACK_MS;
    strbuf_init(&why);
    for (enum status st; (st = history_health(world->history, &why)) != want;) {
        if (now_ms() > end_ms)
            fail_msg("%s: %s", status_text(st), why.text);
        strbuf_reset(&why);
        wait_a_little();
    }
    strbuf_release(&why);
}

void append_until_ok(struct history_world *world, const struct run *run)
{
    int64_t end_ms = now_ms() + BACK_MS;
    enum status st;
    while ((st = world_append_run(world, run)) != OK) {
        assert_int_not_equal(st, E_INVALID);
        assert_true(now_ms() < end_ms);
        wait_a_little();
    }
}

int64_t count_ends(struct history_world *world, struct id job_uid, enum run_state state)
{
    struct history_stats stats = {
        .job_uid = job_uid, .from_ms = SAMPLE_MS - 3600000, .to_ms = SAMPLE_MS + 86400000};
    int64_t count = 0;
    assert_int_equal(world_stats(world, &stats), OK);
    for (size_t i = 0; i < stats.count; i++)
        count += stats.rows[i].ends[state];
    history_stats_release(&stats);
    return count;
}

static int64_t count_all_ends(struct history_world *world, enum run_state state)
{
    return count_ends(world, (struct id){{0}}, state);
}

/* ---- the server goes and comes ---- */

/* What is known to be away is not asked again by each append: a hundred of them take less time than
 * ten that wait for a connection as long as they may. */
static void assert_answers_at_once(struct history_world *world, const struct run *run)
{
    int64_t start_ms = now_ms();
    for (int i = 0; i < 100; i++)
        assert_int_equal(world_append_run(world, run), E_UNREACHABLE);
    assert_true(now_ms() - start_ms < 10 * world->backend->server->connect_ms);
}

/* A restart between two requests is not noticed. */
void test_server_restart(void **state)
{
    struct history_world *world = *state;
    struct run first = sample_run(1, 1), second = sample_run(1, 2);
    assert_int_equal(world_append_run(world, &first), OK);
    assert_true(world_has_run(world, &first.id, NULL));
    world->backend->server->restart();
    assert_int_equal(world_append_run(world, &second), OK);
    assert_true(world_has_run(world, &first.id, NULL));
    assert_int_equal(world_count(world, (struct history_query){0}), 2);
    assert_health(world, OK, NULL);
}

void test_server_killed(void **state)
{
    struct history_world *world = *state;
    struct run first = sample_run(1, 1), second = sample_run(1, 2);
    assert_int_equal(world_append_run(world, &first), OK);
    world->backend->server->kill();
    assert_int_equal(world_append_run(world, &second), E_UNREACHABLE);
    assert_health(world, E_UNREACHABLE, "Start it, or check host and port");
    assert_answers_at_once(world, &second);
    struct history_read read = {.query.limit = 1};
    assert_int_equal(world_read(world, &read), E_UNREACHABLE);
    world->backend->server->restart();
    append_until_ok(world, &second);
    assert_health(world, OK, NULL);
    assert_true(world_has_run(world, &first.id, NULL));
    assert_int_equal(world_count(world, (struct history_query){0}), 2);
}

/* It takes what is sent and never answers. What it did nevertheless is counted once. */
void test_server_stopped(void **state)
{
    struct history_world *world = *state;
    const struct history_server *server = world->backend->server;
    struct run first = sample_run(1, 1), second = sample_run(1, 2);
    assert_int_equal(world_append_run(world, &first), OK);
    server->pause();
    assert_int_equal(world_append_run(world, &second), E_UNREACHABLE);
    assert_health(world, E_UNREACHABLE, server->silent_words);
    assert_answers_at_once(world, &second);
    server->resume();
    append_until_ok(world, &second);
    assert_int_equal(world_count(world, (struct history_query){0}), 2);
    assert_int_equal(count_all_ends(world, first.state), 2);
}

/* Somebody dropped everything: it is made again. */
void test_server_dropped(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    assert_int_equal(world_append_run(world, &run), OK);
    world->backend->remove_place(world->place);
    assert_int_equal(world_append_run(world, &run), OK);
    assert_int_equal(world_count(world, (struct history_query){0}), 1);
}

/* ---- shared ---- */

struct node {
    struct history_world world;
    uint32_t number;
};

/* Every node records runs of its own and, like all others, run number 0 of each round. */
static void *be_a_node(void *context)
{
    struct node *node = context;
    world_open(&node->world);
    for (uint32_t round = 0; round < node->world.backend->server->rounds; round++) {
        struct run runs[BATCH];
        struct history_record records[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t place = node->number % 2 ? i : BATCH - 1 - i; /* in different orders */
            runs[i] = sample_run(place ? node->number : 99, round * BATCH + place);
            runs[i].state = !place && node->number % 2 ? RUN_LOST : RUN_OK;
            records[i] = (struct history_record){.run = &runs[i]};
        }
        if (world_append(&node->world, records, BATCH) != OK)
            return context;
    }
    world_close(&node->world);
    return NULL;
}

static void be_many_nodes(const struct history_world *world)
{
    static struct node nodes[WRITERS_MAX];
    uint32_t writers = world->backend->server->writers;
    pthread_t threads[WRITERS_MAX];
    assert_true(writers <= WRITERS_MAX);
    for (uint32_t i = 0; i < writers; i++) {
        nodes[i].number = i;
        nodes[i].world = *world;
        assert_int_equal(history_world_wake_init(&nodes[i].world), 0);
        assert_int_equal(pthread_create(&threads[i], NULL, be_a_node, &nodes[i]), 0);
    }
    for (uint32_t i = 0; i < writers; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        history_world_wake_release(&nodes[i].world);
        assert_null(failed);
    }
}

/* They find an empty database, all at the same time. */
void test_server_many_writers(void **state)
{
    struct history_world *world = *state;
    const struct history_server *server = world->backend->server;
    int64_t own = server->rounds * (BATCH - 1), shared = server->rounds;
    world_close(world);
    world->backend->remove_place(world->place);
    be_many_nodes(world);
    world_open(world);
    assert_int_equal(world_count(world, (struct history_query){0}), server->writers * own + shared);
    assert_int_equal(world_count(world, (struct history_query){.states = 1u << RUN_LOST}), 0);
    for (uint32_t i = 0; i < server->writers; i++)
        assert_int_equal(count_ends(world, sample_uid(i), RUN_OK), own);
    int64_t counted = count_ends(world, sample_uid(99), RUN_OK);
    assert_int_equal(count_all_ends(world, RUN_OK), server->writers * own + counted);
    if (server->swaps_whole) {
        assert_int_equal(counted, shared); /* each once */
        assert_int_equal(count_all_ends(world, RUN_LOST), 0);
    }
}
