/* Inside of flow.h: the plan as it is kept, and what the files of this room share.
 *
 * The document is one of run_input.h with one more member:
 *
 *     "plan": {"version": 1, "workflow": NAME, "uid": UID, "timeout_s": N,
 *              "steps": [STEP ...], "scopes": [SCOPE ...]}
 *
 *     STEP: "name"
 *           "job": fields of a definition (job_codec.h), without name and schedule
 *           "own": true: its command and standard input may hold ${REFERENCE}
 *           "values": variables of its environment whose values hold ${REFERENCE}
 *           "with": values for parameters of the job, likewise
 *           "after": [[STEP, ON] ...], "join", "needs": [[SCOPE, ON] ...], "when"
 *           "outputs": [KEY ...]: what it writes; left out: not declared
 *           "each": {"items": [...]} or {"from", "to", "by"} or {"of"} or {"shards"}, with
 * "at_once" "final": true, "scope": where its references are looked up, "ends": true: the instance
 *           waits for it
 *
 *     SCOPE, from 1 on (0 is the workflow itself): a workflow that was used as a step
 *           "name", "in": the scope of that step
 *           "after", "join", "needs", "when": of that step
 *           "params": {NAME: {"value", "type", "allowed"}}, looked up in the scope around it
 *           "results": steps whose ends are its end
 *
 * and perhaps "resume": {"of": RUN, "done": {NAME: DONE ...}}, the steps that are left out
 * (flow_resume.c):
 *
 *     DONE: "run": the id of its run in the earlier instance
 *           "values": what it has written; of a fan-out "items": [VALUES ...]
 *
 * A step and a scope are numbers here, and ON one of enum flow_on. */
#ifndef PEAL_FLOW_INTERNAL_H
#define PEAL_FLOW_INTERNAL_H

#include "workflow/flow.h"
#include "workflow/refs.h"
#include "workflow/steps.h"

enum { FLOW_VERSION = 1, FLOW_VARIABLE_SIZE = 160 };

#define STEP_VARIABLE "PEAL_STEPS_"

/* How a step must have ended; the first three as enum after_on. */
enum flow_on { FLOW_SUCCESS, FLOW_FAILURE, FLOW_ALWAYS, FLOW_PASSED, FLOW_ONS };

/* A bit for each wanted state. PASSED: OK or SKIPPED, which is no failure. */
unsigned flow_states(enum flow_on on);

struct flow_wait {
    int of; /* a step, or a scope */
    enum flow_on on;
};

/* When a step runs, or a workflow that was used as a step. */
struct flow_gate {
    struct flow_wait *after, *needs;
    size_t after_count, need_count;
    int join;         /* of `after` */
    const char *when; /* NULL: always */
};

struct flow_step {
    const char *name;
    char *json; /* with name and schedule */
    struct flow_gate gate;
    const json_t *values, *with, *each; /* NULL: none */
    const json_t *outputs;              /* keys that it must write; NULL: not declared */
    struct flow_edge *edges;
    size_t edge_count;
    int scope, at_once;
    bool is_own, is_final, ends;
    const json_t *done; /* NULL: it is to run */
};

struct flow_part {
    const char *name;
    struct flow_gate gate;
    const json_t *params;
    int *results;
    size_t result_count;
    int in;
};

struct flow {
    json_t *document; /* owns the texts */
    const char *workflow;
    const json_t *params;
    struct flow_step *steps;
    struct flow_part *scopes; /* [0] has nothing but params, which are those of the instance */
    int count, scope_count, last_count;
    int64_t timeout_s;
};

/* Takes the document over, also if it fails. E_INVALID: `why`. `is_whole`: as flow_decode_whole. */
MUST_CHECK enum status flow_load(json_t *document, bool is_whole, struct flow **ret, char *why,
                                 size_t size);

/* The JSON value of a text. E_INVALID: *reterr. Of a lack of memory jansson's parser does not
 * always tell by its code, but then it says nothing else either. */
MUST_CHECK enum status flow_parse(const char *text, size_t length, json_t **ret,
                                  json_error_t *reterr);

/* The value as compact JSON; NULL: out of memory, of which json_dumps does not always tell. */
char *flow_dump(const json_t *value);

/* A copy of a map, whose members it shares. NULL: out of memory, of which json_copy does not always
 * tell. */
json_t *flow_copy(const json_t *map);

/* Fills `why`. */
void flow_say(char *why, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, and is E_INVALID, which analysers see, too. */
#define flow_fail(why, size, ...) (flow_say((why), (size), __VA_ARGS__), status_invalid())

/* The step of this name as seen in a scope; -1: none. Likewise the scope; 0: none. */
int flow_find_in(const struct flow *flow, int scope, const char *name);
int flow_find_scope(const struct flow *flow, int scope, const char *name);

/* "" and "outer/": what names in this scope begin with. */
void flow_prefix(const struct flow *flow, int scope, char prefix[STEP_NAME_SIZE]);

/* ---- plan/flow_step.c: what a step runs ---- */

/* What a workflow says for all of its steps: fields of a definition. NULL: out of memory. */
json_t *flow_defaults(const struct job *workflow);

/* Adds the members job, own, values and with to a step. `defaults` are of the workflow that has it;
 * `env` is what workflows around that one say of the environment, an object of texts; NULL: none.
 * E_INVALID: `why`. */
MUST_CHECK enum status flow_add_job(json_t *step, const struct job_step *definition,
                                    const json_t *defaults, const json_t *env,
                                    const struct flow_source *source, char *why, size_t size);

/* Does it hold something like ${...}? */
bool flow_is_template(const char *text);

/* ---- flow_resume.c: steps that are left out ---- */

/* Marks what the document says is done. */
MUST_CHECK enum status flow_mark_done(struct flow *flow, char *why, size_t size);

/* Takes it out of what the others wait for; edges are to be made anew. */
MUST_CHECK enum status flow_cut_done(struct flow *flow, char *why, size_t size);

/* How the step has ended; QUEUED: it has not, as far as known. */
enum run_state flow_end_state(const struct flow *flow, const struct flow_scope *scope, int step);

/* What it has written, or an item of it: a JSON object of texts, a new reference; *ret is untouched
 * if that is nothing. E_INVALID: *reterr. */
MUST_CHECK enum status flow_output_of(const struct flow *flow, const struct flow_scope *scope,
                                      int step, int item, json_t **ret, json_error_t *reterr);

/* The number of items of a fan-out that has ended. */
int flow_item_count(const struct flow *flow, const struct flow_scope *scope, int step);

/* ---- flow_output.c ---- */

/* Does it declare what it writes, and not this key? */
bool flow_lacks_output(const struct flow_step *step, const char *key);

/* ---- flow_check.c: references of a whole plan ---- */

/* Does every reference name something that has ended when it is looked up? */
MUST_CHECK enum status flow_check(const struct flow *flow, char *why, size_t size);

/* ---- flow_value.c ---- */

/* Where references of a step are looked up. */
struct flow_lookup {
    const struct flow *flow;
    const struct flow_scope *scope;
    int in;           /* a scope of the plan */
    const char *item; /* NULL: none */
    int index;
    unsigned char *gates; /* by scope: what is known of its gate */
    char *why;
    size_t size;
};

MUST_CHECK enum status flow_lookup_init(struct flow_lookup *lookup, const struct flow *flow, int in,
                                        const struct flow_scope *scope, char *why, size_t size);
void flow_lookup_release(struct flow_lookup *lookup);

/* Appends the value of a reference. E_INVALID: `why`. */
MUST_CHECK enum status flow_get(void *lookup, const struct ref *ref, struct strbuf *out);

/* Appends the text with the values of its references. */
MUST_CHECK enum status flow_fill(struct flow_lookup *lookup, const char *text, struct strbuf *out);

/* The same as a new text. */
MUST_CHECK enum status flow_fill_text(struct flow_lookup *lookup, const char *text, char **ret);

/* How a workflow that was used as a step has ended: OK, FAILED or SKIPPED; QUEUED: it has not.
 * flow_gates.c */
MUST_CHECK enum status flow_scope_state(struct flow_lookup *lookup, int scope, enum run_state *ret);

/* The item of a fan-out: flow_items.c. *ret_is_literal: as the definition has it. */
MUST_CHECK enum status flow_item(const struct flow *flow, int step, const struct flow_scope *scope,
                                 int item, char **ret, bool *ret_is_literal, char *why,
                                 size_t size);

#endif
