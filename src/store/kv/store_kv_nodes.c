/* The registration of this node: a key with its heartbeat, tied to a lease, and with the same lease
 * its candidacy as leader, so that both end together.
 *
 *     OUT -> ASKING -> JOINING -> IN
 *      ^       |          |       |   the lease was not granted, or is lost
 *      \-------+----------+-------/
 *
 * Joining waits while another agent has the key. An agent that was never in fails with E_CONFLICT
 * when the other is still there after the time of a lease, and ends. An agent that was in is shut
 * out at once, and joins again when the other one leaves.
 *
 * All writes of the key compare its revision, so a late one with an unknown outcome can't undo a
 * later one. The feed of nodes comes from the watch, for this node as for the others. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/store_kv_internal.h"
#include "kv_election.h"
#include "kv_lease.h"
#include "timestamp.h"

enum {
    TTL_S = 5,
    WAIT_MS = 500, /* for another agent to leave, or before the next candidacy */
    WAITS_MAX = (TTL_S * 1000 + 2000) / WAIT_MS, /* by then the other agent is alive */
    RETRY_FIRST_MS = 50,
    RETRY_LAST_MS = 400,
    LEAVE_MS = 500,
};

enum membership {
    NODE_OUT,
    NODE_ASKING, /* for a lease */
    NODE_JOINING,
    NODE_IN,
};

struct nodes {
    struct store_kv *store;
    enum membership membership;
    struct peer self; /* the last heartbeat */
    bool is_news;     /* it is not written yet */
    bool is_often;    /* signs of life every half second */
    bool was_in;      /* another agent in the key is a newcomer, not a predecessor */
    char *key, *leader_prefix;
    int64_t key_revision; /* of our last known write; 0: none */
    int64_t former_lease; /* of a predecessor's key; 0: none */
    struct kv_lease *lease;
    struct kv_election *election;
    struct kv_txn *txn;
    struct kv_call *write; /* under way */
    struct epoch_asked asked;
    struct strbuf value;
    struct loop_timer *timer; /* the next step, after a pause */
    int64_t retry_ms;
    int waits;
    enum status health; /* not OK: why it is not registered */
    struct strbuf why;
    char leader[64]; /* as last fed */
};

static void write_self(struct nodes *nodes);

static void retry_later(struct nodes *nodes)
{
    loop_timer_set(nodes->timer, nodes->retry_ms);
    if (nodes->retry_ms < RETRY_LAST_MS)
        nodes->retry_ms *= 2;
}

static void set_health(struct nodes *nodes, enum status st)
{
    nodes->health = st;
    store_kv_wake(nodes->store);
}

/* Reports that this node is not registered, or soon will not be: the others would count its new
 * runs as lost. */
static void ail(struct nodes *nodes, enum status st, const char *message)
{
    if (nodes->health == E_CONFLICT) /* is more specific */
        return;
    strbuf_reset(&nodes->why);
    strbuf_addf(&nodes->why, "%s: %s; this node tries to join the others",
                kv_client_kind(nodes->store->client)->name, message);
    bool is_away = st == E_UNKNOWN || st == E_NOT_FOUND; /* no answer, or the lease has expired */
    set_health(nodes, is_away ? E_UNREACHABLE : st);
}

/* ---- leading ---- */

/* A registered node that may lead is a candidate. */
static void update_candidacy(struct nodes *nodes)
{
    if (nodes->membership != NODE_IN || !peer_can_lead(&nodes->self)) {
        kv_election_resign(nodes->election);
        return;
    }
    enum status st = kv_election_campaign(nodes->election, nodes->lease, kv_text(nodes->self.name));
    if (st != OK && st != E_BUSY) /* already a candidate, or resigning, which ends with DROPPED */
        retry_later(nodes);
}

static void feed_leader(struct nodes *nodes, struct kv_bytes name)
{
    char leader[sizeof(nodes->leader)];
    snprintf(leader, sizeof(leader), "%.*s", (int)name.length, (const char *)name.data);
    if (strcmp(leader, nodes->leader) != 0)
        feed_add(&nodes->store->feed,
                 &(struct store_change){.kind = STORE_CHANGE_LEADER, .leader = leader});
    memcpy(nodes->leader, leader, sizeof(leader));
    store_kv_wake(nodes->store);
}

static void on_election(void *context, const struct kv_election_notice *notice)
{
    struct nodes *nodes = context;
    switch (notice->kind) {
    case KV_ELECTION_LED:
        feed_leader(nodes, notice->value);
        break;
    case KV_ELECTION_VACANT:
        feed_leader(nodes, kv_text(""));
        break;
    case KV_ELECTION_DROPPED: /* resigned, or our key was deleted */
        store_kv_wake(nodes->store);
        if (nodes->membership == NODE_IN)
            loop_timer_set(nodes->timer, WAIT_MS);
        break;
    case KV_ELECTION_FAILED: /* it retries */
        break;
    }
}

/* ---- the lease ---- */

static void start_over(struct nodes *nodes)
{
    nodes->membership = NODE_OUT;
    nodes->key_revision = 0;
    nodes->is_news = true;
    kv_call_cancel(nodes->write);
    nodes->write = NULL;
    kv_election_drop(nodes->election);
    nodes->lease = kv_lease_free(nodes->lease);
    retry_later(nodes);
}

static void on_lease(void *context, const struct kv_lease_notice *notice)
{
    struct nodes *nodes = context;
    if (notice->kind != KV_LEASE_GRANTED) {
        ail(nodes, notice->status, notice->message);
        start_over(nodes);
        return;
    }
    kv_lease_renew_often(nodes->lease, nodes->is_often);
    nodes->membership = NODE_JOINING;
    write_self(nodes);
}

static void ask_for_lease(struct nodes *nodes)
{
    nodes->membership = NODE_ASKING;
    if (kv_lease_new(nodes->store->client, TTL_S, on_lease, nodes, &nodes->lease) != OK)
        start_over(nodes);
}

static void on_former_revoked(void *context, const struct kv_result *result)
{
    (void)context;
    (void)result; /* best effort: else it expires */
}

/* A predecessor may have been a candidate, and would lead until its lease has expired. */
static void revoke_former_lease(struct nodes *nodes)
{
    struct kv_reply reply = {.done = on_former_revoked};
    if (nodes->former_lease &&
        kv_lease_revoke(nodes->store->client, nodes->former_lease, &reply, NULL) == OK)
        nodes->former_lease = 0;
}

/* ---- our key ---- */

static void enter(struct nodes *nodes, int64_t revision)
{
    nodes->membership = NODE_IN;
    nodes->was_in = true;
    nodes->key_revision = revision;
    nodes->retry_ms = RETRY_FIRST_MS;
    nodes->waits = 0;
    if (nodes->health != OK)
        set_health(nodes, OK);
    revoke_former_lease(nodes);
    update_candidacy(nodes);
    if (nodes->is_news)
        write_self(nodes);
}

/* `other` NULL: its value could not be decoded. */
static void explain_conflict(struct nodes *nodes, const struct peer *other)
{
    struct strbuf *why = &nodes->why;
    strbuf_reset(why);
    strbuf_addf(why, "node id %s is in use by another agent", nodes->self.name);
    if (other && other->address[0])
        strbuf_addf(why, " at %s", other->address);
    if (other) {
        strbuf_adds(why, " (started ");
        timestamp_print_utc(other->started_ms / 1000, why);
        strbuf_addc(why, ')');
    }
    strbuf_adds(why, ": give this one another --node-id");
}

static void wait_for_other(struct nodes *nodes, const struct peer *other)
{
    bool was_in = nodes->membership == NODE_IN;
    nodes->membership = NODE_JOINING;
    nodes->key_revision = 0;
    nodes->is_news = true;
    if (was_in)
        update_candidacy(nodes);
    if (nodes->waits < WAITS_MAX)
        nodes->waits++;
    if (nodes->waits == WAITS_MAX || nodes->was_in) {
        explain_conflict(nodes, other);
        set_health(nodes, E_CONFLICT);
    }
    loop_timer_set(nodes->timer, WAIT_MS);
}

/* The key has another revision than expected. An agent of the same home must have ended: its folder
 * is locked while it lives. */
static void meet(struct nodes *nodes, const struct kv_pair *kv)
{
    struct peer other;
    bool is_known = peer_decode(nodes->self.name, kv->value.data, kv->value.length, &other) == OK;
    bool is_self = is_known && id_compare(&other.instance, &nodes->self.instance) == 0;
    bool is_former = is_known && other.home == nodes->self.home && !nodes->was_in;
    epoch_found_key(nodes->store, kv->mod_revision); /* our own write may have got through */
    if (!is_self && !is_former) {
        wait_for_other(nodes, is_known ? &other : NULL);
        return;
    }
    if (kv->lease != kv_lease_id(nodes->lease))
        nodes->former_lease = kv->lease;
    nodes->key_revision = kv->mod_revision;
    write_self(nodes);
}

static void on_written(void *context, const struct kv_result *result)
{
    struct nodes *nodes = context;
    const struct kv_txn_result *txn = &result->op.txn;
    nodes->write = NULL;
    if (result->status == E_NOT_FOUND) { /* the lease has expired */
        ail(nodes, result->status, result->message);
        start_over(nodes);
    } else if (result->status == OK &&
               !epoch_saw(nodes->store, epoch_sign(result), &nodes->asked, txn->succeeded)) {
        nodes->is_news = true; /* all is read again, and then written again if need be */
        retry_later(nodes);
    } else if (result->status != OK) {
        if (nodes->membership != NODE_IN)
            ail(nodes, result->status, result->message);
        nodes->is_news = true;
        retry_later(nodes);
    } else if (txn->succeeded) {
        epoch_wrote_key(nodes->store, result->revision);
        enter(nodes, result->revision);
    } else if (txn->op_count && txn->ops[0].kv_count) {
        meet(nodes, txn->ops[0].kvs);
    } else {
        nodes->key_revision = 0;
        write_self(nodes);
    }
}

/* Writes the key if its revision is as expected; else reads it. */
static void write_self(struct nodes *nodes)
{
    struct kv_bytes key = kv_text(nodes->key);
    struct kv_reply reply = {.done = on_written, .context = nodes};
    if (nodes->write) /* the newest heartbeat follows */
        return;
    assert(kv_lease_id(nodes->lease) != 0); /* a key without a lease would stay for ever */
    nodes->asked = epoch_ask(nodes->store);
    strbuf_reset(&nodes->value);
    enum status st = peer_encode(&nodes->self, &nodes->value);
    kv_txn_reset(nodes->txn);
    kv_txn_if_mod_revision(nodes->txn, key, KV_EQUAL, nodes->key_revision);
    kv_txn_put(nodes->txn, &(struct kv_put){.key = key,
                                            .value = {nodes->value.text, nodes->value.length},
                                            .lease = kv_lease_id(nodes->lease)});
    kv_txn_else(nodes->txn);
    kv_txn_range(nodes->txn, &(struct kv_range){.key = key});
    if (st == OK)
        st = kv_txn_send(nodes->store->client, nodes->txn, &reply, &nodes->write);
    nodes->is_news = st != OK;
    if (st == OK)
        kv_call_may_repeat(nodes->write); /* a repeat then finds our own write */
    else
        retry_later(nodes);
}

static void on_timer(void *context)
{
    struct nodes *nodes = context;
    switch (nodes->membership) {
    case NODE_OUT:
        ask_for_lease(nodes);
        break;
    case NODE_ASKING:
        break;
    case NODE_JOINING:
        write_self(nodes);
        break;
    case NODE_IN:
        if (nodes->is_news)
            write_self(nodes);
        update_candidacy(nodes);
        break;
    }
}

/* Stops lease, election, calls and timer. */
static void stop(struct nodes *nodes)
{
    kv_call_cancel(nodes->write);
    nodes->write = NULL;
    nodes->election = kv_election_free(nodes->election);
    nodes->lease = kv_lease_free(nodes->lease);
    nodes->timer = loop_timer_free(nodes->timer);
}

static struct nodes *release(struct nodes *nodes)
{
    stop(nodes);
    kv_txn_free(nodes->txn);
    strbuf_release(&nodes->value);
    strbuf_release(&nodes->why);
    free(nodes->key);
    free(nodes->leader_prefix);
    free(nodes);
    return NULL;
}

/* ---- leaving ---- */

struct leaving {
    bool is_answered;
    enum status status;
    int64_t lease; /* from a grant */
    bool is_kept;  /* from a transaction */
};

static void on_left(void *context, const struct kv_result *result)
{
    *(struct leaving *)context = (struct leaving){.is_answered = true,
                                                  .status = result->status,
                                                  .lease = result->lease.id,
                                                  .is_kept = result->op.txn.succeeded};
}

/* `st`: the status of sending the request. */
static enum status wait_for(struct store_kv *store, struct leaving *leaving, enum status st)
{
    while (st == OK && !leaving->is_answered)
        loop_run_once(store->loop);
    return st == OK ? leaving->status : st;
}

static enum status revoke_and_wait(struct store_kv *store, int64_t lease)
{
    struct leaving leaving = {.is_answered = false};
    struct kv_reply reply = {on_left, &leaving, LEAVE_MS};
    return wait_for(store, &leaving, kv_lease_revoke(store->client, lease, &reply, NULL));
}

/* Moves the key to a lease of its own that is not renewed. */
static enum status keep_place(struct nodes *nodes, int64_t lease)
{
    struct store_kv *store = nodes->store;
    struct kv_bytes key = kv_text(nodes->key);
    struct leaving leaving = {.is_answered = false};
    struct kv_reply reply = {on_left, &leaving, LEAVE_MS};
    enum status st = wait_for(store, &leaving, kv_lease_grant(store->client, TTL_S, &reply, NULL));
    if (st != OK)
        return st;
    strbuf_reset(&nodes->value);
    st = peer_encode(&nodes->self, &nodes->value);
    if (st != OK)
        return st;
    kv_txn_reset(nodes->txn);
    kv_txn_if_lease(nodes->txn, key, KV_EQUAL, lease);
    kv_txn_put(nodes->txn, &(struct kv_put){.key = key,
                                            .value = {nodes->value.text, nodes->value.length},
                                            .lease = leaving.lease});
    leaving.is_answered = false;
    st = wait_for(store, &leaving, kv_txn_send(store->client, nodes->txn, &reply, NULL));
    return st == OK && !leaving.is_kept ? E_CONFLICT : st;
}

/* Its runs go on without the agent, and stay its own if it is back in time: for the others it is
 * alive until the lease expires, but takes no runs and does not lead. */
static bool is_to_come_back(const struct nodes *nodes)
{
    return nodes->membership == NODE_IN && nodes->self.refusal == PEER_STOPPING &&
           nodes->self.running > 0;
}

void nodes_leave(struct store_kv *store)
{
    struct nodes *nodes = store->nodes;
    if (!nodes)
        return;
    int64_t lease = nodes->lease ? kv_lease_id(nodes->lease) : 0;
    stop(nodes);
    enum status st = OK;
    if (lease && is_to_come_back(nodes))
        st = keep_place(nodes, lease);
    store->nodes = release(nodes);
    if (!lease || (st != OK && st != E_CONFLICT))
        return;                                     /* the lease expires */
    if (revoke_and_wait(store, lease) == E_UNKNOWN) /* e.g. a broken connection */
        revoke_and_wait(store, lease);
}

/* ---- the store's side ---- */

static void set_self(struct nodes *nodes, const struct peer *self)
{
    nodes->self = *self;
    nodes->self.beats_ms = KV_LEASE_OFTEN_MS;
}

static enum status nodes_new(struct store_kv *store, const struct peer *self, struct nodes **ret)
{
    struct nodes *nodes = calloc(1, sizeof(*nodes));
    if (!nodes)
        return E_NOMEM;
    nodes->store = store;
    set_self(nodes, self);
    nodes->retry_ms = RETRY_FIRST_MS;
    strbuf_init(&nodes->value);
    strbuf_init(&nodes->why);
    if (asprintf(&nodes->key, "%s/nodes/%s", store->prefix, self->name) < 0)
        nodes->key = NULL;
    if (asprintf(&nodes->leader_prefix, "%s/leader/", store->prefix) < 0)
        nodes->leader_prefix = NULL;
    enum status st = nodes->key && nodes->leader_prefix ? OK : E_NOMEM;
    if (st == OK)
        st = kv_txn_new(&nodes->txn);
    if (st == OK)
        st = loop_timer_new(store->loop, on_timer, nodes, &nodes->timer);
    if (st == OK)
        st = kv_election_new(store->client, kv_text(nodes->leader_prefix), on_election, nodes,
                             &nodes->election);
    if (st != OK) {
        release(nodes);
        return st;
    }
    *ret = nodes;
    return OK;
}

enum status nodes_announce(struct store *base, const struct peer *self)
{
    struct store_kv *store = (struct store_kv *)base;
    struct nodes *nodes = store->nodes;
    if (!nodes) {
        enum status st = nodes_new(store, self, &store->nodes);
        if (st == OK)
            ask_for_lease(store->nodes);
        return st;
    }
    set_self(nodes, self);
    nodes->is_news = true;
    if (nodes->membership == NODE_IN) {
        write_self(nodes);
        update_candidacy(nodes);
    }
    return OK;
}

void nodes_beat(struct store *base, bool is_often)
{
    struct nodes *nodes = ((struct store_kv *)base)->nodes;
    if (!nodes || nodes->is_often == is_often)
        return;
    nodes->is_often = is_often;
    if (nodes->lease)
        kv_lease_renew_often(nodes->lease, is_often);
}

/* Not in a restored etcd before the halt is lifted: the old leader may not know of the restore yet.
 * By the lift its lease has expired: see store_kv_advance.c. */
static bool is_settled(const struct nodes *nodes)
{
    return !epoch_is_halted(nodes->store) &&
           epoch_is_same_cluster(nodes->store, kv_election_cluster_id(nodes->election));
}

bool nodes_lead(const struct store *base)
{
    const struct store_kv *store = (const struct store_kv *)base;
    const struct nodes *nodes = store->nodes;
    return nodes && kv_election_is_self(nodes->election) && is_settled(nodes);
}

void nodes_guard(const struct nodes *nodes, struct kv_txn *txn)
{
    struct kv_bytes key = kv_text(nodes->key);
    int64_t lease = nodes->membership == NODE_IN ? kv_lease_id(nodes->lease) : 0;
    kv_txn_if_lease(txn, key, KV_EQUAL, lease ? lease : -1); /* matches no key */
    kv_txn_if_mod_revision(txn, key, KV_GREATER, nodes->key_revision - 1);
}

bool nodes_are_in(const struct nodes *nodes)
{
    return nodes && nodes->membership == NODE_IN;
}

void nodes_look(struct nodes *nodes)
{
    if (nodes_are_in(nodes))
        write_self(nodes);
}

bool nodes_is_shut_out(const struct nodes *nodes)
{
    return nodes && nodes->health == E_CONFLICT;
}

enum status nodes_health(const struct nodes *nodes, struct strbuf *why)
{
    if (!nodes || nodes->health == OK)
        return OK;
    strbuf_adds(why, nodes->why.text);
    return nodes->health;
}
