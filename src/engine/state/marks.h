/* Marks that stages leave for earlier stages of the flow. No stage calls an earlier one:
 * engine_step() hands the marks on. */
#ifndef PEAL_MARKS_H
#define PEAL_MARKS_H

#include <stdbool.h>
#include <stddef.h>

#include "id.h"

/* A job that is to be planned again. */
struct plan_mark {
    struct id job_uid;
    int64_t not_before_ms; /* INT64_MIN: at once */
};

struct marks {
    struct plan_mark *plans; /* in order */
    size_t plan_count, plan_room;
    bool is_full;     /* out of memory: all jobs are to be planned again */
    bool is_to_sweep; /* a node, the leader or a run has changed: the sweeper must run */
};

void marks_release(struct marks *marks);

void marks_plan(struct marks *marks, const struct id *job_uid, int64_t not_before_ms);
void marks_sweep(struct marks *marks);

#endif
