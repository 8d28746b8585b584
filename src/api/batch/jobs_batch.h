/* POST /jobs:batch. jobs_batch.c splits the body into its items and checks all of them;
 * jobs_batch_write.c writes them, some at a time, and answers. Both work in slices, between which
 * the loop serves others. batch_keep.c keeps what a dry run has checked. */
#ifndef PEAL_API_JOBS_BATCH_H
#define PEAL_API_JOBS_BATCH_H

#include "batch/batch_scan.h"
#include "definition/after_check.h"
#include "jobs/jobs.h"
#include "table.h"

enum {
    BATCH_ITEMS_MAX = 10000,
    BATCH_ITEM_BYTES = 1 << 20, /* as for a single PUT */
    BATCH_ERRORS_MAX = 100,
    BATCH_CHUNKS = 8, /* on their way to the store at once */
};

struct jobs_batch_item {
    size_t from, length; /* in the body */
    size_t place;        /* in its list */
    bool is_delete;
    char *name;
    struct job_write write;    /* of a put; for a delete the old definition, marked as deleted */
    enum write_kind kind;      /* kept after the write is released */
    struct store_put_job *put; /* NULL: nothing to write */
    const char *error;         /* why it was not written; NULL: no error so far */
};

/* Items that go to the store together. */
struct jobs_batch_chunk {
    struct job_puts puts;  /* first */
    struct strbuf records; /* of its changes, for the store */
    size_t count;
    bool is_answered;
    enum status answer;
};

struct jobs_batch {
    const char *text; /* the body, owned by the call */
    size_t length;
    struct batch_scan scan;
    struct jobs_batch_item *items;
    size_t count;
    size_t list_counts[2]; /* of "put", and of "delete" */
    size_t checked, linked;
    struct strbuf item; /* the text of the one that is checked */
    struct after_check after;
    struct table names;
    bool is_short; /* of memory, while dependencies were checked */
    json_t *errors;
    bool dry_run;
    bool is_applied;         /* the definitions are from files */
    bool keep;               /* a dry run after which they are to be written */
    json_t *assumed;         /* of a dry run: documents that are taken to be there; NULL: none */
    uint64_t docs;           /* kept_batches.docs when the check began */
    struct kept_batch *kept; /* the items are those of an earlier dry run; NULL: of the body */
    const char *refused;     /* name of a job that the caller may not change, since they lack: */
    enum right needed;

    struct jobs_batch_item **order; /* items to be written; deletes first, which free quota */
    struct store_put_job *puts;
    size_t put_count, planned;
    size_t looked; /* items, whether they are still as they were: of those that stay */
    struct jobs_batch_chunk chunks[BATCH_CHUNKS]; /* a ring */
    size_t chunk_count;                           /* in flight */
    size_t first_chunk;                           /* the oldest of them */
    size_t sent, taken;                           /* items: submitted, answered */
    bool is_any_written;
    struct trail *trail; /* which knows that it is being written; NULL: it is not */
    bool is_woken;       /* the call goes on in the next turn */
    enum status failed; /* of the first chunk that failed, after which no more are sent; OK: none */
    const char *stopped;   /* why no more are sent; NULL: they are */
    struct quota_sum plan; /* what the planned items add */
    char *quota_error;     /* for items that exceeded a quota when they were written; NULL: none */
    struct quota_excess excess; /* the same */
    size_t encoded, told;
    struct strbuf answer;
};

/* A part of the work, after which others have their turn. The clock is looked at now and then. */
struct batch_slice {
    int64_t end_ms;
    unsigned steps;
};
struct batch_slice batch_slice_begin(void);

/* Before each step; `bytes` is what it works on. */
bool batch_slice_is_over(struct batch_slice *slice, size_t bytes);

/* All items are valid: checks the quotas, writes the items unless it is a dry run, and answers. */
void batch_write(struct call *call);

#endif
