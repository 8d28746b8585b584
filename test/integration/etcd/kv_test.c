/* Every call with one answer, against a real server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "etcd_admin.h"
#include "harness.h"

static void put_get_delete(void **state)
{
    struct harness *h = *state;
    struct answer put = harness_put(h, "a", "1");
    check_ok(put);
    assert_true(put.revision > 0);
    struct answer get = harness_get(h, "a");
    check_ok(get);
    assert_int_equal(get.kv_count, 1);
    assert_string_equal(get.value, "1");
    assert_int_equal(get.create_revision, put.revision);
    struct answer again =
        harness_put_any(h, &(struct kv_put){kv_text("a"), kv_text("2"), 0, .want_previous = true});
    assert_string_equal(again.value, "1");

    struct answer gone;
    struct kv_reply reply = answer_reply(&gone);
    assert_int_equal(kv_delete(h->client,
                               &(struct kv_delete){.key = kv_text("a"), .want_previous = true},
                               &reply, NULL),
                     OK);
    harness_wait(h, gone.is_done);
    check_ok(gone);
    assert_int_equal(gone.count, 1);
    assert_string_equal(gone.value, "2");
    get = harness_get(h, "a");
    check_ok(get);
    assert_int_equal(get.kv_count, 0);
    get = harness_range(h, &(struct kv_range){.key = kv_text("a"), .revision = put.revision});
    assert_string_equal(get.value, "1"); /* as it was */
}

static void binary_and_empty_values(void **state)
{
    struct harness *h = *state;
    const struct kv_bytes key = {"k\0\xff", 3};
    struct answer put = harness_put_any(h, &(struct kv_put){key, {"", 0}, 0, false});
    check_ok(put);
    struct answer get = harness_range(h, &(struct kv_range){.key = key});
    assert_int_equal(get.kv_count, 1);
    assert_memory_equal(get.key, "k\0\xff", 3);
    assert_string_equal(get.value, "");
    /* a prefix that ends with the last byte there is */
    get = harness_range(h, &(struct kv_range){.key = {"k\0\xff", 3}, .prefix = true});
    assert_int_equal(get.kv_count, 1);
    /* no key at all is refused by the server, with its own words */
    put = harness_put(h, "", "x");
    harness_check(&put, E_INVALID, __LINE__);
    assert_non_null(strstr(put.message, "key is not provided"));
    assert_int_equal(put.code, 3);
}

struct listing {
    struct answer answer;
    int pages, keys;
    char last[64];
    bool is_sorted, is_over;
};

static void on_page(void *context, const struct kv_result *result)
{
    struct listing *listing = context;
    assert_false(listing->is_over);
    assert_int_equal(result->status, OK);
    listing->pages++;
    for (size_t i = 0; i < result->op.kv_count; i++) {
        char key[64];
        snprintf(key, sizeof(key), "%.*s", (int)result->op.kvs[i].key.length,
                 (const char *)result->op.kvs[i].key.data);
        listing->is_sorted = listing->is_sorted && strcmp(listing->last, key) < 0;
        memcpy(listing->last, key, sizeof(key));
        listing->keys++;
    }
    listing->is_over = !result->op.more;
}

static void ten_thousand_keys_in_pages(void **state)
{
    struct harness *h = *state;
    struct listing listing = {.is_sorted = true};
    harness_fill(h, "many/", 0, 10000, 20);
    struct kv_range range = {.key = kv_text("many/"), .prefix = true, .limit = 999};
    struct kv_reply reply = {on_page, &listing, 0};
    assert_int_equal(kv_list(h->client, &range, &reply, NULL), OK);
    /* what comes after the first page was asked for is not in it */
    harness_wait(h, listing.pages > 0);
    harness_fill(h, "many/late", 0, 5, 20);
    harness_wait(h, listing.is_over);
    assert_int_equal(listing.keys, 10000);
    assert_int_equal(listing.pages, 11);
    assert_true(listing.is_sorted);

    struct answer count = harness_range(
        h, &(struct kv_range){.key = kv_text("many/"), .prefix = true, .count_only = true});
    assert_int_equal(count.count, 10005);
    /* cancelled after the first page */
    struct kv_list *list;
    listing = (struct listing){.is_sorted = true};
    assert_int_equal(kv_list(h->client, &range, &reply, &list), OK);
    harness_wait(h, listing.pages == 1);
    kv_list_cancel(list);
    for (int i = 0; i < 10; i++) /* each takes longer than the next page would */
        harness_range(h, &range);
    assert_int_equal(listing.pages, 1);
}

static void on_size(void *context, const struct kv_result *result)
{
    size_t *total = context;
    assert_int_equal(result->status, OK);
    for (size_t i = 0; i < result->op.kv_count; i++)
        *total += result->op.kvs[i].value.length;
}

static void large_answers(void **state)
{
    struct harness *h = *state;
    size_t total = 0;
    harness_fill(h, "big/", 0, 20, 1000 * 1000);
    struct kv_range range = {.key = kv_text("big/"), .prefix = true};
    struct kv_reply reply = {on_size, &total, 0};
    assert_int_equal(kv_range(h->client, &range, &reply, NULL), OK);
    harness_wait(h, total > 0);
    assert_int_equal(total, 20 * 1000 * 1000);
    range.limit = 5; /* three at once share the connection's window */
    for (int round = 0; round < 10; round++) {
        total = 0;
        for (int i = 0; i < 3; i++)
            assert_int_equal(kv_range(h->client, &range, &reply, NULL), OK);
        harness_wait(h, total == 15 * 1000 * 1000);
    }
}

static void too_large_is_said_before_it_is_sent(void **state)
{
    struct harness *h = *state;
    char *value = calloc(1, 2 * 1024 * 1024);
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    struct kv_put put = {kv_text("x"), {value, 2 * 1024 * 1024}, 0, false};
    assert_int_equal(kv_put(h->client, &put, &reply, NULL), E_TOO_LARGE);
    put.value.length = 1024 * 1024;
    answer = harness_put_any(h, &put);
    check_ok(answer);
    free(value);
}

static void statuses_of_the_server(void **state)
{
    struct harness *h = *state;
    struct answer answer =
        harness_put_any(h, &(struct kv_put){kv_text("x"), kv_text(""), .lease = 12345, false});
    harness_check(&answer, E_NOT_FOUND, __LINE__);
    answer = harness_range(h, &(struct kv_range){.key = kv_text("x"), .revision = 1000000000});
    harness_check(&answer, E_NOT_FOUND, __LINE__);
    assert_int_equal(answer.code, 11);
}

static void compact_and_status(void **state)
{
    struct harness *h = *state;
    struct answer before = harness_put(h, "c", "1"), answer;
    struct answer after = harness_put(h, "c", "2");
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(etcd_compact(h->client, after.revision, true, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    answer = harness_range(h, &(struct kv_range){.key = kv_text("c"), .revision = before.revision});
    harness_check(&answer, E_NOT_FOUND, __LINE__);
    assert_int_equal(answer.code, 11);
    assert_non_null(strstr(answer.message, "compacted"));

    reply = answer_reply(&answer);
    assert_int_equal(etcd_status(h->client, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    assert_true(answer.server_version[0] == '3');
    assert_true(answer.leader_id != 0 && answer.leader_id == answer.member_id);
    assert_true(answer.db_bytes > 0);

    reply = answer_reply(&answer);
    assert_int_equal(etcd_alarms(h->client, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    assert_int_equal(answer.alarms, 0);

    reply = answer_reply(&answer);
    assert_int_equal(etcd_defragment(h->client, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
}

static void cancelled_calls_stay_silent(void **state)
{
    struct harness *h = *state;
    struct answer answers[50];
    struct kv_call *calls[50];
    for (int i = 0; i < 50; i++) {
        struct kv_reply reply = answer_reply(&answers[i]);
        struct kv_range range = {.key = kv_text("many/"), .prefix = true, .limit = 100};
        assert_int_equal(kv_range(h->client, &range, &reply, &calls[i]), OK);
        if (i % 3 == 0) /* before it was sent */
            kv_call_cancel(calls[i]);
    }
    harness_run_for(h, 1);
    for (int i = 0; i < 50; i++)
        if (i % 3 == 1 && !answers[i].is_done)
            kv_call_cancel(calls[i]);
    for (int i = 2; i < 50; i += 3)
        harness_wait(h, answers[i].is_done);
    struct answer get = harness_get(h, "a"); /* answered after what was asked before */
    check_ok(get);
    for (int i = 0; i < 50; i += 3)
        assert_false(answers[i].is_done);
}

static void hosts_are_looked_up(void **state)
{
    struct harness *h = *state;
    char endpoint[64];
    snprintf(endpoint, sizeof(endpoint), "localhost:%d", h->cluster.members[0].client_port);
    struct etcd_client_config config = {
        .endpoints = (const char *[]){endpoint}, .endpoint_count = 1, .deadline_ms = 10000};
    struct kv_client *kept = h->client;
    assert_int_equal(etcd_client_new(h->loop, &config, &h->client, &h->error), OK);
    struct answer get = harness_get(h, "a");
    check_ok(get);
    kv_client_free(h->client);
    h->client = kept;
}

static void a_full_quota_and_its_end(void **state)
{
    (void)state;
    static const char *const arguments[] = {"--quota-backend-bytes", "4000000", NULL};
    struct harness *h = harness_new(1, arguments);
    struct answer answer = {0};
    char *value = calloc(1, 500000);
    struct kv_put put = {kv_text("fill"), {value, 500000}, 0, false};
    for (int i = 0; i < 40 && answer.status == OK; i++)
        answer = harness_put_any(h, &put);
    harness_check(&answer, E_BUSY, __LINE__);
    assert_int_equal(answer.code, 8);
    assert_non_null(strstr(answer.message, "space"));
    answer = harness_get(h, "fill"); /* reads go on */
    check_ok(answer);

    struct answer now = answer;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(etcd_compact(h->client, now.revision, true, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    reply = answer_reply(&answer);
    reply.deadline_ms = 15000;
    assert_int_equal(etcd_defragment(h->client, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    reply = answer_reply(&answer);
    assert_int_equal(etcd_alarms(h->client, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    assert_int_equal(answer.alarms, 1);
    uint64_t member_id = answer.alarm_member_id;
    reply = answer_reply(&answer);
    assert_int_equal(etcd_disarm(h->client, member_id, ETCD_ALARM_NOSPACE, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    answer = harness_put(h, "after", "1");
    check_ok(answer);
    free(value);
    harness_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_get_delete),
        cmocka_unit_test(binary_and_empty_values),
        cmocka_unit_test(ten_thousand_keys_in_pages),
        cmocka_unit_test(large_answers),
        cmocka_unit_test(too_large_is_said_before_it_is_sent),
        cmocka_unit_test(statuses_of_the_server),
        cmocka_unit_test(compact_and_status),
        cmocka_unit_test(cancelled_calls_stay_silent),
        cmocka_unit_test(hosts_are_looked_up),
        cmocka_unit_test(a_full_quota_and_its_end),
    };
    harness_require();
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
