#include "gather_net.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "gather_output.h"
#include "gather_port.h"
#include "gather_question.h"
#include "gather_wire.h"
#include "gather_words.h"
#include "program/output_relay.h"

/* One link per node. */
struct lane {
    struct gather_link **links;
    size_t count;
};

struct gather_net {
    struct loop *loop;
    const struct peers *peers; /* NULL: not known yet */
    struct gather_tls *tls;
    struct lane lanes[GATHER_LANES];
    struct gather_port *port; /* NULL: nothing is served */
    struct gather_served served;
    struct gather_output_list reads;
    struct gather_question_list questions;
    struct output_relay *relay;
};

/* ---- who is believed ---- */

struct search {
    const char *fingerprint;
    const struct known_peer *found;
};

static bool has_fingerprint(void *context, const struct known_peer *known)
{
    struct search *search = context;
    if (known->peer.is_alive && strcmp(known->peer.fingerprint, search->fingerprint) == 0)
        search->found = known;
    return !search->found;
}

static const char *name_of(void *context, const char *fingerprint)
{
    const struct gather_net *net = context;
    struct search search = {.fingerprint = fingerprint};
    if (net->peers)
        peers_each(net->peers, has_fingerprint, &search);
    return search.found ? search.found->peer.name : NULL;
}

static bool is_announced(void *context, const char *fingerprint)
{
    return name_of(context, fingerprint) != NULL;
}

/* ---- programs ---- */

const char *gather_net_via(const struct gather_net *net, const char *node)
{
    const struct known_peer *known = net->peers ? peers_find(net->peers, node) : NULL;
    return known && peer_is_program(&known->peer) ? known->peer.via : node;
}

static bool is_self(const struct gather_net *net, const char *node)
{
    return net->peers && strcmp(net->peers->self->name, node) == 0;
}

static bool is_attached(void *context, const char *node)
{
    const struct gather_net *net = context;
    const char *via = gather_net_via(net, node);
    return via != node && is_self(net, via);
}

/* ---- links ---- */

static struct gather_link *find_link(const struct lane *lane, const char *node)
{
    for (size_t i = 0; i < lane->count; i++) {
        if (strcmp(gather_link_node(lane->links[i]), node) == 0)
            return lane->links[i];
    }
    return NULL;
}

static struct gather_link *need_link(struct gather_net *net, struct lane *lane, const char *node)
{
    struct gather_link *link = find_link(lane, node);
    if (link)
        return link;
    if (array_grow(&lane->links, lane->count, sizeof(struct gather_link *)) != OK ||
        gather_link_new(net->loop, net->tls, node, &link) != OK)
        return NULL;
    lane->links[lane->count++] = link;
    return link;
}

const char *gather_net_why_not(const struct gather_net *net, enum gather_lane lane,
                               const struct known_peer *known)
{
    if (!known->peer.is_alive)
        return NODE_IS_AWAY;
    if (peer_is_program(&known->peer))
        return NODE_KEEPS_RECORDS;
    if (!*known->peer.history_address)
        return lane == LANE_HISTORY ? NODE_IS_CLOSED : NODE_OPENS_NO_PORT;
    const struct gather_link *link = find_link(&net->lanes[lane], known->peer.name);
    return !link || gather_link_is_good(link) ? "" : NODE_IS_OUT_OF_REACH;
}

enum status gather_net_ask(struct gather_net *net, enum gather_lane lane, const char *node,
                           const char *path, const char *body, gather_ask_done *done, void *context,
                           struct gather_ask **ret, const char **ret_why)
{
    const struct known_peer *known = net->peers ? peers_find(net->peers, node) : NULL;
    if (!known || !known->peer.is_alive) {
        *ret_why = NODE_IS_AWAY;
        return E_UNREACHABLE;
    }
    if (peer_is_program(&known->peer)) {
        *ret_why = NODE_KEEPS_RECORDS;
        return E_VERSION;
    }
    if (!*known->peer.history_address) {
        *ret_why = lane == LANE_HISTORY ? NODE_IS_CLOSED : NODE_OPENS_NO_PORT;
        return E_VERSION;
    }
    struct gather_link *link = need_link(net, &net->lanes[lane], node);
    enum status st =
        link ? gather_link_ask(link, &known->peer, path, body, done, context, ret) : E_NOMEM;
    if (st != OK)
        *ret_why = NODE_IS_SILENT;
    return st;
}

static void read_output(void *context, struct live_read *read)
{
    struct gather_net *net = context;
    if (is_attached(net, read->node))
        output_relay_read(net->relay, read);
    else
        gather_output_read(net, &net->reads, read);
}

struct live_elsewhere gather_net_output(struct gather_net *net)
{
    return (struct live_elsewhere){read_output, net};
}

static void ask_for_messages(void *context, struct node_question *question)
{
    struct gather_net *net = context;
    gather_question_ask(net, &net->questions, WIRE_MESSAGES, question);
}

struct node_asker gather_net_messages(struct gather_net *net)
{
    return (struct node_asker){ask_for_messages, net};
}

/* ---- life ---- */

enum status gather_net_new(struct loop *loop, struct gather_net **ret)
{
    struct gather_net *net = calloc(1, sizeof(*net));
    if (!net)
        return E_NOMEM;
    net->loop = loop;
    gather_output_init(&net->reads);
    gather_question_init(&net->questions);
    enum status st = output_relay_new(loop, &net->relay);
    if (st == OK)
        st = gather_tls_new(is_announced, net, &net->tls);
    net->served = (struct gather_served){.name_of = name_of, .is_attached = is_attached};
    if (st == OK) {
        *ret = net;
        return OK;
    }
    output_relay_free(net->relay);
    free(net);
    return st;
}

struct gather_net *gather_net_free(struct gather_net *net)
{
    if (!net)
        return NULL;
    net->peers = NULL;
    gather_output_give_up(&net->reads);
    gather_question_give_up(&net->questions);
    gather_port_free(net->port);
    output_relay_free(net->relay);
    for (int i = 0; i < GATHER_LANES; i++) {
        for (size_t j = 0; j < net->lanes[i].count; j++)
            gather_link_free(net->lanes[i].links[j]);
        free(net->lanes[i].links);
    }
    gather_tls_free(net->tls);
    free(net);
    return NULL;
}

struct loop *gather_net_loop(const struct gather_net *net)
{
    return net->loop;
}

const char *gather_net_fingerprint(const struct gather_net *net)
{
    return gather_tls_fingerprint(net->tls);
}

void gather_net_set_peers(struct gather_net *net, const struct peers *peers)
{
    net->peers = peers;
}

const struct peers *gather_net_peers(const struct gather_net *net)
{
    return net->peers;
}

void gather_net_serve_history(struct gather_net *net, struct history *own)
{
    net->served.history = own;
}

void gather_net_serve_output(struct gather_net *net, struct live_output output)
{
    net->served.output = output;
    net->served.relay = net->relay;
}

void gather_net_serve_messages(struct gather_net *net, struct own_answer messages)
{
    net->served.messages = messages;
}

void gather_net_observe_records(struct gather_net *net, struct records_observer observer)
{
    net->served.observer = observer;
}

enum status gather_net_listen(struct gather_net *net, int fd)
{
    return gather_port_new(net->loop, net->tls, is_announced, net, &net->served, fd, &net->port);
}
