/* The contract of keys in PostgreSQL, and what only it has: commits that are lost, sessions that
 * end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clock.h"
#include "kv_contract.h"
#include "kv_watch.h"
#include "pg_place.h"
#include "strbuf.h"

enum { HANG_MS = 60000 };

static struct loop *loop;
static struct loop_timer *tick;

static struct kv_client *open_client(struct loop *own)
{
    return pg_place_client(own, NULL, 20000);
}

static void kill_server(void)
{
    postgres_server_kill(&pg_server);
}

static void restart(void)
{
    postgres_server_restart(&pg_server);
}

/* ---- asking ---- */

struct answer {
    bool is_done;
    enum status status;
    uint64_t cluster_id;
    int64_t revision, version;
    char message[300];
};

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

static void turn(void)
{
    loop_timer_set(tick, 20);
    loop_run_once(loop);
}

static void on_answer(void *context, const struct kv_result *result)
{
    struct answer *answer = context;
    answer->is_done = true;
    answer->status = result->status;
    answer->cluster_id = result->cluster_id;
    answer->revision = result->revision;
    answer->version = result->op.kv_count ? result->op.kvs[0].version : 0;
    snprintf(answer->message, sizeof(answer->message), "%s", result->message);
}

#define wait_for(condition)                                                                        \
    do {                                                                                           \
        int64_t hang_ms_ = clock_now().boot.ms + HANG_MS;                                          \
        while (!(condition)) {                                                                     \
            if (clock_now().boot.ms > hang_ms_)                                                    \
                fail_msg("line %d: never came true: %s", __LINE__, #condition);                    \
            turn();                                                                                \
        }                                                                                          \
    } while (0)

static void begin_put(struct kv_client *client, const char *key, struct answer *answer)
{
    const struct kv_put put = {kv_text(key), kv_text("x"), 0, false};
    const struct kv_reply reply = {.done = on_answer, .context = answer};
    *answer = (struct answer){.is_done = false};
    assert_int_equal(kv_put(client, &put, &reply, NULL), OK);
}

static struct answer put(struct kv_client *client, const char *key)
{
    struct answer answer;
    begin_put(client, key, &answer);
    wait_for(answer.is_done);
    if (answer.status != OK)
        fail_msg("%s: %s", status_text(answer.status), answer.message);
    return answer;
}

static int64_t version_of(struct kv_client *client, const char *key)
{
    struct answer answer = {.is_done = false};
    const struct kv_reply reply = {.done = on_answer, .context = &answer};
    const struct kv_range range = {.key = kv_text(key)};
    assert_int_equal(kv_range(client, &range, &reply, NULL), OK);
    wait_for(answer.is_done);
    return answer.version;
}

static void end_sessions(void)
{
    pg_place_sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                 "WHERE application_name LIKE 'peal kv %'",
                 NULL);
}

/* ---- sessions that end ---- */

/* Each write is done once, and its answer found, whatever became of the session that had it. */
static void writes_are_done_once(void **state)
{
    enum { ROUNDS = 30, AT_ONCE = 20 };
    struct answer answers[AT_ONCE];
    int64_t done = 0;
    (void)state;
    struct kv_client *client = open_client(loop);
    put(client, "before");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            begin_put(client, "counted", &answers[i]);
        for (int i = 0; i < round % 5; i++)
            turn();
        end_sessions();
        for (int i = 0; i < AT_ONCE; i++) {
            wait_for(answers[i].is_done);
            if (answers[i].status != OK)
                fail_msg("%s: %s", status_text(answers[i].status), answers[i].message);
            done++;
        }
    }
    assert_int_equal(version_of(client, "counted"), done);
    kv_client_free(client);
}

/* ---- commits that are lost ---- */

static void on_notice(void *context, const struct kv_watch_notice *notice)
{
    uint64_t *cluster_id = context;
    if (notice->kind == KV_WATCH_LIVE)
        *cluster_id = notice->cluster_id;
}

/* A server that has another change in the revision that was seen last: what its clients knew is
 * gone. All of them, also those that come later, have another cluster id from then on. */
static void lost_commits_are_noticed(void **state)
{
    static const char *const losses[] = {
        "UPDATE peal.kv_changes SET tag = tag / 2 + 1 WHERE rev = (SELECT rev FROM peal.kv_feed)",
        "UPDATE peal.kv_feed SET rev = rev - 1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        uint64_t told = 0;
        struct kv_watch *watch;
        const struct kv_watch_config config = {.key = kv_text("lost"), .prefix = true};
        struct kv_client *client = open_client(loop);
        struct answer before = put(client, "lost/1");
        assert_int_equal(kv_watch_new(client, &config, on_notice, &told, &watch), OK);
        wait_for(told == before.cluster_id);
        struct answer last = put(client, "lost/2");
        wait_for(kv_client_mark(client).revision == last.revision);
        struct kv_mark mark = kv_client_mark(client);
        end_sessions();
        assert_int_equal(put(client, "lost/3").cluster_id, before.cluster_id); /* nothing is lost */
        wait_for(kv_client_mark(client).revision > last.revision);
        pg_place_sql(losses[i], NULL);
        if (i == 1)
            pg_place_sql("DELETE FROM peal.kv_changes WHERE rev > (SELECT rev FROM peal.kv_feed)",
                         NULL);
        end_sessions();
        struct answer after = {.cluster_id = before.cluster_id};
        wait_for((after = put(client, "lost/4")).cluster_id != before.cluster_id);
        wait_for(told == after.cluster_id);
        struct kv_client *other = open_client(loop);
        assert_true(put(other, "lost/5").cluster_id == after.cluster_id);
        kv_client_free(other);
        /* who has been away since then is told by the id, too */
        other = open_client(loop);
        kv_client_recall(other, &mark);
        assert_true(put(other, "lost/6").cluster_id == after.cluster_id);
        kv_client_free(other);
        kv_watch_free(watch);
        kv_client_free(client);
    }
}

static void a_newer_format_is_left_alone(void **state)
{
    struct answer answer;
    (void)state;
    struct kv_client *client = pg_place_client(loop, "newer", 20000);
    put(client, "a");
    kv_client_free(client);
    pg_place_sql("UPDATE newer.kv_feed SET format = 103, least = 102", NULL);
    client = pg_place_client(loop, "newer", 20000);
    begin_put(client, "b", &answer);
    wait_for(answer.is_done);
    assert_int_equal(answer.status, E_VERSION);
    assert_non_null(strstr(answer.message,
                           "of a newer peal (format 103; this one knows 2): upgrade this node"));
    kv_client_free(client);
}

/* One that only adds to the tables, while nodes of before are there. */
static void a_later_format_may_allow_this_one(void **state)
{
    struct kv_client *client = pg_place_client(loop, "later", 20000);
    (void)state;
    put(client, "a");
    kv_client_free(client);
    pg_place_sql("UPDATE later.kv_feed SET format = 103", NULL);
    client = pg_place_client(loop, "later", 20000);
    put(client, "b");
    kv_client_free(client);
}

extern const char pg_schema_1_sql[];

/* Three at once find the tables of the first format, while a node of that format works. */
static void an_older_format_is_stepped(void **state)
{
    struct kv_client *clients[3];
    struct answer answers[3];
    struct strbuf sql;
    char found[256];
    (void)state;
    strbuf_init(&sql);
    strbuf_addf(&sql, "CREATE SCHEMA older; SET search_path = older; %s", pg_schema_1_sql);
    pg_place_sql(sql.text, NULL);
    strbuf_release(&sql);
    pg_place_sql("INSERT INTO older.kv_leases (id, ttl_ms, timeline) VALUES (7, 5000, 'x')", NULL);
    for (int i = 0; i < 3; i++) {
        clients[i] = pg_place_client(loop, "older", 20000);
        begin_put(clients[i], "a", &answers[i]);
    }
    for (int i = 0; i < 3; i++) {
        wait_for(answers[i].is_done);
        assert_int_equal(answers[i].status, OK);
    }
    pg_place_sql("SELECT format || ' ' || least FROM older.kv_feed", found);
    assert_string_equal(found, "2 1");
    pg_place_sql("UPDATE older.kv_leases SET beats = beats + 1 WHERE id = 7 RETURNING beats",
                 found);
    assert_string_equal(found, "1");
    pg_place_sql("INSERT INTO older.kv_leases (id, ttl_ms, timeline) VALUES (8, 5000, 'x') ON "
                 "CONFLICT (id) DO UPDATE SET beats = kv_leases.beats + 1",
                 NULL);
    for (int i = 0; i < 3; i++)
        kv_client_free(clients[i]);
}

int main(void)
{
    static const struct kv_backend backend = {"keys in PostgreSQL", open_client, kill_server,
                                              restart};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_are_done_once),
        cmocka_unit_test(lost_commits_are_noticed),
        cmocka_unit_test(a_newer_format_is_left_alone),
        cmocka_unit_test(a_later_format_may_allow_this_one),
        cmocka_unit_test(an_older_format_is_stepped),
    };
    pg_place_start();
    int failed = kv_contract_run(&backend);
    if (loop_new(&loop) != OK || loop_timer_new(loop, on_tick, NULL, &tick) != OK)
        abort();
    failed += cmocka_run_group_tests_name("PostgreSQL alone", tests, NULL, NULL);
    loop_timer_free(tick);
    loop_free(loop);
    pg_place_stop();
    return failed;
}
