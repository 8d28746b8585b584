/* Nodes on a real etcd when things go wrong. Each node has a loop of its own, so that one can stand
 * still, as if it were stopped or dead, while the others go on. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "etcd.h"
#include "etcd/store_etcd.h"
#include "etcd_admin.h"
#include "etcd_server.h"
#include "store_world.h"

enum { NODES = 3, TTL_MS = 5000, HANG_MS = 60000 };
enum { STAYS = 100 }; /* turns of 10 ms or more for each node, for what must not change */

struct node {
    struct loop *loop;
    struct loop_timer *tick;
    struct world *world;
    struct peer self;
    bool is_frozen;
};

/* cmocka gives a backend no context. */
static struct {
    struct etcd_cluster cluster;
    const char *user, *password;
    int places;
    struct node nodes[NODES];
} lab;

static int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

static void on_tick(void *context)
{
    (void)context; /* it only ends loop_run_once */
}

static void turn_node(struct node *node)
{
    loop_timer_set(node->tick, 10);
    loop_run_once(node->loop);
    store_dispatch(node->world->store);
    world_read_feed(node->world);
}

/* All that are not frozen, a bit. */
static void turn(void)
{
    for (struct node *node = lab.nodes; node < lab.nodes + NODES; node++)
        if (node->world && !node->is_frozen)
            turn_node(node);
}

static void make_place(char place[128])
{
    snprintf(place, 128, "/nodes/%d", lab.places);
}

static void remove_place(const char *place)
{
    (void)place; /* it goes with the server */
}

static const struct store_backend backend = {
    .name = "etcd",
    .make_place = make_place,
    .remove_place = remove_place,
    .durable = true,
    .turn = turn,
};

/* The condition must come true while all nodes live that are not frozen. The limit only ends a
 * hang: what is to be there sooner than something else is compared with that. */
#define wait_until(condition)                                                                      \
    do {                                                                                           \
        int64_t until_ms = now_ms() + HANG_MS;                                                     \
        while (!(condition)) {                                                                     \
            if (now_ms() > until_ms)                                                               \
                fail_msg("line %d: never came true: %s", __LINE__, #condition);                    \
            turn();                                                                                \
        }                                                                                          \
    } while (0)

/* ---- nodes ---- */

static void new_lab(void)
{
    lab.places++;
}

static struct node *open_node(int index)
{
    struct node *node = &lab.nodes[index];
    struct strbuf why;
    strbuf_init(&why);
    *node = (struct node){.is_frozen = false};
    assert_int_equal(loop_new(&node->loop), OK);
    assert_int_equal(loop_timer_new(node->loop, on_tick, NULL, &node->tick), OK);
    struct world *world = world_new(&backend);
    struct store_etcd_config config = {.endpoints = lab.cluster.endpoints,
                                       .endpoint_count = (size_t)lab.cluster.count,
                                       .user = lab.user,
                                       .password = lab.password,
                                       .prefix = world->place};
    enum status st = store_etcd_open(node->loop, &config, world_wake(world), &world->store, &why);
    if (st != OK)
        fail_msg("%s: %s", status_text(st), why.text);
    strbuf_release(&why);
    world_read_feed(world);
    node->world = world;
    return node;
}

static struct node *start_node(int index, const char *name, uint64_t home)
{
    struct node *node = open_node(index);
    node->self = a_peer(name, home);
    node->self.instance.bytes[0] = (uint8_t)(index + 1); /* each start has one of its own */
    announce(node->world, &node->self);
    return node;
}

static void end_node(struct node *node)
{
    if (!node->world)
        return;
    world_free(node->world);
    loop_timer_free(node->tick);
    loop_free(node->loop);
    *node = (struct node){.is_frozen = false};
}

static void end_all(void)
{
    for (int i = 0; i < NODES; i++)
        end_node(&lab.nodes[i]);
}

static bool leads(const struct node *node)
{
    return store_leads(node->world->store);
}

static bool hears_of(const struct node *node, const char *name, bool is_alive)
{
    const struct peer *peer = look_for_peer(node->world, name);
    return peer && peer->is_alive == is_alive;
}

static enum status health(const struct node *node, struct strbuf *why)
{
    strbuf_reset(why);
    return store_health(node->world->store, why);
}

static bool is_well(const struct node *node)
{
    struct strbuf why;
    strbuf_init(&why);
    bool well = health(node, &why) == OK;
    strbuf_release(&why);
    return well;
}

/* Says something new, without waiting until it is heard. */
static void say(struct node *node, int running)
{
    node->self.running = running;
    announce(node->world, &node->self);
}

static bool has_heard(const struct node *node, const char *name, int running)
{
    const struct peer *peer = look_for_peer(node->world, name);
    return peer && peer->running == running;
}

/* ---- asking etcd behind their backs ---- */

struct asked {
    bool is_done;
    enum status status;
    int64_t revision;
    bool is_leader; /* who answered */
    int64_t lease_id, ttl_s;
};

static void on_asked(void *context, const struct etcd_result *result)
{
    *(struct asked *)context = (struct asked){
        .is_done = true,
        .status = result->status,
        .revision = result->revision,
        .is_leader = result->member.leader_id && result->member.leader_id == result->member_id,
        .lease_id = result->lease.id,
        .ttl_s = result->lease.ttl_s};
}

struct asker {
    struct loop *loop;
    struct etcd_client *client;
    struct asked asked;
    struct etcd_reply reply;
};

static void open_asker(struct asker *asker, int member)
{
    struct etcd_client_config config = {.endpoints = &lab.cluster.endpoints[member],
                                        .endpoint_count = 1};
    *asker = (struct asker){.reply = {on_asked, NULL, 5000}};
    asker->reply.context = &asker->asked;
    assert_int_equal(loop_new(&asker->loop), OK);
    assert_int_equal(etcd_client_new(asker->loop, &config, &asker->client, NULL), OK);
}

static struct asked close_asker(struct asker *asker, enum status st)
{
    assert_int_equal(st, OK);
    while (!asker->asked.is_done)
        loop_run_once(asker->loop);
    assert_int_equal(asker->asked.status, OK);
    etcd_client_free(asker->client);
    loop_free(asker->loop);
    return asker->asked;
}

static int64_t put(const char *kind, const char *value)
{
    struct asker asker;
    char key[160];
    snprintf(key, sizeof(key), "/nodes/%d/%s", lab.places, kind);
    open_asker(&asker, 0);
    struct etcd_put request = {.key = etcd_text(key), .value = etcd_text(value)};
    return close_asker(&asker, etcd_put(asker.client, &request, &asker.reply, NULL)).revision;
}

static void delete_below(const char *kind)
{
    struct asker asker;
    char key[160];
    snprintf(key, sizeof(key), "/nodes/%d/%s", lab.places, kind);
    open_asker(&asker, 0);
    struct etcd_delete request = {.key = etcd_text(key), .prefix = true};
    close_asker(&asker, etcd_delete(asker.client, &request, &asker.reply, NULL));
}

static void compact(int64_t revision)
{
    struct asker asker;
    open_asker(&asker, 0);
    close_asker(&asker, etcd_compact(asker.client, revision, true, &asker.reply, NULL));
}

static bool is_etcd_leader(int member)
{
    struct asker asker;
    open_asker(&asker, member);
    return close_asker(&asker, etcd_status(asker.client, &asker.reply, NULL)).is_leader;
}

/* ---- how long a TTL is here ---- */

/* A lease like that of a node which nobody keeps. When etcd lets it go, a TTL has passed, however
 * slow the machine is. */
struct left_lease {
    int64_t id, since_ms;
};

static struct left_lease leave_lease(void)
{
    struct asker asker;
    struct left_lease left = {.since_ms = now_ms()};
    open_asker(&asker, 0);
    left.id = close_asker(&asker, etcd_lease_grant(asker.client, TTL_MS / 1000, &asker.reply, NULL))
                  .lease_id;
    return left;
}

static bool has_run_out(const struct left_lease *left)
{
    struct asker asker;
    open_asker(&asker, 0);
    return close_asker(&asker, etcd_lease_time_to_live(asker.client, left->id, &asker.reply, NULL))
               .ttl_s < 0;
}

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
    assert_true(look_for_peer(second->world, "node-1")->home == 2);
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

/* ---- etcd goes away ---- */

static void nobody_is_gone_because_etcd_is_away(void **state)
{
    (void)state;
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
    etcd_member_kill(&lab.cluster, 0);
    say(first, 5);                                               /* which nobody hears, yet */
    for (int turns = 0; turns < STAYS; turns += !leads(first)) { /* until its TTL, and beyond */
        turn();
        assert_true(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
        assert_false(leads(second));
    }
    assert_false(is_well(first));
    assert_false(leads(first)); /* who knows what the others see */
    etcd_member_restart(&lab.cluster, 0, true);
    wait_until(has_heard(second, "node-1", 5));
    wait_until(leads(first) || leads(second));
    assert_false(leads(first) && leads(second));
    say(second, 6);
    wait_until(has_heard(first, "node-2", 6) && sees_alive(first->world, "node-2"));
    wait_until(is_well(first) && is_well(second));
    end_all();
}

static void a_new_list_tells_who_came_and_went(void **state)
{
    (void)state;
    new_lab();
    struct node *first = start_node(0, "node-1", 1), *left = start_node(1, "node-2", 2);
    put("drains/node-7", "anna");
    put("drains/node-8", "anna");
    wait_until(hears_of(first, "node-2", true) && hears_of(first, "node-1", true));
    wait_until(first->world->picture.drain_count == 2);
    first->is_frozen = true;
    etcd_member_restart(&lab.cluster, 0, true); /* so that it has no connection */
    end_node(left);
    struct node *came = start_node(2, "node-3", 3);
    wait_until(sees_alive(came->world, "node-3"));
    delete_below("drains/node-7");
    put("drains/node-9", "otto");
    compact(put("drains/node-8", "otto"));
    first->is_frozen = false;
    wait_until(hears_of(first, "node-2", false) && hears_of(first, "node-3", true));
    assert_null(look_for_drain(first->world, "node-7"));
    assert_string_equal(look_for_drain(first->world, "node-8")->by, "otto");
    assert_string_equal(look_for_drain(first->world, "node-9")->by, "otto");
    say(came, 3);
    wait_until(has_heard(first, "node-3", 3)); /* and it goes on */
    end_all();
}

static void the_loss_of_a_member_is_survived(void **state)
{
    struct etcd_cluster one = lab.cluster;
    int leader = 0;
    (void)state;
    lab.cluster = (struct etcd_cluster){.count = 3};
    etcd_cluster_start(&lab.cluster);
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true) && hears_of(second, "node-1", true));
    while (!is_etcd_leader(leader))
        leader = (leader + 1) % 3;
    etcd_member_kill(&lab.cluster, leader);
    say(first, 4);
    say(second, 5);
    wait_until(has_heard(first, "node-2", 5) && has_heard(second, "node-1", 4) &&
               (leads(first) || leads(second)));
    assert_false(leads(first) && leads(second));
    assert_true(sees_alive(first->world, "node-2") && sees_alive(second->world, "node-1"));
    end_all();
    etcd_cluster_remove(&lab.cluster);
    lab.cluster = one;
}

/* ---- what others do to the keys ---- */

static void what_cannot_be_read_is_passed_over(void **state)
{
    static const char *const rows[][2] = {
        {"nodes/text", "not JSON"},
        {"nodes/", "{}"},
        {"nodes/empty", ""},
        {"nodes/list", "[1, 2]"},
        {"nodes/no-instance", "{\"home\": \"00\"}"},
        {"nodes/a-name-that-is-longer-than-any-node-may-have-which-is-sixty-three-letters", "{}"},
        {"drains/a-name-that-is-longer-than-any-node-may-have-which-is-sixty-three-letters", "x"},
        {"leader/x", ""},
        {"unknown/x", "y"},
    };
    (void)state;
    new_lab();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) / 2; i++)
        put(rows[i][0], rows[i][1]);
    struct node *node = start_node(0, "node-1", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        put(rows[i][0], rows[i][1]);
    wait_until(sees_alive(node->world, "node-1"));
    delete_below("nodes/text");
    delete_below("leader/x"); /* which led, having come first */
    wait_until(leads(node));
    assert_int_equal(node->world->picture.peer_count, 1);
    assert_int_equal(node->world->picture.drain_count, 0);
    assert_true(is_well(node));
    end_all();
}

static void keys_that_somebody_deletes_are_written_again(void **state)
{
    (void)state;
    new_lab();
    struct node *node = start_node(0, "node-1", 1);
    wait_until(leads(node));
    delete_below("nodes/");
    wait_until(hears_of(node, "node-1", false));
    say(node, 1);
    wait_until(sees_alive(node->world, "node-1"));
    delete_below("leader/");
    wait_until(!leads(node));
    wait_until(leads(node));
    end_all();
}

static void an_etcd_with_users_is_joined(void **state)
{
    struct etcd_cluster one = lab.cluster;
    char command[1024];
    (void)state;
    lab.cluster = (struct etcd_cluster){.count = 1};
    etcd_cluster_start(&lab.cluster);
    snprintf(command, sizeof(command),
             "export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=%s; { etcdctl user add root:rootpw &&"
             " etcdctl role add root && etcdctl user grant-role root root &&"
             " etcdctl user add peal:secret && etcdctl role add peal &&"
             " etcdctl role grant-permission peal --prefix=true readwrite /nodes/ &&"
             " etcdctl user grant-role peal peal && etcdctl auth enable; } >/dev/null",
             lab.cluster.endpoints[0]);
    assert_int_equal(system(command), 0);
    lab.user = "peal";
    lab.password = "secret";
    new_lab();
    struct node *first = start_node(0, "node-1", 1);
    wait_until(leads(first));
    struct node *second = start_node(1, "node-2", 2);
    wait_until(hears_of(first, "node-2", true));
    end_node(first);
    wait_until(leads(second) && hears_of(second, "node-1", false)); /* it has left */
    end_all();
    lab.user = lab.password = NULL;
    etcd_cluster_remove(&lab.cluster);
    lab.cluster = one;
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
        cmocka_unit_test(nobody_is_gone_because_etcd_is_away),
        cmocka_unit_test(a_new_list_tells_who_came_and_went),
        cmocka_unit_test(the_loss_of_a_member_is_survived),
        cmocka_unit_test(what_cannot_be_read_is_passed_over),
        cmocka_unit_test(keys_that_somebody_deletes_are_written_again),
        cmocka_unit_test(an_etcd_with_users_is_joined),
    };
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    if (!etcd_cluster_available()) {
        printf("skipped: there is no etcd here; Debian has it in etcd-server\n");
        return 77;
    }
    lab.cluster.count = 1;
    etcd_cluster_start(&lab.cluster);
    int failed = cmocka_run_group_tests_name("nodes in etcd", tests, NULL, NULL);
    etcd_cluster_remove(&lab.cluster);
    return failed;
}
