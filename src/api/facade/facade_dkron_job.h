/* dkron's job, and peal's. */
#ifndef PEAL_FACADE_DKRON_JOB_H
#define PEAL_FACADE_DKRON_JOB_H

#include "call.h"

/* A definition of docs/JOBS.md from what a client of dkron sends. NULL: the call has failed, with
 * the field that can't be carried over. */
json_t *dkron_read_job(struct call *call, const json_t *theirs);

/* The other way, from a job as the native API shows it. NULL: out of memory. */
json_t *dkron_show_job(const json_t *native);

/* ---- a command as one line, for programs that have no lists ---- */

/* Words as a shell would take them apart, without anything else that a shell does; NULL: a quote
 * does not end, or out of memory. */
json_t *command_split(const char *line);
void command_join(const json_t *words, struct strbuf *out);

#endif
