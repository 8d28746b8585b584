#include "lib_node.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data_dir.h"
#include "history.h"
#include "version.h"

enum {
    SLOTS = 10000,       /* processes of programs on one machine */
    TRY_AGAIN_MS = 1000, /* in the background, while the store is away */
    TIMEOUT_MS = 5000,   /* of peal_open */
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

static void log_event(void *context, const char *event, const char *particulars)
{
    lib_log(context, PEAL_INFO, "%s %s", event, particulars);
}

/* ---- turns ---- */

static void wake(void *context)
{
    const struct peal_node *peal = context;
    turns_ask(peal->turns);
}

/* Functions do not outlive their process: the node leaves when the last has returned. */
static bool is_over(struct peal_node *peal)
{
    return peal->is_drained && engine_is_idle(peal->engine) &&
           registrar_is_idle(&peal->registrar) && !engine_open_runs(peal->engine) &&
           !calls_running(peal->calls);
}

static void on_turn(void *context, bool was_set)
{
    struct peal_node *peal = context;
    struct now now = clock_now();
    struct strbuf why;
    if (!peal->engine)
        return;
    if (was_set)
        lib_log(peal, PEAL_INFO, "the clock was set");
    if (atomic_load(&peal->is_stopping) && !peal->is_drained) {
        engine_drain(peal->engine);
        peal->is_drained = true;
    }
    engine_step(peal->engine, now);
    if (engine_is_joined(peal->engine) && !peal->is_drained) {
        registrar_step(&peal->registrar, now);
        if (peal->state == LIB_OPENING)
            set_state(peal, LIB_OPEN, OK, "");
    } else if (peal->state == LIB_OPENING) {
        strbuf_init(&why);
        enum status health = store_health(peal->store, &why);
        if (health == E_CONFLICT || health == E_VERSION) {
            set_state(peal, LIB_OPENING, health, why.text);
            loop_stop(peal->loop);
        }
        strbuf_release(&why);
    }
    if (is_over(peal)) {
        loop_stop(peal->loop);
        return;
    }
    struct wall_ms at = engine_wake_at(peal->engine);
    int64_t retry_ms = peal->registrar.retry_ms;
    if (retry_ms > now.wall.ms && retry_ms < at.ms)
        at.ms = retry_ms;
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
        snprintf(name, sizeof(name), "%s.%d", peal->functions.program, i);
        peal->folder = data_folder_file(peal->data, name);
        st = peal->folder ? data_dir_lock(peal->folder, &peal->lock_fd, why) : E_NOMEM;
        snprintf(peal->node, sizeof(peal->node), "%s:%.*s.%d", host,
                 (int)(sizeof(peal->node) - strlen(host) - 8), peal->functions.program, i);
    }
    return st;
}

/* ---- the store ---- */

static enum status open_store(struct peal_node *peal, struct strbuf *why)
{
    struct store_wake waker = {wake, peal};
    if (peal->url.is_etcd) {
        struct store_access access = {&peal->url, &peal->etcd, NULL};
        return node_store_open_etcd(&access, peal->loop, peal->node, peal->folder, waker,
                                    &peal->store, why);
    }
    char *own = peal->url.shared ? NULL : data_folder_file(peal->data, "store");
    const char *folder = peal->url.shared ? peal->url.shared : own;
    enum status st =
        folder ? store_shared_open(folder, peal->node, waker, &peal->store, why) : E_NOMEM;
    free(own);
    return st;
}

/* In the background it is tried until it succeeds, and said when that takes a while. */
static enum status open_store_patiently(struct peal_node *peal, struct strbuf *why)
{
    bool is_told = false;
    for (;;) {
        strbuf_reset(why);
        enum status st = open_store(peal, why);
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

/* ---- the engine ---- */

static struct peer self(struct peal_node *peal)
{
    uint8_t random[10];
    machine_random(NULL, random, sizeof(random));
    struct peer self = {
        .instance = id_make((struct wall_ms){peal->started_ms}, random),
        .home = data_folder_home(peal->folder),
        .capacity = machine_processors(),
        .max_running = peal->options.threads,
        .started_ms = peal->started_ms,
        .program_version = peal->functions.version,
    };
    snprintf(self.name, sizeof(self.name), "%s", peal->node);
    snprintf(self.program, sizeof(self.program), "%s", peal->functions.program);
    snprintf(self.labels, sizeof(self.labels), "%s",
             peal->options.labels ? peal->options.labels : "");
    snprintf(self.version, sizeof(self.version), "%s", PEAL_VERSION);
    return self;
}

static enum status make_engine(struct peal_node *peal)
{
    struct engine_config config = engine_config_default();
    snprintf(config.node, sizeof(config.node), "%s", peal->node);
    machine_boot_id(config.boot_id);
    config.max_running = peal->options.threads;
    config.self = self(peal);
    struct engine_ports ports = {
        .store = peal->store,
        .executor = calls_executor(peal->calls),
        .history = peal->history,
        .zones = peal->zones,
        .entropy = {random_from_block, &peal->random},
        .output = calls_output(peal->calls),
        .functions = {functions_has, &peal->functions},
        .log = {log_event, peal},
    };
    enum status st = engine_new(&config, &ports, &peal->engine);
    if (st == OK)
        registrar_init(&peal->registrar, peal, &peal->functions, peal->store, peal->engine);
    return st;
}

/* ---- the thread ---- */

static enum status set_up(struct peal_node *peal, struct strbuf *why)
{
    struct calls_config calls = {.threads =
                                     peal->options.caller == PEAL_STEPS ? 0 : peal->options.threads,
                                 .wake = wake,
                                 .context = peal,
                                 .find = functions_find,
                                 .functions = &peal->functions};
    enum status st = zone_db_new(NULL, &peal->zones);
    if (st == OK)
        st = data_folder_make(peal->data);
    if (st == OK)
        st = take_folder(peal, why);
    if (st == OK)
        st = open_store_patiently(peal, why);
    if (st == OK)
        st = history_sqlite_open(peal->folder, (struct history_wake){wake, peal}, &peal->history,
                                 why);
    if (st == OK)
        st = calls_new(&calls, &peal->calls);
    if (st == OK)
        st = make_engine(peal);
    return st;
}

static void tear_down(struct peal_node *peal)
{
    peal->store = store_free(peal->store);
    peal->history = history_free(peal->history);
    peal->engine = engine_free(peal->engine);
    peal->calls = calls_free(peal->calls);
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
    set_state(peal, LIB_ENDED, st, why.text);
    strbuf_release(&why);
    return NULL;
}

static enum status start_thread(struct peal_node *peal)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    peal->has_thread = pthread_create(&peal->thread, NULL, live, peal) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return peal->has_thread ? OK : E_NOMEM;
}

/* ---- from outside ---- */

static void wait_to_join(struct peal_node *peal, int64_t timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int waited = 0;
    pthread_mutex_lock(&peal->lock);
    while (peal->state == LIB_OPENING && peal->failed == OK && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&peal->changed, &peal->lock, &until);
    pthread_mutex_unlock(&peal->lock);
}

enum status lib_node_open(struct peal_node *peal, struct strbuf *why)
{
    int64_t timeout_ms = peal->options.timeout_ms ? peal->options.timeout_ms : TIMEOUT_MS;
    peal->state = LIB_OPENING;
    enum status st = loop_new(&peal->loop); /* here: others ask for turns as long as it is open */
    if (st == OK)
        st = turns_new(peal->loop, on_turn, peal, &peal->turns);
    if (st == OK)
        st = start_thread(peal);
    if (st != OK || peal->options.in_background)
        return st;
    wait_to_join(peal, timeout_ms);
    pthread_mutex_lock(&peal->lock);
    enum lib_state state = peal->state;
    pthread_mutex_unlock(&peal->lock);
    if (state == LIB_OPEN)
        return OK;
    lib_node_stop(peal);
    st = lib_node_join(peal, why);
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
    if (peal->has_thread)
        turns_ask(peal->turns);
}

enum status lib_node_join(struct peal_node *peal, struct strbuf *why)
{
    if (peal->has_thread)
        pthread_join(peal->thread, NULL);
    peal->has_thread = false;
    peal->turns = turns_free(peal->turns);
    peal->loop = loop_free(peal->loop);
    if (peal->failed != OK)
        strbuf_adds(why, peal->why.text);
    return peal->failed;
}
