/* Leases and elections: what is held, what is lost, and who leads. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "etcd_admin.h"
#include "harness.h"

enum { TTL_S = 4 }; /* more than a busy machine stands still for */

struct held {
    int granted, lost, failed;
    char message[200];
};

static void on_lease(void *context, const struct kv_lease_notice *notice)
{
    struct held *held = context;
    held->granted += notice->kind == KV_LEASE_GRANTED;
    held->lost += notice->kind == KV_LEASE_LOST;
    held->failed += notice->kind == KV_LEASE_FAILED;
    snprintf(held->message, sizeof(held->message), "%s", notice->message);
}

static struct kv_lease *take_lease(struct harness *h, struct kv_client *client, int64_t ttl_s,
                                   struct held *held)
{
    struct kv_lease *lease;
    *held = (struct held){0};
    assert_int_equal(kv_lease_new(client, ttl_s, on_lease, held, &lease), OK);
    harness_wait(h, held->granted == 1);
    assert_true(kv_lease_id(lease) != 0);
    return lease;
}

static struct answer look(struct harness *h, int64_t id)
{
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(etcd_lease_time_to_live(h->client, id, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    return answer;
}

/* Renewals are answered until it is held beyond this time. */
static void wait_until_kept(struct harness *h, const struct kv_lease *lease, int64_t boot_ms)
{
    harness_wait(h, kv_lease_held_until_boot_ms(lease) > boot_ms);
}

static void kept_alive_beyond_its_ttl(void **state)
{
    struct harness *h = *state;
    struct held held;
    struct kv_lease *lease = take_lease(h, h->client, TTL_S, &held);
    int64_t id = kv_lease_id(lease);
    harness_put_any(h, &(struct kv_put){kv_text("l/1"), kv_text("x"), id, false});
    wait_until_kept(h, lease, now_ms() + TTL_S * 1000);
    wait_until_kept(h, lease, now_ms() + TTL_S * 1000);
    assert_int_equal(held.lost, 0);
    assert_true(kv_lease_held_until_boot_ms(lease) > now_ms());
    struct answer answer = look(h, id);
    assert_true(answer.ttl_s > 0);
    assert_int_equal(answer.count, 1);
    assert_int_equal(harness_get(h, "l/1").kv_count, 1);

    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(kv_lease_revoke(h->client, id, &reply, NULL), OK);
    harness_wait(h, answer.is_done);
    check_ok(answer);
    assert_int_equal(harness_get(h, "l/1").kv_count, 0);
    harness_wait(h, held.lost == 1); /* the next sign of it is: gone */
    assert_int_equal(kv_lease_id(lease), 0);
    assert_int_equal(look(h, id).ttl_s, -1);
    kv_lease_free(lease);
}

/* The whole process stops, as in a suspended virtual machine. */
static void a_sleeper_knows_that_it_lost_its_lease(void **state)
{
    struct harness *h = *state;
    struct held held;
    struct kv_lease *lease = take_lease(h, h->client, TTL_S, &held);
    wait_until_kept(h, lease, kv_lease_held_until_boot_ms(lease));
    harness_sleep(TTL_S * 1000);
    assert_true(kv_lease_held_until_boot_ms(lease) <= now_ms()); /* known without an event */
    harness_wait(h, held.lost == 1);
    kv_lease_free(lease);
}

static void a_silent_server_loses_it_in_time(void **state)
{
    struct harness *h = *state;
    struct held held;
    struct kv_lease *lease = take_lease(h, h->client, 3, &held);
    etcd_member_signal(&h->cluster, 0, SIGSTOP);
    int64_t given_away_ms = now_ms() + 3000; /* by the server, at the earliest */
    harness_begin_wait(h);
    while (held.lost == 0) { /* whoever asks is told in time, also when the event is late */
        assert_true(kv_lease_held_until_boot_ms(lease) <= given_away_ms);
        harness_turn(h, "the loss", __FILE__, __LINE__);
    }
    etcd_member_signal(&h->cluster, 0, SIGCONT);
    assert_non_null(strstr(held.message, "TTL of 3 s"));
    kv_lease_free(lease);
    check_ok(((struct answer[]){harness_get(h, "x")})[0]);
}

static void many_leases_on_one_stream(void **state)
{
    enum { COUNT = 200 };
    struct harness *h = *state;
    struct kv_lease *leases[COUNT];
    struct held held[COUNT];
    memset(held, 0, sizeof(held));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(kv_lease_new(h->client, TTL_S, on_lease, &held[i], &leases[i]), OK);
    for (int i = 0; i < COUNT; i++)
        harness_wait(h, held[i].granted == 1);
    int64_t granted_ms = now_ms();
    for (int i = 0; i < COUNT; i++) {
        wait_until_kept(h, leases[i], granted_ms + TTL_S * 1000);
        assert_int_equal(held[i].granted, 1);
        assert_int_equal(held[i].lost, 0);
        kv_lease_free(leases[i]);
    }
}

static void kept_over_a_change_of_the_leader(void **state)
{
    (void)state;
    struct harness *h = harness_new(3, NULL);
    struct held held;
    struct answer status;
    struct kv_lease *lease = take_lease(h, h->client, 10, &held);
    int64_t id = kv_lease_id(lease);
    struct kv_reply reply = answer_reply(&status);
    assert_int_equal(etcd_status(h->client, &reply, NULL), OK);
    harness_wait(h, status.is_done);
    int leader = 0;
    for (int i = 0; i < 3; i++) { /* which of them is it? */
        struct kv_client *client = harness_client(h, i), *kept = h->client;
        h->client = client;
        reply = answer_reply(&status);
        assert_int_equal(etcd_status(client, &reply, NULL), OK);
        harness_wait(h, status.is_done);
        if (status.member_id == status.leader_id)
            leader = i;
        h->client = kept;
        kv_client_free(client);
    }
    etcd_member_kill(&h->cluster, leader);
    wait_until_kept(h, lease, now_ms() + 10000); /* renewed by the new leader */
    assert_int_equal(held.lost, 0);
    assert_true(look(h, id).ttl_s > 0);
    kv_lease_free(lease);
    harness_free(h);
}

/* ---- elections ---- */

enum { CANDIDATE_TTL_S = 3 };

struct candidate {
    struct harness *h;
    struct kv_client *client;
    struct kv_lease *lease;
    struct kv_election *election;
    struct held held;
    bool leads;
    int led, vacant, dropped, failed;
    char leader[32];
    int64_t revision;
};

static void on_election(void *context, const struct kv_election_notice *notice)
{
    struct candidate *candidate = context;
    candidate->led += notice->kind == KV_ELECTION_LED;
    candidate->vacant += notice->kind == KV_ELECTION_VACANT;
    candidate->dropped += notice->kind == KV_ELECTION_DROPPED;
    candidate->failed += notice->kind == KV_ELECTION_FAILED;
    if (notice->kind == KV_ELECTION_LED) {
        candidate->leads = notice->is_self;
        candidate->revision = notice->revision;
        snprintf(candidate->leader, sizeof(candidate->leader), "%.*s", (int)notice->value.length,
                 (const char *)notice->value.data);
    } else if (notice->kind != KV_ELECTION_FAILED) {
        candidate->leads = false;
    }
}

static void candidate_start(struct candidate *candidate, struct harness *h, const char *name)
{
    candidate->h = h;
    candidate->client = harness_client(h, 0);
    candidate->lease = take_lease(h, candidate->client, CANDIDATE_TTL_S, &candidate->held);
    assert_int_equal(kv_election_new(candidate->client, kv_text("elections/e/"), on_election,
                                     candidate, &candidate->election),
                     OK);
    assert_int_equal(kv_election_campaign(candidate->election, candidate->lease, kv_text(name)),
                     OK);
}

static void candidate_end(struct candidate *candidate)
{
    kv_election_free(candidate->election);
    kv_lease_free(candidate->lease);
    kv_client_free(candidate->client);
    candidate->client = NULL;
    candidate->election = NULL;
    candidate->lease = NULL;
}

static int leaders(const struct candidate *candidates, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += candidates[i].election && kv_election_is_self(candidates[i].election);
    return found;
}

static void wait_for_leader(struct harness *h, struct candidate *candidates, const char *name)
{
    harness_begin_wait(h);
    for (;;) {
        bool all = true;
        assert_true(leaders(candidates, 3) <= 1); /* at every turn */
        for (int i = 0; i < 3; i++)
            all = all && (!candidates[i].election || strcmp(candidates[i].leader, name) == 0);
        if (all)
            break;
        harness_turn(h, name, __FILE__, __LINE__);
    }
}

static void one_leader_at_a_time(void **state)
{
    struct harness *h = *state;
    struct candidate c[3] = {{0}};
    candidate_start(&c[0], h, "a");
    harness_wait(h, c[0].leads);
    candidate_start(&c[1], h, "b");
    harness_wait(h, c[1].led > 0 && strcmp(c[1].leader, "a") == 0);
    candidate_start(&c[2], h, "c");
    wait_for_leader(h, c, "a");
    assert_int_equal(leaders(c, 3), 1);
    int64_t first = c[0].revision;
    assert_int_equal(kv_election_campaign(c[0].election, c[0].lease, kv_text("x")), E_BUSY);

    kv_election_resign(c[0].election); /* the next in line */
    wait_for_leader(h, c, "b");
    harness_wait(h, c[0].dropped == 1);
    assert_true(c[1].revision > first); /* a fencing number */
    candidate_end(&c[1]);               /* as if it died: the lease runs out */
    wait_for_leader(h, c, "c");
    assert_int_equal(leaders(c, 3), 1);

    assert_int_equal(kv_election_campaign(c[0].election, c[0].lease, kv_text("a2")), OK);
    harness_wait(h, harness_range(h, &(struct kv_range){.key = kv_text("elections/e/"),
                                                        .prefix = true,
                                                        .count_only = true})
                            .count == 2); /* it stands behind the leader */
    assert_int_equal(leaders(c, 3), 1);
    /* the leader's lease is taken from it by someone else, which no clock can foresee */
    struct answer answer;
    struct kv_reply reply = answer_reply(&answer);
    assert_int_equal(kv_lease_revoke(h->client, kv_lease_id(c[2].lease), &reply, NULL), OK);
    harness_wait(h, answer.is_done && c[2].dropped == 1 && !c[2].leads && c[0].leads);
    assert_int_equal(leaders(c, 3), 1);
    candidate_end(&c[2]);
    candidate_end(&c[0]);
}

static void a_leader_that_slept_does_not_lead(void **state)
{
    struct harness *h = *state;
    struct candidate c = {0};
    candidate_start(&c, h, "sleeper");
    harness_wait(h, c.leads);
    harness_sleep(CANDIDATE_TTL_S * 1000);
    assert_false(kv_election_is_self(c.election)); /* before any event was handled */
    harness_wait(h, c.held.lost == 1);
    kv_election_drop(c.election);
    harness_wait(h, c.dropped > 0);
    candidate_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_alive_beyond_its_ttl),
        cmocka_unit_test(a_sleeper_knows_that_it_lost_its_lease),
        cmocka_unit_test(a_silent_server_loses_it_in_time),
        cmocka_unit_test(many_leases_on_one_stream),
        cmocka_unit_test(kept_over_a_change_of_the_leader),
        cmocka_unit_test(one_leader_at_a_time),
        cmocka_unit_test(a_leader_that_slept_does_not_lead),
    };
    harness_require();
    return cmocka_run_group_tests(tests, harness_setup, harness_teardown);
}
