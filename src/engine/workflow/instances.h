/* The open instances of workflows: the plan of each, decoded, and what its steps have written, from
 * the store's feed. Their runs are in the open runs. Whoever asks for the terms of a run (where it
 * may run, its retries, its timeout) gets those of the step, or else of the job. */
#ifndef PEAL_INSTANCES_H
#define PEAL_INSTANCES_H

#include "state/catalog.h"
#include "state/inputs.h"
#include "state/open_run.h"
#include "workflow/flow.h"

struct instances {
    struct catalog *catalog;
    const struct open_runs *runs;
    const struct inputs *inputs; /* has the texts of the plans */
    struct zone_db *zones;
    struct table frozen;   /* decoded plans, by their text: many instances may have the same one */
    struct table by_input; /* the plan of each instance, by the name of its document */
    struct table outputs;  /* by the name of their document */
};

void instances_init(struct instances *instances, struct catalog *catalog,
                    const struct open_runs *runs, const struct inputs *inputs,
                    struct zone_db *zones);
void instances_release(struct instances *instances); /* before the catalog */

/* A document was put or deleted: of the kind OUTPUT_DOC (E_NOMEM); of the kind INPUT_DOC, after the
 * inputs have taken it. */
MUST_CHECK enum status instances_take_output(struct instances *instances,
                                             const struct store_doc *doc);
void instances_take_input(struct instances *instances, const struct store_doc *doc);

/* The plan of the instance that the run is, or is a step of. NULL: the feed has not delivered it
 * yet, or it can't be decoded: of a newer version, or out of memory. */
const struct flow *instances_flow(struct instances *instances, const struct run *run);

/* The definition whose terms the run has: of a step the step's, which is not among the jobs of the
 * catalog; else its job's. NULL: not known (yet). */
const struct catalog_job *instances_terms(struct instances *instances, const struct run *run);

/* What the expressions and templates of the run's instance refer to. Valid until the next change of
 * the feed, as long as `run`. */
struct instance_scope {
    struct flow_scope flow;
    struct instances *instances;
    struct id id;
};
void instances_scope(struct instances *instances, const struct run *run,
                     struct instance_scope *ret);

/* What a step, or an item of one, has written: a JSON object. NULL: nothing. */
const char *instances_output(const struct instances *instances, const struct id *instance,
                             int part);

/* What the history keeps of it, beside the run: {"values": OBJECT}, or of a fan-out {"items":
 * [OBJECT or null ...]}, from malloc. *ret is NULL if it has written nothing, or more than
 * INPUT_DOC_MAX. E_NOMEM. */
MUST_CHECK enum status instances_record(const struct instances *instances, const struct run *run,
                                        char **ret);

#endif
