/* An instance of a workflow as it is shown: the steps of its plan, each with its last attempt. Of a
 * fan-out the items are counted by their states. Pure. */
#ifndef PEAL_API_INSTANCE_VIEW_H
#define PEAL_API_INSTANCE_VIEW_H

#include <jansson.h>

#include "language.h"
#include "table.h"
#include "workflow/flow.h"

/* Why no node takes a run that is due. */
struct instance_lack {
    bool is_nobody;            /* no node is eligible */
    const char *where;         /* borrowed from the engine until its next turn; NULL: any agent */
    enum run_reason hindrance; /* why the nodes that are eligible start nothing; NONE */
    const char *group;         /* whose slot it waits for, likewise borrowed; NULL: none */
    size_t place, waiting;     /* from 1, of how many */
};

struct instance_step {
    bool is_known;  /* there is a run of it */
    struct run run; /* the last attempt */
    bool has_items;
    int items[RUN_STATES];     /* the last attempts at each, by state */
    int attempts;              /* that were made at them in all */
    struct instance_lack lack; /* of one that is due, or has items that are */
};

struct instance_view {
    struct run instance;
    struct flow *flow;           /* NULL: the plan is gone, or of a newer version */
    struct instance_step *steps; /* by their numbers in the plan */
    int count;
    struct table items; /* runs of items that were told */
    int64_t now_ms;
};

/* `plan`: NULL: not known; steps are then those that have runs. E_NOMEM. */
MUST_CHECK enum status instance_view_init(struct instance_view *view, const struct run *instance,
                                          const char *plan);
void instance_view_release(struct instance_view *view);

/* A run of any kind, of any order; those of other instances are ignored. The same attempt told
 * again is ignored as well. E_NOMEM. */
MUST_CHECK enum status instance_view_add(struct instance_view *view, const struct run *run);

/* Counts items; to be called after the last run was added. */
void instance_view_settle(struct instance_view *view);

/* "waiting" of a step that waits for others, or whose turn has not come; "" of one that an ended
 * instance has never reached; else the name of the state. */
const char *instance_step_state(const struct instance_view *view, int step);
const char *instance_step_name(const struct instance_view *view, int step);

/* The steps in the order of the plan; NULL: out of memory. */
json_t *instance_view_steps(const struct instance_view *view, enum language language);

/* {"ok": 3, "running": 1, "waiting": 2}: steps, not items. */
json_t *instance_view_counts(const struct instance_view *view);

/* instance_wait.c: "waits for load (running since 03:11:00), check (waiting)", "no node has the
 * labels of its where: gpu", "at_once: 3 of 3 items under way, 97 to come"; nothing for a step that
 * does not wait. */
void instance_tell_wait(const struct instance_view *view, int step, enum language language,
                        struct strbuf *out);

#endif
