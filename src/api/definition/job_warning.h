/* What keeps a job from running here and now though its definition is right, or makes it run
 * otherwise than it says: it goes away by itself when a node, a calendar or the time is back. */
#ifndef PEAL_JOB_WARNING_H
#define PEAL_JOB_WARNING_H

#include <stdint.h>

#include "state/catalog.h"

struct engine;

struct job_warning {
    const char *reason; /* NULL: none; no_node, calendar or clock */
    char detail[280];   /* in English */
    int64_t since_ms;   /* 0: not known */
};

/* no_node: no node may run it; calendar: one that it names is not there. NULL: neither. Without the
 * clock, which keeps all jobs of a node alike. */
const char *job_warning_reason(struct engine *engine, const struct catalog_job *job);

/* Of a job that is not deleted. */
struct job_warning job_warning(struct engine *engine, const struct catalog_job *job,
                               int64_t now_ms);

#endif
