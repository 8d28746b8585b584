/* Inside of flow.h: the levels of a plan that is made. A level is a workflow: the one whose
 * instance it is, or one that is used as a step in the level above. */
#ifndef PEAL_FLOW_LEVELS_H
#define PEAL_FLOW_LEVELS_H

#include "workflow/flow_internal.h"

/* A step of a level: one of the plan, or a level of its own. */
struct level_node {
    const struct job_step *definition;
    int step; /* in the plan; -1: a level */
    struct level *inner;
    bool is_followed; /* the end of another step, of the same list, implies its end */
    bool is_handled;  /* such a step waits for its failure */
};

struct level {
    struct job *owned;          /* a definition that was decoded for it; NULL: the instance's */
    const struct job *workflow; /* whose steps these are */
    struct level *up;
    struct level_node *of;               /* the node above that it is */
    struct level_node *nodes, **by_name; /* the latter are sorted */
    char *prefix;                        /* of names */
    json_t *env;                         /* that the levels above say for all steps */
    int scope, depth;
    bool is_final; /* within `finally` of a level above */
};

/* A plan in the making. */
struct planning {
    const struct flow_source *source;
    json_t *steps, *scopes;
    struct level *top;
    char *why;
    size_t size;
};

/* Makes the levels, and the steps and scopes without what they wait for. E_INVALID: `why`. */
MUST_CHECK enum status levels_build(struct planning *planning, const struct job *workflow);
struct level *level_free(struct level *level);

/* The node of this name; NULL: none. */
struct level_node *level_find(const struct level *level, const char *name);

/* Adds to steps and scopes what they wait for: flow_links.c. */
MUST_CHECK enum status levels_link(struct planning *planning, struct level *level);

#endif
