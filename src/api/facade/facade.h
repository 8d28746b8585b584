/* What the facades share: the APIs of other programs, for clients that speak those. Each is a few
 * routes over the native handlers; what is answered is brought into the other shape at the end. */
#ifndef PEAL_FACADE_H
#define PEAL_FACADE_H

#include "call.h"

/* The bit of struct api_config.facades, which is a flag of its routes, too; 0: none of this name.
 * `length`: of the name. */
unsigned facade_by_name(const char *name, size_t length);

/* ---- runs with their output, newest first ---- */

/* One run for the answer; `output` is what was kept of it, as text. NULL: out of memory. */
typedef json_t *facade_show_run(const struct call *call, const struct run *run, const char *output);

/* Leaves out the first `skip` ended runs of the job that the call is about (call->argument) and
 * answers with an array of the `limit` that follow, through call->shape if there is one. */
void facade_list_runs(struct call *call, int64_t skip, int64_t limit, facade_show_run *show);

/* ---- the catalog, in slices ---- */

/* Shows one job as `show` does; calls `done` with all of them, which takes the array over. Those
 * from `start` (inclusive) to `end` (exclusive); *total counts all that `q` takes. */
typedef json_t *facade_show_job(const struct call *call, const struct catalog_job *job);
typedef void facade_jobs_done(struct call *call, json_t *items, int64_t total);
void facade_list_jobs(struct call *call, int64_t start, int64_t end, facade_show_job *show,
                      facade_jobs_done *done);

/* A job as the native API shows it; NULL: out of memory. */
json_t *facade_native_job(const struct call *call, const struct catalog_job *job);

/* The call is about this job from now on, on which its right is needed; false: the call has
 * failed. */
bool facade_name_job(struct call *call, const char *name);

#endif
