/* Open runs: those of this node from the claim until the history has them; and, from the store's
 * feed, those that wait for a node, and those of other nodes. */
#ifndef PEAL_OPEN_RUN_H
#define PEAL_OPEN_RUN_H

#include <sys/queue.h>

#include "clock.h"
#include "job.h"
#include "run.h"
#include "state/catalog.h"
#include "table.h"
#include "workflow/members.h"

/* WAITING -> TAKING -+
 *                    v
 *        (claim) -> CLAIMED -> BEGINNING -> BEGUN -> STARTING (-> HELD) -> STARTED -> ENDED
 *                      |           \-> REFUSED                                        ^
 *                      +---- killed or too late before the start ---------------------+
 *        ENDED, REFUSED -> (FINISHING) -> FINISHED -> RECORDING -> RECORDED -> FORGETTING
 *
 *
 *        CLAIMED_ELSEWHERE -> TAKING, when its begin does not come in time
 *                 \-> BEGUN_ELSEWHERE -> ENDED_ELSEWHERE -> FINISHED when its node does not come
 *                                        back to record it. If it is lost, it goes back there once
 *                                        it is recorded, and is forgotten only when its node has
 *                                        had time enough to come back and amend it
 *
 * "Elsewhere" is every incarnation but this one: other nodes, another agent under this node's name,
 * and earlier agents of this home.
 *
 * For runs that this incarnation does not own, the feed decides: a run that is not begun here moves
 * elsewhere when another incarnation has it, even if it has ended here, killed or too late, before
 * its begin.
 * A run that the store ends by itself goes from any phase before BEGUN to FINISHED; by way of
 * UNFOLLOWED and FOLLOWING, if its tick is over with it (run_is_unfollowed). Where the
 * answer to a take or a begin was lost, the feed moves WAITING to CLAIMED and CLAIMED to BEGUN: the
 * nonce was made by this incarnation, so nobody else can have sent that request.
 * ORPHAN is a run that an earlier agent of this home had begun, until the executor has said whether
 * it knows the run.
 *
 * Of a workflow: WAITING -> GROUP, an instance or a fan-out, which the store ends: then as any run
 * that the store ends. RECORDED -> KEPT -> RECORDED: a step stays in the store until its instance
 * has ended, and the instance until its steps are gone. */
enum open_phase {
    OPEN_BEGUN_ELSEWHERE,   /* another incarnation's: only that may start it */
    OPEN_CLAIMED_ELSEWHERE, /* another incarnation's: to be taken over unless it begins in time */
    OPEN_WAITING,           /* QUEUED or DUE in the store, without an owner */
    OPEN_GROUP,             /* an instance or a fan-out, RUNNING in the store without an owner */
    OPEN_TAKING,
    OPEN_CLAIMED,
    OPEN_BEGINNING,
    OPEN_BEGUN,    /* waits for its start time */
    OPEN_STARTING, /* sent to the executor */
    OPEN_HELD,     /* the executor has made all but its start, whose time has not come */
    OPEN_STARTED,  /* has a process */
    OPEN_ORPHAN,
    OPEN_REFUSED, /* the store ended it; the feed will show its record */
    OPEN_ENDED,   /* its end is to be written */
    OPEN_FINISHING,
    OPEN_UNFOLLOWED, /* the store ended it, as the last part of its tick: what follows is next */
    OPEN_FOLLOWING,
    OPEN_FINISHED, /* its end is in the store, the history is next */
    OPEN_RECORDING,
    OPEN_RECORDED, /* the history has it */
    OPEN_KEPT,     /* likewise, but its instance needs it in the store, or its steps do */
    OPEN_FORGETTING,
    OPEN_ENDED_ELSEWHERE, /* another node records it */
    OPEN_PHASES,
};

/* Properties of phases; the table in open_run.c has them for each. */
enum phase_class {
    PHASE_OPEN = 1 << 0,      /* counts as an open run of its job; else its end is in the store */
    PHASE_OWNED = 1 << 1,     /* takes room on this node, or may soon */
    PHASE_FED = 1 << 2,       /* not this incarnation's: the feed decides */
    PHASE_UNBEGUN = 1 << 3,   /* claimed here, and not begun as far as known */
    PHASE_ELSEWHERE = 1 << 4, /* another incarnation's */
    PHASE_TAKABLE = 1 << 5,   /* this node may take it, when it is its turn */
    PHASE_UNSTARTED = 1 << 6, /* a kill ends it at once: it can't be starting */
    PHASE_EXECUTED = 1 << 7,  /* the executor may have events of it */
    PHASE_PROCESS = 1 << 8,   /* has a process, or is about to: the executor kills it */
    PHASE_RESTS = 1 << 9,     /* no request of it to store or history is under way */
    PHASE_RECORDED = 1 << 10, /* the history has it; the store forgets it when it can */
};

/* Is the phase in one of the classes? */
bool open_phase_is(enum open_phase phase, unsigned classes);

/* What becomes of a step that is DUE; see workflow/verdict.h. */
enum step_verdict {
    VERDICT_NONE, /* not known yet, or not a step */
    VERDICT_RUN,  /* a node runs it */
    VERDICT_OPEN, /* a fan-out: its first items are made */
    VERDICT_END,  /* it ends without a start */
};

struct open_run {
    struct run run;
    enum open_phase phase;
    TAILQ_ENTRY(open_run) in_phase;
    struct job *job;            /* BEGUN: the definition to start; NULL: not known yet */
    int64_t start_at_ms;        /* tick and jitter */
    struct boot_ms begin_sent;  /* the start window counts from here */
    struct boot_ms first_begin; /* of the begins that may have been done */
    struct boot_ms start_at; /* BEGUN: not before this; a step of the wall clock does not move it */
    uint32_t heap_place;     /* in the runner's heap, by when to ask the executor for it */
    unsigned begins; /* how many sent begins may have been done, perhaps also by an earlier agent of
                        this node */
    enum run_reason kill; /* NONE: not to be killed */
    bool told;            /* the executor has reported it since it was last away */
    bool is_looked_at;    /* ENDED: by the recorder, for what waits for its end */
    bool is_begun;        /* by this node, so that no other can own it any more */
    bool is_swept;        /* the sweeper's end of it is on its way to the store */
    bool is_recorded;     /* ENDED_ELSEWHERE: this node has recorded it as lost */
    bool is_forgotten;    /* no longer in the store */
    struct run *news;     /* RECORDING: the end that its own node has written meanwhile; or NULL */
    bool is_to_tell;      /* this node has found it lost: notify at once, not ... */
    bool is_told;         /* ... when it is recorded */
    bool has_unread;      /* the last read of its output failed */
    unsigned read_tries;  /* failed reads of its output */
    bool was_bad;         /* its job's end before this one was a failure */
    bool is_overdue;      /* taken over only to record that no node was eligible, or began it
                             in time */
    uint64_t take_nonce;  /* TAKING: of the take that is under way */
    struct boot_ms seen;  /* WAITING, CLAIMED_ELSEWHERE: since when it can be taken;
                             ENDED_ELSEWHERE: since when it is known */
    int64_t waits_ms;     /* a further attempt that is DUE: so long from `seen` on, whatever happens
                             to the wall clock */
    int rank;             /* this node's rank for it, in the placement of generation `ranked` */
    unsigned ranked;
    TAILQ_ENTRY(open_run) in_groups; /* with groups, while it is open: */
    bool is_grouped;
    bool is_up;              /* WAITING: it is its turn for a slot of its groups ... */
    struct boot_ms up_since; /* ... since then */
    char
        lacks_group[GROUP_NAME_MAX + 1]; /* is_overdue: which of its groups had no slot; "": none */
    struct member member;                /* of a workflow */
    enum step_verdict verdict; /* a step that is DUE: what is to become of it, once that is known */
    char *output;              /* of a step that has ended: what it has written, for its finish */
};

TAILQ_HEAD(open_list, open_run);

struct open_runs {
    struct catalog *catalog; /* counts the open runs of each job: PHASE_OPEN, without steps */
    struct table by_id;
    struct members members;   /* runs of workflows */
    struct open_list grouped; /* PHASE_OPEN, with groups, in the order of run_goes_before */
    bool is_regrouped;        /* these have changed since slots_look */
    struct open_list phases[OPEN_PHASES];
    size_t counts[OPEN_PHASES];
};

enum {
    OPEN_RUN_ADOPT_MS =
        10 * 60 * 1000, /* when a node is gone for this long, the leader records its ended runs */
    OPEN_RUN_KEEP_MS =
        7 * 24 * 3600 * 1000, /* how long a node may come back and amend its lost runs */
};

/* For how much longer a lost run stays in the store for its dead node; 0: it had no node. If its
 * end lies in the future, one of two clocks was wrong, perhaps this one: then the time counts from
 * when it was seen. */
int64_t open_run_kept_for_ms(const struct open_run *open, struct now now);

/* The run is another node's and recorded as lost: kept only for that node to amend. */
bool open_run_is_kept(const struct open_run *open, struct wall_ms now);

/* The run was ended here before its begin: if another node has taken it over meanwhile, that node's
 * run counts. */
bool open_run_ended_unbegun(const struct open_run *open);

/* The only node that may take the run: the one that it is pinned to, or whose boot made it. NULL:
 * any that is eligible. */
const char *open_run_only_node(const struct run *run);

void open_runs_init(struct open_runs *runs, struct catalog *catalog);
void open_runs_release(struct open_runs *runs);

/* Adds a copy of *run in this phase; NULL: out of memory. */
struct open_run *open_runs_add(struct open_runs *runs, const struct run *run,
                               enum open_phase phase);
/* Counts the open runs of a job that is new in the catalog, because it could not be decoded
 * before. */
void open_runs_count_job(const struct open_runs *runs, struct catalog_job *job);
void open_runs_remove(struct open_runs *runs, struct open_run *open);
struct open_run *open_runs_find(const struct open_runs *runs, const struct id *id);
struct open_run *open_runs_first(const struct open_runs *runs, enum open_phase phase);
size_t open_runs_count(const struct open_runs *runs,
                       unsigned classes); /* runs in phases of any of the classes */

/* A take with this nonce is being sent. */
void open_runs_take(struct open_runs *runs, struct open_run *open, uint64_t nonce);
/* The run that waits for the answer to this take; NULL: the feed was faster, and another take of
 * the run may be under way. */
struct open_run *open_runs_find_taking(const struct open_runs *runs, const struct id *id,
                                       uint64_t nonce);

/* The instance of a step; NULL: it is gone, or the run is none. */
struct open_run *open_runs_instance(const struct open_runs *runs, const struct run *run);

/* The reason for which the run must not go on because its whole instance is to be killed; NONE. The
 * steps of `finally` go on. */
enum run_reason open_runs_order(const struct open_runs *runs, const struct run *run);

/* The phase of a run that the history has: a run of a workflow may have to stay. */
enum open_phase open_runs_recorded(const struct open_runs *runs, const struct open_run *open);

/* The phase of a run that the store shows as ended, and that this node is to record. */
enum open_phase open_phase_of_end(const struct run *run);

/* The run is another one in the store, in the same phase: its place among those with groups. */
void open_runs_regroup(struct open_runs *runs, struct open_run *open);

/* The only writer of ->phase. */
void open_runs_move(struct open_runs *runs, struct open_run *open, enum open_phase next);

/* The claim was not begun in time, because the store or its node was away. Counts from the claim
 * for a run that waited in its job's queue. */
bool open_run_is_too_late(const struct open_run *open, int64_t on_time_ms, struct wall_ms now);

/* Its tick or its claim is ahead of the clock, which was set back since: waiting for that time
 * could take years. Then times count from when the run was seen. */
bool open_run_is_set_back(const struct open_run *open, struct wall_ms now);

/* A claimed run of this node waits for its begin, though its start time has come. */
bool open_runs_are_behind(const struct open_runs *runs, struct wall_ms now);

/* When open_run_is_too_late becomes true; NEVER_MS: never. */
int64_t open_run_too_late_at(const struct open_run *open, int64_t on_time_ms);

/* The same for a part that is DUE, and whose node, or any that may run it, has not taken it since
 * it was made, or since its turn has come. */
int64_t open_run_untaken_at(const struct open_run *open, int64_t on_time_ms, struct now now);

/* Sets the end of a run that never had a process, or whose process is gone, and moves it on. */
void open_runs_end(struct open_runs *runs, struct open_run *open, enum run_state state,
                   enum run_reason reason, const char *detail, struct wall_ms now);

#endif
