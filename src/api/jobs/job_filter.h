/* The filter of a list of jobs: q, words, label, owner, node, status, folder. */
#ifndef PEAL_JOB_FILTER_H
#define PEAL_JOB_FILTER_H

#include "call.h"
#include "cluster/job_nodes.h"

enum job_status {
    STATUS_ANY,
    IS_OK,
    IS_FAILED,
    IS_NEVER,
    IS_RUNNING,
    IS_PAUSED,
    IS_BROKEN,
    IS_WARNING
};

/* By enum job_status, then NULL; that of STATUS_ANY is empty. */
extern const char *const job_status_names[];

struct job_filter {
    char *q, *q_in_json;    /* the second escaped as in JSON text */
    char *label, *value;    /* value NULL: any */
    const char *owner;      /* the call's */
    const char *words;      /* likewise: parts of names, with blanks between; NULL: none */
    const char *folder;     /* likewise: names that begin with it and a slash */
    const char *node;       /* likewise: of their present runs, or of the newest one */
    uint32_t node_mark;     /* of `node` */
    struct job_nodes nodes; /* read if `node` is given, and for facets */
    enum job_status status;
    struct engine *engine; /* to find dependencies on missing jobs, and eligible nodes */
};

/* From the parameters of the call; false: the call has failed. */
bool job_filter_read(struct call *call, struct job_filter *filter);
void job_filter_release(struct job_filter *filter);

/* Decides most jobs without parsing their definition. */
bool job_filter_takes(const struct job_filter *filter, const struct catalog_job *job);

/* Has the job this status, whichever the filter asks for? */
bool job_has_status(const struct job_filter *filter, const struct catalog_job *job,
                    enum job_status status);

/* Does the stored definition have this label? `value` NULL: with any value. */
bool job_has_label(const char *definition, const char *label, const char *value);

/* The index of a parameter's value in a NULL-terminated list; false: not in the list. *inout is
 * unchanged when the parameter is not given. */
bool param_choice(const struct call *call, const char *name, const char *const *words, int *inout);

#endif
