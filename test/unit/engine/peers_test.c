#include "state/peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WALL_MS INT64_C(1767225600000)

static const struct peer this_node = {.name = "self"};
static const struct incarnation of_old = {.home = 0}; /* as an older peal has it: any life */

static struct now at_ms(int64_t ms)
{
    return (struct now){{WALL_MS + ms}, {5000 + ms}};
}

/* What a node says of itself whose wall clock is `ahead_ms` of ours; its boot clock is any. */
static struct peer saying(const char *name, int64_t joined, int64_t sent_ms, int64_t ahead_ms)
{
    struct peer peer = {.roles = PEER_WORKER,
                        .capacity = 1,
                        .is_alive = true,
                        .joined = joined,
                        .wall_ms = WALL_MS + sent_ms + ahead_ms,
                        .boot_ms = 77000 * joined + sent_ms};
    snprintf(peer.name, sizeof(peer.name), "%s", name);
    return peer;
}

static void tell(struct peers *peers, const struct peer *peer, struct now now)
{
    struct store_change change = {.kind = STORE_CHANGE_PEER, .peer = peer};
    assert_int_equal(peers_take(peers, &change, now), OK);
}

static void leave(struct peers *peers, const char *name, struct now now)
{
    struct peer peer = {.is_alive = false};
    snprintf(peer.name, sizeof(peer.name), "%s", name);
    tell(peers, &peer, now);
}

/* ---- the cluster's time ---- */

static const struct {
    int line;
    int64_t joined;      /* of this node */
    int64_t ahead_ms[4]; /* of the others; they joined as 10, 20, 30, 40 */
    size_t others;
    int64_t want_skew_ms; /* of this node */
    bool want_skewed;
} medians[] = {
    {__LINE__, 5, {0}, 0, 0, false},
    /* two: the one that was there first is right */
    {__LINE__, 5, {700}, 1, 0, false},
    {__LINE__, 15, {700}, 1, -700, true},
    {__LINE__, 15, {-700}, 1, 700, true},
    {__LINE__, 15, {300}, 1, -300, false},
    /* three: the one in the middle is */
    {__LINE__, 25, {10, 20}, 2, -10, false},
    {__LINE__, 5, {900, 1000}, 2, -900, true},
    {__LINE__, 5, {-900, 1000}, 2, 0, false},
    /* four: of the two in the middle, the elder */
    {__LINE__, 5, {-100, 600, 5000}, 3, 0, false},
    {__LINE__, 35, {600, -100, 5000}, 3, -600, true},
    {__LINE__, 5, {600, 610, 620}, 3, -600, true},
    /* five */
    {__LINE__, 5, {-1, 2, 3, 4000}, 4, -2, false},
};

static void test_median(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < sizeof(medians) / sizeof(medians[0]); i++) {
        struct peers peers;
        struct now now = at_ms(0);
        peers_init(&peers, &this_node);
        peers_go_live(&peers, now);
        struct peer self = saying("self", medians[i].joined, 0, 0);
        tell(&peers, &self, now);
        for (size_t k = 0; k < medians[i].others; k++) {
            struct peer other = saying(names[k], 10 * (int64_t)(k + 1), 0, medians[i].ahead_ms[k]);
            tell(&peers, &other, now);
        }
        peers_reckon(&peers, now);
        if (peers.skew_ms != medians[i].want_skew_ms || peers.is_skewed != medians[i].want_skewed)
            fail_msg("line %d: skew %lld", medians[i].line, (long long)peers.skew_ms);
        assert_true(peers.is_settled);
        peers_release(&peers);
    }
}

/* A peer can say what it likes, within what peer_codec.c lets through: the sums are numbers, and of
 * three nodes two are right. */
static void test_far_clocks(void **state)
{
    static const int64_t far = INT64_C(1) << 53;
    const int64_t said[][2] = {{far, far}, {far, -far}, {-far, far}, {-far, -far}};
    (void)state;
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        struct peers peers;
        peers_init(&peers, &this_node);
        peers_go_live(&peers, at_ms(0));
        struct peer self = saying("self", 30, 0, 0), good = saying("good", 10, 0, 0);
        struct peer liar = saying("liar", 20, 0, 0);
        liar.wall_ms = said[i][0];
        liar.boot_ms = said[i][1];
        liar.skew_ms = liar.lag_ms = said[i][0];
        tell(&peers, &self, at_ms(0));
        tell(&peers, &good, at_ms(0));
        tell(&peers, &liar, at_ms(0));
        peers_reckon(&peers, at_ms(0));
        assert_false(peers.is_skewed);
        assert_int_equal(peers.skew_ms, 0);
        (void)peers_confirm(&peers, at_ms(5));
        peers_release(&peers);
    }
}

/* An API server does not count, nor does one that is gone. */
static void test_who_counts(void **state)
{
    (void)state;
    struct peers peers;
    peers_init(&peers, &this_node);
    peers_go_live(&peers, at_ms(0));
    struct peer self = saying("self", 30, 0, 0), api = saying("api", 10, 0, 9000);
    struct peer worker = saying("worker", 20, 0, 9000);
    api.roles = PEER_API;
    tell(&peers, &self, at_ms(0));
    tell(&peers, &api, at_ms(0));
    peers_reckon(&peers, at_ms(0));
    assert_false(peers.is_skewed);
    tell(&peers, &worker, at_ms(0));
    peers_reckon(&peers, at_ms(0));
    assert_true(peers.is_skewed);
    leave(&peers, "worker", at_ms(10));
    peers_reckon(&peers, at_ms(10));
    assert_false(peers.is_skewed);
    peers_release(&peers);
}

/* News that come late seem to come from a clock that is behind; the least late one counts. */
static void test_delays(void **state)
{
    (void)state;
    static const int64_t delays_ms[] = {900, 2, 1500, 700, 30, 40, 50, 60};
    static const int64_t want_ms[] = {-900, -2, -2, -2, -2, -30, -30, -30};
    struct peers peers;
    peers_init(&peers, &this_node);
    peers_go_live(&peers, at_ms(0));
    for (size_t i = 0; i < sizeof(delays_ms) / sizeof(delays_ms[0]); i++) {
        int64_t sent_ms = 2000 * (int64_t)i;
        struct peer other = saying("other", 1, sent_ms, 0);
        for (int64_t ms = 1500; ms > 0; ms -= 100) /* it is awake */
            peers_reckon(&peers, at_ms(sent_ms + delays_ms[i] - ms));
        tell(&peers, &other, at_ms(sent_ms + delays_ms[i]));
        peers_reckon(&peers, at_ms(sent_ms + delays_ms[i]));
        if (peers_find(&peers, "other")->offset_ms != want_ms[i])
            fail_msg("%zu: %lld", i, (long long)peers_find(&peers, "other")->offset_ms);
    }
    peers_release(&peers);
}

/* What a store that was restored has of a node is older than what it has said before, though it
 * comes now, and again after the node was gone. */
static void test_backup(void **state)
{
    (void)state;
    struct peers peers;
    peers_init(&peers, &this_node);
    peers_go_live(&peers, at_ms(0));
    struct peer old = saying("other", 1, 0, 0), last = saying("other", 1, 30000, 0);
    tell(&peers, &old, at_ms(0));
    for (int64_t ms = 1000; ms <= 30000; ms += 1000)
        peers_reckon(&peers, at_ms(ms));
    tell(&peers, &last, at_ms(30000));
    for (int again = 0; again < 2; again++) {
        tell(&peers, &old, at_ms(31000 + again));
        peers_reckon(&peers, at_ms(31000 + again));
        assert_false(peers.is_skewed);
        tell(&peers, &last, at_ms(31000 + again));
        leave(&peers, "other", at_ms(31000 + again));
    }
    peers_release(&peers);
}

/* News that lay there while this node slept is no sign of a wrong clock, also if it is read with
 * the second turn after the sleep. */
static void test_sleep(void **state)
{
    static const struct {
        int line;
        int64_t ahead_ms;                    /* of the other's clock */
        int64_t slept_ms, sent_ms, after_ms; /* sent: while it slept; after: read after it */
        bool want_known, want_skewed;
    } cases[] = {
        {__LINE__, 0, 2500, 300, 0, false, false},    {__LINE__, 0, 2500, 300, 90, false, false},
        {__LINE__, 0, 2500, 2300, 0, true, false},    /* that is not long */
        {__LINE__, 0, 50, 0, 0, true, false},         /* it did not sleep */
        {__LINE__, -700, 50, 45, 0, true, true},      /* and a clock is wrong */
        {__LINE__, 5000, 2500, 300, 0, true, true},   /* no sleep makes a clock go ahead */
        {__LINE__, -60000, 2500, 300, 0, true, true}, /* nor so far behind */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct peers peers;
        int64_t read_ms = 5000 + cases[i].slept_ms + cases[i].after_ms;
        peers_init(&peers, &this_node);
        peers_go_live(&peers, at_ms(0));
        for (int64_t ms = 0; ms <= 5000; ms += 100)
            peers_reckon(&peers, at_ms(ms));
        if (cases[i].after_ms)
            peers_reckon(&peers, at_ms(read_ms - cases[i].after_ms));
        struct peer other = saying("other", 1, 5000 + cases[i].sent_ms, cases[i].ahead_ms);
        tell(&peers, &other, at_ms(read_ms));
        peers_reckon(&peers, at_ms(read_ms));
        bool is_known = peers_find(&peers, "other")->heard_count > 0;
        if (is_known != cases[i].want_known || peers.is_skewed != cases[i].want_skewed)
            fail_msg("line %d: skew %lld", cases[i].line, (long long)peers.skew_ms);
        if (!is_known) { /* there is a turn soon, so that the next word is a fresh one */
            assert_int_equal(peers_settle_at(&peers).ms, at_ms(read_ms + 100).boot.ms);
            peers_reckon(&peers, at_ms(read_ms + 1900));
            peers_reckon(&peers, at_ms(read_ms + 1950));
            other = saying("other", 1, read_ms + 1980, 0);
            tell(&peers, &other, at_ms(read_ms + 2000));
            assert_int_equal(peers_find(&peers, "other")->heard_count, 1);
        }
        peers_release(&peers);
    }
}

/* Whoever sets a clock, here or there, it shows at once, and is over at once. */
static void test_steps(void **state)
{
    (void)state;
    struct peers peers;
    peers_init(&peers, &this_node);
    peers_go_live(&peers, at_ms(0));
    struct peer other = saying("other", 1, 0, 0);
    tell(&peers, &other, at_ms(5));
    peers_reckon(&peers, at_ms(5));
    assert_int_equal(peers.skew_ms, 5);
    struct now stepped = at_ms(100);
    stepped.wall.ms += 3000;
    peers_reckon(&peers, stepped);
    assert_int_equal(peers.skew_ms, 3005);
    assert_true(peers.is_skewed);
    peers_reckon(&peers, at_ms(200));
    assert_false(peers.is_skewed);
    other = saying("other", 1, 2000, -3000);
    tell(&peers, &other, at_ms(2005));
    peers_reckon(&peers, at_ms(2005));
    assert_int_equal(peers.skew_ms, 3005);
    other = saying("other", 1, 4000, 450); /* better, but not well */
    tell(&peers, &other, at_ms(4000));
    peers_reckon(&peers, at_ms(4000));
    assert_true(peers.is_skewed);
    other = saying("other", 1, 6000, 390);
    tell(&peers, &other, at_ms(6000));
    peers_reckon(&peers, at_ms(6000));
    assert_false(peers.is_skewed);
    peers_release(&peers);
}

/* What was said before we listened says nothing about clocks: it may be of yesterday. */
static void test_settling(void **state)
{
    (void)state;
    struct peers peers;
    peers_init(&peers, &this_node);
    struct peer a = saying("a", 1, -60000, 0), b = saying("b", 2, -1900, 0);
    tell(&peers, &a, at_ms(0));
    tell(&peers, &b, at_ms(0));
    peers_go_live(&peers, at_ms(0));
    peers_reckon(&peers, at_ms(0));
    assert_false(peers.is_settled);
    assert_int_equal(peers_settle_at(&peers).ms, at_ms(100).boot.ms); /* awake until then */
    for (int64_t ms = 10; ms < 100; ms += 10)
        peers_reckon(&peers, at_ms(ms));
    tell(&peers, &a, at_ms(90)); /* told again: no news */
    a = saying("a", 1, 100, 0);
    tell(&peers, &a, at_ms(100));
    peers_reckon(&peers, at_ms(100));
    assert_false(peers.is_settled);
    assert_int_equal(peers.skew_ms, 0);
    peers_reckon(&peers, at_ms(2500)); /* b is silent */
    assert_true(peers.is_settled);
    assert_int_equal(peers_settle_at(&peers).ms, INT64_MAX);
    peers_release(&peers);
}

/* ---- who there is ---- */

struct names {
    char text[200];
};

static bool add_name(void *context, const struct known_peer *known)
{
    struct names *names = context;
    strcat(strcat(names->text, known->peer.name), known->peer.is_alive ? " " : "- ");
    return true;
}

/* ---- lives ---- */

static struct peer living(const char *name, uint8_t life, uint64_t home)
{
    struct peer peer = saying(name, 1, 0, 0);
    peer.instance.bytes[0] = life;
    peer.home = home;
    return peer;
}

/* What the first life of b has, when the name is ... */
static const struct {
    int line;
    uint8_t life;
    uint64_t home;
    bool want_alive, want_in_life;
} lives[] = {
    {__LINE__, 1, 10, true, true},
    {__LINE__, 2, 10, true, false},  /* started again: it speaks for its first life */
    {__LINE__, 3, 20, false, false}, /* another machine under its name */
};

static void test_lives(void **state)
{
    (void)state;
    const struct incarnation first = {.instance = {{1}}, .home = 10};
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        struct peers peers;
        peers_init(&peers, &this_node);
        peers_go_live(&peers, at_ms(0));
        struct peer b = living("b", 1, 10);
        tell(&peers, &b, at_ms(0));
        b = living("b", lives[i].life, lives[i].home);
        tell(&peers, &b, at_ms(1000));
        bool is_alive = peers_is_alive(&peers, "b", &first);
        if (is_alive != lives[i].want_alive ||
            peers_is_in_life(&peers, "b", &first) != lives[i].want_in_life ||
            peers_gone_for_ms(&peers, "b", &first, at_ms(1700)) != (is_alive ? -1 : 700))
            fail_msg("line %d", lives[i].line);
        peers_release(&peers);
    }
}

/* Another agent joins under this node's name, and leaves again. */
static void test_shut_out(void **state)
{
    (void)state;
    struct peers peers;
    struct peer me = living("self", 1, 10), other = living("self", 2, 20);
    peers_init(&peers, &me);
    tell(&peers, &me, at_ms(0));
    assert_true(peers_am_alive(&peers) && !peers_am_shut_out(&peers));
    tell(&peers, &other, at_ms(1));
    assert_true(!peers_am_alive(&peers) && peers_am_shut_out(&peers));
    leave(&peers, "self", at_ms(2));
    assert_true(!peers_am_alive(&peers) && !peers_am_shut_out(&peers));
    tell(&peers, &me, at_ms(3));
    assert_true(peers_am_alive(&peers) && !peers_am_shut_out(&peers));
    peers_release(&peers);
}

static void test_who_is_there(void **state)
{
    (void)state;
    struct peers peers;
    peers_init(&peers, &this_node);
    struct store_drain drain = {.node = "b", .drained = true, .by = "anna"};
    struct store_change change = {.kind = STORE_CHANGE_DRAIN, .drain = &drain};
    assert_int_equal(peers_take(&peers, &change, at_ms(0)), OK); /* comes before the node */
    struct peer a = saying("a", 1, 0, 0), b = saying("b", 2, 0, 0), c = saying("c", 3, 0, 0);
    tell(&peers, &c, at_ms(0));
    tell(&peers, &b, at_ms(0));
    tell(&peers, &a, at_ms(0));
    assert_true(known_peer_accepts(peers_find(&peers, "a")));
    assert_false(known_peer_accepts(peers_find(&peers, "b")));
    assert_string_equal(peers_find(&peers, "b")->drained_by, "anna");
    unsigned before = peers.generation;
    drain.drained = false;
    assert_int_equal(peers_take(&peers, &change, at_ms(0)), OK);
    assert_true(known_peer_accepts(peers_find(&peers, "b")));
    assert_int_not_equal(peers.generation, before);
    before = peers.generation;
    tell(&peers, &a, at_ms(1));
    assert_int_equal(peers.generation, before);
    a.refusal = PEER_FULL;
    tell(&peers, &a, at_ms(1));
    assert_false(known_peer_accepts(peers_find(&peers, "a")));
    assert_int_not_equal(peers.generation, before);

    leave(&peers, "b", at_ms(1000));
    assert_false(peers_is_alive(&peers, "b", &of_old));
    assert_false(peers_is_alive(&peers, "nobody", &of_old));
    assert_int_equal(peers_gone_for_ms(&peers, "b", &of_old, at_ms(1500)), 500);
    assert_int_equal(peers_gone_for_ms(&peers, "c", &of_old, at_ms(1500)), -1);
    struct names names = {0};
    peers_each(&peers, add_name, &names);
    assert_string_equal(names.text, "a b- c ");
    leave(&peers, "c", at_ms(INT64_C(86400000) + 1001)); /* b is forgotten by then */
    names.text[0] = '\0';
    peers_each(&peers, add_name, &names);
    assert_string_equal(names.text, "a c- ");
    assert_int_equal(peers.alive_count, 1);

    change = (struct store_change){.kind = STORE_CHANGE_LEADER, .leader = "a"};
    assert_int_equal(peers_take(&peers, &change, at_ms(0)), OK);
    assert_string_equal(peers.leader, "a");
    peers_release(&peers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),       cmocka_unit_test(test_far_clocks),
        cmocka_unit_test(test_who_counts),   cmocka_unit_test(test_delays),
        cmocka_unit_test(test_backup),       cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_steps),        cmocka_unit_test(test_settling),
        cmocka_unit_test(test_who_is_there), cmocka_unit_test(test_lives),
        cmocka_unit_test(test_shut_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
