/* One node under a virtual clock, out of one number: jobs of every kind, processes, people who
 * change things, and faults, all drawn from a seed; and an oracle that does not ask the engine. The
 * same seed is the same life, to the last event.
 *
 *   sim_machine.c  what is around the engine: clocks, a store that fails, an executor, a history
 *   sim_jobs.c     what people do: jobs, changes, triggers, kills
 *   sim_oracle.c   what must hold, at every step and at the end
 *   ledger.c       what must be on record of a job's ticks
 *   any_job.c      a job of any kind, as text
 *   sim_test.c     a life; and many of them */
#ifndef PEAL_SIM_H
#define PEAL_SIM_H

#include "any_job.h"
#include "engine.h"
#include "job_codec.h"
#include "ledger.h"

enum {
    SIM_SECOND = 1000,
    SIM_MINUTE = 60 * SIM_SECOND,
    SIM_HOUR = 60 * SIM_MINUTE,
    SIM_JOBS = 12,
    SIM_LOG_LINES = 60,
    SIM_QUEUE = 4096,
};

struct sim_job {
    struct id uid;
    char name[32];
    struct job *definition; /* as it is stored */
    struct ledger_epoch *epochs;
    size_t epoch_count;
    int64_t cursor_ms;
    int64_t last_fence;
    int64_t last_end_ms; /* the latest, by the clock of its end */
    bool ever_allowed;   /* overlap: allow in one of its lives: its processes may be side by side */
    int versions;
};

/* What the executor was asked to start. */
struct sim_process {
    struct id run_id;
    size_t job;
    int64_t tick_ms;
    int attempt;
    int64_t started_ms, finished_ms; /* wall */
    int64_t ends_at_ms;              /* the simulation's own time */
    int exit_code;
    bool expired; /* came too late for its window: no process at all */
    bool ended, killed, lost;
    bool told_start, told_end, acknowledged;
};

/* What the history holds. */
struct sim_record {
    struct id id;
    bool is_entry;
    struct run run;
    struct ledger_entry entry;
};

/* An open run, as the store's feed told of it. */
struct sim_open_run {
    struct id id;
    size_t job;
    enum run_state state;
    int64_t since_ms, not_before_ms;
};

struct sim_queued {
    struct store_request *request;
    struct history_append *append;
    int64_t ready_at_ms;
};

struct sim_queue {
    struct sim_queued items[SIM_QUEUE];
    size_t count;
};

struct sim {
    uint64_t seed, random;
    uint64_t hash; /* of all events so far */
    char log[SIM_LOG_LINES][200];
    size_t log_count;

    int64_t time_ms; /* grows evenly, whatever is done to the clocks */
    int64_t wall_offset_ms, boot_offset_ms;
    int boots;

    struct zone_db *zones;
    struct store store;  /* what the engine sees */
    struct store *inner; /* what is behind it */
    struct executor executor;
    struct history history;
    struct engine *engine;
    struct engine_config config;
    bool ghost; /* the engine was killed: nobody hears it any more */

    /* faults */
    bool store_down, store_says_so;
    int64_t hiccups; /* so many requests more may fail */
    bool history_down;
    bool executor_away, tell_gone, tell_ready;
    int64_t store_latency_ms, history_latency_ms;
    int64_t heal_at_ms;

    struct sim_queue requests, appends;
    size_t delivered, submitted; /* in this turn */
    size_t turns, starts, faults;
    enum status inner_answer;

    struct sim_job jobs[SIM_JOBS];
    size_t job_count;
    int names;
    struct sim_process *processes;
    size_t process_count, process_room, oldest_open;
    struct table records; /* of sim_record, by id */
    struct sim_open_run *open_runs;
    size_t open_count, open_room;
    int64_t boot_ticks_ms[64];
    size_t boot_tick_count;
};

/* ---- sim_test.c ---- */

void sim_log(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void sim_fail(struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

uint64_t sim_random(struct sim *sim);
int64_t sim_below(struct sim *sim, int64_t limit); /* 0 <= result < limit */
bool sim_chance(struct sim *sim, int percent);

/* ---- sim_machine.c ---- */

void sim_machine_init(struct sim *sim, int64_t wall_ms);
void sim_machine_release(struct sim *sim);
struct now sim_now(const struct sim *sim);

/* Lets time pass, turn by turn as the engine and what it waits for ask for it. */
void sim_pass(struct sim *sim, int64_t ms);

/* Does a request at once, as another client of the store would. */
void sim_apply(struct sim *sim, struct store_request *request);

/* One fault at random; sim_pass ends those that last. */
void sim_fault(struct sim *sim);
void sim_heal(struct sim *sim);

/* ---- sim_jobs.c ---- */

void sim_add_job(struct sim *sim);
void sim_person(struct sim *sim); /* does something at random */
void sim_delete_all(struct sim *sim);
struct sim_job *sim_find_job(struct sim *sim, const struct id *uid);

/* ---- sim_oracle.c ---- */

/* The store has done this request. */
void sim_observe(struct sim *sim, const struct store_request *request);
void sim_observe_change(struct sim *sim, const struct store_change *change);
void sim_observe_start(struct sim *sim, const struct run *run, const struct job *job);
void sim_observe_record(struct sim *sim, const struct history_record *record);

/* All faults are healed and some time has passed: every due tick has been dealt with, and no run is
 * stuck on its way. */
void sim_check_caught_up(struct sim *sim);

/* All jobs are deleted and all processes have ended: everything is on record, once. */
void sim_check_records(struct sim *sim);

#endif
