#include "refused_starts.h"

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

struct refused_start {
    struct executor_event event;
    struct refused_start *next;
};

void refused_starts_release(struct refused_starts *refused)
{
    struct executor_event event;
    while (refused_starts_next(refused, &event))
        ;
}

enum status refused_starts_add(struct refused_starts *refused, const struct id *run_id,
                               const char *why)
{
    struct refused_start *start = calloc(1, sizeof(*start));
    if (!start)
        return E_NOMEM;
    start->event = (struct executor_event){
        .kind = EXECUTOR_ENDED,
        .run_id = *run_id,
        .end = {.state = RUN_FAILED,
                .reason = REASON_NO_START,
                .exit_code = -1,
                .finished_ms = clock_now().wall.ms},
    };
    snprintf(start->event.end.detail, sizeof(start->event.end.detail), "%s", why);
    if (refused->last)
        refused->last->next = start;
    else
        refused->first = start;
    refused->last = start;
    return OK;
}

bool refused_starts_next(struct refused_starts *refused, struct executor_event *ret)
{
    struct refused_start *start = refused->first;
    if (!start)
        return false;
    refused->first = start->next;
    if (!refused->first)
        refused->last = NULL;
    *ret = start->event;
    free(start);
    return true;
}
