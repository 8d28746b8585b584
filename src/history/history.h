/* The history: ended runs, their output, the ledger of ticks that did not run, and the trail of
 * changes. Written in batches, never on the way of a run; read by the API.
 * test/contract/history_contract.c runs against every backend.
 *
 * One thread (the loop's) calls everything here; answers come from history_dispatch(), through
 * `done`, which may submit further requests. Appends are done in the order of submission, and so
 * are reads, logs, statistics and pages of changes; a slow read does not hold back an append. What
 * was appended is seen by every read that is submitted after the append's `done`. Answers are
 * written only when `done` is called with OK. */
#ifndef PEAL_HISTORY_H
#define PEAL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "change.h"
#include "run.h"
#include "strbuf.h"

struct history;

enum history_request_kind {
    HISTORY_APPEND,
    HISTORY_READ,
    HISTORY_LOG,
    HISTORY_STATS,
    HISTORY_CHANGES,
    HISTORY_PRUNE,
};

/* Embedded in every request; owned by the history from submission until `done`. */
struct history_request {
    enum history_request_kind kind; /* set by history_append() and its like */
    enum status answer;
    struct history_request *next;
};

/* A node whose history did not answer: records that only this node holds are missing. */
struct history_absence {
    char node[64]; /* empty: the database */
    char why[64];  /* reads on after the node's name: "is away" */
};

struct history_absences {
    struct history_absence *items; /* sorted by node name */
    size_t count;
};

/* The input of a run is stored beside its output, as a stream of its own that lies before byte 0:
 * so readers of the output, also older ones, do not meet it. */
enum output_stream { OUTPUT_STDOUT = 1, OUTPUT_STDERR = 2, OUTPUT_INPUT = 3 };

enum { HISTORY_INPUT_MAX = 1024 * 1024 };

/* The stream for a stored or received number; an unknown number counts as standard output. */
static inline enum output_stream output_stream_of(int64_t number)
{
    return number == OUTPUT_STDERR || number == OUTPUT_INPUT ? (enum output_stream)number
                                                             : OUTPUT_STDOUT;
}

/* A piece of output. In truncated output, `gap_bytes` counts the bytes dropped before the chunk; a
 * last chunk without bytes carries the gap at the end. When output is read back, chunks of one
 * stream from within one second may be merged, and large chunks may be split. */
struct output_chunk {
    enum output_stream stream;
    int64_t at_ms;     /* wall time of the read */
    int64_t gap_bytes; /* dropped right before this chunk */
    const void *bytes;
    size_t length;
};

/* A run with its output, a ledger entry, or a change. Recording an id again replaces the record: a
 * LOST run that turns out to have ended is amended this way. Four exceptions: a known end is not
 * replaced by LOST; a run that started is not replaced by MISSED (a store restored from a backup
 * does not know that it ran); output is not replaced by no output (the writer may have dropped the
 * output after recording it the first time); a change is never replaced. */
struct history_record {
    const struct run *run;            /* or */
    const struct ledger_entry *entry; /* or */
    const struct output_chunk *chunks;
    size_t chunk_count;
    const struct change_record *change; /* exactly one of run, entry and change is set */
    const char *input; /* of a run: what its request handed over (run_input.h); NULL: nothing. It is
                          recorded with the run's first record, and later ones leave it */
    size_t input_length;
};

/* Atomic: OK means that all records are on disk. E_INVALID: a run has not ended, a record is not
 * exactly one of run, entry and change, a record other than a run has output, or the time in a
 * change's id is not its at_ms. */
struct history_append {
    struct history_record *records; /* and what they point to: owned by the caller, valid to done */
    size_t count;
    void (*done)(struct history_append *append, enum status st);
    void *context;
    struct history_request request;
};

/* Filters; zero means no filter. Newest first. A ledger entry matches a time span if its from..to
 * overlaps it. Entries have no node and no duration, so those two filters exclude all entries. */
struct history_query {
    struct id job_uid;
    const char *job_name;       /* exact, as it was at the time */
    const char *text;           /* part of job name, reason name or detail; ignores ASCII case */
    const char *node;           /* exact */
    unsigned states;            /* 1 << enum run_state */
    int64_t since_ms, until_ms; /* of the tick: since inclusive, until exclusive */
    int64_t min_duration_ms;    /* finished - started; excludes runs that never started */
    bool with_entries;          /* ledger entries too */
    struct id before;           /* cursor: only rows with a smaller id */
    size_t limit;               /* 1-1000; else E_INVALID */
};

struct history_row {
    bool is_entry;
    bool is_spooled; /* on its node's disk, and not in the database yet */
    struct run run;
    struct ledger_entry entry;
};

/* A page. One search examines a limited number of rows: if few of them match, the page is short or
 * empty although `more` is set. */
struct history_read {
    struct history_query query; /* its texts stay valid until done */
    struct history_row *rows;   /* answer; freed by history_read_release */
    size_t count;
    bool more;                      /* there may be more: ask again with `before` = next */
    struct id next;                 /* if more */
    struct history_absences absent; /* freed with the rest */
    void (*done)(struct history_read *read, enum status st);
    void *context;
    struct history_request request;
};

/* Frees the answer; the request can be used again. */
void history_read_release(struct history_read *read);

/* One run by id, with its output from byte `offset` of the kept output on. A gap is reported with
 * the byte that follows it, a gap at the end with the last byte. */
struct history_log {
    struct id run_id;
    int64_t offset;
    size_t limit;                /* bytes; 0: the run alone */
    bool with_input;             /* also what the run's request handed over */
    char *input;                 /* answer: that, if it was asked for; NULL: nothing */
    struct run run;              /* answer */
    bool found;                  /* false: no such run */
    bool is_spooled;             /* as of a row */
    struct output_chunk *chunks; /* freed by history_log_release */
    size_t count;
    int64_t kept_bytes;             /* of the whole output */
    struct history_absences absent; /* nodes that may hold a run not found; freed with the rest */
    void (*done)(struct history_log *log, enum status st);
    void *context;
    struct history_request request;
};

/* Frees the answer; the request can be used again. */
void history_log_release(struct history_log *log);

/* Statistics, summed up as runs are recorded; no request reads runs. A run counts in the hour in
 * which its id was made, however often it is recorded; a step of a workflow does not, since its
 * instance does. Amending a run subtracts the old record, but
 * the shortest and longest durations may still be those of a replaced record. */
enum history_span { HISTORY_HOUR, HISTORY_DAY }; /* in UTC */

enum {
    HISTORY_BUCKETS = 128,      /* of durations: four per doubling, the last is unbounded */
    HISTORY_STATS_LIMIT = 2000, /* spans in one request */
};

struct history_stats_row {
    int64_t from_ms;          /* start of the span */
    int64_t ends[RUN_STATES]; /* runs, and SKIPPED or MISSED ticks of ledger entries, by state */
    int64_t timed;            /* runs that have a duration: started, ended, and not LOST */
    int64_t duration_sum_ms, duration_min_ms, duration_max_ms;
    int64_t buckets[HISTORY_BUCKETS]; /* number of durations in each bucket */
    int64_t punctual;                 /* runs with a start delay: started first attempts at a
                                         scheduled tick */
    int64_t late_sum_ms;              /* sum of their start delays, started - tick */
};

/* Oldest first; empty spans are left out. E_INVALID: from > to, or too many spans. */
struct history_stats {
    struct id job_uid;      /* zero: all jobs together */
    int64_t from_ms, to_ms; /* selects hours by their start: from inclusive, to exclusive */
    enum history_span span;
    struct history_stats_row *rows; /* answer; freed by history_stats_release */
    size_t count;
    struct history_absences absent; /* freed with the rest */
    void (*done)(struct history_stats *stats, enum status st);
    void *context;
    struct history_request request;
};

/* Frees the answer; the request can be used again. */
void history_stats_release(struct history_stats *stats);

/* The bucket that a duration falls into; the shortest duration of a bucket. */
int history_bucket(int64_t duration_ms);
int64_t history_bucket_ms(int bucket);

/* A percentile of the durations, estimated from the buckets with an error of at most an eighth; 0
 * if there are no durations. */
int64_t history_stats_percentile(const struct history_stats_row *row, int percent);

/* Filters; zero means no filter. Newest first. */
struct change_query {
    struct id job_uid;
    const char *job_name;       /* exact, as it was at the time */
    const char *actor;          /* exact */
    const char *text;           /* part of actor, target, job name, address, detail or action name;
                                   ignores ASCII case */
    uint64_t actions;           /* UINT64_C(1) << enum change_action */
    int64_t revision;           /* the job's revision after the change */
    int64_t since_ms, until_ms; /* since inclusive, until exclusive */
    bool with_definitions;      /* false: `before` and `after` of the answer are NULL */
    struct id before;           /* cursor: only changes with a smaller id */
    size_t limit;               /* 1-1000; else E_INVALID */
};

/* Limit on the definitions in a page; the first change of a page may exceed it. */
enum { HISTORY_CHANGES_BYTES = 8 * 1024 * 1024 };

/* A page. It may be short although `more` is set: one search examines a limited number of rows, and
 * the definitions may be large. */
struct history_changes {
    struct change_query query;   /* its texts stay valid until done */
    struct change_record *items; /* answer; freed by history_changes_release */
    size_t count;
    bool more;                      /* there may be more: ask again with `before` = next */
    struct id next;                 /* if more */
    struct history_absences absent; /* freed with the rest */
    void (*done)(struct history_changes *changes, enum status st);
    void *context;
    struct history_request request;
};

/* Frees the answer; the request can be used again. */
void history_changes_release(struct history_changes *changes);

/* Retention: keeps the newest keep_runs runs and as many ledger entries of each job, and removes
 * rows that ended before `before_ms`; 0: no limit. A run without an end time counts as ended when
 * its id was made, an entry when it was recorded. An instance of a workflow is one run: its steps
 * do not count, and go with it (those of one that overlapped a kept instance may go later, with
 * that). Statistics are removed by age alone, so they may
 * cover runs that are gone; those of all jobs together, and changes, are removed only when every
 * job is pruned. keep_bytes removes the oldest runs with output, of the job or of all jobs, until
 * the kept output fits; the newest run with output always stays. Works in small steps between
 * appends; after a failure some rows may have been removed. */
struct history_prune {
    struct id job_uid; /* zero: every job */
    int64_t keep_runs;
    int64_t before_ms;
    int64_t keep_bytes;        /* of output; 0: no limit */
    int64_t stats_before_ms;   /* removes statistics of hours before this; 0: as before_ms */
    int64_t changes_before_ms; /* removes changes made before this; 0: no limit */
    int64_t removed;           /* answer: number of runs, entries and changes */
    void (*done)(struct history_prune *prune, enum status st);
    void *context;
    struct history_request request;
};

/* What waits on this node's disk for a database: nobody else can read it. */
struct history_backlog {
    int64_t records, bytes;
    int64_t max_bytes;     /* 0: nothing ever waits */
    int64_t dropped_bytes; /* of output, to make room, since the agent's start */
    enum status disk;      /* of the last write: OK; E_TOO_LARGE: it is full; E_IO: it failed */
};

struct history_ops {
    void (*submit)(struct history *history, struct history_request *request);
    void (*dispatch)(struct history *history);
    enum status (*health)(struct history *history, struct strbuf *why);
    struct history *(*free)(struct history *history);
    void (*backlog)(struct history *history, struct history_backlog *ret); /* NULL: none ever is */
};

/* Backends embed this as their first member. */
struct history {
    const struct history_ops *ops;
};

/* The request that a `struct history_request` is part of. */
#define history_request_of(item, type)                                                             \
    ((struct type *)(void *)((char *)(item)-offsetof(struct type, request)))

/* The request belongs to the history until its `done` is called. request->kind is set: the
 * functions below do that. */
static inline void history_submit(struct history *history, struct history_request *request)
{
    history->ops->submit(history, request);
}

static inline void history_append(struct history *history, struct history_append *append)
{
    append->request.kind = HISTORY_APPEND;
    history_submit(history, &append->request);
}

static inline void history_read(struct history *history, struct history_read *read)
{
    read->request.kind = HISTORY_READ;
    history_submit(history, &read->request);
}

static inline void history_log(struct history *history, struct history_log *log)
{
    log->request.kind = HISTORY_LOG;
    history_submit(history, &log->request);
}

static inline void history_stats(struct history *history, struct history_stats *stats)
{
    stats->request.kind = HISTORY_STATS;
    history_submit(history, &stats->request);
}

static inline void history_changes(struct history *history, struct history_changes *changes)
{
    changes->request.kind = HISTORY_CHANGES;
    history_submit(history, &changes->request);
}

static inline void history_prune(struct history *history, struct history_prune *prune)
{
    prune->request.kind = HISTORY_PRUNE;
    history_submit(history, &prune->request);
}

/* Calls `done` of each request answered since the last call. */
static inline void history_dispatch(struct history *history)
{
    history->ops->dispatch(history);
}

/* OK, or the failure (E_IO: disk full ..., E_CORRUPT), with the reason and a next step in *why. A
 * later write that succeeds makes it OK again. */
static inline enum status history_health(struct history *history, struct strbuf *why)
{
    return history->ops->health(history, why);
}

static inline struct history_backlog history_backlog(struct history *history)
{
    struct history_backlog ret = {0};
    if (history->ops->backlog)
        history->ops->backlog(history, &ret);
    return ret;
}

/* Records that wait on this node's disk for a database. */
static inline int64_t history_waiting(struct history *history)
{
    return history_backlog(history).records;
}

/* Waits for the appends that were submitted. Every other pending request, and every request that a
 * `done` submits meanwhile, is answered with E_UNREACHABLE. */
static inline struct history *history_free(struct history *history)
{
    return history ? history->ops->free(history) : NULL;
}

/* How a backend asks its owner to call history_dispatch soon, from any thread. */
struct history_wake {
    void (*wake)(void *context);
    void *context;
};

/* DIR/history.db, with threads of its own; DIR must exist. E_VERSION: written by a newer peal;
 * E_CORRUPT: damaged, or not a history; E_IO; E_NOMEM. *why says what to do; no file is
 * overwritten. */
MUST_CHECK enum status history_sqlite_open(const char *dir, struct history_wake wake,
                                           struct history **ret, struct strbuf *why);

/* Checks whether history_sqlite_open would work, read-only. E_NOT_FOUND: no file; else as above. */
MUST_CHECK enum status history_sqlite_look(const char *dir, struct strbuf *why);

#endif
