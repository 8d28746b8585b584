#include "lib_node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data_dir.h"
#include "history.h"
#include "module.h"
#include "monotonic.h"

enum {
    SLOTS = 10000,       /* processes of programs on one machine */
    TRY_AGAIN_MS = 1000, /* in the background, while the store is away */
    TIMEOUT_MS = 5000,   /* of peal_open */
    LEAVE_MS = 5000,     /* how long the last ends may take to be recorded */
    POLL_MS = 100,       /* while the program makes the calls, and waits for the end */
};

/* ---- what others are told ---- */

void lib_log(const struct peal_node *peal, enum peal_level level, const char *format, ...)
{
    char message[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    if (peal->options.log)
        peal->options.log(peal->options.context, level, message);
    else if (level >= PEAL_WARNING)
        fprintf(stderr, "peal: %s\n", message);
}

static void set_state(struct peal_node *peal, enum lib_state state, enum status failed,
                      const char *why)
{
    pthread_mutex_lock(&peal->lock);
    peal->state = state;
    if (failed != OK && peal->failed == OK) {
        peal->failed = failed;
        strbuf_reset(&peal->why);
        strbuf_adds(&peal->why, *why ? why : status_text(failed));
    }
    pthread_cond_broadcast(&peal->changed);
    pthread_mutex_unlock(&peal->lock);
}

int64_t lib_timeout_ms(const struct peal_node *peal)
{
    return peal->options.timeout_ms ? peal->options.timeout_ms : TIMEOUT_MS;
}

/* ---- turns ---- */

void lib_wake(void *context)
{
    const struct peal_node *peal = context;
    turns_ask(peal->turns);
}

/* Whether the store will never let this node in: another has its name, or a newer peal wrote it. */
static void look_why_not_joined(struct peal_node *peal)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status health = store_health(peal->shared.store, &why);
    if (health == E_CONFLICT || health == E_VERSION) {
        set_state(peal, LIB_OPENING, health, why.text);
        loop_stop(peal->loop);
    }
    strbuf_release(&why);
}

static struct wall_ms step_sides(struct peal_node *peal, struct now now)
{
    bool is_stopping = atomic_load(&peal->is_stopping);
    struct wall_ms at = side_step(&peal->shared, now, is_stopping);
    if (!peal->local.engine && functions_count(&peal->local.functions) && !is_stopping &&
        side_open_local(&peal->local) != OK)
        lib_log(peal, PEAL_ERROR, "there is not enough memory for functions of this process alone");
    if (peal->local.engine) {
        struct wall_ms local_at = side_step(&peal->local, now, is_stopping);
        at.ms = local_at.ms < at.ms ? local_at.ms : at.ms;
    }
    return at;
}

/* All has its end on record; or nothing runs, and the store does not take it. */
static bool may_end(struct peal_node *peal, struct now now, struct wall_ms *inout_at)
{
    if (!atomic_load(&peal->is_stopping))
        return false;
    if (side_is_over(&peal->shared) && side_is_over(&peal->local) && asks_are_idle(&peal->asks))
        return true;
    if (side_calls(&peal->shared) || side_calls(&peal->local))
        return false;
    bool has_joined = peal->state == LIB_OPEN;
    if (!peal->quiet_ms)
        peal->quiet_ms = now.boot.ms;
    int64_t left_ms = has_joined ? peal->quiet_ms + LEAVE_MS - now.boot.ms : 0;
    if (left_ms > 0) {
        if (inout_at->ms > now.wall.ms + left_ms)
            inout_at->ms = now.wall.ms + left_ms;
        return false;
    }
    if (has_joined)
        lib_log(peal, PEAL_WARNING,
                "the store does not answer: the last ends of runs are not recorded, which will be "
                "found as lost");
    return true;
}

static void on_turn(void *context, bool was_set)
{
    struct peal_node *peal = context;
    struct side *const sides[] = {&peal->local, &peal->shared};
    struct now now = clock_now();
    if (!peal->shared.engine)
        return;
    if (was_set)
        lib_log(peal, PEAL_INFO, "the clock was set");
    lib_records_turn(&peal->records);
    struct wall_ms at = step_sides(peal, now);
    if (engine_is_joined(peal->shared.engine)) {
        if (peal->state == LIB_OPENING)
            set_state(peal, LIB_OPEN, OK, "");
        asks_step(&peal->asks, sides, 2, now);
    } else if (peal->state == LIB_OPENING) {
        look_why_not_joined(peal);
    }
    if (may_end(peal, now, &at))
        loop_stop(peal->loop);
    else
        turns_at(peal->turns, at);
}

/* ---- the folder of this process ---- */

/* The first that no other process has: names of nodes stay the same over restarts. */
static enum status take_folder(struct peal_node *peal, struct strbuf *why)
{
    char host[24] = "host", name[PROGRAM_MAX + 24];
    gethostname(host, sizeof(host) - 1);
    enum status st = E_BUSY;
    for (int i = 1; st == E_BUSY && i <= SLOTS; i++) {
        strbuf_reset(why);
        free(peal->folder);
        snprintf(name, sizeof(name), "%s.%d", peal->shared.functions.program, i);
        peal->folder = data_folder_file(peal->data, name);
        st = peal->folder ? data_dir_lock(peal->folder, &peal->lock_fd, why) : E_NOMEM;
        snprintf(peal->node, sizeof(peal->node), "%s:%.*s.%d", host,
                 (int)(sizeof(peal->node) - strlen(host) - 8), peal->shared.functions.program, i);
    }
    return st;
}

/* ---- the store ---- */

/* Clients of servers are modules, so that a program links none that it does not use. */
static kv_opener *find_opener(void *context, enum store_kind kind, struct strbuf *why)
{
    static const struct {
        const char *module, *what;
    } clients[] = {
        [STORE_OF_POSTGRES] = {"peal-postgres", "PostgreSQL"},
        [STORE_OF_REDIS] = {"peal-redis", "Redis"},
    };
    const struct tools *tools = context;
    void (*open)(void) = NULL;
    if (!tools->modules) {
        strbuf_addf(why,
                    "a store in %s needs %s.so of peal, in lib/peal beside its bin: name that bin "
                    "with PEAL_BIN, or .bin",
                    clients[kind].what, clients[kind].module);
        return NULL;
    }
    enum status st =
        module_load(tools->modules, clients[kind].module, clients[kind].what, &open, why);
    return st == OK ? (kv_opener *)open : NULL;
}

struct store_access lib_node_store(struct peal_node *peal)
{
    return (struct store_access){.url = &peal->url,
                                 .etcd = &peal->etcd,
                                 .redis = &peal->redis,
                                 .find_opener = find_opener,
                                 .context = &peal->tools};
}

static enum status open_store(struct peal_node *peal, struct store **ret, struct strbuf *why)
{
    struct store_wake waker = {lib_wake, peal};
    if (store_url_is_keys(&peal->url)) {
        int64_t patience_ms = peal->options.in_background ? TRY_AGAIN_MS : lib_timeout_ms(peal);
        struct store_access access = lib_node_store(peal);
        access.patience_ms = patience_ms;
        return node_store_open(&access, peal->loop, peal->node, peal->folder, waker, ret, why);
    }
    char *own = peal->url.shared ? NULL : data_folder_file(peal->data, "store");
    const char *folder = peal->url.shared ? peal->url.shared : own;
    enum status st = folder ? store_shared_open(folder, peal->node, waker, ret, why) : E_NOMEM;
    free(own);
    return st;
}

/* In the background it is tried until it succeeds, and said when that takes a while. */
static enum status open_store_patiently(struct peal_node *peal, struct store **ret,
                                        struct strbuf *why)
{
    bool is_told = false;
    for (;;) {
        strbuf_reset(why);
        enum status st = open_store(peal, ret, why);
        bool is_away = st == E_UNREACHABLE || st == E_BUSY;
        if (!is_away || !peal->options.in_background || atomic_load(&peal->is_stopping))
            return st;
        if (!is_told)
            lib_log(peal, PEAL_WARNING, "the store is not there yet, and is tried again: %s",
                    why->text);
        is_told = true;
        nanosleep(&(struct timespec){.tv_sec = TRY_AGAIN_MS / 1000}, NULL);
    }
}

/* ---- forks ---- */

/* A child that is forked while a node is open inherits locks of SQLite and others that none of its
 * threads will release, and could not tell them from its own: it can't have a node. */
static atomic_int open_nodes;
static _Atomic pid_t open_in; /* the process that has them */

bool lib_node_was_forked(void)
{
    return atomic_load(&open_nodes) > 0 && atomic_load(&open_in) != getpid();
}

/* ---- the thread ---- */

static enum status open_shared(struct peal_node *peal, struct strbuf *why)
{
    struct store *store = NULL;
    struct history *history = NULL;
    enum status st = open_store_patiently(peal, &store, why);
    if (st == OK)
        st = lib_records_open(&peal->records, peal, &history, why);
    if (st != OK) {
        store_free(store);
        return st;
    }
    st = side_open(&peal->shared, store, history);
    return st == OK ? lib_records_join(&peal->records, &peal->shared) : st;
}

static enum status make_data_folder(const struct peal_node *peal, struct strbuf *why)
{
    enum status st = data_folder_make(peal->data);
    if (st == E_IO)
        strbuf_addf(why, "can't make the folder %s: %s; name another with .data or PEAL_DATA",
                    peal->data, strerror(errno));
    return st;
}

static enum status set_up(struct peal_node *peal, struct strbuf *why)
{
    enum status st = zone_db_new(NULL, &peal->zones);
    if (st == OK)
        st = make_data_folder(peal, why);
    if (st == OK)
        st = take_folder(peal, why);
    if (st == OK)
        st = open_shared(peal, why);
    return st;
}

static void tear_down(struct peal_node *peal)
{
    asks_end(&peal->asks);
    call_pool_close(peal->pool);
    side_close(&peal->local);
    side_close(&peal->shared);
    lib_records_release(&peal->records);
    peal->zones = zone_db_free(peal->zones);
    data_dir_unlock(peal->lock_fd);
    peal->lock_fd = -1;
    free(peal->folder);
    peal->folder = NULL;
}

static void *live(void *context)
{
    struct peal_node *peal = context;
    struct strbuf why;
    strbuf_init(&why);
    peal->started_ms = clock_now().wall.ms;
    enum status st = set_up(peal, &why);
    if (st == OK) {
        turns_ask(peal->turns);
        loop_run(peal->loop);
    }
    tear_down(peal);
    atomic_fetch_sub(&open_nodes, 1);
    set_state(peal, LIB_ENDED, st, why.text);
    strbuf_release(&why);
    return NULL;
}

static enum status start_thread(struct peal_node *peal)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&open_in, getpid());
    atomic_fetch_add(&open_nodes, 1);
    peal->has_thread = pthread_create(&peal->thread, NULL, live, peal) == 0;
    if (!peal->has_thread)
        atomic_fetch_sub(&open_nodes, 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return peal->has_thread ? OK : E_NOMEM;
}

/* ---- from outside ---- */

static void wait_to_join(struct peal_node *peal, int64_t timeout_ms)
{
    struct timespec until = monotonic_in_us(timeout_ms * 1000);
    int waited = 0;
    pthread_mutex_lock(&peal->lock);
    while (peal->state == LIB_OPENING && peal->failed == OK && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&peal->changed, &peal->lock, &until);
    pthread_mutex_unlock(&peal->lock);
}

static enum status set_up_threads(struct peal_node *peal)
{
    bool has_threads = peal->options.caller == PEAL_THREADS;
    enum status st = call_pool_new(has_threads ? peal->options.threads : 0, &peal->pool);
    if (st == OK)
        st = loop_new(&peal->loop);
    if (st == OK)
        st = turns_new(peal->loop, on_turn, peal, &peal->turns);
    return st == OK ? start_thread(peal) : st;
}

static enum lib_state state_of(struct peal_node *peal)
{
    pthread_mutex_lock(&peal->lock);
    enum lib_state state = peal->state;
    pthread_mutex_unlock(&peal->lock);
    return state;
}

/* Files of the library must not get the numbers of standard descriptors that the program has
 * closed: a word to stderr would go into the store. They stay, as those do that SQLite opens for
 * the same reason: whoever has a number in use is not known later. */
static void fill_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

enum status lib_node_open(struct peal_node *peal, struct strbuf *why)
{
    int64_t timeout_ms = lib_timeout_ms(peal);
    fill_standard_descriptors();
    peal->state = LIB_OPENING;
    enum status st = set_up_threads(peal);
    if (st != OK)
        strbuf_adds(why, "threads can't be started here");
    if (st != OK || peal->options.in_background)
        return st;
    wait_to_join(peal, timeout_ms);
    if (state_of(peal) == LIB_OPEN)
        return OK;
    lib_node_stop(peal);
    st = lib_node_wait(peal, why);
    if (st == OK) {
        strbuf_addf(why, "the store has not let this node in within %lld ms",
                    (long long)timeout_ms);
        st = E_UNREACHABLE;
    }
    return st;
}

void lib_node_stop(struct peal_node *peal)
{
    atomic_store(&peal->is_stopping, true);
    lib_coord_stop(peal);
    if (peal->turns)
        turns_ask(peal->turns);
}

/* The program's thread is the only one that makes the calls for which the end waits. */
static void step_until_ended(struct peal_node *peal)
{
    struct pollfd due = {.fd = call_pool_fd(peal->pool), .events = POLLIN};
    while (state_of(peal) != LIB_ENDED) {
        poll(&due, 1, POLL_MS);
        call_pool_step(peal->pool);
    }
}

enum status lib_node_wait(struct peal_node *peal, struct strbuf *why)
{
    if (peal->has_thread && peal->options.caller == PEAL_STEPS)
        step_until_ended(peal);
    pthread_mutex_lock(&peal->lock);
    while (peal->has_thread && peal->state != LIB_ENDED)
        pthread_cond_wait(&peal->changed, &peal->lock);
    if (peal->failed != OK)
        strbuf_adds(why, peal->why.text);
    enum status failed = peal->failed;
    bool is_to_join = peal->has_thread;
    peal->has_thread = false;
    pthread_mutex_unlock(&peal->lock);
    if (is_to_join) /* it has ended, and the node of the process is never freed */
        pthread_join(peal->thread, NULL);
    return failed;
}

void lib_node_release(struct peal_node *peal)
{
    if (peal->has_thread)
        pthread_join(peal->thread, NULL);
    peal->has_thread = false;
    peal->turns = turns_free(peal->turns);
    peal->loop = loop_free(peal->loop);
    peal->pool = call_pool_free(peal->pool);
}
