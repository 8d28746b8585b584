/* Looks at the load of all nodes every LOAD_LOOK_S, and keeps it for a day. */
#ifndef PEAL_API_NODE_LOADS_H
#define PEAL_API_NODE_LOADS_H

#include "cluster/load_record.h"
#include "loop.h"

struct api;

struct node_loads {
    struct load_record record;
    struct loop_timer *timer;
};

/* E_NOMEM. Begins to look if there is an engine. */
MUST_CHECK enum status node_loads_init(struct node_loads *loads, struct api *api);
void node_loads_release(struct node_loads *loads);

#endif
