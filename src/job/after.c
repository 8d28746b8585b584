#include "after.h"

const char *const after_on_names[] = {
    [AFTER_SUCCESS] = "success",
    [AFTER_FAILURE] = "failure",
    [AFTER_ALWAYS] = "always",
    NULL,
};

const char *const fields_of_ticks[] = {"schedule", "schedules", "timezone", "start",
                                       "end",      "jitter",    "dst",      "catch_up",
                                       "deadline", "calendars", NULL};

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
    return after_states(on) >> state & 1;
}
