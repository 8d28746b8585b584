/* Limits of all processes of a run together, which a cgroup enforces: `total_memory`, `cpus`,
 * `total_processes` and `io_weight` of the field `limits`.
 *
 * Only a node whose spawner has the controller may run such a job. It says so by a label of its
 * own, "cgroup/memory", which the job needs as if its `where` had it: so a node that could not
 * enforce a limit never runs the job without. */
#ifndef PEAL_RUN_LIMITS_H
#define PEAL_RUN_LIMITS_H

#include "job.h"
#include "strbuf.h"

enum {
    TOTAL_MEMORY_MIN = 4 * 1024 * 1024, /* with less, hardly a program comes to its first line */
    TOTAL_PROCESSES_MAX = 4194304,      /* the kernel's own limit */
};

/* Controllers of cgroups. */
enum run_controller {
    CONTROLLER_MEMORY,
    CONTROLLER_CPU,
    CONTROLLER_PIDS,
    CONTROLLER_IO,
    CONTROLLERS,
};

const char *controller_label(enum run_controller controller); /* "cgroup/memory" */

/* The controllers that the limits need, 1 << enum run_controller; 0: none. */
unsigned limits_need(const struct job_limits *limits);

/* Those that any of the job's runs need, also one of its steps. */
unsigned job_needs(const struct job *job);

const char *controller_limit(enum run_controller controller); /* "limits.total_memory" */

/* What is wrong with `cpus`; NULL: nothing. 0.01 to 1024, in hundredths. */
const char *limit_cpus_complaint(const char *cpus);

/* In thousandths of a processor; 0: not limited. */
int64_t limit_cpu_milli(const struct job_limits *limits);

/* That of a label; CONTROLLERS: it is another label. */
enum run_controller controller_of_label(const char *label, size_t length);

#endif
