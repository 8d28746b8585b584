/* The request of an HTTP call: the job's texts with their variables, as words for peal-call. */
#ifndef PEAL_CALL_START_H
#define PEAL_CALL_START_H

#include "call_request.h"
#include "job.h"
#include "run.h"
#include "run_environment.h"
#include "strbuf.h"

struct known_secrets;

struct call_start {
    struct call_words words;
    struct strbuf body;
    bool has_body;
    struct run_environment environment;
};

/* What is the same for all calls of a node. */
struct call_place {
    const char *node;
    const char *allow;                   /* the operator's list of addresses */
    const struct known_secrets *secrets; /* NULL: none */
};

/* Any other status than OK and E_NOMEM: *why says what a variable has made impossible, or which
 * secret is missing. Texts are wiped in the end. */
MUST_CHECK enum status call_start_init(struct call_start *start, const struct run *run,
                                       const struct job *job, const struct call_place *place,
                                       struct strbuf *why);
void call_start_release(struct call_start *start);

/* The secrets that are in it, as variables. */
char *const *call_start_secrets(const struct call_start *start);

#endif
