#include "coordinator.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coord_file.h"
#include "coord_kv.h"
#include "coordinator_internal.h"
#include "data_folder.h"

void coordinator_log(struct coordinator *coordinator, const char *format, ...)
{
    char message[WHY_SIZE + 200];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    coordinator->config.log(coordinator->config.context, message);
}

struct answered answer_of(enum status st)
{
    return (struct answered){st == OK ? ANSWER_YES : ANSWER_FAILED, st};
}

/* ---- references ---- */

void coordinator_ref(struct coordinator *coordinator)
{
    atomic_fetch_add(&coordinator->refs, 1);
}

void coordinator_unref(struct coordinator *coordinator)
{
    if (atomic_fetch_sub(&coordinator->refs, 1) > 1)
        return;
    pthread_cond_destroy(&coordinator->changed);
    pthread_mutex_destroy(&coordinator->lock);
    free(coordinator->folder);
    free(coordinator);
}

/* ---- the loop's thread ---- */

void coordinator_ask(struct coordinator *coordinator)
{
    if (!coordinator->is_over)
        turns_ask(coordinator->turns);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static bool is_done(const struct coordinator *coordinator)
{
    return coordinator->is_exiting || (coordinator->is_closing && claims_are_over(coordinator));
}

static void turn(void *context)
{
    struct coordinator *coordinator = context;
    pthread_mutex_lock(&coordinator->lock);
    int64_t next_ms = claims_step(coordinator);
    next_ms = sooner(next_ms, observers_step(coordinator));
    questions_step(coordinator);
    if (next_ms >= 0)
        loop_timer_set(coordinator->timer, next_ms);
    if (is_done(coordinator))
        loop_stop(coordinator->loop);
    pthread_cond_broadcast(&coordinator->changed);
    pthread_mutex_unlock(&coordinator->lock);
}

static void on_turn(void *context, bool was_set)
{
    (void)was_set; /* the wall clock is nothing to it */
    turn(context);
}

static void free_loop(struct coordinator *coordinator)
{
    coordinator->coord = coord_free(coordinator->coord);
    if (coordinator->timer)
        coordinator->timer = loop_timer_free(coordinator->timer);
    coordinator->turns = turns_free(coordinator->turns);
    coordinator->loop = loop_free(coordinator->loop);
}

/* At the end of the process the loop is left as it is: nobody may wait for this thread. */
static void *live(void *context)
{
    struct coordinator *coordinator = context;
    turns_ask(coordinator->turns);
    loop_run(coordinator->loop);
    pthread_mutex_lock(&coordinator->lock);
    claims_end(coordinator);
    observers_end(coordinator);
    coordinator->is_over = true;
    if (!coordinator->is_exiting)
        free_loop(coordinator);
    questions_end(coordinator); /* the coord would tell them no more */
    pthread_cond_broadcast(&coordinator->changed);
    pthread_mutex_unlock(&coordinator->lock);
    return NULL;
}

enum status coordinator_thread(pthread_t *ret, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(ret, NULL, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started ? OK : E_NOMEM;
}

/* ---- opening ---- */

static enum status open_keys(struct coordinator *coordinator, struct strbuf *why)
{
    const struct coordinator_config *config = &coordinator->config;
    struct kv_client *kv;
    enum status st = node_kv_open(&config->store, coordinator->loop, config->timeout_ms, &kv, why);
    return st == OK ? coord_kv_open(coordinator->loop, kv, config->store.url->prefix,
                                    config->timeout_ms, &coordinator->coord)
                    : st;
}

static enum status open_folder(struct coordinator *coordinator, struct strbuf *why)
{
    const struct coordinator_config *config = &coordinator->config;
    enum status st = data_folder_make(config->folder);
    if (st == E_IO)
        strbuf_addf(why, "%s: %s", config->folder, strerror(errno));
    if (st == OK)
        st = coord_file_open(coordinator->loop, config->folder, config->timeout_ms,
                             &coordinator->coord, why);
    return st;
}

static enum status set_up(struct coordinator *coordinator, struct strbuf *why)
{
    enum status st = loop_new(&coordinator->loop);
    if (st == OK)
        st = turns_new(coordinator->loop, on_turn, coordinator, &coordinator->turns);
    if (st == OK)
        st = loop_timer_new(coordinator->loop, turn, coordinator, &coordinator->timer);
    if (st == OK && store_url_is_keys(coordinator->config.store.url))
        st = open_keys(coordinator, why);
    else if (st == OK)
        st = open_folder(coordinator, why);
    return st;
}

enum status coordinator_new(const struct coordinator_config *config, struct coordinator **ret,
                            struct strbuf *why)
{
    pthread_condattr_t attributes;
    struct coordinator *coordinator = calloc(1, sizeof(*coordinator));
    if (!coordinator)
        return E_NOMEM;
    coordinator->pid = getpid();
    coordinator->config = *config;
    atomic_init(&coordinator->refs, 1);
    TAILQ_INIT(&coordinator->claims);
    TAILQ_INIT(&coordinator->observers);
    TAILQ_INIT(&coordinator->questions);
    pthread_mutex_init(&coordinator->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&coordinator->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    enum status st = set_up(coordinator, why);
    if (st == OK)
        st = coordinator_thread(&coordinator->thread, live, coordinator);
    if (st != OK) {
        free_loop(coordinator);
        coordinator_unref(coordinator);
        return st;
    }
    process_enter(coordinator);
    *ret = coordinator;
    return OK;
}

/* ---- ending ---- */

void coordinator_stop(struct coordinator *coordinator)
{
    atomic_store(&coordinator->is_stopping, true);
    turns_ask(coordinator->turns);
}

void coordinator_close(struct coordinator *coordinator)
{
    if (!coordinator)
        return;
    pthread_mutex_lock(&coordinator->lock);
    bool has_caller = coordinator->has_caller, is_exiting = coordinator->is_exiting;
    atomic_store(&coordinator->is_stopping, true);
    coordinator->is_closing = true;
    pthread_cond_broadcast(&coordinator->changed);
    coordinator_ask(coordinator);
    pthread_mutex_unlock(&coordinator->lock);
    if (is_exiting)
        return; /* its loop is left as it is */
    if (has_caller)
        pthread_join(coordinator->caller, NULL);
    pthread_join(coordinator->thread, NULL);
    process_leave(coordinator);
    coordinator_unref(coordinator);
}
