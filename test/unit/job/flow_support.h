/* Definitions in YAML, the plan of the first of them, and ends of its steps, for tests. */
#ifndef PEAL_FLOW_SUPPORT_H
#define PEAL_FLOW_SUPPORT_H

#include "definition/job_codec.h"
#include "workflow/flow.h"

enum { FLOW_WORLD_MAX = 40 };

struct flow_world {
    struct zone_db *zones;
    struct job_list jobs;
    char *texts[FLOW_WORLD_MAX];
    struct flow_source source;
};

void flow_world_open(struct flow_world *world, int line, const char *yaml);
void flow_world_close(struct flow_world *world);

/* The plan of the first definition. */
struct flow *flow_world_plan(struct flow_world *world, int line, const char *input);

/* How steps have ended, by number; QUEUED: not yet. */
struct flow_ends {
    struct run runs[FLOW_WORLD_MAX];
    const char *outputs[FLOW_WORLD_MAX];
    const char *items[FLOW_WORLD_MAX]; /* of the only fan-out */
    struct run instance;
};
struct flow_scope flow_ends_scope(struct flow_ends *ends);

#endif
