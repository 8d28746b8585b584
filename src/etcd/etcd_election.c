/* Two halves. The observer reads the oldest key below the prefix, watches the prefix, and reads
 * again when the leader may have changed. The candidate:
 *
 *     OUT -> ENTERING -> IN -> LEAVING -> OUT
 *              \_________/________/  dropped
 */
#include "etcd_election.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd_internal.h"
#include "etcd_txn.h"
#include "etcd_watch.h"

enum { RETRY_MS = 300 };

enum candidacy {
    CANDIDATE_OUT,
    CANDIDATE_ENTERING,
    CANDIDATE_IN,
    CANDIDATE_LEAVING,
};

struct etcd_election {
    struct etcd_client *client;
    etcd_election_notify *notify;
    void *context;
    struct strbuf prefix;
    struct loop_timer *timer; /* work for the next turn, or a retry */
    struct etcd_txn *txn;

    struct etcd_watch *watch;
    bool was_broken;             /* the watch */
    struct etcd_call *look;      /* under way */
    bool is_look_old;            /* `look` was sent before this candidacy */
    bool must_look;              /* something changed since `look` was sent */
    bool is_known;               /* the leader was announced */
    struct strbuf leader;        /* its key; "" : vacant */
    int64_t leader_revision;     /* create revision of its key */
    int64_t leader_mod_revision; /* mod revision of its key */
    uint64_t cluster_id;         /* of the cluster that named the leader */

    enum candidacy candidacy;
    const struct etcd_lease *lease;
    struct strbuf key, value; /* ours */
    int64_t key_revision;
    struct etcd_call *step; /* entering or leaving, under way */
    bool must_tell_dropped;
};

static struct etcd_bytes bytes_of(const struct strbuf *buf)
{
    return (struct etcd_bytes){buf->text, buf->length};
}

static bool is_same(struct etcd_bytes bytes, const struct strbuf *buf)
{
    return bytes.length == buf->length && memcmp(bytes.data, buf->text, buf->length) == 0;
}

static void wake(struct etcd_election *election, int64_t delay_ms)
{
    loop_timer_set(election->timer, delay_ms);
}

static void tell_failure(struct etcd_election *election, const char *message)
{
    wake(election, RETRY_MS);
    election->notify(election->context, &(struct etcd_election_notice){
                                            .kind = ETCD_ELECTION_FAILED,
                                            .message = message,
                                        });
}

static void leave(struct etcd_election *election)
{
    if (election->candidacy == CANDIDATE_OUT)
        return;
    etcd_call_cancel(election->step);
    election->step = NULL;
    election->candidacy = CANDIDATE_OUT;
    election->lease = NULL;
    election->must_tell_dropped = true;
    election->must_look = true;
    wake(election, 0);
}

/* ---- looking on ---- */

/* Not while leaving: the next leader may learn of our resignation before we do. */
static bool leads(const struct etcd_election *election)
{
    return election->candidacy == CANDIDATE_IN &&
           election->leader_revision == election->key_revision &&
           is_same(bytes_of(&election->key), &election->leader);
}

static void on_watch(void *context, const struct etcd_watch_notice *notice);

static enum status start_watch(struct etcd_election *election, int64_t revision)
{
    struct etcd_watch_config config = {
        .key = bytes_of(&election->prefix),
        .prefix = true,
        .start_revision = revision + 1,
    };
    return etcd_watch_new(election->client, &config, on_watch, election, &election->watch);
}

static void tell_leader(struct etcd_election *election, const struct etcd_op_result *oldest)
{
    const struct etcd_kv none = {.key.data = "", .value.data = ""};
    const struct etcd_kv *leader = oldest->kv_count ? oldest->kvs : &none;
    if (election->is_known && is_same(leader->key, &election->leader) &&
        leader->create_revision == election->leader_revision &&
        leader->mod_revision == election->leader_mod_revision)
        return;
    strbuf_reset(&election->leader);
    strbuf_add(&election->leader, leader->key.data, leader->key.length);
    election->leader_revision = leader->create_revision;
    election->leader_mod_revision = leader->mod_revision;
    election->is_known = strbuf_status(&election->leader) == OK;
    election->notify(election->context,
                     &(struct etcd_election_notice){
                         .kind = leader->key.length ? ETCD_ELECTION_LED : ETCD_ELECTION_VACANT,
                         .is_self = leads(election),
                         .key = leader->key,
                         .value = leader->value,
                         .revision = leader->create_revision,
                         .message = "",
                     });
}

/* ops[0] is the oldest key, ops[1] our own, if we think that we have one. */
static void on_look(void *context, const struct etcd_result *result)
{
    struct etcd_election *election = context;
    const struct etcd_op_result *ops = result->op.txn.ops;
    election->look = NULL;
    if (result->status != OK || result->op.txn.op_count != 2) {
        election->must_look = true;
        tell_failure(election, result->message);
        return;
    }
    if (election->watch && etcd_watch_next_revision(election->watch) > result->revision + 1)
        election->watch = etcd_watch_free(election->watch); /* see matters */
    if (!election->watch && start_watch(election, result->revision) != OK) {
        election->must_look = true;
        tell_failure(election, status_text(E_NOMEM));
        return;
    }
    if (election->candidacy == CANDIDATE_IN && !election->is_look_old &&
        (ops[1].kv_count == 0 || ops[1].kvs[0].create_revision != election->key_revision))
        leave(election); /* a different create revision is a loss, too: the etcd may have been
                            restored */
    if (election->must_look)
        wake(election, 0);
    election->cluster_id = result->cluster_id;
    tell_leader(election, &ops[0]);
}

static void look(struct etcd_election *election)
{
    struct etcd_reply reply = {.done = on_look, .context = election};
    etcd_txn_reset(election->txn);
    etcd_txn_range(election->txn, &(struct etcd_range){
                                      .key = bytes_of(&election->prefix),
                                      .prefix = true,
                                      .sort = ETCD_SORT_CREATED_ASCENDING,
                                      .limit = 1,
                                  });
    etcd_txn_range(election->txn,
                   &(struct etcd_range){.key = election->key.length ? bytes_of(&election->key)
                                                                    : bytes_of(&election->prefix)});
    election->must_look = election->is_look_old = false;
    if (etcd_txn_send(election->client, election->txn, &reply, &election->look) != OK) {
        election->must_look = true;
        wake(election, RETRY_MS);
    }
}

/* Only events that can change the leader or our candidacy need a look. An event may arrive while a
 * look is under way and concern the very leader which that look finds: the answer comes on another
 * connection, and may be older than the event. So a watch that is ahead of an answer is restarted
 * at the answer's revision, and delivers the event again. (The watch is also ahead of a restored
 * etcd, and would wait for the old one's revisions.) */
static bool matters(const struct etcd_election *election, const struct etcd_event *event)
{
    return !election->is_known || election->leader.length == 0 ||
           is_same(event->kv.key, &election->leader) || is_same(event->kv.key, &election->key);
}

static void on_watch(void *context, const struct etcd_watch_notice *notice)
{
    struct etcd_election *election = context;
    switch (notice->kind) {
    case ETCD_WATCH_EVENTS:
        for (size_t i = 0; i < notice->event_count; i++)
            if (matters(election, &notice->events[i]))
                election->must_look = true;
        if (election->look == NULL && election->must_look)
            wake(election, 0);
        break;
    case ETCD_WATCH_COMPACTED:
    case ETCD_WATCH_FAILED:
        election->watch = etcd_watch_free(election->watch);
        election->must_look = true;
        if (notice->kind == ETCD_WATCH_FAILED)
            tell_failure(election, notice->message);
        else
            wake(election, 0);
        break;
    case ETCD_WATCH_BROKEN:
        election->was_broken = true;
        break;
    case ETCD_WATCH_LIVE: /* a restored etcd sends no deletes for keys that it does not have */
        if (election->was_broken || notice->cluster_id != election->cluster_id) {
            election->must_look = true;
            if (!election->look)
                wake(election, 0);
        }
        election->was_broken = false;
        break;
    case ETCD_WATCH_PROGRESS:
        break;
    }
}

/* ---- being a candidate ---- */

static void on_entered(void *context, const struct etcd_result *result)
{
    struct etcd_election *election = context;
    const struct etcd_txn_result *txn = &result->op.txn;
    election->step = NULL;
    if (result->status == E_NOT_FOUND) { /* the lease is gone */
        leave(election);
        return;
    }
    if (result->status != OK || txn->op_count != 1) {
        tell_failure(election, result->message);
        return;
    }
    if (txn->succeeded)
        election->key_revision = result->revision;
    else if (txn->ops[0].kv_count) /* an earlier attempt got through */
        election->key_revision = txn->ops[0].kvs[0].create_revision;
    election->candidacy = CANDIDATE_IN;
    election->is_look_old = election->look != NULL;
    election->is_known = false; /* announce again: the leader may be us now */
    election->must_look = true;
    wake(election, 0);
}

static void enter(struct etcd_election *election)
{
    struct etcd_reply reply = {.done = on_entered, .context = election};
    etcd_txn_reset(election->txn);
    etcd_txn_if_version(election->txn, bytes_of(&election->key), ETCD_EQUAL, 0);
    etcd_txn_put(election->txn, &(struct etcd_put){.key = bytes_of(&election->key),
                                                   .value = bytes_of(&election->value),
                                                   .lease = etcd_lease_id(election->lease)});
    etcd_txn_else(election->txn);
    etcd_txn_range(election->txn, &(struct etcd_range){.key = bytes_of(&election->key)});
    if (etcd_txn_send(election->client, election->txn, &reply, &election->step) != OK)
        wake(election, RETRY_MS);
}

static void on_left(void *context, const struct etcd_result *result)
{
    struct etcd_election *election = context;
    election->step = NULL;
    if (result->status == OK)
        leave(election);
    else
        tell_failure(election, result->message);
}

static void resign(struct etcd_election *election)
{
    struct etcd_reply reply = {.done = on_left, .context = election};
    etcd_txn_reset(election->txn);
    etcd_txn_if_lease(election->txn, bytes_of(&election->key), ETCD_EQUAL,
                      etcd_lease_id(election->lease));
    etcd_txn_delete(election->txn, &(struct etcd_delete){.key = bytes_of(&election->key)});
    if (etcd_txn_send(election->client, election->txn, &reply, &election->step) != OK)
        wake(election, RETRY_MS);
}

/* The only place that makes requests and announces DROPPED. */
static void on_timer(void *context)
{
    struct etcd_election *election = context;
    bool was_dropped = election->must_tell_dropped;
    election->must_tell_dropped = false;
    if (!election->step && election->lease && etcd_lease_id(election->lease) == 0)
        leave(election);
    if (!election->step && election->candidacy == CANDIDATE_ENTERING)
        enter(election);
    if (!election->step && election->candidacy == CANDIDATE_LEAVING)
        resign(election);
    if (!election->look && election->must_look)
        look(election);
    if (was_dropped)
        election->notify(election->context, &(struct etcd_election_notice){
                                                .kind = ETCD_ELECTION_DROPPED, .message = ""});
}

enum status etcd_election_new(struct etcd_client *client, struct etcd_bytes prefix,
                              etcd_election_notify *notify, void *context,
                              struct etcd_election **ret)
{
    struct etcd_election *election = calloc(1, sizeof(*election));
    if (!election)
        return E_NOMEM;
    election->client = client;
    election->notify = notify;
    election->context = context;
    election->must_look = true;
    strbuf_init(&election->prefix);
    strbuf_init(&election->leader);
    strbuf_init(&election->key);
    strbuf_init(&election->value);
    strbuf_add(&election->prefix, prefix.data, prefix.length);
    enum status st = strbuf_status(&election->prefix);
    if (st == OK)
        st = etcd_txn_new(&election->txn);
    if (st == OK)
        st = loop_timer_new(client->loop, on_timer, election, &election->timer);
    if (st != OK) {
        etcd_election_free(election);
        return st;
    }
    wake(election, 0);
    *ret = election;
    return OK;
}

struct etcd_election *etcd_election_free(struct etcd_election *election)
{
    if (!election)
        return NULL;
    etcd_call_cancel(election->look);
    etcd_call_cancel(election->step);
    etcd_watch_free(election->watch);
    loop_timer_free(election->timer);
    etcd_txn_free(election->txn);
    strbuf_release(&election->prefix);
    strbuf_release(&election->leader);
    strbuf_release(&election->key);
    strbuf_release(&election->value);
    free(election);
    return NULL;
}

enum status etcd_election_campaign(struct etcd_election *election, const struct etcd_lease *lease,
                                   struct etcd_bytes value)
{
    if (election->candidacy != CANDIDATE_OUT)
        return E_BUSY;
    if (etcd_lease_id(lease) == 0)
        return E_INVALID;
    strbuf_reset(&election->key);
    strbuf_add(&election->key, election->prefix.text, election->prefix.length);
    strbuf_addf(&election->key, "%016" PRIx64, (uint64_t)etcd_lease_id(lease));
    strbuf_reset(&election->value);
    strbuf_add(&election->value, value.data, value.length);
    if (strbuf_status(&election->key) != OK || strbuf_status(&election->value) != OK)
        return E_NOMEM;
    election->lease = lease;
    election->candidacy = CANDIDATE_ENTERING;
    wake(election, 0);
    return OK;
}

void etcd_election_resign(struct etcd_election *election)
{
    if (election->candidacy == CANDIDATE_OUT)
        return;
    etcd_call_cancel(
        election->step); /* an entering step may have got through: the key is deleted anyway */
    election->step = NULL;
    election->candidacy = CANDIDATE_LEAVING;
    wake(election, 0);
}

void etcd_election_drop(struct etcd_election *election)
{
    leave(election);
}

bool etcd_election_is_self(const struct etcd_election *election)
{
    return leads(election) && etcd_now_ms() < etcd_lease_held_until_boot_ms(election->lease);
}

uint64_t etcd_election_cluster_id(const struct etcd_election *election)
{
    return election->cluster_id;
}
