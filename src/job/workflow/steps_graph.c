#include "workflow/steps_graph.h"

#include <stdlib.h>
#include <string.h>

#include "run.h"

enum { NEW, ON_PATH, DONE }; /* of a visit */

static const struct table_type names_type = {.key_at = offsetof(struct job_step, name),
                                             .is_pointer = true};

/* ---- the graph ---- */

static size_t count_edges(const struct job *job)
{
    size_t count = 0;
    for (size_t i = 0; i < job->step_count; i++)
        count += job->steps[i].after_count;
    return count;
}

/* Steps are in the order of the two lists. A list that is too long has none. */
static void fill_items(struct steps_graph *graph)
{
    const struct job *job = graph->d->job;
    size_t at = 0, edge = 0;
    for (int list = 0; list < 2; list++) {
        const struct node *node = graph->lists[list].node;
        const struct entry *entry = node && node->kind == NODE_LIST ? node->entries : NULL;
        for (size_t index = 0; entry && at < graph->count && job->steps[at].is_final == list;
             entry = entry->next, index++, at++) {
            graph->items[at] = (struct vertex){.step = &job->steps[at],
                                               .node = entry->value,
                                               .index = index,
                                               .before = graph->edges + edge};
            edge += job->steps[at].after_count;
        }
    }
    graph->count = at;
}

static bool is_vague(const struct vertex *vertex)
{
    const struct node *after =
        vertex->node->kind == NODE_MAP ? node_get(vertex->node, "after") : NULL;
    size_t written = !after ? 0 : after->kind == NODE_LIST ? after->count : 1;
    return !vertex->step->name || written != vertex->step->after_count;
}

static enum status fill_names(struct steps_graph *graph)
{
    enum status st = OK;
    for (size_t i = 0; i < graph->count && st == OK; i++) {
        const struct job_step *step = graph->items[i].step;
        graph->is_vague |= is_vague(&graph->items[i]);
        graph->lacks_names |= !step->name;
        if (step->name && !table_find(&graph->names, step->name))
            st = table_insert(&graph->names, (void *)step);
    }
    return st;
}

static void fill_edges(struct steps_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct vertex *vertex = &graph->items[i];
        for (size_t k = 0; k < vertex->step->after_count; k++) {
            const char *name = vertex->step->after[k].step;
            vertex->before[k] = steps_graph_find(graph, name, strlen(name));
            if (vertex->before[k] != NO_STEP)
                graph->items[vertex->before[k]].dependents++;
        }
    }
}

enum status steps_graph_init(struct steps_graph *graph, const struct decoder *d,
                             const struct spot *root)
{
    size_t count = d->job->step_count;
    *graph = (struct steps_graph){.d = d, .root = root, .count = count};
    graph->lists[0] = (struct spot){root, "steps", 0, node_get(root->node, "steps")};
    graph->lists[1] = (struct spot){root, "finally", 0, node_get(root->node, "finally")};
    table_init(&graph->names, &names_type);
    graph->items = calloc(count + 1, sizeof(*graph->items));
    graph->order = calloc(count + 1, sizeof(*graph->order));
    graph->edges = calloc(count_edges(d->job) + 1, sizeof(*graph->edges));
    if (!graph->items || !graph->order || !graph->edges)
        return E_NOMEM;
    fill_items(graph);
    enum status st = fill_names(graph);
    if (st == OK)
        fill_edges(graph);
    return st;
}

void steps_graph_release(struct steps_graph *graph)
{
    table_release(&graph->names);
    free(graph->items);
    free(graph->order);
    free(graph->edges);
    free(graph->past);
}

int steps_graph_find(const struct steps_graph *graph, const char *name, size_t length)
{
    char key[STEP_NAME_SIZE];
    if (length >= sizeof(key))
        return NO_STEP;
    memcpy(key, name, length);
    key[length] = '\0';
    const struct job_step *step = table_find(&graph->names, key);
    return step ? (int)(step - graph->d->job->steps) : NO_STEP;
}

const char *steps_graph_nearest(const struct steps_graph *graph, const char *typed)
{
    const char **names = calloc(graph->count + 1, sizeof(*names));
    size_t known = 0;
    for (size_t i = 0; names && i < graph->count; i++) {
        if (graph->items[i].step->name)
            names[known++] = graph->items[i].step->name;
    }
    const char *nearest = names ? word_nearest(names, typed) : NULL;
    free(names);
    return nearest;
}

struct spot steps_graph_spot(const struct steps_graph *graph, const struct vertex *vertex)
{
    return (struct spot){&graph->lists[vertex->step->is_final], NULL, vertex->index, vertex->node};
}

/* ---- names, and who waits for whom ---- */

/* Goes on after an error, which makes the graph wrong. */
static enum status note(struct steps_graph *graph, enum status st)
{
    enum status worst = OK;
    graph->is_wrong |= st != OK;
    return decoder_go_on(graph->d, st, &worst);
}

static enum status check_name(const struct steps_graph *graph, const struct vertex *vertex)
{
    const struct job_step *step = vertex->step;
    const struct job_step *first = step->name ? table_find(&graph->names, step->name) : step;
    struct spot spot = steps_graph_spot(graph, vertex);
    struct spot name = {&spot, "name", 0, NULL};
    if (first == step)
        return OK;
    name.node = node_get(vertex->node, "name");
    const struct vertex *other = &graph->items[first - graph->d->job->steps];
    if (!other->node->line)
        return spot_fail(graph->d->err, &name, "\"%s\" is already the name of another step",
                         step->name);
    return spot_fail(graph->d->err, &name, "\"%s\" is already the name of the step in line %d",
                     step->name, other->node->line);
}

/* The value of `after` that names the k-th step: a list's item, or all of it. */
static struct spot after_spot(const struct spot *step, size_t k, struct spot *outer)
{
    *outer = (struct spot){step, "after", 0, node_get(step->node, "after")};
    if (outer->node->kind != NODE_LIST)
        return *outer;
    const struct entry *entry = outer->node->entries;
    for (size_t i = 0; i < k; i++)
        entry = entry->next;
    return (struct spot){outer, NULL, k, entry->value};
}

static enum status no_such_step(const struct steps_graph *graph, const struct spot *spot,
                                const char *name)
{
    const char *nearest = steps_graph_nearest(graph, name);
    if (nearest)
        return spot_fail(graph->d->err, spot, "there is no step \"%s\"; did you mean \"%s\"?", name,
                         nearest);
    return spot_fail(graph->d->err, spot, "there is no step \"%s\"", name);
}

static enum status check_edge(const struct steps_graph *graph, const struct vertex *vertex,
                              size_t k)
{
    const struct job_step *step = vertex->step;
    const char *name = step->after[k].step;
    struct spot outer, spot = steps_graph_spot(graph, vertex);
    struct spot here = after_spot(&spot, k, &outer);
    struct job_error *err = graph->d->err;
    if (step->name && strcmp(name, step->name) == 0)
        return spot_fail(err, &here, "a step can't wait for itself");
    if (vertex->before[k] == NO_STEP)
        return graph->lacks_names ? OK : no_such_step(graph, &here, name);
    const struct job_step *other = graph->items[vertex->before[k]].step;
    if (step->is_final && !other->is_final)
        return spot_fail(err, &here,
                         "\"%s\" is of \"steps\", which have all ended before those of \"finally\" "
                         "begin; name one of \"finally\", or leave it out",
                         name);
    if (!step->is_final && other->is_final)
        return spot_fail(err, &here,
                         "\"%s\" is of \"finally\", which begins when all other steps have ended",
                         name);
    return OK;
}

static enum status check_edges(struct steps_graph *graph, const struct vertex *vertex)
{
    struct spot spot = steps_graph_spot(graph, vertex);
    struct job_error *err = graph->d->err;
    enum status st = note(graph, check_name(graph, vertex));
    for (size_t k = 0; k < vertex->step->after_count && st == OK; k++)
        st = note(graph, check_edge(graph, vertex, k));
    if (st == OK && vertex->dependents > STEP_AFTER_MAX)
        st = note(graph, spot_fail(err, &spot, "%d steps wait for \"%s\"; at most %d can",
                                   vertex->dependents, vertex->step->name, STEP_AFTER_MAX));
    return st;
}

/* Steps that wait for none all begin in one transaction of the store. */
static enum status check_first(struct steps_graph *graph, bool final)
{
    int count = 0;
    for (size_t i = 0; i < graph->count; i++) {
        const struct job_step *step = graph->items[i].step;
        count += step->is_final == final && !step->after_count && !is_vague(&graph->items[i]);
    }
    if (count <= STEPS_FIRST_MAX)
        return OK;
    return note(graph, spot_fail(graph->d->err, &graph->lists[final],
                                 "%d steps wait for no other; at most %d can begin at once", count,
                                 STEPS_FIRST_MAX));
}

/* ---- cycles ---- */

static void add_way(const struct steps_graph *graph, int at, int from, struct strbuf *out)
{
    int hops = 0;
    for (int i = at; i != from; i = graph->items[i].down)
        hops++;
    for (; hops >= 0; hops--) {
        int i = at;
        for (int k = 0; k < hops; k++)
            i = graph->items[i].down;
        strbuf_addf(out, "%s -> ", graph->items[i].step->name);
    }
    strbuf_adds(out, graph->items[from].step->name);
}

static enum status tell_circle(struct steps_graph *graph, int at, size_t k, int from)
{
    struct strbuf way;
    struct spot outer, spot = steps_graph_spot(graph, &graph->items[at]);
    struct spot here = after_spot(&spot, k, &outer);
    strbuf_init(&way);
    add_way(graph, at, from, &way);
    enum status st = strbuf_status(&way);
    if (st == OK)
        st = spot_fail(graph->d->err, &here, "a step would wait for itself: %s", way.text);
    strbuf_release(&way);
    return note(graph, st);
}

/* Depth-first: a step that is reached again before it is done is part of a cycle. */
static enum status walk(struct steps_graph *graph, int start)
{
    enum status st = OK;
    for (int at = start; at != NO_STEP && st == OK;) {
        struct vertex *vertex = &graph->items[at];
        vertex->visit = ON_PATH;
        if (vertex->next == vertex->step->after_count) {
            vertex->visit = DONE;
            graph->order[graph->ordered++] = at;
            at = vertex->down;
            continue;
        }
        int other = vertex->before[vertex->next++];
        if (other == NO_STEP || other == at || graph->items[other].visit == DONE ||
            graph->items[other].step->is_final != vertex->step->is_final)
            continue; /* nothing new, or an error that was told before */
        if (graph->items[other].visit == ON_PATH) {
            st = tell_circle(graph, at, vertex->next - 1, other);
            continue;
        }
        graph->items[other].down = at;
        at = other;
    }
    return st;
}

enum status steps_graph_check(struct steps_graph *graph)
{
    enum status st = OK;
    for (size_t i = 0; i < graph->count && st == OK; i++)
        st = check_edges(graph, &graph->items[i]);
    if (st == OK)
        st = check_first(graph, false);
    if (st == OK)
        st = check_first(graph, true);
    for (size_t i = 0; i < graph->count && st == OK; i++) {
        graph->items[i].down = NO_STEP;
        if (graph->items[i].visit == NEW)
            st = walk(graph, (int)i);
    }
    return st == OK && graph->is_wrong ? E_INVALID : st;
}

/* ---- what comes before ---- */

/* A bit for each step and each step that comes before it. */
static enum status fill_past(struct steps_graph *graph)
{
    size_t words = (graph->count + 63) / 64;
    graph->past = calloc(graph->count * words + 1, sizeof(*graph->past));
    if (!graph->past)
        return E_NOMEM;
    for (size_t i = 0; i < graph->ordered; i++) {
        const struct vertex *vertex = &graph->items[graph->order[i]];
        uint64_t *past = graph->past + (size_t)graph->order[i] * words;
        for (size_t k = 0; k < vertex->step->after_count; k++) {
            size_t other = (size_t)vertex->before[k];
            for (size_t w = 0; w < words; w++)
                past[w] |= graph->past[other * words + w];
            past[other / 64] |= UINT64_C(1) << other % 64;
        }
    }
    return OK;
}

enum status steps_graph_is_before(struct steps_graph *graph, int other, int step, bool *ret)
{
    size_t words = (graph->count + 63) / 64;
    enum status st = graph->past ? OK : fill_past(graph);
    if (st != OK)
        return st;
    bool is_later_list = graph->items[step].step->is_final && !graph->items[other].step->is_final;
    const uint64_t *past = graph->past + (size_t)step * words;
    *ret = is_later_list || (past[other / 64] >> other % 64 & 1);
    return OK;
}
