/* Nodes: what they say of themselves, who leads, who takes nothing new, whose runs are taken over,
 * and what one node hears of another. */
#include <stdio.h>
#include <string.h>

#include "store_world.h"

/* ---- alone ---- */

static void assert_same_peer(const struct peer *seen, const struct peer *said)
{
    assert_string_equal(seen->name, said->name);
    assert_int_equal(id_compare(&seen->instance, &said->instance), 0);
    assert_true(seen->home == said->home);
    assert_string_equal(seen->address, said->address);
    assert_string_equal(seen->version, said->version);
    assert_string_equal(seen->labels, said->labels);
    assert_int_equal(seen->roles, said->roles);
    assert_string_equal(seen->program, said->program);
    assert_int_equal(seen->program_version, said->program_version);
    assert_int_equal(seen->stands, said->stands);
    assert_int_equal(seen->capacity, said->capacity);
    assert_int_equal(seen->max_running, said->max_running);
    assert_int_equal(seen->running, said->running);
    assert_int_equal(seen->refusal, said->refusal);
    assert_int_equal(seen->started_ms, said->started_ms);
    assert_int_equal(seen->wall_ms, said->wall_ms);
    assert_int_equal(seen->boot_ms, said->boot_ms);
    assert_int_equal(seen->skew_ms, said->skew_ms);
    assert_int_equal(seen->lag_ms, said->lag_ms);
}

static void what_a_node_says_is_fed_to_itself(struct world *world)
{
    struct peer self = a_peer("node-1", UINT64_MAX - 1);
    self.refusal = PEER_FULL;
    join(world, &self);
    assert_same_peer(look_for_peer(world, "node-1"), &self);
}

static void news_are_passed_on(struct world *world)
{
    struct peer self = a_peer("node-1", 1);
    join(world, &self);
    int64_t joined = look_for_peer(world, "node-1")->joined;
    for (self.running = 1; self.running < 50; self.running++) /* faster than anyone can tell */
        announce(world, &self);
    announce(world, &self);
    for (int64_t until_ms = soon_ms(); look_for_peer(world, "node-1")->running != 50;)
        world_pass(world, until_ms);
    assert_true(sees_alive(world, "node-1"));
    assert_int_equal(look_for_peer(world, "node-1")->joined, joined);
}

static void the_only_worker_leads(struct world *world)
{
    struct peer self = a_peer("node-1", 1);
    assert_false(store_leads(world->store));
    announce(world, &self);
    for (int64_t until_ms = soon_ms(); world->picture.leader[0] == '\0';)
        world_pass(world, until_ms);
    assert_string_equal(world->picture.leader, "node-1");
    assert_true(store_leads(world->store));
}

static void who_is_no_worker_does_not_lead(struct world *world)
{
    struct peer self = a_peer("node-1", 1);
    self.roles = PEER_API;
    join(world, &self);
    self.running = 1;
    announce(world, &self);
    for (int64_t until_ms = soon_ms(); look_for_peer(world, "node-1")->running != 1;)
        world_pass(world, until_ms);
    assert_false(store_leads(world->store));
    assert_string_equal(world->picture.leader, "");
}

static struct peer a_program(bool stands)
{
    struct peer self = a_peer("node-1", 1);
    self.roles = 0;
    self.stands = stands;
    self.program_version = 7;
    snprintf(self.program, sizeof(self.program), "billing");
    return self;
}

/* It has seen an agent. */
static void a_program_that_does_not_stand_does_not_lead(struct world *world)
{
    struct peer self = a_program(false);
    join(world, &self);
    assert_same_peer(look_for_peer(world, "node-1"), &self);
    self.running = 1;
    announce(world, &self);
    for (int64_t until_ms = soon_ms(); look_for_peer(world, "node-1")->running != 1;)
        world_pass(world, until_ms);
    assert_false(store_leads(world->store));
    assert_string_equal(world->picture.leader, "");
}

static void a_program_that_stands_leads(struct world *world)
{
    struct peer self = a_program(true);
    join(world, &self);
    for (int64_t until_ms = soon_ms(); !store_leads(world->store);)
        world_pass(world, until_ms);
    assert_same_peer(look_for_peer(world, "node-1"), &self);
}

/* ---- drains ---- */

static void drain(struct world *world, const char *node, bool drained, const char *by)
{
    struct store_drain drain = {.drained = drained};
    snprintf(drain.node, sizeof(drain.node), "%s", node);
    snprintf(drain.by, sizeof(drain.by), "%s", by);
    world_do_one(world, STORE_DRAIN, &drain);
}

static void a_drain_holds_until_it_is_taken_back(struct world *world)
{
    drain(world, "node-7", true, "anna"); /* which is not there, and need not be */
    assert_string_equal(look_for_drain(world, "node-7")->by, "anna");
    world_reopen(world);
    assert_string_equal(look_for_drain(world, "node-7")->by, "anna");
    drain(world, "node-7", true, "otto");
    assert_string_equal(look_for_drain(world, "node-7")->by, "otto");
    world_reopen(world);
    drain(world, "node-7", false, "anna");
    assert_null(look_for_drain(world, "node-7"));
    drain(world, "node-7", false, "anna"); /* again, which changes nothing */
    world_reopen(world);
    assert_null(look_for_drain(world, "node-7"));
}

static void each_drain_of_a_request_is_done(struct world *world)
{
    struct store_drain drains[] = {{"node-1", true, "anna"},
                                   {"node-2", true, "anna"},
                                   {"node-3", true, "anna"},
                                   {"node-2", false, "otto"}};
    assert_int_equal(world_do(world, STORE_DRAIN, drains, 4), OK);
    assert_int_equal(world->picture.drain_count, 2);
    assert_non_null(look_for_drain(world, "node-1"));
    assert_non_null(look_for_drain(world, "node-3"));
}

/* ---- runs of a node that is gone ---- */

static struct store_take a_take_over(const struct run *run)
{
    struct store_take take = {.run_id = run->id,
                              .from_nonce = run->nonce,
                              .nonce = run->nonce - 1000,
                              .now_ms = run->claimed_ms + 500};
    snprintf(take.node, sizeof(take.node), "node-2");
    take.owner = (struct incarnation){.instance = {{2, 2}}, .home = 22};
    return take;
}

static void a_claimed_run_is_taken_over(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    struct store_take take = a_take_over(&run);
    world_mark(world);
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken);
    assert_int_equal(take.run.state, RUN_CLAIMED);
    assert_int_equal(world->picture.changes[STORE_CHANGE_RUN], 1);
    const struct run *seen = &see_run(world, run.id)->run;
    assert_string_equal(seen->node, "node-2");
    assert_true(id_compare(&seen->owner.instance, &take.owner.instance) == 0);
    assert_true(seen->owner.home == 22);
    assert_true(seen->nonce == take.nonce);
    assert_int_equal(seen->claimed_ms, take.now_ms);

    struct store_take repeat = a_take_over(&run);
    world_do_one(world, STORE_TAKE, &repeat);
    assert_true(repeat.taken);

    struct store_begin old = begin_run(world, &run); /* it was not dead after all */
    assert_false(old.begun);
    assert_int_equal(old.refused, RUN_CLAIMED);
    assert_false(end_run(world, &run, RUN_OK, 6000).accepted);
    assert_true(begin_run(world, &take.run).begun);
}

static void what_is_not_as_thought_is_not_taken_over(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run claimed = claim_run(world, job, 5000), begun = claim_run(world, job, 6000),
               ended = claim_run(world, job, 7000);
    assert_true(begin_run(world, &begun).begun);
    end_run(world, &ended, RUN_OK, 8000);
    struct store_add_run add = an_add(world, job, 9000, OVERLAP_ALLOW);
    world_do_one(world, STORE_ADD_RUN, &add);
    assert_true(add.added);

    struct store_take takes[] = {a_take_over(&claimed), a_take_over(&begun), a_take_over(&ended),
                                 a_take_over(&claimed), a_take_over(&claimed)};
    takes[0].from_nonce++;             /* somebody else's by now */
    takes[3].run_id = add.run.id;      /* due, and nobody's */
    takes[4].run_id = world_id(world); /* forgotten */
    world_mark(world);
    assert_int_equal(world_do(world, STORE_TAKE, takes, 5), OK);
    for (int i = 0; i < 5; i++)
        if (takes[i].taken)
            fail_msg("take %d: taken", i);
    assert_int_equal(world->picture.changes[STORE_CHANGE_RUN], 0);
    assert_string_equal(see_run(world, claimed.id)->run.node, "node-1");
}

/* ---- what is forgotten ---- */

static void what_is_forgotten_is_fed(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct run open = claim_run(world, job, 5000), ended = claim_run(world, job, 6000);
    struct store_claim skipped = a_claim(world, job, 7000, OVERLAP_SKIP);
    world_do_one(world, STORE_CLAIM, &skipped);
    assert_int_equal(skipped.result, CLAIM_SKIPPED);
    assert_int_equal(world->picture.entry_count, 1);
    end_run(world, &ended, RUN_OK, 8000);
    world_mark(world);
    forget_run(world, open.id);
    assert_int_equal(world->picture.changes[STORE_CHANGE_FORGET], 0);
    forget_run(world, ended.id);
    assert_int_equal(world->picture.changes[STORE_CHANGE_FORGET], 1);
    assert_null(look_for_run(world, ended.id));
    forget_entry(world, skipped.skip_entry_id);
    assert_int_equal(world->picture.changes[STORE_CHANGE_FORGET], 2);
    assert_int_equal(world->picture.entry_count, 0);
    forget_run(world, ended.id);
    forget_entry(world, skipped.skip_entry_id);
    assert_int_equal(world->picture.changes[STORE_CHANGE_FORGET], 2);
    assert_non_null(look_for_run(world, open.id));
}

static void an_entry_says_which_node_passed_over(struct world *world)
{
    struct id job = make_job(world, "backup");
    struct store_claim claim = a_claim(world, job, 5000, OVERLAP_ALLOW);
    struct ledger_entry passed = {
        .id = world_id(world), .job_uid = job, .count = 1, .state = RUN_MISSED, .node = "node-9"};
    claim.passed = &passed;
    claim.passed_count = 1;
    world_do_one(world, STORE_CLAIM, &claim);
    struct store_claim skipped = a_claim(world, job, 6000, OVERLAP_SKIP);
    world_do_one(world, STORE_CLAIM, &skipped);
    world_reopen(world); /* which compares it, too */
    assert_int_equal(world->picture.entry_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct ledger_entry *entry = &world->picture.entries[i];
        bool is_passed = id_compare(&entry->id, &passed.id) == 0;
        assert_string_equal(entry->node, is_passed ? "node-9" : "node-1");
    }
}

/* ---- two nodes ---- */

static void two_nodes_see_each_other(struct world *world)
{
    struct world *other = world_open_other(world);
    struct peer first = a_peer("node-1", 1), second = a_peer("node-2", 2);
    if (!other)
        return;
    join(world, &first);
    join(other, &second);
    for (int64_t until_ms = soon_ms(); !sees_alive(world, "node-2");)
        world_pass(world, until_ms);
    for (int64_t until_ms = soon_ms(); !sees_alive(other, "node-1");)
        world_pass(other, until_ms);
    assert_same_peer(look_for_peer(world, "node-2"), &second);
    assert_same_peer(look_for_peer(other, "node-1"), &first);
    assert_true(look_for_peer(world, "node-1")->joined < look_for_peer(world, "node-2")->joined);

    struct world *third = world_open_other(world); /* who comes later hears of both at once */
    assert_same_peer(look_for_peer(third, "node-1"), &first);
    assert_same_peer(look_for_peer(third, "node-2"), &second);
    world_free(third);
    world_free(other);
}

static void who_leaves_is_gone_for_the_other(struct world *world)
{
    struct world *other = world_open_other(world);
    struct peer first = a_peer("node-1", 1), second = a_peer("node-2", 2);
    if (!other)
        return;
    join(other, &second);
    join(world, &first);
    for (int64_t until_ms = soon_ms(); !sees_alive(world, "node-2");)
        world_pass(world, until_ms);
    world_free(other);
    for (int64_t until_ms = soon_ms(); sees_alive(world, "node-2");)
        world_pass(world, until_ms);
    assert_same_peer(look_for_peer(world, "node-2"), &second); /* what it said last stays known */
    assert_true(sees_alive(world, "node-1"));
}

static void the_lead_moves_to_the_other(struct world *world)
{
    struct world *other = world_open_other(world);
    struct peer first = a_peer("node-1", 1), second = a_peer("node-2", 2);
    if (!other)
        return;
    join(other, &second);
    for (int64_t until_ms = soon_ms(); !store_leads(other->store);)
        world_pass(other, until_ms);
    join(world, &first);
    for (int64_t until_ms = soon_ms(); strcmp(world->picture.leader, "node-2") != 0;)
        world_pass(world, until_ms);
    assert_false(store_leads(world->store));
    assert_true(store_leads(other->store));
    world_free(other);
    for (int64_t until_ms = soon_ms(); !store_leads(world->store);)
        world_pass(world, until_ms);
    for (int64_t until_ms = soon_ms(); strcmp(world->picture.leader, "node-1") != 0;)
        world_pass(world, until_ms);
}

/* Another node, which leads; NULL: the backend has none. */
static struct world *open_leader(struct world *world, struct peer *ret)
{
    struct world *other = world_open_other(world);
    struct peer first = a_peer("node-1", 1);
    *ret = a_peer("node-2", 2);
    if (!other)
        return NULL;
    join(other, ret);
    for (int64_t until_ms = soon_ms(); !store_leads(other->store);)
        world_pass(other, until_ms);
    join(world, &first);
    return other;
}

/* It says so of itself, and the other one leads. */
static void resigns(struct world *world, struct world *leader, const struct peer *peer)
{
    announce(leader, peer);
    for (int64_t until_ms = soon_ms(); !store_leads(world->store);)
        world_pass(world, until_ms);
    assert_false(store_leads(leader->store));
}

static void a_leader_that_is_no_worker_any_more_resigns(struct world *world)
{
    struct peer peer;
    struct world *leader = open_leader(world, &peer);
    if (!leader)
        return;
    peer.roles = PEER_API;
    resigns(world, leader, &peer);
    world_free(leader);
}

/* It leads, and sees an agent that can. */
static void a_program_that_stands_no_longer_resigns(struct world *world)
{
    struct peer peer;
    struct world *leader = open_leader(world, &peer);
    if (!leader)
        return;
    peer.roles = 0;
    snprintf(peer.program, sizeof(peer.program), "billing");
    peer.stands = true;
    announce(leader, &peer);
    peer.stands = false;
    resigns(world, leader, &peer);
    world_free(leader);
}

static void a_leader_that_is_about_to_stop_resigns(struct world *world)
{
    struct peer peer;
    struct world *leader = open_leader(world, &peer);
    if (!leader)
        return;
    peer.refusal = PEER_STOPPING;
    resigns(world, leader, &peer);
    assert_true(sees_alive(world, "node-2"));
    world_free(leader);
}

static void what_one_node_does_the_other_hears(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        return;
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    drain(world, "node-2", true, "anna");
    for (int64_t until_ms = soon_ms(); !look_for_drain(other, "node-2");)
        world_pass(other, until_ms);
    assert_int_equal(see_run(other, run.id)->run.state, RUN_CLAIMED);
    assert_int_equal(see_job(other, job)->cursor_ms, 5000);

    struct store_order order = {.run_id = run.id, .reason = REASON_USER, .by = "otto"};
    world_do_one(other, STORE_ORDER, &order);
    for (int64_t until_ms = soon_ms(); see_run(world, run.id)->kill_reason != REASON_USER;)
        world_pass(world, until_ms);
    world_free(other);
}

static void one_of_two_nodes_wins_a_tick(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        return;
    struct id job = make_job(world, "backup");
    for (int64_t until_ms = soon_ms(); other->picture.job_count == 0;)
        world_pass(other, until_ms);
    struct store_claim first = a_claim(world, job, 5000, OVERLAP_ALLOW);
    struct store_claim second = a_claim(other, job, 5000, OVERLAP_ALLOW);
    world_do_one(world, STORE_CLAIM, &first);
    world_do_one(other, STORE_CLAIM, &second);
    assert_int_equal(first.result, CLAIM_WON);
    assert_int_equal(second.result, CLAIM_STALE);
    assert_int_equal(count_runs(other, job, RUN_CLAIMED), 1);
    world_free(other);
}

const struct contract_test node_tests[] = {
    CONTRACT_TEST(what_a_node_says_is_fed_to_itself),
    CONTRACT_TEST(news_are_passed_on),
    CONTRACT_TEST(the_only_worker_leads),
    CONTRACT_TEST(who_is_no_worker_does_not_lead),
    CONTRACT_TEST(a_program_that_does_not_stand_does_not_lead),
    CONTRACT_TEST(a_program_that_stands_leads),
    CONTRACT_TEST(a_drain_holds_until_it_is_taken_back),
    CONTRACT_TEST(each_drain_of_a_request_is_done),
    CONTRACT_TEST(a_claimed_run_is_taken_over),
    CONTRACT_TEST(what_is_not_as_thought_is_not_taken_over),
    CONTRACT_TEST(what_is_forgotten_is_fed),
    CONTRACT_TEST(an_entry_says_which_node_passed_over),
    CONTRACT_TEST(two_nodes_see_each_other),
    CONTRACT_TEST(who_leaves_is_gone_for_the_other),
    CONTRACT_TEST(the_lead_moves_to_the_other),
    CONTRACT_TEST(a_leader_that_is_no_worker_any_more_resigns),
    CONTRACT_TEST(a_program_that_stands_no_longer_resigns),
    CONTRACT_TEST(a_leader_that_is_about_to_stop_resigns),
    CONTRACT_TEST(what_one_node_does_the_other_hears),
    CONTRACT_TEST(one_of_two_nodes_wins_a_tick),
    {NULL, NULL},
};
