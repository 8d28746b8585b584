/* Random workflows within workflows, run by an executor that knows nothing but links (store.h), in
 * random order. Whatever the order: every step ends once, the instance ends once and after all of
 * them, and each ends as the definitions say, which are also read level by level, without a plan.
 *
 * PEAL_SEED=N repeats a run; PEAL_RUNS=N makes so many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "flow_support.h"
#include "workflow/steps.h"

enum { ORDERS = 4, LEVELS = 4, STEPS = 7, RUNS_MAX = 4000, EACH = 4 };

static uint64_t seed, dice;

static unsigned below(unsigned n)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(dice >> 33) % n;
}

/* ---- definitions ---- */

static bool is_workflow[STEPS];

/* A step before this one, by number. */
static unsigned add_after(struct strbuf *yaml, unsigned step, bool *ret_all, unsigned *ret_one)
{
    static const char *const ons[] = {"success", "success", "failure", "always"};
    unsigned first = step ? below(step) : 0, count = 0;
    bool has_workflow = false;
    strbuf_adds(yaml, ", after: [");
    for (unsigned i = first; i < step && count < 3; i += 1 + below(2)) {
        strbuf_addf(yaml, "%s{step: s%u, on: %s}", count++ ? ", " : "", i, ons[below(4)]);
        has_workflow |= is_workflow[i];
    }
    strbuf_adds(yaml, "]");
    *ret_one = first;
    *ret_all = has_workflow || count < 2 || below(3) > 0;
    if (!*ret_all)
        strbuf_addf(yaml, ", join: %u", 1 + below(count));
    return count;
}

static const char *any_state(void)
{
    static const char *const states[] = {"ok", "ok", "failed", "skipped"};
    return states[below(4)];
}

static void add_step(struct strbuf *yaml, unsigned level, unsigned step)
{
    bool waits = step && below(4), all = true;
    unsigned one = 0;
    strbuf_addf(yaml, "- {name: s%u", step);
    if (waits)
        add_after(yaml, step, &all, &one);
    bool has_when = all && below(4) == 0;
    if (has_when && waits && below(2))
        strbuf_addf(yaml, ", when: steps.s%u.state == '%s'", one, any_state());
    else if (has_when)
        strbuf_addf(yaml, ", when: params.p == '%s'", any_state());
    is_workflow[step] = level + 1 < LEVELS && below(4) == 0;
    if (is_workflow[step]) {
        strbuf_addf(yaml, ", workflow: w%u", level + 1 + below(LEVELS - level - 1));
        if (waits && all && below(2))
            strbuf_addf(yaml, ", with: {p: '${steps.s%u.state}'}", one);
        else if (below(2))
            strbuf_adds(yaml, ", with: {p: '${params.p}'}");
    } else {
        strbuf_adds(yaml, ", shell: x");
        if (below(5) == 0)
            strbuf_addf(yaml, ", each: {shards: %u, at_once: %u}", 1 + below(EACH), 1 + below(2));
    }
    strbuf_adds(yaml, "}\n");
}

static void add_workflow(struct strbuf *yaml, unsigned level)
{
    unsigned count = 1 + below(STEPS - 1);
    strbuf_addf(yaml, "---\nname: w%u\nschedule: '@manual'\nparams: {p: {default: ok}}\nsteps:\n",
                level);
    for (unsigned i = 0; i < count; i++)
        add_step(yaml, level, i);
    if (below(3))
        return;
    strbuf_adds(yaml, "finally:\n- {name: f0, shell: x}\n");
    if (below(2))
        strbuf_adds(yaml, "- {name: f1, after: f0, shell: x}\n");
    if (below(3) == 0 && level + 1 < LEVELS)
        strbuf_addf(yaml, "- {name: f2, workflow: w%u}\n", level + 1);
}

/* ---- how a run ends, if it is started ---- */

static enum run_state outcome(const char *name, int item)
{
    static const enum run_state states[] = {RUN_OK,        RUN_OK,  RUN_OK,     RUN_OK,
                                            RUN_OK,        RUN_OK,  RUN_FAILED, RUN_FAILED,
                                            RUN_TIMED_OUT, RUN_LOST};
    uint64_t hash = seed ^ UINT64_C(14695981039346656037);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    hash = (hash ^ (uint64_t)(item + 7)) * UINT64_C(1099511628211);
    return states[(hash >> 20) % 10];
}

static bool has_passed(enum run_state state)
{
    return state == RUN_OK || state == RUN_SKIPPED;
}

/* ---- the definitions, level by level ---- */

struct wanted {
    struct flow_world *world;
    struct flow *flow;
    enum run_state states[RUNS_MAX];
};

static bool is_met(enum after_on on, enum run_state state)
{
    return on == AFTER_ALWAYS || (on == AFTER_SUCCESS ? state == RUN_OK : !has_passed(state));
}

static int index_of(const struct job *workflow, const char *name)
{
    for (size_t i = 0; i < workflow->step_count; i++) {
        if (strcmp(workflow->steps[i].name, name) == 0)
            return (int)i;
    }
    fail_msg("no step %s", name);
    return -1;
}

/* The only forms that are made here. */
static bool when_holds(const struct job *workflow, const struct job_step *step,
                       const enum run_state *states, const char *param)
{
    char name[16], want[16];
    if (!step->when)
        return true;
    if (sscanf(step->when, "params.p == '%15[^']'", want) == 1)
        return strcmp(param, want) == 0;
    assert_int_equal(sscanf(step->when, "steps.%15[^.].state == '%15[^']'", name, want), 2);
    return strcmp(run_state_name(states[index_of(workflow, name)]), want) == 0;
}

static const char *param_of(const struct job *workflow, const struct job_step *step,
                            const enum run_state *states, const char *param)
{
    char name[16];
    if (!step->with.count)
        return "ok";
    if (sscanf(step->with.items[0].value, "${steps.%15[^.].state}", name) == 1)
        return run_state_name(states[index_of(workflow, name)]);
    return param;
}

static enum run_state fan_out(const char *name, const struct job_step *step)
{
    bool is_good = true;
    for (int i = 0; i < step->each.shards; i++)
        is_good &= has_passed(outcome(name, i));
    return is_good ? RUN_OK : RUN_FAILED;
}

/* Does another step wait for its failure, and for nothing else that could be otherwise? */
static bool is_handled(const struct job *workflow, const char *name)
{
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct job_step *step = &workflow->steps[i];
        bool is_it = false, alone = !step->join || step->join == (int)step->after_count;
        for (size_t k = 0; k < step->after_count; k++) {
            const struct step_after *after = &step->after[k];
            bool is_this = strcmp(after->step, name) == 0;
            is_it |= is_this && after->on == AFTER_FAILURE;
            alone &= is_this || after->on == AFTER_ALWAYS ||
                     workflow->steps[index_of(workflow, after->step)].workflow;
        }
        if (is_it && alone)
            return true;
    }
    return false;
}

/* The result of a workflow whose steps have names with this prefix. */
static enum run_state want_level(struct wanted *wanted, const char *name, const char *prefix,
                                 bool is_open, const char *param)
{
    const struct job *workflow = wanted->world->jobs.items[0];
    enum run_state states[STEPS + 4] = {0}, result = RUN_OK;
    for (size_t i = 0; i < wanted->world->jobs.count; i++) {
        if (strcmp(wanted->world->jobs.items[i]->name, name) == 0)
            workflow = wanted->world->jobs.items[i];
    }
    for (size_t i = 0; i < workflow->step_count; i++) {
        const struct job_step *step = &workflow->steps[i];
        int met = 0, join = step->join ? step->join : (int)step->after_count;
        char whole[200];
        for (size_t k = 0; k < step->after_count; k++)
            met += is_met(step->after[k].on, states[index_of(workflow, step->after[k].step)]);
        bool runs = is_open && met >= join && when_holds(workflow, step, states, param);
        if (step->workflow) {
            snprintf(whole, sizeof(whole), "%s%s/", prefix, step->name);
            states[i] = want_level(wanted, step->workflow, whole, runs,
                                   param_of(workflow, step, states, param));
        } else {
            snprintf(whole, sizeof(whole), "%s%s", prefix, step->name);
            states[i] = !runs               ? RUN_SKIPPED
                        : step->each.shards ? fan_out(whole, step)
                                            : outcome(whole, -1);
            wanted->states[flow_find(wanted->flow, whole)] = states[i];
        }
        if (!has_passed(states[i]) && !is_handled(workflow, step->name))
            result = RUN_FAILED;
    }
    return is_open ? result : RUN_SKIPPED;
}

/* ---- the executor ---- */

enum phase { NONE, QUEUED, DUE, RUNNING, GROUP, UNFOLLOWED, DONE };

struct model_run {
    enum phase phase;
    int part, met, unmet, made, expected;
    struct run run;
};

struct model {
    struct flow *flow;
    struct model_run runs[RUNS_MAX]; /* [0] the instance, 1 + i the steps, then items */
    int count;
    bool is_over;
};

static struct model_run *run_of(struct model *m, int part)
{
    if (!flow_part_is_item(part))
        return &m->runs[part];
    for (int i = 1 + flow_count(m->flow); i < m->count; i++) {
        if (m->runs[i].part == part)
            return &m->runs[i];
    }
    return NULL;
}

static const struct run *model_end(void *context, int step)
{
    struct model *m = context;
    const struct model_run *run = &m->runs[1 + step];
    return run->phase >= UNFOLLOWED ? &run->run : NULL;
}

static const char *model_output(void *context, int step, int item)
{
    (void)context;
    (void)step;
    (void)item;
    return NULL;
}

static void follow(struct model *m, struct model_run *ended);

static void end_run(struct model *m, struct model_run *run, enum run_state state)
{
    assert_true(run->phase == DUE || run->phase == RUNNING);
    run->run.state = state;
    run->phase = DONE;
    follow(m, run);
}

static void make_item(struct model *m, struct model_run *group)
{
    assert_true(m->count < RUNS_MAX);
    m->runs[m->count++] =
        (struct model_run){.phase = DUE, .part = FLOW_ITEMS * group->part + group->made++};
}

/* One more of what a fan-out or the instance expects. */
static void count_in(struct model *m, struct model_run *group, enum run_state end)
{
    assert_int_equal(group->phase, GROUP);
    has_passed(end) ? group->met++ : group->unmet++;
    if (group->part && group->made < group->expected)
        make_item(m, group);
    if (group->met + group->unmet < group->expected)
        return;
    group->run.state = group->unmet ? RUN_FAILED : RUN_OK;
    group->phase = UNFOLLOWED; /* ended by the store */
    if (!group->part) {
        assert_false(m->is_over);
        m->is_over = true;
        group->phase = DONE;
        for (int i = 1; i < m->count; i++)
            assert_int_equal(m->runs[i].phase, DONE);
    }
}

static void follow(struct model *m, struct model_run *ended)
{
    int step = flow_step_of(ended->part);
    size_t count;
    if (flow_part_is_item(ended->part)) {
        count_in(m, run_of(m, flow_part_of(step)), ended->run.state);
        return;
    }
    enum run_state state = ended->run.state;
    const struct flow_edge *edges = flow_edges(m->flow, step, &count);
    for (size_t i = 0; i < count; i++) {
        if (edges[i].step < 0) {
            count_in(m, &m->runs[0], state);
            continue;
        }
        struct model_run *next = &m->runs[flow_part_of(edges[i].step)];
        int join = flow_join(m->flow, edges[i].step), inputs = flow_inputs(m->flow, edges[i].step);
        if (next->phase == NONE)
            next->phase = QUEUED;
        if (next->phase != QUEUED)
            continue;
        run_state_is_in(edges[i].states, state) ? next->met++ : next->unmet++;
        if (next->met >= join || next->unmet > inputs - join)
            next->phase = DUE;
    }
}

/* A node takes a step that is due. */
static void take(struct model *m, struct model_run *run)
{
    struct flow_scope scope = {model_end, model_output, m, &m->runs[0].run};
    int step = flow_step_of(run->part), items = 0;
    char why[200] = "";
    bool runs = true;
    if (flow_part_is_item(run->part)) {
        run->phase = RUNNING;
        return;
    }
    if (run->met < flow_join(m->flow, step)) {
        end_run(m, run, RUN_SKIPPED);
        return;
    }
    if (flow_when(m->flow, step, &scope, &runs, why, sizeof(why)) != OK)
        fail_msg("PEAL_SEED=%llu: %s: %s", (unsigned long long)seed, flow_name(m->flow, step), why);
    if (!runs) {
        end_run(m, run, RUN_SKIPPED);
        return;
    }
    run->phase = RUNNING;
    if (!flow_is_fan_out(m->flow, step))
        return;
    assert_int_equal(flow_items(m->flow, step, &scope, &items, why, sizeof(why)), OK);
    run->phase = GROUP; /* and counts its items from now on */
    run->met = run->unmet = 0;
    run->expected = items;
    for (int i = 0; i < items && i < flow_at_once(m->flow, step); i++)
        make_item(m, run);
}

static bool act(struct model *m)
{
    unsigned choices = 0;
    struct model_run *chosen = NULL;
    for (int i = 1; i < m->count; i++) {
        enum phase phase = m->runs[i].phase;
        if ((phase == DUE || phase == RUNNING || phase == UNFOLLOWED) && below(++choices) == 0)
            chosen = &m->runs[i];
    }
    if (!chosen)
        return false;
    int step = flow_step_of(chosen->part);
    if (chosen->phase == DUE) {
        take(m, chosen);
    } else if (chosen->phase == RUNNING) {
        end_run(m, chosen, outcome(flow_name(m->flow, step), flow_item_of(chosen->part)));
    } else {
        chosen->phase = DONE;
        follow(m, chosen);
    }
    return true;
}

static void open_instance(struct model *m, struct flow *flow)
{
    *m = (struct model){.flow = flow, .count = 1 + flow_count(flow)};
    m->runs[0].phase = GROUP;
    m->runs[0].expected = flow_last_count(flow);
    for (int i = 0; i < flow_count(flow); i++) {
        m->runs[1 + i].part = flow_part_of(i);
        if (!flow_inputs(flow, i))
            m->runs[1 + i].phase = DUE;
    }
}

static void check_order(const struct wanted *wanted, struct flow *flow, enum run_state result)
{
    static struct model m;
    open_instance(&m, flow);
    while (act(&m))
        ;
    for (int i = 0; i < flow_count(flow); i++) {
        const struct model_run *run = &m.runs[1 + i];
        if (run->phase != DONE)
            fail_msg("PEAL_SEED=%llu: %s has not ended", (unsigned long long)seed,
                     flow_name(flow, i));
        if (run->run.state != wanted->states[i])
            fail_msg("PEAL_SEED=%llu: %s is %s, not %s", (unsigned long long)seed,
                     flow_name(flow, i), run_state_name(run->run.state),
                     run_state_name(wanted->states[i]));
    }
    if (!m.is_over || m.runs[0].run.state != result)
        fail_msg("PEAL_SEED=%llu: the instance: %d %s, not %s", (unsigned long long)seed, m.is_over,
                 run_state_name(m.runs[0].run.state), run_state_name(result));
}

/* ---- */

static int check_seed(void)
{
    struct flow_world world;
    struct strbuf yaml;
    static struct wanted wanted;
    char why[200] = "";
    char *text = NULL;
    struct flow *flow = NULL;
    dice = seed;
    strbuf_init(&yaml);
    for (unsigned i = 0; i < LEVELS; i++)
        add_workflow(&yaml, i);
    flow_world_open(&world, __LINE__, yaml.text);
    enum status st = flow_text(world.jobs.items[0], NULL, &world.source, &text, why, sizeof(why));
    bool is_too_large = st == E_INVALID && strstr(why, "possible");
    if (st != OK && !is_too_large)
        fail_msg("PEAL_SEED=%llu: %s\n%s", (unsigned long long)seed, why, yaml.text);
    if (st == OK) {
        assert_int_equal(flow_decode(text, &flow), OK);
        wanted = (struct wanted){.world = &world, .flow = flow};
        enum run_state result = want_level(&wanted, "w0", "", true, "ok");
        for (int i = 0; i < ORDERS; i++)
            check_order(&wanted, flow, result);
    }
    int count = flow ? flow_count(flow) : 0;
    flow_free(flow);
    free(text);
    strbuf_release(&yaml);
    flow_world_close(&world);
    return count;
}

static void every_step_ends_once(void **state)
{
    (void)state;
    const char *given = getenv("PEAL_SEED"), *runs = getenv("PEAL_RUNS");
    uint64_t first = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000;
    int count = runs ? atoi(runs) : given ? 1 : 400;
    long steps = 0;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)first);
    for (int i = 0; i < count; i++) {
        seed = first + (uint64_t)i;
        steps += check_seed();
    }
    print_message("%d workflows, %ld steps, each in %d orders\n", count, steps, ORDERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
