/* What peal validate does with files of jobs, for other commands. */
#ifndef PEAL_VALIDATE_H
#define PEAL_VALIDATE_H

#include "cli/cli.h"

/* Lists all mistakes; EXIT_INVALID: there are some. EXIT_USAGE: one of them is no file of jobs, nor
 * a folder of such. */
MUST_CHECK enum exit_code validate_job_files(const struct request_base *base,
                                             const struct words *files);

#endif
