/* References to values of an instance, in expressions (when.h) and as ${...} in templates:
 *
 *     params.NAME            a parameter of the workflow
 *     steps.STEP.KEY         what the step has written to PEAL_OUTPUT under this key
 *     steps.STEP.state       how the step has ended: ok, failed, timed_out, killed, lost, skipped
 *     steps.STEP.exit_code   the exit code of its process
 *     item, index            of a fan-out: the item, and its number from 0
 *     instance               the run id of the instance
 *
 * A step inside of a workflow that is used as a step is steps.OUTER/INNER.KEY. All values are
 * texts; one that is missing is the empty text. */
#ifndef PEAL_REFS_H
#define PEAL_REFS_H

#include <stdbool.h>
#include <stddef.h>

#include "params/params.h"
#include "run.h"
#include "status.h"
#include "strbuf.h"

enum ref_kind {
    REF_PARAM,
    REF_OUTPUT,
    REF_STATE,
    REF_EXIT_CODE,
    REF_ITEM,
    REF_INDEX,
    REF_INSTANCE,
};

struct ref {
    enum ref_kind kind;
    char step[STEP_NAME_SIZE];     /* OUTPUT, STATE, EXIT_CODE */
    char name[PARAM_NAME_MAX + 1]; /* PARAM, OUTPUT: the key */
};

/* Reads a reference, which need not end at text[length]. What is wrong with it; NULL: nothing. */
const char *ref_read(const char *text, size_t length, struct ref *ret);

/* "rows", "state", "exit_code": of a reference to a step. */
const char *ref_key(const struct ref *ref);

/* Is it a key of an output? */
bool ref_is_key(const char *text, size_t length);

/* Which references are known where a text is written. */
struct ref_names {
    /* What is wrong with the reference; NULL: nothing. */
    const char *(*complain)(void *context, const struct ref *ref);
    void *context;
};

/* Where references get their values. */
struct ref_values {
    /* Appends the value; nothing, if there is none. E_NOMEM. */
    enum status (*get)(void *context, const struct ref *ref, struct strbuf *out);
    void *context;
};

/* The next ${REFERENCE} at or after *at: *ret_end is behind it, and *at at its `$`. False: no more.
 * Of other ${...} nothing is said: they are for whoever reads the text next. `$${` begins none.
 * `complaint` is set if it looks like a reference and is none, such as ${steps.a}. */
bool ref_next(const char **at, const char **ret_end, struct ref *ret, const char **complaint);

/* Checks all ${REFERENCE} of a text. E_INVALID: *reterr, with the column. */
MUST_CHECK enum status refs_check(const char *text, const struct ref_names *names,
                                  struct parse_error *reterr);

#endif
