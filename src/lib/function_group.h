/* Local functions that have the same definition, but for their names, have one job together: the
 * border between them and the others is function_is_plain(). With the lock of `functions`. */
#ifndef PEAL_FUNCTION_GROUP_H
#define PEAL_FUNCTION_GROUP_H

#include "calls/call_group.h"
#include "function.h"

struct function_group {
    char *definition; /* that of all, without a name */
    struct call_group calls;
    struct function *job; /* which stands for all */
};

/* Its calls need nothing but the tick: it has a schedule, and at most .tz, .start_ms, .timeout_ms,
 * .deadline_ms, a .catch_up of the last tick or none, and an overlap that is skipped or allowed.
 * What else there is goes by the name (jitter, schedules that are seeded) or from one call to the
 * next (retries, a queue, catching up all). */
bool function_is_plain(const struct functions *functions, const peal_job *job);

/* For a new function. OK: it is in a group; *ret_fresh is the job of a new one, else NULL. */
MUST_CHECK enum status function_group_join(struct functions *functions, const peal_job *job,
                                           struct function *function, struct function **ret_fresh,
                                           struct strbuf *why);

/* A job of its own for a function of a group: on request alone. */
MUST_CHECK enum status function_group_part(struct function *function);

void function_group_free(struct function_group *group); /* without its job */

/* ---- of function.c ---- */

/* A function without a definition. NULL: out of memory. */
struct function *function_new(const char *name, const peal_job *job);
struct function *function_free(struct function *function);

/* The definition of a job, as text; and read. */
MUST_CHECK enum status function_print(const struct functions *functions, const peal_job *job,
                                      const char *more, struct strbuf *out, struct strbuf *why);
MUST_CHECK enum status function_define(struct functions *functions, const peal_job *job,
                                       struct function *function, struct strbuf *why);

#endif
