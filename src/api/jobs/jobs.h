/* Shared by the handlers of jobs. */
#ifndef PEAL_API_JOBS_H
#define PEAL_API_JOBS_H

#include "call.h"
#include "change.h"
#include "definition/job_codec.h"
#include "definition/job_secrets.h"
#include "jobs/quota.h"
#include "params/run_input.h"

/* Writes the job as the API shows it, with its load and its problems; `fields` as for
 * job_text_write. */
void write_job(const struct call *call, const struct catalog_job *job, const char *fields,
               struct strbuf *out);

/* Answers with the job as it is in the catalog now, and its revision as ETag. */
void reply_job(struct call *call, int status, const struct catalog_job *job);

/* The decoded definition of the catalog; NULL: the call has failed. The caller frees it. */
struct job *stored_job(struct call *call, const struct catalog_job *job);

/* The last deleted job of that name that can be restored; NULL: none. */
const struct catalog_job *deleted_job(const struct call *call, const char *name);

/* ---- definitions on their way to the store ---- */

/* Ledger entries of the due ticks of a definition that is replaced or deleted. */
struct passes {
    struct ledger_entry *entries;
    size_t count;
    int64_t seen_cursor_ms; /* of the job then */
};

/* E_NOMEM. */
MUST_CHECK enum status passes_find(const struct call *call, struct catalog_job *job,
                                   enum run_reason reason, struct passes *ret);
void passes_put(const struct passes *passes, struct store_put_job *put);

/* Did the store refuse a change only because a tick of the job was decided meanwhile? Then the
 * definition is still the one that the client has seen. */
bool put_met_a_tick(const struct store_put_job *put);

enum write_kind {
    WRITE_CREATE,
    WRITE_CHANGE,
    WRITE_ADOPT, /* the definition is the same; files define it from now on */
    WRITE_NOTHING,
};

struct job_write {
    enum write_kind kind;
    struct id uid;
    bool paused;
    struct job *job;  /* the new definition; NULL: given up, since its text is enough */
    char *json;       /* the same, encoded for the store */
    char *before;     /* the stored definition; NULL: none */
    bool waits_anew;  /* its `after` has changed: call after_check_job */
    bool refers_anew; /* its steps have changed, and name other jobs: call step_check_job */
    bool defines;     /* it changes what runs, or as whom: needs RIGHT_DEFINE */
    int64_t revision; /* of the replaced definition; 0: none */
    int64_t cursor_ms;
    struct passes passes;
    struct store_want
        *wants; /* the jobs that a new `after` names, as long as they have the names */
    size_t want_count;
};

/* Who wrote a definition. */
struct job_author {
    enum secrets seen; /* how they see secrets */
    bool is_file;      /* it is from a file, which defines the job from now on */
};

/* Checks a definition (a map) and merges it with the job of its name, if there is one: uid and
 * times are kept, and so is `paused` unless the definition sets it. A new or changed schedule
 * counts from now on. Asterisks keep the stored secrets.
 *
 * The write `defines` something if it differs from what its author sees: for those who see
 * asterisks, any secret in clear text does. E_INVALID: *reterr. */
MUST_CHECK enum status job_write_prepare(const struct call *call, const struct node *definition,
                                         const struct job_author *author, struct job_write *ret,
                                         struct job_error *reterr);

/* The same for a JSON value. */
MUST_CHECK enum status job_write_prepare_json(const struct call *call, const json_t *definition,
                                              const struct job_author *author,
                                              struct job_write *ret, struct job_error *reterr);

/* May a job take this name? Not while other jobs still wait, by this former name, for a job that
 * was renamed: they would come to wait for the new one. E_INVALID: *reterr. */
MUST_CHECK enum status name_check_free(const struct call *call, const char *name,
                                       struct job_error *reterr);

/* An old definition returns: the jobs that its `after` named at that time may have been renamed
 * since then. */
void after_follow_renames(const struct call *call, struct job *definition, int64_t at_ms);

/* Applies `edit` to the stored definition, without changing what the job runs: a pause, a deletion.
 * E_INVALID: this version can't decode it. */
typedef void job_edit(struct job *definition, int64_t now_ms);
MUST_CHECK enum status job_write_edit(const struct call *call, struct catalog_job *job,
                                      job_edit *edit, struct job_write *ret);
void job_write_release(struct job_write *write);
/* Gives up the decoded definition, of which a put needs no more than its name. */
void job_write_lighten(struct job_write *write);
/* Its name is that of the definition, or the caller's to set once that was given up. */
struct store_put_job job_write_put(const struct job_write *write);

/* ---- to the store ---- */

enum put_cause {
    PUT_TO_DEFINE, /* a definition from a client */
    PUT_TO_NOTE,   /* a mark of peal's own: pause, resume, delete, restore */
};

/* Jobs on their way to the store, and the quota that is reserved for them until it has answered. */
struct job_puts {
    struct call *call;
    struct store_request request;
    int64_t asked_boot_ms;
    struct quota_item *held;
    size_t held_count;
    void (*done)(struct job_puts *puts, enum status st);
    TAILQ_ENTRY(job_puts) link; /* in api->puts, from the request until its answer */
};

/* Submits the jobs to the store, if the quotas allow it; the only way to write jobs. `done` is
 * called when the store answers, before the catalog has them. E_TOO_LARGE: a quota is exceeded,
 * *ret says which, and nothing is submitted. E_NOMEM. */
MUST_CHECK enum status job_puts_begin(struct job_puts *puts, struct call *call,
                                      struct store_put_job *items, size_t count,
                                      enum put_cause cause, struct quota_excess *ret);

/* The same, after which the call waits for the answer, and goes on like after call_submit. */
MUST_CHECK enum status job_puts_submit(struct call *call, struct store_put_job *items, size_t count,
                                       enum put_cause cause, call_then *then,
                                       struct quota_excess *ret);

/* 409, by the result of job_puts_submit; and the same at a place of the body. */
void call_fail_put(struct call *call, enum status st, const struct quota_excess *excess);
void call_fail_quota(struct call *call, const char *pointer, const struct quota_excess *excess);

/* 412, 409 or 404 for a job that the store did not write. `is_wanted`: the caller named a revision;
 * `name` is the one that another job may have. */
void call_fail_unwritten(struct call *call, enum put_result result, bool is_wanted,
                         const char *name);

/* The excess as text for the caller; NULL: out of memory. The caller frees it. */
char *quota_text(const struct call *call, const struct quota_excess *excess);

/* Would the quotas allow the put, after `planned` (NULL: nothing)? *ret_item is what it adds. */
bool job_put_is_allowed(const struct call *call, const struct store_put_job *put,
                        const struct quota_sum *planned, struct quota_item *ret_item,
                        struct quota_excess *ret);

/* Do all calendars of the job exist? E_INVALID: *reterr names the nearest one. */
MUST_CHECK enum status calendars_check(const struct call *call, const struct job *job,
                                       struct job_error *reterr);

/* And all groups of the job and its steps? Likewise. */
MUST_CHECK enum status groups_check(const struct call *call, const struct job *job,
                                    struct job_error *reterr);

/* Notes the change, which the store has accepted with this revision. */
void job_write_note(struct call *call, enum change_action action, const struct job_write *write,
                    int64_t revision);

/* Replaces the job in the path by the definition in call->body. */
void roll_back(struct call *call, int64_t revision, bool dry_run);

/* Applies a merge patch (RFC 7396) to a definition. False: out of memory. */
MUST_CHECK bool job_patch(json_t *definition, json_t *patch);

/* Also set the times by which skipped ticks are recognised later. */
void set_paused(struct job *job, bool paused, int64_t now_ms);
void mark_deleted(struct job *job, int64_t now_ms);

/* Fills in a run of the job for this call. */
void fill_run(const struct call *call, const struct catalog_job *job, enum run_cause cause,
              int64_t tick_ms, struct run *ret);

/* Is the run of this agent, or of an earlier one of this home? The node's name alone does not
 * tell. */
bool run_is_here(const struct call *call, const struct run *run);

/* No live node could carry out a kill of the run. (A run that has not begun yet will be taken over
 * by another node, which can.) */
bool run_is_out_of_reach(const struct call *call, const struct run *run);

/* ---- what a request hands over for one run: jobs_input.c ---- */

/* The document for the store, from malloc, by the fields of the body; `before` is that of a run
 * that is run again, or NULL; `resume` has the steps of a workflow that are done (run_input.h), or
 * is NULL. *ret is NULL if there is nothing to hand over. False: the call has failed. */
bool run_input_read(struct call *call, const struct job *definition, const char *before,
                    const json_t *resume, char **ret);

/* Makes the run that the body asks for, `before` and `resume` as above. jobs_run.c */
void run_start(struct call *call, const struct catalog_job *job, enum change_action action,
               const char *before, const json_t *resume);

/* May so many bytes more be kept for runs that have not ended? False: the call has failed, with
 * 503.
 */
bool run_input_has_room(struct call *call, size_t bytes);

/* What input_choose_params and its like say. False: the call has failed; true: `st` is OK. */
bool call_fail_input(struct call *call, enum status st, const struct input_error *why);

/* 409 or 404: why the store has not made the run. */
void call_fail_not_added(struct call *call, const struct store_add_run *add);

/* The node that the body asks for, if it does: the run is pinned to it. False: the call has failed,
 * since there is no such node, or the job can't run there now. */
bool run_node_read(struct call *call, const struct job *definition, struct run *run);

/* Adds what was handed over to a run as the API shows it, and takes it over. NULL: out of
 * memory. */
json_t *run_input_show(const struct call *call, const char *job_name, json_t *run,
                       const char *text);

/* Adds to the last change what is other than the job says, without values. */
void run_input_note(struct call *call, const struct run *run, const char *text);

#endif
