/* One action on all jobs that match a filter, POST /jobs:act. jobs_match.c finds them, by name, and
 * says which are left out and why; jobs_act.c performs the action, a page at a time, so that the
 * client sees the progress and can stop. */
#ifndef PEAL_API_JOBS_ACT_H
#define PEAL_API_JOBS_ACT_H

#include "jobs/job_filter.h"
#include "jobs/jobs.h"

enum act { ACT_RUN, ACT_PAUSE, ACT_RESUME, ACT_KILL, ACT_LABEL, ACT_DELETE };

/* Why a matching job is left out. */
enum leave {
    LEAVE_FORBIDDEN,
    LEAVE_BROKEN,
    LEAVE_PAUSED,
    LEAVE_NOT_PAUSED,
    LEAVE_IDLE,
    LEAVE_LABELLED,
    LEAVE_BUSY,
    LEAVE_AWAY,
    LEAVE_GONE,
    LEAVE_COUNT, /* not left out */
};

/* A job of this page. */
struct act_item {
    struct id uid;
    char name[JOB_NAME_SIZE];
    struct job_write write; /* for actions that change the definition */
    size_t place;           /* index of its item in the store request; SIZE_MAX: none */
    bool is_done;
};

struct job_act {
    struct call *call;
    enum act act;
    struct job_filter filter;
    json_t *labels; /* of ACT_LABEL: name to value, null removes; inside the call's body */
    int64_t limit;  /* jobs per page */
    bool dry_run;   /* only count, over all pages */

    bool has_last;            /* the name in `last` */
    char last[JOB_NAME_SIZE]; /* the last job that was checked */
    size_t looks;
    int64_t slice_end_ms;
    bool is_cut; /* the slice is over, the page is not */
    bool more;   /* more jobs follow this page */

    size_t matched, touched, runs;
    json_t *names; /* the first affected jobs; or all that were done */
    struct {
        size_t count;
        json_t *names; /* the first */
    } left[LEAVE_COUNT];
    json_t *failed; /* {name, error} of each */
    bool no_memory;

    struct act_item *items;
    size_t count, prepared;
    union {
        struct store_put_job *puts;
        struct store_add_run *adds;
        struct store_order *orders;
        void *any;
    } asked;
    struct run *killed; /* the run of each order, for the audit trail */
    size_t asked_count;
};

/* Reads the request; false: the call has failed. */
bool job_act_read(struct call *call, struct job_act *act);
void job_act_release(void *state);

/* Searches for jobs in slices, then continues. */
void job_act_look(struct call *call);

void job_act_leave(struct job_act *act, enum leave why, const char *name);
void job_act_fail(struct job_act *act, const char *name, const char *error);
void job_act_name(struct job_act *act, json_t *names, const char *name);
void job_act_reply(struct call *call);

/* Performs the action on the jobs of the page. */
void job_act_do(struct call *call);

#endif
