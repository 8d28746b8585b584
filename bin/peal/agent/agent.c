#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent_gather.h"
#include "agent_internal.h"
#include "data_folder.h"
#include "sandbox/descriptors.h"
#include "sandbox/jobs_user.h"
#include "secrets.h"

enum {
    STOP_WITHIN_MS = 10000,       /* how long a stop waits for pending writes */
    STOP_JOBS_WITHIN_MS = 600000, /* and for jobs that end with it, each within its grace */
    ZONES_EVERY_MS = 600000,
    JOIN_WITHIN_MS = 9000, /* how long a start waits to be registered; that another agent has this
                              node's name is certain after its lease, 5 s, and 2 s more */
    JOIN_LOOK_MS = 500,    /* interval of checks meanwhile, if nothing else causes a turn */
};

void agent_wake(void *context)
{
    const struct agent *agent = context;
    turns_ask(agent->turns);
}

/* ---- being let in ---- */

/* Does another agent have this node's name, by the store's last answer? */
static bool is_name_taken(const struct agent *agent)
{
    const struct known_peer *known = peers_find(engine_peers(agent->engine), agent->data.node);
    return known && known->peer.is_alive && !engine_is_joined(agent->engine) &&
           known->peer.home != data_folder_home(agent->config->data);
}

/* Without an answer of the store it is unknown whether the name is free. The agent ends, and its
 * supervisor tries again: if it stayed, it would silently take the name when the agent that has it
 * sleeps. */
static void give_up(struct agent *agent, enum status health, const char *words)
{
    struct strbuf *why = agent->why;
    bool is_away = health == OK || health == E_BUSY; /* slow, or full */
    agent->failed = is_away ? E_UNREACHABLE : health;
    if (health != E_CONFLICT && is_name_taken(agent)) {
        agent->failed = E_CONFLICT;
        strbuf_addf(why,
                    "node id %s was in use by another agent when the store answered last: give "
                    "this one another --node-id, or stop the other one\n",
                    agent->data.node);
    } else if (health != E_CONFLICT) {
        strbuf_addf(why,
                    "node %s could not join the cluster, and is not started: ", agent->data.node);
    }
    strbuf_adds(why, *words ? words : "the store has not let it in in time");
    agent_log_event(agent->log, "not_joined", "node=%s detail=\"%s\"", agent->data.node, why->text);
    loop_stop(agent->loop);
}

/* The time to load does not count: only time in which it could have been registered. */
static void wait_to_join(struct agent *agent, struct now now)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status health = store_health(agent->data.store, &why);
    bool is_loading = health == OK && !engine_is_loaded(agent->engine);
    if (is_loading || !agent->joining_since.ms)
        agent->joining_since = now.boot;
    if (health == E_CONFLICT || now.boot.ms - agent->joining_since.ms > JOIN_WITHIN_MS)
        give_up(agent, health, why.text);
    else
        loop_timer_set(agent->join_timer, JOIN_LOOK_MS);
    strbuf_release(&why);
}

static void tell_jobs_user(const struct agent *agent)
{
    struct jobs_user user;
    if (!agent->executor)
        return;
    jobs_user_look(agent->config, LANGUAGE_EN, &user);
    agent_log_event(agent->log, "jobs_user", "user=%s detail=\"%s\"",
                    *user.name ? user.name : "none", user.detail);
}

static void remember(const struct agent *agent)
{
    struct strbuf ports;
    const char *colon = strrchr(agent->data.peer_address, ':');
    strbuf_init(&ports);
    for (size_t i = 0; api_port(agent->api, i); i++)
        strbuf_addf(&ports, "%d\n", api_port(agent->api, i));
    if (colon)
        strbuf_addf(&ports, "%s\n", colon + 1);
    enum status st = strbuf_status(&ports);
    if (st == OK)
        st = agent_data_remember(agent->config, ports.text);
    if (st != OK)
        agent_log_event(agent->log, "options_not_kept", "error=\"%s\"", strerror(errno));
    strbuf_release(&ports);
}

static void tell_supervisor(const struct agent *agent)
{
    char status[160];
    snprintf(status, sizeof(status), "node %s is ready", agent->data.node);
    supervisor_ready(&agent->supervisor, status);
}

static void tell_ready(struct agent *agent)
{
    agent->told_ready = true;
    remember(agent);
    tell_jobs_user(agent);
    agent_log_event(agent->log, "ready", "node=%s data=%s pid=%d", agent->data.node,
                    agent->config->data, (int)getpid());
    tell_supervisor(agent);
    if (agent->ready)
        agent->ready(agent->ready_context);
}

/* Only now are the accounts known: an address that others can reach needs one. */
static void go_live(struct agent *agent)
{
    agent->failed = api_check_exposed(agent->api, agent->why);
    if (agent->failed == OK) {
        tell_ready(agent);
        return;
    }
    agent_log_event(agent->log, "not_listening", "detail=\"%s\"", agent->why->text);
    loop_stop(agent->loop);
}

/* One line when a trouble begins, and one when it is over. */
static void note_trouble(const struct agent *agent, int64_t *since_ms, bool is_now,
                         const char *begins, const char *ends, const char *why)
{
    if (is_now == (*since_ms != 0))
        return;
    agent_log_event(agent->log, is_now ? begins : ends, "why=\"%s\"", why);
    *since_ms = is_now ? clock_now().wall.ms : 0;
}

/* When the history does not answer any more, and when it does again; when no more fits into its
 * spool, and when it does again. It causes a turn for each. */
static void look_at_history(struct agent *agent)
{
    struct history_trouble *trouble = &agent->history_trouble;
    struct strbuf why;
    strbuf_init(&why);
    bool is_unwell = history_health(agent->data.history, &why) != OK;
    bool is_full = history_backlog(agent->data.history).disk != OK;
    note_trouble(agent, &trouble->unwell_ms, is_unwell, "history_unwell", "history_well", why.text);
    note_trouble(agent, &trouble->full_ms, is_full, "spool_full", "spool_has_room", why.text);
    strbuf_release(&why);
    engine_set_has_history(agent->engine, agent_gather_has_history(agent->config, &agent->data));
}

static void turn(struct agent *agent)
{
    struct now now = clock_now();
    if (!agent->is_set_up)
        return;
    engine_step(agent->engine, now);
    look_at_history(agent);
    if (!agent->told_ready && engine_is_joined(agent->engine))
        go_live(agent);
    else if (!agent->told_ready && !agent->stopping)
        wait_to_join(agent, now);
    if (agent->failed != OK)
        return;
    bool waits = agent->config->with_jobs && engine_open_runs(agent->engine);
    if (agent->stopping && !waits && engine_is_idle(agent->engine) && api_is_idle(agent->api) &&
        agent_otlp_stop(&agent->otlp)) {
        loop_stop(agent->loop);
        return;
    }
    turns_at(agent->turns, engine_wake_at(agent->engine));
    agent_memory_turned(agent->memory);
}

static void on_turn(void *context, bool was_set)
{
    struct agent *agent = context;
    if (was_set)
        agent_log_event(agent->log, "clock_set", "action=\"planned again\"");
    turn(agent);
}

static void on_join_timer(void *context)
{
    turn(context);
}

static void on_zones_timer(void *context)
{
    struct agent *agent = context;
    int changed = 0;
    struct strbuf problems;
    loop_timer_set(agent->zones_timer, ZONES_EVERY_MS);
    if (!agent->is_set_up)
        return;
    strbuf_init(&problems);
    if (zone_db_refresh(agent->zones, &changed, &problems) != OK || problems.length)
        agent_log_event(agent->log, "zones_not_read", "problems=\"%s\"", problems.text);
    if (changed) {
        agent_log_event(agent->log, "zones_changed", "count=%d", changed);
        engine_replan(agent->engine);
        turn(agent);
    }
    strbuf_release(&problems);
}

/* ---- the end ---- */

static void on_stop_timer(void *context)
{
    struct agent *agent = context;
    agent_log_event(
        agent->log, "stopped_early",
        "detail=\"something was still on its way; it is on record after the next start\"");
    loop_stop(agent->loop);
}

void agent_drain(void *context)
{
    struct agent *agent = context;
    engine_drain(agent->engine);
    agent_wake(agent);
}

static void stop(struct agent *agent)
{
    if (agent->stopping)
        return;
    agent->stopping = true;
    supervisor_stopping(&agent->supervisor);
    if (!agent->is_set_up)
        return; /* it ends before it begins */
    agent_log_event(agent->log, "stopping", "running=%zu", engine_open_runs(agent->engine));
    loop_timer_set(agent->stop_timer,
                   agent->config->with_jobs ? STOP_JOBS_WITHIN_MS : STOP_WITHIN_MS);
    agent_drain(agent);
}

static void reload(struct agent *agent)
{
    struct strbuf text;
    struct config_reload changes;
    strbuf_init(&text);
    strbuf_init(&changes.taken);
    strbuf_init(&changes.later);
    agent_log_reopen(agent->log);
    enum status st = agent_config_reload(agent->config, &changes, &text);
    if (st != OK) {
        agent_log_event(agent->log, "not_reloaded", "error=\"%s\"",
                        text.length ? text.text : status_text(st));
    } else {
        engine_set_max_running(agent->engine, agent->config->max_running);
        strbuf_reset(&text);
        if (agent->calls && executor_call_set_allow(agent->calls, agent->config->http_allow) != OK)
            agent_log_event(agent->log, "http_allow_not_reloaded", "error=\"out of memory\"");
        if (api_set_quotas(agent->api, &agent->config->quotas) != OK)
            agent_log_event(agent->log, "quotas_not_reloaded", "error=\"out of memory\"");
        if (api_reload_tls(agent->api, &text) != OK)
            agent_log_event(agent->log, "certificate_not_reloaded", "error=\"%s\"", text.text);
        strbuf_reset(&text);
        if (agent_default_zone(agent, &text) == OK && api_set_timezone(agent->api, text.text) == OK)
            agent_log_event(agent->log, "reloaded", "signal=HUP taken=\"%s\" next_start=\"%s\"",
                            changes.taken.text, changes.later.text);
    }
    strbuf_release(&text);
    strbuf_release(&changes.taken);
    strbuf_release(&changes.later);
    on_zones_timer(agent);
}

static void on_signal(void *context, unsigned events)
{
    struct agent *agent = context;
    struct signalfd_siginfo signal;
    (void)events;
    while (read(agent->signal_fd, &signal, sizeof(signal)) == sizeof(signal)) {
        if (signal.ssi_signo != SIGHUP)
            stop(agent);
        else if (agent->is_set_up)
            reload(agent);
    }
}

/* The launcher can't be restarted from the sandbox: the agent ends, and its supervisor starts both.
 * Jobs go on. */
static void on_launcher(void *context, unsigned events)
{
    struct agent *agent = context;
    (void)events;
    agent->failed = E_IO;
    strbuf_adds(agent->why, "its launcher has ended, without which it can't start a spawner");
    agent_log_event(agent->log, "launcher_gone", "detail=\"%s\"", agent->why->text);
    loop_stop(agent->loop);
}

/* ---- setting up ---- */

static enum status take_signals(struct agent *agent, struct strbuf *why)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond a size limit fails with EFBIG instead */
    sigprocmask(SIG_BLOCK, &signals, NULL);
    agent->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (agent->signal_fd >= 0)
        return OK;
    strbuf_addf(why, "can't take signals: %s", strerror(errno));
    return E_IO;
}

static enum status watch(struct agent *agent, int fd, loop_fd_ready *handler, struct loop_fd **ret)
{
    enum status st = loop_fd_new(agent->loop, fd, handler, agent, ret);
    if (st == OK)
        loop_fd_want(*ret, LOOP_READ);
    return st;
}

static enum status set_up_loop(struct agent *agent, struct strbuf *why)
{
    enum status st = take_signals(agent, why);
    if (st == OK)
        st = loop_new(&agent->loop);
    if (st == OK)
        st = turns_new(agent->loop, on_turn, agent, &agent->turns);
    if (st == OK)
        st = watch(agent, agent->signal_fd, on_signal, &agent->signal_watch);
    if (st == OK && agent->launcher)
        st = watch(agent, spawn_launcher_fd(agent->launcher), on_launcher, &agent->launcher_watch);
    if (st == OK)
        st = loop_timer_new(agent->loop, on_stop_timer, agent, &agent->stop_timer);
    if (st == OK)
        st = loop_timer_new(agent->loop, on_join_timer, agent, &agent->join_timer);
    if (st == OK)
        st = loop_timer_new(agent->loop, on_zones_timer, agent, &agent->zones_timer);
    if (st == OK)
        loop_timer_set(agent->zones_timer, ZONES_EVERY_MS);
    else if (!why->length)
        strbuf_addf(why, "can't set up the event loop: %s", status_text(st));
    return st;
}

static enum status set_up_watch(struct agent *agent)
{
    struct watch_config config = {.loop = agent->loop,
                                  .engine = agent->engine,
                                  .store = agent->data.store,
                                  .history = agent->data.history,
                                  .zones = agent->zones,
                                  .notifier = agent->notifier,
                                  .node = agent->data.node,
                                  .wake = agent_wake,
                                  .wake_context = agent};
    enum status st = watch_new(&config, &agent->watch);
    agent->notify.watch = agent->watch;
    return st;
}

static enum status set_up_otlp(struct agent *agent)
{
    agent->otlp = (struct agent_otlp){.log = agent->log, .wake = agent_wake, .context = agent};
    return agent_otlp_init(&agent->otlp, agent->config, agent->loop, agent->data.node,
                           agent->started_ms);
}

static enum status set_up(struct agent *agent, struct strbuf *why)
{
    enum status st = agent_log_open(agent->config->log_file, agent->config->json_log, &agent->log);
    if (st != OK) {
        strbuf_addf(why, "can't open the log %s: %s", agent->config->log_file, strerror(errno));
        return st;
    }
    agent->open_files = descriptors_raise(agent->log);
    agent->memory = agent_memory_new();
    store_sqlite_own_process();
    agent_pressure_init(&agent->pressure);
    supervisor_init(&agent->supervisor);
    agent_confine(agent); /* before there are threads, which would not be confined */
    st = zone_db_new(getenv("TZDIR"), &agent->zones);
    if (st == OK)
        st = set_up_loop(agent, why);
    if (st == OK)
        st = supervisor_start(&agent->supervisor, agent->loop);
    if (st == OK)
        st = agent_data_open(agent->config, agent->loop, agent->log, agent_wake, agent,
                             &agent->data, why);
    if (st == OK)
        st = agent_set_up_secrets(agent);
    if (st == OK)
        st = agent_set_up_executor(agent, why);
    if (st == OK)
        st = agent_notify_new(agent->config, agent->loop, agent->data.node, agent->zones,
                              agent->log, &agent->notifier, why);
    if (st == OK)
        st = agent_pings_new(agent->config, agent->loop, agent->data.node, agent->notifier,
                             agent->data.store, &agent->pings);
    agent->notify.notifier = agent->notifier;
    agent->notify.otlp = &agent->otlp;
    if (st == OK)
        st = set_up_otlp(agent);
    if (st == OK)
        st = agent_set_up_engine(agent);
    if (st == OK)
        st = set_up_watch(agent);
    if (st == OK)
        st = agent_set_up_api(agent, why);
    if (st == OK)
        st = agent_chores_new(agent->loop, agent->config, agent->engine, agent->data.store,
                              agent->data.history, agent->log, &agent->chores);
    if (st == OK)
        st = agent_memory_start(agent->memory, agent->loop, agent->engine);
    return st;
}

static void tear_down(struct agent *agent)
{
    agent->is_set_up = false; /* closing the store may run the loop */
    agent_data_close(&agent->data);
    agent->notify.watch = agent->watch = watch_free(agent->watch);
    agent->pings = agent_pings_free(agent->pings);
    agent_otlp_release(&agent->otlp);
    agent->notifier = notifier_free(agent->notifier); /* calls what engine and API wait for */
    agent_chores_free(agent->chores);
    agent->memory = agent_memory_free(agent->memory);
    api_free(agent->api);
    engine_free(agent->engine);
    agent_pressure_release(&agent->pressure);
    supervisor_release(&agent->supervisor);
    executor_spawn_free(agent->executor);
    executor_call_free(agent->calls);
    secrets_free(agent->secrets);
    run_output_release(&agent->output);
    free(agent->spawn_folder);
    free(agent->call_folder);
    loop_timer_free(agent->zones_timer);
    loop_timer_free(agent->join_timer);
    loop_timer_free(agent->stop_timer);
    loop_fd_free(agent->launcher_watch);
    loop_fd_free(agent->signal_watch);
    agent->turns = turns_free(agent->turns);
    loop_free(agent->loop);
    if (agent->signal_fd >= 0)
        close(agent->signal_fd);
    spawn_launcher_free(agent->launcher);
    zone_db_free(agent->zones);
    agent_data_unlock(&agent->data);
    agent_log_close(agent->log);
}

enum status agent_run(struct agent_config *config, void (*ready)(void *context), void *context,
                      struct strbuf *why)
{
    struct agent agent = {.config = config,
                          .data.lock_fd = -1,
                          .supervisor.fd = -1,
                          .signal_fd = -1,
                          .started_ms = clock_now().wall.ms,
                          .ready = ready,
                          .ready_context = context,
                          .why = why};
    enum status st = set_up(&agent, why);
    agent.is_set_up = st == OK;
    if (st == OK) {
        agent_wake(&agent);
        if (!agent.stopping)
            loop_run(agent.loop);
        st = agent.failed;
        agent_log_event(agent.log, "stopped", "node=%s", agent.data.node);
        data_folder_remove_pid(config->data);
    } else if (!why->length) {
        strbuf_adds(why, status_text(st));
    }
    tear_down(&agent);
    return st;
}
