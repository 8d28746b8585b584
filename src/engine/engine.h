/* The engine: nodes and their ranks (peers, placement), due ticks (planner), claims (claimer),
 * starting, watching and killing runs (runner), recording their ends (recorder), and cleaning up
 * after dead nodes (sweeper). It does no I/O and reads no clock: the store, the executor, the
 * history and randomness are passed in, and every turn is given the time, so that the same code
 * runs in production and in a simulated cluster.
 *
 *     while (running) { wait until engine_wake_at(), or a wake; engine_step(engine, now); }
 */
#ifndef PEAL_ENGINE_H
#define PEAL_ENGINE_H

#include "clock.h"
#include "ports.h"
#include "state/catalog.h"
#include "state/peers.h"

struct engine;

struct engine_config {
    char node[64];
    struct peer self;   /* announced to the other nodes: labels, roles, address, version, capacity,
                           home, instance and started_ms; the engine fills in the rest */
    char boot_id[40];   /* of the machine's current boot, for @reboot */
    int64_t on_time_ms; /* a tick that is later than this was missed in an outage, and catch_up
                           decides; 30 s */
    int64_t start_window_ms; /* from BEGIN's sending to the start; 5 s */
    int64_t lead_ms;         /* how far ahead of a tick it is claimed; 0: by the store's latency */
    int64_t heartbeat_ms;    /* interval of heartbeats while nothing changes; 2 s */
    int64_t made_ms;         /* older than any peal: a clock before this is wrong; 2025-01-01 */
    int max_running;         /* 0: no limit */
};

struct engine_config engine_config_default(void);
MUST_CHECK enum status engine_new(const struct engine_config *config,
                                  const struct engine_ports *ports, struct engine **ret);
struct engine *engine_free(struct engine *engine);

/* One turn: takes in the store's changes, and does everything that is due. */
void engine_step(struct engine *engine, struct now now);

/* When the next turn is needed, unless something wakes it before. */
struct wall_ms engine_wake_at(const struct engine *engine);

/* The agent is about to stop: no new claims from now on; running jobs go on. */
void engine_drain(struct engine *engine);
bool engine_is_draining(const struct engine *engine);
bool engine_is_loaded(const struct engine *engine);
/* The store has registered this node under its name. Before, the engine only reports the ends of
 * runs that earlier agents of this home have started. */
bool engine_is_joined(const struct engine *engine);
/* This node was registered, and another agent has joined under its name since: it claims and starts
 * nothing, and only reports the ends of its runs. */
bool engine_is_shut_out(const struct engine *engine);
/* An operator has drained this node. */
bool engine_is_drained(const struct engine *engine);
/* Any other reason why this node takes no new runs. */
enum peer_refusal engine_refusal(const struct engine *engine);
size_t engine_open_runs(const struct engine *engine); /* claimed, begun or running here */
/* No request to store or history is under way; and an agent that is about to stop has announced
 * that, and whether it has runs, for which its registration is kept (store_free), and has written
 * the time of its stop. */
bool engine_is_idle(const struct engine *engine);

/* No other node can take what this one has claimed. */
bool engine_is_alone(const struct engine *engine);

/* Is this node the leader, which does the chores of the whole cluster? */
bool engine_leads(const struct engine *engine);
const struct peers *engine_peers(const struct engine *engine);

/* Why the wall clock is doubted. Nothing is claimed, taken or begun meanwhile. The doubt ends when
 * the clock is right again, when most of the other nodes have the same time, or after ten minutes.
 */
enum clock_doubt {
    DOUBT_NONE,
    DOUBT_AHEAD, /* it jumped ahead by more than two minutes */
    DOUBT_BACK,  /* it jumped back by more than a day, or to before made_ms */
    DOUBT_START, /* at the agent's start it was five minutes or more behind the newest time in the
                    store */
};

/* What the wall clock did since the agent started. */
struct engine_clock {
    enum clock_doubt doubt;
    int64_t until_ms; /* wall time at which the doubt ends; 0: no doubt */
    int64_t left_ms;  /* until then, by the boot clock */
    bool is_skewed;   /* too far from the other nodes' clocks */
    int64_t since_ms; /* when the doubt or the skew began, by the clock that was trusted: the one
                         before the step, or that of the cluster; 0: neither */
    int64_t skew_ms;
    uint64_t steps;     /* of more than a second */
    int64_t step_ms;    /* the last one: ahead, or back (negative) */
    int64_t stepped_ms; /* wall time after that step; 0: no step */
    size_t jobs_ahead; /* jobs whose cursor or last end is ahead of the clock; the first node with a
                          trusted clock moves them back */
};

struct engine_clock engine_clock(const struct engine *engine);

/* Is the wall clock the cluster's, as far as this node knows at `now`: compared with the others,
 * not doubted, and not set since the last turn? */
bool engine_trusts_clock(const struct engine *engine, struct now now);
const char *engine_doubt_text(enum clock_doubt doubt);

/* Watch lag: how long this node's last heartbeat took to come back through the store's feed, or has
 * been waited for already. -1: it has sent none yet. */
int64_t engine_watch_lag_ms(const struct engine *engine, struct now now);

/* The reason why, as far as this node knows, no node can start runs of a job with this `where`
 * (eligible.h): DISK_FULL, STORE_AWAY, CLOCK_DOUBTED, DRAINED; NONE: there is none, or the
 * agent is stopping. */
enum run_reason engine_hindrance(const struct engine *engine, const char *where);

/* The jobs, for the API. */
struct catalog *engine_catalog(struct engine *engine);

/* Is there a node that may run the job (eligible.h) and, if it is a function, may have it? */
bool engine_has_node(struct engine *engine, const struct catalog_job *job);

/* The definition that says where the run may run: its job, or what its step runs. NULL: not known
 * yet. Valid until the next turn. */
const struct catalog_job *engine_terms(struct engine *engine, const struct run *run);

/* When the last node that matched `where` (eligible.h) went, as far as this one knows: gone nodes
 * are known for a day. 0: none did. */
int64_t engine_last_node_gone_ms(const struct engine *engine, const char *where);

/* placement_tell_unmatched. */
void engine_tell_unmatched(const struct engine *engine, const char *where, char *ret, size_t size);

/* A message that there is none. */
void engine_tell_nobody(struct engine *engine, const struct catalog_job *job, char *ret,
                        size_t size);

/* Replaces the observer; changed NULL: none. */
void engine_set_observer(struct engine *engine, struct change_observer observer);

void engine_set_clock_observer(struct engine *engine, struct clock_observer observer);

/* Visits the open runs of all nodes: QUEUED to RUNNING (those that run on another node are BEGUN),
 * and ended ones that are not in the history yet. Lost runs that are recorded, and are kept only
 * for their node to amend, are left out; engine_find_run finds them. */
void engine_each_open_run(const struct engine *engine,
                          void (*visit)(void *context, const struct run *run), void *context);
const struct run *engine_find_run(const struct engine *engine, const struct id *run_id);

struct slots;
struct slot_wait;
struct open_run;

/* Who has the slots of groups, and who waits for them (groups/slots.h). */
const struct slots *engine_slots(const struct engine *engine);
/* What the run waits for; group NULL: for no slot. `lack` leaves out its place in the line. */
struct slot_wait engine_slot_wait(struct engine *engine, const struct id *run_id);
struct slot_wait engine_slot_lack(struct engine *engine, const struct open_run *open);

/* Visits the runs of an instance of a workflow, itself among them, in any state. All of them are
 * here while it is open: the steps that have not been made yet are in its plan, which is its
 * input. */
void engine_each_member(const struct engine *engine, const struct id *instance,
                        void (*visit)(void *context, const struct run *run), void *context);

/* What a step of an open instance, or an item of one, has written: a JSON object. NULL: nothing.
 * Valid until the next turn. */
const char *engine_find_output(const struct engine *engine, const struct id *instance, int part);

/* It has ended here, and only the store's answer tells whether another attempt follows. */
bool engine_may_retry(struct engine *engine, const struct id *run_id);

/* What the request of a run has handed over: the document that run.input names. NULL: nothing, or
 * it is gone from the store. Valid until the next turn. */
const char *engine_find_input(const struct engine *engine, const struct id *id);

/* Of all such documents of open runs. */
size_t engine_input_bytes(const struct engine *engine);

/* 0: no limit. Running jobs go on. */
void engine_set_max_running(struct engine *engine, int max_running);

/* Sets the pressures of the machine, as they are now. */
void engine_read_pressure(const struct engine *engine, struct peer *ret);

/* This node has records that no other node has: others are told with the next heartbeat. */
void engine_set_has_history(struct engine *engine, bool has_history);

/* This node is a program's, and `node` takes its records and passes its output on; "": nobody does.
 * Others are told at once. */
void engine_set_via(struct engine *engine, const char *node);

/* How far the calls of this node are (function/progress.h): others are told with the next
 * heartbeat. */
void engine_set_progress(struct engine *engine, const char *text);

/* The job is about to be rescheduled or deleted (`reason`): *ret are ledger entries for its ticks
 * from the cursor to `until_ms` that are not decided yet, for the store_put_job that makes the
 * change. The caller frees them. E_NOMEM. */
MUST_CHECK enum status engine_pass(struct engine *engine, struct catalog_job *job, int64_t until_ms,
                                   enum run_reason reason, struct ledger_entry **ret,
                                   size_t *ret_count);

/* *ret are ledger entries for the due ticks of the job that a pause, skip-next, maintenance or a
 * calendar takes out and that are not in the store yet: they are gathered for up to an hour. An id
 * is made from the job and the entry's first tick, and is the same on all nodes. The caller frees
 * them. E_NOMEM. */
MUST_CHECK enum status engine_called_off(const struct engine *engine, struct catalog_job *job,
                                         int64_t now_ms, struct ledger_entry **ret,
                                         size_t *ret_count);

/* tzdata changed: plan everything again. */
void engine_replan(struct engine *engine);

#endif
