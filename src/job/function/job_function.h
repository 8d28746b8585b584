/* The field `function` of a job: a run is a call inside a process of a program that embeds the
 * library, and that has registered a function of this name. */
#ifndef PEAL_JOB_FUNCTION_H
#define PEAL_JOB_FUNCTION_H

#include "job.h"

struct decoder;
struct spot;

/* What is wrong with the name of a program; NULL: nothing. 1 to PROGRAM_MAX letters, digits and
 * . _ - : it is a part of the names of the program's nodes. */
const char *program_complaint(const char *program);

/* The name under which the program has registered the function: its own, or that of the job. */
const char *job_function_name(const struct job *job);

/* The fields that have no meaning for a call inside a program. */
MUST_CHECK enum status check_function(const struct decoder *d, const struct spot *root);

#endif
