/* The steps of a definition as a graph, for the checks of the decoder: who waits for whom, found by
 * name, and in an order in which everything comes after what it waits for. */
#ifndef PEAL_STEPS_GRAPH_H
#define PEAL_STEPS_GRAPH_H

#include "definition/job_decode.h"
#include "table.h"
#include "workflow/steps.h"

enum { NO_STEP = -1 };

struct vertex {
    const struct job_step *step;
    const struct node *node; /* its map */
    size_t index;            /* in `steps`, or in `finally` */
    int *before;             /* the steps of its `after`, by number; NO_STEP: there is none */
    int dependents;          /* steps that wait for it */
    int visit;               /* of the search for cycles */
    size_t next;
    int down;
};

struct steps_graph {
    const struct decoder *d;
    const struct spot *root;
    struct spot lists[2]; /* `steps`, `finally` */
    struct vertex *items;
    size_t count;
    int *edges; /* of all items */
    int *order; /* by number; the steps of each `after` come before it */
    size_t ordered;
    struct table names;
    bool lacks_names; /* a step has none that could be read */
    bool is_vague;    /* a name or an `after` could not be read: some steps are not known */
    bool is_wrong;    /* an error was found in who waits for whom */
    bool has_bad_refs;
    uint64_t *past; /* by step and step: does the other one come before it? NULL: not asked yet */
};

/* E_NOMEM. A name that is given twice is in `names` once. */
MUST_CHECK enum status steps_graph_init(struct steps_graph *graph, const struct decoder *d,
                                        const struct spot *root);
void steps_graph_release(struct steps_graph *graph);

/* The step of this name, which need not end there; NO_STEP: none. */
int steps_graph_find(const struct steps_graph *graph, const char *name, size_t length);

/* The name nearest to a mistyped one; NULL: none is near. */
const char *steps_graph_nearest(const struct steps_graph *graph, const char *typed);

struct spot steps_graph_spot(const struct steps_graph *graph, const struct vertex *vertex);

/* Names, `after`, limits, and cycles; each error is told. */
MUST_CHECK enum status steps_graph_check(struct steps_graph *graph);

/* Does the step `other` end before `step` begins, in every instance? Only of a graph that is
 * neither vague nor wrong. *ret is written on OK. */
MUST_CHECK enum status steps_graph_is_before(struct steps_graph *graph, int other, int step,
                                             bool *ret);

/* References in the texts of all steps (steps_refs.c). */
MUST_CHECK enum status steps_refs_check(struct steps_graph *graph);

#endif
