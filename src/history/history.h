/* The history: ended runs, their output, and the ledger of ticks that did not run. Written in
 * batches, never on the way of a run; read by the API. test/contract/history_contract.c runs
 * against every backend.
 *
 * One thread (the loop's) calls everything here; answers come from history_dispatch(). */
#ifndef PEAL_HISTORY_H
#define PEAL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "run.h"
#include "strbuf.h"

struct history;

enum output_stream { OUTPUT_STDOUT = 1, OUTPUT_STDERR = 2 };

/* A piece of output. In a record that was truncated, `gap_bytes` of a chunk is what is missing
 * before it. */
struct output_chunk {
    enum output_stream stream;
    int64_t at_ms;     /* wall time of the read */
    int64_t gap_bytes; /* dropped right before this chunk */
    const void *bytes;
    size_t length;
};

/* A run with its output, or a ledger entry. Recording the same id again replaces it: a LOST run
 * that turned out to have ended is amended this way. */
struct history_record {
    const struct run *run;            /* or */
    const struct ledger_entry *entry; /* exactly one is set */
    const struct output_chunk *chunks;
    size_t chunk_count;
};

struct history_append {
    struct history_record *records; /* with all they point to: the caller's until done */
    size_t count;
    void (*done)(struct history_append *append, enum status st);
    void *context;
    struct history_append *next;
};

/* Filters; zero means no filter. Newest first. */
struct history_query {
    struct id job_uid;
    const char *job_name; /* exact */
    const char *text;     /* part of job name, reason or detail */
    const char *node;
    unsigned states;            /* 1 << enum run_state */
    int64_t since_ms, until_ms; /* of the tick: since inclusive, until exclusive */
    int64_t min_duration_ms;
    bool with_entries; /* ledger entries too */
    struct id before;  /* page: only what sorts before this id */
    size_t limit;      /* 1-1000 */
};

struct history_row {
    bool is_entry;
    struct run run;
    struct ledger_entry entry;
};

struct history_read {
    struct history_query query; /* its texts are the caller's until done */
    struct history_row *rows;   /* answer; freed by history_read_release */
    size_t count;
    bool more;
    void (*done)(struct history_read *read, enum status st);
    void *context;
    struct history_read *next;
};
void history_read_release(struct history_read *read);

/* One run by id, with its output from byte `offset` of the kept output on. */
struct history_log {
    struct id run_id;
    int64_t offset;
    size_t limit;   /* bytes */
    struct run run; /* answer; found false: no such run */
    bool found;
    struct output_chunk *chunks; /* freed by history_log_release */
    size_t count;
    int64_t kept_bytes; /* of the whole output */
    void (*done)(struct history_log *log, enum status st);
    void *context;
    struct history_log *next;
};
void history_log_release(struct history_log *log);

/* Retention: keep at most keep_runs of a job and nothing that ended before `before_ms`; 0: no
 * limit. */
struct history_prune {
    struct id job_uid; /* zero: every job */
    int64_t keep_runs;
    int64_t before_ms;
    int64_t removed; /* answer */
    void (*done)(struct history_prune *prune, enum status st);
    void *context;
    struct history_prune *next;
};

struct history_ops {
    void (*append)(struct history *history, struct history_append *append);
    void (*read)(struct history *history, struct history_read *read);
    void (*log)(struct history *history, struct history_log *log);
    void (*prune)(struct history *history, struct history_prune *prune);
    void (*dispatch)(struct history *history);
    enum status (*health)(struct history *history, struct strbuf *why);
    struct history *(*free)(struct history *history);
};

struct history {
    const struct history_ops *ops;
};

struct history_wake {
    void (*wake)(void *context);
    void *context;
};

/* For tests and simulations. */
MUST_CHECK enum status history_memory_new(struct history_wake wake, struct history **ret);

/* DIR/history.db, on a thread of its own. E_VERSION, E_CORRUPT, E_IO: *why says what to do. */
MUST_CHECK enum status history_sqlite_open(const char *dir, struct history_wake wake,
                                           struct history **ret, struct strbuf *why);

#endif
