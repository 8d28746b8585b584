/* Groups: a run gets its slots with the claim or the take, in the same transaction, and gives them
 * back with its end; who gets none waits. */
#include <stdio.h>
#include <string.h>

#include "group/group.h"
#include "store_world.h"

/* Sets the limits of a group; returns the slots of it and of the groups before. */
static struct store_slots limit(struct world *world, struct store_slots slots, const char *name,
                                int cluster, int node)
{
    struct store_put_doc put = {.kind = GROUP_DOC, .json = "{}", .expected_revision = -1};
    struct store_slot *slot = &slots.items[slots.count++];
    snprintf(put.name, sizeof(put.name), "%s", name);
    world_do_one(world, STORE_PUT_DOC, &put);
    *slot = (struct store_slot){.revision = put.revision, .cluster = cluster, .node = node};
    snprintf(slot->group, sizeof(slot->group), "%s", name);
    return slots;
}

static struct store_slots limit_one(struct world *world, const char *name, int cluster, int node)
{
    return limit(world, (struct store_slots){.count = 0}, name, cluster, node);
}

static void name_groups(const struct store_slots *slots, char ret[RUN_GROUPS_SIZE])
{
    ret[0] = '\0';
    for (size_t i = 0; i < slots->count; i++)
        assert_true(groups_add(ret, slots->items[i].group));
}

static struct store_claim grouped(struct world *world, struct id job, int64_t tick_ms,
                                  const struct store_slots *slots, const char *node, int priority)
{
    struct store_claim claim = a_claim(world, job, tick_ms, OVERLAP_ALLOW);
    claim.slots = *slots;
    claim.run.priority = priority;
    claim.run.not_before_ms = 0;
    name_groups(slots, claim.run.groups);
    snprintf(claim.run.node, sizeof(claim.run.node), "%s", node);
    return claim;
}

/* Claims a tick of a new job. */
static struct store_claim claim_on(struct world *world, const char *name, int64_t tick_ms,
                                   const struct store_slots *slots, const char *node)
{
    struct store_claim claim = grouped(world, make_job(world, name), tick_ms, slots, node, 0);
    world_do_one(world, STORE_CLAIM, &claim);
    return claim;
}

static struct store_take take_on(struct world *world, const struct run *run,
                                 const struct store_slots *slots, const char *node)
{
    struct store_take take = {.run_id = run->id, .now_ms = 900000, .slots = *slots};
    static uint64_t nonce = 77000;
    take.nonce = ++nonce;
    take.from_nonce = run->state == RUN_CLAIMED ? run->nonce : 0;
    name_groups(slots, take.groups);
    snprintf(take.node, sizeof(take.node), "%s", node);
    world_do_one(world, STORE_TAKE, &take);
    return take;
}

static enum run_state state_of(struct world *world, const struct run *run)
{
    return see_run(world, run->id)->run.state;
}

static void a_full_group_makes_runs_wait(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 2, 0);
    struct store_claim claims[4];
    for (int i = 0; i < 4; i++) {
        char name[24], node[24];
        snprintf(name, sizeof(name), "job-%d", i);
        snprintf(node, sizeof(node), "node-%d", i);
        claims[i] = claim_on(world, name, 2000 + i, &slots, node);
        assert_int_equal(claims[i].result, i < 2 ? CLAIM_WON : CLAIM_SPREAD);
        assert_int_equal(state_of(world, &claims[i].run), i < 2 ? RUN_CLAIMED : RUN_DUE);
    }
    const struct run *waits = &see_run(world, claims[2].run.id)->run;
    assert_string_equal(waits->groups, "db");
    assert_string_equal(waits->node, "");
    assert_int_equal(waits->nonce, 0);
    assert_int_equal(see_job(world, claims[2].job_uid)->cursor_ms, 2002);
    struct store_claim again = claims[2]; /* its answer was lost */
    world_do_one(world, STORE_CLAIM, &again);
    assert_int_equal(again.result, CLAIM_SPREAD);
    assert_false(take_on(world, &claims[2].run, &slots, "node-2").taken);
    world_reopen(world);
    assert_true(begin_run(world, &claims[0].run).begun);
    assert_false(take_on(world, &claims[2].run, &slots, "node-2").taken);
    end_run(world, &claims[0].run, RUN_FAILED, 5000);
    assert_true(take_on(world, &claims[2].run, &slots, "node-2").taken);
    assert_false(take_on(world, &claims[3].run, &slots, "node-3").taken);
}

/* Each way of an end gives the slot back. */
static void every_end_gives_its_slots_back(struct world *world)
{
    static const enum run_state ends[] = {RUN_OK,     RUN_FAILED, RUN_TIMED_OUT,
                                          RUN_KILLED, RUN_LOST,   RUN_MISSED};
    struct store_slots slots = limit_one(world, "db", 1, 0);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char name[24];
        snprintf(name, sizeof(name), "job-%zu", i);
        struct store_claim claim = claim_on(world, name, 2000, &slots, "node-1");
        assert_int_equal(claim.result, CLAIM_WON);
        if (ends[i] != RUN_MISSED)
            assert_true(begin_run(world, &claim.run).begun);
        assert_true(end_run(world, &claim.run, ends[i], 5000).accepted);
        assert_string_equal(see_run(world, claim.run.id)->run.groups, "db");
    }
}

/* The begin of a run of a job that is gone is refused, and that is an end, too. */
static void a_refused_begin_gives_its_slots_back(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 1, 0);
    struct store_claim claim = claim_on(world, "one", 2000, &slots, "node-1");
    struct store_put_job put = a_put(claim.job_uid, "one", 1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_false(begin_run(world, &claim.run).begun);
    assert_int_equal(claim_on(world, "two", 2000, &slots, "node-1").result, CLAIM_WON);
}

static void a_node_has_a_limit_of_its_own(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 3, 1);
    struct store_claim first = claim_on(world, "one", 2000, &slots, "node-1");
    struct store_claim second = claim_on(world, "two", 2000, &slots, "node-1");
    struct store_claim third = claim_on(world, "three", 1500, &slots, "node-2");
    assert_int_equal(first.result, CLAIM_WON);
    assert_int_equal(second.result, CLAIM_SPREAD);
    assert_int_equal(third.result, CLAIM_WON); /* it goes before the one that waits */
    assert_false(take_on(world, &second.run, &slots, "node-1").taken);
    assert_false(take_on(world, &second.run, &slots, "node-2").taken);
    assert_true(take_on(world, &second.run, &slots, "node-3").taken);
}

/* It has its slots already, but not those of the other node. */
static void whoever_takes_a_claimed_run_over_needs_a_slot_of_its_node(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 2, 1);
    struct store_claim first = claim_on(world, "one", 2000, &slots, "node-1");
    struct store_claim second = claim_on(world, "two", 2000, &slots, "node-2");
    assert_int_equal(second.result, CLAIM_WON);
    struct run claimed = see_run(world, first.run.id)->run;
    assert_false(take_on(world, &claimed, &slots, "node-2").taken);
    assert_true(take_on(world, &claimed, &slots, "node-3").taken);
    assert_string_equal(see_run(world, first.run.id)->run.node, "node-3");
}

static void a_run_needs_a_slot_of_each_of_its_groups(struct world *world)
{
    struct store_slots db = limit_one(world, "db", 1, 0);
    struct store_slots both = limit(world, db, "net", 5, 0);
    struct store_slots net = {.items = {both.items[1]}, .count = 1};
    struct store_claim first = claim_on(world, "one", 2000, &db, "node-1");
    struct store_claim second = claim_on(world, "two", 2000, &both, "node-1");
    assert_int_equal(second.result, CLAIM_SPREAD);
    assert_string_equal(see_run(world, second.run.id)->run.groups, "db net");
    struct store_claim before = claim_on(world, "three", 1500, &net, "node-1");
    assert_int_equal(before.result, CLAIM_WON);
    assert_true(begin_run(world, &first.run).begun);
    end_run(world, &first.run, RUN_OK, 5000);
    assert_true(take_on(world, &second.run, &both, "node-1").taken);
}

/* Who comes later does not overtake those that wait, unless it has a higher priority. */
static void new_runs_go_behind_those_that_wait(struct world *world)
{
    static const struct {
        int line, priority;
        int64_t tick_ms;
        enum claim_result result;
    } cases[] = {
        {__LINE__, 0, 4000, CLAIM_SPREAD}, /* later */
        {__LINE__, -1, 1500, CLAIM_SPREAD},
        {__LINE__, 0, 1500, CLAIM_WON}, /* it was due before */
        {__LINE__, 5, 4000, CLAIM_WON},
    };
    struct store_slots slots = limit_one(world, "db", 1, 0);
    struct store_claim first = claim_on(world, "first", 2000, &slots, "node-1");
    struct store_claim waits = claim_on(world, "waits", 3000, &slots, "node-1");
    assert_int_equal(waits.result, CLAIM_SPREAD);
    assert_true(begin_run(world, &first.run).begun);
    end_run(world, &first.run, RUN_OK, 5000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[24];
        snprintf(name, sizeof(name), "case-%d", cases[i].line);
        struct store_claim claim = grouped(world, make_job(world, name), cases[i].tick_ms, &slots,
                                           "node-1", cases[i].priority);
        world_do_one(world, STORE_CLAIM, &claim);
        assert_int_equal(claim.result, cases[i].result);
        if (claim.result == CLAIM_WON)
            end_run(world, &claim.run, RUN_MISSED, 5000);
    }
}

/* A run of a later time keeps nobody waiting. */
static void a_retry_that_is_yet_to_come_does_not_block(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 1, 0);
    struct store_claim first = claim_on(world, "first", 2000, &slots, "node-1");
    assert_true(begin_run(world, &first.run).begun);
    struct store_finish finish = {.run = see_run(world, first.run.id)->run};
    finish.run.state = RUN_FAILED;
    finish.run.finished_ms = 5000;
    finish.again = (struct store_again){.is_wanted = true,
                                        .id = world_id(world),
                                        .not_before_ms = 800000,
                                        .attempts = 2,
                                        .job_revision = 1};
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(finish.again.made);
    const struct run *again = &see_run(world, finish.again.id)->run;
    assert_string_equal(again->groups, "db");
    assert_int_equal(claim_on(world, "second", 3000, &slots, "node-1").result, CLAIM_WON);
}

/* The limits are those that are set now. */
static void limits_that_have_changed_are_refused(struct world *world)
{
    struct store_slots old = limit_one(world, "db", 1, 0), none = old;
    struct store_slots slots = limit_one(world, "db", 2, 0);
    struct id job = make_job(world, "job");
    struct store_claim claim = grouped(world, job, 2000, &old, "node-1", 0);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_STALE);
    assert_int_equal(see_job(world, job)->cursor_ms, CURSOR_MS);
    none.items[0].revision = none.items[0].cluster = 0; /* as if there were none */
    claim = grouped(world, job, 2000, &none, "node-1", 0);
    world_do_one(world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_STALE);
    for (int i = 0; i < 3; i++) {
        claim = grouped(world, job, 2000 + i, &slots, "node-1", 0);
        claim.cursor_ms = i ? 1999 + i : CURSOR_MS;
        world_do_one(world, STORE_CLAIM, &claim);
        assert_int_equal(claim.result, i < 2 ? CLAIM_WON : CLAIM_SPREAD);
    }
    assert_false(take_on(world, &claim.run, &old, "node-1").taken);
    old = limit_one(world, "db", 3, 0);
    assert_false(take_on(world, &claim.run, &slots, "node-1").taken);
    assert_true(take_on(world, &claim.run, &old, "node-1").taken);
}

/* A group that is not there has no limits. */
static void a_missing_group_has_no_limits(struct world *world)
{
    struct store_slots slots = {.items = {{.group = "nowhere"}}, .count = 1};
    for (int i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof(name), "job-%d", i);
        assert_int_equal(claim_on(world, name, 2000, &slots, "node-1").result, CLAIM_WON);
    }
}

/* A run that waits for a slot is ended as one that waits for a node. */
static void what_waits_can_be_ended(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 1, 0);
    claim_on(world, "first", 2000, &slots, "node-1");
    struct store_claim killed = claim_on(world, "killed", 3000, &slots, "node-1");
    struct store_order order = {.run_id = killed.run.id, .reason = REASON_USER, .by = "otto"};
    world_do_one(world, STORE_ORDER, &order);
    assert_int_equal(state_of(world, &killed.run), RUN_SKIPPED);

    struct store_claim paused = claim_on(world, "paused", 3000, &slots, "node-1");
    struct store_put_job put = a_put(paused.job_uid, "paused", 1);
    put.paused = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(state_of(world, &paused.run), RUN_SKIPPED);
    assert_int_equal(see_run(world, paused.run.id)->run.reason, REASON_PAUSED);

    struct store_claim deleted = claim_on(world, "deleted", 3000, &slots, "node-1");
    put = a_put(deleted.job_uid, "deleted", 1);
    put.deleted = true;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(state_of(world, &deleted.run), RUN_SKIPPED);

    struct store_claim late = claim_on(world, "late", 3000, &slots, "node-1");
    struct store_take take = {
        .run_id = late.run.id, .nonce = 5, .now_ms = 900000, .node = "node-1", .ends = true};
    world_do_one(world, STORE_TAKE, &take);
    assert_true(take.taken); /* only to be ended: without a slot */
    assert_string_equal(take.run.groups, "db");
    assert_true(end_run(world, &take.run, RUN_MISSED, 5000).accepted);
}

/* The overlap rule sees it as an open run. */
static void a_run_that_waits_is_open(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 1, 0);
    claim_on(world, "first", 2000, &slots, "node-1");
    struct store_claim waits = claim_on(world, "waits", 3000, &slots, "node-1");
    struct store_claim next = grouped(world, waits.job_uid, 4000, &slots, "node-1", 0);
    next.cursor_ms = 3000;
    next.overlap = OVERLAP_SKIP;
    world_do_one(world, STORE_CLAIM, &next);
    assert_int_equal(next.result, CLAIM_SKIPPED);
}

/* The definition that the taker knows says which groups the run has. */
static void a_take_brings_the_groups(struct world *world)
{
    struct store_slots db = limit_one(world, "db", 1, 0), net = limit_one(world, "net", 1, 0);
    claim_on(world, "first", 2000, &db, "node-1");
    struct store_claim waits = claim_on(world, "waits", 3000, &db, "node-1");
    assert_true(take_on(world, &waits.run, &net, "node-1").taken);
    assert_string_equal(see_run(world, waits.run.id)->run.groups, "net");
    assert_int_equal(claim_on(world, "last", 3000, &net, "node-1").result, CLAIM_SPREAD);
}

/* Of two nodes that ask for the last slot at the same time, one gets it. */
static void two_nodes_do_not_get_the_same_slot(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 1, 0);
    struct world *other = world_open_other(world);
    if (!other)
        return;
    for (int i = 0; i < 5; i++) {
        char name[24];
        snprintf(name, sizeof(name), "a-%d", i);
        struct store_claim first =
            grouped(world, make_job(world, name), 2000 + i, &slots, "node-1", 0);
        snprintf(name, sizeof(name), "b-%d", i);
        struct store_claim second =
            grouped(world, make_job(world, name), 2000 + i, &slots, "node-2", 0);
        world_do_two(world, other, STORE_CLAIM, &first, &second);
        bool first_won = first.result == CLAIM_WON, second_won = second.result == CLAIM_WON;
        assert_int_equal(first_won + second_won, 1);
        struct run *won = first_won ? &first.run : &second.run;
        struct run *lost = first_won ? &second.run : &first.run;
        while (see_run(world, won->id)->run.state != RUN_CLAIMED)
            world_pass(world, soon_ms());
        end_run(world, won, RUN_MISSED, 5000);
        struct store_take takes[2] = {{.run_id = lost->id, .now_ms = 900000, .slots = slots}};
        snprintf(takes[0].groups, sizeof(takes[0].groups), "db");
        takes[1] = takes[0];
        takes[0].nonce = 100 + (uint64_t)i;
        takes[1].nonce = 200 + (uint64_t)i;
        world_do_two(world, other, STORE_TAKE, &takes[0], &takes[1]);
        assert_int_equal(takes[0].taken + takes[1].taken, 1);
        end_run(world, takes[0].taken ? &takes[0].run : &takes[1].run, RUN_MISSED, 5000);
    }
    world_free(other);
}

/* The slots of a node with this label, of which so many may be under way. */
static struct store_slots labelled(const struct store_slots *slots, const char *label, int most)
{
    struct store_slots here = *slots;
    snprintf(here.labels, sizeof(here.labels), "%s", label);
    here.items[0].alike[0] = most;
    return here;
}

static void a_label_has_a_limit_of_its_own(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 5, 0);
    struct store_slots eu = labelled(&slots, "zone=eu", 2), us = labelled(&slots, "zone=us", 2);
    struct store_slots none = labelled(&slots, "zone=!", 1);
    struct store_claim first = claim_on(world, "one", 2000, &eu, "node-1");
    struct store_claim second = claim_on(world, "two", 2001, &eu, "node-2");
    struct store_claim third = claim_on(world, "three", 2002, &eu, "node-3");
    assert_int_equal(first.result, CLAIM_WON);
    assert_int_equal(second.result, CLAIM_WON);
    assert_int_equal(third.result, CLAIM_SPREAD);
    assert_string_equal(see_run(world, second.run.id)->run.groups, "db zone=eu");
    assert_string_equal(see_run(world, third.run.id)->run.groups, "db");
    assert_string_equal(third.run.groups, "db");
    world_reopen(world);
    assert_false(take_on(world, &third.run, &eu, "node-1").taken);
    assert_true(take_on(world, &third.run, &us, "node-4").taken);
    assert_string_equal(see_run(world, third.run.id)->run.groups, "db zone=us");
    struct store_claim fourth = claim_on(world, "four", 2003, &none, "node-5");
    struct store_claim fifth = claim_on(world, "five", 2004, &none, "node-6");
    assert_int_equal(fourth.result, CLAIM_WON); /* nodes without the label are together */
    assert_int_equal(fifth.result, CLAIM_SPREAD);
    assert_true(begin_run(world, &first.run).begun);
    end_run(world, &first.run, RUN_OK, 5000);
    assert_true(take_on(world, &fifth.run, &eu, "node-3").taken);
}

/* What was under way before there was a limit by that label could be anywhere. */
static void who_has_no_label_counts_for_each_value(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 5, 0);
    struct store_slots eu = labelled(&slots, "zone=eu", 1), rack = labelled(&slots, "rack=7", 1);
    struct store_claim first = claim_on(world, "one", 2000, &slots, "node-1");
    struct store_claim second = claim_on(world, "two", 2001, &eu, "node-2");
    assert_int_equal(first.result, CLAIM_WON);
    assert_int_equal(second.result, CLAIM_SPREAD);
    assert_true(begin_run(world, &first.run).begun);
    end_run(world, &first.run, RUN_OK, 5000);
    assert_true(take_on(world, &second.run, &eu, "node-2").taken);
    struct store_claim third = claim_on(world, "three", 2002, &rack, "node-3");
    assert_int_equal(third.result, CLAIM_SPREAD);
}

/* The slot of the cluster stays, that of the label is another one. */
static void whoever_takes_a_claimed_run_over_needs_a_slot_of_its_label(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 2, 0);
    struct store_slots eu = labelled(&slots, "zone=eu", 1), us = labelled(&slots, "zone=us", 1);
    struct store_slots asia = labelled(&slots, "zone=asia", 1);
    struct store_claim first = claim_on(world, "one", 2000, &eu, "node-1");
    struct store_claim second = claim_on(world, "two", 2001, &us, "node-2");
    assert_int_equal(second.result, CLAIM_WON);
    struct run claimed = see_run(world, first.run.id)->run;
    assert_false(take_on(world, &claimed, &us, "node-2").taken);
    assert_true(take_on(world, &claimed, &asia, "node-3").taken);
    assert_string_equal(see_run(world, first.run.id)->run.groups, "db zone=asia");
    struct store_claim third = claim_on(world, "three", 2002, &eu, "node-1");
    assert_int_equal(third.result, CLAIM_SPREAD); /* of the cluster there is none */
    end_run(world, &second.run, RUN_MISSED, 5000);
    assert_true(take_on(world, &third.run, &eu, "node-1").taken);
}

/* A further attempt waits on no node, and has no label. */
static void a_retry_has_no_label(struct world *world)
{
    struct store_slots slots = limit_one(world, "db", 2, 0), eu = labelled(&slots, "zone=eu", 1);
    struct store_claim claim = claim_on(world, "one", 2000, &eu, "node-1");
    assert_true(begin_run(world, &claim.run).begun);
    struct store_finish finish = {.run = see_run(world, claim.run.id)->run};
    finish.run.state = RUN_FAILED;
    finish.run.finished_ms = 5000;
    finish.again = (struct store_again){
        .is_wanted = true, .id = world_id(world), .attempts = 2, .job_revision = 1};
    world_do_one(world, STORE_FINISH, &finish);
    assert_true(finish.again.made);
    assert_string_equal(see_run(world, finish.again.id)->run.groups, "db");
    assert_string_equal(see_run(world, claim.run.id)->run.groups, "db zone=eu");
}

/* Their names have slashes. */
static void a_namespace_has_a_group(struct world *world)
{
    struct store_slots shop = limit_one(world, "shop/", 2, 0);
    struct store_slots both = limit(world, shop, "shop/eu/", 1, 0);
    assert_int_equal(claim_on(world, "shop/eu/a", 2000, &both, "node-1").result, CLAIM_WON);
    assert_int_equal(claim_on(world, "shop/eu/b", 2001, &both, "node-1").result, CLAIM_SPREAD);
    assert_int_equal(claim_on(world, "shop/c", 1500, &shop, "node-1").result, CLAIM_WON);
    assert_int_equal(claim_on(world, "shop/d", 1501, &shop, "node-1").result, CLAIM_SPREAD);
    world_reopen(world);
    struct store_claim other = claim_on(world, "other", 2003, &(struct store_slots){0}, "node-1");
    assert_int_equal(other.result, CLAIM_WON);
}

const struct contract_test group_tests[] = {
    CONTRACT_TEST(a_full_group_makes_runs_wait),
    CONTRACT_TEST(every_end_gives_its_slots_back),
    CONTRACT_TEST(a_refused_begin_gives_its_slots_back),
    CONTRACT_TEST(a_node_has_a_limit_of_its_own),
    CONTRACT_TEST(whoever_takes_a_claimed_run_over_needs_a_slot_of_its_node),
    CONTRACT_TEST(a_run_needs_a_slot_of_each_of_its_groups),
    CONTRACT_TEST(new_runs_go_behind_those_that_wait),
    CONTRACT_TEST(a_retry_that_is_yet_to_come_does_not_block),
    CONTRACT_TEST(limits_that_have_changed_are_refused),
    CONTRACT_TEST(a_missing_group_has_no_limits),
    CONTRACT_TEST(what_waits_can_be_ended),
    CONTRACT_TEST(a_run_that_waits_is_open),
    CONTRACT_TEST(a_take_brings_the_groups),
    CONTRACT_TEST(a_label_has_a_limit_of_its_own),
    CONTRACT_TEST(who_has_no_label_counts_for_each_value),
    CONTRACT_TEST(whoever_takes_a_claimed_run_over_needs_a_slot_of_its_label),
    CONTRACT_TEST(a_retry_has_no_label),
    CONTRACT_TEST(a_namespace_has_a_group),
    CONTRACT_TEST(two_nodes_do_not_get_the_same_slot),
    {0},
};
