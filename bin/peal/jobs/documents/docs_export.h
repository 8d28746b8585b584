/* What jobs name, as documents of a file. */
#ifndef PEAL_DOCS_EXPORT_H
#define PEAL_DOCS_EXPORT_H

#include "client/client.h"
#include "jobs/definition.h"

/* *ret: a list of documents as they stand in a file, those that others name first: all of the
 * agent, or only those that these jobs need. Secrets of channels are references. What the caller
 * may not see whole is left out, which is told. */
MUST_CHECK enum exit_code docs_export(struct client *client, const struct job_list *jobs, bool all,
                                      struct zone_db *zones, json_t **ret);

/* Puts the jobs that these wait for, or run as steps, in front of them, as far as the agent has
 * them, and says so. */
MUST_CHECK enum exit_code docs_export_add_jobs(struct client *client, const struct reading *reading,
                                               struct job_list *jobs);

/* Tells on stderr of what else the jobs need, and no file has: secrets. */
void docs_export_tell_secrets(const struct job_list *jobs);

#endif
