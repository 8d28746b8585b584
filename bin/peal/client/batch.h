/* Many changes at once: all are checked before any is made. */
#ifndef PEAL_BATCH_H
#define PEAL_BATCH_H

#include "client/client.h"
#include "definition/job_codec.h"

struct batch {
    json_t *put;    /* definitions */
    json_t *delete; /* names */
};
MUST_CHECK enum exit_code batch_init(struct batch *batch);
void batch_release(struct batch *batch);
MUST_CHECK enum exit_code batch_put_all(struct batch *batch, const struct job_list *jobs);

/* *ret: a list of {"name", "result", "error"}. EXIT_INVALID: some can't be made, none was, and
 * each has been told. */
MUST_CHECK enum exit_code batch_send(struct client *client, const struct batch *batch, bool dry_run,
                                     json_t **ret);

/* A line per job, "created NAME"; the unchanged are counted on stderr. */
void batch_print(const json_t *results, bool dry_run);

#endif
