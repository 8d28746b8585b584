/* What the handlers of jobs share. */
#ifndef PEAL_API_JOBS_H
#define PEAL_API_JOBS_H

#include "call.h"
#include "change.h"
#include "definition/job_codec.h"
#include "definition/job_secrets.h"
#include "jobs/quota.h"

/* As the API shows it, with its load and what is wrong with it; `fields` as for job_text_write. */
void write_job(const struct call *call, const struct catalog_job *job, const char *fields,
               struct strbuf *out);

/* Answers with the job as it is in the catalog now, and its revision as ETag. */
void reply_job(struct call *call, int status, const struct catalog_job *job);

/* The definition that the catalog holds; NULL: the call has failed. The caller frees it. */
struct job *stored_job(struct call *call, const struct catalog_job *job);

/* The last job of that name that was deleted and can be brought back; NULL: none. */
const struct catalog_job *deleted_job(const struct call *call, const char *name);

/* ---- definitions on their way to the store ---- */

/* What becomes of ticks that were due by a definition which is replaced or goes. */
struct passes {
    struct ledger_entry *entries;
    size_t count;
    int64_t seen_cursor_ms; /* of the job then */
};

/* E_NOMEM. */
MUST_CHECK enum status passes_find(const struct call *call, struct catalog_job *job,
                                   enum run_reason reason, struct passes *ret);
void passes_put(const struct passes *passes, struct store_put_job *put);

/* The store refused a change: only because a tick of the job was decided meanwhile? Then nobody has
 * changed what the client has seen. */
bool put_met_a_tick(const struct store_put_job *put);

enum write_kind { WRITE_CREATE, WRITE_CHANGE, WRITE_NOTHING };

struct job_write {
    enum write_kind kind;
    struct job *job;  /* as it will be */
    char *json;       /* the same, for the store */
    char *before;     /* as it is there; NULL: there is none */
    bool waits_anew;  /* for other jobs than before: after_check_job is to be asked */
    bool defines;     /* what it runs, or as whom, is new: that is a right of its own */
    int64_t revision; /* that it replaces; 0: none */
    int64_t cursor_ms;
    struct passes passes;
};

/* Checks a definition (an object) and lays it over the job of its name, if there is one: that
 * keeps its uid and its times, and stays paused or not if the definition does not say. A new or
 * changed schedule counts from now on. Asterisks keep the secrets that are there.
 *
 * `seen` is how whoever made the definition sees the job. It `defines` something new if it differs
 * from that: a secret in clear text does for those who see asterisks, be it right or wrong.
 * E_INVALID: *reterr. */
MUST_CHECK enum status job_write_prepare(const struct call *call, const json_t *definition,
                                         enum secrets seen, struct job_write *ret,
                                         struct job_error *reterr);

/* The stored definition as `edit` changes it, which is not what the job runs: a pause, a deletion.
 * E_INVALID: this version can't read it. */
typedef void job_edit(struct job *definition, int64_t now_ms);
MUST_CHECK enum status job_write_edit(const struct call *call, struct catalog_job *job,
                                      job_edit *edit, struct job_write *ret);
void job_write_release(struct job_write *write);
struct store_put_job job_write_put(const struct job_write *write);

/* ---- to the store ---- */

enum put_cause {
    PUT_TO_DEFINE, /* a definition that somebody sent */
    PUT_TO_NOTE,   /* what peal notes in one: a pause, a deletion, and their ends */
};

/* Asks the store to write the jobs, if the quotas allow it; the only way to do so. E_TOO_LARGE:
 * they do not, and nothing is asked: *ret says which. E_NOMEM. */
MUST_CHECK enum status job_puts_submit(struct call *call, struct store_put_job *puts, size_t count,
                                       enum put_cause cause, call_then *then,
                                       struct quota_excess *ret);

/* 409, by what that answered; and the same at a place of the body. */
void call_fail_put(struct call *call, enum status st, const struct quota_excess *excess);
void call_fail_quota(struct call *call, const char *pointer, const struct quota_excess *excess);

/* In words, for who asks; NULL: out of memory. The caller frees it. */
char *quota_text(const struct call *call, const struct quota_excess *excess);

/* Whether the quotas would allow it now, after what is planned (NULL: nothing); what it adds. */
bool job_put_is_allowed(const struct call *call, const struct store_put_job *put,
                        const struct quota_sum *planned, struct quota_item *ret_item,
                        struct quota_excess *ret);

/* Every calendar that the job names is there. E_INVALID: *reterr names the nearest one. */
MUST_CHECK enum status calendars_check(const struct call *call, const struct job *job,
                                       struct job_error *reterr);

/* The store has it, with this revision: notes it. */
void job_write_note(struct call *call, enum change_action action, const struct job_write *write,
                    int64_t revision);

/* Puts the definition in call->body in the place of the job that the path names. */
void roll_back(struct call *call, int64_t revision, bool dry_run);

/* Lays a merge patch (RFC 7396) over a definition. False: out of memory. */
MUST_CHECK bool job_patch(json_t *definition, json_t *patch);

/* With the times that tell, later on, which ticks were skipped. */
void set_paused(struct job *job, bool paused, int64_t now_ms);
void mark_deleted(struct job *job, int64_t now_ms);

/* A run of the job that this call asks for. */
void fill_run(const struct call *call, const struct catalog_job *job, enum run_cause cause,
              int64_t tick_ms, struct run *ret);

/* It is of this agent, or of one before it in this home: the name alone does not say so. */
bool run_is_here(const struct call *call, const struct run *run);

/* An order to kill it is one that nobody is there to carry out. (A run that has not begun yet is
 * taken over by another node, which does.) */
bool run_is_out_of_reach(const struct call *call, const struct run *run);

#endif
