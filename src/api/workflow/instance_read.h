/* Gathers what is known of one instance: its runs that are open, from the engine, and those that
 * have ended, from the history, where they are the runs of the same job and tick. */
#ifndef PEAL_API_INSTANCE_READ_H
#define PEAL_API_INSTANCE_READ_H

#include "call.h"
#include "workflow/instance_view.h"

/* The first member of the call's state. Zeroed at first. */
struct instance_read {
    struct instance_view view; /* the answer */
    bool is_begun;
    int reads;
    call_then *then;
};

void instance_read_release(struct instance_read *read);

/* The runs of the instance that are open, and why no node takes those that are due. The engine has
 * all runs of an open instance. `view` is initialised. E_NOMEM. */
MUST_CHECK enum status instance_read_open(const struct call *call, struct instance_view *view);

/* `then` finds the view in call->state; call->answer is OK, or the history's status: the view of an
 * instance that is open is good then, too. `plan` may be NULL. False: the call has failed. */
bool instance_read_begin(struct call *call, const struct run *instance, const char *plan,
                         call_then *then);

#endif
