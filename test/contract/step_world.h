/* An instance of a workflow under test: its plan as a table, from which the links of each end are
 * filled, as the engine does from the plan of a workflow. Every request is submitted twice, as
 * after an unknown outcome: the second one must change nothing. */
#ifndef PEAL_STEP_WORLD_H
#define PEAL_STEP_WORLD_H

#include "store_world.h"

enum { FLOW_STEPS = 400, ON_OK = 1 << RUN_OK, ON_FAILURE = 1 << RUN_FAILED };

struct planned {
    const char *name;
    const char *after;  /* names with spaces between them; empty: it begins with the instance */
    unsigned states;    /* of those; 0: ON_OK */
    int join;           /* 0: all */
    int items, at_once; /* at_once > 0: a fan-out */
    bool is_final, is_tail /* the instance waits for it, too */;
};

extern const struct planned chain[3];   /* a, b, c */
extern const struct planned diamond[4]; /* a, then b and c, then d */

struct flow_world {
    struct world *world;
    struct id job, instance;
    const struct planned *steps;
    size_t count;
    int attempts;             /* of each step */
    struct store_link *links; /* of the last finish */
    size_t link_count;
    int64_t now_ms; /* of the next end */
};

/* A job, not yet an instance. `name`: of the job. */
struct flow_world *flow_world_new(struct world *world, const char *name,
                                  const struct planned *steps, size_t count);
void flow_world_free(struct flow_world *flow);

#define FLOW(world, name, plan) flow_world_new(world, name, plan, sizeof(plan) / sizeof((plan)[0]))

/* Opens an instance by the claim of a tick (OVERLAP_SKIP unless the test fills the claim). */
struct store_claim opening_claim(struct flow_world *flow, int64_t tick_ms,
                                 enum overlap_policy overlap, struct store_step *steps);
void claim_instance(struct flow_world *flow, int64_t tick_ms);
/* By the take of a run that is DUE. */
struct store_take take_instance(struct flow_world *flow, const struct run *run);

/* The last attempt at the step; NULL: not made. "load[3]": an item. */
const struct run *find_step(const struct flow_world *flow, const char *name);
enum run_state step_state(const struct flow_world *flow, const char *name); /* RUN_STATES: none */
const struct run *the_instance(const struct flow_world *flow);

/* Claims the step for node-1. */
struct run take_step(struct flow_world *flow, const char *name);
struct store_begin begin_step(struct flow_world *flow, const char *name); /* takes it before */
/* The finish of the step as it is, with its links; not submitted. */
struct store_finish finish_of(struct flow_world *flow, const struct run *run, enum run_state state);
/* Takes and begins it, if need be, and ends it. */
struct store_finish end_step(struct flow_world *flow, const char *name, enum run_state state);
/* Takes it and ends it without a begin, as SKIPPED. */
void skip_step(struct flow_world *flow, const char *name, enum run_reason reason);
void open_fan_out(struct flow_world *flow, const char *name);
/* Somebody records a run that the store has ended. */
struct store_finish follow_run(struct flow_world *flow, const struct run *run);
void order_kill(struct flow_world *flow, const struct run *run, enum run_reason reason);

/* The same for all steps that the store has ended. */
void drain(struct flow_world *flow);
/* Takes, begins and ends it, and asks for a next attempt, which must be made. */
struct store_finish fail_and_retry(struct flow_world *flow, const char *name, enum run_state state);
void put_again(struct world *world, struct id job, const char *name, bool paused, bool deleted,
               bool purge);

/* The instance is open, and waits for one step. */
void check_instance(struct flow_world *flow, int64_t started_ms);
/* The store has ended the instance so; follows it, and checks that it is the job's last run. */
void ends_as(struct flow_world *flow, enum run_state state, enum run_reason reason);

void do_twice(struct world *world, enum store_op op, void *item, size_t size);

#endif
