/* The steps of a workflow, or of an instance of it, as a graph or a table. */
#ifndef PEAL_STEPS_PRINT_H
#define PEAL_STEPS_PRINT_H

#include <jansson.h>

#include "cli/cli.h"
#include "strbuf.h"

/* The steps of a job's definition in the form of GET /runs/{id}/steps: `after` is a list of
 * {step, on}, final steps come last and wait for all that nobody else waits for. NULL: out of
 * memory. Empty: the job is not a workflow. */
json_t *steps_of_job(const json_t *job);

/* Of either. Those of an instance have a state. */
MUST_CHECK enum exit_code steps_draw(const json_t *steps);
MUST_CHECK enum exit_code steps_table(const json_t *steps);

/* "3 ok, 1 running": the numbers by state; nothing for an empty map. */
void state_counts_print(const json_t *counts, struct strbuf *out);

#endif
