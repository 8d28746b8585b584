/* A machine for testing the engine: a clock that only the test moves, the store in memory behind a
 * door that can be closed, an executor whose processes last as long as the test says, and a history
 * that keeps everything. Several of them can share a store: then each is a node. */
#ifndef PEAL_TEST_WORLD_H
#define PEAL_TEST_WORLD_H

#include "definition/job_codec.h"
#include "engine.h"

enum { WORLD_ROWS = 4096 };
enum { WORLD_SLOW_MS = 50 }; /* how far an answer is behind the feed */

/* A process that the executor "started". */
struct world_process {
    struct id run_id;
    char job_name[128], command[32];
    char step[STEP_NAME_SIZE], argument[64]; /* of a workflow: which step, and its second word */
    int64_t tick_ms, asked_ms, started_ms, ends_ms, fence;
    struct boot_ms at; /* when it starts, if it was asked for ahead */
    int attempt, part, exit_code;
    bool ended, killed, acknowledged;
    bool was_dropped; /* killed before its time: it was never a process */
    bool is_named;    /* to an engine that came while it waited for its time */
    bool is_told_held;
    bool is_looked_at;   /* the end is told again, with its file */
    int64_t finished_ms; /* what that end told */
    enum run_reason kill_reason;
};

/* What happens to the engine's requests of one kind on their way to the store. */
enum door {
    DOOR_OPEN,
    DOOR_HELD,    /* they wait outside until it is opened */
    DOOR_BROKEN,  /* not done: `door_status` */
    DOOR_ONE_WAY, /* done, but the answer is lost: E_UNKNOWN */
    DOOR_SLOW,    /* done, and the feed tells it; the answer comes behind */
};

/* An end that people were told of. */
struct world_told {
    struct id id;
    enum run_state state;
    bool is_entry, was_bad;
};

struct world {
    struct now now;
    struct zone_db *zones;
    struct store *store;
    struct store front; /* what the engine sees of it */
    struct store_ops front_ops;
    enum door door;
    enum store_op door_op;
    enum status door_status;
    enum status health;      /* of the store; E_ROLLED_BACK: it was restored from a backup */
    bool open_with_change;   /* the next world_change opens the door, in the same turn */
    bool cursor_with_change; /* world_change moves the cursor to now */
    struct store_request *submitted[64]; /* not answered yet, in their order */
    int64_t applied_ms[64];              /* DOOR_SLOW: when each was done; 0: not yet */
    size_t submitted_count;
    size_t answered; /* requests of all kinds so far */
    /* Told next, as it is: of a job, in another store than that in memory. */
    const struct store_change *changed;
    struct world_sent {
        size_t requests, items, most; /* `most`: items in one of them */
    } sent[STORE_REWIND + 1];         /* to the store, by kind */
    bool deaf;             /* changes of jobs and cursors get lost on the way from the store */
    bool alone;            /* those of other nodes do */
    bool unheard;          /* what it says of itself does */
    struct id gone;        /* told next as gone: the store was restored, and does not have it */
    const struct run *fed; /* told next, as it is: the store in memory can't make every run */
    bool silent;           /* what the store tells waits: its watch lags */
    bool frozen;           /* kill -STOP: time passes without it */
    bool beats_often;      /* it has the store show signs of its life more often */
    char suspected[64];    /* the node at which it has the store look, the last one ... */
    size_t suspicions;     /* ... and how often, at any */
    struct engine *engine;
    struct engine_config config;
    const char *lacks;        /* a function that its program has not registered, "*": all;
                                 NULL: none */
    struct executor executor; /* from here on: what the fakes keep */
    struct history history;
    struct world_process processes[WORLD_ROWS];
    size_t process_count;
    size_t ready_sent; /* processes whose start was told */
    bool tell_ready;
    int64_t duration_ms; /* of the processes that start from now on */
    int cpu_pressure;    /* of its machine */
    int exit_code;
    const char *(*writes)(const char *step, int attempt); /* to PEAL_OUTPUT; NULL: nothing */
    int (*exits)(const char *step, int attempt); /* with which code; NULL: with exit_code */
    int64_t ahead_ms;                            /* so long before their time it takes starts */
    bool tells_held;                             /* of what waits for its time */
    bool executor_away;                          /* refuses starts: E_BUSY */
    bool tell_gone;
    size_t kills; /* that the executor was asked for */
    bool history_away;
    struct learned learned;    /* of every job ... */
    bool history_is_slow;      /* ... but not yet */
    size_t lessons;            /* that were asked for */
    unsigned enforces;         /* limits of whole runs */
    struct executor_file file; /* of every process, once it can be looked at */
    size_t looks;              /* that the executor was asked for */
    const char *says;          /* the output of all processes, instead of so many zeroes: */
    int64_t output_bytes;      /* of the processes that end from now on */
    enum status output_status; /* of what reads it */
    size_t recorded_outputs, removed_outputs;
    struct run runs[WORLD_ROWS];
    size_t run_count;
    struct ledger_entry entries[WORLD_ROWS];
    size_t entry_count;
    struct history_append *appends[4]; /* to be answered */
    size_t append_count;
    struct world_told told[WORLD_ROWS];
    size_t told_count;
    bool is_telling_held; /* what was told is not on disk yet */
    void (*held_done)(void *context);
    void *held_context;
    struct engine *dead[16]; /* killed: they get answers, and do nothing any more */
    size_t dead_count;
    uint64_t seed;
};

/* At 2026-01-01T00:00:00Z; the engine is loaded and idle. */
struct world *world_new(void);

/* Another node with the store of this one, now. */
struct world *world_join(struct world *other, const struct engine_config *config);
struct world *world_free(struct world *world);

/* A test that has a world of its own as its state. */
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, world_set_up, world_tear_down)
int world_set_up(void **state);
int world_tear_down(void **state);

/* ---- world_ports.c ---- */

void world_open_ports(struct world *world);

/* The store does what waits outside, at that place in the order, and tells of it; the answer waits
 * on. */
void world_apply(struct world *world, size_t place);

/* A new job from YAML, through the store; its uid. */
struct id world_add(struct world *world, const char *yaml);

/* Changes the stored definition. */
void world_change(struct world *world, const struct id *uid, void (*change)(struct job *job));

/* Lets time pass, turn by turn as the engine asks for them. */
void world_pass(struct world *world, int64_t ms);

/* The same for several nodes; whoever is frozen has no turns. */
void worlds_pass(struct world *const *worlds, size_t count, int64_t ms);

/* Time passes without the engine: it was not running, or the machine slept. */
void world_sleep(struct world *world, int64_t ms);

/* The wall clock is set; the boot clock is not. */
void world_set_clock(struct world *world, int64_t by_ms);

/* kill -9 and a new start of the agent. Processes go on; what was on its way to the store gets
 * there, and its answer is lost. */
void world_restart(struct world *world);

/* The executor comes back, and tells what it knows. */
void world_attach(struct world *world);

/* A manual run, one of a tick of the past, and the order to kill a run. */
bool world_trigger(struct world *world, const struct id *uid);
bool world_backfill(struct world *world, const struct id *uid, int64_t tick_ms);
void world_kill(struct world *world, const struct id *run_id);

size_t world_count(const struct world *world, const char *job_name, enum run_state state);
int64_t world_passed(const struct world *world, const char *job_name, enum run_state state,
                     enum run_reason reason); /* ticks of ledger entries */

/* What was held is on disk now. */
void world_release_told(struct world *world);

/* Every process is of another (job, tick); fences grow; every tick has one end. */
void world_check(const struct world *world);

#endif
