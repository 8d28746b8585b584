/* The digest of a definition: who has a definition at hand learns from it whether the agent's is
 * the same, without reading it. Pure. */
#ifndef PEAL_JOB_DIGEST_H
#define PEAL_JOB_DIGEST_H

#include <stddef.h>

#include "status.h"

struct job;

enum { JOB_DIGEST_TEXT = 33 }; /* 32 hex digits and the terminator */

/* `text` is the definition as compact JSON without meta, its members in the order of the table of
 * fields: what job_encode_json gives, or a part of what job_encode_text has stored. */
void definition_digest(const char *text, size_t length, char ret[JOB_DIGEST_TEXT]);

/* The same for a job. E_NOMEM. */
MUST_CHECK enum status job_digest(const struct job *job, char ret[JOB_DIGEST_TEXT]);

#endif
