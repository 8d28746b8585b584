/* Two halves. The observer reads the oldest key below the prefix, watches the prefix, and reads
 * again when the leader may have changed. The candidate:
 *
 *     OUT -> ENTERING -> IN -> LEAVING -> OUT
 *              \_________/________/  dropped
 */
#include "kv_election.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv_backend.h"
#include "kv_txn.h"
#include "kv_watch.h"
#include "strbuf.h"

enum { RETRY_MS = 300 };

enum candidacy {
    CANDIDATE_OUT,
    CANDIDATE_ENTERING,
    CANDIDATE_IN,
    CANDIDATE_LEAVING,
};

struct kv_election {
    struct kv_client *client;
    kv_election_notify *notify;
    void *context;
    struct strbuf prefix;
    struct loop_timer *timer; /* work for the next turn, or a retry */
    struct kv_txn *txn;

    struct kv_watch *watch;
    bool was_broken;             /* the watch */
    struct kv_call *look;        /* under way */
    bool is_look_old;            /* `look` was sent before this candidacy */
    bool must_look;              /* something changed since `look` was sent */
    bool is_known;               /* the leader was announced */
    struct strbuf leader;        /* its key; "" : vacant */
    int64_t leader_revision;     /* create revision of its key */
    int64_t leader_mod_revision; /* mod revision of its key */
    uint64_t cluster_id;         /* of the cluster that named the leader */

    enum candidacy candidacy;
    const struct kv_lease *lease;
    struct strbuf key, value; /* ours */
    int64_t key_revision;
    struct kv_call *step; /* entering or leaving, under way */
    bool must_tell_dropped;
};

static struct kv_bytes bytes_of(const struct strbuf *buf)
{
    return (struct kv_bytes){buf->text, buf->length};
}

static bool is_same(struct kv_bytes bytes, const struct strbuf *buf)
{
    return bytes.length == buf->length && memcmp(bytes.data, buf->text, buf->length) == 0;
}

static void wake(struct kv_election *election, int64_t delay_ms)
{
    loop_timer_set(election->timer, delay_ms);
}

static void tell_failure(struct kv_election *election, const char *message)
{
    wake(election, RETRY_MS);
    election->notify(election->context, &(struct kv_election_notice){
                                            .kind = KV_ELECTION_FAILED,
                                            .message = message,
                                        });
}

static void leave(struct kv_election *election)
{
    if (election->candidacy == CANDIDATE_OUT)
        return;
    kv_call_cancel(election->step);
    election->step = NULL;
    election->candidacy = CANDIDATE_OUT;
    election->lease = NULL;
    election->must_tell_dropped = true;
    election->must_look = true;
    wake(election, 0);
}

/* ---- looking on ---- */

/* Not while leaving: the next leader may learn of our resignation before we do. */
static bool leads(const struct kv_election *election)
{
    return election->candidacy == CANDIDATE_IN &&
           election->leader_revision == election->key_revision &&
           is_same(bytes_of(&election->key), &election->leader);
}

static void on_watch(void *context, const struct kv_watch_notice *notice);

static enum status start_watch(struct kv_election *election, int64_t revision)
{
    struct kv_watch_config config = {
        .key = bytes_of(&election->prefix),
        .prefix = true,
        .start_revision = revision + 1,
    };
    return kv_watch_new(election->client, &config, on_watch, election, &election->watch);
}

static void tell_leader(struct kv_election *election, const struct kv_op_result *oldest)
{
    const struct kv_pair none = {.key.data = "", .value.data = ""};
    const struct kv_pair *leader = oldest->kv_count ? oldest->kvs : &none;
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
                     &(struct kv_election_notice){
                         .kind = leader->key.length ? KV_ELECTION_LED : KV_ELECTION_VACANT,
                         .is_self = leads(election),
                         .key = leader->key,
                         .value = leader->value,
                         .revision = leader->create_revision,
                         .message = "",
                     });
}

/* ops[0] is the oldest key, ops[1] our own, if we think that we have one. */
static void on_look(void *context, const struct kv_result *result)
{
    struct kv_election *election = context;
    const struct kv_op_result *ops = result->op.txn.ops;
    election->look = NULL;
    if (result->status != OK || result->op.txn.op_count != 2) {
        election->must_look = true;
        tell_failure(election, result->message);
        return;
    }
    if (election->watch && kv_watch_next_revision(election->watch) > result->revision + 1)
        election->watch = kv_watch_free(election->watch); /* see matters */
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

static void look(struct kv_election *election)
{
    struct kv_reply reply = {.done = on_look, .context = election};
    kv_txn_reset(election->txn);
    kv_txn_range(election->txn, &(struct kv_range){
                                    .key = bytes_of(&election->prefix),
                                    .prefix = true,
                                    .sort = KV_SORT_CREATED_ASCENDING,
                                    .limit = 1,
                                });
    kv_txn_range(election->txn,
                 &(struct kv_range){.key = election->key.length ? bytes_of(&election->key)
                                                                : bytes_of(&election->prefix)});
    election->must_look = election->is_look_old = false;
    if (kv_txn_send(election->client, election->txn, &reply, &election->look) != OK) {
        election->must_look = true;
        wake(election, RETRY_MS);
    }
}

/* Only events that can change the leader or our candidacy need a look. An event may arrive while a
 * look is under way and concern the very leader which that look finds: the answer comes on another
 * connection, and may be older than the event. So a watch that is ahead of an answer is restarted
 * at the answer's revision, and delivers the event again. (The watch is also ahead of a restored
 * etcd, and would wait for the old one's revisions.) */
static bool matters(const struct kv_election *election, const struct kv_event *event)
{
    return !election->is_known || election->leader.length == 0 ||
           is_same(event->kv.key, &election->leader) || is_same(event->kv.key, &election->key);
}

static void on_watch(void *context, const struct kv_watch_notice *notice)
{
    struct kv_election *election = context;
    switch (notice->kind) {
    case KV_WATCH_EVENTS:
        for (size_t i = 0; i < notice->event_count; i++)
            if (matters(election, &notice->events[i]))
                election->must_look = true;
        if (election->look == NULL && election->must_look)
            wake(election, 0);
        break;
    case KV_WATCH_COMPACTED:
    case KV_WATCH_FAILED:
        election->watch = kv_watch_free(election->watch);
        election->must_look = true;
        if (notice->kind == KV_WATCH_FAILED)
            tell_failure(election, notice->message);
        else
            wake(election, 0);
        break;
    case KV_WATCH_BROKEN:
        election->was_broken = true;
        break;
    case KV_WATCH_LIVE: /* a restored etcd sends no deletes for keys that it does not have */
        if (election->was_broken || notice->cluster_id != election->cluster_id) {
            election->must_look = true;
            if (!election->look)
                wake(election, 0);
        }
        election->was_broken = false;
        break;
    case KV_WATCH_PROGRESS:
        break;
    }
}

/* ---- being a candidate ---- */

static void on_entered(void *context, const struct kv_result *result)
{
    struct kv_election *election = context;
    const struct kv_txn_result *txn = &result->op.txn;
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

static void enter(struct kv_election *election)
{
    struct kv_reply reply = {.done = on_entered, .context = election};
    kv_txn_reset(election->txn);
    kv_txn_if_version(election->txn, bytes_of(&election->key), KV_EQUAL, 0);
    kv_txn_put(election->txn, &(struct kv_put){.key = bytes_of(&election->key),
                                               .value = bytes_of(&election->value),
                                               .lease = kv_lease_id(election->lease)});
    kv_txn_else(election->txn);
    kv_txn_range(election->txn, &(struct kv_range){.key = bytes_of(&election->key)});
    if (kv_txn_send(election->client, election->txn, &reply, &election->step) != OK)
        wake(election, RETRY_MS);
}

static void on_left(void *context, const struct kv_result *result)
{
    struct kv_election *election = context;
    election->step = NULL;
    if (result->status == OK)
        leave(election);
    else
        tell_failure(election, result->message);
}

static void resign(struct kv_election *election)
{
    struct kv_reply reply = {.done = on_left, .context = election};
    kv_txn_reset(election->txn);
    kv_txn_if_lease(election->txn, bytes_of(&election->key), KV_EQUAL,
                    kv_lease_id(election->lease));
    kv_txn_delete(election->txn, &(struct kv_delete){.key = bytes_of(&election->key)});
    if (kv_txn_send(election->client, election->txn, &reply, &election->step) != OK)
        wake(election, RETRY_MS);
}

/* The only place that makes requests and announces DROPPED. */
static void on_timer(void *context)
{
    struct kv_election *election = context;
    bool was_dropped = election->must_tell_dropped;
    election->must_tell_dropped = false;
    if (!election->step && election->lease && kv_lease_id(election->lease) == 0)
        leave(election);
    if (!election->step && election->candidacy == CANDIDATE_ENTERING)
        enter(election);
    if (!election->step && election->candidacy == CANDIDATE_LEAVING)
        resign(election);
    if (!election->look && election->must_look)
        look(election);
    if (was_dropped)
        election->notify(election->context,
                         &(struct kv_election_notice){.kind = KV_ELECTION_DROPPED, .message = ""});
}

enum status kv_election_new(struct kv_client *client, struct kv_bytes prefix,
                            kv_election_notify *notify, void *context, struct kv_election **ret)
{
    struct kv_election *election = calloc(1, sizeof(*election));
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
        st = kv_txn_new(&election->txn);
    if (st == OK)
        st = loop_timer_new(client->loop, on_timer, election, &election->timer);
    if (st != OK) {
        kv_election_free(election);
        return st;
    }
    wake(election, 0);
    *ret = election;
    return OK;
}

struct kv_election *kv_election_free(struct kv_election *election)
{
    if (!election)
        return NULL;
    kv_call_cancel(election->look);
    kv_call_cancel(election->step);
    kv_watch_free(election->watch);
    loop_timer_free(election->timer);
    kv_txn_free(election->txn);
    strbuf_release(&election->prefix);
    strbuf_release(&election->leader);
    strbuf_release(&election->key);
    strbuf_release(&election->value);
    free(election);
    return NULL;
}

enum status kv_election_campaign(struct kv_election *election, const struct kv_lease *lease,
                                 struct kv_bytes value)
{
    if (election->candidacy != CANDIDATE_OUT)
        return E_BUSY;
    if (kv_lease_id(lease) == 0)
        return E_INVALID;
    strbuf_reset(&election->key);
    strbuf_add(&election->key, election->prefix.text, election->prefix.length);
    strbuf_addf(&election->key, "%016" PRIx64, (uint64_t)kv_lease_id(lease));
    strbuf_reset(&election->value);
    strbuf_add(&election->value, value.data, value.length);
    if (strbuf_status(&election->key) != OK || strbuf_status(&election->value) != OK)
        return E_NOMEM;
    election->lease = lease;
    election->candidacy = CANDIDATE_ENTERING;
    wake(election, 0);
    return OK;
}

void kv_election_resign(struct kv_election *election)
{
    if (election->candidacy == CANDIDATE_OUT)
        return;
    kv_call_cancel(
        election->step); /* an entering step may have got through: the key is deleted anyway */
    election->step = NULL;
    election->candidacy = CANDIDATE_LEAVING;
    wake(election, 0);
}

void kv_election_drop(struct kv_election *election)
{
    leave(election);
}

bool kv_election_is_self(const struct kv_election *election)
{
    return leads(election) && kv_now_ms() < kv_lease_held_until_boot_ms(election->lease);
}

uint64_t kv_election_cluster_id(const struct kv_election *election)
{
    return election->cluster_id;
}
