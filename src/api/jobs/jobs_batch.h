/* POST /jobs:batch. jobs_batch.c cuts the body into its items and checks all of them;
 * jobs_batch_write.c writes them, some at a time, and answers. Both work in slices: between two of
 * them everybody else has their turn. */
#ifndef PEAL_API_JOBS_BATCH_H
#define PEAL_API_JOBS_BATCH_H

#include "definition/after_check.h"
#include "jobs/batch_scan.h"
#include "jobs/jobs.h"
#include "table.h"

enum {
    BATCH_ITEMS_MAX = 10000,
    BATCH_ITEM_BYTES = 1 << 20, /* as of a job that is put alone */
    BATCH_ERRORS_MAX = 100,
};

struct batch_item {
    size_t from, length; /* in the body */
    size_t place;        /* in its list */
    bool is_delete;
    char *name;
    struct job_write write;    /* of a put; of a delete the old definition, marked */
    enum write_kind kind;      /* which stays when the write is done, and gone */
    struct store_put_job *put; /* NULL: nothing to write */
    const char *error;         /* why it was not written; NULL: it was, or is not yet */
};

struct batch {
    const char *text; /* the body, which is the call's */
    size_t length;
    struct batch_scan scan;
    struct batch_item *items;
    size_t count, room;
    size_t list_counts[2]; /* of "put", and of "delete" */
    size_t checked, linked;
    struct after_check after;
    struct table names;
    json_t *errors;
    bool dry_run;
    const char *refused; /* the name of one that they may not change so, for want of: */
    enum right needed;

    struct batch_item **order; /* those that are written; deletes first, which make room */
    struct store_put_job *puts;
    size_t put_count, planned, sent, sending;
    struct quota_sum plan; /* what is planned adds */
    char *quota_error;     /* of what did not fit any more when it was written; NULL: all did */
    size_t encoded;
    struct strbuf answer;
};

/* When a slice that begins now has to end. */
int64_t batch_slice_end(void);
bool batch_slice_is_over(int64_t end_ms);

/* All items are good: asks whether the quotas allow them, writes them unless it is a dry run, and
 * answers. */
void batch_write(struct call *call);

#endif
