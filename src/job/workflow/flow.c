/* The plan is read and asked. */
#include "workflow/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workflow/flow_internal.h"

void flow_say(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
}

enum status flow_parse(const char *text, size_t length, json_t **ret, json_error_t *reterr)
{
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, reterr);
    if (!value)
        return json_error_code(reterr) == json_error_out_of_memory || !*reterr->text ? E_NOMEM
                                                                                     : E_INVALID;
    *ret = value;
    return OK;
}

static int add_dumped(const char *bytes, size_t length, void *out)
{
    strbuf_add(out, bytes, length);
    return 0; /* a failure is remembered there */
}

char *flow_dump(const json_t *value)
{
    struct strbuf out;
    strbuf_init(&out);
    if (json_dump_callback(value, add_dumped, &out,
                           JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15)) != 0)
        out.failed = true;
    return strbuf_detach(&out);
}

json_t *flow_copy(const json_t *map)
{
    json_t *copy = json_object();
    if (copy && json_object_update(copy, (json_t *)map) == 0)
        return copy;
    json_decref(copy);
    return NULL;
}

unsigned flow_states(enum flow_on on)
{
    static const unsigned failure = 1U << RUN_FAILED | 1U << RUN_TIMED_OUT | 1U << RUN_KILLED |
                                    1U << RUN_LOST | 1U << RUN_MISSED;
    static const unsigned states[FLOW_ONS] = {
        [FLOW_SUCCESS] = 1U << RUN_OK,
        [FLOW_FAILURE] = failure,
        [FLOW_ALWAYS] = 1U << RUN_OK | 1U << RUN_SKIPPED | failure,
        [FLOW_PASSED] = 1U << RUN_OK | 1U << RUN_SKIPPED,
    };
    return states[on];
}

/* ---- read ---- */

static enum status damaged(char *why, size_t size)
{
    return flow_fail(why, size, "the plan of the instance is damaged, or of a newer version");
}

/* A number within the bounds; a missing one is `missing`. */
static bool get_number(const json_t *map, const char *name, int64_t min, int64_t max,
                       int64_t missing, int64_t *ret)
{
    const json_t *value = json_object_get(map, name);
    *ret = value ? json_integer_value(value) : missing;
    return (!value || json_is_integer(value)) && *ret >= min && *ret <= max;
}

static bool get_int(const json_t *map, const char *name, int min, int max, int missing, int *ret)
{
    int64_t number;
    bool is_good = get_number(map, name, min, max, missing, &number);
    *ret = (int)number;
    return is_good;
}

/* A map of names to texts, or nothing. */
static bool get_texts(const json_t *map, const char *name, const json_t **ret)
{
    json_t *texts = json_object_get(map, name), *value;
    const char *key;
    *ret = texts;
    json_object_foreach (texts, key, value) {
        if (!json_is_string(value))
            return false;
    }
    return !texts || json_is_object(texts);
}

/* [[STEP, ON] ...] */
static enum status read_waits(const json_t *list, int count, struct flow_wait **ret,
                              size_t *ret_count)
{
    size_t number = json_array_size(list);
    if (!list)
        return OK;
    if (!json_is_array(list) || number > STEPS_MAX)
        return E_INVALID;
    *ret = calloc(number + 1, sizeof(**ret));
    if (!*ret)
        return E_NOMEM;
    for (size_t i = 0; i < number; i++) {
        const json_t *pair = json_array_get(list, i);
        const json_t *of = json_array_get(pair, 0), *on = json_array_get(pair, 1);
        json_int_t which = json_integer_value(of), how = json_integer_value(on);
        if (!json_is_integer(of) || !json_is_integer(on) || which < 0 || which >= count ||
            how < 0 || how >= FLOW_ONS)
            return E_INVALID;
        (*ret)[(*ret_count)++] = (struct flow_wait){(int)which, (enum flow_on)how};
    }
    return OK;
}

static enum status read_gate(const struct flow *flow, const json_t *map, struct flow_gate *gate)
{
    const json_t *when = json_object_get(map, "when");
    enum status st =
        read_waits(json_object_get(map, "after"), flow->count, &gate->after, &gate->after_count);
    if (st == OK)
        st = read_waits(json_object_get(map, "needs"), flow->scope_count, &gate->needs,
                        &gate->need_count);
    if (st != OK)
        return st;
    gate->when = json_string_value(when);
    int all = (int)gate->after_count;
    return (!when || gate->when) && get_int(map, "join", all ? 1 : 0, all, all, &gate->join)
               ? OK
               : E_INVALID;
}

/* {"uid": UID, "name": NAME, "schedule": "@manual", ...}: a definition of its own. The variables
 * have their templates as values, so that an HTTP call which uses them is one that can be read. */
static enum status make_json(const struct flow *flow, const json_t *plan, const json_t *job,
                             struct flow_step *step)
{
    json_t *whole = json_pack("{s:O*, s:s, s:s}", "uid", json_object_get(plan, "uid"), "name",
                              flow->workflow, "schedule", "@manual");
    bool is_good = whole && json_object_update(whole, (json_t *)job) == 0;
    json_t *old = json_object_get(whole, "env");
    if (is_good && json_object_size(step->values)) {
        json_t *env = old ? flow_copy(old) : json_object();
        is_good = env && json_object_update(env, (json_t *)step->values) == 0 &&
                  json_object_set(whole, "env", env) == 0;
        json_decref(env);
    }
    step->json = is_good ? flow_dump(whole) : NULL;
    json_decref(whole);
    return step->json ? OK : E_NOMEM;
}

static bool read_each(const json_t *map, struct flow_step *step)
{
    const json_t *each = json_object_get(map, "each");
    const json_t *items = json_object_get(each, "items"), *value;
    size_t i;
    step->each = each;
    step->at_once = 1;
    if (!each)
        return true;
    json_array_foreach (items, i, value) {
        if (!json_is_string(value))
            return false;
    }
    return json_is_object(each) && (!items || json_is_array(items)) &&
           get_int(each, "at_once", 1, EACH_AT_ONCE_MAX, EACH_AT_ONCE, &step->at_once);
}

static bool read_outputs(const json_t *map, struct flow_step *step)
{
    const json_t *key;
    size_t i;
    step->outputs = json_object_get(map, "outputs");
    json_array_foreach (step->outputs, i, key) {
        if (!json_is_string(key))
            return false;
    }
    return !step->outputs || json_is_array(step->outputs);
}

static enum status read_step(const struct flow *flow, const json_t *plan, const json_t *map,
                             struct flow_step *step)
{
    const json_t *job = json_object_get(map, "job");
    step->name = json_string_value(json_object_get(map, "name"));
    step->is_own = json_is_true(json_object_get(map, "own"));
    step->is_final = json_is_true(json_object_get(map, "final"));
    step->ends = json_is_true(json_object_get(map, "ends"));
    if (!step->name || !*step->name || strlen(step->name) > STEP_NAME_MAX || !json_is_object(job) ||
        !get_int(map, "scope", 0, flow->scope_count - 1, 0, &step->scope) ||
        !get_texts(map, "values", &step->values) || !get_texts(map, "with", &step->with) ||
        !read_each(map, step) || !read_outputs(map, step))
        return E_INVALID;
    enum status st = read_gate(flow, map, &step->gate);
    return st == OK ? make_json(flow, plan, job, step) : st;
}

static enum status read_results(const struct flow *flow, const json_t *list, struct flow_part *part)
{
    size_t count = json_array_size(list);
    part->results = calloc(count + 1, sizeof(int));
    if (!part->results)
        return E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const json_t *step = json_array_get(list, i);
        json_int_t number = json_integer_value(step);
        if (!json_is_integer(step) || number < 0 || number >= flow->count)
            return E_INVALID;
        part->results[part->result_count++] = (int)number;
    }
    return OK;
}

static enum status read_scope(const struct flow *flow, const json_t *map, int number)
{
    struct flow_part *part = &flow->scopes[number];
    part->name = json_string_value(json_object_get(map, "name"));
    part->params = json_object_get(map, "params");
    /* Those around it come first, which is also why there is no circle. */
    if (!part->name || strlen(part->name) > STEP_NAME_MAX ||
        !get_int(map, "in", 0, number - 1, 0, &part->in))
        return E_INVALID;
    enum status st = read_gate(flow, map, &part->gate);
    return st == OK ? read_results(flow, json_object_get(map, "results"), part) : st;
}

/* ---- edges ---- */

/* Each step knows what it waits for; here it learns what waits for it. */
static enum status turn_edges(struct flow *flow)
{
    for (int i = 0; i < flow->count; i++) {
        const struct flow_gate *gate = &flow->steps[i].gate;
        for (size_t k = 0; k < gate->after_count; k++)
            flow->steps[gate->after[k].of].edge_count++;
        flow->steps[i].edge_count += flow->steps[i].ends;
        flow->last_count += flow->steps[i].ends;
    }
    for (int i = 0; i < flow->count; i++) {
        struct flow_step *step = &flow->steps[i];
        step->edges = calloc(step->edge_count + 1, sizeof(*step->edges));
        if (!step->edges)
            return E_NOMEM;
        step->edge_count = 0;
    }
    for (int i = 0; i < flow->count; i++) {
        const struct flow_gate *gate = &flow->steps[i].gate;
        for (size_t k = 0; k < gate->after_count; k++) {
            struct flow_step *before = &flow->steps[gate->after[k].of];
            before->edges[before->edge_count++] =
                (struct flow_edge){i, flow_states(gate->after[k].on)};
        }
    }
    for (int i = 0; i < flow->count; i++) {
        struct flow_step *step = &flow->steps[i];
        if (step->ends)
            step->edges[step->edge_count++] = (struct flow_edge){-1, flow_states(FLOW_PASSED)};
    }
    return OK;
}

/* Limits of what the store does in one transaction. */
static enum status check_limits(const struct flow *flow, char *why, size_t size)
{
    int first = 0;
    for (int i = 0; i < flow->count; i++) {
        const struct flow_step *step = &flow->steps[i];
        first += !step->gate.after_count;
        if (step->gate.after_count > STEP_AFTER_MAX)
            return flow_fail(why, size, "step %s waits for %zu steps; at most %d are possible",
                             step->name, step->gate.after_count, STEP_AFTER_MAX);
        if (step->edge_count > STEP_AFTER_MAX)
            return flow_fail(why, size,
                             "%zu steps, with the instance itself, wait for step %s; at most %d "
                             "are possible",
                             step->edge_count, step->name, STEP_AFTER_MAX);
    }
    if (first > STEPS_FIRST_MAX)
        return flow_fail(why, size, "%d steps begin with the instance; at most %d are possible",
                         first, STEPS_FIRST_MAX);
    return flow->last_count ? OK : damaged(why, size);
}

/* Follows the edges from the first steps on: what is not reached waits for itself. */
static enum status check_circles(const struct flow *flow, char *why, size_t size)
{
    size_t *left = calloc((size_t)flow->count + 1, sizeof(*left));
    int *queue = calloc((size_t)flow->count + 1, sizeof(*queue));
    int head = 0, tail = 0;
    enum status st = left && queue ? OK : E_NOMEM;
    for (int i = 0; i < flow->count && st == OK; i++) {
        left[i] = flow->steps[i].gate.after_count;
        if (!left[i])
            queue[tail++] = i;
    }
    for (; head < tail; head++) {
        const struct flow_step *step = &flow->steps[queue[head]];
        for (size_t k = 0; k < step->edge_count; k++) {
            int next = step->edges[k].step;
            if (next >= 0 && --left[next] == 0)
                queue[tail++] = next;
        }
    }
    for (int i = 0; i < flow->count && st == OK; i++) {
        if (left[i])
            st = flow_fail(why, size, "step %s waits, through others, for itself",
                           flow->steps[i].name);
    }
    free(left);
    free(queue);
    return st;
}

/* Without what is done: the edges are those that are left. */
static enum status cut(struct flow *flow, char *why, size_t size)
{
    bool is_cut = false;
    for (int i = 0; i < flow->count; i++)
        is_cut |= flow->steps[i].done != NULL;
    enum status st = is_cut ? flow_cut_done(flow, why, size) : OK;
    if (st != OK || !is_cut)
        return st;
    flow->last_count = 0;
    for (int i = 0; i < flow->count; i++) {
        free(flow->steps[i].edges);
        flow->steps[i].edges = NULL;
        flow->steps[i].edge_count = 0;
    }
    return turn_edges(flow);
}

static enum status read_plan(struct flow *flow, bool is_whole, char *why, size_t size)
{
    const json_t *plan = json_object_get(flow->document, "plan");
    const json_t *steps = json_object_get(plan, "steps");
    const json_t *scopes = json_object_get(plan, "scopes");
    size_t count = json_array_size(steps), scope_count = json_array_size(scopes) + 1;
    flow->workflow = json_string_value(json_object_get(plan, "workflow"));
    int version;
    if (!get_int(plan, "version", FLOW_VERSION, FLOW_VERSION, 0, &version) || !flow->workflow ||
        !get_number(plan, "timeout_s", 0, INT64_MAX / 1000, 0, &flow->timeout_s) || !count ||
        count > STEPS_MAX || scope_count > STEPS_MAX ||
        !get_texts(flow->document, "params", &flow->params))
        return damaged(why, size);
    flow->steps = calloc(count, sizeof(*flow->steps));
    flow->scopes = calloc(scope_count, sizeof(*flow->scopes));
    if (!flow->steps || !flow->scopes)
        return E_NOMEM;
    flow->count = (int)count;
    flow->scope_count = (int)scope_count;
    enum status st = OK;
    for (size_t i = 1; i < scope_count && st == OK; i++)
        st = read_scope(flow, json_array_get(scopes, i - 1), (int)i);
    for (size_t i = 0; i < count && st == OK; i++)
        st = read_step(flow, plan, json_array_get(steps, i), &flow->steps[i]);
    if (st == OK)
        st = turn_edges(flow);
    if (st != OK)
        return st == E_INVALID ? damaged(why, size) : st;
    st = check_limits(flow, why, size);
    if (st == OK)
        st = check_circles(flow, why, size);
    if (st == OK)
        st = flow_mark_done(flow, why, size);
    return st == OK && !is_whole ? cut(flow, why, size) : st;
}

enum status flow_load(json_t *document, bool is_whole, struct flow **ret, char *why, size_t size)
{
    struct flow *flow = calloc(1, sizeof(*flow));
    if (!flow) {
        json_decref(document);
        return E_NOMEM;
    }
    flow->document = document;
    enum status st = read_plan(flow, is_whole, why, size);
    if (st == OK)
        *ret = flow;
    else
        flow_free(flow);
    return st;
}

static enum status decode(const char *text, bool is_whole, struct flow **ret)
{
    json_error_t error;
    char why[80];
    json_t *document = NULL;
    enum status st = flow_parse(text, strlen(text), &document, &error);
    return st == OK ? flow_load(document, is_whole, ret, why, sizeof(why)) : st;
}

enum status flow_decode(const char *text, struct flow **ret)
{
    return decode(text, false, ret);
}

enum status flow_decode_whole(const char *text, struct flow **ret)
{
    return decode(text, true, ret);
}

static void release_gate(struct flow_gate *gate)
{
    free(gate->after);
    free(gate->needs);
}

struct flow *flow_free(struct flow *flow)
{
    if (!flow)
        return NULL;
    for (int i = 0; i < flow->count; i++) {
        free(flow->steps[i].json);
        free(flow->steps[i].edges);
        release_gate(&flow->steps[i].gate);
    }
    for (int i = 0; i < flow->scope_count; i++) {
        free(flow->scopes[i].results);
        release_gate(&flow->scopes[i].gate);
    }
    free(flow->steps);
    free(flow->scopes);
    json_decref(flow->document);
    free(flow);
    return NULL;
}

/* ---- asked ---- */

int flow_count(const struct flow *flow)
{
    return flow->count;
}

const char *flow_name(const struct flow *flow, int step)
{
    return flow->steps[step].name;
}

const char *flow_json(const struct flow *flow, int step)
{
    return flow->steps[step].json;
}

int flow_join(const struct flow *flow, int step)
{
    return flow->steps[step].gate.join;
}

int flow_inputs(const struct flow *flow, int step)
{
    return (int)flow->steps[step].gate.after_count;
}

bool flow_is_final(const struct flow *flow, int step)
{
    return flow->steps[step].is_final;
}

bool flow_is_fan_out(const struct flow *flow, int step)
{
    return flow->steps[step].each;
}

const char *flow_when_text(const struct flow *flow, int step)
{
    return flow->steps[step].gate.when;
}

json_t *flow_each_shown(const struct flow *flow, int step)
{
    return flow->steps[step].each ? json_deep_copy(flow->steps[step].each) : NULL;
}

int flow_at_once(const struct flow *flow, int step)
{
    return flow->steps[step].at_once;
}

int flow_last_count(const struct flow *flow)
{
    return flow->last_count;
}

int64_t flow_timeout_s(const struct flow *flow)
{
    return flow->timeout_s;
}

int flow_find(const struct flow *flow, const char *name)
{
    for (int i = 0; i < flow->count; i++) {
        if (strcmp(flow->steps[i].name, name) == 0)
            return i;
    }
    return -1;
}

void flow_name_part(const struct flow *flow, int part, char name[STEP_NAME_SIZE])
{
    int step = flow_step_of(part), item = flow_item_of(part);
    const char *known = step >= 0 && step < flow->count ? flow->steps[step].name : "";
    if (item >= 0)
        snprintf(name, STEP_NAME_SIZE, "%.*s[%d]", STEP_NAME_MAX, known, item);
    else
        snprintf(name, STEP_NAME_SIZE, "%.*s", STEP_NAME_MAX, known);
}

const struct flow_edge *flow_edges(const struct flow *flow, int step, size_t *ret_count)
{
    *ret_count = flow->steps[step].edge_count;
    return flow->steps[step].edges;
}

/* ---- names in a scope ---- */

void flow_prefix(const struct flow *flow, int scope, char prefix[STEP_NAME_SIZE])
{
    prefix[0] = '\0';
    if (scope)
        snprintf(prefix, STEP_NAME_SIZE, "%.*s/", STEP_NAME_MAX, flow->scopes[scope].name);
}

/* The name with those of the scopes around it. False: too long to be one. */
static bool whole_name(const struct flow *flow, int scope, const char *name,
                       char whole[2 * STEP_NAME_SIZE])
{
    char prefix[STEP_NAME_SIZE];
    flow_prefix(flow, scope, prefix);
    snprintf(whole, 2 * STEP_NAME_SIZE, "%s%s", prefix, name);
    return strlen(whole) <= STEP_NAME_MAX;
}

int flow_find_in(const struct flow *flow, int scope, const char *name)
{
    char whole[2 * STEP_NAME_SIZE];
    return whole_name(flow, scope, name, whole) ? flow_find(flow, whole) : -1;
}

int flow_find_scope(const struct flow *flow, int scope, const char *name)
{
    char whole[2 * STEP_NAME_SIZE];
    if (!whole_name(flow, scope, name, whole))
        return 0;
    for (int i = 1; i < flow->scope_count; i++) {
        if (strcmp(flow->scopes[i].name, whole) == 0)
            return i;
    }
    return 0;
}
