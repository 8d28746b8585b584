/* The engine: which nodes there are (peers, placement), what is due here (planner), who owns it
 * (claimer), start, watch and kill it (runner), put it on record (recorder), and what others have
 * left behind (sweeper). It does no I/O and reads no clock: the store, the executor, the history
 * and randomness are passed in, and every turn is given the time, so that the same code runs in
 * production and in a simulated cluster.
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
    struct peer self;        /* what the others are told: labels, roles, address, version, capacity,
                                home, instance and started_ms. The rest is the engine's to fill in */
    char boot_id[40];        /* of this machine's start, for @reboot */
    int64_t on_time_ms;      /* a tick later than this is an outage's, and catch_up decides; 30 s */
    int64_t start_window_ms; /* from BEGIN's sending to the start; 5 s */
    int64_t lead_ms;         /* how far ahead of a tick it is claimed; 0: by the store's latency */
    int64_t heartbeat_ms;    /* the others are told so often that there is nothing new; 2 s */
    int64_t made_ms;         /* peal was not there before: an earlier time is wrong; 2025-01-01 */
    int max_running;         /* 0: no limit */
};

struct engine_config engine_config_default(void);
MUST_CHECK enum status engine_new(const struct engine_config *config,
                                  const struct engine_ports *ports, struct engine **ret);
struct engine *engine_free(struct engine *engine);

/* One turn: takes in what changed, and does everything that is due. */
void engine_step(struct engine *engine, struct now now);

/* When the next turn is needed, unless something wakes it before. */
struct wall_ms engine_wake_at(const struct engine *engine);

/* The agent is about to stop: no new claims from now on; running jobs go on. */
void engine_drain(struct engine *engine);
bool engine_is_draining(const struct engine *engine);
bool engine_is_loaded(const struct engine *engine);
/* The store has let this node in under its name. Before, it only hands in the ends of what this
 * home has run. */
bool engine_is_joined(const struct engine *engine);
/* It was let in, and another agent has joined under its name since: it claims and starts nothing,
 * and hands in the ends of what runs. */
bool engine_is_shut_out(const struct engine *engine);
size_t engine_open_runs(const struct engine *engine); /* claimed, begun or running here */
/* Nothing is on its way to store or history; and of an agent that is about to stop, the last word
 * is said: that it does, and whether it has runs, for which its place is kept (store_free). */
bool engine_is_idle(const struct engine *engine);

/* Does this node do the chores that need one hand? */
bool engine_leads(const struct engine *engine);
const struct peers *engine_peers(const struct engine *engine);

/* Why the wall clock is not believed. Nothing is claimed, taken or begun meanwhile; it is over when
 * the clock is right again, when most of the other nodes have the same time, or after ten minutes.
 */
enum clock_doubt {
    DOUBT_NONE,
    DOUBT_AHEAD, /* it jumped ahead by more than two minutes */
    DOUBT_BACK,  /* it jumped back by more than a day, or before there was a peal */
    DOUBT_START, /* when the agent started, it was five minutes or more behind what the store has */
};

/* What the wall clock did since the agent started. */
struct engine_clock {
    enum clock_doubt doubt;
    int64_t until_ms; /* the doubt is over then, by this clock; 0: there is none */
    bool is_skewed;   /* too far from the other nodes' */
    int64_t skew_ms;
    uint64_t steps;     /* of more than a second */
    int64_t step_ms;    /* the last one: ahead, or back (negative) */
    int64_t stepped_ms; /* what it showed then; 0: there was none */
    size_t jobs_ahead;  /* whose cursor, or last end, is ahead of the clock: they are moved back by
                           the first node whose clock is believed */
};

struct engine_clock engine_clock(const struct engine *engine);
const char *engine_doubt_text(enum clock_doubt doubt);

/* How long the last word of this node took to come back to it through the store, or how long it is
 * waited for already: so late does it hear of what the others do. -1: it has not spoken yet. */
int64_t engine_watch_lag_ms(const struct engine *engine, struct now now);

/* What the API shows. */
struct catalog *engine_catalog(struct engine *engine);

/* Is a node there whose labels fit? `where` NULL: any does. */
bool engine_has_node(struct engine *engine, const char *where);

/* One, or none: NULL. */
void engine_set_observer(struct engine *engine, struct change_observer observer);

void engine_set_clock_observer(struct engine *engine, struct clock_observer observer);

/* Visits the open runs of all nodes: QUEUED to RUNNING (what runs on another node is BEGUN), and
 * ended ones that the history does not have yet. Lost ones that are on record, and only wait for
 * their node to come back, are not among them; engine_find_run finds them. */
void engine_each_open_run(const struct engine *engine,
                          void (*visit)(void *context, const struct run *run), void *context);
const struct run *engine_find_run(const struct engine *engine, const struct id *run_id);

/* 0: no limit. What runs already goes on. */
void engine_set_max_running(struct engine *engine, int max_running);

/* The job is about to get other times, or to go (`reason`): the entries of its ticks that are due
 * until then and not decided yet, counted from its cursor. They are for the store_put_job that does
 * it; the caller frees them. E_NOMEM. */
MUST_CHECK enum status engine_pass(struct engine *engine, struct catalog_job *job, int64_t until_ms,
                                   enum run_reason reason, struct ledger_entry **ret,
                                   size_t *ret_count);

/* tzdata changed: plan everything again. */
void engine_replan(struct engine *engine);

#endif
