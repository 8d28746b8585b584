/* References to parameters and outputs in the texts of steps: each must have a value where it
 * stands, in every instance. */
#include <stdio.h>
#include <string.h>

#include "workflow/refs.h"
#include "workflow/steps_graph.h"
#include "workflow/when.h"

enum text_use {
    USE_TEXT,
    USE_SCRIPT, /* ${item} may be a variable of the script's own */
    USE_ONCE,   /* read before there are items: `when`, `each`, the environment of all */
};

/* Where a text stands. */
struct place {
    struct steps_graph *graph;
    int step; /* NO_STEP: in the workflow, for all steps */
    enum text_use use;
    enum status st;
    char why[200];
};

/* "x -> y -> z", in the order in which they run; `to` comes after `from`. */
static enum status add_way(struct steps_graph *graph, int from, int to, struct strbuf *out)
{
    enum { LONGEST = 20 };
    int way[LONGEST], length = 0;
    enum status st = OK;
    for (int at = to; at != from && length < LONGEST && st == OK;) {
        const struct vertex *vertex = &graph->items[at];
        bool is_on_way = false;
        way[length++] = at;
        for (size_t k = 0; k < vertex->step->after_count && st == OK && !is_on_way; k++) {
            at = vertex->before[k];
            is_on_way = at == from;
            if (!is_on_way)
                st = steps_graph_is_before(graph, from, at, &is_on_way);
        }
    }
    strbuf_adds(out, graph->items[from].step->name);
    strbuf_adds(out, length == LONGEST ? " -> ..." : "");
    while (length-- > 0)
        strbuf_addf(out, " -> %s", graph->items[way[length]].step->name);
    return st;
}

/* The other step comes after this one, or beside it. */
static const char *complain_order(struct place *place, int other)
{
    struct steps_graph *graph = place->graph;
    struct strbuf way;
    bool is_after = false;
    strbuf_init(&way);
    place->st = steps_graph_is_before(graph, place->step, other, &is_after);
    if (place->st == OK && is_after && !graph->items[other].step->is_final)
        place->st = add_way(graph, place->step, other, &way);
    if (place->st == OK && way.length)
        snprintf(place->why, sizeof(place->why), "names a step that runs after this one: %s",
                 way.text);
    else
        snprintf(place->why, sizeof(place->why),
                 "names a step that need not have ended before this one begins; add it to "
                 "\"after\"");
    strbuf_release(&way);
    return place->why;
}

/* What the other step writes is known only if it says so. Of an HTTP call it is known, too, but a
 * stored definition is as it was accepted. */
static const char *complain_key(struct place *place, int other, const struct ref *ref)
{
    const struct job_step *step = place->graph->items[other].step;
    const char *const *known = step_known_outputs(step);
    if (ref->kind != REF_OUTPUT || !known || strchr(ref->step, '/') ||
        (!step->outputs && place->graph->d->with_meta))
        return NULL;
    for (size_t i = 0; known[i]; i++) {
        if (strcmp(known[i], ref->name) == 0)
            return NULL;
    }
    const char *nearest = word_nearest(known, ref->name);
    if (nearest)
        snprintf(place->why, sizeof(place->why),
                 "names an output that step \"%s\" does not have; did you mean \"%s\"?", step->name,
                 nearest);
    else
        snprintf(place->why, sizeof(place->why), "names an output that step \"%s\" does not have",
                 step->name);
    return place->why;
}

static const char *complain_step(struct place *place, const struct ref *ref)
{
    struct steps_graph *graph = place->graph;
    int other = steps_graph_find(graph, ref->step, strcspn(ref->step, "/"));
    bool is_before = true;
    if (place->step == NO_STEP)
        return "names a step; the environment of the whole workflow can use parameters only";
    if (other == NO_STEP && graph->lacks_names)
        return NULL;
    const char *nearest = other == NO_STEP ? steps_graph_nearest(graph, ref->step) : NULL;
    if (nearest) {
        snprintf(place->why, sizeof(place->why),
                 "names a step that does not exist; did you mean \"%s\"?", nearest);
        return place->why;
    }
    if (other == NO_STEP)
        return "names a step that does not exist";
    if (other == place->step)
        return "names this step itself";
    if (strchr(ref->step, '/') && !graph->items[other].step->workflow)
        return "names a step of a workflow, but the step in front of the / is none";
    const char *complaint = complain_key(place, other, ref);
    if (complaint || graph->is_vague || graph->is_wrong)
        return complaint;
    place->st = steps_graph_is_before(graph, other, place->step, &is_before);
    return is_before ? NULL : complain_order(place, other);
}

static const char *complain_param(struct place *place, const struct ref *ref)
{
    const struct decoder *d = place->graph->d;
    const struct node *params = node_get(place->graph->root->node, "params");
    bool are_read = !params || (params->kind == NODE_MAP && params->count == d->job->params.count);
    if (!are_read || job_params_find(&d->job->params, ref->name, strlen(ref->name)))
        return NULL;
    return "is not a parameter of this workflow; declare it in \"params\"";
}

static const char *complain(void *context, const struct ref *ref)
{
    struct place *place = context;
    bool is_fan_out =
        place->step != NO_STEP && step_is_fan_out(place->graph->items[place->step].step);
    switch (ref->kind) {
    case REF_OUTPUT:
    case REF_STATE:
    case REF_EXIT_CODE:
        return complain_step(place, ref);
    case REF_PARAM:
        return complain_param(place, ref);
    case REF_ITEM:
    case REF_INDEX:
        if (place->use == USE_ONCE)
            return "has no value here; only what a step runs for each item can use it";
        return is_fan_out || place->use == USE_SCRIPT ? NULL
                                                      : "has a value only in a step with \"each\"";
    case REF_INSTANCE:
        break;
    }
    return NULL;
}

/* One text; `spot` has its node, or NULL. An error is told. */
static enum status check_text(struct place *place, enum text_use use, const struct spot *spot)
{
    const struct decoder *d = place->graph->d;
    const struct ref_names names = {complain, place};
    struct parse_error inside = {0};
    enum status worst = OK;
    if (!spot->node || spot->node->kind != NODE_SCALAR)
        return OK;
    place->use = use;
    place->st = OK;
    if (refs_check(spot->node->text, &names, &inside) == OK || place->st != OK)
        return place->st;
    place->graph->has_bad_refs = true;
    spot_set_inside(d->err, spot, &inside);
    return decoder_go_on(d, status_invalid(), &worst);
}

static enum status check_map(struct place *place, enum text_use use, const struct spot *map)
{
    enum status st = OK;
    const struct entry *entry =
        map->node && map->node->kind == NODE_MAP ? map->node->entries : NULL;
    for (; entry && st == OK; entry = entry->next) {
        struct spot value = {map, entry->key->text, 0, entry->value};
        st = check_text(place, use, &value);
    }
    return st;
}

static enum status check_list(struct place *place, enum text_use use, const struct spot *list)
{
    struct spot item = {.up = list};
    enum status st = OK;
    const struct entry *entry =
        list->node && list->node->kind == NODE_LIST ? list->node->entries : NULL;
    for (; entry && st == OK; entry = entry->next, item.index++) {
        item.node = entry->value;
        st = check_text(place, use, &item);
    }
    return st;
}

/* The expression; its own mistakes are told, too. */
static enum status check_when(struct place *place, const struct spot *when)
{
    const struct decoder *d = place->graph->d;
    const struct ref_names names = {complain, place};
    struct parse_error inside = {0};
    enum status worst = OK;
    if (!when->node || when->node->kind != NODE_SCALAR)
        return OK;
    place->use = USE_ONCE;
    place->st = OK;
    enum status st = when_check(when->node->text, &names, &inside);
    if (st == OK || st == E_NOMEM || place->st != OK)
        return st == E_NOMEM ? st : place->st;
    place->graph->has_bad_refs = true;
    spot_set_inside(d->err, when, &inside);
    return decoder_go_on(d, status_invalid(), &worst);
}

static struct spot child(const struct spot *spot, const char *name)
{
    bool is_map = spot->node && spot->node->kind == NODE_MAP;
    return (struct spot){spot, name, 0, is_map ? node_get(spot->node, name) : NULL};
}

/* A value must not be read as code; the environment has all that a script needs. */
static enum status check_code(const struct steps_graph *graph, const struct spot *command,
                              char *const *argv)
{
    const struct entry *entry = command->node->entries;
    for (size_t i = 0; argv[i] && entry; i++, entry = entry->next) {
        struct spot item = {command, NULL, i, entry->value};
        const char *at = argv[i], *end, *complaint;
        struct ref ref;
        if (!ref_next(&at, &end, &ref, &complaint))
            continue;
        if (i == 0)
            return spot_fail(graph->d->err, &item, "the program can't be a reference");
        if (argv_word_is_code(argv, i))
            return spot_fail(graph->d->err, &item,
                             "the value of %.*s would be read as code here; use a \"shell\", or a "
                             "variable of \"env\"",
                             (int)(end - at < 60 ? end - at : 60), at);
    }
    return OK;
}

static enum status check_command(struct place *place, const struct spot *step, char *const *argv)
{
    struct spot command = child(step, "command");
    enum status worst = OK;
    enum status st = check_list(place, USE_TEXT, &command);
    if (st == OK && argv && command.node) {
        st = check_code(place->graph, &command, argv);
        place->graph->has_bad_refs |= st != OK;
        st = decoder_go_on(place->graph->d, st, &worst);
    }
    return st;
}

static enum status check_http_texts(struct place *place, const struct spot *step)
{
    struct spot http = child(step, "http");
    struct spot url = child(&http, "url"), body = child(&http, "body");
    struct spot headers = child(&http, "headers");
    enum status st = check_text(place, USE_TEXT, &http);
    if (st == OK)
        st = check_text(place, USE_TEXT, &url);
    if (st == OK)
        st = check_map(place, USE_TEXT, &headers);
    return st == OK ? check_text(place, USE_TEXT, &body) : st;
}

/* The output `of` is a reference without ${}. */
static enum status check_of(struct place *place, const struct spot *of)
{
    const struct decoder *d = place->graph->d;
    struct ref ref;
    enum status worst = OK;
    if (!of->node || of->node->kind != NODE_SCALAR ||
        ref_read(of->node->text, of->node->length, &ref))
        return OK;
    place->st = OK;
    const char *complaint = complain(place, &ref);
    if (!complaint)
        return place->st;
    place->graph->has_bad_refs = true;
    spot_set(d->err, of, "\"%.80s\" %s", of->node->text, complaint);
    return decoder_go_on(d, status_invalid(), &worst);
}

static enum status check_each(struct place *place, const struct spot *step)
{
    struct spot each = child(step, "each");
    struct spot items = child(&each, "items"), of = child(&each, "of");
    enum status st = check_list(place, USE_ONCE, &each);
    if (st == OK)
        st = check_list(place, USE_ONCE, &items);
    return st == OK ? check_of(place, &of) : st;
}

static enum status check_step(struct steps_graph *graph, int number)
{
    struct place place = {.graph = graph, .step = number};
    const struct vertex *vertex = &graph->items[number];
    struct spot step = steps_graph_spot(graph, vertex);
    struct spot env = child(&step, "env"), with = child(&step, "with");
    struct spot input = child(&step, "stdin"), shell = child(&step, "shell");
    struct spot when = child(&step, "when");
    if (!vertex->step->job)
        return OK;
    enum status st = check_command(&place, &step, vertex->step->job->command);
    if (st == OK)
        st = check_text(&place, USE_SCRIPT, &shell);
    if (st == OK)
        st = check_http_texts(&place, &step);
    if (st == OK)
        st = check_map(&place, USE_TEXT, &env);
    if (st == OK)
        st = check_map(&place, USE_TEXT, &with);
    if (st == OK)
        st = check_text(&place, USE_TEXT, &input);
    if (st == OK && vertex->step->when)
        st = check_when(&place, &when);
    return st == OK ? check_each(&place, &step) : st;
}

enum status steps_refs_check(struct steps_graph *graph)
{
    struct place whole = {.graph = graph, .step = NO_STEP};
    struct spot env = child(graph->root, "env");
    enum status st = check_map(&whole, USE_ONCE, &env);
    for (size_t i = 0; i < graph->count && st == OK; i++)
        st = check_step(graph, (int)i);
    return st == OK && graph->has_bad_refs ? E_INVALID : st;
}
