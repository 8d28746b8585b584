/* Nodes come, vanish, stop, and have each other's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd_lab.h"

/* ---- a node that vanishes ---- */

static void who_vanishes_is_gone_and_comes_back_by_itself(void **state)
{
    (void)state;
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
    first->is_frozen = true; /* kill -STOP, as far as etcd can tell */
    struct left_lease left = leave_lease();
    int64_t since_ms = now_ms(), ended_ms = 0, gone_ms;
    while (!leads(second) || hears_of(second, "node-1", true)) {
        assert_true(now_ms() - since_ms < HANG_MS);
        turn();
        assert_false(leads(second) && leads(first)); /* asked in this order */
        if (!ended_ms && !leads(first)) /* it would know, whenever it were to wake up */
            ended_ms = now_ms();
    }
    gone_ms = now_ms() - since_ms;
    wait_until(has_run_out(&left));
    int64_t ttl_ms = now_ms() - left.since_ms;
    print_message("led no more after %lld ms, the other leads after %lld ms, a lease is gone after "
                  "%lld ms\n",
                  (long long)(ended_ms - since_ms), (long long)gone_ms, (long long)ttl_ms);
    assert_true(gone_ms < 2 * ttl_ms); /* with the lease, and not some time later */
    assert_false(leads(first));
    assert_string_equal(second->world->picture.leader, "node-2");
    first->is_frozen = false;
    wait_until(hears_of(second, "node-1", true));
    wait_until(sees_alive(first->world, "node-1"));
    wait_until(strcmp(first->world->picture.leader, "node-2") == 0);
    say(first, 7);
    wait_until(has_heard(second, "node-1", 7));
    assert_false(leads(first));
    assert_true(leads(second));
    end_all();
}

/* ---- a node that is looked at ---- */

/* As its owner does, who has a reason to. */
static bool is_gone_for(struct node *node, const char *name)
{
    static int64_t looked_ms;
    if (now_ms() - looked_ms >= STORE_LOOK_MS) {
        looked_ms = now_ms();
        store_suspect(node->world->store, name);
    }
    return hears_of(node, name, false);
}

static void start_two(struct node **ret_first, struct node **ret_second)
{
    new_lab();
    struct node *first = *ret_first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = *ret_second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
}

/* Long before its lease is over; also the one that leads. It learns of that when it wakes up. */
static void who_is_silent_is_gone_before_its_lease(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct node *nodes[2];
        start_two(&nodes[0], &nodes[1]);
        struct node *silent = nodes[i], *other = nodes[1 - i];
        const char *name = i == 0 ? "node-1" : "node-2";
        store_beat(silent->world->store, true);
        for (int turns = 0; turns < STAYS; turns++) {
            turn();
            assert_false(is_gone_for(other, name)); /* it is heard twice a second */
        }
        silent->is_frozen = true;
        struct left_lease left = leave_lease();
        wait_until(is_gone_for(other, name));
        print_message("gone after %lld ms\n", (long long)(now_ms() - left.since_ms));
        assert_false(has_run_out(&left));
        wait_until(leads(other));
        silent->is_frozen = false;
        wait_until(hears_of(other, name, true) && is_well(silent));
        assert_true(leads(other) && !leads(silent));
        end_all();
    }
}

/* Its agent is restarted, or it is of an older version: their leases are waited for. */
static void who_is_not_to_be_heard_often_is_not_suspected(void **state)
{
    (void)state;
    struct node *first, *second;
    start_two(&first, &second);
    second->self.refusal = PEER_STOPPING;
    say(second, 1);
    wait_until(has_heard(first, "node-2", 1));
    end_node(second); /* it keeps its place for the time of a lease */
    struct left_lease left = leave_lease();
    for (int64_t since_ms = now_ms(); now_ms() - since_ms < 3 * STORE_SILENT_MS; turn())
        assert_false(is_gone_for(first, "node-2") && !has_run_out(&left));
    wait_until(has_run_out(&left));
    end_all();

    struct strbuf value;
    struct peer older = a_peer("node-3", 3);
    strbuf_init(&value);
    start_two(&first, &second);
    older.beats_ms = 0; /* as read by this version: it says nothing of that */
    assert_int_equal(peer_encode(&older, &value), OK);
    put("nodes/node-3", value.text);
    wait_until(hears_of(first, "node-3", true));
    for (int64_t since_ms = now_ms(); now_ms() - since_ms < 3 * STORE_SILENT_MS; turn())
        assert_false(is_gone_for(first, "node-3"));
    strbuf_release(&value);
    delete_below("nodes/node-3");
    end_all();
}

/* ---- two agents with one name ---- */

static void a_name_that_is_in_use_is_refused(void **state)
{
    struct strbuf why;
    (void)state;
    new_lab();
    strbuf_init(&why);
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    int64_t since_ms = now_ms();
    struct node *second = start_node(1, "node-1", 2);
    wait_until(health(second, &why) != OK);
    assert_true(now_ms() - since_ms > TTL_MS); /* a dead one would be gone by now */
    assert_int_equal(health(second, &why), E_CONFLICT);
    assert_string_equal(why.text,
                        "node id node-1 is in use by another agent at https://10.0.0.1:7625 "
                        "(started 2026-01-01T00:00:00Z): give this one another --node-id");
    assert_false(leads(second));
    assert_true(is_well(first));
    assert_true(look_for_peer(second->world, "node-1")->home == 1);
    end_node(first);
    wait_until(is_well(second)); /* it went on trying: to end is for the agent */
    wait_until(leads(second));
    wait_until(look_for_peer(second->world, "node-1")->home ==
               2); /* the watch tells it by itself */
    strbuf_release(&why);
    end_all();
}

static enum status try_claim(struct node *node, struct id job, int64_t tick_ms)
{
    struct store_claim claim = a_claim(node->world, job, tick_ms, OVERLAP_ALLOW);
    return world_do(node->world, STORE_CLAIM, &claim, 1);
}

/* One sleeps until its lease is gone, another takes its name, and the first wakes up. */
static void who_is_shut_out_claims_takes_and_begins_nothing(void **state)
{
    struct strbuf why;
    (void)state;
    new_lab();
    strbuf_init(&why);
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct id job = make_job(first->world, "backup");
    assert_int_equal(try_claim(first, job, 5000), OK);
    struct run open = claim_run(first->world, job, 6000),
               running = claim_run(first->world, job, 7000);
    begin_run(first->world, &running);
    first->is_frozen = true;
    struct node *second = start_node(1, "node-1", 2);
    second->world->last_number = 1000;
    wait_until(leads(second));
    first->is_frozen = false;
    struct store_begin begin = {.run_id = open.id, .nonce = open.nonce};
    struct store_take take = {
        .run_id = open.id, .from_nonce = open.nonce, .node = "node-1", .nonce = 77};
    assert_int_not_equal(try_claim(first, job, 8000), OK); /* the store itself refuses it */
    assert_int_not_equal(world_do(first->world, STORE_BEGIN, &begin, 1), OK);
    wait_until(health(first, &why) == E_CONFLICT);
    assert_int_equal(try_claim(first, job, 8000), E_CONFLICT);
    assert_int_equal(world_do(first->world, STORE_BEGIN, &begin, 1), E_CONFLICT);
    assert_int_equal(world_do(first->world, STORE_TAKE, &take, 1), E_CONFLICT);
    struct store_finish finish = {.run = running}; /* what it has, it hands in */
    finish.run.state = RUN_OK;
    assert_int_equal(world_do(first->world, STORE_FINISH, &finish, 1), OK);
    assert_int_equal(try_claim(second, job, 8000), OK);
    assert_int_equal(health(first, &why), E_CONFLICT);
    end_node(second);
    wait_until(is_well(first)); /* it has been in, and is again */
    strbuf_release(&why);
    end_all();
}

static void a_restart_joins_at_once(void **state)
{
    (void)state;
    new_lab();
    struct node *dead = start_node(0, "node-1", 1);
    wait_until(leads(dead));
    struct node *other = start_node(1, "node-2", 2);
    wait_until(hears_of(other, "node-1", true) && hears_of(other, "node-2", true));
    world_mark(other->world);
    dead->is_frozen = true; /* kill -9; its keys are there for 5 s more */
    int64_t since_ms = now_ms();
    struct node *again = start_node(2, "node-1", 1);
    wait_until(hears_of(again, "node-1", true) &&
               look_for_peer(other->world, "node-1")->instance.bytes[0] == 3);
    wait_until(leads(other)); /* the dead one's candidacy is gone, and it was next */
    assert_int_equal(other->world->picture.changes[STORE_CHANGE_PEER], 1); /* never gone */
    print_message("joined and the lead passed on after %lld ms\n",
                  (long long)(now_ms() - since_ms));

    dead->is_frozen = false; /* it was not dead, nor its folder locked: it must not come back */
    wait_until(!is_well(dead));
    for (int turns = 0; turns < STAYS; turns++, turn())
        assert_false(is_well(dead));
    assert_true(is_well(again));
    assert_int_equal(look_for_peer(other->world, "node-1")->instance.bytes[0], 3);
    assert_false(leads(dead));
    end_all();
}

/* ---- a node that stops ---- */

/* Its agent ends, as it has said before; `running` goes on without it. */
static void stop_node(struct node *node, int running)
{
    node->self.refusal = PEER_STOPPING;
    say(node, running);
    end_node(node);
}

static void who_stops_with_runs_keeps_its_place(void **state)
{
    (void)state;
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
    stop_node(first, 3);
    struct left_lease left = leave_lease();
    wait_until(leads(second)); /* at once */
    assert_false(has_run_out(&left));
    /* The lead and the nodes are watched apart: either can be told first. */
    wait_until(look_for_peer(second->world, "node-1")->refusal == PEER_STOPPING);
    assert_int_equal(look_for_peer(second->world, "node-1")->running, 3);
    struct node *again = start_node(2, "node-1", 1); /* in time */
    wait_until(look_for_peer(second->world, "node-1")->refusal == PEER_ACCEPTS);
    for (; !has_run_out(&left); turn())
        assert_true(hears_of(second, "node-1", true));
    for (int turns = 0; turns < STAYS; turns++, turn())
        assert_true(hears_of(second, "node-1", true));
    assert_true(is_well(again));

    int64_t since_ms = now_ms();
    stop_node(again, 1); /* for good */
    wait_until(hears_of(second, "node-1", false));
    assert_true(now_ms() - since_ms > TTL_MS / 2); /* not at once, as without runs */
    end_all();
}

static void who_stops_without_runs_leaves_at_once(void **state)
{
    (void)state;
    new_lab();
    struct node *first = start_node(0, "node-1", 1), *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
    struct left_lease left = leave_lease();
    stop_node(first, 0);
    wait_until(hears_of(second, "node-1", false) && leads(second));
    assert_false(has_run_out(&left));
    end_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_vanishes_is_gone_and_comes_back_by_itself),
        cmocka_unit_test(who_is_silent_is_gone_before_its_lease),
        cmocka_unit_test(who_is_not_to_be_heard_often_is_not_suspected),
        cmocka_unit_test(a_name_that_is_in_use_is_refused),
        cmocka_unit_test(who_is_shut_out_claims_takes_and_begins_nothing),
        cmocka_unit_test(a_restart_joins_at_once),
        cmocka_unit_test(who_stops_with_runs_keeps_its_place),
        cmocka_unit_test(who_stops_without_runs_leaves_at_once),
    };
    return lab_run("nodes in etcd", tests, sizeof(tests) / sizeof(tests[0]));
}
