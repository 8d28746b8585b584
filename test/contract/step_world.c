#include "step_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/run_input.h"
#include "workflow/flow.h"

const struct planned chain[3] = {
    {.name = "a", .after = ""}, {.name = "b", .after = "a"}, {.name = "c", .after = "b"}};

const struct planned diamond[4] = {{.name = "a", .after = ""},
                                   {.name = "b", .after = "a"},
                                   {.name = "c", .after = "a"},
                                   {.name = "d", .after = "b c"}};

/* ---- the plan ---- */

static bool waits_for(const struct planned *step, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = step->after; (at = strstr(at, name)); at += length)
        if ((at == step->after || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

static int inputs_of(const struct planned *step)
{
    int count = *step->after != '\0';
    for (const char *at = step->after; *at; at++)
        count += *at == ' ';
    return count;
}

static bool is_last(const struct flow_world *flow, const struct planned *step)
{
    for (size_t i = 0; i < flow->count; i++)
        if (waits_for(&flow->steps[i], step->name))
            return step->is_tail;
    return true;
}

static struct store_step a_step(struct flow_world *flow, size_t i)
{
    struct store_step step = {.id = world_id(flow->world),
                              .part = flow_part_of((int)i),
                              .attempts = flow->attempts,
                              .is_final = flow->steps[i].is_final};
    snprintf(step.step, sizeof(step.step), "%s", flow->steps[i].name);
    return step;
}

/* Those of an item go to its fan-out. */
static void fill_links(struct flow_world *flow, const struct run *run)
{
    size_t of = (size_t)flow_step_of(run->part);
    flow->link_count = 0;
    if (flow_part_is_item(run->part)) {
        flow->links[flow->link_count++] = (struct store_link){
            .is_group = true, .part = flow_part_of((int)of), .step = a_step(flow, of)};
        return;
    }
    for (size_t i = 0; i < flow->count; i++) {
        const struct planned *step = &flow->steps[i];
        if (!waits_for(step, flow->steps[of].name))
            continue;
        int inputs = inputs_of(step);
        flow->links[flow->link_count++] =
            (struct store_link){.step = a_step(flow, i),
                                .states = step->states ? step->states : ON_OK,
                                .inputs = inputs,
                                .join = step->join ? step->join : inputs};
    }
    if (is_last(flow, &flow->steps[of]))
        flow->links[flow->link_count++] = (struct store_link){.is_group = true};
}

static int last_count(const struct flow_world *flow)
{
    int count = 0;
    for (size_t i = 0; i < flow->count; i++)
        count += is_last(flow, &flow->steps[i]);
    return count;
}

static struct store_opening opening_of(struct flow_world *flow, struct store_step *steps)
{
    struct store_opening opening = {.steps = steps,
                                    .expected = last_count(flow),
                                    .plan = "{\"plan\":1}",
                                    .input = world_id(flow->world),
                                    .is_wanted = true};
    for (size_t i = 0; i < flow->count; i++)
        if (!*flow->steps[i].after)
            steps[opening.count++] = a_step(flow, i);
    return opening;
}

/* ---- requests ---- */

/* The picture of runs, before and after. */
void do_twice(struct world *world, enum store_op op, void *item, size_t size)
{
    void *again = malloc(size);
    assert_non_null(again);
    memcpy(again, item, size);
    world_do_one(world, op, item);
    size_t count = world->picture.run_count;
    struct seen_run *before = malloc((count + 1) * sizeof(*before));
    assert_non_null(before);
    if (count)
        memcpy(before, world->picture.runs, count * sizeof(*before));
    world_do_one(world, op, again);
    assert_int_equal(world->picture.run_count, count);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(&before[i].run, &world->picture.runs[i].run, sizeof(struct run));
    free(before);
    free(again);
}

struct flow_world *flow_world_new(struct world *world, const char *name,
                                  const struct planned *steps, size_t count)
{
    struct flow_world *flow = calloc(1, sizeof(*flow));
    assert_non_null(flow);
    assert_true(count <= FLOW_STEPS);
    *flow = (struct flow_world){.world = world,
                                .steps = steps,
                                .count = count,
                                .attempts = 1,
                                .now_ms = 5000,
                                .job = make_job(world, name)};
    flow->links = calloc(FLOW_STEPS + 1, sizeof(*flow->links));
    assert_non_null(flow->links);
    return flow;
}

void flow_world_free(struct flow_world *flow)
{
    free(flow->links);
    free(flow);
}

struct store_claim opening_claim(struct flow_world *flow, int64_t tick_ms,
                                 enum overlap_policy overlap, struct store_step *steps)
{
    struct store_claim claim = a_claim(flow->world, flow->job, tick_ms, overlap);
    claim.opening = opening_of(flow, steps);
    return claim;
}

void claim_instance(struct flow_world *flow, int64_t tick_ms)
{
    struct store_step steps[STORE_STEPS_MAX];
    struct store_claim claim = opening_claim(flow, tick_ms, OVERLAP_SKIP, steps);
    struct store_claim again = claim;
    world_do_one(flow->world, STORE_CLAIM, &claim);
    assert_int_equal(claim.result, CLAIM_SPREAD);
    flow->instance = claim.run.id;
    size_t count = flow->world->picture.run_count;
    world_do_one(flow->world, STORE_CLAIM, &again);
    assert_int_equal(again.result, CLAIM_SPREAD);
    assert_int_equal(again.run.state, RUN_RUNNING);
    assert_int_equal(flow->world->picture.run_count, count);
}

struct store_take take_instance(struct flow_world *flow, const struct run *run)
{
    struct store_step steps[STORE_STEPS_MAX];
    struct store_take take = {.run_id = run->id,
                              .job_revision = see_job(flow->world, flow->job)->revision,
                              .nonce = 70000 + flow->world->last_number,
                              .now_ms = 900000,
                              .node = "node-1",
                              .opening = opening_of(flow, steps)};
    flow->instance = run->id;
    do_twice(flow->world, STORE_TAKE, &take, sizeof(take));
    return take;
}

const struct run *find_step(const struct flow_world *flow, const char *name)
{
    const struct run *last = NULL;
    for (size_t i = 0; i < flow->world->picture.run_count; i++) {
        const struct run *run = &flow->world->picture.runs[i].run;
        if (id_compare(&run->instance, &flow->instance) == 0 && strcmp(run->step, name) == 0 &&
            (!last || run->attempt > last->attempt))
            last = run;
    }
    return last;
}

enum run_state step_state(const struct flow_world *flow, const char *name)
{
    const struct run *run = find_step(flow, name);
    return run ? run->state : RUN_STATES;
}

const struct run *the_instance(const struct flow_world *flow)
{
    return &see_run(flow->world, flow->instance)->run;
}

struct run take_step(struct flow_world *flow, const char *name)
{
    const struct run *run = find_step(flow, name);
    assert_non_null(run);
    struct store_take take = {.run_id = run->id,
                              .nonce = 80000 + flow->world->last_number++,
                              .now_ms = 900000,
                              .node = "node-1"};
    do_twice(flow->world, STORE_TAKE, &take, sizeof(take));
    assert_true(take.taken);
    return take.run;
}

struct store_begin begin_step(struct flow_world *flow, const char *name)
{
    struct run run = take_step(flow, name);
    struct store_begin begin = {.run_id = run.id, .nonce = run.nonce};
    do_twice(flow->world, STORE_BEGIN, &begin, sizeof(begin));
    return begin;
}

struct store_finish finish_of(struct flow_world *flow, const struct run *run, enum run_state state)
{
    struct store_finish finish = {.run = *run};
    fill_links(flow, run);
    finish.run.state = state;
    finish.run.finished_ms = flow->now_ms++;
    finish.links = flow->links;
    finish.link_count = flow->link_count;
    return finish;
}

struct store_finish end_step(struct flow_world *flow, const char *name, enum run_state state)
{
    if (step_state(flow, name) == RUN_DUE)
        assert_true(begin_step(flow, name).begun);
    struct store_finish finish = finish_of(flow, find_step(flow, name), state);
    finish.run.started_ms = 4000;
    do_twice(flow->world, STORE_FINISH, &finish, sizeof(finish));
    assert_true(finish.accepted);
    return finish;
}

void skip_step(struct flow_world *flow, const char *name, enum run_reason reason)
{
    struct run run = take_step(flow, name);
    struct store_finish finish = finish_of(flow, &run, RUN_SKIPPED);
    finish.run.reason = reason;
    do_twice(flow->world, STORE_FINISH, &finish, sizeof(finish));
    assert_true(finish.accepted);
}

void open_fan_out(struct flow_world *flow, const char *name)
{
    const struct run *run = find_step(flow, name);
    size_t of = (size_t)flow_step_of(run->part);
    const struct planned *step = &flow->steps[of];
    struct store_step items[STORE_STEPS_MAX];
    struct store_take take = {
        .run_id = run->id,
        .nonce = 90000 + flow->world->last_number++,
        .now_ms = 900000,
        .node = "node-1",
        .opening = {.steps = items, .expected = step->items, .is_wanted = true}};
    for (int i = 0; i < step->at_once && i < step->items; i++) {
        struct store_step *item = &items[take.opening.count++];
        *item = a_step(flow, of);
        item->part = FLOW_ITEMS * flow_part_of((int)of) + i;
        snprintf(item->step, sizeof(item->step), "%s[%d]", step->name, i);
    }
    do_twice(flow->world, STORE_TAKE, &take, sizeof(take));
    assert_true(take.taken);
}

struct store_finish follow_run(struct flow_world *flow, const struct run *run)
{
    struct store_finish finish = {.run = *run};
    assert_true(run_is_unfollowed(run));
    if (run_is_step(run))
        finish = finish_of(flow, run, run->state);
    finish.run.finished_ms = flow->now_ms++;
    do_twice(flow->world, STORE_FINISH, &finish, sizeof(finish));
    assert_true(finish.accepted);
    assert_false(run_is_unfollowed(&finish.run));
    return finish;
}

void order_kill(struct flow_world *flow, const struct run *run, enum run_reason reason)
{
    struct store_order order = {.run_id = run->id, .reason = reason, .by = "anna"};
    do_twice(flow->world, STORE_ORDER, &order, sizeof(order));
    assert_true(order.known);
}

void drain(struct flow_world *flow)
{
    const struct run *left = NULL;
    do {
        left = NULL;
        for (size_t i = 0; !left && i < flow->world->picture.run_count; i++) {
            const struct run *run = &flow->world->picture.runs[i].run;
            if (run_is_step(run) && run_is_unfollowed(run))
                left = run;
        }
        if (left)
            follow_run(flow, left);
    } while (left);
}

struct store_finish fail_and_retry(struct flow_world *flow, const char *name, enum run_state state)
{
    assert_true(begin_step(flow, name).begun);
    struct store_finish finish = finish_of(flow, find_step(flow, name), state);
    finish.run.reason = state == RUN_LOST ? REASON_NODE_DIED : REASON_EXIT_CODE;
    finish.again = (struct store_again){.is_wanted = true,
                                        .id = world_id(flow->world),
                                        .not_before_ms = 6000,
                                        .attempts = 3,
                                        .job_revision = 77}; /* which does not matter */
    do_twice(flow->world, STORE_FINISH, &finish, sizeof(finish));
    assert_true(finish.accepted);
    assert_true(finish.again.made);
    return finish;
}

void put_again(struct world *world, struct id job, const char *name, bool paused, bool deleted,
               bool purge)
{
    struct store_put_job put = a_put(job, name, -1);
    put.paused = paused;
    put.deleted = deleted;
    put.purge = purge;
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_OK);
}

/* ---- checks ---- */

void check_instance(struct flow_world *flow, int64_t started_ms)
{
    const struct run *run = the_instance(flow);
    char input[ID_TEXT + 1];
    assert_int_equal(run->state, RUN_RUNNING);
    assert_true(run_is_instance(run));
    assert_int_equal(id_compare(&run->instance, &run->id), 0);
    assert_string_equal(run->node, "");
    assert_true(id_is_zero(&run->owner.instance));
    assert_int_equal(run->started_ms, started_ms);
    assert_int_equal(run->joins.expected, 1);
    id_format(&run->input, input);
    assert_string_equal(look_for_doc(flow->world, INPUT_DOC, input)->json, "{\"plan\":1}");
}

void ends_as(struct flow_world *flow, enum run_state state, enum run_reason reason)
{
    const struct run *instance = the_instance(flow);
    assert_int_equal(instance->state, state);
    assert_int_equal(instance->reason, reason);
    assert_true(run_is_unfollowed(instance));
    follow_run(flow, instance);
    instance = the_instance(flow);
    const struct last_run *last = &see_job(flow->world, flow->job)->last;
    assert_int_equal(id_compare(&last->run_id, &instance->id), 0);
    assert_int_equal(last->state, state);
    assert_int_equal(last->ended_ms, instance->finished_ms);
    assert_int_equal(last->started_ms, instance->started_ms);
}
