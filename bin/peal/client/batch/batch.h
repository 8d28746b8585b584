/* A batch of changes: all are checked before any is made. */
#ifndef PEAL_BATCH_H
#define PEAL_BATCH_H

#include "client/batch/batch_parts.h"
#include "client/client.h"
#include "definition/job_codec.h"
#include "jobs/check/job_sources.h"

struct batch {
    struct batch_put *puts; /* in the order of their parts */
    size_t put_count;
    char *names; /* of the puts, whose jobs were given up; NULL: the names are the jobs' */
    struct batch_part *parts; /* what goes into one call each */
    size_t part_count;
    json_t *delete;  /* names */
    size_t same;     /* definitions that the agent has already, and which are not sent */
    bool is_applied; /* the definitions are from files, which define the jobs from now on */
    const struct job_sources *sources; /* the files, for errors; NULL: none */
    json_t *assumed;           /* of a dry run: documents that will be there by then; NULL: none */
    size_t seen;               /* jobs that were added, or are the same */
    json_t *digests;           /* of what the agent has; NULL: not asked for */
    struct batch_ahead *ahead; /* calls that are checked while files are read; NULL: none */
    json_t *checked_ahead;     /* their answers, by part; null: none */
};

/* For jobs that are added one by one; to be released in any case. */
void batch_init_empty(struct batch *batch, bool is_applied);

/* Adds a job, unless the digests say that the agent has it as it is. E_NOMEM. */
MUST_CHECK enum status batch_add(struct batch *batch, const struct job *job);

/* From now on the batch does without the jobs, which the caller may free: it is complete. E_NOMEM:
 * they must outlive it. */
MUST_CHECK enum status batch_give_up_jobs(struct batch *batch);

/* Drops all that was added. */
void batch_forget(struct batch *batch);

/* Puts the jobs, which must outlive the batch; to be released in any case. */
MUST_CHECK enum exit_code batch_init(struct batch *batch, const struct job_list *jobs);

/* The same for jobs from files, the first of which may have been added before: of many only those
 * that differ from what the agent has, by their digests. */
MUST_CHECK enum exit_code batch_complete_applied(struct batch *batch, struct client *client,
                                                 const struct job_list *jobs);
void batch_release(struct batch *batch);

/* *ret: the answers, for batch_each. EXIT_INVALID: some are invalid; none was made, and each is
 * reported. */
MUST_CHECK enum exit_code batch_send(struct client *client, const struct batch *batch, bool dry_run,
                                     json_t **ret);

/* Calls `visit` for each change: its name, "created" and the like, and what has failed; NULL or
 * null: nothing. */
typedef void batch_visit(void *context, const char *name, const char *result, const json_t *error);
void batch_each(const struct batch *batch, const json_t *answers, batch_visit *visit,
                void *context);

/* What is done while a batch is sent. */
struct batch_watcher {
    batch_visit *visit;             /* each change of a call that was answered ... */
    void (*visited)(void *context); /* ... and then this */
    void (*waits)(void *context);   /* once, when the first calls are under way */
    void *context;
};

/* Work for the time in which the agent writes. */
struct batch_idle {
    void (*work)(void *context);
    void *context;
};

/* Sends it, and prints a line per job, "created NAME", or "would create NAME"; the unchanged are
 * counted on stderr. After a failure the lines tell what was done before. `idle` may be NULL. */
MUST_CHECK enum exit_code batch_apply(struct client *client, const struct batch *batch,
                                      bool dry_run, const struct batch_idle *idle);

#endif
