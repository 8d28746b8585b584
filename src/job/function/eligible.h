/* The nodes that may run a job, as one text, so that planning keeps and compares a single value:
 *
 *     NULL              agents
 *     zone=eu,!gpu      agents whose labels match (selector.h)
 *     zone=eu,cgroup/memory  the same, of a job with limits that need a controller (run_limits.h)
 *     @billing          processes of the program billing
 *     @billing,zone=eu  those of them whose labels match
 *
 * Neither a selector nor a program begins with '@' or holds one. */
#ifndef PEAL_ELIGIBLE_H
#define PEAL_ELIGIBLE_H

#include <stdbool.h>

#include "job.h"
#include "strbuf.h"

/* Appends the text of the job, unless it is NULL: then `out` stays empty. */
void eligible_print(const struct job *job, struct strbuf *out);

/* Is it the text of a function? */
static inline bool eligible_is_program(const char *eligible)
{
    return eligible && *eligible == '@';
}

/* The name of the program, which is not terminated, and its length; "", 0: agents. */
const char *eligible_program(const char *eligible, size_t *ret_length);

/* The selector; NULL: all labels match. */
const char *eligible_where(const char *eligible);

/* Has it labels that limits of whole runs need? */
bool eligible_has_limits(const char *eligible);

/* May the node of this program ("": an agent) run it, whatever its labels are? */
bool eligible_is_kind(const char *eligible, const char *program);

/* May a node of this program with these labels run it? */
bool eligible_matches(const char *eligible, const char *program, const char *labels);

#endif
