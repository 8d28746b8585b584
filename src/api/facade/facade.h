/* Shared by the facades, the APIs of other programs for their clients. Each is a few routes over
 * the native handlers, whose answers are converted at the end. */
#ifndef PEAL_FACADE_H
#define PEAL_FACADE_H

#include "call.h"

/* The facade's bit in api_config.facades, which is also its route flag; 0: unknown name. `length`:
 * of the name. */
unsigned facade_by_name(const char *name, size_t length);

/* ---- runs with their output, newest first ---- */

/* Encodes one run for the answer; `output` is its kept output as text. NULL: out of memory. */
typedef json_t *facade_show_run(const struct call *call, const struct run *run, const char *output);

/* Answers with an array of `limit` ended runs of the job call->argument after the first `skip`,
 * through call->shape if there is one. */
void facade_list_runs(struct call *call, int64_t skip, int64_t limit, facade_show_run *show);

/* ---- the catalog, in slices ---- */

/* Encodes the jobs from `start` (inclusive) to `end` (exclusive) with `show`, and calls `done` with
 * them, which takes the array over; `total` counts all that match `q`. */
typedef json_t *facade_show_job(const struct call *call, const struct catalog_job *job);
typedef void facade_jobs_done(struct call *call, json_t *items, int64_t total);
void facade_list_jobs(struct call *call, int64_t start, int64_t end, facade_show_job *show,
                      facade_jobs_done *done);

/* A job as the native API shows it; NULL: out of memory. */
json_t *facade_native_job(const struct call *call, const struct catalog_job *job);

/* Sets the call's job, on which its right is checked; false: the call has failed. */
bool facade_name_job(struct call *call, const char *name);

#endif
