/* Jobs by filter instead of by name, for commands that act on many: first a preview, then the
 * action, page by page, by the agent (POST /jobs:act). */
#ifndef PEAL_JOB_MATCH_H
#define PEAL_JOB_MATCH_H

#include "client/client.h"

struct job_match {
    const char *query, *label, *owner, *node, *status; /* NULL: any */
    bool all, dry_run, yes;
};

/* The request of such a command: names, or a filter. */
struct match_request {
    struct request_base base;
    struct words names;
    struct job_match match;
};
extern const struct option_row match_arguments[], match_options[];

/* Was a filter given? */
bool job_match_is_given(const struct job_match *match);

/* EXIT_USAGE: neither names nor a filter (reported with the command's `too_few`), or both;
 * reported. */
MUST_CHECK enum exit_code job_match_check(const struct match_request *request);

/* Performs `action` on all of them; `done` is its past participle for messages, in
 * English. */
enum exit_code job_match_run(struct client *client, const struct match_request *request,
                             const char *action, const char *done);

#endif
