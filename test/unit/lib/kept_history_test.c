/* The history of a program without an agent: what waits, what is kept here when that is full, and
 * what is handed over when an agent comes. */
#include "records/kept_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "history_internal.h"

/* An agent that takes records, or does not. */
struct agent {
    struct history base;
    struct history_queue answered;
    bool is_there;
    size_t taken;
};

static void agent_submit(struct history *history, struct history_request *request)
{
    struct agent *agent = (struct agent *)history;
    request->answer = agent->is_there ? OK : E_UNREACHABLE;
    if (agent->is_there && request->kind == HISTORY_APPEND)
        agent->taken += history_request_of(request, history_append)->count;
    history_queue_push(&agent->answered, request);
}

static void agent_dispatch(struct history *history)
{
    history_queue_done(&((struct agent *)history)->answered);
}

static enum status agent_health(struct history *history, struct strbuf *why)
{
    (void)why;
    return ((struct agent *)history)->is_there ? OK : E_UNREACHABLE;
}

static struct history *agent_free(struct history *history)
{
    while (((struct agent *)history)->answered.first)
        agent_dispatch(history);
    return NULL;
}

static const struct history_ops agent_ops = {
    .submit = agent_submit, .dispatch = agent_dispatch, .health = agent_health, .free = agent_free};

struct world {
    char dir[64];
    struct agent agent;
    struct history *kept;
    int told;
    bool is_done;
    enum status st;
    uint16_t last;
};

static void told(void *context)
{
    struct world *world = context;
    world->told++;
}

static void open_it(struct world *world, bool is_there)
{
    struct strbuf why;
    strbuf_init(&why);
    world->agent = (struct agent){.base.ops = &agent_ops, .is_there = is_there};
    struct kept_history_config config = {.dir = world->dir,
                                         .spool_bytes = 256 << 10,
                                         .agent = &world->agent.base,
                                         .told = told,
                                         .context = world};
    assert_int_equal(kept_history_open(&config, &world->kept, &why), OK);
    strbuf_release(&why);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    snprintf(world->dir, sizeof(world->dir), "/tmp/peal-kept-XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    char command[100];
    history_free(world->kept);
    snprintf(command, sizeof(command), "rm -rf %s", world->dir);
    assert_int_equal(system(command), 0);
    free(world);
    return 0;
}

static void done(struct history_append *append, enum status st)
{
    struct world *world = append->context;
    world->st = st;
    world->is_done = true;
}

static enum status add_run(struct world *world)
{
    uint8_t random[10] = {(uint8_t)(++world->last >> 8), (uint8_t)world->last};
    struct run run = {.state = RUN_OK, .tick_ms = 1000, .finished_ms = 1000, .job_uid = {{1}}};
    run.id = id_make((struct wall_ms){1000}, random);
    struct history_record record = {.run = &run};
    struct history_append append = {.records = &record, .count = 1, .done = done, .context = world};
    world->is_done = false;
    history_append(world->kept, &append);
    while (!world->is_done) {
        history_dispatch(world->kept);
        usleep(200);
    }
    return world->st;
}

static bool is_well(struct world *world)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_health(world->kept, &why);
    strbuf_release(&why);
    return st == OK;
}

static void an_agent_takes_all_at_once(void **state)
{
    struct world *world = *state;
    open_it(world, true);
    for (int i = 0; i < 5; i++)
        assert_int_equal(add_run(world), OK);
    assert_int_equal(world->agent.taken, 5);
    assert_int_equal(history_waiting(world->kept), 0);
}

static void what_waits_is_handed_over_by_the_next_process(void **state)
{
    struct world *world = *state;
    open_it(world, false);
    for (int i = 0; i < 5; i++)
        assert_int_equal(add_run(world), OK);
    assert_true(is_well(world));
    assert_int_equal(history_waiting(world->kept), 5);
    assert_int_equal(world->told, 0);
    world->kept = history_free(world->kept);
    open_it(world, true);
    while (history_waiting(world->kept)) {
        history_dispatch(world->kept);
        usleep(1000);
    }
    assert_int_equal(world->agent.taken, 5);
}

/* Nobody waits for an agent: what ends is on record here, and the engine goes on. */
static void a_full_spool_is_no_end(void **state)
{
    struct world *world = *state;
    open_it(world, false);
    for (int i = 0; i < 4000; i++)
        assert_int_equal(add_run(world), OK);
    assert_true(is_well(world));
    assert_int_equal(world->told, 1);
    assert_in_range(history_waiting(world->kept), 100, 3999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_agent_takes_all_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_waits_is_handed_over_by_the_next_process, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_full_spool_is_no_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
