#include "flow_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *find(void *context, const char *name)
{
    const struct flow_world *world = context;
    for (size_t i = 0; i < world->jobs.count; i++) {
        if (strcmp(world->jobs.items[i]->name, name) == 0)
            return world->texts[i];
    }
    return NULL;
}

void flow_world_open(struct flow_world *world, int line, const char *yaml)
{
    struct job_error err = {0};
    *world = (struct flow_world){.source = {find, NULL}};
    world->source.context = world;
    assert_int_equal(zone_db_new(NULL, &world->zones), OK);
    if (jobs_decode_text(yaml, strlen(yaml), "UTC", world->zones, &world->jobs, &err) != OK)
        fail_msg("line %d: %d:%d: %s\n%s", line, err.line, err.column, err.message, yaml);
    assert_true(world->jobs.count <= FLOW_WORLD_MAX);
    for (size_t i = 0; i < world->jobs.count; i++) {
        world->jobs.items[i]->uid.bytes[15] = (uint8_t)(i + 1);
        world->texts[i] = job_encode_text(world->jobs.items[i]);
        assert_non_null(world->texts[i]);
    }
}

void flow_world_close(struct flow_world *world)
{
    for (size_t i = 0; i < world->jobs.count; i++)
        free(world->texts[i]);
    job_list_release(&world->jobs);
    zone_db_free(world->zones);
}

struct flow *flow_world_plan(struct flow_world *world, int line, const char *input)
{
    char why[200] = "";
    char *text = NULL;
    struct flow *flow = NULL;
    if (flow_text(world->jobs.items[0], input, &world->source, &text, why, sizeof(why)) != OK)
        fail_msg("line %d: %s", line, why);
    if (flow_decode(text, &flow) != OK)
        fail_msg("line %d: %s", line, text);
    free(text);
    return flow;
}

/* ---- ends ---- */

static const struct run *end(void *context, int step)
{
    const struct flow_ends *ends = context;
    return ends->runs[step].state ? &ends->runs[step] : NULL;
}

static const char *output(void *context, int step, int item)
{
    const struct flow_ends *ends = context;
    if (item >= 0)
        return item < FLOW_WORLD_MAX ? ends->items[item] : NULL;
    return ends->outputs[step];
}

struct flow_scope flow_ends_scope(struct flow_ends *ends)
{
    for (int i = 0; i < FLOW_WORLD_MAX; i++)
        ends->runs[i].exit_code = ends->runs[i].state == RUN_OK       ? 0
                                  : ends->runs[i].state == RUN_FAILED ? 3
                                                                      : -1;
    ends->instance.id.bytes[15] = 7;
    return (struct flow_scope){end, output, ends, &ends->instance};
}
