#include "etcd_lab.h"

#include <signal.h>
#include <stdio.h>

#include "etcd.h"
#include "etcd_admin.h"

struct lab lab;

int64_t now_ms(void)
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

void turn(void)
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

/* ---- nodes ---- */

void new_lab(void)
{
    lab.places++;
}

struct node *open_node(int index)
{
    struct node *node = &lab.nodes[index];
    struct strbuf why;
    strbuf_init(&why);
    *node = (struct node){.is_frozen = false};
    assert_int_equal(loop_new(&node->loop), OK);
    assert_int_equal(loop_timer_new(node->loop, on_tick, NULL, &node->tick), OK);
    struct world *world = world_new(&backend);
    const struct etcd_client_config client = {.endpoints = lab.cluster.endpoints,
                                              .endpoint_count = (size_t)lab.cluster.count,
                                              .user = lab.user,
                                              .password = lab.password};
    struct store_kv_config config = {.prefix = world->place};
    assert_int_equal(etcd_client_new(node->loop, &client, &config.client, NULL), OK);
    enum status st = store_kv_open(node->loop, &config, world_wake(world), &world->store, &why);
    if (st != OK)
        fail_msg("%s: %s", status_text(st), why.text);
    strbuf_release(&why);
    world_read_feed(world);
    node->world = world;
    return node;
}

struct node *start_node(int index, const char *name, uint64_t home)
{
    struct node *node = open_node(index);
    node->self = a_peer(name, home);
    node->self.instance.bytes[0] = (uint8_t)(index + 1); /* each start has one of its own */
    announce(node->world, &node->self);
    return node;
}

void end_node(struct node *node)
{
    if (!node->world)
        return;
    world_free(node->world);
    loop_timer_free(node->tick);
    loop_free(node->loop);
    *node = (struct node){.is_frozen = false};
}

void end_all(void)
{
    for (int i = 0; i < NODES; i++)
        end_node(&lab.nodes[i]);
}

bool leads(const struct node *node)
{
    return store_leads(node->world->store);
}

bool hears_of(const struct node *node, const char *name, bool is_alive)
{
    const struct peer *peer = look_for_peer(node->world, name);
    return peer && peer->is_alive == is_alive;
}

enum status health(const struct node *node, struct strbuf *why)
{
    strbuf_reset(why);
    return store_health(node->world->store, why);
}

bool is_well(const struct node *node)
{
    struct strbuf why;
    strbuf_init(&why);
    bool well = health(node, &why) == OK;
    strbuf_release(&why);
    return well;
}

void say(struct node *node, int running)
{
    node->self.running = running;
    announce(node->world, &node->self);
}

bool has_heard(const struct node *node, const char *name, int running)
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

static void on_asked(void *context, const struct kv_result *result)
{
    *(struct asked *)context =
        (struct asked){.is_done = true,
                       .status = result->status,
                       .revision = result->revision,
                       .is_leader = etcd_member_of(result)->leader_id &&
                                    etcd_member_of(result)->leader_id == result->server_id,
                       .lease_id = result->lease.id,
                       .ttl_s = result->lease.ttl_s};
}

struct asker {
    struct loop *loop;
    struct kv_client *client;
    struct asked asked;
    struct kv_reply reply;
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
    kv_client_free(asker->client);
    loop_free(asker->loop);
    return asker->asked;
}

int64_t put(const char *kind, const char *value)
{
    struct asker asker;
    char key[160];
    snprintf(key, sizeof(key), "/nodes/%d/%s", lab.places, kind);
    open_asker(&asker, 0);
    struct kv_put request = {.key = kv_text(key), .value = kv_text(value)};
    return close_asker(&asker, kv_put(asker.client, &request, &asker.reply, NULL)).revision;
}

void delete_below(const char *kind)
{
    struct asker asker;
    char key[160];
    snprintf(key, sizeof(key), "/nodes/%d/%s", lab.places, kind);
    open_asker(&asker, 0);
    struct kv_delete request = {.key = kv_text(key), .prefix = true};
    close_asker(&asker, kv_delete(asker.client, &request, &asker.reply, NULL));
}

void compact(int64_t revision)
{
    struct asker asker;
    open_asker(&asker, 0);
    close_asker(&asker, etcd_compact(asker.client, revision, true, &asker.reply, NULL));
}

bool is_etcd_leader(int member)
{
    struct asker asker;
    open_asker(&asker, member);
    return close_asker(&asker, etcd_status(asker.client, &asker.reply, NULL)).is_leader;
}

/* ---- how long a TTL is here ---- */

struct left_lease leave_lease(void)
{
    struct asker asker;
    struct left_lease left = {.since_ms = now_ms()};
    open_asker(&asker, 0);
    left.id = close_asker(&asker, kv_lease_grant(asker.client, TTL_MS / 1000, &asker.reply, NULL))
                  .lease_id;
    return left;
}

bool has_run_out(const struct left_lease *left)
{
    struct asker asker;
    open_asker(&asker, 0);
    return close_asker(&asker, etcd_lease_time_to_live(asker.client, left->id, &asker.reply, NULL))
               .ttl_s < 0;
}

/* ---- the tests ---- */

int lab_run(const char *name, const struct CMUnitTest *tests, size_t count)
{
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    if (!etcd_cluster_available()) {
        printf("skipped: there is no etcd here; Debian has it in etcd-server\n");
        return 77;
    }
    lab.cluster.count = 1;
    etcd_cluster_start(&lab.cluster);
    int failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
    etcd_cluster_remove(&lab.cluster);
    return failed;
}
