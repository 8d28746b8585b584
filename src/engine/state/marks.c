#include "state/marks.h"

#include <stdlib.h>

void marks_release(struct marks *marks)
{
    free(marks->plans);
    *marks = (struct marks){0};
}

static bool make_room(struct marks *marks)
{
    if (marks->plan_count < marks->plan_room)
        return true;
    size_t room = marks->plan_room ? 2 * marks->plan_room : 16;
    struct plan_mark *plans = reallocarray(marks->plans, room, sizeof(*plans));
    if (!plans)
        return false;
    marks->plans = plans;
    marks->plan_room = room;
    return true;
}

void marks_plan(struct marks *marks, const struct id *job_uid, int64_t not_before_ms)
{
    if (make_room(marks))
        marks->plans[marks->plan_count++] = (struct plan_mark){*job_uid, not_before_ms};
    else
        marks->is_full = true;
}

void marks_sweep(struct marks *marks)
{
    marks->is_to_sweep = true;
}
