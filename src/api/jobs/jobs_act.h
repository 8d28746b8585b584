/* One action on all jobs that a filter takes, POST /jobs:act. jobs_match.c finds them, by name, and
 * tells what is left alone and why; jobs_act.c does it, a page at a time, so that who asked sees
 * how far it has come and can stop. */
#ifndef PEAL_API_JOBS_ACT_H
#define PEAL_API_JOBS_ACT_H

#include "jobs/job_filter.h"
#include "jobs/jobs.h"

enum act { ACT_RUN, ACT_PAUSE, ACT_RESUME, ACT_KILL, ACT_LABEL, ACT_DELETE };

/* Why a job that the filter takes is left alone. */
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
    LEAVE_COUNT, /* it is not */
};

/* A job of this page. */
struct act_item {
    struct id uid;
    char name[JOB_NAME_SIZE];
    struct job_write write; /* of an action that changes the definition */
    size_t place;           /* of its item in the request to the store; SIZE_MAX: it has none */
    bool is_done;
};

struct job_act {
    struct call *call;
    enum act act;
    struct job_filter filter;
    json_t *labels; /* of ACT_LABEL: name to value, null takes it away; in the call's body */
    int64_t limit;  /* jobs of a page */
    bool dry_run;   /* only count: all of them at once */

    bool has_last;            /* the name in `last` */
    char last[JOB_NAME_SIZE]; /* the last job that was looked at */
    size_t looks;
    int64_t slice_end_ms;
    bool is_cut; /* the slice is over, the page is not */
    bool more;   /* there are jobs after this page */

    size_t matched, touched, runs;
    json_t *names; /* of those that it touches: the first; or all that were done */
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
    struct run *killed; /* of each order, for the record */
    size_t asked_count;
};

/* Reads what is asked, false: the call has failed. */
bool job_act_read(struct call *call, struct job_act *act);
void job_act_release(void *state);

/* Looks for jobs in slices, then goes on. */
void job_act_look(struct call *call);

void job_act_leave(struct job_act *act, enum leave why, const char *name);
void job_act_fail(struct job_act *act, const char *name, const char *error);
void job_act_name(struct job_act *act, json_t *names, const char *name);
void job_act_reply(struct call *call);

/* The jobs of the page are chosen: does it to them. */
void job_act_do(struct call *call);

#endif
