/* What becomes of a step that is DUE: a node runs it, it is opened as a fan-out, or it ends without
 * a start, because the steps before it did not end as it requires, its `when` is false, its
 * instance is to be killed, or an expression can't be evaluated. */
#ifndef PEAL_VERDICT_H
#define PEAL_VERDICT_H

#include "workflow/instances.h"

/* Sets open->verdict, unless it is known, and returns it. NONE: the run is not a step that is DUE,
 * or the plan has not come with the feed yet. */
enum step_verdict verdict_find(struct instances *instances, struct open_run *open);

/* The end of a step without a start. */
struct verdict_end {
    enum run_state state;
    enum run_reason reason;
    char detail[160];
};

/* Of a step with VERDICT_END. False: it is not to end after all. */
bool verdict_tell(struct instances *instances, const struct open_run *open,
                  struct verdict_end *ret);

#endif
