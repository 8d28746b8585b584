#include "unsettled.h"

#include <stdlib.h>

#include "array.h"

void unsettled_release(struct unsettled *unsettled)
{
    free(unsettled->events);
    *unsettled = (struct unsettled){0};
}

enum status unsettled_add(struct unsettled *unsettled, const struct executor_event *event)
{
    for (size_t i = 0; i < unsettled->count; i++)
        if (id_compare(&unsettled->events[i].run_id, &event->run_id) == 0)
            return OK; /* the executor was away, and has told it again */
    enum status st = array_grow(&unsettled->events, unsettled->count, sizeof(*unsettled->events));
    if (st == OK)
        unsettled->events[unsettled->count++] = *event;
    return st;
}

size_t unsettled_take(struct unsettled *unsettled, struct executor_event **ret_events)
{
    size_t count = unsettled->count;
    *ret_events = unsettled->events;
    *unsettled = (struct unsettled){0};
    return count;
}
