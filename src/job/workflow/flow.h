/* The plan of one instance of a workflow: the steps as they were when the instance began, with
 * references to jobs and other workflows replaced by what those run. It is kept as a text beside
 * the instance, so that edits do not reach it. Pure: the engine asks it what follows from an end.
 *
 * Runs of an instance have numbers (run.part): 0 the instance, 1 + i the step i of the plan, and an
 * item k (from 0) of a fan-out FLOW_ITEMS * (1 + i) + k. */
#ifndef PEAL_FLOW_H
#define PEAL_FLOW_H

#include <jansson.h>

#include "job.h"
#include "run.h"
#include "strbuf.h"

struct flow;

enum {
    FLOW_INSTANCE = 0,
    FLOW_ITEMS = 100000,
    FLOW_TEXT_MAX = 380 * 1024,
    FLOW_DEPTH_MAX = 8,               /* workflows within each other */
    FLOW_VALUE_MAX = 120 * 1024,      /* bytes of a value, which a variable of a process can hold */
    FLOW_OUTPUT_READ_MAX = 64 * 1024, /* bytes of the file that a step writes */
    FLOW_OUTPUT_MAX = 32 * 1024,      /* bytes of the JSON that is kept of it */
};

static inline int flow_part_of(int step)
{
    return 1 + step;
}
static inline bool flow_part_is_item(int part)
{
    return part >= FLOW_ITEMS;
}
/* The step of a part that is not the instance, and the item; -1: not an item. */
static inline int flow_step_of(int part)
{
    return (part >= FLOW_ITEMS ? part / FLOW_ITEMS : part) - 1;
}
static inline int flow_item_of(int part)
{
    return part >= FLOW_ITEMS ? part % FLOW_ITEMS : -1;
}

/* ---- made ---- */

/* Finds the definitions that steps refer to. */
struct flow_source {
    /* The stored text of the job of this name; NULL: there is none. */
    const char *(*find)(void *context, const char *name);
    void *context;
};

/* The text of a new instance's plan, from malloc, with what was handed over for the instance in it
 * (`input`, a document of run_input.h; NULL: nothing), and without the steps that its `resume` says
 * are done. E_INVALID: a reference names nothing, or
 * itself, or a parameter is missing or does not fit; `why` says what. E_TOO_LARGE: over
 * FLOW_TEXT_MAX. */
MUST_CHECK enum status flow_text(const struct job *workflow, const char *input,
                                 const struct flow_source *source, char **ret, char *why,
                                 size_t size);

/* The text is a document of run_input.h, too, whose params are those of the instance. E_INVALID:
 * damaged, or of a newer version. */
MUST_CHECK enum status flow_decode(const char *text, struct flow **ret);
/* The same, with all edges, also those of steps that are done: to be shown. */
MUST_CHECK enum status flow_decode_whole(const char *text, struct flow **ret);
struct flow *flow_free(struct flow *flow);

/* ---- its steps ---- */

int flow_count(const struct flow *flow);
const char *flow_name(const struct flow *flow, int step);
/* A definition as the store keeps those of jobs, for its policies: where, retries, timeout ... */
const char *flow_json(const struct flow *flow, int step);
int flow_join(const struct flow *flow, int step);   /* ends that it needs; 0: it waits for none */
int flow_inputs(const struct flow *flow, int step); /* steps that it waits for */
bool flow_is_final(const struct flow *flow, int step);
bool flow_is_fan_out(const struct flow *flow, int step);
const char *flow_when_text(const struct flow *flow, int step); /* NULL: always */
/* `each` as the plan has it, a new reference. NULL: not a fan-out, or out of memory. */
json_t *flow_each_shown(const struct flow *flow, int step);
int flow_at_once(const struct flow *flow, int step);
int flow_last_count(const struct flow *flow);             /* whose ends the instance waits for */
int flow_find(const struct flow *flow, const char *name); /* -1: none */
int64_t flow_timeout_s(const struct flow *flow);          /* of the whole; 0: none */

/* Was it left out, because it ended well in an earlier instance, or was to be skipped? It has no
 * run in this one, counts as OK, and its outputs are those of the earlier run. */
bool flow_is_done(const struct flow *flow, int step);
const char *flow_done_run(const struct flow *flow, int step); /* its id as text; NULL: none */

/* "load", "load[3]". */
void flow_name_part(const struct flow *flow, int part, char name[STEP_NAME_SIZE]);

/* What waits for the end of this step (or fan-out): other steps, and, last, the instance itself.
 * The instance waits for every step but those whose failure another step waits for and for nothing
 * else, unless `always`: that failure is handled, and that step ends later. So a failure is not
 * hidden by the steps that are skipped because of it, and an instance ends after all of its steps.
 *
 * `on: success` is met by OK; `failure` by all other ends but SKIPPED; `always` by any end. */
struct flow_edge {
    int step; /* -1: the instance */
    unsigned states;
};
const struct flow_edge *flow_edges(const struct flow *flow, int step, size_t *ret_count);

/* ---- values ---- */

/* What expressions and templates can refer to. */
struct flow_scope {
    /* The last attempt at the step; NULL: not ended yet, as far as known. */
    const struct run *(*end)(void *context, int step);
    /* What it has written, a JSON object of texts; NULL: nothing. For an item of a fan-out
     * `item` >= 0. */
    const char *(*output)(void *context, int step, int item);
    void *context;
    const struct run *instance;
};

/* Is the step to run, by its `when`? Likewise false if it waits for a workflow that was used as a
 * step and did not end as required, or is a step of one that does not run: `why` names that
 * workflow, and is empty otherwise. E_INVALID: it can't be evaluated; `why` says what is wrong. */
MUST_CHECK enum status flow_when(const struct flow *flow, int step, const struct flow_scope *scope,
                                 bool *ret, char *why, size_t size);

/* How many items the fan-out has. E_INVALID: `why`. */
MUST_CHECK enum status flow_items(const struct flow *flow, int step, const struct flow_scope *scope,
                                  int *ret, char *why, size_t size);

/* The job to start for this part, new: its templates are filled (${params.NAME},
 * ${steps.NAME.KEY}, ${item}, ${index}, ${instance}), in a shell script by variables of the
 * environment, so that a shell never reads a value as code; and PEAL_WORKFLOW, PEAL_INSTANCE,
 * PEAL_STEP, PEAL_ITEM, PEAL_INDEX, PEAL_PARAM_... are in its environment. E_INVALID: `why`. */
MUST_CHECK enum status flow_job(const struct flow *flow, int part, const struct flow_scope *scope,
                                struct job **ret, char *why, size_t size);

/* ---- outputs ---- */

/* Reads what a step wrote to the file PEAL_OUTPUT: lines key=value (a value of several lines as
 * key<<END ... END), or one JSON object. *ret is a JSON object as text, from malloc; NULL: nothing
 * was written. E_INVALID: `why`, with the line. */
MUST_CHECK enum status flow_read_output(const char *text, size_t length, char **ret, char *why,
                                        size_t size);

/* Has the step written the outputs that it declares? `values`: the JSON object; NULL: nothing was
 * written. E_INVALID: `why`. */
MUST_CHECK enum status flow_check_output(const struct flow *flow, int step, const char *values,
                                         char *why, size_t size);

#endif
