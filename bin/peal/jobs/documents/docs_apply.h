/* Brings the documents of files to an agent: all are checked before any is written. */
#ifndef PEAL_DOCS_APPLY_H
#define PEAL_DOCS_APPLY_H

#include "jobs/documents/agent_docs.h"

/* What is done about one document. */
struct doc_step {
    const struct file_doc *doc;
    bool is_written, is_new;
    char revision[24]; /* that it takes the place of */
};

struct docs_apply {
    struct client *client;
    struct file_docs *docs; /* outlive it */
    const struct job_sources *sources;
    struct agent_docs agent;
    struct doc_step *steps; /* one for each of the docs */
    size_t unchanged;
};

/* Release it in any case. */
void docs_apply_init(struct docs_apply *apply, struct client *client, struct file_docs *docs,
                     const struct job_sources *sources);
void docs_apply_release(struct docs_apply *apply);

/* Has the agent look at all that differ. Every mistake, and every right that the caller lacks, is
 * reported at its place, and the worst is the exit code. */
MUST_CHECK enum exit_code docs_apply_check(struct docs_apply *apply);

/* Is there anything to write? After the check. */
bool docs_apply_writes(const struct docs_apply *apply);

/* Writes what was checked, if nobody has changed it meanwhile, and prints a line for each: "created
 * group db-backup". `dry_run`: only prints. */
MUST_CHECK enum exit_code docs_apply_write(struct docs_apply *apply, bool dry_run);

#endif
