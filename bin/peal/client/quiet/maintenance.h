/* Maintenance and pauses of the cluster or of a namespace (/maintenance): what several commands
 * share. */
#ifndef PEAL_CLIENT_MAINTENANCE_H
#define PEAL_CLIENT_MAINTENANCE_H

#include "jobs/job_match.h"

/* The request of peal pause and peal resume: jobs, or all of the cluster or of a namespace. */
struct pause_request {
    struct match_request jobs;
    bool cluster;
    const char *space, *reason;
};

/* Is it about more than the jobs? */
bool pause_is_wide(const struct pause_request *request);

/* EXIT_USAGE: jobs are named, too; reported. */
MUST_CHECK enum exit_code pause_check(const struct pause_request *request);

/* Posts what is to be; tells it. */
MUST_CHECK enum exit_code maintenance_post(struct client *client, json_t *body);

/* Ends the pauses of the cluster (`space` NULL) or of the namespace. EXIT_NOT_FOUND: there is none;
 * reported. */
MUST_CHECK enum exit_code maintenance_resume(struct client *client, const char *space);

/* A line for each that is active, on stdout, after a label of that width. */
void maintenance_print_active(int width, const json_t *list);

#endif
