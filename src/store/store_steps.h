/* Workflows in the store: how an instance begins, and what follows from the ends of its steps. A
 * part of store.h, whose claims, takes and finishes carry these.
 *
 * The instance of a workflow is a run without a process (run_is_instance), RUNNING while its steps
 * are under way; each step is a run with attempts of its own. Who reads the plan of the instance
 * (workflow/flow.h) says with each end which runs wait for it; the store counts, in the same
 * transaction, and so every step is made DUE once, whoever ends the others.
 *
 * A run of a workflow stays in the store until its instance has ended: STORE_FORGET leaves it there
 * before that. So a step that has ended is never made again.
 *
 * A STORE_ORDER for an instance or a fan-out, and `replace` for an instance, end its steps that are
 * DUE as SKIPPED with that reason, and feed a STORE_CHANGE_KILL for the run itself, for whoever has
 * steps of it under way; a fan-out makes no more items. The others drain through the links; steps
 * with `is_final` go on. A pause is not for them. When the job is purged, all that have no owner
 * end: SKIPPED, and the RUNNING ones KILLED (DELETED). */
#ifndef PEAL_STORE_STEPS_H
#define PEAL_STORE_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "id.h"
#include "run.h"

/* A run of the instance that is to be made. It gets job, job_name, tick, traceparent, `by`, input
 * and job_revision of the instance, and CAUSE_STEP. claimed_ms is when it became DUE,
 * of a further attempt when the one before it ended. */
struct store_step {
    struct id id;
    int part;                  /* unique in the instance */
    char step[STEP_NAME_SIZE]; /* its name */
    int attempts;              /* as run.attempts */
    bool is_final;
    char groups[RUN_GROUPS_SIZE];
    int priority;
};

/* Limit of the steps that one request makes. */
enum { STORE_STEPS_MAX = 64 };

/* A run becomes RUNNING, and its first steps are made, DUE: a claimed tick or a taken run of a
 * workflow becomes an instance, with `plan` as the document of run.input; a step that is a fan-out
 * gets its first items, 0, 1 ... It has no owner, but keeps the nonce of the claim or the take, by
 * which a repeat is told. started_ms is the time of either. With `expected` 0 there is nothing to
 * wait for: the run ends as OK at once, as store_link says. The documents that a request writes are
 * fed before its runs. */
struct store_opening {
    struct store_step *steps; /* owned by the caller until done */
    size_t count;             /* at most STORE_STEPS_MAX */
    int expected;     /* ends that it waits for; 0: and no steps, for a fan-out of nothing */
    const char *plan; /* of an instance; owned likewise. It replaces the input that a request has
                         handed over, whose document is removed */
    struct id input;  /* the name of its document, which becomes run.input */
    bool is_wanted;   /* false: not a workflow, all else is ignored */
};

/* A run of the same instance that waits for the end of a step, fan-out or item. Let `end` be the
 * state of the run that ends, with all its attempts.
 *
 * A step (`step.part` is its number): if there is no run of it, it is made, QUEUED. While it is
 * QUEUED, one more of its `inputs` is met (end is in `states`), or else unmet; it becomes DUE when
 * `join` of them are met, or all of them have ended: then met < join, and whoever takes it ends it
 * as SKIPPED (UPSTREAM). So a step that waits for all of others ends after all of them.
 *
 * A fan-out, or the instance (`is_group`), while it is RUNNING: one more of what it expects is met,
 * if `end` is OK or SKIPPED, or else unmet; the first that is unmet becomes its `outcome`, and
 * `detail` names it. So does the first step or fan-out of an instance that is neither OK nor
 * SKIPPED, whether the instance waits for it or not: one that fails makes it fail, also if another
 * step runs on failure. A fan-out that has not made all items makes the next, DUE, if `step` has a
 * part: as item k = joins.made, with the part FLOW_ITEMS * link.part + k (workflow/flow.h) and the
 * name "STEP[k]", of which `step` has STEP alone. When all are in, the run ends: if it, or its
 * instance, was to be killed as KILLED or, for TIMEOUT, TIMED_OUT, with that reason; else as OK,
 * or, with an outcome, FAILED (STEP_FAILED). It has no finished_ms (run_is_unfollowed): the first
 * STORE_FINISH of it sets that, and follows its own links, nexts and the job's last run.
 *
 * A run that is in any other state is left as it is, and so are all if the instance has ended. A
 * step that the store ends by itself is unfollowed likewise. */
struct store_link {
    struct store_step step; /* is_group: the next item of a fan-out; `part` 0: there is none */
    int part;               /* is_group: of the run that waits; 0: the instance */
    unsigned states;        /* ends that are met: 1 << state */
    int inputs, join;
    bool is_group;
};

/* Limit of the links of one end. */
enum { STORE_LINKS_MAX = 256 };

/* What a step has written for later ones, a document of this kind; its name is
 * "<instance>.<part>". It goes with its run. */
#define OUTPUT_DOC "output"
enum { OUTPUT_JSON_MAX = 32 * 1024 };

#endif
