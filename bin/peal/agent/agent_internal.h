/* The agent's state, which its parts share. */
#ifndef PEAL_AGENT_INTERNAL_H
#define PEAL_AGENT_INTERNAL_H

#include "agent.h"
#include "agent_chores.h"
#include "agent_memory.h"
#include "agent_notify.h"
#include "agent_pressure.h"
#include "api.h"
#include "config/agent_data.h"
#include "executor/executor_route.h"
#include "machine.h"
#include "otlp/agent_otlp.h"
#include "run_output.h"
#include "sandbox/sandbox.h"
#include "spawn_launcher.h"
#include "supervisor.h"
#include "turns.h"

struct agent {
    struct agent_config *config;
    struct agent_log *log;
    struct loop *loop;
    struct zone_db *zones;
    struct agent_data data;
    struct spawn_launcher *launcher; /* NULL: no sandbox, or no jobs */
    struct sandbox sandbox;
    struct executor_spawn *executor; /* NULL: this node runs no jobs */
    struct executor_call *calls;     /* beside it */
    struct executor_route route;     /* of both */
    struct run_output output;        /* of both */
    char *spawn_folder, *call_folder;
    struct engine *engine;
    struct random_block random; /* the engine's */
    struct api *api;
    struct agent_chores *chores;
    struct agent_memory *memory; /* NULL: nothing is given back */
    struct agent_pressure pressure;
    struct supervisor supervisor;
    struct notifier *notifier;
    struct agent_pings *pings;
    struct watch *watch;
    struct notify_context notify;
    struct agent_otlp otlp;
    struct known_secrets *secrets;
    struct program_teller program_teller;
    struct turns *turns;
    int signal_fd;
    struct loop_fd *signal_watch, *launcher_watch;
    struct loop_timer *stop_timer, *join_timer, *zones_timer;
    int64_t started_ms;
    int64_t open_files;           /* RLIMIT_NOFILE of jobs */
    struct boot_ms joining_since; /* since when it could have been registered; 0: not yet */
    bool is_set_up;               /* else no turns: the loop may run while parts are missing */
    bool stopping, told_ready;
    struct history_trouble history_trouble; /* as it was logged */
    enum status failed;                     /* why the agent ends, and ... */
    struct strbuf *why;                     /* ... the message */
    void (*ready)(void *context);
    void *ready_context;
};

/* ---- agent.c ---- */

void agent_wake(void *context);  /* from any thread: asks for a turn */
void agent_drain(void *context); /* takes no new runs from now on */

/* ---- agent_parts.c: wires the parts with ports ---- */

/* The default time zone of jobs. */
MUST_CHECK enum status agent_default_zone(const struct agent *agent, struct strbuf *out);

/* Enters the sandbox, if it is configured; a launcher keeps the privileges to start spawners. */
void agent_confine(struct agent *agent);

MUST_CHECK enum status agent_set_up_secrets(struct agent *agent);
MUST_CHECK enum status agent_set_up_executor(struct agent *agent, struct strbuf *why);
MUST_CHECK enum status agent_set_up_engine(struct agent *agent);
MUST_CHECK enum status agent_set_up_api(struct agent *agent, struct strbuf *why);

#endif
