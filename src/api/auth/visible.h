/* What a caller may see. Handlers access jobs and runs only through these functions, so that a
 * caller with rights in one namespace sees nothing of the others; rows of the history and outputs
 * come through call_history.c, which also filters here. */
#ifndef PEAL_API_VISIBLE_H
#define PEAL_API_VISIBLE_H

#include "call.h"
#include "definition/job_secrets.h"

bool call_sees(const struct call *call, const char *job_name);

/* Does the caller see jobs in the namespace, or in one within it? "": the cluster, as all do. */
bool call_sees_space(const struct call *call, const char *space);

/* How the caller sees the secrets of its definition: in clear text if they may define it, and if
 * the answer is not kept for repeats. `job_name` NULL: not a job. */
enum secrets call_secrets(const struct call *call, const char *job_name);

/* Checks the right on this job, which need not exist; false: the call has failed. */
bool call_may_on(struct call *call, enum right right, const char *job_name);

/* The name that the job has now; of a job that is gone, the one that it had `then`. The runs of a
 * renamed job belong to the namespace that it is in now; changes stay in that of their time. */
const char *job_name_now(const struct call *call, const struct id *uid, const char *then);

/* An open run that the caller may see; NULL: none. */
const struct run *call_open_run(const struct call *call, const struct id *id);

/* The label of nodes that have one limit together: "zone=eu", or of those without it "!zone", as
 * `where` writes it. null: "". */
json_t *json_group_label(const char *label);

/* A run that may be open. `retried` is null while it has ended and the store has not said yet
 * whether it gets another attempt. */
json_t *encode_open_run(const struct call *call, const struct run *run);
/* With the name that its job has now. */
void call_each_open_run(const struct call *call,
                        void (*visit)(void *context, const struct run *run), void *context);

/* As catalog_each. */
void call_each_job(const struct call *call, const char *after, bool with_deleted,
                   bool (*visit)(void *context, const struct catalog_job *job), void *context);

/* Without deleted jobs. */
size_t call_count_jobs(const struct call *call);

/* Remove from an answer of the history what the caller may not see; the other runs get the name
 * that their job has now. */
void hide_rows(const struct call *call, struct history_read *read);
void hide_log(const struct call *call, struct history_log *log);
void hide_changes(const struct call *call, struct history_changes *changes);

#endif
