/* What a request hands over for one run: a document of the store that the run names (run.input). It
 * is written in one transaction with the run, shared by the attempts at its tick, kept with the run
 * in the history, and gone from the store when the last of them is. */
#ifndef PEAL_RUN_INPUT_H
#define PEAL_RUN_INPUT_H

#include <jansson.h>

#include "job.h"

#define INPUT_DOC "input" /* the kind of the document; its name is the id as text */

enum { INPUT_JSON_MAX = 48 * 1024 };

/* What is wrong with a parameter: its name, and the rest of a sentence. */
struct input_error {
    char name[PARAM_NAME_MAX + 1]; /* cut, if it is longer; empty: not one parameter's */
    char why[PARAM_WHY_SIZE];
};

/* The values of all parameters of the job: those `given` (an object; NULL: none), else the
 * defaults. *ret maps names to texts, as the run gets them. E_INVALID: a name that the job does not
 * declare, a value that does not fit, or one that is missing; *reterr says which. */
MUST_CHECK enum status input_choose_params(const struct job *job, const json_t *given, json_t **ret,
                                           struct input_error *reterr);

/* The document as text, from malloc; *ret is NULL if there is nothing to hand over. E_TOO_LARGE:
 * over INPUT_JSON_MAX. */
MUST_CHECK enum status input_encode(const json_t *params, char **ret);

/* Applies the document to the definition that a run is to start from. E_INVALID: it can't be read,
 * or does not fit the definition, which may have been changed since the request; *reterr says why.
 * `text` NULL: the defaults, which is E_INVALID for a parameter without one. */
MUST_CHECK enum status input_apply(struct job *job, const char *text, struct input_error *reterr);

#endif
