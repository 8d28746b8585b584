/* Jobs that a filter takes instead of their names, for commands that do one thing to many: a look
 * first, then all of them, page by page, by the agent (POST /jobs:act). */
#ifndef PEAL_JOB_MATCH_H
#define PEAL_JOB_MATCH_H

#include "client/client.h"

struct job_match {
    const char *query, *label, *owner, *status; /* NULL: any */
    bool all, dry_run, yes;
};

/* What such a command is asked for: names, or a filter. */
struct match_request {
    struct request_base base;
    struct words names;
    struct job_match match;
};
extern const struct option_row match_arguments[], match_options[];

/* A filter is given: jobs are not meant by their names. */
bool job_match_is_given(const struct job_match *match);

/* EXIT_USAGE: neither names nor a filter are given (the command's `too_few` is what to say then),
 * or both, which has been told. */
MUST_CHECK enum exit_code job_match_check(const struct match_request *request);

/* Does `action` to all of them; `done` is what to say of it. */
enum exit_code job_match_run(struct client *client, const struct match_request *request,
                             const char *action, const char *done);

#endif
