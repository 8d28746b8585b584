/* Converts jobs between dkron and peal. */
#ifndef PEAL_FACADE_DKRON_JOB_H
#define PEAL_FACADE_DKRON_JOB_H

#include "call.h"

/* The field that can't be converted, and why: a text of the API's table. */
struct dkron_refusal {
    char pointer[120]; /* JSON pointer: "/executor_config/env" */
    const char *why;   /* NULL: out of memory */
};

/* A definition (docs/JOBS.md) from a job of dkron. NULL: *refusal says why. */
json_t *dkron_convert_job(const json_t *theirs, struct dkron_refusal *refusal);

/* The same for a client's job. NULL: the call has failed, naming the unsupported field. */
json_t *dkron_read_job(struct call *call, const json_t *theirs);

/* The other way, from a job as the native API shows it. NULL: out of memory. */
json_t *dkron_show_job(const json_t *native);

/* ---- a command as one line, for programs that have no lists ---- */

/* Splits a line into words with a shell's quoting, without expansions; NULL: an open quote, or out
 * of memory. */
json_t *command_split(const char *line);
void command_join(const json_t *words, struct strbuf *out);

#endif
