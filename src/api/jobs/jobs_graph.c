/* The graph of a job: all jobs that it waits for, directly or not, and all that wait for it. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/after_check.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

enum { GRAPH_JOBS_MAX = 200 };

/* The jobs that were found so far, in the order of the walk. */
struct graph {
    const struct call *call;
    const struct catalog *catalog;
    const char *names[GRAPH_JOBS_MAX];
    size_t count;
    bool is_cut; /* there are more */
};

/* The name that it has now; NULL: the caller does not see it. */
static const char *seen_name(const struct graph *graph, const char *name)
{
    const struct catalog_job *job = catalog_awaited(graph->catalog, name);
    if (job && !call_sees(graph->call, job->name))
        return NULL;
    return job ? job->name : name;
}

static void find(struct graph *graph, const char *name)
{
    name = seen_name(graph, name);
    for (size_t i = 0; name && i < graph->count; i++)
        if (strcmp(graph->names[i], name) == 0)
            return;
    if (!name)
        return;
    if (graph->count == GRAPH_JOBS_MAX)
        graph->is_cut = true;
    else
        graph->names[graph->count++] = name;
}

static bool is_in(const struct graph *graph, const char *name)
{
    for (size_t i = 0; name && i < graph->count; i++)
        if (strcmp(graph->names[i], name) == 0)
            return true;
    return false;
}

/* Everything that is connected with the job: a diamond would lack a side otherwise. */
static void walk(struct graph *graph, const char *name)
{
    find(graph, name);
    for (size_t i = 0; i < graph->count; i++) {
        const struct catalog_job *job = catalog_by_name(graph->catalog, graph->names[i]);
        for (size_t k = 0; job && job->waits && k < job->waits->count; k++)
            find(graph, job->waits->waits[k].name);
        struct dependents all = catalog_dependents(graph->catalog, graph->names[i]);
        for (const struct job_wait *wait; (wait = dependents_next(&all));)
            find(graph, wait->job->name);
    }
}

static json_t *encode_job(const struct graph *graph, const char *name)
{
    static const struct catalog_job none;
    const struct catalog_job *found = catalog_by_name(graph->catalog, name);
    const struct catalog_job *job = found ? found : &none;
    const struct last_run *last = &job->last;
    bool has_run = !id_is_zero(&last->run_id);
    return json_pack("{s:s, s:b, s:b, s:I, s:o, s:o, s:o}", "job", name, "exists", found != NULL,
                     "paused", job->paused, "open", (json_int_t)job->open_runs, "state",
                     has_run ? json_string(run_state_name(last->state)) : json_null(), "ended_at",
                     json_time(last->ended_ms), "took_ms",
                     last->started_ms ? json_integer(last->ended_ms - last->started_ms)
                                      : json_null());
}

static json_t *encode_edge(const struct graph *graph, const struct job_wait *wait, const char *from)
{
    const struct catalog_job *other = catalog_by_name(graph->catalog, from);
    return json_pack("{s:s, s:s, s:s, s:b}", "from", from, "to", wait->job->name, "on",
                     after_on_names[wait->on], "met", after_is_met(wait->job, wait->on, other));
}

/* False: out of memory. */
static bool add_edges(const struct graph *graph, const char *name, json_t *list)
{
    const struct catalog_job *job = catalog_by_name(graph->catalog, name);
    for (size_t i = 0; job && job->waits && i < job->waits->count; i++) {
        const struct job_wait *wait = &job->waits->waits[i];
        const char *from = seen_name(graph, wait->name);
        if (is_in(graph, from) && json_array_append_new(list, encode_edge(graph, wait, from)) != 0)
            return false;
    }
    return true;
}

void get_graph(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    if (!job)
        return;
    struct graph *graph = calloc(1, sizeof(*graph));
    json_t *jobs = json_array(), *edges = json_array();
    bool is_whole = graph && jobs && edges;
    if (is_whole) {
        graph->call = call;
        graph->catalog = engine_catalog(call->api->ports.engine);
        walk(graph, job->name);
    }
    for (size_t i = 0; is_whole && i < graph->count; i++)
        is_whole = json_array_append_new(jobs, encode_job(graph, graph->names[i])) == 0 &&
                   add_edges(graph, graph->names[i], edges);
    json_t *answer =
        is_whole ? json_pack("{s:O, s:O, s:b}", "jobs", jobs, "edges", edges, "cut", graph->is_cut)
                 : NULL;
    json_decref(jobs);
    json_decref(edges);
    free(graph);
    call_reply(call, 200, answer);
}
