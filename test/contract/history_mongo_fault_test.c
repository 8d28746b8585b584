/* What histories in a server go through, and what only one in MongoDB does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history_server_contract.h"
#include "machine.h"
#include "mongo/history_mongo.h"
#include "mongo_place.h"

/* ---- refusals ---- */

/* A history at another URL, in the world's place. */
static void open_url(struct history_world *world, const char *url)
{
    static const struct history_server_limits limits = {
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
                                      "\"format\"}, \"u\": {\"$set\": {\"version\": 2}}}]}");
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

int main(void)
{
#define WITH_WORLD(test)                                                                           \
    cmocka_unit_test_prestate_setup_teardown(test, history_world_setup, history_world_teardown,    \
                                             (void *)&mongo_backend)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_server_restart),
        WITH_WORLD(test_server_killed),
        WITH_WORLD(test_server_stopped),
        WITH_WORLD(test_server_dropped),
        WITH_WORLD(test_server_many_writers),
        WITH_WORLD(test_refused),
        WITH_WORLD(test_password_file),
        WITH_WORLD(test_newer_format),
        WITH_WORLD(test_expire),
        WITH_WORLD(test_tls),
    };
    if (!mongo_place_start())
        return 77;
    int failed = cmocka_run_group_tests_name("a server of MongoDB's protocol", tests, NULL, NULL);
    mongo_server_remove(&mongo_server);
    return failed;
}
