/* Runs under way on this node, from the claim to the moment when the history has them; and, as the
 * store tells, those that wait for somebody, and those of other nodes. */
#ifndef PEAL_OPEN_RUN_H
#define PEAL_OPEN_RUN_H

#include <sys/queue.h>

#include "clock.h"
#include "job.h"
#include "run.h"
#include "state/catalog.h"
#include "table.h"

/* WAITING -> TAKING -+
 *                    v
 *        (claim) -> CLAIMED -> BEGINNING -> BEGUN -> STARTING -> STARTED -> ENDED
 *                      |           \-> REFUSED                              ^
 *                      +---- killed or too late before the start -----------+
 *        ENDED, REFUSED -> (FINISHING) -> FINISHED -> RECORDING -> RECORDED -> FORGETTING
 *
 *
 *        CLAIMED_ELSEWHERE -> TAKING, when its begin does not come in time
 *                 \-> BEGUN_ELSEWHERE -> ENDED_ELSEWHERE -> FINISHED when its node does not come
 *                                        back to record it. If it is lost, it goes back there once
 *                                        it is recorded, and is forgotten only when its node has
 *                                        had time enough to come back and amend it
 *
 * "Elsewhere" is every life but this one: other nodes, another agent under this node's name, and
 * this home's agent before the last start.
 *
 * Of runs that this life does not own, the feed is the truth: it moves what is not begun here
 * elsewhere when somebody else has it, also when it has ended here, killed or too late before its
 * begin.
 * What the store ends by itself goes from any phase before BEGUN to FINISHED. Where the answer to a
 * take or a begin was lost, the feed moves WAITING to CLAIMED and CLAIMED to BEGUN: the nonce was
 * made here, in this life, so nobody else can have sent that request.
 * ORPHAN is what the agent before had begun in this home, until the executor has said whether it
 * knows the run. */
enum open_phase {
    OPEN_BEGUN_ELSEWHERE,   /* another life's: it alone may start it */
    OPEN_CLAIMED_ELSEWHERE, /* another life's: to be taken over unless it begins in time */
    OPEN_WAITING,           /* QUEUED or DUE in the store, nobody's */
    OPEN_TAKING,
    OPEN_CLAIMED,
    OPEN_BEGINNING,
    OPEN_BEGUN,    /* waits for its start time */
    OPEN_STARTING, /* the executor was asked */
    OPEN_STARTED,  /* it has a process */
    OPEN_ORPHAN,
    OPEN_REFUSED, /* the store ended it; its record is on the way */
    OPEN_ENDED,   /* its end is to be written */
    OPEN_FINISHING,
    OPEN_FINISHED, /* its end is in the store, the history is next */
    OPEN_RECORDING,
    OPEN_RECORDED, /* the history has it */
    OPEN_FORGETTING,
    OPEN_ENDED_ELSEWHERE, /* somebody else records it */
    OPEN_PHASES,
};

/* What phases have in common; the table in open_run.c has them for each. */
enum phase_class {
    PHASE_OPEN = 1 << 0,      /* its job counts it as open; else its end is in the store */
    PHASE_OWNED = 1 << 1,     /* it takes room on this node, or may soon */
    PHASE_FED = 1 << 2,       /* not this life's: the feed is the truth */
    PHASE_UNBEGUN = 1 << 3,   /* claimed here, and as far as is known not begun */
    PHASE_ELSEWHERE = 1 << 4, /* another life's */
    PHASE_TAKABLE = 1 << 5,   /* this node may take it, when its turn comes */
    PHASE_UNSTARTED = 1 << 6, /* a kill ends it at once: nobody can be starting it */
    PHASE_EXECUTED = 1 << 7,  /* the executor may tell of it */
    PHASE_PROCESS = 1 << 8,   /* it has a process, or is about to: the executor kills it */
    PHASE_RESTS = 1 << 9,     /* nothing of it is on its way to store or history */
};

/* Is the phase in one of the classes? */
bool open_phase_is(enum open_phase phase, unsigned classes);

struct open_run {
    struct run run;
    enum open_phase phase;
    TAILQ_ENTRY(open_run) in_phase;
    struct job *job;            /* BEGUN: what to start; NULL: not known yet */
    int64_t start_at_ms;        /* tick and jitter */
    struct boot_ms begin_sent;  /* the start window counts from here */
    struct boot_ms first_begin; /* of those that may have been done */
    uint32_t heap_place;        /* in the runner's heap of start times */
    unsigned begins;            /* how often its begin was sent, and may have been done; also by
                                   this node's agent before, perhaps */
    enum run_reason kill;       /* NONE: nobody wants it killed */
    bool told;                  /* the executor has told of it since it was last away */
    bool is_begun;              /* by this node, so that it can't be another's any more */
    bool is_swept;              /* its end, in place of its node's, is on its way to the store */
    bool is_recorded;           /* ENDED_ELSEWHERE: as lost, by this node */
    bool is_forgotten;          /* the store does not have it any more */
    struct run *news;           /* RECORDING: how its own node has ended it meanwhile; NULL */
    bool is_to_tell;            /* this node has found it lost: people are told at once, not ... */
    bool is_told;               /* ... when it goes on record */
    bool has_unread;            /* output, when it was last tried */
    unsigned read_tries;        /* that failed */
    bool was_bad;               /* its job's end before this was a failure */
    bool is_overdue;            /* taken over only to record that no node was eligible, or began it
                                   in time */
    uint64_t take_nonce;        /* TAKING: of the take whose answer is waited for */
    struct boot_ms seen;        /* WAITING, CLAIMED_ELSEWHERE: since when it can be taken;
                                   ENDED_ELSEWHERE: since when it is known */
    int rank;                   /* this node's for it, in the placement of that generation */
    unsigned ranked;
};

TAILQ_HEAD(open_list, open_run);

struct open_runs {
    struct catalog *catalog; /* counts the open runs of each job: PHASE_OPEN */
    struct table by_id;
    struct open_list phases[OPEN_PHASES];
    size_t counts[OPEN_PHASES];
};

enum {
    OPEN_RUN_ADOPT_MS = 10 * 60 * 1000,      /* a node that is gone for so long does not come back
                                                to record what it did: somebody else does */
    OPEN_RUN_KEEP_MS = 7 * 24 * 3600 * 1000, /* for so long it may come back, and amend what was
                                                lost */
};

/* For how much longer a lost run stays in the store for its node, which is gone; 0: it had none. If
 * it was lost at a time that is still to come, one of two clocks was wrong, perhaps this one, and
 * perhaps for a while: it counts from when it was seen. */
int64_t open_run_kept_for_ms(const struct open_run *open, struct now now);

/* It is another node's, and on record as lost: it is there only for its node. */
bool open_run_is_kept(const struct open_run *open, struct wall_ms now);

/* Its end was decided on here before it was begun: should another node have taken it over, that is
 * how it goes on. */
bool open_run_ended_unbegun(const struct open_run *open);

/* The node whose boot the run is of: no other may take it. NULL: it is of none. */
const char *open_run_booted(const struct run *run);

void open_runs_init(struct open_runs *runs, struct catalog *catalog);
void open_runs_release(struct open_runs *runs);

/* A copy of *run, in this phase; NULL: out of memory. */
struct open_run *open_runs_add(struct open_runs *runs, const struct run *run,
                               enum open_phase phase);
/* A job is new in the catalog, and may have runs: its definition could not be read before. */
void open_runs_count_job(const struct open_runs *runs, struct catalog_job *job);
void open_runs_remove(struct open_runs *runs, struct open_run *open);
struct open_run *open_runs_find(const struct open_runs *runs, const struct id *id);
struct open_run *open_runs_first(const struct open_runs *runs, enum open_phase phase);
size_t open_runs_count(const struct open_runs *runs, unsigned classes); /* in phases of one */

/* A take with this nonce is sent for it. */
void open_runs_take(struct open_runs *runs, struct open_run *open, uint64_t nonce);
/* The run that waits for the answer to this take; NULL: the feed was faster, and perhaps another
 * take of the run is under way by now. */
struct open_run *open_runs_find_taking(const struct open_runs *runs, const struct id *id,
                                       uint64_t nonce);

/* The only writer of ->phase. */
void open_runs_move(struct open_runs *runs, struct open_run *open, enum open_phase next);

/* A claim that was not begun in time, because the store or its node was away. One that waited in
 * its job's queue was claimed long after its tick, and is as good as new. */
bool open_run_is_too_late(const struct open_run *open, int64_t on_time_ms, struct wall_ms now);

/* Its tick or its claim is ahead of the clock, which was set back since: waiting for that time
 * could take years. What is not under way counts from when it was seen. */
bool open_run_is_set_back(const struct open_run *open, struct wall_ms now);

/* When it will be; NEVER_MS: never. */
int64_t open_run_too_late_at(const struct open_run *open, int64_t on_time_ms);

/* Sets the end of a run that never had a process, or whose process is gone, and moves it on. */
void open_runs_end(struct open_runs *runs, struct open_run *open, enum run_state state,
                   enum run_reason reason, const char *detail, struct wall_ms now);

#endif
