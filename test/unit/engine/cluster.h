/* Several worlds on one store: node-1, node-2, ... The first leads. */
#ifndef PEAL_TEST_CLUSTER_H
#define PEAL_TEST_CLUSTER_H

#include "world.h"

enum { CLUSTER_NODES = 5 };

struct cluster {
    struct world *nodes[CLUSTER_NODES];
    size_t count;
};

/* All have met, and their clocks agree. */
struct cluster *cluster_new(size_t count);
struct cluster *cluster_free(struct cluster *cluster);

/* A further node; its clock is `ahead_ms` of the others'. */
struct world *cluster_join(struct cluster *cluster, const char *labels, int64_t ahead_ms);

/* A further node, which is a process of the program. */
struct world *cluster_join_program(struct cluster *cluster, const char *program,
                                   const char *labels);

void cluster_pass(struct cluster *cluster, int64_t ms);

/* Up to so far into a minute. */
void cluster_pass_to(struct cluster *cluster, int64_t ms);

/* A node stops (its processes go on); with that the others know it, as they would after 5 s; and it
 * goes on as if nothing had happened. */
void cluster_freeze(struct world *node);
void cluster_expire(struct world *node);
void cluster_thaw(struct cluster *cluster, struct world *node);

/* Somebody drains the node, or no longer. */
void cluster_drain(struct cluster *cluster, const struct world *node, bool drained);

/* Processes of a job on all nodes; and the only one of them. */
size_t cluster_starts(const struct cluster *cluster, const char *job_name);
const struct world_process *cluster_process(const struct cluster *cluster, const char *job_name,
                                            struct world **ret_node);

/* The node that goes first for the job, as all see it. */
struct world *cluster_first_for(const struct cluster *cluster, const struct id *uid);

/* On record, on all nodes. */
size_t cluster_count(const struct cluster *cluster, const char *job_name, enum run_state state);
int64_t cluster_passed(const struct cluster *cluster, const char *job_name, enum run_state state,
                       enum run_reason reason);

/* No (job, tick) was started twice anywhere. */
void cluster_check(const struct cluster *cluster);

#endif
