/* The coming ticks of a job of the agent. */
#ifndef PEAL_JOB_NEXT_H
#define PEAL_JOB_NEXT_H

#include "cli/cli.h"
#include "print/next_print.h"

/* Is the only argument of `peal next` the name of a job? No schedule is a single word, apart from
 * macros. */
bool looks_like_job(const char *word);

MUST_CHECK enum exit_code job_next_print(const char *data, const char *name, int64_t count,
                                         enum next_output output);

#endif
