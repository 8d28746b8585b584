/* The embedded store: one SQLite database, written by one thread of its own.
 *
 *     submit -> waiting -> [writer: one transaction for all that waits] -> answered -> dispatch
 *
 * Group commit: requests that come while a commit is being flushed go into the next one together,
 * so that one flush serves more requests under load. Of many definitions only some: while the next
 * ones are written, the loop takes in the first. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data_dir.h"
#include "sqlite/store_sqlite.h"
#include "sqlite/store_sqlite_front.h"

enum { PUTS_MAX = 800 }; /* from so many definitions on a transaction is full */

struct store_sqlite {
    struct store base;
    struct store_wake wake;
    struct strbuf path;
    int lock_fd;

    /* The loop's. */
    struct sqlite_loader *loader; /* NULL: all is loaded */
    struct feed feed;
    struct feed_item *held;
    bool closing;
    struct strbuf asides; /* keys of rows that are set aside, each NUL-terminated */
    bool leads;           /* a worker was announced: with one node it leads */

    /* The writer's. */
    struct sqlite_db *db;
    struct rules_records records; /* empty between transactions; its memory is used again */
    pthread_t writer;

    /* Everybody's, under the mutex. */
    pthread_mutex_t mutex;
    pthread_cond_t work;
    struct request_list waiting, answered;
    struct feed changes; /* of the answered requests */
    bool stopping;
    enum status trouble; /* OK: healthy */
    struct strbuf trouble_text;
};

/* What goes into one transaction. */
static struct request_list take_some(struct request_list *list)
{
    size_t puts = 0;
    for (struct store_request *r = list->first; r; r = r->next) {
        puts += r->op == STORE_PUT_JOB ? r->count : 0;
        if (puts < PUTS_MAX || !r->next)
            continue;
        struct request_list taken = {list->first, r};
        list->first = r->next;
        r->next = NULL;
        return taken;
    }
    return request_take_all(list);
}

/* ---- the writer's thread ---- */

/* One transaction of the requests from `first` up to `end` (exclusive). */
static enum status write_together(struct store_sqlite *store, struct store_request *first,
                                  const struct store_request *end, struct feed *changes)
{
    struct tables *tables = &store->db->tables;
    struct feed fresh = {0};
    strbuf_reset(&store->records.text);
    enum status st = sqlite_db_begin(store->db);
    for (struct store_request *r = first; r != end && st == OK; r = r->next)
        st = rules_apply_one(tables, &fresh, &store->records, r);
    if (st == OK)
        st = rules_records_write(tables, &fresh, &store->records);
    if (st == OK && fresh.failed)
        st = E_NOMEM;
    if (st == OK)
        st = sqlite_db_commit(store->db);
    else
        sqlite_db_rollback(store->db);
    if (st == OK)
        feed_move(changes, &fresh);
    feed_release(&fresh);
    for (struct store_request *r = first; r != end; r = r->next)
        r->answer = st;
    return st;
}

/* Returns the worst fault of the store itself. */
static enum status write_batch(struct store_sqlite *store, const struct request_list *batch,
                               struct feed *changes)
{
    enum status st = write_together(store, batch->first, NULL, changes);
    if (!is_request_fault(st))
        return st;
    enum status worst = OK;
    for (struct store_request *r = batch->first; r; r = r->next) {
        st = write_together(store, r, r->next, changes);
        if (st != OK && !is_request_fault(st))
            worst = st;
    }
    return worst;
}

/* Waits for requests, or for a second: then it is time to probe whether a fault is over, or for a
 * writer with a warm cache to rest. *ret_wrong is the current fault. False: the store is closing.
 */
static bool next_batch(struct store_sqlite *store, bool is_warm, struct request_list *ret,
                       enum status *ret_wrong)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 1;
    int rc = 0;
    pthread_mutex_lock(&store->mutex);
    while (!store->waiting.first && !store->stopping && rc != ETIMEDOUT) {
        bool is_patient = store->trouble == E_CORRUPT || (store->trouble == OK && !is_warm);
        if (is_patient)
            rc = pthread_cond_wait(&store->work, &store->mutex);
        else
            rc = pthread_cond_timedwait(&store->work, &store->mutex, &until);
    }
    *ret = take_some(&store->waiting);
    *ret_wrong = store->trouble;
    bool more = ret->first || !store->stopping;
    pthread_mutex_unlock(&store->mutex);
    return more;
}

/* A damaged database stays unhealthy until it was repaired. True: more requests wait. */
static bool publish(struct store_sqlite *store, const struct request_list *batch,
                    struct feed *changes, enum status st)
{
    pthread_mutex_lock(&store->mutex);
    if (batch->first)
        request_append(&store->answered, batch->first, batch->last);
    feed_move(&store->changes, changes);
    if (store->trouble != E_CORRUPT) {
        store->trouble = st == E_UNKNOWN ? E_IO : st;
        strbuf_reset(&store->trouble_text);
        if (st != OK)
            strbuf_adds(&store->trouble_text, store->db->why.text);
    }
    bool more = store->waiting.first != NULL;
    pthread_mutex_unlock(&store->mutex);
    if (store->wake.wake)
        store->wake.wake(store->wake.context);
    return more;
}

static void *writer_main(void *context)
{
    struct store_sqlite *store = context;
    struct request_list batch;
    enum status st;
    bool is_warm = false;
    while (next_batch(store, is_warm, &batch, &st)) {
        struct feed changes = {0};
        bool is_idle = !batch.first && st == OK;
        is_warm = !is_idle;
        if (is_idle) {
            sqlite_db_rest(store->db);
            strbuf_release(&store->records.text);
            continue;
        }
        if (st == E_CORRUPT) { /* never written to again */
            for (struct store_request *r = batch.first; r; r = r->next)
                r->answer = E_CORRUPT;
        } else if (batch.first) {
            st = write_batch(store, &batch, &changes);
        } else {
            st = sqlite_db_probe(store->db);
        }
        bool is_busy = publish(store, &batch, &changes, st);
        if (st == OK)
            sqlite_db_checkpoint(store->db, is_busy);
    }
    return NULL;
}

/* ---- the loop's thread ---- */

static void sqlite_submit(struct store *base, struct store_request *request)
{
    struct store_sqlite *store = (struct store_sqlite *)base;
    request->next = NULL;
    pthread_mutex_lock(&store->mutex);
    if (store->closing) {
        request->answer = E_UNREACHABLE;
        request_append(&store->answered, request, request);
    } else {
        request_append(&store->waiting, request, request);
    }
    pthread_cond_signal(&store->work);
    pthread_mutex_unlock(&store->mutex);
}

static void sqlite_dispatch(struct store *base)
{
    struct store_sqlite *store = (struct store_sqlite *)base;
    pthread_mutex_lock(&store->mutex);
    struct request_list answered = request_take_all(&store->answered);
    feed_move(&store->feed, &store->changes);
    pthread_mutex_unlock(&store->mutex);
    request_answer_all(answered);
}

static bool load_next(struct store_sqlite *store, struct store_change *ret)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = sqlite_loader_next(store->loader, ret, &why);
    if (st == OK && ret->kind == STORE_CHANGE_LOADED)
        store->loader = sqlite_loader_free(store->loader);
    if (st == OK && ret->kind == STORE_CHANGE_ASIDE)
        strbuf_add(&store->asides, ret->aside.key, strlen(ret->aside.key) + 1);
    if (st != OK) {
        pthread_mutex_lock(&store->mutex);
        store->trouble = st;
        strbuf_reset(&store->trouble_text);
        strbuf_adds(&store->trouble_text, why.text);
        pthread_mutex_unlock(&store->mutex);
    }
    strbuf_release(&why);
    return st == OK;
}

static bool sqlite_next_change(struct store *base, struct store_change *ret)
{
    struct store_sqlite *store = (struct store_sqlite *)base;
    if (store->loader)
        return load_next(store, ret);
    return feed_next(&store->feed, &store->held, ret);
}

/* Only one agent has the folder, so its heartbeats need not be stored. */
static enum status sqlite_announce(struct store *base, const struct peer *self)
{
    struct store_sqlite *store = (struct store_sqlite *)base;
    struct peer alone = *self;
    alone.is_alive = true;
    alone.joined = 1;
    feed_add(&store->feed, &(struct store_change){.kind = STORE_CHANGE_PEER, .peer = &alone});
    bool may_lead = peer_is_agent_worker(self) || (peer_is_program(self) && self->stands);
    if (!store->leads && may_lead) {
        store->leads = true;
        feed_add(&store->feed,
                 &(struct store_change){.kind = STORE_CHANGE_LEADER, .leader = self->name});
    }
    return store->feed.failed ? E_NOMEM : OK;
}

static bool sqlite_leads(const struct store *base)
{
    return ((const struct store_sqlite *)base)->leads;
}

static enum status sqlite_health(struct store *base, struct strbuf *why)
{
    struct store_sqlite *store = (struct store_sqlite *)base;
    pthread_mutex_lock(&store->mutex);
    enum status st = store->trouble;
    if (st != OK)
        strbuf_addf(why, "%s%s", store->trouble_text.text,
                    st == E_CORRUPT ? "" : "; peal goes on by itself when it can");
    pthread_mutex_unlock(&store->mutex);
    return st == OK ? sqlite_disk_health(store->path.text, why) : st;
}

static void stop_writer(struct store_sqlite *store)
{
    pthread_mutex_lock(&store->mutex);
    store->stopping = true;
    pthread_cond_signal(&store->work);
    pthread_mutex_unlock(&store->mutex);
    pthread_join(store->writer, NULL);
}

static void release(struct store_sqlite *store)
{
    sqlite_loader_free(store->loader);
    sqlite_db_free(store->db);
    data_dir_unlock(store->lock_fd); /* last: the files are ours until here */
    feed_release(&store->feed);
    feed_release(&store->changes);
    feed_item_free(store->held);
    strbuf_release(&store->trouble_text);
    strbuf_release(&store->path);
    strbuf_release(&store->asides);
    strbuf_release(&store->records.text);
    pthread_cond_destroy(&store->work);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

static struct store *sqlite_free(struct store *base)
{
    struct store_sqlite *store = (struct store_sqlite *)base;
    stop_writer(store);
    store->closing = true;
    while (store->answered.first)
        sqlite_dispatch(base);
    release(store);
    return NULL;
}

/* Rows are checked only when they are loaded: no other process writes them. */
static size_t sqlite_each_aside(const struct store *base,
                                void (*visit)(void *context, const struct store_aside *aside),
                                void *context)
{
    return sqlite_each_key(&((const struct store_sqlite *)base)->asides, visit, context);
}

static const struct store_ops sqlite_ops = {
    .submit = sqlite_submit,
    .dispatch = sqlite_dispatch,
    .next_change = sqlite_next_change,
    .announce = sqlite_announce,
    .leads = sqlite_leads,
    .health = sqlite_health,
    .each_aside = sqlite_each_aside,
    .free = sqlite_free,
    .gathers_records = true,
    .begins_claims = true,
};

/* ---- opening ---- */

static struct store_sqlite *new_store(struct store_wake wake)
{
    pthread_condattr_t monotonic;
    struct store_sqlite *store = calloc(1, sizeof(*store));
    if (!store)
        return NULL;
    store->base.ops = &sqlite_ops;
    store->wake = wake;
    store->lock_fd = -1;
    strbuf_init(&store->path);
    strbuf_init(&store->trouble_text);
    strbuf_init(&store->asides);
    strbuf_init(&store->records.text);
    pthread_mutex_init(&store->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&store->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return store;
}

static enum status open_files(struct store_sqlite *store, const char *dir, struct strbuf *why)
{
    sqlite3 *handle = NULL;
    strbuf_addf(&store->path, "%s/peal.db", dir);
    enum status st = strbuf_status(&store->path);
    if (st == OK)
        st = data_dir_lock(dir, &store->lock_fd, why);
    if (st == OK)
        st = sqlite_open_database(store->path.text, &handle, why);
    if (st == OK)
        st = sqlite_db_new(handle, store->path.text, &store->db, why);
    if (st == OK)
        st = sqlite_loader_new(store->path.text, &store->loader, why);
    return st;
}

/* Signals go to the loop's thread: the writer blocks them all. */
static bool start_writer(struct store_sqlite *store)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&store->writer, NULL, writer_main, store) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void store_sqlite_own_process(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

enum status store_sqlite_open(const char *dir, struct store_wake wake, struct store **ret,
                              struct strbuf *why)
{
    struct store_sqlite *store = new_store(wake);
    if (!store)
        return E_NOMEM;
    enum status st = open_files(store, dir, why);
    if (st == OK && !start_writer(store)) {
        strbuf_adds(why, "can't start a thread: the system's limit on processes is reached");
        st = E_IO;
    }
    if (st != OK) {
        release(store);
        return st;
    }
    *ret = &store->base;
    return OK;
}
