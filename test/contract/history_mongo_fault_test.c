/* What only a server can go through: it is restarted, killed, stopped, refuses, or is shared. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "history_mongo.h"
#include "history_world.h"
#include "machine.h"
#include "mongo_place.h"

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void assert_health(struct history_world *world, enum status want, const char *words)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_health(world->history, &why);
    if (st != want || (words && !strstr(why.text, words)))
        fail_msg("%s: \"%s\" is not in: %s", status_text(st), words ? words : "", why.text);
    assert_null(strstr(why.text, "horse")); /* the password */
    strbuf_release(&why);
}

static void append_until_ok(struct history_world *world, const struct run *run)
{
    int64_t end_ms = now_ms() + 25000;
    while (world_append_run(world, run) != OK) {
        assert_true(now_ms() < end_ms);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static void wait_for_health(struct history_world *world, enum status want)
{
    struct strbuf why;
    int64_t end_ms = now_ms() + 25000;
    strbuf_init(&why);
    for (enum status st; (st = history_health(world->history, &why)) != want;) {
        if (now_ms() > end_ms)
            fail_msg("%s: %s", status_text(st), why.text);
        strbuf_reset(&why);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    strbuf_release(&why);
}

/* ---- the server goes and comes ---- */

/* A restart between two requests is not noticed. */
static void test_restart(void **state)
{
    struct history_world *world = *state;
    struct run first = sample_run(1, 1), second = sample_run(1, 2);
    assert_int_equal(world_append_run(world, &first), OK);
    assert_true(world_has_run(world, &first.id, NULL));
    mongo_server_restart(&mongo_server);
    assert_int_equal(world_append_run(world, &second), OK);
    assert_true(world_has_run(world, &first.id, NULL));
    assert_int_equal(world_count(world, (struct history_query){0}), 2);
    assert_health(world, OK, NULL);
}

static void test_killed(void **state)
{
    struct history_world *world = *state;
    struct run first = sample_run(1, 1), second = sample_run(1, 2);
    assert_int_equal(world_append_run(world, &first), OK);
    mongo_server_kill(&mongo_server);
    assert_int_equal(world_append_run(world, &second), E_UNREACHABLE);
    assert_health(world, E_UNREACHABLE, "Start it, or check host and port");
    int64_t start_ms = now_ms();
    for (int i = 0; i < 100; i++)
        assert_int_equal(world_append_run(world, &second), E_UNREACHABLE);
    assert_true(now_ms() - start_ms < 4000); /* at once */
    struct history_read read = {.query.limit = 1};
    assert_int_equal(world_read(world, &read), E_UNREACHABLE);
    mongo_server_restart(&mongo_server);
    append_until_ok(world, &second);
    assert_health(world, OK, NULL);
    assert_int_equal(world_count(world, (struct history_query){0}), 2);
}

/* It takes what is sent and never answers. What it did nevertheless is counted once. */
static void test_stopped(void **state)
{
    struct history_world *world = *state;
    struct run first = sample_run(1, 1), second = sample_run(1, 2);
    struct history_stats stats = {.from_ms = SAMPLE_MS - 3600000, .to_ms = SAMPLE_MS + 86400000};
    assert_int_equal(world_append_run(world, &first), OK);
    mongo_server_pause(&mongo_server);
    assert_int_equal(world_append_run(world, &second), E_UNREACHABLE);
    assert_health(world, E_UNREACHABLE, "timeout");
    mongo_server_resume(&mongo_server);
    append_until_ok(world, &second);
    assert_int_equal(world_count(world, (struct history_query){0}), 2);
    assert_int_equal(world_stats(world, &stats), OK);
    assert_int_equal(stats.count, 1);
    assert_int_equal(stats.rows[0].ends[first.state], 2);
    history_stats_release(&stats);
}

/* Somebody dropped everything: it is made again. */
static void test_dropped(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    assert_int_equal(world_append_run(world, &run), OK);
    world->backend->remove_place(world->place);
    assert_int_equal(world_append_run(world, &run), OK);
    assert_int_equal(world_count(world, (struct history_query){0}), 1);
}

/* ---- refusals ---- */

/* A history at another URL, in the world's place. */
static void open_url(struct history_world *world, const char *url)
{
    static const struct history_remote_limits limits = {
        .connect_s = 2, .retry_first_ms = 20, .retry_last_ms = 50};
    struct strbuf why;
    strbuf_init(&why);
    world_close(world);
    assert_int_equal(
        history_mongo_open(url, &limits, history_world_wake(world), &world->history, &why), OK);
    strbuf_release(&why);
}

static void test_refused(void **state)
{
    static const struct {
        int line;
        const char *before, *after; /* of the host and the port */
        const char *words;
    } cases[] = {
        {__LINE__, "mongodb://peal:wrong-horse@", "?authSource=admin",
         "the right user and password"},
        {__LINE__, "mongodb://nobody:horse@", "?authSource=admin", "nobody@127.0.0.1"},
        {__LINE__, "mongodb://peal@", "?authSource=admin&password_file=/none",
         "cannot be read from"},
    };
    struct history_world *world = *state;
    if (!mongo_server.has_users)
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char url[512];
        struct strbuf why;
        struct history_read read = {.query.limit = 1};
        snprintf(url, sizeof(url), "%s127.0.0.1:%d/%s%s", cases[i].before, mongo_server.port,
                 world->place, cases[i].after);
        open_url(world, url);
        assert_int_not_equal(world_read(world, &read), OK);
        struct run run = sample_run(1, 1);
        assert_int_not_equal(world_append_run(world, &run), OK);
        strbuf_init(&why);
        assert_int_not_equal(history_health(world->history, &why), OK);
        if (!strcasestr(why.text, cases[i].words) || strstr(why.text, "horse"))
            fail_msg("line %d: %s", cases[i].line, why.text);
        strbuf_release(&why);
    }
}

static void test_password_file(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    char url[512], path[96];
    if (!mongo_server.has_users)
        skip();
    snprintf(path, sizeof(path), "%s/password", mongo_server.folder);
    run_command("printf '%%s\\n' '%s' >%s", MONGO_PASSWORD, path);
    snprintf(url, sizeof(url),
             "mongodb://" MONGO_USER "@127.0.0.1:%d/%s?password_file=%s&authSource=admin",
             mongo_server.port, world->place, path);
    open_url(world, url);
    assert_int_equal(world_append_run(world, &run), OK);
}

static void test_newer_format(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    struct history_read read = {.query.limit = 1};
    assert_int_equal(world_append_run(world, &run), OK);
    mongo_place_command(world->place, "{\"update\": \"meta\", \"updates\": [{\"q\": {\"_id\": "
                                      "\"format\"}, \"u\": {\"$set\": {\"version\": 999}}}]}");
    world_close(world);
    world_open(world);
    assert_int_equal(world_append_run(world, &run), E_VERSION);
    assert_health(world, E_VERSION, "newer peal");
    assert_int_equal(world_read(world, &read), E_VERSION);
    mongo_place_command(world->place, "{\"update\": \"meta\", \"updates\": [{\"q\": {\"_id\": "
                                      "\"format\"}, \"u\": {\"$set\": {\"version\": 1}}}]}");
    append_until_ok(world, &run);
}

/* The server's own removal is asked for: it is set up, or the words say that there is none. */
static void test_expire(void **state)
{
    struct history_world *world = *state;
    char url[512];
    mongo_server_url(&mongo_server, world->place, "expire_days=30", url);
    open_url(world, url);
    wait_for_health(world, mongo_server.is_mongod ? OK : E_IO);
    if (!mongo_server.is_mongod)
        assert_health(world, E_IO, "Leave expire_days out");
    mongo_server_url(&mongo_server, world->place, "expire_days=0", url);
    open_url(world, url);
    wait_for_health(world, OK);
}

static void test_tls(void **state)
{
    struct history_world *world = *state;
    char cert[96], key[96], more[160], url[512];
    struct run run = sample_run(1, 1);
    snprintf(cert, sizeof(cert), "%s/cert.pem", mongo_server.folder);
    snprintf(key, sizeof(key), "%s/key.pem", mongo_server.folder);
    run_command("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
                "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout %s -out %s "
                "2>/dev/null",
                key, cert);
    struct mongo_server secure = {.cert_file = cert, .key_file = key};
    mongo_server_start(&secure);
    snprintf(more, sizeof(more), "tls=true&tlsCAFile=%s", cert);
    mongo_server_url(&secure, world->place, more, url);
    open_url(world, url);
    assert_int_equal(world_append_run(world, &run), OK);
    mongo_server_url(&secure, world->place, "tls=true", url);
    open_url(world, url);
    wait_for_health(world, E_UNREACHABLE);
    assert_health(world, E_UNREACHABLE, "tlsCAFile");
    world_close(world);
    mongo_server_remove(&secure);
    world_open(world);
}

/* ---- shared ---- */

enum { OPENERS = 3, ROUNDS = 6, BATCH = 10 };

struct node {
    struct history_world world;
    uint32_t number;
};

/* Every node records runs of its own and, like all others, run number 0 of each round. */
static void *be_a_node(void *context)
{
    struct node *node = context;
    world_open(&node->world);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct run runs[BATCH];
        struct history_record records[BATCH];
        for (uint32_t i = 0; i < BATCH; i++) {
            runs[i] = sample_run(i ? node->number : 99, round * BATCH + i);
            runs[i].state = !i && node->number % 2 ? RUN_LOST : RUN_OK;
            records[i] = (struct history_record){.run = &runs[i]};
        }
        if (world_append(&node->world, records, BATCH) != OK)
            return context;
    }
    world_close(&node->world);
    return NULL;
}

/* Of all hours; a zero job is all jobs. */
static int64_t count_ends(struct history_world *world, struct id job_uid, enum run_state state)
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

/* They find an empty database, all at the same time. */
static void test_many_writers(void **state)
{
    struct history_world *world = *state;
    static struct node nodes[OPENERS];
    pthread_t threads[OPENERS];
    world_close(world);
    for (uint32_t i = 0; i < OPENERS; i++) {
        nodes[i].number = i;
        nodes[i].world = *world;
        assert_int_equal(history_world_wake_init(&nodes[i].world), 0);
        assert_int_equal(pthread_create(&threads[i], NULL, be_a_node, &nodes[i]), 0);
    }
    for (size_t i = 0; i < OPENERS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        history_world_wake_release(&nodes[i].world);
        assert_null(failed);
    }
    world_open(world);
    size_t runs = OPENERS * ROUNDS * (BATCH - 1) + ROUNDS;
    assert_int_equal(world_count(world, (struct history_query){0}), runs);
    assert_int_equal(world_count(world, (struct history_query){.states = 1u << RUN_LOST}), 0);
    /* Whoever has runs of his own has them counted; those of all jobs are in one sum. */
    for (uint32_t i = 0; i < OPENERS; i++) {
        struct run own = sample_run(i, 1);
        assert_int_equal(count_ends(world, own.job_uid, RUN_OK), ROUNDS * (BATCH - 1));
    }
    int64_t shared = count_ends(world, sample_run(99, 0).job_uid, RUN_OK);
    int64_t lost = count_ends(world, (struct id){{0}}, RUN_LOST);
    assert_int_equal(count_ends(world, (struct id){{0}}, RUN_OK) - shared, runs - ROUNDS);
    if (mongo_server.is_mongod) { /* FerretDB may replace one document for two writers at once */
        assert_int_equal(shared, ROUNDS);
        assert_int_equal(lost, 0);
    }
}

int main(void)
{
#define WITH_WORLD(test)                                                                           \
    cmocka_unit_test_prestate_setup_teardown(test, history_world_setup, history_world_teardown,    \
                                             (void *)&mongo_backend)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_restart),      WITH_WORLD(test_killed),  WITH_WORLD(test_stopped),
        WITH_WORLD(test_dropped),      WITH_WORLD(test_refused), WITH_WORLD(test_password_file),
        WITH_WORLD(test_newer_format), WITH_WORLD(test_expire),  WITH_WORLD(test_tls),
        WITH_WORLD(test_many_writers),
    };
    if (!mongo_place_start())
        return 77;
    int failed = cmocka_run_group_tests_name("a server of MongoDB's protocol", tests, NULL, NULL);
    mongo_server_remove(&mongo_server);
    return failed;
}
