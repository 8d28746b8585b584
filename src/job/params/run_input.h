/* What a request hands over for one run: a document of the store that the run names (run.input). It
 * is written in one transaction with the run, shared by the attempts at its tick, kept with the run
 * in the history, and gone from the store when the last of them is. */
#ifndef PEAL_RUN_INPUT_H
#define PEAL_RUN_INPUT_H

#include <jansson.h>

#include "job.h"

#define INPUT_DOC    "input"    /* the kind of the document; its name is the id as text */
#define WEBHOOK_DOC  "webhook"  /* a webhook of a job; its name is the uid as text */
#define DELIVERY_DOC "delivery" /* what a webhook was sent, and the run that was made of it */

/* Of the text without a body, and with one: base 64 takes a third more than its bytes. */
enum { INPUT_JSON_MAX = 48 * 1024, INPUT_DOC_MAX = 400 * 1024 };

/* What one run has other than its definition says. */
struct run_input {
    json_t *params;     /* names to texts; NULL: none */
    json_t *env;        /* names to texts, beside and before those of the job; NULL: none */
    int64_t timeout_s;  /* -1: the job's */
    json_t *body;       /* as run_body_encode makes it; NULL: none */
    json_t *resume;     /* of an instance: the steps that are done (workflow/flow.h); NULL: none */
    json_t *tracestate; /* a text, beside the traceparent of the run (trace.h); NULL: none */
};

/* What is wrong with a value: its name, and the rest of a sentence. */
struct input_error {
    char field[8];                 /* "params", "env" or "body" */
    char name[PARAM_NAME_MAX + 1]; /* cut, if it is longer; empty: not one value's */
    char why[PARAM_WHY_SIZE];
};

/* The values of all parameters of the job: those `given` (an object; NULL: none), else the
 * defaults. *ret maps names to texts, as the run gets them. E_INVALID: a name that the job does not
 * declare, a value that does not fit, or one that is missing; *reterr says which. */
MUST_CHECK enum status input_choose_params(const struct job *job, const json_t *given, json_t **ret,
                                           struct input_error *reterr);

/* Is it a map of variables of an environment to texts? E_INVALID: *reterr. */
MUST_CHECK enum status input_check_env(const json_t *env, struct input_error *reterr);

/* Could a run of the job have a body? E_INVALID: *reterr. */
MUST_CHECK enum status input_check_body(const struct job *job, struct input_error *reterr);

/* The document as text, from malloc; *ret is NULL if there is nothing to hand over. E_TOO_LARGE:
 * over INPUT_JSON_MAX, or INPUT_DOC_MAX with a body or with steps that are done. */
MUST_CHECK enum status input_encode(const struct run_input *input, char **ret);

/* The parts of a document; NULL: nothing was handed over. What can't be read is left out. */
struct run_input input_decode(const char *text);
void input_release(struct run_input *input);

/* Applies the document to the definition that a run is to start from. E_INVALID: it can't be read,
 * or does not fit the definition, which may have been changed since the request; *reterr says why.
 * `text` NULL: the defaults, which is E_INVALID for a parameter without one. */
MUST_CHECK enum status input_apply(struct job *job, const char *text, struct input_error *reterr);

/* The tracestate alone. E_NOMEM. */
MUST_CHECK enum status input_apply_tracestate(struct job *job, const json_t *document);

#endif
