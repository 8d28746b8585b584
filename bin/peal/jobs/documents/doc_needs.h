/* Which jobs need which documents. */
#ifndef PEAL_DOC_NEEDS_H
#define PEAL_DOC_NEEDS_H

#include "jobs/documents/agent_docs.h"

/* Does the job name it, or is it in force for it: the group of its namespace, or a channel for all
 * jobs that name none? */
bool job_needs_doc(const struct job *job, const struct agent_doc *doc);

/* Does any of them? */
bool docs_are_needed(const struct job_list *jobs, const struct agent_doc *doc);

#endif
