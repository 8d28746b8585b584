/* Values that travel through peal: a run, and what became of ticks that were not run. */
#ifndef PEAL_RUN_H
#define PEAL_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "id.h"
#include "job_name.h"
#include "strbuf.h"

/* One life of an agent. A name can come back in another life, elsewhere even while the first one
 * lives; what a run belongs to is the life that claimed it. */
struct incarnation {
    struct id instance; /* made at every start of an agent; zero: nobody's, or of an older peal */
    uint64_t home;      /* its machine and data folder, where the next agent speaks for it */
};

/* Why there is a run. */
enum run_cause {
    CAUSE_TICK,     /* its schedule */
    CAUSE_CATCH_UP, /* its schedule, made good after an outage */
    CAUSE_MANUAL,   /* someone asked for it */
    CAUSE_BACKFILL, /* someone asked for past ticks */
    CAUSE_REBOOT,   /* the machine started */
    CAUSE_AFTER,    /* the jobs that it waits for have ended; `by` is the run that came last */
    CAUSES,
};

/* QUEUED -> DUE -> CLAIMED -> BEGUN -> RUNNING -> one of the ends
 * A run of a schedule starts as CLAIMED; QUEUED waits for its job's earlier run; DUE is nobody's
 * yet. RUNNING is BEGUN with a process; the store does not tell the two apart. */
enum run_state {
    RUN_QUEUED,
    RUN_DUE,
    RUN_CLAIMED,
    RUN_BEGUN,
    RUN_RUNNING,
    RUN_OK,
    RUN_FAILED,
    RUN_TIMED_OUT,
    RUN_KILLED,
    RUN_LOST,    /* its node or its spawner died with it; amended when more is known */
    RUN_SKIPPED, /* never started, on purpose: reason says why */
    RUN_MISSED,  /* never started, in spite of us: reason says why */
    RUN_STATES,
};

/* Why a tick or a run ended as it did, where the state alone does not say. */
enum run_reason {
    REASON_NONE,
    REASON_EXIT_CODE,    /* failed: exit code other than 0 */
    REASON_SIGNAL,       /* failed: killed by a signal from elsewhere */
    REASON_NO_START,     /* failed: could not be started; detail has the step and the error */
    REASON_TIMEOUT,      /* timed out */
    REASON_USER,         /* killed by a person */
    REASON_REPLACED,     /* killed, skipped: a newer run took its place (overlap: replace) */
    REASON_OVERLAP,      /* skipped: the previous run was still under way (overlap: skip) */
    REASON_QUEUE_FULL,   /* skipped: too many runs wait already (overlap: queue) */
    REASON_PAUSED,       /* skipped: the job was paused */
    REASON_SKIP_NEXT,    /* skipped: a person asked to skip it */
    REASON_DELETED,      /* skipped: the job was deleted before it started */
    REASON_CATCH_UP,     /* missed: nobody was there; policy ran only the last one, or none */
    REASON_TOO_OLD,      /* missed: older than the catch-up window */
    REASON_TOO_MANY,     /* missed: more than the catch-up limit */
    REASON_DEADLINE,     /* missed: could not start before its deadline */
    REASON_START_WINDOW, /* missed: claimed and begun, but not started within 5 s: must not start */
    REASON_NODE_DIED,    /* lost */
    REASON_SPAWNER_DIED, /* lost: the exit status is gone */
    REASON_SHUTDOWN,     /* killed: the machine or the agent was told to stop everything */
    REASON_NO_NODE,      /* missed: no node that may run it was there */
    REASON_RESTORED,     /* missed, lost: the store was restored from a backup */
    REASON_CALENDAR,     /* skipped: its date is on a calendar of the job; detail names it */
    REASON_EDITED,       /* skipped: the job was given other times before it started */
    REASON_CLOCK,        /* skipped: the clock was set back; a note on the ticks that come again */
    REASONS,
};

/* Ticks of schedules are whole seconds, and up to so many milliseconds later: no run that somebody
 * asks for has such a tick. */
enum { RUN_NAMES_MS = 100 };

/* The tick of a run that is asked for at this time. */
int64_t run_tick_of_now(int64_t now_ms);

struct run {
    struct id id;
    struct id job_uid;
    char job_name[JOB_NAME_SIZE]; /* as it was when the run was made */
    int64_t tick_ms; /* the scheduled instant; for a manual run, when it was asked for */
    int attempt;     /* from 1 */
    enum run_cause cause;
    enum run_state state;
    enum run_reason reason;
    char node[64];            /* its owner's name; empty while QUEUED or DUE */
    struct incarnation owner; /* and which life of it; in the store only */
    uint64_t nonce; /* made for each claim: tells whether a claim of unknown outcome is ours */
    int64_t fence;  /* grows with every begin; 0 before */
    int64_t job_revision;                        /* of the definition that it runs */
    int64_t not_before_ms;                       /* DUE and QUEUED: earliest start */
    int64_t claimed_ms, started_ms, finished_ms; /* wall; 0: not yet */
    int exit_code;                               /* -1: none */
    int term_signal;                             /* 0: none */
    int64_t user_ms, system_ms, max_rss_kb;      /* resources used */
    int64_t output_bytes;                        /* written by the job, kept or not */
    bool output_truncated;
    char by[64];      /* MANUAL, BACKFILL, killed: who asked; AFTER: the id of the run before it;
                         REBOOT: the node that has booted, and alone may run it */
    char detail[160]; /* words for people: which step failed, which error */
    char traceparent[56]; /* of the request that asked for it (W3C); empty: none */
};

/* What a job's last ended run was, and when one last ended well, which may be another. */
struct last_run {
    struct id run_id; /* zero: none yet */
    int64_t started_ms, ended_ms;
    int64_t succeeded_ms; /* 0: never */
    enum run_state state;
};

/* Ticks from..to of a job (count of them) that were passed over; from == to for a single one. */
struct ledger_entry {
    struct id id; /* unique, so that recording it twice is harmless */
    struct id job_uid;
    char job_name[JOB_NAME_SIZE];
    int64_t from_ms, to_ms;
    int64_t count;
    enum run_state state; /* RUN_SKIPPED or RUN_MISSED */
    enum run_reason reason;
    char detail[160];
    int64_t recorded_ms;
    char node[64]; /* who passed them over, and records it; empty: nobody, so the leader does */
    struct incarnation owner; /* and which life of it; in the store only */
};

/* Numbers come from stores, histories and other nodes, and a newer peal may have more of them: any
 * is good here ("reason-1000"), and words.h says how long such a text is. */
const char *run_state_name(enum run_state state);    /* "timed_out" */
const char *run_reason_name(enum run_reason reason); /* "start_window"; "" for NONE */
const char *run_cause_name(enum run_cause cause);

/* As if this ended run were the only one. */
struct last_run last_run_of(const struct run *run);

/* Takes in what is told of another run, or of the same one anew: the last is the one that ended
 * latest, in whatever order they are told. False: nothing has changed. */
bool last_run_take(struct last_run *last, const struct last_run *told);

/* The clock was set back to `to_ms`: none of its times is later. */
void last_run_set_back(struct last_run *last, int64_t to_ms);

/* A sentence for people: "the previous run was still running (overlap: skip)". */
const char *run_reason_text(enum run_reason reason);

/* Of reasons also those of a newer peal, as they are shown. E_NOT_FOUND. */
MUST_CHECK enum status run_state_by_name(const char *name, enum run_state *ret);
MUST_CHECK enum status run_reason_by_name(const char *name, enum run_reason *ret);

/* False: only a newer peal has this state. What it means is not known, so nothing may be done to
 * the run. */
bool run_state_is_known(enum run_state state);
/* Of a set, 1 << enum run_state; a state that only a newer peal has is in none. */
bool run_state_is_in(unsigned states, enum run_state state);
bool run_state_is_end(enum run_state state); /* OK, FAILED, ... MISSED */

#endif
