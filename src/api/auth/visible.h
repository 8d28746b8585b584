/* What who asks may see. Handlers look at jobs and runs through these alone, so that somebody with
 * rights in one namespace meets nothing of the others; rows of the history and outputs come
 * through call.c, which asks here, too. */
#ifndef PEAL_API_VISIBLE_H
#define PEAL_API_VISIBLE_H

#include "call.h"
#include "definition/job_secrets.h"

bool call_sees(const struct call *call, const char *job_name);

/* How they see its definition: in clear text if they may define it, and if the answer is not kept
 * to be given again. `job_name` NULL: something that is no job. */
enum secrets call_secrets(const struct call *call, const char *job_name);

/* The right on this job, which need not exist; false: the call has failed. */
bool call_may_on(struct call *call, enum right right, const char *job_name);

/* A run that the engine knows, and that they may see; NULL: none. */
const struct run *call_open_run(const struct call *call, const struct id *id);
void call_each_open_run(const struct call *call,
                        void (*visit)(void *context, const struct run *run), void *context);

/* As catalog_each. */
void call_each_job(const struct call *call, const char *after, bool with_deleted,
                   bool (*visit)(void *context, const struct catalog_job *job), void *context);

/* Of those that are not deleted. */
size_t call_count_jobs(const struct call *call);

/* Takes out of an answer of the history what is not theirs. */
void hide_rows(const struct call *call, struct history_read *read);
void hide_log(const struct call *call, struct history_log *log);
void hide_changes(const struct call *call, struct history_changes *changes);

#endif
