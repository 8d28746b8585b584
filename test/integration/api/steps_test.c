/* Steps that run other jobs and workflows: what is refused, and in which words. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YEARLY             "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"
#define STEPS(steps)       "{\"schedule\":\"@manual\",\"steps\":[" steps "]}"
#define NAMED(name, steps) "{\"name\":\"" name "\",\"schedule\":\"@manual\",\"steps\":[" steps "]}"
#define JOB(job)           "{\"name\":\"x\",\"job\":\"" job "\"}"
#define FLOW(workflow)     "{\"name\":\"x\",\"workflow\":\"" workflow "\"}"
#define SHELL              "{\"name\":\"s\",\"shell\":\"true\"}"

/* load is a job; inner is in outer. */
static void add_jobs(struct world *world)
{
    EXPECT_STATUS(world, 201, "PUT /jobs/load", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/inner", STEPS(SHELL "," JOB("load")));
    EXPECT_STATUS(world, 201, "PUT /jobs/outer", STEPS(FLOW("inner")));
}

static const struct {
    int line;
    const char *request, *body, *pointer, *words;
} refused[] = {
    {__LINE__, "PUT /jobs/a", STEPS(SHELL "," JOB("laod")), "/steps/1/job",
     "steps[1].job: there is no job \"laod\"; did you mean \"load\"?"},
    {__LINE__, "PUT /jobs/a", STEPS(FLOW("load")), "/steps/0/workflow",
     "steps[0].workflow: \"load\" is not a workflow; use \"job\" instead"},
    {__LINE__, "PUT /jobs/a", STEPS(JOB("inner")), "/steps/0/job",
     "steps[0].job: \"inner\" is a workflow; use \"workflow\" instead"},
    {__LINE__, "PUT /jobs/a", STEPS(FLOW("a")), "/steps/0/workflow",
     "steps[0].workflow: a workflow would contain itself: a -> a"},
    {__LINE__, "PUT /jobs/inner", STEPS(FLOW("outer")), "/steps/0/workflow",
     "steps[0].workflow: a workflow would contain itself: inner -> outer -> inner"},
    {__LINE__, "PATCH /jobs/inner", "{\"finally\":[{\"name\":\"f\",\"workflow\":\"outer\"}]}",
     "/finally/0/workflow",
     "finally[0].workflow: a workflow would contain itself: inner -> outer -> inner"},
    {__LINE__, "POST /jobs:batch",
     "{\"put\":[" NAMED("a", FLOW("b")) "," NAMED("b", SHELL "," FLOW("a")) "]}",
     "/put/0/steps/0/workflow", "a workflow would contain itself: a -> b -> a"},
    {__LINE__, "PUT /jobs/a", STEPS(SHELL "," SHELL), "/steps/1/name",
     "steps[1].name: \"s\" is already the name of another step"},
    {__LINE__, "PUT /jobs/a", "{\"schedule\":\"@manual\",\"retries\":2,\"steps\":[" SHELL "]}",
     "/retries", "retries: belongs to a step, not to the workflow"},
};

static void test_what_is_refused(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct answer answer = ask(world, refused[i].request, refused[i].body);
        const char *pointer = member_text(answer.body, "errors.0.pointer");
        const char *message = member_text(answer.body, "errors.0.message");
        if (answer.status != 422 || !pointer || strcmp(pointer, refused[i].pointer) != 0 ||
            !strstr(message, refused[i].words))
            fail_msg("line %d: %d %s", refused[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    struct answer answer =
        ask_with(world, "PUT /jobs/a", "Accept-Language: zh\r\n", STEPS(JOB("laod")));
    assert_string_equal(member_text(answer.body, "errors.0.message"),
                        "steps[0].job：没有任务“laod”；是否指“load”？");
    answer_release(&answer);
}

/* The jobs of one request know each other; what does not change is not checked again. */
static void test_what_is_taken(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    EXPECT_STATUS(world, 200, "POST /jobs:batch",
                  "{\"put\":[" NAMED("a", FLOW("b")) "," NAMED("b", JOB("load")) "]}");
    EXPECT_STATUS(world, 200, "DELETE /jobs/load", NULL);
    EXPECT_STATUS(world, 200, "PATCH /jobs/b", "{\"notes\":\"x\"}");
    EXPECT_STATUS(world, 422, "PATCH /jobs/b", "{\"steps\":[" SHELL "," JOB("load") "]}");
}

/* A step runs a job as its user: that is for those who may define it. */
static void test_rights(void **state)
{
    static const struct {
        int line;
        const char *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "PUT /jobs/team%2Fa", STEPS(JOB("team/b")), 201},
        {__LINE__, "PUT /jobs/team%2Fc", STEPS(JOB("load")), 422},
        {__LINE__, "PUT /jobs/team%2Fc", STEPS(FLOW("outer")), 422},
    };
    struct world *world = *state;
    add_jobs(world);
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fb", YEARLY);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer =
            ask_tcp(world, cases[i].request,
                    "Host: localhost\r\nAuthorization: Bearer team-editor\r\n", cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {TEST(test_what_is_refused), TEST(test_what_is_taken),
                                       TEST(test_rights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
