/* On which nodes jobs are: a job is on those of its runs that are under way; if there is none, on
 * that of its newest run.
 *
 * The newest run's node is the one that the store keeps with the job (`last_node`), so that nothing
 * is read from the history. It is not moved by a run that was asked for on a node, or that
 * was asked for and never started or got lost, and has no meaning for a job whose tick is many runs
 * (`spread`, a workflow): such a job is on nodes only while it runs. A store of one node has that
 * node alone. */
#ifndef PEAL_API_JOB_NODES_H
#define PEAL_API_JOB_NODES_H

#include "call.h"

/* A run that is under way. */
struct job_place {
    struct id job_uid;
    uint32_t mark; /* node_mark */
};

/* Zeroed: not read. */
struct job_nodes {
    struct job_place *places; /* by job */
    size_t count;
    struct table names; /* of nodes, by their marks */
    uint32_t only;      /* the only node that the store has; 0: it has several */
    bool is_read;
};

/* The runs that are under way now, and the nodes that the cluster knows; at once if it was done
 * before. E_NOMEM: release it all the same. */
MUST_CHECK enum status job_nodes_read(const struct call *call, struct job_nodes *nodes);
void job_nodes_release(struct job_nodes *nodes);

bool job_nodes_have(const struct job_nodes *nodes, const struct catalog_job *job, uint32_t mark);

/* Visits each node of the job once. */
void job_nodes_each(const struct job_nodes *nodes, const struct catalog_job *job,
                    void (*visit)(void *context, uint32_t mark), void *context);

/* NULL: a node that left so long ago that the cluster has forgotten it. */
const char *job_nodes_name(const struct job_nodes *nodes, uint32_t mark);

#endif
