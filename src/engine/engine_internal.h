/* The engine's parts, for the files that are the engine:
 *
 *   engine.c        a turn, and what is asked from outside
 *   engine_feed.c   what the store tells
 *   engine_nodes.c  this node among the others
 *   engine_clock.c  the wall clock: is it believed, and was it set back? */
#ifndef PEAL_ENGINE_INTERNAL_H
#define PEAL_ENGINE_INTERNAL_H

#include "engine.h"
#include "stages/boots.h"
#include "stages/claimer.h"
#include "stages/planner.h"
#include "stages/recorder.h"
#include "stages/runner.h"
#include "stages/sweeper.h"
#include "state/boot_marks.h"
#include "state/marks.h"
#include "state/peers.h"
#include "state/placement.h"

/* What is known of the wall clock. Its place is what it is ahead of the boot clock, which nobody
 * sets. */
struct clock_watch {
    bool is_known;
    int64_t last_ms;     /* its place in the last turn */
    int64_t most_ms;     /* at most, since all was planned */
    int64_t believed_ms; /* when it was last believed */
    int64_t before_ms;   /* before the last step that was; if has_before */
    bool has_before;
    enum clock_doubt doubt;
    struct boot_ms doubt_since;
    int64_t newest_ms;      /* wall time of the latest that the store had at the start */
    struct boot_ms look_at; /* for cursors that are ahead; INT64_MAX: none is known to be */
    struct sender sender;   /* moves them back */
    size_t jobs_ahead;
    uint64_t steps; /* that were seen */
    int64_t step_ms, stepped_ms;
};

struct engine {
    struct engine_config config;
    struct engine_ports ports;
    struct catalog catalog;
    struct open_runs runs;
    struct peers peers;
    struct placement placement;
    unsigned placed; /* the peers' generation that it was made from */
    struct outbox outbox;
    struct marks marks;
    struct boot_marks boot_marks;
    struct planner planner;
    struct boots boots;
    struct claimer claimer;
    struct runner runner;
    struct recorder recorder;
    struct sweeper sweeper;
    struct now now; /* of this turn */
    struct clock_watch clock;
    bool loaded, draining;
    bool has_asides; /* the store had a value that could not be read */
    bool healthy;
    struct outage away;   /* of the store, the last time */
    int64_t health_at_ms; /* boot time of the next look at the store's health */

    bool announced; /* at all */
    bool is_asked;  /* by one that compares its clock with the others', to speak */
    bool joined;    /* the store has told of this node, as it is now: its name is ours */
    struct boot_ms announced_at;
    struct boot_ms unheard_since; /* when it said what has not come back through the store yet */
    bool was_skewed;              /* and it was said so */
};

/* ---- engine.c ---- */

size_t engine_room(const struct engine *engine); /* how many more runs this node may own */

/* ---- engine_feed.c ---- */

void engine_take_changes(struct engine *engine);

/* Plans the job again, as planner_put does; what can't be planned is logged. */
void engine_put_plan(struct engine *engine, struct catalog_job *job, int64_t not_before_ms);

/* ---- engine_nodes.c ---- */

void engine_take_node(struct engine *engine, const struct store_change *change);

/* Compares the clocks, tells the others about this node if it is time to, and takes in who there is
 * and who leads. */
void engine_meet_nodes(struct engine *engine);

/* Why this node takes nothing new. */
enum peer_refusal engine_refusal(const struct engine *engine);

/* What was said of this node last is not true any more. */
bool engine_has_news(const struct engine *engine);

/* Somebody has drained this node. */
bool engine_is_drained(const struct engine *engine);

/* When engine_meet_nodes has something to do; NEVER_MS: not by itself. */
int64_t engine_meet_at(const struct engine *engine);

/* ---- engine_clock.c ---- */

/* First in a turn: was the clock set, and is it believed? */
void engine_follow_clock(struct engine *engine);

/* Something is new of the other nodes' clocks: is a doubt over? */
void engine_end_doubt(struct engine *engine);

/* Everything is loaded: can the clock be right? */
void engine_judge_start(struct engine *engine);

/* There may be cursors ahead of the clock. */
void engine_look_ahead(struct engine *engine);
void engine_see_cursor(struct engine *engine, const struct catalog_job *job);

/* Moves those back, when it is time to look. */
void engine_move_back(struct engine *engine);
int64_t engine_clock_at(const struct engine *engine);

#endif
