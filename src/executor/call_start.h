/* The request of an HTTP call: the job's texts with their variables, as words for peal-call. */
#ifndef PEAL_CALL_START_H
#define PEAL_CALL_START_H

#include "call_request.h"
#include "job.h"
#include "run.h"
#include "strbuf.h"

struct call_start {
    struct call_words words;
    struct strbuf body;
    bool has_body;
};

/* E_INVALID: *why says what a variable has made impossible. `allow` is the operator's list. */
MUST_CHECK enum status call_start_init(struct call_start *start, const struct run *run,
                                       const struct job *job, const char *node, const char *allow,
                                       struct strbuf *why);
void call_start_release(struct call_start *start);

#endif
