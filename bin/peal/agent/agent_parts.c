#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent_gather.h"
#include "agent_internal.h"
#include "agent_listen.h"
#include "agent_self.h"
#include "data_folder.h"
#include "executor/executor_none.h"
#include "executor/spawner_state.h"
#include "history_gather.h"
#include "kv/store_kv.h"
#include "sandbox/jobs_user.h"
#include "sandbox/sandbox.h"
#include "secrets.h"
#include "version.h"

static struct id make_id(const struct agent *agent)
{
    uint8_t random[10];
    machine_random(NULL, random, sizeof(random));
    return id_make((struct wall_ms){agent->started_ms}, random);
}

enum status agent_default_zone(const struct agent *agent, struct strbuf *out)
{
    if (agent->config->timezone)
        strbuf_adds(out, agent->config->timezone);
    else if (!zone_db_local_name(agent->zones, out))
        agent_log_event(agent->log, "timezone_unknown", "TZ=\"%s\" taken=%s", getenv("TZ"),
                        out->text);
    return strbuf_status(out);
}

/* Whom peal-call becomes: HTTP calls need no rights, and are not made as root. NULL: an agent of
 * root has nobody for it; or it is not root, and peal-call is of its own user. */
static const char *call_user(const struct agent_config *config)
{
    const struct passwd *user =
        geteuid() == 0 && config->default_user ? getpwnam(config->default_user) : NULL;
    return user && user->pw_uid != 0 ? config->default_user : NULL;
}

/* Without a launcher the agent would have to start spawners itself, and jobs would inherit its
 * sandbox. */
static enum status start_launcher(struct agent *agent)
{
    char *folder = data_folder_file(agent->config->data, "spawn");
    struct spawn_client_config config = {.folder = folder,
                                         .allow_file = agent->config->allow_file,
                                         .call_user = call_user(agent->config),
                                         .open_files = agent->open_files};
    enum status st = folder ? spawn_launcher_new(&config, &agent->launcher) : E_NOMEM;
    free(folder);
    return st;
}

void agent_confine(struct agent *agent)
{
    const struct agent_config *config = agent->config;
    bool starts_jobs = config->roles & PEER_WORKER;
    struct sandbox_state state;
    if (data_folder_make(config->data) != OK)
        return; /* the error is reported when it is opened */
    if (config->store.shared && data_folder_make(config->store.shared) != OK)
        return; /* likewise */
    if (starts_jobs && !config->no_sandbox && start_launcher(agent) != OK)
        agent->sandbox = (struct sandbox){.extent = SANDBOX_NO_LAUNCHER, .launcher_error = errno};
    else
        sandbox_enter(config, &agent->sandbox);
    sandbox_tell(&agent->sandbox, LANGUAGE_EN, &state);
    agent_log_event(agent->log, "sandbox", "detail=\"%s\"", state.detail);
}

static enum status set_up_calls(struct agent *agent)
{
    struct executor_call_config config = {
        .folder = agent->call_folder,
        .user = call_user(agent->config),
        .node = agent->data.node,
        .allow = agent->config->http_allow,
        .launcher = agent->launcher,
        .news = spawner_state_news(agent->log),
        .secrets = agent->secrets,
    };
    return executor_call_new(agent->loop, &config, agent_wake, agent, &agent->calls);
}

/* In the data folder unless the machine's own is root's, or the configuration names them. */
enum status agent_set_up_secrets(struct agent *agent)
{
    const struct agent_config *config = agent->config;
    char *folder = config->secrets_dir ? strdup(config->secrets_dir)
                   : geteuid() == 0    ? strdup("/etc/peal/secrets")
                                       : data_folder_file(config->data, "secrets");
    char *key = config->secret_key ? strdup(config->secret_key)
                                   : data_folder_file(config->data, "secret.key");
    enum status st = folder && key ? secrets_new(folder, key, &agent->secrets) : E_NOMEM;
    free(folder);
    free(key);
    return st;
}

enum status agent_set_up_executor(struct agent *agent, struct strbuf *why)
{
    if (!(agent->config->roles & PEER_WORKER))
        return OK;
    agent->spawn_folder = data_folder_file(agent->config->data, "spawn");
    agent->call_folder = data_folder_file(agent->config->data, "call");
    if (!agent->spawn_folder || !agent->call_folder)
        return E_NOMEM;
    struct executor_spawn_config config = {
        .folder = agent->spawn_folder,
        .allow_file = agent->config->allow_file,
        .default_user = agent->config->default_user,
        .node = agent->data.node,
        .open_files = agent->open_files,
        .secrets = agent->secrets,
        .launcher = agent->launcher,
        .news = spawner_state_news(agent->log),
    };
    enum status st = executor_spawn_new(agent->loop, &config, agent_wake, agent, &agent->executor);
    if (st != OK)
        strbuf_addf(why, "can't use the spawner's folder %s: %s", agent->spawn_folder,
                    status_text(st));
    if (st == OK)
        st = set_up_calls(agent);
    if (st != OK)
        return st;
    executor_route_init(&agent->route, agent->executor, agent->calls,
                        agent_otlp_has_traces(agent->config));
    return run_output_init(&agent->output, agent->spawn_folder, agent->call_folder);
}

/* Before there is a watch nothing has ended. */
static bool find_lesson(void *context, const struct id *job_uid, struct learned *ret)
{
    const struct agent *agent = context;
    *ret = (struct learned){0};
    return !agent->watch || watch_find_lesson(agent->watch, job_uid, ret);
}

enum status agent_set_up_engine(struct agent *agent)
{
    struct executor_spawn *spawn = agent->executor;
    struct engine_config config = engine_config_default();
    memcpy(config.node, agent->data.node, sizeof(config.node));
    machine_boot_id(config.boot_id);
    config.max_running = agent->config->max_running;
    config.self = agent_self(agent->config, agent->data.node, make_id(agent), agent->started_ms);
    agent_gather_announce(agent->config, &agent->data, &config.self);
    struct engine_ports ports = {
        .store = agent->data.store,
        .executor = spawn ? &agent->route.port : executor_none(),
        .history = agent->data.history,
        .zones = agent->zones,
        .entropy = {random_from_block, &agent->random},
        .pressure = agent_pressure_gauge(&agent->pressure),
        .lessons = {find_lesson, agent},
        .log = {agent_log_write, agent->log},
        .teller = agent_notify_teller(&agent->notify),
        .records = agent_otlp_observer(&agent->otlp),
    };
    if (spawn)
        ports.output = run_output_source(&agent->output);
    enum status st = engine_new(&config, &ports, &agent->engine);
    if (st == OK)
        agent->otlp.catalog = engine_catalog(agent->engine);
    if (st == OK && agent->data.net)
        gather_net_set_peers(agent->data.net, engine_peers(agent->engine));
    if (st == OK && agent->data.net)
        gather_net_observe_records(agent->data.net,
                                   agent_notify_observer(&agent->program_teller, &agent->notify,
                                                         engine_catalog(agent->engine)));
    if (st == OK && agent->data.net)
        gather_net_serve_messages(agent->data.net, agent_notify_messages(agent->notifier));
    if (st == OK && agent->data.net)
        gather_net_serve_output(agent->data.net,
                                spawn ? run_output_live(&agent->output) : (struct live_output){0});
    return st;
}

/* For the API: lifts the halt after a restore, as `by` decided. */
static enum status advance(void *context, const char *by,
                           void (*done)(void *context, enum status st), void *done_context)
{
    struct agent *agent = context;
    return store_kv_advance(agent->data.store, clock_now().wall.ms, by, done, done_context);
}

static const char *history_state(void *context, const struct known_peer *known)
{
    const struct agent *agent = context;
    return history_gather_state(agent->data.history, known);
}

static void look_at_jobs_user(void *context, enum language language, struct jobs_user *ret)
{
    const struct agent *agent = context;
    jobs_user_look(agent->config, language, ret);
}

static void look_at_spawner(void *context, enum language language, struct spawner_state *ret)
{
    const struct agent *agent = context;
    spawner_state_fill(executor_spawn_spawner(agent->executor), language, ret);
    spawner_death_tell(executor_spawn_death(agent->executor), language, ret);
}

static bool look_at_caller(void *context, enum language language, struct spawner_state *ret)
{
    const struct agent *agent = context;
    const struct spawner_info *caller = executor_call_caller(agent->calls);
    if (caller)
        spawner_state_fill(caller, language, ret);
    return caller;
}

static void look_at_sandbox(void *context, enum language language, struct sandbox_state *ret)
{
    const struct agent *agent = context;
    sandbox_tell(&agent->sandbox, language, ret);
}

static bool may_be_run(void *context, int fd)
{
    const struct agent *agent = context;
    return executor_spawn_may_be_run(agent->executor, fd);
}

/* Else no turn is needed: the store wakes the loop for what a call has changed. */
static void call_ended(void *context)
{
    const struct agent *agent = context;
    if (agent->stopping)
        agent_wake(context);
}

static void take_change(void *context, const struct store_change *change)
{
    const struct agent *agent = context;
    if (change->kind == STORE_CHANGE_RUN && engine_is_loaded(agent->engine))
        agent_ping_start(agent->pings, change->run,
                         catalog_by_uid(engine_catalog(agent->engine), &change->run->job_uid));
    if (agent->watch)
        watch_take(agent->watch, change);
}

static struct api_ports api_ports(struct agent *agent)
{
    struct api_ports ports = {
        .loop = agent->loop,
        .engine = agent->engine,
        .store = agent->data.store,
        .history = agent->data.history,
        .history_trouble = &agent->history_trouble,
        .zones = agent->zones,
        .entropy = {machine_random, NULL},
        .log = {agent_log_write, agent->log},
        .notifier = agent->notifier,
        .otlp = agent->otlp.otlp,
        .secrets = agent->secrets,
        .sandbox = look_at_sandbox,
        .history_state = agent->data.gathers ? history_state : NULL,
        .take_change = take_change,
        .ended = call_ended,
        .drain = agent_drain,
        .advance = store_url_is_keys(&agent->config->store) ? advance : NULL,
        .context = agent,
    };
    if (agent->data.net) {
        ports.elsewhere = gather_net_output(agent->data.net);
        ports.messages = gather_net_messages(agent->data.net);
    }
    if (agent->executor) {
        ports.output = run_output_live(&agent->output);
        ports.jobs_user = look_at_jobs_user;
        ports.spawner = look_at_spawner;
        ports.caller = look_at_caller;
        ports.may_be_run = may_be_run;
    }
    return ports;
}

enum status agent_set_up_api(struct agent *agent, struct strbuf *why)
{
    struct strbuf zone_name, store_url;
    strbuf_init(&zone_name);
    strbuf_init(&store_url);
    store_url_print(&agent->config->store, &store_url);
    enum status st = agent_default_zone(agent, &zone_name);
    if (st == OK)
        st = strbuf_status(&store_url);
    char *socket_path = data_folder_file(agent->config->data, "api.sock");
    struct agent_listen listen;
    struct api_config config = {
        .socket_path = socket_path,
        .version = PEAL_VERSION,
        .node = agent->data.node,
        .data_dir = agent->config->data,
        .store_url = store_url.text,
        .default_tz = zone_name.text,
        .started_ms = agent->started_ms,
        .undelete_s = 7 * 86400,
        .trusted_proxies = agent->config->trusted_proxies,
        .facades = agent->config->facades,
        .quotas = agent->config->quotas,
    };
    struct api_ports ports = api_ports(agent);
    if (st == OK)
        st = socket_path ? agent_listen_init(&listen, agent->config) : E_NOMEM;
    if (st == OK) {
        agent_listen_fill(&listen, &config);
        st = api_new(&config, &ports, &agent->api, why);
        agent->otlp.api = agent->api;
        for (size_t i = 0; st == OK && api_port(agent->api, i); i++)
            agent_log_event(agent->log, "listening", "address=%s port=%d tls=%s", config.listen[i],
                            api_port(agent->api, i), config.tls_cert ? "yes" : "no");
        agent_listen_release(&listen);
    }
    if (st == OK && why->length) {
        agent_log_event(agent->log, "not_listening", "detail=\"%s\"", why->text);
        strbuf_reset(why);
    }
    free(socket_path);
    strbuf_release(&zone_name);
    strbuf_release(&store_url);
    return st;
}
