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
    struct batch_part *parts; /* what goes into one call each */
    size_t part_count;
    json_t *delete;  /* names */
    size_t same;     /* definitions that the agent has already, and which are not sent */
    bool is_applied; /* the definitions are from files, which define the jobs from now on */
    const struct job_sources *sources; /* the files, for errors; NULL: none */
};
/* Puts the jobs, which must outlive the batch; to be released in any case. */
MUST_CHECK enum exit_code batch_init(struct batch *batch, const struct job_list *jobs);

/* The same for jobs from files; of many only those that differ from what the agent has, by their
 * digests. */
MUST_CHECK enum exit_code batch_init_applied(struct batch *batch, struct client *client,
                                             const struct job_list *jobs);
void batch_release(struct batch *batch);

/* *ret: a list of {"name", "result", "error"}. EXIT_INVALID: some are invalid; none was made, and
 * each is reported. */
MUST_CHECK enum exit_code batch_send(struct client *client, const struct batch *batch, bool dry_run,
                                     json_t **ret);

/* Sends it, and prints a line per job, "created NAME", or "would create NAME"; the unchanged are
 * counted on stderr. */
MUST_CHECK enum exit_code batch_apply(struct client *client, const struct batch *batch,
                                      bool dry_run);

#endif
