/* The store that several processes share: the loop's side, opening and closing.
 *
 *     submit -> waiting -> [worker: log of the others, one transaction] -> answered -> dispatch */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data_dir.h"
#include "shared/store_shared.h"

/* ---- requests and changes ---- */

static void shared_submit(struct store *base, struct store_request *request)
{
    struct store_shared *store = (struct store_shared *)base;
    request->next = NULL;
    pthread_mutex_lock(&store->mutex);
    if (store->closing) {
        request->answer = E_UNREACHABLE;
        request_append(&store->answered, request, request);
    } else {
        request_append(&store->waiting, request, request);
    }
    pthread_mutex_unlock(&store->mutex);
    bell_call(&store->bell);
}

static void shared_dispatch(struct store *base)
{
    struct store_shared *store = (struct store_shared *)base;
    pthread_mutex_lock(&store->mutex);
    struct request_list answered = request_take_all(&store->answered);
    feed_move(&store->feed, &store->changes);
    pthread_mutex_unlock(&store->mutex);
    request_answer_all(answered);
}

static void set_trouble(struct store_shared *store, enum status st, const char *why)
{
    pthread_mutex_lock(&store->mutex);
    store->trouble = st;
    strbuf_reset(&store->trouble_text);
    strbuf_adds(&store->trouble_text, why);
    pthread_mutex_unlock(&store->mutex);
}

static bool load_next(struct store_shared *store, struct store_change *ret)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st;
    do /* the metas of an exclusive agent are not this node's */
        st = sqlite_loader_next(store->loader, ret, &why);
    while (st == OK && ret->kind == STORE_CHANGE_META);
    if (st == OK) {
        ret->place = store->first.place;
        if (ret->kind == STORE_CHANGE_JOB)
            ret->last_node = shared_marks_find(&store->marks, &ret->job_uid);
        if (ret->kind == STORE_CHANGE_LOADED) {
            store->loader = sqlite_loader_free(store->loader);
            table_release_items(&store->marks);
        }
        if (ret->kind == STORE_CHANGE_ASIDE)
            strbuf_add(&store->asides, ret->aside.key, strlen(ret->aside.key) + 1);
    } else {
        set_trouble(store, st, why.text);
    }
    strbuf_release(&why);
    return st == OK;
}

static bool shared_next_change(struct store *base, struct store_change *ret)
{
    struct store_shared *store = (struct store_shared *)base;
    if (feed_next(&store->first, &store->held, ret))
        return true;
    if (store->loader)
        return load_next(store, ret);
    return feed_next(&store->feed, &store->held, ret);
}

/* ---- nodes and health ---- */

static enum status shared_announce(struct store *base, const struct peer *self)
{
    struct store_shared *store = (struct store_shared *)base;
    pthread_mutex_lock(&store->mutex);
    store->told = *self;
    store->is_told = true;
    pthread_mutex_unlock(&store->mutex);
    bell_call(&store->bell);
    return OK;
}

/* The kernel tells of every death; a look finds one that it could not tell at once. */
static void shared_suspect(struct store *base, const char *node)
{
    struct store_shared *store = (struct store_shared *)base;
    (void)node;
    atomic_store(&store->looks, true);
    bell_call(&store->bell);
}

static bool shared_leads(const struct store *base)
{
    const struct store_shared *store = (const struct store_shared *)base;
    return atomic_load(&store->leads_until_ms) > clock_now().boot.ms;
}

static enum status shared_health(struct store *base, struct strbuf *why)
{
    struct store_shared *store = (struct store_shared *)base;
    pthread_mutex_lock(&store->mutex);
    enum status st = store->trouble;
    if (st != OK)
        strbuf_addf(why, "%s%s", store->trouble_text.text,
                    st == E_CORRUPT ? "" : "; peal goes on by itself when it can");
    else if (store->membership != OK)
        strbuf_adds(why, store->membership_text.text);
    st = st == OK ? store->membership : st;
    pthread_mutex_unlock(&store->mutex);
    return st == OK ? sqlite_disk_health(store->path.text, why) : st;
}

/* Rows are checked when they are loaded; what is written since can be read. */
static size_t shared_each_aside(const struct store *base,
                                void (*visit)(void *context, const struct store_aside *aside),
                                void *context)
{
    return sqlite_each_key(&((const struct store_shared *)base)->asides, visit, context);
}

/* ---- closing ---- */

static void release(struct store_shared *store)
{
    shared_nodes_leave(store);
    sqlite_loader_free(store->loader);
    table_release_items(&store->marks);
    shared_log_release(&store->log);
    sqlite_db_free(store->db);
    bell_close(&store->bell);
    data_dir_unlock(store->lock_fd); /* last: the files are ours until here */
    feed_release(&store->first);
    feed_release(&store->feed);
    feed_release(&store->changes);
    feed_item_free(store->held);
    strbuf_release(&store->trouble_text);
    strbuf_release(&store->membership_text);
    strbuf_release(&store->path);
    strbuf_release(&store->folder);
    strbuf_release(&store->asides);
    pthread_mutex_destroy(&store->mutex);
    free(store);
}

static struct store *shared_free(struct store *base)
{
    struct store_shared *store = (struct store_shared *)base;
    pthread_mutex_lock(&store->mutex);
    store->stopping = true;
    pthread_mutex_unlock(&store->mutex);
    bell_call(&store->bell);
    pthread_join(store->worker, NULL);
    store->closing = true;
    while (store->answered.first)
        shared_dispatch(base);
    if (store->is_told) /* the last heartbeat, which says how it leaves */
        store->nodes.self = store->told;
    release(store);
    return NULL;
}

static const struct store_ops shared_ops = {
    .submit = shared_submit,
    .dispatch = shared_dispatch,
    .next_change = shared_next_change,
    .announce = shared_announce,
    .suspect = shared_suspect,
    .leads = shared_leads,
    .health = shared_health,
    .each_aside = shared_each_aside,
    .free = shared_free,
    .gathers_records = true,
    .begins_claims = true,
};

/* ---- opening ---- */

static struct store_shared *new_store(const char *node, struct store_wake wake)
{
    struct store_shared *store = calloc(1, sizeof(*store));
    if (!store)
        return NULL;
    store->base.ops = &shared_ops;
    store->wake = wake;
    store->lock_fd = -1;
    store->bell = (struct bell){-1, -1, -1, -1};
    store->nodes.seat.fd = store->nodes.seat.lock_fd = -1;
    snprintf(store->node, sizeof(store->node), "%s", node ? node : "");
    strbuf_init(&store->path);
    strbuf_init(&store->folder);
    strbuf_init(&store->trouble_text);
    strbuf_init(&store->membership_text);
    strbuf_init(&store->asides);
    strbuf_init(&store->log.bytes);
    strbuf_init(&store->nodes.seat.json);
    pthread_mutex_init(&store->mutex, NULL);
    return store;
}

/* The seat is there before the snapshot, so that nobody removes what follows from the log. */
static enum status open_snapshot(struct store_shared *store, struct strbuf *why)
{
    enum status st = own_seat_take(&store->nodes.seat, store->folder.text, why);
    if (st == OK)
        st = sqlite_loader_new(store->path.text, &store->loader, why);
    if (st == OK)
        st = shared_log_open(&store->log, store->db->handle, sqlite_loader_handle(store->loader),
                             store->node, &store->first, store->path.text, why);
    int rc = st == OK ? shared_marks_load(sqlite_loader_handle(store->loader), &store->marks)
                      : SQLITE_OK;
    if (rc != SQLITE_OK)
        st = sqlite_explain(sqlite_loader_handle(store->loader), rc, store->path.text, why);
    if (st != OK)
        return st;
    shared_marks_use(store->db, &store->log);
    store->first.place = (struct store_place){store->log.lineage, store->log.seq};
    store->nodes.seat.head.seq = store->log.seq;
    st = own_seat_write(&store->nodes.seat);
    return st == OK ? shared_nodes_first(store, why) : st;
}

static enum status open_files(struct store_shared *store, const char *dir, struct strbuf *why)
{
    sqlite3 *handle = NULL;
    strbuf_addf(&store->path, "%s/peal.db", dir);
    strbuf_addf(&store->folder, "%s/nodes", dir);
    enum status st = strbuf_status(&store->path);
    if (st == OK)
        st = strbuf_status(&store->folder);
    if (st == OK)
        st = shared_open_files(dir, store->path.text, store->folder.text, &store->lock_fd, &handle,
                               why);
    if (st == OK)
        st = sqlite_db_new(handle, store->path.text, &store->db, why);
    if (st == OK)
        st = bell_open(&store->bell, store->folder.text, why);
    return st == OK ? open_snapshot(store, why) : st;
}

/* Signals go to the loop's thread: the worker blocks them all. */
static bool start_worker(struct store_shared *store)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&store->worker, NULL, shared_worker_main, store) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

enum status store_shared_open(const char *dir, const char *node, struct store_wake wake,
                              struct store **ret, struct strbuf *why)
{
    struct store_shared *store = new_store(node, wake);
    if (!store)
        return E_NOMEM;
    enum status st = open_files(store, dir, why);
    if (st == OK && !start_worker(store)) {
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
