/* The engine's parts, for the files that are the engine:
 *
 *   engine.c        a turn, and queries from outside
 *   engine_feed.c   changes from the store's feed
 *   engine_nodes.c  this node among the others
 *   engine_clock.c  the wall clock: is it believed, and was it set back?
 *   engine_attendance.c  the last time at which some node could start runs
 *   engine_hindrance.c  why nothing can be started
 *   engine_lookout.c  nodes whose begun runs block others: are they silent? */
#ifndef PEAL_ENGINE_INTERNAL_H
#define PEAL_ENGINE_INTERNAL_H

#include "attendance.h"
#include "engine.h"
#include "groups/slots.h"
#include "lacking.h"
#include "stages/boots.h"
#include "stages/claimer.h"
#include "stages/planner.h"
#include "stages/recorder.h"
#include "stages/runner/runner.h"
#include "stages/sweeper.h"
#include "state/boot_marks.h"
#include "state/hindrances.h"
#include "state/inputs.h"
#include "state/marks.h"
#include "state/peers.h"
#include "state/placement.h"
#include "workflow/instances.h"

/* The state of the wall clock. An offset is wall time minus boot time; the boot clock is never
 * set. */
struct clock_watch {
    bool is_known;
    int64_t last_ms;     /* offset in the last turn */
    int64_t most_ms;     /* largest offset since all jobs were planned */
    int64_t believed_ms; /* offset that was last believed */
    int64_t before_ms;   /* offset before the last step that was believed; if has_before */
    bool has_before;
    enum clock_doubt doubt;
    struct boot_ms doubt_since;
    int64_t newest_ms;      /* newest wall time in the store at the start */
    struct boot_ms look_at; /* when to look for cursors that are ahead; INT64_MAX: none is known */
    struct outbox_sender sender; /* of the requests that move cursors back */
    size_t jobs_ahead;
    uint64_t steps; /* seen since the start */
    int64_t step_ms, stepped_ms;
};

/* The last time at which some node could start runs. */
struct attendance_watch {
    struct attendance mark; /* in the store; all zero: none, or unreadable */
    bool has_mark;
    int64_t revision;          /* of its document; 0: none */
    struct boot_ms told;       /* when it last changed; 0: before the load */
    bool is_able;              /* this node could start runs in its last turn ... */
    struct boot_ms able_since; /* ... since then */
    int64_t turned_ms;         /* wall time of its last turn */
    enum run_reason hindrance; /* in its last turn; NONE: none is known */
    struct strbuf others;      /* labels of the other nodes that can start runs, see hindrances.h */
    unsigned others_generation; /* of the peers, when they were looked at */
    bool led;                   /* this node led in its last turn */
    int64_t able_ms;            /* wall time of its last turn with is_able and planning */
    bool is_busy;               /* a run was claimed since the mark was written */
    int conflicts;              /* in a row */
    struct outbox_sender sender;
};

/* The nodes whose begun runs block others. */
struct lookout {
    struct boot_ms looked;  /* when they were last gone through */
    struct boot_ms look_at; /* when to do it again, if the feed tells nothing; INT64_MAX: not */
};

struct engine {
    struct engine_config config;
    struct engine_ports ports;
    struct made_id last_id; /* of the ports */
    struct catalog catalog;
    struct open_runs runs;
    struct peers peers;
    struct placement placement;
    unsigned placed;    /* generation of the peers that the placement was made from */
    unsigned weighed;   /* their `loads`, likewise */
    char labels[512];   /* configured; config.self has those of its controllers, too */
    unsigned enforces;  /* 1 << enum run_controller, as announced */
    bool is_relabelled; /* since nodes were placed and jobs planned */
    struct outbox outbox;
    struct marks marks;
    struct boot_marks boot_marks;
    struct inputs inputs;
    struct instances instances;
    struct slots slots;
    struct lacking lacking;
    struct planner planner;
    struct boots boots;
    struct claimer claimer;
    struct runner runner;
    struct recorder recorder;
    struct sweeper sweeper;
    struct now now; /* of this turn */
    struct clock_watch clock;
    struct attendance_watch attendance;
    struct lookout lookout;
    struct hindrances hindrances; /* when and why this node could not start runs */
    bool loaded, draining;
    bool has_asides;               /* the store had a value that could not be read */
    enum status health;            /* of the store, at the last look */
    struct outage away;            /* the store's last outage */
    bool knows_backup, has_backup; /* in this turn: was the store restored from a backup? */
    int64_t health_at_ms;          /* boot time of the next look at the store's health */

    bool announced;   /* at all */
    bool is_asked;    /* another node compares its clock: send a heartbeat soon */
    bool via_is_news; /* the others have not been told yet who passes the output on */
    bool joined;      /* the feed has shown this incarnation: the name is ours */
    struct boot_ms announced_at;
    struct boot_ms
        unheard_since; /* when the heartbeat was sent that has not come back through the feed yet */
    bool was_skewed;   /* and it was logged */
    struct boot_ms skewed_since; /* or no longer skewed */
};

/* ---- engine.c ---- */

size_t engine_room(const struct engine *engine); /* how many more runs this node may own */

/* ---- engine_feed.c ---- */

void engine_take_changes(struct engine *engine);

/* Plans the job again, as planner_put does; logs a failure. */
void engine_put_plan(struct engine *engine, struct catalog_job *job, int64_t not_before_ms);

/* ---- engine_nodes.c ---- */

void engine_take_node(struct engine *engine, const struct store_change *change);

/* Compares the clocks, sends a heartbeat if it is time to, and takes in the nodes and the
 * leader. */
void engine_meet_nodes(struct engine *engine);

/* This node's last announcement is out of date. */
bool engine_has_news(const struct engine *engine);

/* When engine_meet_nodes has something to do; NEVER_MS: not by itself. */
int64_t engine_meet_at(const struct engine *engine);

/* ---- engine_clock.c ---- */

/* First in a turn: notices a step of the clock, and begins or ends a doubt. */
void engine_follow_clock(struct engine *engine);

/* There is news of the other nodes' clocks: ends the doubt if they confirm this one. */
void engine_end_doubt(struct engine *engine);

/* Everything is loaded: doubts a clock that is behind the store's newest time. */
void engine_judge_start(struct engine *engine);

/* Looks soon for cursors ahead of the clock. */
void engine_look_ahead(struct engine *engine);
void engine_see_cursor(struct engine *engine, const struct catalog_job *job);

/* Moves those back, when it is time to look. */
void engine_move_back(struct engine *engine);
int64_t engine_clock_at(const struct engine *engine);

/* ---- engine_attendance.c ---- */

void engine_take_attendance(struct engine *engine, const struct store_doc *doc);

/* Once a turn. `is_able`: this node can start runs. Writes the attendance to the store when it is
 * time to. */
void engine_attend(struct engine *engine, bool is_able);

/* False: this node could not start runs for a while, and no mark shows that another one could. No
 * tick is planned before a new mark is written: it has the absence of all nodes, if this was one,
 * and other nodes will know that this one was there. */
bool engine_is_attended(const struct engine *engine);

/* When engine_attend has something to do; NEVER_MS: not by itself. */
int64_t engine_attend_at(const struct engine *engine);

/* ---- engine_hindrance.c ---- */

/* Once a turn: notes why this node could not start runs since its last turn, if it could not. */
void engine_note_hindrance(struct engine *engine);

/* ---- engine_lookout.c ---- */

/* Once a turn, after its begins: looks whether the owners of begun runs are silent, where a tick or
 * a run waits for them or soon will; and has this node show signs of life more often while it has
 * begun runs itself. */
void engine_look_out(struct engine *engine);

/* When engine_look_out has something to do; NEVER_MS: not by itself. */
int64_t engine_look_out_at(const struct engine *engine);

#endif
