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

/* Part of every request: the history's, while it holds it. */
struct history_request {
    enum history_request_kind kind; /* set by those who submit */
    enum status answer;
    struct history_request *next;
};

/* A node whose history could not be asked: the answer lacks what that node alone has. */
struct history_absence {
    char node[64];
    char why[64]; /* behind its name: "is away" */
};

struct history_absences {
    struct history_absence *items; /* by name */
    size_t count;
};

enum output_stream { OUTPUT_STDOUT = 1, OUTPUT_STDERR = 2 };

/* As it was stored or sent; what is neither is shown with the output. */
static inline enum output_stream output_stream_of(int64_t number)
{
    return number == OUTPUT_STDERR ? OUTPUT_STDERR : OUTPUT_STDOUT;
}

/* A piece of output. In a record that was truncated, `gap_bytes` of a chunk is what is missing
 * before it; one without bytes at the end says what is missing there. Read back, pieces of one
 * stream that were read within a second may be one, and large ones may be cut. */
struct output_chunk {
    enum output_stream stream;
    int64_t at_ms;     /* wall time of the read */
    int64_t gap_bytes; /* dropped right before this chunk */
    const void *bytes;
    size_t length;
};

/* A run with its output, a ledger entry, or a change. Recording the same id again replaces it: a
 * LOST run that turned out to have ended is amended this way. Four things are never replaced: an
 * end that is known, by LOST; that of something that ran, by MISSED (a store that was restored from
 * a backup does not know that it ran); output, by none (whoever records a run twice may have
 * dropped the output after the first time); and a change, which is as it was recorded first. */
struct history_record {
    const struct run *run;            /* or */
    const struct ledger_entry *entry; /* or */
    const struct output_chunk *chunks;
    size_t chunk_count;
    const struct change_record *change; /* exactly one of run, entry and change is set */
};

/* All of them or none: OK means that they are on disk. E_INVALID: one has not ended, is several of
 * run, entry and change or none, is no run and has output, or is a change whose id was not made
 * when it says. */
struct history_append {
    struct history_record *records; /* with all they point to: the caller's until done */
    size_t count;
    void (*done)(struct history_append *append, enum status st);
    void *context;
    struct history_request request;
};

/* Filters; zero means no filter. Newest first. A ledger entry is in a span of time if one of its
 * ticks may be (from..to touches it); it has no node and no duration, so that those filters leave
 * all entries out. */
struct history_query {
    struct id job_uid;
    const char *job_name;       /* exact, as it was at the time */
    const char *text;           /* part of job name, reason's name or detail; ASCII in any case */
    const char *node;           /* exact */
    unsigned states;            /* 1 << enum run_state */
    int64_t since_ms, until_ms; /* of the tick: since inclusive, until exclusive */
    int64_t min_duration_ms;    /* finished - started; what never started has none */
    bool with_entries;          /* ledger entries too */
    struct id before;           /* page: only what sorts before this id */
    size_t limit;               /* 1-1000; else E_INVALID */
};

struct history_row {
    bool is_entry;
    struct run run;
    struct ledger_entry entry;
};

/* A page. One search looks at so many rows only: if few of them match, the page is short, perhaps
 * empty, while there is more. */
struct history_read {
    struct history_query query; /* its texts are the caller's until done */
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

/* One run by id, with its output from byte `offset` of the kept output on. A gap is told with the
 * byte behind it, one at the end with the last byte. */
struct history_log {
    struct id run_id;
    int64_t offset;
    size_t limit;                /* bytes; 0: the run alone */
    struct run run;              /* answer */
    bool found;                  /* false: no such run */
    struct output_chunk *chunks; /* freed by history_log_release */
    size_t count;
    int64_t kept_bytes;             /* of the whole output */
    struct history_absences absent; /* who may have it, if it was not found; freed likewise */
    void (*done)(struct history_log *log, enum status st);
    void *context;
    struct history_request request;
};

/* Frees the answer; the request can be used again. */
void history_log_release(struct history_log *log);

/* Statistics, gathered while runs are recorded, so that none is looked at again. A run belongs to
 * the hour in which it was made, however often it is recorded; an amendment takes the place of what
 * it replaces, but for the shortest and the longest duration, which may be of what was replaced. */
enum history_span { HISTORY_HOUR, HISTORY_DAY }; /* in UTC */

enum {
    HISTORY_BUCKETS = 128,      /* of durations: four for each doubling, the last without end */
    HISTORY_STATS_LIMIT = 2000, /* spans that one request may ask for */
};

struct history_stats_row {
    int64_t from_ms;          /* start of the span */
    int64_t ends[RUN_STATES]; /* runs by state; and ticks of ledger entries, SKIPPED or MISSED */
    int64_t timed;            /* runs that have a duration: started, ended, and not LOST */
    int64_t duration_sum_ms, duration_min_ms, duration_max_ms;
    int64_t buckets[HISTORY_BUCKETS]; /* how many durations are in each */
    int64_t punctual;                 /* runs that say how late they were: first attempts at a tick
                                         of a schedule, started */
    int64_t late_sum_ms;              /* started - tick of those */
};

/* Oldest first; spans without anything are left out. E_INVALID: from > to, or too many spans. */
struct history_stats {
    struct id job_uid;      /* zero: all jobs together */
    int64_t from_ms, to_ms; /* hours that start in it: from inclusive, to exclusive */
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

/* The bucket of a duration, and the shortest duration of a bucket. */
int history_bucket(int64_t duration_ms);
int64_t history_bucket_ms(int bucket);

/* A duration that `percent` of the durations do not exceed, within an eighth of the real one; 0 if
 * there are none. */
int64_t history_stats_percentile(const struct history_stats_row *row, int percent);

/* Filters; zero means no filter. Newest first. */
struct change_query {
    struct id job_uid;
    const char *job_name;       /* exact, as it was at the time */
    const char *actor;          /* exact */
    const char *text;           /* part of actor, target, job name, address, detail or the action's
                                   name; ASCII in any case */
    uint64_t actions;           /* UINT64_C(1) << enum change_action */
    int64_t revision;           /* of the job, after it */
    int64_t since_ms, until_ms; /* since inclusive, until exclusive */
    bool with_definitions;      /* else they are left out */
    struct id before;           /* page: only what sorts before this id */
    size_t limit;               /* 1-1000; else E_INVALID */
};

enum { HISTORY_CHANGES_BYTES = 8 * 1024 * 1024 }; /* of definitions in a page, but for one */

/* A page. It is short while there is more if few match (one search looks at so many rows only), or
 * if the definitions are large. */
struct history_changes {
    struct change_query query;   /* its texts are the caller's until done */
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

/* Retention: keep the newest keep_runs runs, and as many ledger entries, of a job, and nothing that
 * ended before `before_ms`; 0: no limit. A run that never started ended when its id was made, an
 * entry when it was recorded. Statistics go by age alone, so that they may tell of more than what
 * is kept; those of all jobs together, and changes, go when every job is pruned. By bytes: of the
 * runs that have output, of the job or of all jobs together, the oldest go until the kept output
 * fits; the newest stays, however much it has. Done in small steps between appends; on failure some
 * may be gone. */
struct history_prune {
    struct id job_uid; /* zero: every job */
    int64_t keep_runs;
    int64_t before_ms;
    int64_t keep_bytes;        /* of output; 0: no limit */
    int64_t stats_before_ms;   /* statistics of hours that ended by then; 0: as before_ms */
    int64_t changes_before_ms; /* changes from before then; 0: no limit */
    int64_t removed;           /* answer: runs, entries and changes */
    void (*done)(struct history_prune *prune, enum status st);
    void *context;
    struct history_request request;
};

struct history_ops {
    void (*submit)(struct history *history, struct history_request *request);
    void (*dispatch)(struct history *history);
    enum status (*health)(struct history *history, struct strbuf *why);
    struct history *(*free)(struct history *history);
};

/* Backends embed this as their first member. */
struct history {
    const struct history_ops *ops;
};

/* The request that a `struct history_request` is part of. */
#define history_request_of(item, type)                                                             \
    ((struct type *)(void *)((char *)(item)-offsetof(struct type, request)))

/* The request is the history's until its `done` is called. Those below say of which kind it is. */
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

/* Calls `done` of what has been answered since. */
static inline void history_dispatch(struct history *history)
{
    history->ops->dispatch(history);
}

/* OK, or what is wrong (E_IO: disk full ..., E_CORRUPT) and in *why words with a next step. It is
 * OK again when a later write succeeds. */
static inline enum status history_health(struct history *history, struct strbuf *why)
{
    return history->ops->health(history, why);
}

/* Waits for the appends that were submitted. Everything is answered: what is not done by then, and
 * what is submitted meanwhile from within `done`, with E_UNREACHABLE. */
static inline struct history *history_free(struct history *history)
{
    return history ? history->ops->free(history) : NULL;
}

/* How a backend asks its owner to call history_dispatch soon, from any thread. */
struct history_wake {
    void (*wake)(void *context);
    void *context;
};

/* For tests and simulations. Nothing is kept. Requests are done in history_dispatch. */
MUST_CHECK enum status history_memory_new(struct history_wake wake, struct history **ret);

/* DIR/history.db, with threads of its own; DIR must be there. E_VERSION: written by a newer peal;
 * E_CORRUPT: damaged, or not a history; E_IO; E_NOMEM. *why says what to do; nothing is
 * overwritten. */
MUST_CHECK enum status history_sqlite_open(const char *dir, struct history_wake wake,
                                           struct history **ret, struct strbuf *why);

/* A look at it from outside: could it be opened? E_NOT_FOUND: there is none; else as above. */
MUST_CHECK enum status history_sqlite_look(const char *dir, struct strbuf *why);

#endif
