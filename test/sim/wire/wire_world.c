#include "wire_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "any_job.h"
#include "etcd.h"
#include "kv/store_kv.h"

const char *world_name(void)
{
    return WORLD_NAME;
}

bool world_has_days(void)
{
    return WORLD_HAS_DAYS;
}

bool world_counts_deeds(void)
{
    return false;
}

/* A watch is silent for twice that at most: less than the store takes for a sign that it is broken
 * (10 s). Nodes that speak every two seconds see to that themselves. */
enum { QUIET_PROGRESS_MS = 4500 };

/* The candidate that is there for longest; NULL: none. */
static const struct model_version *leader_of(const struct etcd_model *model)
{
    static const char prefix[] = "/peal/leader/";
    const struct model_version *leader = NULL;
    for (size_t i = 0; i < model->key_count; i++) {
        const struct model_key *key = model->keys[i];
        const struct model_version *version = etcd_model_get(model, key->bytes, key->length);
        bool is_candidate = version && key->length >= strlen(prefix) &&
                            memcmp(key->bytes, prefix, strlen(prefix)) == 0;
        if (is_candidate && (!leader || version->create_revision < leader->create_revision))
            leader = version;
    }
    return leader;
}

/* The next one goes while the others still look who follows this one. */
static void on_topple(struct task *task)
{
    struct world *world = (struct world *)((char *)task - offsetof(struct world, topple));
    struct stage *stage = &world->cluster->stage;
    const struct model_version *leader = leader_of(&world->etcd.model);
    if (leader && leader->lease)
        etcd_serve_expire(&world->etcd, leader->lease);
    if (--world->topples_left > 0)
        task_at(stage, task,
                stage->now_ms + stage_below(stage, 3 * world->cluster->latency_ms + 3));
}

void world_init(struct cluster *cluster)
{
    struct world *world = cluster->world = calloc(1, sizeof(*world));
    if (!world)
        abort();
    net_init(&world->net, &cluster->stage);
    etcd_serve_init(&world->etcd, &cluster->stage, &world->net);
    if (cluster->is_quiet)
        etcd_serve_set_progress(&world->etcd, QUIET_PROGRESS_MS);
    wire_oracle_init(cluster);
    world->cluster = cluster;
    task_init(&world->topple, NULL, on_topple);
    wire_restore_init(world);
}

void world_release(struct cluster *cluster)
{
    struct world *world = cluster->world;
    task_stop(&cluster->stage, &world->topple);
    task_stop(&cluster->stage, &world->operate);
    task_stop(&cluster->stage, &world->strike);
    task_stop(&cluster->stage, &world->away);
    etcd_serve_release(&world->etcd);
    net_release(&world->net);
    wire_oracle_release(cluster);
    free(world);
}

size_t world_messages(const struct cluster *cluster)
{
    return cluster->world->net.messages;
}

/* ---- nodes ---- */

void world_add_node(struct node *node)
{
    struct world *world = node->cluster->world;
    node->machine.net = &world->net;
    world->net.latency_ms[node->machine.number] = node->cluster->latency_ms;
    world->remembered[node->machine.number].machine = &node->machine;
}

enum status world_open(struct node *node, struct store_wake wake, struct store **ret,
                       struct strbuf *why)
{
    static const char *const members[] = {"http://127.0.0.1:2370", "http://127.0.0.1:2371",
                                          "http://127.0.0.1:2372"};
    const char *endpoints[NET_MEMBERS];
    for (int i = 0; i < NET_MEMBERS; i++)
        endpoints[i] = members[(node->machine.number + i) % NET_MEMBERS];
    char file[32];
    snprintf(file, sizeof(file), "%p",
             (void *)&node->cluster->world->remembered[node->machine.number]);
    const struct etcd_client_config client = {.endpoints = endpoints,
                                              .endpoint_count = NET_MEMBERS};
    struct store_kv_config config = {.node = node->config.node, .revision_file = file};
    enum status st = etcd_client_new(&node->machine, &client, &config.client, NULL);
    if (st != OK)
        return st;
    return store_kv_open(&node->machine, &config, wake, ret, why);
}

void world_forget(struct node *node)
{
    net_forget(node->machine.net, &node->machine);
    world_stop(node);
}

void world_stop(struct node *node)
{
    (void)node; /* its store has answered what it was asked: see on_advanced */
}

void world_thaw(struct node *node)
{
    if (stage_chance(node->machine.stage, 500))
        etcd_serve_stick(&node->cluster->world->etcd, node->machine.number);
}

/* ---- faults ---- */

static void cut(struct world *world, int node, unsigned cuts)
{
    for (int member = 0; member < NET_MEMBERS; member++)
        net_set_cuts(&world->net, node, member, cuts);
}

static void compact(struct world *world, int64_t keep)
{
    if (world->etcd.model.revision > keep)
        etcd_model_compact(&world->etcd.model, world->etcd.model.revision - keep);
}

static void lose_lease(struct world *world, uint64_t *random)
{
    const struct etcd_model *model = &world->etcd.model;
    if (model->lease_count)
        etcd_serve_expire(&world->etcd,
                          model->leases[any_below(random, (int64_t)model->lease_count)].id);
}

static int next_member(const struct fault *fault)
{
    return (fault->member + 1) % NET_MEMBERS;
}

void world_break(struct cluster *cluster, const struct fault *fault, uint64_t *random)
{
    struct world *world = cluster->world;
    switch ((int)fault->kind) {
    case FAULT_CUT_COMPACT:
    case FAULT_CUT_OFF:
        cut(world, fault->node, 1 + (unsigned)any_below(random, 3));
        break;
    case FAULT_CUT_ONE:
        net_set_cuts(&world->net, fault->node, fault->member, 1 + (unsigned)any_below(random, 3));
        break;
    case FAULT_LOST_ANSWERS:
    case FAULT_LOST_BEGIN:
        cut(world, fault->node, CUT_DOWN);
        break;
    case FAULT_RESET:
        net_reset(&world->net, fault->node);
        break;
    case FAULT_SLOW:
        world->net.latency_ms[fault->node] = any_below(random, 900);
        break;
    case FAULT_NO_QUORUM:
        etcd_serve_set_down(&world->etcd, next_member(fault), true);
        etcd_serve_set_down(&world->etcd, fault->member, true);
        break;
    case FAULT_MEMBER_DOWN:
        etcd_serve_set_down(&world->etcd, fault->member, true);
        break;
    case FAULT_NO_LEADER:
        etcd_serve_lose_leader(&world->etcd, 300 + any_below(random, 8 * SECOND));
        break;
    case FAULT_LAG:
        world->net.lag_ms[fault->member] = any_below(random, 3 * SECOND);
        break;
    case FAULT_RESTORE:
        wire_restore_begin(cluster, &cluster->nodes[fault->node], random);
        break;
    case FAULT_TORN:
        world->etcd.is_torn[fault->member] = true;
        /* Also for longer than the window of a start. */
        world->net.lag_ms[fault->member] =
            any_below(random, any_chance(random, 20) ? 9 * SECOND : 4 * SECOND);
        break;
    case FAULT_COMPACT:
        compact(world, any_below(random, 20));
        break;
    case FAULT_LEASE:
        lose_lease(world, random);
        break;
    case FAULT_TOPPLE:
        world->topples_left = 2 + (int)any_below(random, 3);
        task_at(&cluster->stage, &world->topple, cluster->stage.now_ms);
        break;
    case FAULT_FULL:
        world->etcd.model.is_full = true;
        break;
    case FAULT_STUCK_WATCH:
        etcd_serve_stick(&world->etcd, fault->node);
        break;
    default:
        break;
    }
}

void world_mend(struct cluster *cluster, const struct fault *fault)
{
    struct world *world = cluster->world;
    switch ((int)fault->kind) {
    case FAULT_CUT_COMPACT:
        compact(world, 0);
        cut(world, fault->node, 0);
        break;
    case FAULT_LOST_BEGIN:
    case FAULT_LOST_ANSWERS: /* what was to come back never does */
        net_reset(&world->net, fault->node);
        cut(world, fault->node, 0);
        break;
    case FAULT_CUT_OFF:
        cut(world, fault->node, 0);
        break;
    case FAULT_CUT_ONE:
        net_set_cuts(&world->net, fault->node, fault->member, 0);
        break;
    case FAULT_SLOW:
        world->net.latency_ms[fault->node] = cluster->latency_ms;
        break;
    case FAULT_NO_QUORUM:
        etcd_serve_set_down(&world->etcd, next_member(fault), false);
        etcd_serve_set_down(&world->etcd, fault->member, false);
        break;
    case FAULT_MEMBER_DOWN:
        etcd_serve_set_down(&world->etcd, fault->member, false);
        break;
    case FAULT_RESTORE:
        wire_restore(cluster);
        for (int i = 0; i < NET_MEMBERS; i++)
            etcd_serve_set_down(&world->etcd, i, false);
        break;
    case FAULT_TORN:
    case FAULT_LAG:
        world->etcd.is_torn[fault->member] = false;
        world->net.lag_ms[fault->member] = 0;
        break;
    case FAULT_FULL:
        world->etcd.model.is_full = false;
        break;
    default: /* the others are over at once */
        break;
    }
}

/* Also what two faults did to the same thing, of which the first to end healed both. */
void world_mend_all(struct cluster *cluster)
{
    struct world *world = cluster->world;
    world->etcd.model.is_full = false;
    for (int i = 0; i < NET_MEMBERS; i++) {
        etcd_serve_set_down(&world->etcd, i, false);
        world->etcd.is_torn[i] = false;
        world->net.lag_ms[i] = 0;
    }
    wire_restore_hurry(cluster);
}

/* ---- at the end ---- */

static bool is_kept(const struct cluster *cluster, const struct model_key *key)
{
    static const char prefix[] = "/peal/runs/";
    char text[64];
    struct id id;
    snprintf(text, sizeof(text), "%.*s", (int)key->length, (const char *)key->bytes);
    return strncmp(text, prefix, strlen(prefix)) == 0 &&
           id_parse(text + strlen(prefix), &id) == OK && may_stay_lost(cluster, &id);
}

bool world_is_at_rest(struct cluster *cluster, struct strbuf *left)
{
    static const char *const lasting[] = {"/peal/jobs/",   "/peal/cursors/", "/peal/nodes/",
                                          "/peal/leader/", "/peal/metas/",   "/peal/epoch",
                                          "/peal/probe",   "/peal/docs/"};
    const struct etcd_model *model = &cluster->world->etcd.model;
    strbuf_reset(left);
    for (size_t i = 0; i < model->key_count; i++) {
        const struct model_key *key = model->keys[i];
        bool may_stay = !etcd_model_get(model, key->bytes, key->length) || is_kept(cluster, key);
        for (size_t k = 0; k < sizeof(lasting) / sizeof(lasting[0]); k++)
            may_stay |= key->length >= strlen(lasting[k]) &&
                        memcmp(key->bytes, lasting[k], strlen(lasting[k])) == 0;
        if (!may_stay)
            strbuf_addf(left, "%.*s ", (int)key->length, (const char *)key->bytes);
    }
    return left->length == 0;
}
