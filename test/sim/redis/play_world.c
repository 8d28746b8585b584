/* What the world of etcd (wire_world.c, wire_restore.c) asks of its network and of its servers,
 * done to the Redis that is played: net.h and etcd_serve.h, and the client that nodes open. */
#include <stdlib.h>
#include <string.h>

#include "etcd.h"
#include "play.h"
#include "redis.h"

enum { START_MS = 500, START_MORE_MS = 1500 };

static struct play *play_of(const struct net *net)
{
    return net->context;
}

/* As kv_random, which is a machine's. */
static int64_t any_number(struct stage *stage)
{
    return (int64_t)(stage_random(stage) >> 12) + 1;
}

/* ---- the network ---- */

void net_init(struct net *net, struct stage *stage)
{
    struct play *play = calloc(1, sizeof(*play));
    if (!play)
        abort();
    *net = (struct net){.stage = stage, .context = play};
    *play = (struct play){.stage = stage, .net = net, .runs = 1};
    TAILQ_INIT(&play->conns);
    arena_init(&play->arena);
    play_replica_init(play);
}

void net_release(struct net *net)
{
    struct play *play = play_of(net);
    play_conns_release(play);
    play_replica_release(play);
    for (size_t i = 0; i < play->tag_room; i++)
        free(play->tags[i].branches);
    free(play->tags);
    free(play->leases);
    arena_release(&play->arena);
    free(play);
}

void net_set_cuts(struct net *net, int machine, int member, unsigned cuts)
{
    net->cuts[machine][member] = cuts; /* who waits looks again and again */
}

void net_reset(struct net *net, int machine)
{
    struct play *play = play_of(net);
    struct play_conn *conn, *next;
    for (conn = TAILQ_FIRST(&play->conns); conn; conn = next) {
        next = TAILQ_NEXT(conn, entry);
        if (conn->machine == machine)
            play_conn_end(conn, "Connection reset by peer");
    }
}

void net_forget(struct net *net, const struct loop *machine)
{
    (void)net;
    (void)machine; /* what it has sent may arrive: see redis_wire_free */
}

/* ---- the server ---- */

static void on_changed(void *context, struct model_version *const *versions, size_t count)
{
    const struct etcd_serve *serve = context;
    play_replica_changed(play_of(serve->net), versions, count);
}

void etcd_serve_init(struct etcd_serve *serve, struct stage *stage, struct net *net)
{
    struct play *play = play_of(net);
    *serve = (struct etcd_serve){.stage = stage, .net = net};
    etcd_model_init(&serve->model);
    serve->model.changed = on_changed;
    serve->model.context = serve;
    play->serve = serve;
    play->model = &serve->model;
    play_set_incarnation(play, 1);
}

void etcd_serve_release(struct etcd_serve *serve)
{
    etcd_model_release(&serve->model);
}

void etcd_serve_set_progress(struct etcd_serve *serve, int64_t every_ms)
{
    (void)serve;
    (void)every_ms; /* clients ask for themselves */
}

/* A server that is frozen: what it is told meanwhile is done late. */
void etcd_serve_lose_leader(struct etcd_serve *serve, int64_t ms)
{
    struct play *play = play_of(serve->net);
    int64_t until_ms = serve->stage->now_ms + ms;
    if (until_ms > play->frozen_until_ms)
        play->frozen_until_ms = until_ms;
}

static void start_again(struct play *play)
{
    play->runs++;
    play->frozen_until_ms = 0;
    play->down_until_ms = play->stage->now_ms + START_MS + stage_below(play->stage, START_MORE_MS);
}

/* It is killed, or started: with all that it has acknowledged. Its replica may take its place. */
void etcd_serve_set_down(struct etcd_serve *serve, int member, bool is_down)
{
    struct play *play = play_of(serve->net);
    bool was_up = play_is_up(play);
    serve->net->is_down[member] = is_down;
    play_replica_freeze(play, play->net->is_down[1] || play->net->is_down[2]);
    if (was_up && !play_is_up(play)) {
        bool is_promoted = stage_chance(play->stage, 700) && play_replica_promote(play);
        play_conns_end(play, "the server closed the connection");
        if (!is_promoted)
            play_replica_catch_up(play);
        start_again(play);
    }
}

void etcd_serve_restore(struct etcd_serve *serve, int64_t revision, bool keeps_id)
{
    struct play *play = play_of(serve->net);
    play_conns_end(play, "the server closed the connection");
    play_replica_catch_up(play);
    etcd_model_restore(&serve->model, revision, true);
    if (!keeps_id)
        play_set_incarnation(play, any_number(play->stage));
    start_again(play);
}

/* As if it had run out. */
void etcd_serve_expire(struct etcd_serve *serve, int64_t lease)
{
    struct play *play = play_of(serve->net);
    play_note_tag(play, play->model->revision, any_number(play->stage), "");
    (void)etcd_model_revoke(&serve->model, lease);
    play_tell(play);
}

void etcd_serve_stick(struct etcd_serve *serve, int machine)
{
    struct play_conn *conn;
    TAILQ_FOREACH (conn, &play_of(serve->net)->conns, entry)
        conn->is_stuck |= conn->machine == machine && conn->reads_feed;
}

/* ---- the client ---- */

enum status etcd_client_new(struct loop *loop, const struct etcd_client_config *config,
                            struct kv_client **ret, struct parse_error *reterr)
{
    const struct kv_server server = {.url = "redis://127.0.0.1",
                                     .deadline_ms = config->deadline_ms};
    return redis_client_new(loop, &server, ret, reterr);
}
