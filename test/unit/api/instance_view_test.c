/* An instance as it is shown: the plan with the runs that are known, whatever order they come in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "workflow/instance_view.h"

static const char workflow[] =
    "{\"name\":\"etl\",\"schedule\":\"@manual\",\"steps\":["
    "{\"name\":\"extract\",\"shell\":\"true\"},"
    "{\"name\":\"load\",\"shell\":\"true\",\"after\":\"extract\",\"each\":{\"shards\":4}},"
    "{\"name\":\"check\",\"shell\":\"true\",\"after\":[{\"step\":\"extract\",\"on\":\"always\"}],"
    "\"when\":\"steps.extract.rows > 0\"},"
    "{\"name\":\"report\",\"shell\":\"true\",\"after\":[\"load\",\"check\"],\"join\":\"any\"}],"
    "\"finally\":[{\"name\":\"cleanup\",\"shell\":\"true\"}]}";

static const char *find_none(void *context, const char *name)
{
    (void)context;
    (void)name;
    return NULL;
}

static char *make_plan(void)
{
    struct flow_source source = {.find = find_none};
    struct job *job = NULL;
    struct job_error error;
    char *plan = NULL, why[200] = "";
    assert_int_equal(job_decode_stored(workflow, NULL, &job, &error), OK);
    assert_int_equal(flow_text(job, NULL, &source, &plan, why, sizeof(why)), OK);
    job_free(job);
    return plan;
}

static struct run make_run(int part, int attempt, enum run_state state)
{
    struct run run = {.part = part, .attempt = attempt, .state = state, .cause = CAUSE_STEP};
    run.instance.bytes[0] = 1;
    run.id.bytes[0] = 2;
    run.id.bytes[1] = (unsigned char)part;
    run.id.bytes[2] = (unsigned char)attempt;
    snprintf(run.step, sizeof(run.step), "part-%d", part);
    return run;
}

static struct run make_instance(enum run_state state)
{
    struct run run = {.state = state};
    run.id.bytes[0] = run.instance.bytes[0] = 1;
    return run;
}

static void add(struct instance_view *view, int part, int attempt, enum run_state state)
{
    struct run run = make_run(part, attempt, state);
    run.started_ms = state >= RUN_RUNNING ? INT64_C(1767323460000) : 0; /* 2026-01-02 03:11 */
    assert_int_equal(instance_view_add(view, &run), OK);
}

static void expect_text(const char *want, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    assert_string_equal(text, want);
    free(text);
    json_decref(value);
}

static json_t *column(const struct instance_view *view, const char *name)
{
    json_t *steps = instance_view_steps(view, LANGUAGE_EN), *list = json_array();
    for (size_t i = 0; i < json_array_size(steps); i++)
        json_array_append(list, json_object_get(json_array_get(steps, i), name));
    json_decref(steps);
    return list;
}

static void steps_are_those_of_the_plan(void **state)
{
    struct run instance = make_instance(RUN_RUNNING);
    struct instance_view view;
    char *plan = make_plan();
    (void)state;
    assert_int_equal(instance_view_init(&view, &instance, plan), OK);
    add(&view, flow_part_of(0), 2, RUN_OK);
    add(&view, flow_part_of(0), 1, RUN_FAILED); /* the earlier attempt, from the history */
    add(&view, flow_part_of(1), 1, RUN_RUNNING);
    for (int i = 0; i < 3; i++)
        add(&view, FLOW_ITEMS * flow_part_of(1) + i, 1, i == 0 ? RUN_OK : RUN_RUNNING);
    add(&view, FLOW_ITEMS * flow_part_of(1) + 2, 2, RUN_DUE);
    add(&view, flow_part_of(2), 1, RUN_QUEUED);
    add(&view, flow_part_of(9), 1, RUN_OK); /* not of this plan */
    struct run other = make_run(flow_part_of(3), 1, RUN_OK);
    other.instance.bytes[0] = 9;
    assert_int_equal(instance_view_add(&view, &other), OK);
    instance_view_settle(&view);
    expect_text("[\"extract\",\"load\",\"check\",\"report\",\"cleanup\"]", column(&view, "name"));
    expect_text("[\"ok\",\"running\",\"waiting\",\"waiting\",\"waiting\"]", column(&view, "state"));
    expect_text("[null,{\"due\":1,\"running\":1,\"ok\":1},null,null,null]", column(&view, "items"));
    expect_text("[2,1,1,null,null]", column(&view, "attempt"));
    expect_text("[null,1,1,1,null]", column(&view, "join"));
    expect_text("[null,null,\"steps.extract.rows > 0\",null,null]", column(&view, "when"));
    expect_text("{\"ok\":1,\"running\":1,\"waiting\":3}", instance_view_counts(&view));
    json_t *after = column(&view, "after");
    expect_text("[{\"step\":\"extract\",\"on\":\"always\"}]",
                json_incref(json_array_get(after, 2)));
    expect_text(
        "[\"report\"]",
        json_pack("[O]", json_object_get(json_array_get(json_array_get(after, 4), 0), "step")));
    json_decref(after);
    instance_view_release(&view);
    free(plan);
}

static void a_step_tells_what_it_waits_for(void **state)
{
    struct run instance = make_instance(RUN_RUNNING);
    struct instance_view view;
    char *plan = make_plan();
    (void)state;
    assert_int_equal(instance_view_init(&view, &instance, plan), OK);
    add(&view, flow_part_of(0), 1, RUN_OK);
    add(&view, flow_part_of(1), 1, RUN_RUNNING);
    add(&view, flow_part_of(2), 1, RUN_DUE);
    instance_view_settle(&view);
    json_t *why = column(&view, "why");
    assert_string_equal(json_string_value(json_array_get(why, 3)),
                        "waits for load (running since 03:11:00 UTC), check (waiting for a node)");
    assert_true(json_is_null(json_array_get(why, 0)));
    json_decref(why);
    instance_view_release(&view);
    free(plan);
}

static void expect_why(const struct instance_view *view, enum language language, const char *want,
                       int step)
{
    struct strbuf text;
    strbuf_init(&text);
    instance_tell_wait(view, step, language, &text);
    assert_string_equal(text.length ? text.text : "", want);
    strbuf_release(&text);
}

/* Of a step that is due: which nodes; of a fan-out: its items. */
static void a_due_step_tells_who_does_not_take_it(void **state)
{
    enum { EXTRACT, LOAD };
    struct run instance = make_instance(RUN_RUNNING);
    struct instance_view view;
    char *plan = make_plan();
    (void)state;
    assert_int_equal(instance_view_init(&view, &instance, plan), OK);
    add(&view, flow_part_of(EXTRACT), 2, RUN_DUE);
    add(&view, flow_part_of(LOAD), 1, RUN_RUNNING);
    add(&view, FLOW_ITEMS * flow_part_of(LOAD), 1, RUN_RUNNING);
    add(&view, FLOW_ITEMS * flow_part_of(LOAD) + 1, 1, RUN_DUE);
    instance_view_settle(&view);
    struct instance_step *extract = &view.steps[EXTRACT], *load = &view.steps[LOAD];
    expect_why(&view, LANGUAGE_EN, "waits for a node to take it", EXTRACT);
    extract->lack.hindrance = REASON_DRAINED;
    expect_why(&view, LANGUAGE_EN, "waits for a node to take it: those that can run it are drained",
               EXTRACT);
    extract->lack = (struct instance_lack){.is_nobody = true, .where = "gpu"};
    expect_why(&view, LANGUAGE_EN, "no node has the labels of its where: gpu", EXTRACT);
    expect_why(&view, LANGUAGE_ZH, "没有节点具有其 where 要求的标签：gpu", EXTRACT);
    extract->lack.where = NULL;
    expect_why(&view, LANGUAGE_EN, "no agent that runs jobs is there", EXTRACT);
    extract->lack = (struct instance_lack){.group = "db", .place = 2, .waiting = 5};
    expect_why(&view, LANGUAGE_EN, "waits for group db, number 2 of 5 that wait", EXTRACT);
    extract->lack = (struct instance_lack){.is_nobody = true};
    extract->lack.where = "@billing,zone=eu";
    expect_why(&view, LANGUAGE_EN, "no process of the program billing can run it", EXTRACT);
    extract->run.attempts = 3;
    extract->run.not_before_ms = INT64_C(1767323460000);
    expect_why(&view, LANGUAGE_EN, "attempt 2 of 3 starts at 03:11:00 UTC", EXTRACT);
    view.now_ms = INT64_C(1767323460000);
    expect_why(&view, LANGUAGE_EN, "no process of the program billing can run it", EXTRACT);
    load->run.joins = (struct run_joins){.made = 3, .met = 1, .expected = 4};
    load->items[RUN_DUE] = 0;
    expect_why(&view, LANGUAGE_EN, "at_once: 2 of 16 items under way, 1 to come", LOAD);
    load->items[RUN_DUE] = 1;
    load->run.joins.made = 4;
    expect_why(&view, LANGUAGE_EN, "items that are due: 1, waits for a node to take it", LOAD);
    instance_view_release(&view);
    free(plan);
}

/* Without its plan an instance still shows what has run; and nothing waits once it has ended. */
static void a_plan_may_be_gone(void **state)
{
    static const char *const plans[] = {NULL, "", "{}", "{\"plan\":{\"version\":99}}"};
    struct run instance = make_instance(RUN_OK);
    (void)state;
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        struct instance_view view;
        assert_int_equal(instance_view_init(&view, &instance, plans[i]), OK);
        add(&view, flow_part_of(2), 1, RUN_OK);
        add(&view, flow_part_of(0), 1, RUN_FAILED);
        add(&view, -1, 1, RUN_OK);
        add(&view, 2000000000, 1, RUN_OK);
        instance_view_settle(&view);
        expect_text("[\"part-1\",\"part-3\"]", column(&view, "name"));
        expect_text("[\"failed\",\"ok\"]", column(&view, "state"));
        expect_text("{\"failed\":1,\"ok\":1}", instance_view_counts(&view));
        instance_view_release(&view);
    }
}

static void nothing_waits_for_ever(void **state)
{
    struct run instance = make_instance(RUN_KILLED);
    struct instance_view view;
    char *plan = make_plan();
    (void)state;
    assert_int_equal(instance_view_init(&view, &instance, plan), OK);
    instance_view_settle(&view);
    expect_text("[null,null,null,null,null]", column(&view, "state"));
    expect_text("{}", instance_view_counts(&view));
    instance_view_release(&view);
    free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_plan),
        cmocka_unit_test(a_step_tells_what_it_waits_for),
        cmocka_unit_test(a_due_step_tells_who_does_not_take_it),
        cmocka_unit_test(a_plan_may_be_gone),
        cmocka_unit_test(nothing_waits_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
