/* The engine's parts, for the files that are the engine:
 *
 *   engine.c        a turn, and what is asked from outside
 *   engine_feed.c   what the store tells
 *   engine_nodes.c  this node among the others
 *   engine_boot.c   the tick of @reboot */
#ifndef PEAL_ENGINE_INTERNAL_H
#define PEAL_ENGINE_INTERNAL_H

#include "claimer.h"
#include "engine.h"
#include "peers.h"
#include "placement.h"
#include "planner.h"
#include "recorder.h"
#include "runner.h"
#include "sweeper.h"

struct engine {
    struct engine_config config;
    struct engine_ports ports;
    struct catalog catalog;
    struct open_runs runs;
    struct peers peers;
    struct placement placement;
    unsigned placed; /* the peers' generation that it was made from */
    struct planner planner;
    struct claimer claimer;
    struct runner runner;
    struct recorder recorder;
    struct sweeper sweeper;
    struct now now;   /* of this turn */
    int64_t ahead_ms; /* of the boot clock was the wall clock, at most, since all was planned */
    bool loaded, draining;
    bool healthy;
    int64_t health_at_ms; /* boot time of the next look at the store's health */

    bool announced; /* at all */
    bool joined;    /* the store has told of this node, as it is now: its name is ours */
    struct boot_ms announced_at;
    struct boot_ms unheard_since; /* when it said what has not come back through the store yet */
    bool was_skewed;              /* and it was said so */

    bool boot_unsaved, boot_saving; /* the tick of @reboot is not in the store yet; on its way */
    struct boot_ms boot_retry_at;
    bool boot_passed; /* a change of some job went past it: see engine_miss_boot */
    char stored_boot_id[40];
    int64_t stored_boot_tick_ms;
};

/* ---- engine.c ---- */

size_t engine_room(const struct engine *engine); /* how many more runs this node may own */

/* ---- engine_feed.c ---- */

void engine_take_changes(struct engine *engine);

/* Plans the job again; what can't be planned is logged. */
void engine_put_plan(struct engine *engine, struct catalog_job *job);

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

/* ---- engine_boot.c ---- */

void engine_take_meta(struct engine *engine, const struct store_set_meta *meta);

/* Everything is loaded: what is the tick of @reboot? */
void engine_settle_boot(struct engine *engine);

/* Puts it on record, if it is not. */
void engine_save_boot(struct engine *engine);

int64_t engine_boot_at(const struct engine *engine);

/* The job is about to be changed or deleted. Whoever asked for it counted the ticks that are due
 * without those of other nodes' boots: is the tick of this one's passed over? */
void engine_pass_boot(struct engine *engine, struct catalog_job *job,
                      const struct store_change *change);

/* Puts on record what became of such ticks, once all that came with the changes is known. */
void engine_record_boots(struct engine *engine);

#endif
