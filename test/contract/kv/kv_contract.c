#include "kv_contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "clock.h"
#include "kv_election.h"
#include "kv_lease.h"
#include "kv_txn.h"
#include "kv_watch.h"

enum { HANG_MS = 60000 };

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct kv_backend *backend;
static struct loop *loop;
static struct loop_timer *tick;
static struct kv_client *client;

/* ---- asking and waiting ---- */

static int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

static void turn(void)
{
    loop_timer_set(tick, 50);
    loop_run_once(loop);
}

#define wait_for(condition)                                                                        \
    do {                                                                                           \
        int64_t hang_ms_ = now_ms() + HANG_MS;                                                     \
        while (!(condition)) {                                                                     \
            if (now_ms() > hang_ms_)                                                               \
                fail_msg("line %d: never came true: %s", __LINE__, #condition);                    \
            turn();                                                                                \
        }                                                                                          \
    } while (0)

struct seen_op {
    enum kv_op_kind kind;
    size_t kv_count;
    int64_t count, version, create_revision, mod_revision, lease;
    bool more;
    char key[64], value[64]; /* of the first */
    bool succeeded;          /* of an inner transaction */
};

struct answer {
    bool is_done, succeeded;
    enum status status;
    int64_t revision;
    uint64_t cluster_id;
    size_t op_count;
    struct seen_op ops[8]; /* [0] also of a request alone */
    struct kv_lease_result lease;
    char message[200];
};

static void copy(struct kv_bytes from, char *to, size_t size)
{
    size_t length = from.length < size - 1 ? from.length : size - 1;
    memcpy(to, from.data, length);
    to[length] = '\0';
}

static void see_op(const struct kv_op_result *op, struct seen_op *ret)
{
    *ret = (struct seen_op){.kind = op->kind,
                            .kv_count = op->kv_count,
                            .count = op->count,
                            .more = op->more,
                            .succeeded = op->txn.succeeded};
    if (!op->kv_count)
        return;
    copy(op->kvs[0].key, ret->key, sizeof(ret->key));
    copy(op->kvs[0].value, ret->value, sizeof(ret->value));
    ret->version = op->kvs[0].version;
    ret->create_revision = op->kvs[0].create_revision;
    ret->mod_revision = op->kvs[0].mod_revision;
    ret->lease = op->kvs[0].lease;
}

static void on_answer(void *context, const struct kv_result *result)
{
    struct answer *answer = context;
    const struct kv_txn_result *txn = &result->op.txn;
    assert_false(answer->is_done); /* exactly once */
    answer->is_done = true;
    answer->status = result->status;
    answer->revision = result->revision;
    answer->cluster_id = result->cluster_id;
    answer->lease = result->lease;
    snprintf(answer->message, sizeof(answer->message), "%s", result->message);
    if (result->op.kind != KV_OP_TXN) {
        see_op(&result->op, &answer->ops[0]);
        return;
    }
    answer->succeeded = txn->succeeded;
    answer->op_count = txn->op_count;
    for (size_t i = 0; i < txn->op_count && i < ROWS(answer->ops); i++)
        see_op(&txn->ops[i], &answer->ops[i]);
}

static struct kv_reply reply_to(struct answer *answer)
{
    *answer = (struct answer){0};
    return (struct kv_reply){.done = on_answer, .context = answer};
}

#define finish(answer, sent)                                                                       \
    do {                                                                                           \
        struct kv_reply reply = reply_to(&(answer));                                               \
        assert_int_equal((sent), OK);                                                              \
        wait_for((answer).is_done);                                                                \
    } while (0)

#define check_ok(answer)                                                                           \
    do {                                                                                           \
        if ((answer).status != OK)                                                                 \
            fail_msg("line %d: %s: %s", __LINE__, status_text((answer).status), (answer).message); \
    } while (0)

static struct answer put(const char *key, const char *value)
{
    struct answer answer;
    const struct kv_put request = {kv_text(key), kv_text(value), 0, false};
    finish(answer, kv_put(client, &request, &reply, NULL));
    return answer;
}

static struct answer range(const struct kv_range *request)
{
    struct answer answer;
    finish(answer, kv_range(client, request, &reply, NULL));
    return answer;
}

static struct answer get(const char *key)
{
    return range(&(struct kv_range){.key = kv_text(key)});
}

static struct answer send_txn(struct kv_txn *txn)
{
    struct answer answer;
    finish(answer, kv_txn_send(client, txn, &reply, NULL));
    return answer;
}

/* ---- keys ---- */

static void a_key_from_its_making_to_its_end(void **state)
{
    struct answer gone;
    (void)state;
    struct answer first = put("a", "1"), second = put("a", "2"), now = get("a");
    check_ok(first);
    assert_int_equal(second.revision, first.revision + 1);
    assert_int_equal(second.cluster_id, first.cluster_id);
    assert_true(first.cluster_id != 0);
    assert_string_equal(now.ops[0].value, "2");
    assert_int_equal(now.ops[0].version, 2);
    assert_int_equal(now.ops[0].create_revision, first.revision);
    assert_int_equal(now.ops[0].mod_revision, second.revision);
    const struct kv_put third = {kv_text("a"), kv_text("3"), 0, .want_previous = true};
    finish(now, kv_put(client, &third, &reply, NULL));
    assert_string_equal(now.ops[0].value, "2");
    const struct kv_delete end = {.key = kv_text("a"), .want_previous = true};
    finish(gone, kv_delete(client, &end, &reply, NULL));
    assert_int_equal(gone.ops[0].count, 1);
    assert_string_equal(gone.ops[0].value, "3");
    assert_int_equal(get("a").ops[0].kv_count, 0);
    finish(gone, kv_delete(client, &end, &reply, NULL)); /* nothing: no revision of its own */
    check_ok(gone);
    assert_int_equal(gone.ops[0].count, 0);
    assert_int_equal(gone.revision, get("a").revision);
    put("a", "4");
    assert_int_equal(get("a").ops[0].version, 1); /* another one */
}

static void any_bytes(void **state)
{
    const struct kv_bytes key = {"k\0\xff", 3};
    struct answer answer;
    (void)state;
    const struct kv_put empty = {key, {"", 0}, 0, false};
    finish(answer, kv_put(client, &empty, &reply, NULL));
    check_ok(answer);
    answer = range(&(struct kv_range){.key = key});
    assert_int_equal(answer.ops[0].kv_count, 1);
    assert_memory_equal(answer.ops[0].key, "k\0\xff", 3);
    assert_string_equal(answer.ops[0].value, "");
    answer = range(&(struct kv_range){.key = key, .prefix = true}); /* ends with the last byte */
    assert_int_equal(answer.ops[0].kv_count, 1);
    const struct kv_put nameless = {{"", 0}, kv_text("x"), 0, false};
    finish(answer, kv_put(client, &nameless, &reply, NULL));
    assert_int_equal(answer.status, E_INVALID);
}

static void ranges(void **state)
{
    static const struct {
        int line;
        struct kv_range range;
        size_t want;
        const char *first;
        int64_t count;
        bool more;
    } cases[] = {
        {__LINE__, {.key = {"r/", 2}, .prefix = true}, 3, "r/a", 3, false},
        {__LINE__, {.key = {"r/b", 3}, .end = {"r/c", 3}}, 1, "r/b", 1, false},
        {__LINE__, {.key = {"r/b", 3}, .end = {"r0", 2}}, 2, "r/b", 2, false},
        {__LINE__, {.key = {"r/", 2}, .prefix = true, .limit = 2}, 2, "r/a", 3, true},
        {__LINE__, {.key = {"r/", 2}, .prefix = true, .limit = 3}, 3, "r/a", 3, false},
        {__LINE__, {.key = {"r/", 2}, .prefix = true, .count_only = true}, 0, "", 3, false},
        {__LINE__,
         {.key = {"r/", 2}, .prefix = true, .sort = KV_SORT_KEY_DESCENDING},
         3,
         "r/c",
         3,
         false},
        {__LINE__,
         {.key = {"r/", 2}, .prefix = true, .sort = KV_SORT_CREATED_ASCENDING, .limit = 1},
         1,
         "r/c",
         3,
         true},
        {__LINE__,
         {.key = {"r/", 2}, .prefix = true, .sort = KV_SORT_CREATED_DESCENDING, .limit = 1},
         1,
         "r/b",
         3,
         true},
        {__LINE__,
         {.key = {"r/", 2}, .prefix = true, .sort = KV_SORT_CHANGED_DESCENDING, .limit = 1},
         1,
         "r/c",
         3,
         true},
        {__LINE__, {.key = {"none", 4}, .prefix = true}, 0, "", 0, false},
    };
    (void)state;
    put("r/c", "made first");
    put("r/a", "made second");
    put("r/b", "made third");
    put("r/c", "changed last");
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct answer answer = range(&cases[i].range);
        if (answer.status != OK || answer.ops[0].kv_count != cases[i].want ||
            strcmp(answer.ops[0].key, cases[i].first) != 0 ||
            (answer.ops[0].more != cases[i].more && !cases[i].range.count_only) ||
            answer.ops[0].count != cases[i].count)
            fail_msg("line %d: %s: %zu keys of %lld, the first is %s", cases[i].line,
                     status_text(answer.status), answer.ops[0].kv_count,
                     (long long)answer.ops[0].count, answer.ops[0].key);
    }
    struct answer made = get("r/a");
    struct kv_range early = {
        .key = {"r/", 2}, .prefix = true, .max_create_revision = made.ops[0].create_revision};
    assert_int_equal(range(&early).ops[0].kv_count, 2);
    early.keys_only = true;
    assert_string_equal(range(&early).ops[0].value, "");
}

/* ---- lists ---- */

struct listing {
    int pages, keys;
    int64_t revision;
    char last[64];
    bool is_sorted, is_over;
};

static void on_page(void *context, const struct kv_result *result)
{
    struct listing *listing = context;
    assert_false(listing->is_over);
    assert_int_equal(result->status, OK);
    listing->pages++;
    if (listing->revision) /* all pages are of one state */
        assert_true(result->revision >= listing->revision);
    else
        listing->revision = result->revision;
    for (size_t i = 0; i < result->op.kv_count; i++) {
        char key[64];
        copy(result->op.kvs[i].key, key, sizeof(key));
        assert_true(result->op.kvs[i].mod_revision <= listing->revision);
        listing->is_sorted = listing->is_sorted && strcmp(listing->last, key) < 0;
        memcpy(listing->last, key, sizeof(key));
        listing->keys++;
    }
    listing->is_over = !result->op.more;
}

static void fill(const char *prefix, int count)
{
    struct kv_txn *txn;
    assert_int_equal(kv_txn_new(&txn), OK);
    for (int first = 0; first < count; first += 100) {
        kv_txn_reset(txn);
        for (int i = first; i < first + 100 && i < count; i++) {
            char key[48];
            snprintf(key, sizeof(key), "%s%05d", prefix, i);
            kv_txn_put(txn, &(struct kv_put){kv_text(key), kv_text("value"), 0, false});
        }
        struct answer answer = send_txn(txn);
        check_ok(answer);
    }
    kv_txn_free(txn);
}

static void many_keys_in_pages(void **state)
{
    struct listing listing = {.is_sorted = true};
    struct kv_reply reply = {on_page, &listing, 0};
    (void)state;
    fill("many/", 5000);
    struct kv_range all = {.key = kv_text("many/"), .prefix = true, .limit = 999};
    assert_int_equal(kv_list(client, &all, &reply, NULL), OK);
    while (!listing.is_over) {
        put("many/00000", "changed meanwhile");
        turn();
    }
    assert_int_equal(listing.keys, 5000);
    assert_int_equal(listing.pages, 6);
    assert_true(listing.is_sorted);
    listing = (struct listing){.is_sorted = true};
    struct kv_range none = {.key = kv_text("nothing/"), .prefix = true};
    assert_int_equal(kv_list(client, &none, &reply, NULL), OK);
    wait_for(listing.is_over);
    assert_int_equal(listing.keys, 0);
    struct kv_list *list;
    listing = (struct listing){.is_sorted = true};
    assert_int_equal(kv_list(client, &all, &reply, &list), OK);
    kv_list_cancel(list);
    get("a"); /* answered after what was asked before */
    assert_int_equal(listing.pages, 0);
}

static void cancelled_calls_stay_silent(void **state)
{
    enum { COUNT = 30 };
    struct answer answers[COUNT];
    struct kv_call *calls[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        struct kv_reply reply = reply_to(&answers[i]);
        assert_int_equal(
            kv_range(client, &(struct kv_range){.key = kv_text("a")}, &reply, &calls[i]), OK);
    }
    for (int i = 0; i < COUNT; i += 3)
        kv_call_cancel(calls[i]);
    for (int i = 0; i < COUNT; i++)
        if (i % 3)
            wait_for(answers[i].is_done);
    get("a");
    for (int i = 0; i < COUNT; i += 3)
        assert_false(answers[i].is_done);
}

/* ---- transactions ---- */

static void every_compare(void **state)
{
    enum side { VERSION, CHANGED, LEASE };
    static const struct {
        int line;
        const char *key;
        enum side side;
        enum kv_relation relation;
        int64_t number;
        bool want;
    } cases[] = {
        {__LINE__, "t", VERSION, KV_EQUAL, 2, true},
        {__LINE__, "t", VERSION, KV_NOT_EQUAL, 2, false},
        {__LINE__, "t", VERSION, KV_GREATER, 1, true},
        {__LINE__, "t", VERSION, KV_LESS, 2, false},
        {__LINE__, "no", VERSION, KV_EQUAL, 0, true},
        {__LINE__, "no", CHANGED, KV_EQUAL, 0, true},
        {__LINE__, "t", CHANGED, KV_GREATER, 1000000000, false},
        {__LINE__, "t", CHANGED, KV_EQUAL, -1, true}, /* as it is */
        {__LINE__, "t", LEASE, KV_EQUAL, 0, true},
        {__LINE__, "t", LEASE, KV_NOT_EQUAL, 0, false},
    };
    struct kv_txn *txn;
    (void)state;
    put("t", "a");
    int64_t revision = put("t", "bb").revision;
    assert_int_equal(kv_txn_new(&txn), OK);
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct kv_bytes key = kv_text(cases[i].key);
        int64_t number = cases[i].number == -1 ? revision : cases[i].number;
        kv_txn_reset(txn);
        if (cases[i].side == VERSION)
            kv_txn_if_version(txn, key, cases[i].relation, number);
        else if (cases[i].side == CHANGED)
            kv_txn_if_mod_revision(txn, key, cases[i].relation, number);
        else
            kv_txn_if_lease(txn, key, cases[i].relation, number);
        struct answer answer = send_txn(txn);
        if (answer.status != OK || answer.succeeded != cases[i].want)
            fail_msg("line %d: %s, %d", cases[i].line, status_text(answer.status),
                     answer.succeeded);
    }
    kv_txn_free(txn);
}

static void every_operation_in_both_branches(void **state)
{
    struct kv_txn *txn;
    (void)state;
    put("o/1", "one");
    assert_int_equal(kv_txn_new(&txn), OK);
    for (int round = 0; round < 2; round++) {
        kv_txn_reset(txn);
        kv_txn_if_version(txn, kv_text("o/1"), round ? KV_LESS : KV_GREATER, 0);
        if (round)
            kv_txn_else(txn);
        kv_txn_range(txn, &(struct kv_range){.key = kv_text("o/1")});
        kv_txn_put(txn, &(struct kv_put){kv_text("o/2"), kv_text("two"), 0, true});
        kv_txn_delete(txn, &(struct kv_delete){.key = kv_text("o/3")});
        struct answer answer = send_txn(txn);
        check_ok(answer);
        assert_int_equal(answer.succeeded, !round);
        assert_int_equal(answer.op_count, 3);
        assert_int_equal(answer.ops[0].kind, KV_OP_RANGE);
        assert_string_equal(answer.ops[0].value, "one");
        assert_int_equal(answer.ops[1].kind, KV_OP_PUT);
        assert_int_equal(answer.ops[1].kv_count, round); /* the previous one */
        assert_int_equal(answer.ops[2].kind, KV_OP_DELETE);
    }
    kv_txn_free(txn);
}

/* Two claims of one cursor in one transaction: both compare the state before it. */
static void compares_are_of_the_state_before(void **state)
{
    struct kv_txn *txn;
    (void)state;
    assert_int_equal(kv_txn_new(&txn), OK);
    int64_t before = get("b/1").revision;
    for (int i = 0; i < 2; i++) {
        kv_txn_begin(txn);
        kv_txn_if_version(txn, kv_text("b/1"), KV_EQUAL, 0);
        kv_txn_put(txn, &(struct kv_put){kv_text(i ? "b/2" : "b/1"), kv_text("x"), 0, false});
        kv_txn_begin(txn); /* deeper, and not reached */
        kv_txn_if_version(txn, kv_text("b/1"), KV_GREATER, 0);
        kv_txn_put(txn, &(struct kv_put){kv_text(i ? "b/4" : "b/3"), kv_text("x"), 0, false});
        kv_txn_end(txn);
        kv_txn_end(txn);
    }
    struct answer answer = send_txn(txn);
    check_ok(answer);
    assert_true(answer.ops[0].succeeded && answer.ops[1].succeeded);
    assert_int_equal(answer.revision, before + 1); /* all of it is one change */
    assert_int_equal(get("b/1").ops[0].mod_revision, answer.revision);
    assert_int_equal(get("b/2").ops[0].mod_revision, answer.revision);
    assert_int_equal(get("b/3").ops[0].kv_count, 0);
    struct answer again = send_txn(txn); /* none holds at the first level: nothing is changed */
    check_ok(again);
    assert_false(again.ops[0].succeeded || again.ops[1].succeeded);
    assert_int_equal(again.revision, answer.revision);
    kv_txn_free(txn);
}

static void what_is_refused_changes_nothing(void **state)
{
    struct kv_txn *txn;
    (void)state;
    assert_int_equal(kv_txn_new(&txn), OK);
    int64_t before = get("x").revision;
    for (int i = 0; i < 2; i++) /* a key twice */
        kv_txn_put(txn, &(struct kv_put){kv_text("x"), kv_text("x"), 0, false});
    struct answer answer = send_txn(txn);
    assert_int_equal(answer.status, E_INVALID);
    kv_txn_reset(txn);
    kv_txn_put(txn, &(struct kv_put){kv_text("y"), kv_text("x"), 0, false});
    kv_txn_put(txn, &(struct kv_put){kv_text("x"), kv_text("x"), 12345, false});
    answer = send_txn(txn);
    assert_int_equal(answer.status, E_NOT_FOUND); /* no such lease */
    assert_int_equal(get("y").ops[0].kv_count, 0);
    assert_int_equal(get("y").revision, before);
    kv_txn_free(txn);
}

/* ---- watches ---- */

struct watched {
    int live, events, deletes, broken, compacted, notices;
    int64_t last_revision;
    bool is_out_of_order, is_gap;
    char last_key[64], last_value[64], keys[256];
    struct kv_watch *free_me; /* by the first event */
};

static void on_notice(void *context, const struct kv_watch_notice *notice)
{
    struct watched *seen = context;
    seen->live += notice->kind == KV_WATCH_LIVE;
    seen->broken += notice->kind == KV_WATCH_BROKEN;
    seen->compacted += notice->kind == KV_WATCH_COMPACTED;
    seen->notices++;
    for (size_t i = 0; i < notice->event_count; i++) {
        const struct kv_event *event = &notice->events[i];
        seen->events++;
        seen->deletes += event->is_delete;
        seen->is_out_of_order |= event->kv.mod_revision < seen->last_revision;
        seen->is_gap |= seen->last_revision && event->kv.mod_revision > seen->last_revision + 1;
        seen->last_revision = event->kv.mod_revision;
        copy(event->kv.key, seen->last_key, sizeof(seen->last_key));
        copy(event->kv.value, seen->last_value, sizeof(seen->last_value));
        if (strlen(seen->keys) + strlen(seen->last_key) + 2 < sizeof(seen->keys))
            strcat(strcat(seen->keys, seen->last_key), " ");
    }
    if (seen->free_me && notice->event_count)
        seen->free_me = kv_watch_free(seen->free_me);
}

static struct kv_watch *watch(const char *prefix, int64_t start, struct watched *seen)
{
    struct kv_watch *ret;
    const struct kv_watch_config config = {
        .key = kv_text(prefix), .prefix = true, .start_revision = start};
    *seen = (struct watched){0};
    assert_int_equal(kv_watch_new(client, &config, on_notice, seen, &ret), OK);
    return ret;
}

static void changes_of_a_range(void **state)
{
    struct watched seen, other;
    struct answer gone;
    (void)state;
    struct kv_watch *own = watch("w/", 0, &seen), *elsewhere = watch("x/", 0, &other);
    wait_for(seen.live == 1 && other.live == 1);
    put("w/a", "1");
    put("w/a", "22");
    wait_for(seen.events == 2);
    assert_string_equal(seen.last_value, "22");
    const struct kv_delete end = {.key = kv_text("w/a")};
    finish(gone, kv_delete(client, &end, &reply, NULL));
    wait_for(seen.deletes == 1);
    assert_int_equal(seen.last_revision, gone.revision);
    assert_int_equal(kv_watch_next_revision(own), seen.last_revision + 1);
    assert_int_equal(other.events, 0);
    kv_watch_free(own);
    put("w/a", "3");
    other.free_me = elsewhere; /* from within its own notice */
    put("x/a", "4");
    wait_for(other.events == 1);
    put("x/a", "5");
    own = watch("x/", 0, &seen);
    wait_for(seen.live == 1);
    put("x/a", "6");
    wait_for(seen.events == 1);
    assert_int_equal(other.events, 1);
    kv_watch_free(own);
}

static void a_transaction_is_told_in_its_order(void **state)
{
    struct watched seen;
    struct kv_txn *txn;
    (void)state;
    put("v/9", "x");
    struct kv_watch *own = watch("v/", 0, &seen);
    wait_for(seen.live);
    assert_int_equal(kv_txn_new(&txn), OK);
    kv_txn_put(txn, &(struct kv_put){kv_text("v/5"), kv_text("x"), 0, false});
    kv_txn_delete(txn, &(struct kv_delete){.key = kv_text("v/9")});
    kv_txn_begin(txn);
    kv_txn_put(txn, &(struct kv_put){kv_text("v/7"), kv_text("x"), 0, false});
    kv_txn_end(txn);
    kv_txn_put(txn, &(struct kv_put){kv_text("v/1"), kv_text("x"), 0, false});
    struct answer answer = send_txn(txn);
    check_ok(answer);
    wait_for(seen.events == 4);
    assert_string_equal(seen.keys, "v/5 v/9 v/7 v/1 ");
    assert_int_equal(seen.last_revision, answer.revision);
    kv_watch_free(own);
    kv_txn_free(txn);
}

static void from_the_past_and_over_restarts(void **state)
{
    enum { COUNT = 500 };
    struct watched live, later;
    (void)state;
    struct kv_watch *own = watch("n/", 0, &live);
    wait_for(live.live == 1);
    int64_t start = get("none").revision + 1;
    for (int i = 0; i < COUNT; i++) {
        put("n/1", "x");
        if (i != COUNT / 2)
            continue;
        backend->kill();
        wait_for(live.broken == 1);
        backend->restart();
    }
    wait_for(live.events == COUNT);
    assert_false(live.is_gap || live.is_out_of_order);
    struct kv_watch *past = watch("n/", start, &later);
    wait_for(later.events == COUNT);
    assert_false(later.is_gap || later.is_out_of_order);
    put("n/1", "the last one");
    wait_for(live.events == COUNT + 1 && later.events == COUNT + 1); /* nothing came twice */
    kv_watch_free(own);
    kv_watch_free(past);
}

/* ---- leases ---- */

struct held {
    int granted, lost, failed;
};

static void on_lease(void *context, const struct kv_lease_notice *notice)
{
    struct held *held = context;
    held->granted += notice->kind == KV_LEASE_GRANTED;
    held->lost += notice->kind == KV_LEASE_LOST;
    held->failed += notice->kind == KV_LEASE_FAILED;
}

static struct kv_lease *lease(int64_t ttl_s, struct held *held)
{
    struct kv_lease *ret;
    *held = (struct held){0};
    assert_int_equal(kv_lease_new(client, ttl_s, on_lease, held, &ret), OK);
    wait_for(held->granted || held->failed);
    assert_int_equal(held->failed, 0);
    return ret;
}

static void put_with(const char *key, int64_t id)
{
    struct answer answer;
    const struct kv_put request = {kv_text(key), kv_text("x"), id, false};
    finish(answer, kv_put(client, &request, &reply, NULL));
    check_ok(answer);
}

static void a_lease_that_is_renewed_stays(void **state)
{
    struct held held;
    struct answer answer;
    (void)state;
    struct kv_lease *own = lease(2, &held);
    put_with("l/1", kv_lease_id(own));
    assert_int_equal(get("l/1").ops[0].lease, kv_lease_id(own));
    int64_t until_ms = now_ms() + 5000; /* more than twice its TTL */
    while (now_ms() < until_ms)
        turn();
    assert_int_equal(held.lost, 0);
    assert_int_equal(get("l/1").ops[0].kv_count, 1);
    finish(answer, kv_lease_look(client, kv_lease_id(own), &reply, NULL));
    check_ok(answer);
    assert_true(answer.lease.ttl_s >= 0 && answer.lease.granted_s == 2);
    kv_lease_free(own);
}

static void a_lease_that_nobody_renews_takes_its_keys_along(void **state)
{
    struct held held;
    struct watched seen;
    struct answer answer;
    (void)state;
    struct kv_watch *own = watch("m/", 0, &seen);
    wait_for(seen.live);
    struct kv_lease *left = lease(2, &held);
    int64_t id = kv_lease_id(left);
    put_with("m/1", id);
    kv_lease_free(left);
    int64_t freed_ms = now_ms();
    wait_for(seen.deletes == 1);
    assert_true(now_ms() - freed_ms > 500); /* not before its time, which began at its granting */
    finish(answer, kv_lease_look(client, id, &reply, NULL));
    assert_int_equal(answer.lease.ttl_s, -1);
    kv_watch_free(own);
}

static void a_revoked_lease_is_told(void **state)
{
    struct held held;
    struct watched seen;
    struct answer answer;
    (void)state;
    struct kv_watch *own = watch("p/", 0, &seen);
    wait_for(seen.live);
    struct kv_lease *revoked = lease(10, &held);
    int64_t id = kv_lease_id(revoked);
    put_with("p/1", id);
    put_with("p/2", id);
    finish(answer, kv_lease_revoke(client, id, &reply, NULL));
    check_ok(answer);
    wait_for(seen.deletes == 2 && held.lost == 1);
    kv_lease_free(revoked);
    finish(answer, kv_lease_revoke(client, id, &reply, NULL));
    assert_int_equal(answer.status, E_NOT_FOUND);
    kv_watch_free(own);
}

/* ---- elections ---- */

struct led {
    int led, vacant, dropped;
    bool is_self;
};

static void on_election(void *context, const struct kv_election_notice *notice)
{
    struct led *led = context;
    led->led += notice->kind == KV_ELECTION_LED;
    led->vacant += notice->kind == KV_ELECTION_VACANT;
    led->dropped += notice->kind == KV_ELECTION_DROPPED;
    if (notice->kind == KV_ELECTION_LED)
        led->is_self = notice->is_self;
}

static void the_oldest_candidate_leads(void **state)
{
    struct held held[2];
    struct led led[2] = {0};
    struct kv_lease *leases[2];
    struct kv_election *elections[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        leases[i] = lease(10, &held[i]);
        assert_int_equal(
            kv_election_new(client, kv_text("e/"), on_election, &led[i], &elections[i]), OK);
        assert_int_equal(kv_election_campaign(elections[i], leases[i], kv_text(i ? "b" : "a")), OK);
        wait_for(led[0].led > 0 && led[0].is_self && led[i].led > 0);
    }
    assert_true(kv_election_is_self(elections[0]));
    assert_false(kv_election_is_self(elections[1]));
    kv_election_resign(elections[0]);
    wait_for(kv_election_is_self(elections[1]) && led[0].dropped);
    for (int i = 0; i < 2; i++) {
        kv_election_free(elections[i]);
        kv_lease_free(leases[i]);
    }
}

int kv_contract_run(const struct kv_backend *own)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_from_its_making_to_its_end),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(ranges),
        cmocka_unit_test(many_keys_in_pages),
        cmocka_unit_test(cancelled_calls_stay_silent),
        cmocka_unit_test(every_compare),
        cmocka_unit_test(every_operation_in_both_branches),
        cmocka_unit_test(compares_are_of_the_state_before),
        cmocka_unit_test(what_is_refused_changes_nothing),
        cmocka_unit_test(changes_of_a_range),
        cmocka_unit_test(a_transaction_is_told_in_its_order),
        cmocka_unit_test(from_the_past_and_over_restarts),
        cmocka_unit_test(a_lease_that_is_renewed_stays),
        cmocka_unit_test(a_lease_that_nobody_renews_takes_its_keys_along),
        cmocka_unit_test(a_revoked_lease_is_told),
        cmocka_unit_test(the_oldest_candidate_leads),
    };
    backend = own;
    if (loop_new(&loop) != OK || loop_timer_new(loop, on_tick, NULL, &tick) != OK)
        abort();
    client = backend->open(loop);
    int failed = cmocka_run_group_tests_name(backend->name, tests, NULL, NULL);
    kv_client_free(client);
    loop_timer_free(tick);
    loop_free(loop);
    return failed;
}
