#include "definition/after.h"

#include <stdio.h>
#include <string.h>

static const char noted[] = "after ";

const char *const after_on_names[] = {
    [AFTER_SUCCESS] = "success",
    [AFTER_FAILURE] = "failure",
    [AFTER_ALWAYS] = "always",
    NULL,
};

unsigned after_states(enum after_on on)
{
    static const unsigned success = 1U << RUN_OK;
    static const unsigned failure = 1U << RUN_FAILED | 1U << RUN_TIMED_OUT | 1U << RUN_LOST;
    switch (on) {
    case AFTER_SUCCESS:
        return success;
    case AFTER_FAILURE:
        return failure;
    case AFTER_ALWAYS:
        break;
    }
    return success | failure | 1U << RUN_KILLED;
}

bool after_wants(enum after_on on, enum run_state state)
{
    return run_state_is_in(after_states(on), state);
}

void after_note(struct run *run, const struct run *before, const char *job_name)
{
    char id[ID_TEXT + 1];
    id_format(&before->id, id);
    run->cause = CAUSE_AFTER;
    snprintf(run->by, sizeof(run->by), "%s", id);
    snprintf(run->detail, sizeof(run->detail), "%s%s", noted, job_name);
    memcpy(run->traceparent, before->traceparent, sizeof(run->traceparent));
}

const char *after_noted_job(const struct run *run)
{
    size_t length = sizeof(noted) - 1;
    bool is_noted = run->cause == CAUSE_AFTER && strncmp(run->detail, noted, length) == 0;
    return is_noted ? run->detail + length : "";
}
