#include "side.h"

#include <stdio.h>
#include <stdlib.h>

#include "history_told.h"
#include "lib_node.h"
#include "store_memory.h"
#include "version.h"

/* ---- opening ---- */

static struct peer self(const struct side *side)
{
    struct peal_node *peal = side->peal;
    uint8_t random[10];
    random_from_block(&peal->random, random, sizeof(random));
    struct peer self = {
        .instance = id_make((struct wall_ms){peal->started_ms}, random),
        .home = data_folder_home(peal->folder),
        .capacity = machine_processors(),
        .max_running = peal->options.threads,
        .started_ms = peal->started_ms,
        .program_version = side->functions.version,
    };
    snprintf(self.name, sizeof(self.name), "%s", peal->node);
    snprintf(self.program, sizeof(self.program), "%s", side->functions.program);
    snprintf(self.labels, sizeof(self.labels), "%s",
             peal->options.labels ? peal->options.labels : "");
    snprintf(self.fingerprint, sizeof(self.fingerprint), "%s",
             lib_records_fingerprint(&peal->records));
    snprintf(self.version, sizeof(self.version), "%s", PEAL_VERSION);
    return self;
}

static void log_event(void *context, const char *event, const char *particulars)
{
    lib_log(context, PEAL_DEBUG, "%s %s", event, particulars);
}

static enum status make_engine(struct side *side)
{
    struct peal_node *peal = side->peal;
    struct engine_config config = engine_config_default();
    snprintf(config.node, sizeof(config.node), "%s", peal->node);
    machine_boot_id(config.boot_id);
    config.max_running = calls_wanted(side->calls, peal->options.threads, false);
    config.self = self(side);
    struct engine_ports ports = {
        .store = side->store,
        .executor = outside_executor(side->outside),
        .history = side->history,
        .zones = peal->zones,
        .entropy = {random_from_block, &peal->random},
        .output = outside_output(side->outside),
        .functions = {functions_has, &side->functions},
        .log = {log_event, peal},
    };
    return engine_new(&config, &ports, &side->engine);
}

static void log_way(void *context, const char *message)
{
    lib_log(context, PEAL_INFO, "%s", message);
}

static enum status open_outside(struct side *side)
{
    struct peal_node *peal = side->peal;
    bool is_local = side == &peal->local;
    struct outside_config config = {.calls = side->calls,
                                    .functions = &side->functions,
                                    .loop = peal->loop,
                                    .tools = &peal->tools,
                                    .folder = peal->folder,
                                    .prefix = is_local ? "local-" : "",
                                    .node = peal->node,
                                    .spool = side->spool,
                                    .is_local = is_local,
                                    .wake = lib_wake,
                                    .context = peal,
                                    .log = log_way};
    return outside_new(&config, &side->outside);
}

enum status side_open(struct side *side, struct store *store, struct history *history)
{
    struct peal_node *peal = side->peal;
    bool is_local = side == &peal->local;
    side->store = store;
    side->history = history;
    side->spool = is_local ? NULL : data_folder_file(peal->folder, "calls");
    if (!is_local && !side->spool)
        return E_NOMEM;
    struct calls_config calls = {.pool = peal->pool,
                                 .wake = lib_wake,
                                 .context = peal,
                                 .find = functions_find,
                                 .functions = &side->functions,
                                 .ended = is_local ? history_told_end : NULL,
                                 .passed = is_local ? history_told_passed : NULL,
                                 .node = peal->node,
                                 .spool = side->spool};
    enum status st = calls_new(&calls, &side->calls);
    if (st == OK)
        st = open_outside(side);
    if (st == OK)
        st = make_engine(side);
    if (st == OK)
        registrar_init(&side->registrar, side);
    return st;
}

enum status side_open_local(struct side *side)
{
    struct peal_node *peal = side->peal;
    struct store *store = NULL;
    struct history *history = NULL;
    enum status st = store_memory_new((struct store_wake){lib_wake, peal}, &store);
    if (st == OK)
        st = history_told_new(peal, (struct history_wake){lib_wake, peal}, &history);
    if (st == OK)
        return side_open(side, store, history);
    store_free(store);
    return st;
}

void side_close(struct side *side)
{
    side->store = store_free(side->store);
    side->history = history_free(side->history);
    side->engine = engine_free(side->engine);
    side->outside = outside_free(side->outside);
    side->calls = calls_free(side->calls);
    free(side->spool);
    side->spool = NULL;
}

/* ---- turns ---- */

struct wall_ms side_step(struct side *side, struct now now, bool is_stopping)
{
    if (is_stopping && !side->is_drained) {
        engine_drain(side->engine);
        side->is_drained = true;
    }
    if (is_stopping) { /* each time: one may have begun since */
        calls_shut_down(side->calls);
        outside_shut_down(side->outside);
    } else {
        outside_step(side->outside);
    }
    int calls =
        calls_wanted(side->calls, side->peal->options.threads, engine_is_alone(side->engine));
    engine_set_max_running(side->engine, calls + (int)outside_running(side->outside));
    engine_step(side->engine, now);
    if (engine_is_joined(side->engine) && !side->is_drained)
        registrar_step(&side->registrar, now);
    struct wall_ms at = engine_wake_at(side->engine);
    int64_t retry_ms = side->registrar.retry_ms;
    if (retry_ms > now.wall.ms && retry_ms < at.ms)
        at.ms = retry_ms;
    int64_t timeout_ms = calls_time_out(side->calls, now.boot).ms;
    int64_t spool_ms = calls_spool(side->calls, now.boot).ms;
    if (spool_ms < timeout_ms)
        timeout_ms = spool_ms;
    if (timeout_ms < INT64_MAX && now.wall.ms + timeout_ms - now.boot.ms < at.ms)
        at.ms = now.wall.ms + timeout_ms - now.boot.ms;
    return at;
}

/* Functions do not outlive their process: the node leaves when the last has returned. */
bool side_is_over(struct side *side)
{
    return !side->engine || (side->is_drained && engine_is_idle(side->engine) &&
                             registrar_is_idle(&side->registrar) &&
                             !engine_open_runs(side->engine) && !calls_running(side->calls));
}

bool side_calls(const struct side *side)
{
    return side->calls && (calls_running(side->calls) || outside_running(side->outside));
}
