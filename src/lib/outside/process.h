/* What a program has in place of a function, a command or an HTTP call, as a job of its own: the
 * job in the store is a function of the program, and says when and how often; this one says what,
 * and never leaves the process. */
#ifndef PEAL_PROCESS_H
#define PEAL_PROCESS_H

#include "job.h"
#include "outside/tools.h"
#include "peal.h"
#include "strbuf.h"
#include "zone/zone_db.h"

/* *ret is JOB_SHELL or JOB_HTTP. Fields of `more` that are for processes go into it, the others are
 * appended to `rest`, as lines. E_INVALID: *why, also of what needs a tool that is not there. */
MUST_CHECK enum status process_define(const peal_job *job, const struct tools *tools,
                                      struct zone_db *zones, struct strbuf *rest, struct job **ret,
                                      struct strbuf *why);

/* The job for one run: the process with what the store's job says of times, limits and parameters,
 * in the program's environment and folder. Both must outlive it, but for the script. */
struct process_run {
    struct job job; /* borrows all but: */
    struct job_pairs env;
    char *cwd, *script;
};

MUST_CHECK enum status process_run_init(struct process_run *run, const struct job *process,
                                        const struct job *stored);
void process_run_release(struct process_run *run);

#endif
