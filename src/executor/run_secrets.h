/* The secrets of a job, as the last variables of its environment. */
#ifndef PEAL_RUN_SECRETS_H
#define PEAL_RUN_SECRETS_H

#include "job.h"
#include "run_environment.h"
#include "strbuf.h"

struct known_secrets;

/* `secrets` NULL: there are none. Anything but OK and E_NOMEM: *why says which one is missing, and
 * why. */
MUST_CHECK enum status run_secrets_add(struct run_environment *environment, const struct job *job,
                                       const struct known_secrets *secrets, struct strbuf *why);

#endif
