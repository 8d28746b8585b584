/* The worker's thread: it makes one transaction of all that waits, follows the log of the other
 * processes, and keeps this node among them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/store_shared.h"

enum {
    LOOK_MS = 500,      /* without a bell */
    BUSY_MS = 2000,     /* how long a transaction waits for other processes */
    BUSY_STEP_US = 500, /* between tries */
    GROUP_ITEMS = 4096, /* of one transaction: its changes are one row of the log */
    SEQ_STEP = 32,      /* rows after which the seat tells how far this process has read */
};

/* ---- transactions ---- */

static int wait_for_others(void *context, int tries)
{
    const struct store_shared *store = context;
    (void)tries;
    if (clock_now().boot.ms >= store->busy_until_ms)
        return 0;
    usleep(BUSY_STEP_US);
    return 1;
}

static void explain_busy(struct store_shared *store)
{
    struct strbuf *why = &store->db->why;
    long pid = shared_writer_pid(store->path.text);
    strbuf_reset(why);
    if (pid > 0)
        strbuf_addf(why, "process %ld has held %s for seconds: if it is stopped, let it go on", pid,
                    store->path.text);
    else
        strbuf_addf(why, "another program has held %s for seconds", store->path.text);
}

enum status shared_begin(struct store_shared *store)
{
    store->busy_until_ms = clock_now().boot.ms + BUSY_MS;
    enum status st = sqlite_db_begin(store->db);
    if (st == OK || (sqlite3_extended_errcode(store->db->handle) & 0xff) != SQLITE_BUSY)
        return st;
    explain_busy(store);
    return E_UNREACHABLE;
}

/* Brings what others have written into the feed. Rows in memory are right while that is nothing. */
static enum status follow(struct store_shared *store, struct feed *changes)
{
    bool is_new;
    enum status st = shared_log_read(&store->log, changes, &is_new);
    if (is_new)
        sqlite_cache_clear(&store->db->cache);
    if (st == OK)
        return OK;
    struct strbuf *why = &store->db->why;
    strbuf_reset(why);
    if (st == E_CORRUPT) {
        store->is_cut_off = true;
        strbuf_addf(why,
                    "%s was replaced, or this program stood still for so long that the changes of "
                    "the others are gone: restart it",
                    store->path.text);
        return E_CORRUPT;
    }
    strbuf_addf(why, "%s can't be read: %s", store->path.text, sqlite3_errmsg(store->log.handle));
    return st == E_BUSY ? E_UNREACHABLE : st;
}

static bool needs_seat(const struct store_request *request)
{
    return request->op == STORE_CLAIM || request->op == STORE_TAKE || request->op == STORE_BEGIN;
}

static enum status apply(struct store_shared *store, struct store_request *request,
                         struct feed *fresh)
{
    enum status st = OK;
    request->answer = OK;
    if (needs_seat(request) && !shared_nodes_may_claim(store)) {
        request->answer = E_UNREACHABLE; /* and nothing of it is done */
        return OK;
    }
    if (request->op != STORE_SET_META)
        return rules_apply(&store->db->tables, fresh, request);
    for (size_t i = 0; i < request->count && st == OK; i++)
        st = shared_log_set_meta(&store->log, store->node, &request->items.metas[i]);
    return st;
}

/* Inside a transaction. A seat that is taken after this look has its snapshot after it, too, and so
 * does not need what is removed. */
static enum status trim(struct store_shared *store)
{
    struct shared_nodes *nodes = &store->nodes;
    if (!shared_log_is_long(&store->log) || seats_read(&nodes->others, &nodes->seat) != OK)
        return OK;
    return shared_log_trim(&store->log, seats_least_seq(nodes->others, store->log.seq));
}

/* What others have written comes first in the feed, whatever becomes of this transaction. */
static enum status fill_transaction(struct store_shared *store, struct store_request *first,
                                    const struct store_request *end, struct feed *changes,
                                    struct feed *fresh, int64_t *ret_stamp)
{
    enum status st = follow(store, changes);
    fresh->place = (struct store_place){store->log.lineage, store->log.seq + 1};
    for (struct store_request *r = first; r != end && st == OK; r = r->next)
        st = apply(store, r, fresh);
    if (st == OK)
        st = trim(store);
    if (st == OK)
        st = shared_log_add(&store->log, fresh, ret_stamp);
    return st;
}

/* One transaction of the requests from `first` up to `end` (exclusive). */
static enum status write_together(struct store_shared *store, struct store_request *first,
                                  const struct store_request *end, struct feed *changes)
{
    struct feed fresh = {0};
    int64_t stamp = 0;
    enum status st = shared_begin(store);
    if (st == OK) {
        st = fill_transaction(store, first, end, changes, &fresh, &stamp);
        if (st == OK)
            st = sqlite_db_commit(store->db);
        else
            sqlite_db_rollback(store->db);
    }
    if (st == OK) {
        shared_log_added(&store->log, stamp);
        if (fresh.first)
            bell_ring_commit(&store->bell);
        feed_move(changes, &fresh);
    }
    feed_release(&fresh);
    for (struct store_request *r = first; r != end && st != OK; r = r->next)
        r->answer = store->is_cut_off ? E_IO : st;
    return st;
}

/* Returns the worst fault of the store itself. */
static enum status write_group(struct store_shared *store, struct store_request *first,
                               const struct store_request *end, struct feed *changes)
{
    enum status st = write_together(store, first, end, changes);
    if (!is_request_fault(st))
        return st;
    enum status worst = OK;
    for (struct store_request *r = first; r != end; r = r->next) {
        st = write_together(store, r, r->next, changes);
        if (st != OK && !is_request_fault(st))
            worst = st;
    }
    return worst;
}

static enum status write_batch(struct store_shared *store, const struct request_list *batch,
                               struct feed *changes)
{
    enum status worst = OK;
    for (struct store_request *first = batch->first, *end; first; first = end) {
        size_t items = first->count;
        for (end = first->next; end && items + end->count <= GROUP_ITEMS; end = end->next)
            items += end->count;
        enum status st = write_group(store, first, end, changes);
        worst = st != OK ? st : worst;
    }
    return worst;
}

/* ---- the thread ---- */

/* False: the store is closing, and all is done. */
static bool next_batch(struct store_shared *store, struct request_list *ret, enum status *ret_wrong)
{
    pthread_mutex_lock(&store->mutex);
    *ret = request_take_all(&store->waiting);
    *ret_wrong = store->trouble;
    if (store->is_told) {
        store->nodes.self = store->told;
        store->nodes.is_asked = true;
        store->is_told = false;
    }
    bool more = ret->first || !store->stopping;
    pthread_mutex_unlock(&store->mutex);
    return more;
}

static void publish(struct store_shared *store, const struct request_list *batch,
                    struct feed *changes, enum status st)
{
    pthread_mutex_lock(&store->mutex);
    bool has_news = batch->first || changes->first || store->trouble != st;
    if (batch->first)
        request_append(&store->answered, batch->first, batch->last);
    feed_move(&store->changes, changes);
    if (store->trouble != E_CORRUPT && (st != OK || store->trouble != OK)) {
        store->trouble = st == E_UNKNOWN ? E_IO : st;
        strbuf_reset(&store->trouble_text);
        if (st != OK)
            strbuf_adds(&store->trouble_text, store->db->why.text);
    }
    pthread_mutex_unlock(&store->mutex);
    if (has_news && store->wake.wake)
        store->wake.wake(store->wake.context);
}

/* The database is damaged, or not followed any more: it is never written to again. */
static void refuse(const struct request_list *batch, enum status st)
{
    for (struct store_request *r = batch->first; r; r = r->next)
        r->answer = st;
}

/* A fault is probed, with a transaction that changes nothing to speak of. */
static enum status look(struct store_shared *store, enum status wrong, struct feed *changes)
{
    store->busy_until_ms = clock_now().boot.ms + BUSY_MS;
    if (wrong == OK)
        return shared_log_has_news(&store->log) ? follow(store, changes) : OK;
    enum status st = shared_begin(store);
    if (st != OK)
        return st;
    st = sqlite_finish(store->db, SQL_PROBE);
    if (st == OK)
        st = follow(store, changes);
    if (st == OK)
        return sqlite_db_commit(store->db);
    sqlite_db_rollback(store->db);
    return st;
}

static void tell_seq(struct store_shared *store, bool is_due)
{
    struct own_seat *seat = &store->nodes.seat;
    int64_t behind = store->log.seq - seat->head.seq;
    if (behind == 0 || (behind < SEQ_STEP && !is_due) || seat->fd < 0)
        return;
    seat->head.seq = store->log.seq;
    (void)!own_seat_write(seat); /* the log is kept a bit longer */
}

static bool step(struct store_shared *store, struct bell_news news, bool is_due)
{
    struct request_list batch;
    struct feed changes = {0};
    enum status st;
    if (!next_batch(store, &batch, &st))
        return false;
    bool is_lost = st == E_CORRUPT;
    bool is_news = news.has_beat || is_due || atomic_exchange(&store->looks, false);
    if (!is_lost && (is_news || store->nodes.is_asked))
        shared_nodes_step(store, is_news, &changes);
    if (is_lost)
        refuse(&batch, store->is_cut_off ? E_IO : E_CORRUPT);
    else if (batch.first)
        st = write_batch(store, &batch, &changes);
    else if (is_due || (news.has_commit && st == OK))
        st = look(store, st, &changes);
    tell_seq(store, is_due);
    publish(store, &batch, &changes, st);
    if (batch.first && st == OK)
        sqlite_db_checkpoint(store->db, false);
    else if (is_due && !batch.first)
        sqlite_db_rest(store->db);
    return true;
}

void *shared_worker_main(void *context)
{
    struct store_shared *store = context;
    struct bell_news news = {true, true};
    int64_t look_at_ms = 0;
    sqlite3_busy_handler(store->db->handle, wait_for_others, store);
    for (;;) {
        int64_t now_ms = clock_now().boot.ms;
        bool is_due = now_ms >= look_at_ms;
        if (is_due)
            look_at_ms = now_ms + LOOK_MS;
        if (!step(store, news, is_due))
            return NULL;
        news = bell_wait(&store->bell, look_at_ms - clock_now().boot.ms);
    }
}
