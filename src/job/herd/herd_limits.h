/* What groups do to a herd: seconds in which more runs of a group start than may be under way, so
 * that some of them wait. Pure.
 *
 * A group's limit by node or by label is one for so many runs on the nodes that there are. Jobs
 * that only some nodes may run have the room of those. Of a workflow the steps that begin with it
 * count. */
#ifndef PEAL_HERD_LIMITS_H
#define PEAL_HERD_LIMITS_H

#include "forecast/crowd.h"
#include "group/group.h"
#include "herd/tick_groups.h"
#include "job.h"

/* Nodes that may run some of the jobs. */
struct herd_nodes {
    char *where;  /* their selector; "": all; of a function its program, whose nodes are unknown */
    bool *are_in; /* by the number of the node */
    size_t count; /* of those that are in */
};

struct herd_member {
    const struct tick_group *ticks;
    int64_t later_s;
    int starts;   /* at each of the ticks */
    size_t where; /* of the nodes */
};

struct herd_group {
    char name[GROUP_NAME_MAX + 1];
    struct group_limits limits;
    struct herd_member *members;
    size_t count;
};

/* Seconds with more starts than a limit lets run. */
struct herd_excess {
    size_t seconds;
    uint64_t waiting; /* starts that are too many, in all */
    struct crowd_second worst;
};

/* A limit that may be exceeded. */
struct herd_limit {
    const struct herd_group *group;
    size_t nodes; /* of the jobs that it is for, by their number */
    int most;
    struct herd_excess excess; /* after herd_limit_count */
};

struct herd_limits {
    char (*labels)[512]; /* of each node that takes runs, "disk=ssd,zone=eu"; of the caller */
    size_t node_count;   /* 0: not known, and limits by node or label are not looked at */
    /* A job that a step runs; NULL: it is not there. The member may be NULL. */
    const struct job *(*find)(void *context, const char *name);
    void *context;

    struct herd_group *groups;
    size_t group_count;
    struct herd_nodes *nodes; /* the first are all */
    size_t nodes_count;
    struct herd_limit *items; /* after herd_limits_settle */
    size_t count;
};

/* Labels and `find` are set by the caller. Release it in any case. */
void herd_limits_init(struct herd_limits *limits);
void herd_limits_release(struct herd_limits *limits);

MUST_CHECK enum status herd_limits_add_group(struct herd_limits *limits, const char *name,
                                             const struct group_limits *of);

/* Adds a job with these ticks, which must live as long as what is added. E_NOMEM. */
MUST_CHECK enum status herd_limits_add_job(struct herd_limits *limits, const struct job *job,
                                           const struct tick_group *ticks, int64_t later_s);

/* Drops the jobs, and keeps the groups. */
void herd_limits_clear(struct herd_limits *limits);

/* To be called when all were added: fills in `items`. */
MUST_CHECK enum status herd_limits_settle(struct herd_limits *limits);

/* Adds the starts that count for one of the items. */
void herd_limit_fill(const struct herd_limit *limit, const struct herd_limits *limits,
                     struct crowd *crowd);

/* How many runs of the job start at each of its ticks that count for it. E_NOMEM. */
MUST_CHECK enum status herd_limit_starts(const struct herd_limit *limit, struct herd_limits *limits,
                                         const struct job *job, int *ret);

/* Counts the starts of a span that are too many for one of the items, in limit->excess. E_NOMEM. */
MUST_CHECK enum status herd_limit_count(struct herd_limit *limit, const struct herd_limits *limits,
                                        int64_t from_s, int64_t until_s);

#endif
