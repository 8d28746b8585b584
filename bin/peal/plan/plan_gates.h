/* What keeps ticks from starting though they are due: maintenance, which skips them, and groups,
 * in which only so many run at once. Those of the agent, and what they do to the jobs of a plan. */
#ifndef PEAL_PLAN_GATES_H
#define PEAL_PLAN_GATES_H

#include "client/client.h"
#include "gates/maintenance.h"
#include "herd/calendar_book.h"
#include "job.h"

/* A group with a limit for all nodes together. */
struct plan_group {
    char name[GROUP_NAME_MAX + 1];
    int most;
};

struct plan_gates {
    struct maintenance *windows; /* that have not ended */
    size_t window_count;
    struct plan_group *groups;
    size_t group_count;
};

/* Ticks of a job that a window takes. */
struct plan_skipped {
    const struct maintenance *window;
    size_t ticks;
};

/* More jobs of a group start in one second than it lets run: the most crowded one. */
struct plan_crowded {
    const struct plan_group *group;
    size_t starts;
    int64_t at_s;
};

void plan_gates_release(struct plan_gates *gates);

/* Windows and groups of the agent that the caller may see. */
MUST_CHECK enum exit_code plan_gates_read(struct plan_gates *gates, struct client *client);

bool plan_group_has(const struct plan_group *group, const struct job *job);

/* The ticks of the job in [from_s, until_s) that windows take, by window: *ret from malloc, NULL if
 * there are none. E_INVALID: a schedule can't be read. */
MUST_CHECK enum status plan_gates_skipped(const struct plan_gates *gates, const struct job *job,
                                          struct calendar_book *book, struct zone_db *zones,
                                          int64_t from_s, int64_t until_s,
                                          struct plan_skipped **ret, size_t *ret_count);

#endif
