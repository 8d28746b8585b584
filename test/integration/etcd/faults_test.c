/* Servers that are dead, stopped, or without a leader: what is told, and how soon. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "machine.h"

static struct kv_client *client_of(struct harness *h, const char *const *endpoints, size_t count)
{
    struct kv_client *client;
    struct etcd_client_config config = {.endpoints = endpoints, .endpoint_count = count};
    assert_int_equal(etcd_client_new(h->loop, &config, &client, &h->error), OK);
    return client;
}

/* One with a deadline that a busy machine doesn't pass. */
static struct kv_client *patient_client_of(struct harness *h, const char *const *endpoints,
                                           size_t count)
{
    struct kv_client *client;
    struct etcd_client_config config = {
        .endpoints = endpoints, .endpoint_count = count, .deadline_ms = HARNESS_DEADLINE_MS};
    assert_int_equal(etcd_client_new(h->loop, &config, &client, &h->error), OK);
    return client;
}

static void use_client(struct harness *h, struct kv_client *client)
{
    kv_client_free(h->client);
    h->client = client;
}

static const struct {
    int line;
    const char *endpoint;
    const char *want; /* NULL: taken */
} endpoint_rows[] = {
    {__LINE__, "127.0.0.1:2379", NULL},
    {__LINE__, "http://127.0.0.1:2379", NULL},
    {__LINE__, "http://127.0.0.1:2379/", NULL},
    {__LINE__, "http://[::1]:2379", NULL},
    {__LINE__, "etcd.example:2379", NULL},
    {__LINE__, "127.0.0.1", "\"127.0.0.1\""},
    {__LINE__, "", "\"\""},
    {__LINE__, ":2379", "\":2379\""},
    {__LINE__, "::1:2379", "\"::1:2379\""},
    {__LINE__, "http://host:0", "http://host:0"},
    {__LINE__, "http://host:65536", "65536"},
    {__LINE__, "http://host:12x", "12x"},
    {__LINE__, "ftp://host:12", "ftp://host:12"},
};

static void endpoints_are_checked(void **state)
{
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(endpoint_rows); i++) {
        struct kv_client *client = NULL;
        struct etcd_client_config config = {.endpoints = &endpoint_rows[i].endpoint,
                                            .endpoint_count = 1};
        struct parse_error error = {0};
        enum status st = etcd_client_new(h->loop, &config, &client, &error);
        bool taken = endpoint_rows[i].want == NULL;
        if ((st == OK) != taken || (!taken && !strstr(error.message, endpoint_rows[i].want)))
            fail_msg("line %d: %s: %s", endpoint_rows[i].line, status_text(st), error.message);
        kv_client_free(client);
    }
}

static void all_dead_is_said_at_the_deadline_with_reasons(void **state)
{
    struct harness *h = *state;
    char first[64], second[64];
    snprintf(first, sizeof(first), "http://127.0.0.1:%d", free_port());
    snprintf(second, sizeof(second), "http://127.0.0.1:%d", free_port());
    use_client(h, client_of(h, (const char *[]){first, second}, 2));
    int64_t since = now_ms();
    struct answer answer = harness_put(h, "x", "1");
    harness_check(&answer, E_UNREACHABLE, __LINE__);
    assert_true(now_ms() - since >= 1000); /* it went on trying */
    assert_non_null(strstr(answer.message, first + 7));
    assert_non_null(strstr(answer.message, second + 7));
    assert_non_null(strstr(answer.message, "Connection refused"));
    assert_int_equal(answer.code, -1);
    answer = harness_get(h, "x");
    harness_check(&answer, E_UNREACHABLE, __LINE__);
}

static void a_host_that_is_not_there(void **state)
{
    struct harness *h = *state;
    use_client(h, client_of(h, (const char *[]){"http://no-such-host.invalid:2379"}, 1));
    struct answer answer = harness_get(h, "x");
    harness_check(&answer, E_UNREACHABLE, __LINE__);
    assert_non_null(strstr(answer.message, "no-such-host.invalid:2379"));
}

static void never_told(void *context, const struct kv_result *result)
{
    (void)context;
    (void)result;
}

/* Nothing of the lookup is left behind. */
static void it_ends_while_a_host_is_looked_up(void **state)
{
    struct harness *h = *state;
    use_client(h, client_of(h, (const char *[]){"http://no-such-host.invalid:2379"}, 1));
    struct kv_range get = {.key = kv_text("x")};
    struct kv_reply reply = {never_told, NULL, 0};
    assert_int_equal(kv_range(h->client, &get, &reply, NULL), OK);
    loop_run_once(h->loop);
    h->client = kv_client_free(h->client);
}

static void the_first_is_dead(void **state)
{
    struct harness *h = *state;
    char dead[64];
    snprintf(dead, sizeof(dead), "http://127.0.0.1:%d", free_port());
    use_client(h, patient_client_of(h, (const char *[]){dead, h->cluster.endpoints[0]}, 2));
    int64_t since = now_ms();
    struct answer answer = harness_put(h, "x", "1");
    check_ok(answer);
    assert_true(now_ms() - since < HARNESS_DEADLINE_MS / 2); /* refused: it need not wait */
}

static void the_preferred_one_comes_back(void **state)
{
    (void)state;
    struct harness *h = harness_new(3, NULL);
    struct answer status;
    struct kv_reply reply = answer_reply(&status);
    assert_int_equal(etcd_status(h->client, &reply, NULL), OK);
    harness_wait(h, status.is_done);
    uint64_t preferred = status.member_id;
    etcd_member_kill(&h->cluster, 0);
    struct answer answer = harness_get(h, "x"); /* through another one */
    check_ok(answer);
    assert_true(answer.member_id != preferred);
    etcd_member_restart(&h->cluster, 0, true);
    harness_begin_wait(h);
    for (;;) { /* without a failed call on the way */
        answer = harness_put(h, "x", "1");
        check_ok(answer);
        if (answer.member_id == preferred)
            break;
        harness_turn(h, "the preferred member", __FILE__, __LINE__);
    }
    harness_free(h);
}

/* Sent, and then nothing: a write may have been done, and is never sent again by itself. */
static void a_stopped_server(void **state)
{
    struct harness *h = *state;
    use_client(h, client_of(h, h->cluster.endpoints, 1));
    struct answer before = harness_put(h, "stop", "1");
    check_ok(before);
    etcd_member_signal(&h->cluster, 0, SIGSTOP);
    struct answer answer = harness_put(h, "stop", "2"); /* ends at its deadline */
    harness_check(&answer, E_UNKNOWN, __LINE__);
    answer = harness_get(h, "stop"); /* a read has no outcome to be unknown of */
    assert_true(answer.status == E_UNKNOWN || answer.status == E_UNREACHABLE);
    etcd_member_signal(&h->cluster, 0, SIGCONT);
    harness_begin_wait(h);
    do {
        answer = harness_get(h, "stop");
        harness_turn(h, "the server", __FILE__, __LINE__);
    } while (answer.status != OK);
    assert_true(answer.version - before.version <= 2); /* once at most */
}

/* A stopped member among three: reads go to another one before their deadline. */
static void reads_go_elsewhere(void **state)
{
    (void)state;
    struct harness *h = harness_new(3, NULL);
    use_client(h, patient_client_of(h, h->cluster.endpoints, 3));
    struct answer answer = harness_put(h, "x", "1");
    check_ok(answer);
    /* not the leader, so that the others have a quorum and a leader all the time */
    struct answer status;
    struct kv_reply reply = answer_reply(&status);
    assert_int_equal(etcd_status(h->client, &reply, NULL), OK);
    harness_wait(h, status.is_done);
    if (status.member_id == status.leader_id) {
        struct kv_client *client = harness_client(h, 1);
        kv_client_free(client);
        const char *others[] = {h->cluster.endpoints[1], h->cluster.endpoints[2]};
        use_client(h, patient_client_of(h, others, 2));
        check_ok(((struct answer[]){harness_get(h, "x")})[0]);
        etcd_member_signal(&h->cluster, 1, SIGSTOP);
    } else {
        etcd_member_signal(&h->cluster, 0, SIGSTOP);
    }
    answer = harness_get(h, "x"); /* E_UNKNOWN, if it waited for its deadline */
    check_ok(answer);
    answer = harness_put(h, "x", "2"); /* the connection is another one by now */
    check_ok(answer);
    for (int i = 0; i < 3; i++)
        etcd_member_signal(&h->cluster, i, SIGCONT);
    harness_free(h);
}

static void without_a_quorum(void **state)
{
    (void)state;
    struct harness *h = harness_new(3, NULL);
    use_client(h, client_of(h, h->cluster.endpoints, 3));
    check_ok(((struct answer[]){harness_put(h, "x", "1")})[0]);
    etcd_member_kill(&h->cluster, 1);
    etcd_member_kill(&h->cluster, 2);
    struct answer answer;
    harness_begin_wait(h);
    do { /* until the last one knows that it is alone, and refuses, again and again */
        answer = harness_put(h, "x", "2");
        assert_true(answer.status == E_UNREACHABLE || answer.status == E_UNKNOWN);
        harness_turn(h, "a refusal", __FILE__, __LINE__);
    } while (answer.status != E_UNREACHABLE || !strstr(answer.message, "no leader"));
    struct answer status; /* but it tells about itself */
    struct kv_reply reply = answer_reply(&status);
    assert_int_equal(etcd_status(h->client, &reply, NULL), OK);
    harness_wait(h, status.is_done);
    etcd_member_restart(&h->cluster, 1, false);
    harness_begin_wait(h);
    do {
        answer = harness_put(h, "x", "4");
        harness_turn(h, "a quorum", __FILE__, __LINE__);
    } while (answer.status != OK);
    harness_free(h);
}

/* Killed with many writes under way: each is told once, and those told as not done were not. */
static void killed_under_load(void **state)
{
    enum { COUNT = 400 };
    struct harness *h = *state;
    use_client(h, client_of(h, h->cluster.endpoints, 1));
    check_ok(((struct answer[]){harness_put(h, "load", "0")})[0]);
    static struct answer answers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char key[32];
        snprintf(key, sizeof(key), "load/%03d", i);
        struct kv_reply reply = answer_reply(&answers[i]);
        reply.deadline_ms = 3000;
        assert_int_equal(
            kv_put(h->client, &(struct kv_put){kv_text(key), kv_text("1"), 0, false}, &reply, NULL),
            OK);
    }
    harness_wait(h, answers[20].is_done);
    etcd_member_kill(&h->cluster, 0);
    for (int i = 0; i < COUNT; i++)
        harness_wait(h, answers[i].is_done);
    etcd_member_restart(&h->cluster, 0, true);
    int unknown = 0;
    for (int i = 0; i < COUNT; i++) {
        char key[32];
        snprintf(key, sizeof(key), "load/%03d", i);
        struct answer get = harness_get(h, key);
        check_ok(get);
        unknown += answers[i].status == E_UNKNOWN;
        assert_true(answers[i].status == OK || answers[i].status == E_UNKNOWN ||
                    answers[i].status == E_UNREACHABLE);
        if (answers[i].status == OK)
            assert_int_equal(get.version, 1);
        if (answers[i].status == E_UNREACHABLE)
            assert_int_equal(get.kv_count, 0);
    }
    print_message("%d of %d unknown\n", unknown, COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_are_checked),
        cmocka_unit_test(all_dead_is_said_at_the_deadline_with_reasons),
        cmocka_unit_test(a_host_that_is_not_there),
        cmocka_unit_test(it_ends_while_a_host_is_looked_up),
        cmocka_unit_test(the_first_is_dead),
        cmocka_unit_test(a_stopped_server),
        cmocka_unit_test(killed_under_load),
        cmocka_unit_test(the_preferred_one_comes_back),
        cmocka_unit_test(reads_go_elsewhere),
        cmocka_unit_test(without_a_quorum),
    };
    harness_require();
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
