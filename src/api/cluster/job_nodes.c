#include "cluster/job_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "server.h"

struct node_name {
    uint32_t mark;
    char name[64];
};

static const struct table_type names_type = {.key_at = offsetof(struct node_name, mark),
                                             .key_size = sizeof(uint32_t)};

struct reading {
    struct job_nodes *nodes;
    enum status st;
};

static void add_name(struct reading *reading, const char *node)
{
    struct node_name name = {.mark = node_mark(node)};
    struct table *names = &reading->nodes->names;
    if (reading->st != OK || table_find(names, &name.mark))
        return;
    snprintf(name.name, sizeof(name.name), "%s", node);
    if (!table_add(names, &name, sizeof(name)))
        reading->st = E_NOMEM;
}

static bool add_peer(void *context, const struct known_peer *known)
{
    struct reading *reading = context;
    add_name(reading, known->peer.name);
    return reading->st == OK;
}

static void add_run(void *context, const struct run *run)
{
    struct reading *reading = context;
    struct job_nodes *nodes = reading->nodes;
    if (reading->st != OK || !*run->node || run_state_is_end(run->state))
        return;
    add_name(reading, run->node);
    if (reading->st == OK)
        reading->st = array_grow(&nodes->places, nodes->count, sizeof(*nodes->places));
    if (reading->st == OK)
        nodes->places[nodes->count++] =
            (struct job_place){.job_uid = run->job_uid, .mark = node_mark(run->node)};
}

static int by_job(const void *a, const void *b)
{
    const struct job_place *one = a, *other = b;
    int order = id_compare(&one->job_uid, &other->job_uid);
    return order ? order : (one->mark > other->mark) - (one->mark < other->mark);
}

enum status job_nodes_read(const struct call *call, struct job_nodes *nodes)
{
    const struct api *api = call->api;
    struct reading reading = {.nodes = nodes, .st = OK};
    if (nodes->is_read)
        return OK;
    nodes->is_read = true;
    nodes->only = strstr(api->store_url, "://") ? 0 : node_mark(api->node);
    table_init(&nodes->names, &names_type);
    add_name(&reading, api->node);
    peers_each(engine_peers(api->ports.engine), add_peer, &reading);
    engine_each_open_run(api->ports.engine, add_run, &reading);
    if (nodes->count)
        qsort(nodes->places, nodes->count, sizeof(*nodes->places), by_job);
    return reading.st;
}

void job_nodes_release(struct job_nodes *nodes)
{
    free(nodes->places);
    if (nodes->is_read)
        table_release_items(&nodes->names);
}

/* The newest run's node; 0: it has none, or it is not known. */
static uint32_t last_node(const struct job_nodes *nodes, const struct catalog_job *job)
{
    bool is_many = job->is_workflow || catalog_job_policy(job).spread.kind != SPREAD_ONE;
    if (job->last_node && !is_many)
        return job->last_node;
    bool has_run = !id_is_zero(&job->last.run_id) && job->last.state != RUN_SKIPPED;
    return has_run ? nodes->only : 0;
}

void job_nodes_each(const struct job_nodes *nodes, const struct catalog_job *job,
                    void (*visit)(void *context, uint32_t mark), void *context)
{
    const struct job_place first = {.job_uid = job->uid};
    size_t low = 0, high = job->open_runs ? nodes->count : 0, end = high;
    uint32_t mark = 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_job(&nodes->places[middle], &first) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && id_compare(&nodes->places[low].job_uid, &job->uid) == 0; low++) {
        if (nodes->places[low].mark == mark)
            continue;
        mark = nodes->places[low].mark;
        visit(context, mark);
    }
    if (!mark && (mark = last_node(nodes, job)) != 0)
        visit(context, mark);
}

struct wanted {
    uint32_t mark;
    bool is_there;
};

static void compare(void *context, uint32_t mark)
{
    struct wanted *wanted = context;
    wanted->is_there |= mark == wanted->mark;
}

bool job_nodes_have(const struct job_nodes *nodes, const struct catalog_job *job, uint32_t mark)
{
    struct wanted wanted = {.mark = mark};
    job_nodes_each(nodes, job, compare, &wanted);
    return wanted.is_there;
}

const char *job_nodes_name(const struct job_nodes *nodes, uint32_t mark)
{
    const struct node_name *name = table_find(&nodes->names, &mark);
    return name ? name->name : NULL;
}
