/* A claim of a queue in etcd:
 *
 *     GRANTING -> ENTERING -> WAITING -> TAKING -> HELD -> ENDED
 *          \__________\__________\___________\________/ RELEASING
 *
 * WAITING looks at the queue and then watches the key before its own, if there is one. It looks
 * again when that key is gone, when the watch is broken, and every few seconds, which also shows
 * that the store still answers. HELD watches its own key and the clock. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "coord_kv_internal.h"
#include "kv_lease.h"
#include "kv_txn.h"
#include "kv_watch.h"

enum {
    LOOK_MS = 5000,      /* between looks while nothing happens */
    SETTLE_MS = 200,     /* between looks at a lease that may be over */
    FENCE_TEXT_MAX = 64, /* "FENCE CLUSTER-ID" */
    FENCE_SHIFT = 30,    /* fences after a restore begin at the minute << this */
};

enum claim_state {
    CLAIM_GRANTING,
    CLAIM_ENTERING,
    CLAIM_WAITING,
    CLAIM_TAKING,
    CLAIM_HELD,
    CLAIM_RELEASING,
    CLAIM_ENDED,
};

struct coord_kv_claim {
    struct coord_claim base;
    struct coord_kv *kv;
    enum claim_state state;
    coord_notify *notify;
    void *context;
    bool at_once;
    int64_t margin_ms;
    enum coord_event end; /* RELEASING: what is told at last */
    enum status end_status;
    char end_message[600];
    struct coord_holder self, other; /* other: who has it, if it is not waited for */
    struct strbuf told;              /* key of the holder that was announced */

    struct strbuf queue, key, fence_key; /* queue: the prefix of all its keys */
    struct strbuf value;                 /* of the key */
    int64_t create_revision;             /* of the key */

    struct kv_lease *lease;
    struct kv_txn *txn;
    struct kv_call *call; /* the one step that is under way; NULL: none */
    bool must_look;       /* something changed since it was sent */
    struct kv_watch *watch;
    struct strbuf watched;
    bool was_broken;
    uint64_t cluster_id; /* in which the key was written */
    struct loop_timer *timer;
};

static int64_t boot_ms(void)
{
    return clock_now().boot.ms;
}

static void look(struct coord_kv_claim *claim);

/* ---- the end ---- */

static void stop_watch(struct coord_kv_claim *claim)
{
    claim->watch = kv_watch_free(claim->watch);
    strbuf_reset(&claim->watched);
}

static void end_claim(struct coord_kv_claim *claim)
{
    claim->state = CLAIM_ENDED;
    stop_watch(claim);
    kv_call_cancel(claim->call);
    claim->call = NULL;
    claim->lease = kv_lease_free(claim->lease);
    loop_timer_stop(claim->timer);
    claim->notify(claim->context, &(struct coord_notice){.event = claim->end,
                                                         .holder = &claim->self,
                                                         .status = claim->end_status,
                                                         .message = claim->end_message});
}

static void set_end(struct coord_kv_claim *claim, enum coord_event event, enum status st,
                    const char *message)
{
    claim->end = event;
    claim->end_status = st == E_UNKNOWN ? E_UNREACHABLE : st;
    snprintf(claim->end_message, sizeof(claim->end_message), "%s", message);
}

static void on_revoked(void *context, const struct kv_result *result)
{
    struct coord_kv_claim *claim = context;
    claim->call = NULL;
    if (result->status != OK && result->status != E_NOT_FOUND && claim->end == COORD_RELEASED)
        set_end(claim, COORD_RELEASED, result->status, result->message);
    end_claim(claim);
}

/* The key goes with the lease, also one that a request under way may still write: such a request is
 * refused without the lease. The end is told when that is done. */
static void leave(struct coord_kv_claim *claim, enum coord_event event, enum status st,
                  const char *message)
{
    const struct kv_reply reply = {.done = on_revoked, .context = claim};
    int64_t id = claim->lease ? kv_lease_id(claim->lease) : 0;
    set_end(claim, event, st, message);
    claim->state = CLAIM_RELEASING;
    stop_watch(claim);
    kv_call_cancel(claim->call);
    claim->call = NULL;
    loop_timer_stop(claim->timer);
    bool is_silent = st == E_UNREACHABLE || st == E_UNKNOWN;
    if (!id || is_silent || kv_lease_revoke(claim->kv->client, id, &reply, &claim->call) != OK)
        loop_timer_set(claim->timer, 0);
    else
        kv_call_may_repeat(claim->call);
}

static void fail(struct coord_kv_claim *claim, enum status st, const char *message)
{
    leave(claim, COORD_FAILED, st, message);
}

/* The lease is given up as it is: whoever comes next waits until etcd lets it go. */
static void lose(struct coord_kv_claim *claim, enum status st, const char *message)
{
    if (claim->state != CLAIM_HELD) {
        fail(claim, st, message);
        return;
    }
    set_end(claim, COORD_LOST, st, message);
    end_claim(claim);
}

/* ---- the watch: of the key before ours, then of our own ---- */

static void on_watch(void *context, const struct kv_watch_notice *notice)
{
    struct coord_kv_claim *claim = context;
    bool must_look = false;
    switch (notice->kind) {
    case KV_WATCH_EVENTS:
        for (size_t i = 0; i < notice->event_count; i++)
            must_look |= notice->events[i].is_delete;
        break;
    case KV_WATCH_COMPACTED:
    case KV_WATCH_FAILED:
        stop_watch(claim);
        must_look = true;
        break;
    case KV_WATCH_BROKEN:
        claim->was_broken = true;
        break;
    case KV_WATCH_LIVE: /* a restored etcd sends no deletes for keys that it does not have */
        must_look = claim->was_broken || notice->cluster_id != claim->cluster_id;
        claim->was_broken = false;
        break;
    case KV_WATCH_PROGRESS:
        break;
    }
    if (must_look)
        look(claim);
}

/* Without a watch the looks in between must do. */
static void watch_key(struct coord_kv_claim *claim, struct kv_bytes key, int64_t revision)
{
    const struct kv_watch_config config = {.key = key, .start_revision = revision + 1};
    bool is_same = claim->watch && key.length == claim->watched.length &&
                   memcmp(key.data, claim->watched.text, key.length) == 0;
    /* A watch that is ahead of the answer waits for revisions of an etcd that is no more. */
    if (is_same && kv_watch_next_revision(claim->watch) <= revision + 1)
        return;
    stop_watch(claim);
    strbuf_add(&claim->watched, key.data, key.length);
    if (kv_watch_new(claim->kv->client, &config, on_watch, claim, &claim->watch) != OK)
        claim->watch = NULL;
}

/* ---- holding ---- */

static int64_t loss_ms(const struct coord_kv_claim *claim)
{
    return kv_lease_held_until_boot_ms(claim->lease) - claim->margin_ms;
}

static void hold(struct coord_kv_claim *claim, int64_t revision)
{
    if (boot_ms() >= loss_ms(claim)) {
        fail(claim, E_UNREACHABLE, "the store answered too late: the lease could have ended");
        return;
    }
    claim->state = CLAIM_HELD;
    kv_lease_renew_often(claim->lease, true);
    watch_key(claim, coord_kv_bytes(&claim->key), revision);
    loop_timer_set(claim->timer, 0);
    claim->notify(claim->context, &(struct coord_notice){
                                      .event = COORD_HELD, .holder = &claim->self, .message = ""});
}

/* Looks at the clock as often as the lease could run out, and at the queue if that is due. */
static void check_hold(struct coord_kv_claim *claim)
{
    int64_t left_ms = loss_ms(claim) - boot_ms();
    if (left_ms <= 0) {
        lose(claim, E_UNREACHABLE, "the store did not renew the lease in time");
        return;
    }
    if (claim->must_look && !claim->call)
        look(claim);
    loop_timer_set(claim->timer, left_ms < 500 ? left_ms : 500);
}

enum status coord_kv_next_fence(const char *last, uint64_t cluster_id, int64_t wall_ms,
                                int64_t *ret)
{
    const int64_t from_ms = 1577836800000; /* 2020 */
    int64_t fence = 0;
    uint64_t written_in = cluster_id;
    if (*last && (sscanf(last, "%" SCNd64 " %" SCNx64, &fence, &written_in) != 2 || fence < 0 ||
                  fence == INT64_MAX))
        return E_CORRUPT;
    int64_t minutes = wall_ms > from_ms ? (wall_ms - from_ms) / 60000 : 0;
    int64_t restored = written_in != cluster_id ? minutes << FENCE_SHIFT : 0;
    *ret = fence + 1 > restored ? fence + 1 : restored;
    return OK;
}

static bool is_ours(const struct coord_kv_claim *claim, const struct kv_op_result *own)
{
    return own->kv_count == 1 && own->kvs[0].create_revision == claim->create_revision;
}

/* A first copy of the transaction may have been done, and its answer lost. */
static void on_taken(void *context, const struct kv_result *result)
{
    struct coord_kv_claim *claim = context;
    const struct kv_txn_result *txn = &result->op.txn;
    struct coord_holder known;
    claim->call = NULL;
    if (result->status != OK) {
        fail(claim, result->status, result->message);
    } else if (txn->succeeded) {
        hold(claim, result->revision);
    } else if (txn->op_count != 1 || !is_ours(claim, &txn->ops[0])) {
        fail(claim, E_CONFLICT, "its place in the queue was deleted");
    } else if (coord_holder_parse(txn->ops[0].kvs[0].value.data, txn->ops[0].kvs[0].value.length,
                                  &known) == OK &&
               known.fence > 0) {
        claim->self = known;
        hold(claim, result->revision);
    } else {
        claim->state = CLAIM_WAITING;
        look(claim);
    }
}

/* Nobody is before us: raises the fence, while our key is as we have written it. */
static void take(struct coord_kv_claim *claim, const struct kv_op_result *fence,
                 uint64_t cluster_id)
{
    const struct kv_reply reply = {.done = on_taken, .context = claim};
    char last[FENCE_TEXT_MAX] = "", next[FENCE_TEXT_MAX];
    int64_t wall_ms = clock_now().wall.ms;
    if (fence->kv_count)
        snprintf(last, sizeof(last), "%.*s", (int)fence->kvs[0].value.length,
                 (const char *)fence->kvs[0].value.data);
    if (coord_kv_next_fence(last, cluster_id, wall_ms, &claim->self.fence) != OK) {
        fail(claim, E_CORRUPT,
             "the key of its fence can't be read; delete it only if nothing "
             "compares fences with earlier ones");
        return;
    }
    claim->self.since_ms = wall_ms;
    snprintf(next, sizeof(next), "%" PRId64 " %016" PRIx64, claim->self.fence, cluster_id);
    strbuf_reset(&claim->value);
    coord_holder_print(&claim->self, &claim->value);
    kv_txn_reset(claim->txn);
    kv_txn_if_mod_revision(claim->txn, coord_kv_bytes(&claim->key), KV_EQUAL,
                           claim->create_revision);
    kv_txn_if_mod_revision(claim->txn, coord_kv_bytes(&claim->fence_key), KV_EQUAL,
                           fence->kv_count ? fence->kvs[0].mod_revision : 0);
    kv_txn_put(claim->txn,
               &(struct kv_put){.key = coord_kv_bytes(&claim->fence_key), .value = kv_text(next)});
    kv_txn_put(claim->txn, &(struct kv_put){.key = coord_kv_bytes(&claim->key),
                                            .value = coord_kv_bytes(&claim->value),
                                            .lease = kv_lease_id(claim->lease)});
    kv_txn_else(claim->txn);
    kv_txn_range(claim->txn, &(struct kv_range){.key = coord_kv_bytes(&claim->key)});
    claim->state = CLAIM_TAKING;
    enum status st = strbuf_status(&claim->value);
    if (st == OK)
        st = kv_txn_send(claim->kv->client, claim->txn, &reply, &claim->call);
    if (st != OK)
        fail(claim, st, status_text(st));
    else
        kv_call_may_repeat(claim->call);
}

/* ---- waiting ---- */

static void fail_busy(struct coord_kv_claim *claim)
{
    claim->self = claim->other;
    fail(claim, E_BUSY, status_text(E_BUSY));
}

static void on_settled(void *context, const struct kv_result *result)
{
    struct coord_kv_claim *claim = context;
    claim->call = NULL;
    if (result->status != OK)
        fail(claim, result->status, result->message);
    else if (result->lease.ttl_s > 0)
        fail_busy(claim);
    else if (result->lease.ttl_s < 0)
        look(claim);
    else
        loop_timer_set(claim->timer, SETTLE_MS);
}

/* Who doesn't wait is not there to see that the holder is gone. */
static void settle(struct coord_kv_claim *claim, const struct kv_pair *first)
{
    const struct kv_reply reply = {.done = on_settled, .context = claim};
    if (!kv_must_settle(claim->kv->client) ||
        kv_lease_settle(claim->kv->client, first->lease, &reply, &claim->call) != OK)
        fail_busy(claim);
}

/* `first` and `before`: of the queue, and the one before us; both exist. */
static void wait_behind(struct coord_kv_claim *claim, const struct kv_pair *first,
                        const struct kv_pair *before, int64_t revision)
{
    struct coord_holder holder = {.id = "?"};
    bool is_told = first->key.length == claim->told.length &&
                   memcmp(first->key.data, claim->told.text, first->key.length) == 0;
    if (coord_holder_parse(first->value.data, first->value.length, &holder) != OK)
        holder = (struct coord_holder){.id = "?"};
    if (claim->at_once) {
        claim->other = holder;
        settle(claim, first);
        return;
    }
    watch_key(claim, before->key, revision);
    loop_timer_set(claim->timer, claim->kv->timeout_ms < LOOK_MS ? claim->kv->timeout_ms : LOOK_MS);
    if (is_told)
        return;
    strbuf_reset(&claim->told);
    strbuf_add(&claim->told, first->key.data, first->key.length);
    claim->notify(claim->context,
                  &(struct coord_notice){.event = COORD_WAITING, .holder = &holder, .message = ""});
}

enum { LOOK_BEFORE, LOOK_OWN, LOOK_FENCE, LOOK_FIRST, LOOKS };

static void on_look(void *context, const struct kv_result *result)
{
    struct coord_kv_claim *claim = context;
    const struct kv_op_result *ops = result->op.txn.ops;
    bool is_held = claim->state == CLAIM_HELD;
    claim->call = NULL;
    if (result->status != OK || result->op.txn.op_count != LOOKS) {
        claim->must_look = is_held; /* the clock decides whether it is lost */
        if (!is_held)
            fail(claim, result->status == OK ? E_CORRUPT : result->status, result->message);
        return;
    }
    if (!is_ours(claim, &ops[LOOK_OWN])) {
        lose(claim, E_CONFLICT, "its place in the queue was deleted, or the store was restored");
        return;
    }
    claim->cluster_id = result->cluster_id;
    if (is_held)
        watch_key(claim, coord_kv_bytes(&claim->key), result->revision);
    else if (!ops[LOOK_BEFORE].kv_count || !ops[LOOK_FIRST].kv_count)
        take(claim, &ops[LOOK_FENCE], result->cluster_id);
    else if (claim->must_look)
        look(claim);
    else
        wait_behind(claim, &ops[LOOK_FIRST].kvs[0], &ops[LOOK_BEFORE].kvs[0], result->revision);
}

static void look(struct coord_kv_claim *claim)
{
    const struct kv_reply reply = {.done = on_look, .context = claim};
    if (claim->call || (claim->state != CLAIM_WAITING && claim->state != CLAIM_HELD)) {
        claim->must_look = true;
        return;
    }
    claim->must_look = false;
    kv_txn_reset(claim->txn);
    kv_txn_range(claim->txn, &(struct kv_range){
                                 .key = coord_kv_bytes(&claim->queue),
                                 .prefix = true,
                                 .max_create_revision = claim->create_revision - 1,
                                 .sort = KV_SORT_CREATED_DESCENDING,
                                 .limit = 1,
                             });
    kv_txn_range(claim->txn, &(struct kv_range){.key = coord_kv_bytes(&claim->key)});
    kv_txn_range(claim->txn, &(struct kv_range){.key = coord_kv_bytes(&claim->fence_key)});
    kv_txn_range(claim->txn, &(struct kv_range){
                                 .key = coord_kv_bytes(&claim->queue),
                                 .prefix = true,
                                 .sort = KV_SORT_CREATED_ASCENDING,
                                 .limit = 1,
                             });
    if (kv_txn_send(claim->kv->client, claim->txn, &reply, &claim->call) != OK) {
        claim->must_look = true;
        loop_timer_set(claim->timer, 500);
        return;
    }
    kv_call_may_repeat(claim->call);
}

/* ---- entering ---- */

static void on_entered(void *context, const struct kv_result *result)
{
    struct coord_kv_claim *claim = context;
    const struct kv_txn_result *txn = &result->op.txn;
    claim->call = NULL;
    if (result->status != OK || txn->op_count != 1) {
        fail(claim, result->status == OK ? E_CORRUPT : result->status, result->message);
        return;
    }
    if (!txn->succeeded && !txn->ops[0].kv_count) {
        fail(claim, E_CONFLICT, "its place in the queue was deleted");
        return;
    }
    claim->create_revision = txn->succeeded ? result->revision : txn->ops[0].kvs[0].create_revision;
    claim->cluster_id = result->cluster_id;
    claim->state = CLAIM_WAITING;
    look(claim);
}

static void enter(struct coord_kv_claim *claim)
{
    const struct kv_reply reply = {.done = on_entered, .context = claim};
    claim->state = CLAIM_ENTERING;
    strbuf_addf(&claim->key, "%s%016" PRIx64, claim->queue.text,
                (uint64_t)kv_lease_id(claim->lease));
    coord_holder_print(&claim->self, &claim->value);
    kv_txn_reset(claim->txn);
    kv_txn_if_version(claim->txn, coord_kv_bytes(&claim->key), KV_EQUAL, 0);
    kv_txn_put(claim->txn, &(struct kv_put){.key = coord_kv_bytes(&claim->key),
                                            .value = coord_kv_bytes(&claim->value),
                                            .lease = kv_lease_id(claim->lease)});
    kv_txn_else(claim->txn);
    kv_txn_range(claim->txn, &(struct kv_range){.key = coord_kv_bytes(&claim->key)});
    enum status st = strbuf_status(&claim->key);
    if (st == OK)
        st = strbuf_status(&claim->value);
    if (st == OK)
        st = kv_txn_send(claim->kv->client, claim->txn, &reply, &claim->call);
    if (st != OK)
        fail(claim, st, status_text(st));
    else
        kv_call_may_repeat(claim->call);
}

static void on_lease(void *context, const struct kv_lease_notice *notice)
{
    struct coord_kv_claim *claim = context;
    if (notice->kind == KV_LEASE_GRANTED)
        enter(claim);
    else if (claim->state == CLAIM_RELEASING)
        end_claim(claim); /* the key is gone with it */
    else
        lose(claim, notice->status, notice->message);
}

static void on_timer(void *context)
{
    struct coord_kv_claim *claim = context;
    if (claim->state == CLAIM_RELEASING)
        end_claim(claim);
    else if (claim->state == CLAIM_HELD)
        check_hold(claim);
    else
        look(claim);
}

/* ---- the contract ---- */

void coord_kv_claim_free(struct coord_claim *base)
{
    struct coord_kv_claim *claim = (struct coord_kv_claim *)base;
    kv_call_cancel(claim->call);
    kv_watch_free(claim->watch);
    kv_lease_free(claim->lease);
    kv_txn_free(claim->txn);
    loop_timer_free(claim->timer);
    strbuf_release(&claim->told);
    strbuf_release(&claim->queue);
    strbuf_release(&claim->key);
    strbuf_release(&claim->fence_key);
    strbuf_release(&claim->value);
    strbuf_release(&claim->watched);
    free(claim);
}

enum status coord_kv_claim(struct coord *coord, const struct coord_want *want, coord_notify *notify,
                           void *context, struct coord_claim **ret)
{
    struct coord_kv *kv = (struct coord_kv *)coord;
    struct coord_kv_claim *claim = calloc(1, sizeof(*claim));
    char name[COORD_NAME_SIZE];
    if (!claim)
        return E_NOMEM;
    claim->base.coord = coord;
    claim->kv = kv;
    claim->notify = notify;
    claim->context = context;
    claim->at_once = want->at_once;
    claim->margin_ms = want->margin_ms;
    coord_holder_self(want->id, &claim->self);
    struct strbuf *const all[] = {&claim->told,      &claim->queue, &claim->key,
                                  &claim->fence_key, &claim->value, &claim->watched};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        strbuf_init(all[i]);
    coord_name_encode(want->name, name);
    strbuf_addf(&claim->queue, "%s/%s/%s/queue/", kv->prefix, coord_folder(want->kind), name);
    strbuf_addf(&claim->fence_key, "%s/%s/%s/fence", kv->prefix, coord_folder(want->kind), name);
    enum status st = strbuf_status(&claim->queue);
    if (st == OK)
        st = strbuf_status(&claim->fence_key);
    if (st == OK)
        st = kv_txn_new(&claim->txn);
    if (st == OK)
        st = loop_timer_new(kv->loop, on_timer, claim, &claim->timer);
    if (st == OK)
        st = kv_lease_new(kv->client, want->ttl_s, on_lease, claim, &claim->lease);
    if (st != OK) {
        coord_kv_claim_free(&claim->base);
        return st;
    }
    *ret = &claim->base;
    return OK;
}

void coord_kv_release(struct coord_claim *base)
{
    struct coord_kv_claim *claim = (struct coord_kv_claim *)base;
    if (claim->state == CLAIM_RELEASING)
        set_end(claim, COORD_RELEASED, OK, "");
    else if (claim->state != CLAIM_ENDED)
        leave(claim, COORD_RELEASED, OK, "");
}

int64_t coord_kv_held_until(const struct coord_claim *base)
{
    const struct coord_kv_claim *claim = (const struct coord_kv_claim *)base;
    return claim->state == CLAIM_HELD ? loss_ms(claim) : 0;
}
