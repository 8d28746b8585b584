/* What keeps ticks from starting though they are due: maintenance, which skips them, and groups,
 * in which only so many run at once. Those of the agent and of files, and what they do to the jobs
 * of a plan. */
#ifndef PEAL_PLAN_GATES_H
#define PEAL_PLAN_GATES_H

#include "client/client.h"
#include "gates/maintenance.h"
#include "herd/calendar_book.h"
#include "herd/herd_limits.h"
#include "job.h"
#include "plan/plan_docs.h"

struct plan_gates {
    struct maintenance *windows; /* that have not ended */
    size_t window_count;
    struct herd_limits groups;
    char (*nodes)[512]; /* labels of those that take runs */
};

/* Ticks of a job that a window takes. */
struct plan_skipped {
    const struct maintenance *window;
    size_t ticks;
};

/* More runs of a group start in one second than it lets run: the most crowded one. */
struct plan_crowded {
    const char *group;
    const char *where; /* the selector of the jobs that it is for; "": all */
    int most;
    size_t starts;
    int64_t at_s;
};

void plan_gates_init(struct plan_gates *gates);
void plan_gates_release(struct plan_gates *gates);

/* Windows and groups of the agent that the caller may see, with what the plan makes of them. */
MUST_CHECK enum exit_code plan_gates_read(struct plan_gates *gates, struct client *client,
                                          const struct plan_docs *docs);

/* The groups and windows of files, without an agent. */
MUST_CHECK enum status plan_gates_of_files(struct plan_gates *gates, const struct file_docs *docs);

/* The ticks of the job in [from_s, until_s) that windows take, by window: *ret from malloc, NULL if
 * there are none. E_INVALID: a schedule can't be read. */
MUST_CHECK enum status plan_gates_skipped(const struct plan_gates *gates, const struct job *job,
                                          struct calendar_book *book, struct zone_db *zones,
                                          int64_t from_s, int64_t until_s,
                                          struct plan_skipped **ret, size_t *ret_count);

#endif
