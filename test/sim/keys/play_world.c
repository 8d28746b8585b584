/* What the world of etcd (wire_world.c, wire_restore.c) asks of its network and of its servers,
 * done to the server that is played: net.h and etcd_serve.h, and the client that nodes open. */
#include <stdlib.h>

#include "etcd.h"
#include "play.h"

enum { START_MS = 500, START_MORE_MS = 1500 };

struct play *play_of(const struct net *net)
{
    return net->context;
}

int64_t play_any_number(struct play *play)
{
    return (int64_t)(stage_random(play->stage) >> 12) + 1;
}

/* ---- the network ---- */

void net_init(struct net *net, struct stage *stage)
{
    struct play *play = calloc(1, play_server.size);
    if (!play)
        abort();
    *net = (struct net){.stage = stage, .context = play};
    *play = (struct play){.stage = stage, .net = net, .incarnation = 1, .runs = 1};
    lines_init(&play->lines, stage, net, play_server.lines);
    arena_init(&play->arena);
    play_server.init(play);
}

void net_release(struct net *net)
{
    struct play *play = play_of(net);
    lines_release(&play->lines);
    play_server.release(play);
    play_state_release(play);
    arena_release(&play->arena);
    free(play);
}

void net_set_cuts(struct net *net, int machine, int member, unsigned cuts)
{
    net->cuts[machine][member] = cuts; /* who waits looks again and again */
}

void net_reset(struct net *net, int machine)
{
    lines_reset(&play_of(net)->lines, machine, "Connection reset by peer");
}

void net_forget(struct net *net, const struct loop *machine)
{
    (void)net;
    (void)machine; /* what it has sent may arrive: see line_leave */
}

/* ---- the server ---- */

void play_tell_oracle(struct play *play, struct model_version *const *versions, size_t count)
{
    const struct etcd_serve *serve = play->serve;
    if (serve->changed)
        serve->changed(serve->context, versions, count);
}

static void on_changed(void *context, struct model_version *const *versions, size_t count)
{
    const struct etcd_serve *serve = context;
    play_server.changed(play_of(serve->net), versions, count);
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
    play_server.made(play);
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
    struct lines *lines = &play_of(serve->net)->lines;
    int64_t until_ms = serve->stage->now_ms + ms;
    if (until_ms > lines->frozen_until_ms)
        lines->frozen_until_ms = until_ms;
}

static void start_again(struct play *play)
{
    play->runs++;
    play->lines.frozen_until_ms = 0;
    play->lines.down_until_ms =
        play->stage->now_ms + START_MS + stage_below(play->stage, START_MORE_MS);
}

/* It is killed, or started: with all that it has acknowledged. Its replica may take its place. */
void etcd_serve_set_down(struct etcd_serve *serve, int member, bool is_down)
{
    struct play *play = play_of(serve->net);
    struct net *net = serve->net;
    bool was_up = lines_are_served(&play->lines);
    net->is_down[member] = is_down;
    play_server.froze(play, net->is_down[1] || net->is_down[2]);
    if (was_up && !lines_are_served(&play->lines)) {
        play_server.killed(play);
        start_again(play);
    }
}

void etcd_serve_restore(struct etcd_serve *serve, int64_t revision, bool keeps_id)
{
    struct play *play = play_of(serve->net);
    lines_end(&play->lines, play_server.lost);
    play_server.restored(play, revision, keeps_id);
    start_again(play);
}

/* As if it had run out. */
void etcd_serve_expire(struct etcd_serve *serve, int64_t lease)
{
    struct play *play = play_of(serve->net);
    play_note_tag(play, play->model->revision, play_any_number(play), "");
    (void)etcd_model_revoke(&serve->model, lease);
    play_server.told(play);
}

void etcd_serve_stick(struct etcd_serve *serve, int machine)
{
    lines_stick(&play_of(serve->net)->lines, machine);
}

/* ---- the client ---- */

enum status etcd_client_new(struct loop *loop, const struct etcd_client_config *config,
                            struct kv_client **ret, struct parse_error *reterr)
{
    const struct kv_server server = {.url = play_server.url, .deadline_ms = config->deadline_ms};
    return play_server.open_client(loop, &server, ret, reterr);
}
