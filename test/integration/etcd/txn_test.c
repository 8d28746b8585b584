/* Transactions as the store sends them: nested batches, compares of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"

static struct answer send_txn(struct harness *h, struct kv_txn *txn)
{
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(kv_txn_send(h->client, txn, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    return answer;
}

enum side {
    VERSION,
    CHANGED,
    LEASE,
};

/* The key "t" has version 2 and no lease; "no" is not there. */
static const struct {
    int line;
    const char *key;
    enum side side;
    enum kv_relation relation;
    int64_t number;
    bool want;
} compares[] = {
    {__LINE__, "t", VERSION, KV_EQUAL, 2, true},
    {__LINE__, "t", VERSION, KV_NOT_EQUAL, 2, false},
    {__LINE__, "t", VERSION, KV_GREATER, 1, true},
    {__LINE__, "t", VERSION, KV_LESS, 2, false},
    {__LINE__, "no", VERSION, KV_EQUAL, 0, true},
    {__LINE__, "no", CHANGED, KV_EQUAL, 0, true},
    {__LINE__, "t", CHANGED, KV_GREATER, 1000000, false},
    {__LINE__, "t", LEASE, KV_EQUAL, 0, true},
};

static void add_compare(struct kv_txn *txn, size_t row)
{
    struct kv_bytes key = kv_text(compares[row].key);
    switch (compares[row].side) {
    case VERSION:
        kv_txn_if_version(txn, key, compares[row].relation, compares[row].number);
        break;
    case CHANGED:
        kv_txn_if_mod_revision(txn, key, compares[row].relation, compares[row].number);
        break;
    case LEASE:
        kv_txn_if_lease(txn, key, compares[row].relation, compares[row].number);
        break;
    }
}

static void every_compare(void **state)
{
    struct harness *h = *state;
    struct kv_txn *txn;
    harness_put(h, "t", "a");
    harness_put(h, "t", "bb");
    assert_int_equal(kv_txn_new(&txn), OK);
    for (size_t i = 0; i < ROWS(compares); i++) {
        kv_txn_reset(txn);
        add_compare(txn, i);
        struct answer answer = send_txn(h, txn);
        if (answer.status != OK || answer.succeeded != compares[i].want)
            fail_msg("line %d: %s, %d", compares[i].line, status_text(answer.status),
                     answer.succeeded);
    }
    kv_txn_free(txn);
}

struct seen_ops {
    bool is_done;
    struct kv_op_result ops[4];
    size_t count;
    char value[32];
};

static void on_ops(void *context, const struct kv_result *result)
{
    struct seen_ops *seen = context;
    assert_int_equal(result->status, OK);
    seen->is_done = true;
    seen->count = result->op.txn.op_count;
    for (size_t i = 0; i < seen->count && i < 4; i++)
        seen->ops[i] = result->op.txn.ops[i];
    if (seen->count && seen->ops[0].kv_count)
        snprintf(seen->value, sizeof(seen->value), "%.*s", (int)seen->ops[0].kvs[0].value.length,
                 (const char *)seen->ops[0].kvs[0].value.data);
}

static void every_operation_in_both_branches(void **state)
{
    struct harness *h = *state;
    struct kv_txn *txn;
    harness_put(h, "o/1", "one");
    assert_int_equal(kv_txn_new(&txn), OK);
    for (int round = 0; round < 2; round++) {
        struct seen_ops seen = {0};
        kv_txn_reset(txn);
        kv_txn_if_version(txn, kv_text("o/1"), round ? KV_LESS : KV_GREATER, 0);
        if (round)
            kv_txn_else(txn);
        kv_txn_range(txn, &(struct kv_range){.key = kv_text("o/"), .prefix = true});
        kv_txn_put(txn, &(struct kv_put){kv_text("o/2"), kv_text("two"), 0, true});
        kv_txn_delete(txn, &(struct kv_delete){.key = kv_text("o/3")});
        assert_int_equal(kv_txn_send(h->client, txn, &(struct kv_reply){on_ops, &seen, 0}, NULL),
                         OK);
        harness_wait(h, seen.is_done);
        assert_int_equal(seen.count, 3);
        assert_int_equal(seen.ops[0].kind, KV_OP_RANGE);
        assert_int_equal(seen.ops[0].count, 1 + round);
        assert_string_equal(seen.value, "one");
        assert_int_equal(seen.ops[1].kind, KV_OP_PUT);
        assert_int_equal(seen.ops[1].kv_count, round); /* the previous one */
        assert_int_equal(seen.ops[2].kind, KV_OP_DELETE);
    }
    kv_txn_free(txn);
}

/* `count` claims: if the cursor is as it was, move it and write a run. */
static void add_claims(struct kv_txn *txn, int first, int count, int64_t version)
{
    for (int i = first; i < first + count; i++) {
        char cursor[32], run[48];
        snprintf(cursor, sizeof(cursor), "cursors/%05d", i);
        snprintf(run, sizeof(run), "runs/%05d/%lld", i, (long long)version);
        kv_txn_begin(txn);
        kv_txn_if_version(txn, kv_text(cursor), KV_EQUAL, version);
        kv_txn_put(txn, &(struct kv_put){kv_text(cursor), kv_text("tick"), 0, false});
        kv_txn_put(txn, &(struct kv_put){kv_text(run), kv_text("claimed"), 0, false});
        kv_txn_else(txn);
        kv_txn_range(txn, &(struct kv_range){.key = kv_text(cursor)});
        kv_txn_end(txn);
    }
}

static void nested_batches(void **state)
{
    struct harness *h = *state;
    struct kv_txn *txn;
    assert_int_equal(kv_txn_new(&txn), OK);
    for (int batch = 0; batch < 20; batch++) {
        kv_txn_reset(txn);
        add_claims(txn, batch * 100, 100, 0);
        struct answer answer = send_txn(h, txn);
        check_ok(answer);
        assert_int_equal(answer.inner_count, 100);
        assert_int_equal(answer.inner_succeeded, 100);
    }
    /* half of these are stale: each is judged by itself */
    kv_txn_reset(txn);
    add_claims(txn, 0, 50, 0);
    add_claims(txn, 50, 50, 1);
    struct answer answer = send_txn(h, txn);
    check_ok(answer);
    assert_int_equal(answer.inner_succeeded, 50);
    /* the same key twice: the server refuses the whole batch */
    kv_txn_reset(txn);
    add_claims(txn, 1, 1, 5);
    add_claims(txn, 1, 1, 5);
    answer = send_txn(h, txn);
    harness_check(&answer, E_INVALID, __LINE__);
    assert_non_null(strstr(answer.message, "duplicate key"));
    /* more than the server takes */
    kv_txn_reset(txn);
    add_claims(txn, 0, 129, 5);
    answer = send_txn(h, txn);
    harness_check(&answer, E_INVALID, __LINE__);
    kv_txn_free(txn);
}

static void misuse_is_told_once_at_the_end(void **state)
{
    struct harness *h = *state;
    struct kv_txn *txn;
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(kv_txn_new(&txn), OK);
    kv_txn_begin(txn); /* never ended */
    assert_int_equal(kv_txn_send(h->client, txn, &reply, NULL), E_INVALID);
    kv_txn_reset(txn);
    kv_txn_end(txn); /* never begun */
    assert_int_equal(kv_txn_send(h->client, txn, &reply, NULL), E_INVALID);
    kv_txn_reset(txn);
    for (int i = 0; i < 10; i++) /* deeper than it makes sense */
        kv_txn_begin(txn);
    assert_int_equal(kv_txn_send(h->client, txn, &reply, NULL), E_INVALID);
    kv_txn_reset(txn);
    answer = send_txn(h, txn); /* empty: nothing to do is no error */
    check_ok(answer);
    kv_txn_free(txn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compare),
        cmocka_unit_test(every_operation_in_both_branches),
        cmocka_unit_test(nested_batches),
        cmocka_unit_test(misuse_is_told_once_at_the_end),
    };
    harness_require();
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
