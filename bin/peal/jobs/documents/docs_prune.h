/* Documents that an agent has, that no file has, and that no job needs. */
#ifndef PEAL_DOCS_PRUNE_H
#define PEAL_DOCS_PRUNE_H

#include "jobs/definition.h"
#include "jobs/documents/agent_docs.h"

struct docs_prune {
    struct client *client;
    struct agent_docs docs; /* to be deleted */
};
void docs_prune_release(struct docs_prune *prune);

/* Finds them: `jobs` are those of the files, and `deleted`, a list of names, those that go. What
 * belongs to others is not asked for: groups, calendars and channels that a remaining job needs. */
MUST_CHECK enum exit_code docs_prune_find(struct docs_prune *prune, const struct reading *reading,
                                          const struct job_list *jobs, const json_t *deleted);

/* May the caller delete them? Reports each that they may not. */
MUST_CHECK enum exit_code docs_prune_check(const struct docs_prune *prune);

/* Deletes them, once the jobs are written, and prints a line for each. `dry_run`: only prints. */
MUST_CHECK enum exit_code docs_prune_delete(const struct docs_prune *prune, bool dry_run);

#endif
