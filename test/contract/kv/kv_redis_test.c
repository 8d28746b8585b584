/* The contract of keys in Redis, and what only it has: connections that end, changes that are lost,
 * replicas, and servers that would lose something. */
#include <inttypes.h>
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
#include "redis.h"
#include "redis_lab.h"

enum { HANG_MS = 60000, PATIENT_MS = 20000 };

static struct loop *loop;
static struct loop_timer *tick;

static struct kv_client *open_client(struct loop *own)
{
    return redis_lab_client(own, &redis_lab, "", PATIENT_MS);
}

static void kill_server(void)
{
    redis_server_kill(&redis_lab);
}

static void restart(void)
{
    redis_server_restart(&redis_lab);
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

static void end_connections(void)
{
    redis_server_tell(&redis_lab, "CLIENT KILL TYPE normal", NULL);
}

/* ---- connections that end ---- */

/* Each write is done once, and its answer found, whatever became of the connection that had it. */
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
        end_connections();
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

static void scripts_that_are_gone_are_loaded_again(void **state)
{
    (void)state;
    struct kv_client *client = open_client(loop);
    put(client, "a");
    redis_server_tell(&redis_lab, "SCRIPT FLUSH", NULL);
    put(client, "a");
    kv_client_free(client);
}

/* ---- changes that are lost ---- */

struct seen {
    uint64_t cluster_id;
    int events, compacted, broken;
    int64_t revision;
};

static void on_notice(void *context, const struct kv_watch_notice *notice)
{
    struct seen *seen = context;
    if (notice->kind == KV_WATCH_LIVE)
        seen->cluster_id = notice->cluster_id;
    seen->compacted += notice->kind == KV_WATCH_COMPACTED;
    seen->broken += notice->kind == KV_WATCH_BROKEN;
    seen->events += (int)notice->event_count;
    if (notice->event_count)
        seen->revision = notice->revision;
}

static struct kv_watch *watch(struct kv_client *client, const char *prefix, int64_t start,
                              struct seen *seen)
{
    struct kv_watch *ret;
    const struct kv_watch_config config = {
        .key = kv_text(prefix), .prefix = true, .start_revision = start};
    *seen = (struct seen){.events = 0};
    assert_int_equal(kv_watch_new(client, &config, on_notice, seen, &ret), OK);
    return ret;
}

static void another_change_in_the_revision(int64_t rev)
{
    char command[128];
    snprintf(command, sizeof(command), "XDEL {peal}:tags %" PRId64 "-0", rev);
    redis_server_tell(&redis_lab, command, NULL);
    snprintf(command, sizeof(command), "XSETID {peal}:tags %" PRId64 "-0", rev - 1);
    redis_server_tell(&redis_lab, command, NULL);
    snprintf(command, sizeof(command), "XADD {peal}:tags %" PRId64 "-0 t 12345 b 1", rev);
    redis_server_tell(&redis_lab, command, NULL);
}

static void an_earlier_revision(int64_t rev)
{
    static const char *const streams[] = {"tags", "feed"};
    char command[128];
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof(command), "XDEL {peal}:%s %" PRId64 "-0", streams[i], rev);
        redis_server_tell(&redis_lab, command, NULL);
        snprintf(command, sizeof(command), "XSETID {peal}:%s %" PRId64 "-0", streams[i], rev - 1);
        redis_server_tell(&redis_lab, command, NULL);
    }
    snprintf(command, sizeof(command), "HSET {peal}:meta rev %" PRId64, rev - 1);
    redis_server_tell(&redis_lab, command, NULL);
}

static void everything(int64_t rev)
{
    (void)rev;
    redis_server_tell(&redis_lab, "FLUSHALL", NULL);
}

/* A server that has another change in the revision that was seen last: what its clients knew is
 * gone. All of them, also those that come later, have another cluster id from then on. */
static void lost_changes_are_noticed(void **state)
{
    static void (*const losses[])(int64_t rev) = {another_change_in_the_revision,
                                                  an_earlier_revision, everything};
    (void)state;
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        struct seen told;
        struct kv_client *client = open_client(loop);
        struct answer before = put(client, "lost/1");
        struct kv_watch *own = watch(client, "lost", 0, &told);
        wait_for(told.cluster_id == before.cluster_id);
        put(client, "lost/2");
        end_connections();
        assert_int_equal(put(client, "lost/3").cluster_id, before.cluster_id); /* nothing is lost */
        struct kv_mark mark = kv_client_mark(client);
        assert_true(mark.revision > 0);
        losses[i](mark.revision);
        end_connections();
        struct answer after = {.cluster_id = before.cluster_id};
        wait_for((after = put(client, "lost/4")).cluster_id != before.cluster_id);
        wait_for(told.cluster_id == after.cluster_id);
        struct kv_client *other = open_client(loop);
        assert_true(put(other, "lost/5").cluster_id == after.cluster_id);
        kv_client_free(other);
        /* who has been away since then is told by the id, too */
        other = open_client(loop);
        kv_client_recall(other, &mark);
        assert_true(put(other, "lost/6").cluster_id == after.cluster_id);
        kv_client_free(other);
        kv_watch_free(own);
        kv_client_free(client);
    }
}

/* Nothing is answered from what is left, and all goes on with what was there, or anew. */
static void a_part_that_is_gone_is_noticed(void **state)
{
    static const char *const parts[] = {"keys", "order", "feed", "tags"};
    struct answer answer;
    char command[64];
    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct kv_client *client = redis_lab_client(loop, &redis_lab, "/?prefix=torn", 3000);
        struct answer before = put(client, "torn/1");
        snprintf(command, sizeof(command), "RENAME {torn}:%s {torn}:aside", parts[i]);
        redis_server_tell(&redis_lab, command, NULL);
        begin_put(client, "torn/2", &answer);
        wait_for(answer.is_done);
        assert_int_not_equal(answer.status, OK);
        assert_non_null(strstr(answer.message, "a part of peal's data is gone"));
        snprintf(command, sizeof(command), "RENAME {torn}:aside {torn}:%s", parts[i]);
        redis_server_tell(&redis_lab, command, NULL);
        struct answer after = put(client, "torn/3");
        assert_true(after.cluster_id == before.cluster_id);
        redis_server_tell(&redis_lab, "DEL {torn}:meta", NULL);
        wait_for((after = put(client, "torn/4")).cluster_id != before.cluster_id);
        kv_client_free(client);
    }
}

static void a_newer_format_is_left_alone(void **state)
{
    struct answer answer;
    (void)state;
    struct kv_client *client = redis_lab_client(loop, &redis_lab, "/?prefix=newer", PATIENT_MS);
    put(client, "a");
    kv_client_free(client);
    redis_server_tell(&redis_lab, "HSET {newer}:meta format 3 least 2", NULL);
    client = redis_lab_client(loop, &redis_lab, "/?prefix=newer", PATIENT_MS);
    begin_put(client, "b", &answer);
    wait_for(answer.is_done);
    assert_int_equal(answer.status, E_VERSION);
    assert_non_null(strstr(answer.message, "of a newer peal (format 3; this one knows 1)"));
    kv_client_free(client);
}

/* ---- the feed ---- */

/* Readings of the feed end without a change, one after the other. */
static void silence_is_no_failure(void **state)
{
    struct seen seen;
    (void)state;
    struct kv_client *client = redis_lab_client(loop, &redis_lab, "/?prefix=silent", PATIENT_MS);
    put(client, "s/1");
    struct kv_watch *own = watch(client, "s/", 0, &seen);
    wait_for(seen.cluster_id);
    int64_t until_ms = clock_now().boot.ms + 3500;
    while (clock_now().boot.ms < until_ms)
        turn();
    put(client, "s/2");
    wait_for(seen.events == 1);
    assert_int_equal(seen.broken, 0);
    kv_watch_free(own);
    kv_client_free(client);
}

static void old_changes_are_removed(void **state)
{
    enum { COUNT = 6000, AT_ONCE = 500 };
    static struct answer answers[AT_ONCE];
    struct seen seen, late;
    char length[256];
    (void)state;
    struct kv_client *client = redis_lab_client(loop, &redis_lab, "/?prefix=old", PATIENT_MS);
    put(client, "o/first");
    struct kv_watch *own = watch(client, "o/", 0, &seen);
    wait_for(seen.cluster_id);
    redis_server_tell(&redis_lab, "HSET {old}:meta bytes 600000000", NULL);
    for (int i = 0; i < COUNT; i += AT_ONCE) {
        for (int k = 0; k < AT_ONCE; k++)
            begin_put(client, "o/x", &answers[k]);
        for (int k = 0; k < AT_ONCE; k++)
            wait_for(answers[k].is_done && answers[k].status == OK);
        wait_for(seen.events == i + AT_ONCE); /* who is far behind would be ended */
    }
    do {
        redis_server_tell(&redis_lab, "XLEN {old}:feed", length);
        put(client, "o/y");
    } while (atoi(length) > 3000);
    assert_true(atoi(length) >= 999);
    struct kv_watch *past = watch(client, "o/", 2, &late);
    wait_for(late.compacted == 1);
    kv_watch_free(past);
    kv_watch_free(own);
    kv_client_free(client);
}

/* ---- replicas ---- */

static int64_t told_number(const char *command, const char *before)
{
    char text[256];
    redis_server_tell(&redis_lab, command, text);
    const char *at = strstr(text, before);
    return at ? strtoll(at + strlen(before), NULL, 10) : -1;
}

/* What a replica lacks is neither answered nor told; and who follows waits for it at the same time
 * as who has written, not after that. */
static void a_change_counts_when_the_replicas_have_it(void **state)
{
    struct redis_server replica = {.port = 0};
    struct answer answer, look = {.is_done = false};
    struct seen seen;
    char command[64], link[256] = "";
    (void)state;
    redis_server_start(&replica);
    snprintf(command, sizeof(command), "REPLICAOF 127.0.0.1 %d", redis_lab.port);
    redis_server_tell(&replica, command, NULL);
    do
        redis_server_tell(&replica, "INFO replication", link);
    while (!strstr(link, "master_link_status:up"));
    struct kv_client *client = redis_lab_client(loop, &redis_lab, "/?replicas=1", PATIENT_MS);
    put(client, "both/1");
    struct kv_watch *own = watch(client, "both/", 0, &seen);
    wait_for(seen.cluster_id);
    int64_t rev = told_number("HGET {peal}:meta rev", "");
    redis_server_pause(&replica);
    begin_put(client, "both/2", &answer);
    wait_for(told_number("HGET {peal}:meta rev", "") > rev);
    wait_for(told_number("INFO clients", "blocked_clients:") == 2); /* each in a WAIT */
    const struct kv_reply reply = {.done = on_answer, .context = &look};
    const struct kv_range range = {.key = kv_text("both/2")};
    assert_int_equal(kv_range(client, &range, &reply, NULL), OK);
    int64_t until_ms = clock_now().boot.ms + 2500; /* more than one WAIT */
    while (clock_now().boot.ms < until_ms)
        turn();
    assert_false(answer.is_done || look.is_done);
    assert_int_equal(seen.events, 0);
    redis_server_resume(&replica);
    wait_for(answer.is_done && look.is_done && seen.events == 1);
    assert_int_equal(answer.status, OK);
    assert_int_equal(look.version, 1); /* once, though it was sent more often */
    assert_int_equal(seen.revision, answer.revision);
    kv_watch_free(own);
    kv_client_free(client);
    redis_server_remove(&replica);
}

/* ---- servers that won't do ---- */

static void weaker_settings_are_refused(void **state)
{
    static const struct {
        int line;
        const char *set, *back, *want;
    } cases[] = {
        {__LINE__, "CONFIG SET appendfsync everysec", "CONFIG SET appendfsync always",
         "appendfsync always"},
        {__LINE__, "CONFIG SET appendonly no", "CONFIG SET appendonly yes",
         "keeps no append-only file"},
        {__LINE__, "CONFIG SET maxmemory-policy allkeys-lru",
         "CONFIG SET maxmemory-policy noeviction", "maxmemory-policy noeviction"},
    };
    struct kv_client *client;
    struct answer answer;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        redis_server_tell(&redis_lab, cases[i].set, NULL);
        client = open_client(loop);
        begin_put(client, "refused", &answer);
        wait_for(answer.is_done);
        if (answer.status != E_INVALID || !strstr(answer.message, cases[i].want) ||
            !strstr(answer.message, "--accept-loss"))
            fail_msg("line %d: %s: %s", cases[i].line, status_text(answer.status), answer.message);
        kv_client_free(client);
        client = redis_lab_client(loop, &redis_lab, "/?accept-loss=yes", PATIENT_MS);
        put(client, "accepted");
        kv_client_free(client);
        redis_server_tell(&redis_lab, cases[i].back, NULL);
    }
}

static void a_full_memory_refuses_what_grows(void **state)
{
    struct answer answer;
    (void)state;
    struct kv_client *client = open_client(loop);
    put(client, "full");
    redis_server_tell(&redis_lab, "CONFIG SET maxmemory 1", NULL);
    begin_put(client, "full", &answer);
    wait_for(answer.is_done);
    assert_int_equal(answer.status, E_BUSY);
    assert_non_null(strstr(answer.message, "raise maxmemory"));
    assert_int_equal(version_of(client, "full"), 1); /* reading goes on, and so does removing */
    const struct kv_reply reply = {.done = on_answer, .context = &answer};
    const struct kv_delete gone = {.key = kv_text("full")};
    answer.is_done = false;
    assert_int_equal(kv_delete(client, &gone, &reply, NULL), OK);
    wait_for(answer.is_done);
    assert_int_equal(answer.status, OK);
    redis_server_tell(&redis_lab, "CONFIG SET maxmemory 0", NULL);
    put(client, "full");
    kv_client_free(client);
}

/* ---- ways to it ---- */

static void by_socket_user_and_password(void **state)
{
    struct redis_server locked = {.options = {"--user", "default", "off", "--user", "peal", "on",
                                              ">secret", "~{peal}:*", "+@all"}};
    static const struct {
        int line;
        const char *user, *password, *want;
    } cases[] = {
        {__LINE__, "peal", "secret", NULL},
        {__LINE__, "peal", "wrong", "check the user"},
        {__LINE__, NULL, NULL, "give its password"},
    };
    char url[256];
    (void)state;
    redis_server_start(&locked);
    snprintf(url, sizeof(url), "redis+unix://%s", locked.socket);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct kv_server config = {.url = url,
                                         .user = cases[i].user,
                                         .password = cases[i].password,
                                         .deadline_ms = PATIENT_MS};
        struct kv_client *client;
        struct answer answer;
        assert_int_equal(redis_client_new(loop, &config, &client, NULL), OK);
        begin_put(client, "a", &answer);
        wait_for(answer.is_done);
        if (cases[i].want ? answer.status != E_INVALID || !strstr(answer.message, cases[i].want)
                          : answer.status != OK)
            fail_msg("line %d: %s: %s", cases[i].line, status_text(answer.status), answer.message);
        kv_client_free(client);
    }
    redis_server_remove(&locked);
}

int main(void)
{
    static const struct kv_backend backend = {"keys in Redis", open_client, kill_server, restart};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_are_done_once),
        cmocka_unit_test(scripts_that_are_gone_are_loaded_again),
        cmocka_unit_test(lost_changes_are_noticed),
        cmocka_unit_test(a_part_that_is_gone_is_noticed),
        cmocka_unit_test(a_newer_format_is_left_alone),
        cmocka_unit_test(silence_is_no_failure),
        cmocka_unit_test(old_changes_are_removed),
        cmocka_unit_test(a_change_counts_when_the_replicas_have_it),
        cmocka_unit_test(weaker_settings_are_refused),
        cmocka_unit_test(a_full_memory_refuses_what_grows),
        cmocka_unit_test(by_socket_user_and_password),
    };
    redis_lab_start();
    int failed = kv_contract_run(&backend);
    if (loop_new(&loop) != OK || loop_timer_new(loop, on_tick, NULL, &tick) != OK)
        abort();
    failed += cmocka_run_group_tests_name("Redis alone", tests, NULL, NULL);
    loop_timer_free(tick);
    loop_free(loop);
    redis_lab_stop();
    return failed;
}
