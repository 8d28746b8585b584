/* A simulated cluster: up to seven agents, each the product's engine, on machines that are played
 * (stage.h), over a world that is played (world.h); with people who change things, faults, and an
 * oracle that reads what is in the store, what was started and what is on record, and never asks an
 * engine.
 *
 *   cluster_node.c      an agent's life on its machine
 *   cluster_children.c  its executor, and the processes that outlive it
 *   cluster_history.c   the history that all share
 *   cluster_people.c    jobs, changes, triggers, kills, drains
 *   cluster_faults.c    what goes wrong, and comes right
 *   cluster_oracle.c    what must hold at every change of the store, and at every start
 *   cluster_boot.c      and of boots
 *   cluster_absence.c   and after a time in which nobody was there
 *   cluster_follow.c    and what must follow an end
 *   cluster_spread.c    and of ticks with several runs
 *   cluster_rolling.c   which may go one after the other
 *   cluster_workflow.c  and of workflows, their instances and steps
 *   cluster_program.c   and of functions, and of the programs that have them
 *   cluster_rewind.c    and what becomes of ticks when clocks are set back
 *   cluster_restore.c   and how it reads a store that was restored from a backup
 *   cluster_check.c     what must hold when all is well again, and at the end
 *   life.c              a life from a seed
 *   life_shrink.c       the shortest list of what it takes to fail
 *   sim_main.c          many lives */
#ifndef PEAL_SIM_CLUSTER_H
#define PEAL_SIM_CLUSTER_H

#include "attendance.h"
#include "engine.h"
#include "group/group.h"
#include "ledger.h"
#include "stage.h"

enum {
    SECOND = 1000,
    MINUTE = 60 * SECOND,
    HOUR = 60 * MINUTE,
    NODES_MAX = 7,
    JOBS_MAX = 16,
    LEASE_MS = 5 * SECOND,
    CLOCK_OFF_MS = 500, /* two that are off by so much may be a second apart */
};

struct cluster;

/* ---- what is on record ---- */

struct record {
    struct id id;
    bool is_entry;
    uint32_t homes; /* a bit for each machine whose agent has put it on record */
    struct run run;
    struct ledger_entry entry;
};

/* ---- processes ---- */

struct child {
    struct id run_id;
    struct node *node;
    struct task task; /* its start, then its end */
    size_t job;
    int64_t tick_ms;
    int attempt;
    int version; /* of the definition that it was started from */
    int64_t fence;
    struct boot_ms deadline;
    int64_t duration_ms;
    int64_t started_ms, finished_ms; /* wall */
    int64_t ended_at_ms;             /* the stage's time */
    int exit_code;
    struct boot_ms at;
    bool is_asked;   /* for, but not made yet */
    bool is_to_name; /* it waits for its time, and a new agent has to hear of it */
    bool expired;    /* came too late for its window: no process at all */
    bool ended, killed, lost;
    bool died; /* with the process of its program: its end may not have come to the store */
    bool told_start, told_end, acknowledged;
    TAILQ_ENTRY(child) link; /* of its node, while it is not acknowledged */
};

TAILQ_HEAD(children, child);

/* ---- nodes ---- */

enum node_trap { TRAP_NONE, TRAP_CRASH, TRAP_FREEZE, TRAP_FREEZE_UNTIL_TAKEN };
enum node_state { NODE_DOWN, NODE_STARTING, NODE_UP, NODE_STOPPING };

struct pending_append;
TAILQ_HEAD(pending_appends, pending_append);

struct node {
    struct loop machine; /* first */
    struct cluster *cluster;
    char name[24]; /* for people; its id, config.node, may be another's, too */
    enum node_state state;
    bool is_gone; /* and does not come back */
    bool is_twin; /* a replacement under the id of the first node: there only now and then */
    int64_t down_since_ms;
    struct task start;
    struct store *store;
    struct engine *engine;
    struct engine_config config;
    struct loop_timer *turn;
    int64_t turned_ms; /* the stage's time, and how often at this time */
    int turns_at_once;
    bool was_idle;  /* it did nothing in its last turn, and wanted the next at once */
    uint64_t deeds; /* what it was told and has asked for, as far as the world counts it */
    int boots;
    int noticed; /* the last of them of which the store knows */
    struct task crash, freeze, thaw;
    enum node_trap trap;    /* what happens to it ... */
    enum run_state trap_at; /* ... as soon as a run of its own is in this state, in the store */
    bool thaws_when_taken;  /* it stands still until one of its runs is taken over */

    struct executor executor;
    struct children children;
    bool executor_away, tell_gone, tell_ready;
    bool is_executor_slow;

    struct history history;
    struct pending_appends appends;
    bool history_down;
    int64_t history_latency_ms;
};

/* ---- jobs and runs, as the store has them ---- */

/* What the store was told of ticks, one after the other. */
struct word {
    struct id id;
    int64_t from_ms, to_ms;
    bool is_run, is_note, is_follower;
    bool is_no_tick; /* asked for, or of a boot */
};

struct known_job {
    struct id uid;
    char name[32];          /* the one that it was made with; it may have been renamed */
    struct job *definition; /* as people want it; NULL: purged */
    int versions;
    bool is_busy;           /* a change is under way */
    bool is_renamed;        /* somebody has asked for a new name, of it or in its `after` */
    bool is_purged;         /* or about to be */
    int64_t ledger_from_ms; /* a backup was restored: of what was before, nobody knows all */

    struct ledger_epoch *epochs;
    size_t epoch_count;
    enum overlap_policy overlap;
    int64_t revision; /* 0: there is none */
    bool paused, deleted;
    int64_t cursor_ms, last_fence, last_end_ms;
    struct rewinds rewinds;
    struct word *words;
    size_t word_count;
    int64_t made_ms, defined_ms; /* the stage's time of its first and its last definition */
    size_t open_runs;
};

struct known_run {
    struct id id;
    struct run run; /* as it was written last */
    size_t job;
    bool is_stored;     /* in the store now */
    int64_t since_ms;   /* in its state */
    int64_t begun_ms;   /* the stage's time; 0: not yet */
    size_t begun_epoch; /* of its job, then */
    bool was_lost;
    enum run_state ended_as; /* when it first ended; QUEUED: it did not */
    int at_once;             /* of a part of a rolling tick, when it was made; else 0 */
    bool has_turn;           /* of a part: it does not wait for others, or no longer */
    uint32_t must_have;      /* a bit for each machine whose node must have a part of its tick */
    bool is_undone;          /* a backup was restored since it was made */
    uint32_t must_follow, has_followed; /* a bit for each job: a run of it comes after this one */
    struct child *child;
    bool is_void; /* begun in a restored etcd before anybody had noticed: see check_begin */
    const struct known_run *before; /* of the same attempt: see new_run */
    struct job *plan;               /* of an instance: its definition when it began; else NULL */
    bool is_group;                  /* it was RUNNING in the store: it has no process */
    bool must_retry;                /* a step that has ended, and whose retries say so */
};

struct known_peer_key {
    bool is_there;
    int64_t since_ms;
};

enum { ABSENCE_CLAIMS = 16 };

/* When nobody was there. */
struct known_absence {
    bool has_turned;
    int64_t turned_ms;                  /* the stage's time of the last turn of any agent */
    int64_t from_ms, to_ms;             /* wall: the last time that nobody had one for long */
    struct attendance mark;             /* as the store has it */
    int64_t claimed_ms[ABSENCE_CLAIMS]; /* wall: when ticks were claimed, the last of them */
    size_t claims;
};

enum { MAINTENANCE_SEEN = 64 };

/* Since when the nodes have known of it, by the stage's time. */
struct seen_maintenance {
    char id[ID_TEXT + 1];
    int64_t since_ms[NODES_MAX];
};

struct fault;
TAILQ_HEAD(fault_list, fault);

struct world;

struct cluster {
    struct stage stage; /* first */
    struct world *world;
    struct zone_db *zones;
    struct node nodes[NODES_MAX];
    int node_count;
    struct task poll;   /* a time server keeps clocks right */
    int64_t wall_ms;    /* what right clocks showed when it began */
    int64_t latency_ms; /* of the network, at most and one way, when it is well */
    bool is_quiet;      /* its nodes speak seldom while nothing is new */
    bool has_twin;      /* its last node has the id of its first, on another machine */
    bool
        refuses_strangers; /* its store compares who asks with who has joined, where it is played */
    bool has_calendar;     /* the one of ledger.h is in the store: jobs may name it */
    bool wants_groups;     /* some of its jobs have groups ... */
    unsigned groups_there; /* ... once these are in the store: a bit for each of sim_groups */
    int64_t space_since_ms[NODES_MAX]; /* that a node has known that of the namespace; 0: it does
                                          not */
    bool has_boots;                    /* many of its jobs run when a node boots */
    bool may_lose;                     /* a replica that lacks commits may be promoted */
    bool has_workflows;                /* some of its jobs are workflows */
    bool has_places;                   /* some of its jobs choose the node that goes first */
    bool is_dense;     /* its jobs are due every few seconds, rather than every few minutes */
    int picky;         /* percent of its jobs that only some nodes may run */
    int first_program; /* the nodes from this one on, but for a twin, are processes of a program
                        * that embeds the library; node_count: none is */
    int64_t book_ms;   /* so often a process may register a function, or remove it; 0: never */
    uint64_t book_seed;
    uint64_t names; /* for ids that people make */

    struct known_job jobs[JOBS_MAX];
    size_t job_count;
    int job_names, new_names;
    struct table runs;                      /* of known_run, by id */
    struct table attempts;                  /* of known_run, by job, tick, attempt and part */
    struct table entries;                   /* of record (entries), by id: in the store now */
    struct table records;                   /* of record, by id */
    struct known_peer_key peers[NODES_MAX]; /* of each machine */
    struct table boots;                     /* of known_boot, by the id of its end */
    struct known_absence absence;
    struct seen_maintenance maintenance[MAINTENANCE_SEEN];
    size_t maintenance_count;
    struct child **children;
    size_t child_count, child_room;
    int64_t restored_ms; /* when a backup was; 0: never */
    bool is_restoring;   /* what is seen is what it was then */
    bool is_restored;    /* and not gone on with */
    int64_t revoked_ms;  /* when a lease was last taken away before its time */
    bool is_over;        /* nobody adds anything any more */

    struct fault_list faults_now; /* that will come right again */
    int64_t undrained_ms;         /* since when no node is drained; 0: one may be */
    int64_t clock_off_ms;         /* when one was last set, or found to be wrong; 0: never */
    int64_t healed_ms; /* since when all is well: the last agent was killed, or a fault healed */
    size_t starts, faults, losses, amended, takeovers, requests, turns, rewinds, suspicions,
        retries, spreads, part_turns, part_stops, instances, items, skips, grouped;
};

/* ---- cluster_node.c ---- */

void node_init(struct node *node, struct cluster *cluster, int number);
/* The machine that a life of an agent is on. */
struct node *node_of_home(struct cluster *cluster, const struct incarnation *owner);
void node_release(struct node *node);
void node_start_at(struct node *node, int64_t at_ms);
/* kill -9. What was on its way to the store may still arrive. */
void node_kill(struct node *node);
/* The agent is told to stop, ends what it is about, and leaves. */
void node_stop(struct node *node);
void node_wake(struct node *node);
void node_trigger(struct node *node, enum run_state state); /* its trap, if it is set for that */
void node_is_overtaken(struct node *node);                  /* a run of it is another's now */
bool node_is_up(const struct node *node);

/* ---- cluster_children.c ---- */

void children_init(struct node *node);
void children_attach(struct node *node); /* all is told again, then READY */
void children_lose(struct node *node);   /* the machine is gone */
void children_die(struct node *node);    /* the process is gone in which they were functions */
void executor_set_away(struct node *node, bool is_away);
/* It runs, or has ended less than so long ago. */
bool child_is_alive(const struct child *child, int64_t within_ms);

/* ---- cluster_history.c ---- */

void history_init(struct node *node);
void history_abandon(struct node *node); /* its agent is killed */
struct record *find_record(const struct cluster *cluster, const struct id *id);

/* ---- cluster_people.c ---- */

void people_add_job(struct cluster *cluster);
void people_act(struct cluster *cluster, uint64_t random);
void people_describe(uint64_t random, struct strbuf *ret); /* what they do then, if they can */
bool people_know_as(const struct known_job *job, const char *name); /* now, or before */
void people_delete_all(struct cluster *cluster);
void people_undrain_all(struct cluster *cluster);

/* ---- cluster_faults.c ---- */

enum fault_kind {
    FAULT_KILL,
    FAULT_KILL_SOON,
    FAULT_KILL_AT,
    FAULT_PAUSE_AT,
    FAULT_OVERTAKEN,
    FAULT_STOP,
    FAULT_PAUSE,
    FAULT_REBOOT,
    FAULT_POWER,
    FAULT_CLOCK,
    FAULT_CLOCKS,
    FAULT_BLIP,
    FAULT_EXECUTOR_AWAY,
    FAULT_EXECUTOR_SLOW,
    FAULT_HISTORY,
    FAULT_TWIN,
    FAULT_CUT_OFF, /* from here on the world's */
    FAULT_CUT_ONE,
    FAULT_CUT_COMPACT,
    FAULT_RESET,
    FAULT_LOST_ANSWERS,
    FAULT_LOST_BEGIN,
    FAULT_SLOW,
    FAULT_MEMBER_DOWN,
    FAULT_NO_LEADER,
    FAULT_NO_QUORUM,
    FAULT_LAG,
    FAULT_COMPACT,
    FAULT_LEASE,
    FAULT_TOPPLE,
    FAULT_FULL,
    FAULT_STUCK_WATCH,
    FAULT_TORN,
    FAULT_RESTORE, /* where no node forgets what it has seen */
    FAULT_JUMP,    /* where clocks do all that clocks can do */
    FAULT_JUMPS,
    FAULT_JUMPS_BUT_ONE,
    FAULT_BOOT_CLOCK,
    FAULT_KINDS,
};

/* Which of them happen in a life. */
enum fault_mix {
    MIX_ANY,
    MIX_RACES,
    MIX_CLOCKS,
    MIX_STORE,
    MIX_PEOPLE,
    MIX_LEADERS,
    MIX_PIECES,
    MIX_RESTORES,
    MIX_TWINS,
    MIX_JUMPS,
    MIX_BOOTS,
    MIX_WORKFLOWS,
    MIX_GROUPS,
    MIX_COUNT
};

/* One that will come right again. */
struct fault {
    struct task task;
    struct cluster *cluster;
    enum fault_kind kind;
    int node, member;
    TAILQ_ENTRY(fault) link;
};

void faults_init(struct cluster *cluster);
void faults_release(struct cluster *cluster);
/* Something goes wrong, for a while. */
void fault_happen(struct cluster *cluster, enum fault_mix mix, uint64_t random);
const char *fault_mix_name(enum fault_mix mix);
/* In words: what, to which node or member, for how long. */
void fault_describe(const struct cluster *cluster, enum fault_mix mix, uint64_t random,
                    struct strbuf *ret);
/* Everything is as it should be: but for those who are gone, and what is under way. */
void fault_heal_all(struct cluster *cluster);

/* ---- cluster_oracle.c ---- */

void oracle_init(struct cluster *cluster);
void oracle_release(struct cluster *cluster);

/* What the world has done to the store, right after it was done. Within a transaction cursors come
 * before jobs, and both before runs. NULL: it is removed. */
void oracle_see_cursor(struct cluster *cluster, const struct id *uid, int64_t cursor_ms,
                       const struct rewinds *rewinds, int64_t last_end_ms);
void oracle_see_job(struct cluster *cluster, const struct id *uid, const char *json,
                    int64_t revision);
void oracle_see_run(struct cluster *cluster, const struct id *id, const struct run *run);
void oracle_see_entry(struct cluster *cluster, const struct id *id,
                      const struct ledger_entry *entry);
/* Who has joined under the name; NULL: nobody. */
void oracle_see_node(struct cluster *cluster, const char *name, const struct peer *peer);

/* Another node takes the one on this machine for gone. */
void oracle_see_suspected(struct cluster *cluster, int machine);

/* A backup is restored: everything that is there is seen again in between. */
void oracle_begin_restore(struct cluster *cluster);
void oracle_end_restore(struct cluster *cluster);
void oracle_see_lift(struct cluster *cluster);

void oracle_see_start(struct cluster *cluster, struct child *child);

/* ---- cluster_maintenance.c ---- */

/* Notes which nodes know of which maintenance. */
void maintenance_look(struct cluster *cluster);
/* For how long after a tick its end may be missing since it is in maintenance. */
int64_t maintenance_gathers_ms(const struct cluster *cluster, const char *job, int64_t tick_ms);
void maintenance_check_claim(struct cluster *cluster, const struct node *node,
                             const struct run *run);
struct known_job *find_job(struct cluster *cluster, const struct id *uid);
struct known_run *find_run(const struct cluster *cluster, const struct id *id);

struct ledger_epoch *oracle_add_epoch(struct known_job *job);

/* ---- cluster_spread.c ---- */

void spread_see_new(struct cluster *cluster, const struct known_job *job, struct known_run *known);
/* The run has ended, or was amended; `was` is what it was before. */
void spread_see_end(struct cluster *cluster, const struct known_run *known, const struct run *was);
void spread_see_start(struct cluster *cluster, const struct known_run *known,
                      const struct child *child);
void check_spread(struct cluster *cluster); /* at the end */
/* The machines whose nodes may run the job, and are surely seen by all. */
uint32_t who_is_there(const struct cluster *cluster, const struct known_job *job);
/* That attempt at a part of the run's tick; NULL: there is none. */
const struct known_run *spread_find_part(const struct cluster *cluster, const struct run *run,
                                         int part, int attempt);
/* How a part of the run's tick ended, with all its attempts, when it did; QUEUED: it is open. */
enum run_state spread_end_of(const struct cluster *cluster, const struct run *run, int part);

/* ---- cluster_rolling.c ---- */

/* The run was written; `was` is what it was before. */
/* ---- cluster_group.c ---- */

enum { SIM_GROUPS = 4 };
extern const struct sim_group {
    const char *name, *json;
    struct group_limits limits;
} sim_groups[SIM_GROUPS];

/* Jobs name them only then: whoever hears of the jobs has heard of them. */
bool groups_are_there(const struct cluster *cluster);
void groups_see(struct cluster *cluster, const struct known_run *known, const struct run *was);
/* Is it right that this run, which is DUE, or claimed by a node that is dead, waits? */
bool groups_may_wait(const struct cluster *cluster, const struct run *run);
/* Which nodes know of the limit of a namespace; called whenever a run is made. */
void groups_look(struct cluster *cluster);
void groups_check_claim(struct cluster *cluster, const struct node *node, const struct run *run);

/* ---- cluster_rolling.c ---- */

void rolling_see(struct cluster *cluster, const struct known_job *job, struct known_run *known,
                 const struct run *was);
/* It waits for its turn, and no other part is under way. */
bool rolling_is_stuck(const struct cluster *cluster, const struct known_run *known);
void check_rolling(struct cluster *cluster, const struct known_run *known); /* at the end */

/* ---- cluster_program.c ---- */

/* Before its nodes are made. */
void programs_init(struct cluster *cluster, uint64_t seed);
void program_init(struct node *node, int number);
struct function_book program_book(struct node *node);
/* Makes some definitions functions of the program: all, where there are no agents. */
void program_define(const struct cluster *cluster, struct job *definition, uint64_t *random);
int version_of(const struct job *definition);
/* Its kind of job, whatever its labels are; and a function that it has for so long that all know.
 */
bool program_is_for(const struct job *definition, const struct node *node);
/* Only some nodes may run it. */
bool job_is_picky(const struct job *definition);
void program_see_entry(struct cluster *cluster, const struct known_job *job,
                       const struct ledger_entry *entry);
void program_see_claim(struct cluster *cluster, const struct known_job *job, const struct run *run);
void program_see_start(struct cluster *cluster, const struct job *definition,
                       const struct node *node);

/* ---- cluster_workflow.c ---- */

/* What the run of a step is by; NULL: it is none, or the instance is not known. */
const struct job *workflow_step_job(const struct cluster *cluster, const struct run *run);
/* The version of the plan that the step is of; -1: it is none. */
int workflow_version(const struct cluster *cluster, const struct run *run);
/* The run was written; `was` is what it was before. */
void workflow_see(struct cluster *cluster, const struct known_job *job, struct known_run *known,
                  const struct run *was);
void workflow_see_gone(struct cluster *cluster, const struct known_run *known);
void workflow_see_start(struct cluster *cluster, const struct known_run *known,
                        const struct job *job);
/* It is open, and nothing that it waits for is under way. */
bool workflow_is_stuck(const struct cluster *cluster, const struct known_run *known);
/* What the process of this run writes for later steps. */
void workflow_write_values(const struct id *run_id, struct strbuf *ret);

/* ---- cluster_boot.c ---- */

void boots_oracle_init(struct cluster *cluster);
/* The document of a node's boots and a job, NULL: it is removed; and that a node knows its boot. */
void oracle_see_boot(struct cluster *cluster, const char *name, const char *json);
void oracle_see_notice(struct cluster *cluster, const char *name, const char *boot_id);
void boots_begin_restore(struct cluster *cluster);
void boots_see_run(struct cluster *cluster, const struct run *run); /* a new one */
void boots_see_entry(struct cluster *cluster, const struct ledger_entry *entry);
void boots_see_start(struct cluster *cluster, const struct child *child);
bool is_end_of_boot(const struct cluster *cluster, const struct id *id); /* of a run or an entry */
void check_boots_caught_up(struct cluster *cluster, bool is_limited);
void check_boots_end(struct cluster *cluster);

/* ---- cluster_absence.c ---- */

void absence_see_turn(struct cluster *cluster, int64_t wall_ms); /* of any agent, by its clock */
void absence_see_run(struct cluster *cluster, const struct known_job *job, const struct run *run);
void absence_see_entry(struct cluster *cluster, const struct known_job *job,
                       const struct ledger_entry *entry);
/* The document that says until when somebody was there; NULL: it is removed. */
void oracle_see_attendance(struct cluster *cluster, const char *json);

/* ---- cluster_rewind.c ---- */

void rewind_see_cursor(struct cluster *cluster, struct known_job *job, int64_t cursor_ms,
                       const struct rewinds *rewinds);
void rewind_see_run(struct known_job *job, const struct run *run);
void rewind_see_entry(struct cluster *cluster, struct known_job *job,
                      const struct ledger_entry *entry);
/* The first tick after that which is to start, as it is now; NEVER_MS: none. */
int64_t rewind_next_tick(const struct known_job *job, const struct ledger_epoch *epoch,
                         int64_t after_ms, int64_t now_ms);
/* In place of ledger_check, of a job whose cursor was moved back. */
void rewind_check_ledger(struct cluster *cluster, const struct known_job *job);

/* ---- cluster_attempts.c ---- */

void attempts_see_new(struct cluster *cluster, const struct known_job *job, const struct run *run);
void attempts_see_end(struct cluster *cluster, const struct known_job *job, const struct run *run);
/* Do the retries of the definition want another attempt after this end? */
bool attempts_are_wanted(const struct job *definition, const struct run *run);
void attempts_see_start(struct cluster *cluster, const struct known_job *job,
                        const struct known_run *known);

/* ---- cluster_follow.c ---- */

_Static_assert(JOBS_MAX <= 32, "bits in known_run");
void follow_see_new(struct cluster *cluster, const struct known_run *known);
void follow_see_end(struct cluster *cluster, struct known_run *known, const struct run *was);
void follow_see_edit(struct cluster *cluster, const struct known_job *job);
void check_followed(struct cluster *cluster);

/* ---- cluster_check.c ---- */

/* All is well since a while: each due tick has been dealt with, and no run is stuck. */
void check_caught_up(struct cluster *cluster);
/* The node was killed so long ago, all else is well: no tick is due for longer than that because of
 * a run that it had begun. */
void check_blocked(struct cluster *cluster, const struct node *dead, int64_t ms);
/* The node was killed, all else is well, and its lease and two seconds have passed. */
void check_losses(struct cluster *cluster, const struct node *dead);
/* It was lost with a machine which is gone: that may come back, for all that peal knows. */
bool may_stay_lost(const struct cluster *cluster, const struct id *run_id);
/* All jobs are deleted: has everything come to its end? */
bool is_all_over(struct cluster *cluster);
/* It has; and it is on record as what it was. */
void check_end(struct cluster *cluster);

#endif
