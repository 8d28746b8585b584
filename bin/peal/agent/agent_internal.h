/* The agent: what its parts share while they are set up. */
#ifndef PEAL_AGENT_INTERNAL_H
#define PEAL_AGENT_INTERNAL_H

#include "agent.h"
#include "agent_chores.h"
#include "agent_notify.h"
#include "api.h"
#include "config/agent_data.h"
#include "executor/executor_spawn.h"
#include "spawn_launcher.h"

struct agent {
    struct agent_config *config;
    struct agent_log *log;
    struct loop *loop;
    struct zone_db *zones;
    struct agent_data data;
    struct spawn_launcher *launcher; /* NULL: nothing is given up, or nothing is started */
    struct sandbox_state sandbox;
    struct executor_spawn *executor; /* NULL: this node starts nothing */
    struct engine *engine;
    struct api *api;
    struct agent_chores *chores;
    struct notifier *notifier;
    int wake_fd, timer_fd, signal_fd;
    struct loop_fd *wake_watch, *timer_watch, *signal_watch, *launcher_watch;
    struct loop_timer *stop_timer, *join_timer, *zones_timer;
    int64_t started_ms;
    int64_t open_files;           /* how many jobs may have */
    struct boot_ms joining_since; /* it could have been let in since then; 0: not yet */
    int64_t armed_ms;             /* what timer_fd is set to */
    bool is_set_up; /* else there are no turns: the loop may run while parts are missing */
    bool stopping, told_ready;
    enum status failed; /* what it ends for, and ... */
    struct strbuf *why; /* ... why */
    void (*ready)(void *context);
    void *ready_context;
};

/* ---- agent.c ---- */

void agent_wake(void *context);  /* from any thread: a turn, please */
void agent_drain(void *context); /* nothing new is taken from now on */

/* ---- agent_parts.c: the parts that have ports ---- */

/* What jobs without a time zone of their own go by. */
MUST_CHECK enum status agent_default_zone(const struct agent *agent, struct strbuf *out);

/* Enters the sandbox, if the configuration has one; what needs more rights is left to a launcher.
 */
void agent_confine(struct agent *agent);

MUST_CHECK enum status agent_set_up_executor(struct agent *agent, struct strbuf *why);
MUST_CHECK enum status agent_set_up_engine(struct agent *agent);
MUST_CHECK enum status agent_set_up_api(struct agent *agent, struct strbuf *why);

#endif
