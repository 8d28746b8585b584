/* Nodes and the cluster: this one, others that come, speak, are drained and go. */
#include "harness.h"
#include "store_memory.h"

#include <stdio.h>
#include <string.h>

/* Another node on the same store; it says what it is told to, and does nothing. */
struct other {
    struct world *world;
    struct store *store;
    struct peer peer;
};

static void no_wake(void *context)
{
    (void)context;
}

static void other_says(struct other *other, enum peer_refusal refusal, int running)
{
    struct now now = clock_now();
    other->peer.refusal = refusal;
    other->peer.running = running;
    other->peer.wall_ms = now.wall.ms;
    other->peer.boot_ms = now.boot.ms;
    assert_int_equal(store_announce(other->store, &other->peer), OK);
}

static void other_joins(struct other *other, struct world *world, const char *name)
{
    *other = (struct other){.world = world};
    other->peer = (struct peer){.home = 7,
                                .roles = PEER_WORKER,
                                .capacity = 3,
                                .max_running = 4,
                                .cpu_pressure = 40,
                                .memory_pressure = -1,
                                .started_ms = clock_now().wall.ms};
    snprintf(other->peer.name, sizeof(other->peer.name), "%s", name);
    snprintf(other->peer.labels, sizeof(other->peer.labels), "disk,zone=eu");
    snprintf(other->peer.version, sizeof(other->peer.version), "9.9");
    other->peer.instance.bytes[0] = 1;
    assert_int_equal(
        store_memory_attach(world->store, (struct store_wake){no_wake, NULL}, &other->store), OK);
    other_says(other, PEER_ACCEPTS, 0);
}

static const char *state_of(struct world *world, const char *node, char state[32])
{
    char line[64];
    snprintf(line, sizeof(line), "GET /nodes/%s", node);
    struct answer answer = ask(world, line, NULL);
    const char *text = answer.status == 200 ? member_text(answer.body, "state") : "unknown";
    snprintf(state, 32, "%s", text);
    answer_release(&answer);
    return state;
}

struct wanted {
    struct world *world;
    const char *node, *state;
};

static bool is_in_state(void *context)
{
    const struct wanted *wanted = context;
    char state[32];
    return strcmp(state_of(wanted->world, wanted->node, state), wanted->state) == 0;
}

static void until_state(struct world *world, const char *node, const char *state)
{
    world_until(world, is_in_state, &(struct wanted){world, node, state});
}

static void shows_nodes(void **state)
{
    struct world *world = *state;
    struct other other;
    until_state(world, "here", "ready");
    other_joins(&other, world, "there");
    until_state(world, "there", "ready");
    json_t *nodes = EXPECT(world, 200, "GET /nodes", NULL);
    assert_int_equal(member_count(nodes, "items"), 2);
    assert_string_equal(member_text(nodes, "items.0.node"), "here");
    assert_true(json_is_true(member(nodes, "items.0.self")));
    assert_true(member_number(nodes, "items.0.watch_lag_ms") >= 0);
    assert_string_equal(member_text(nodes, "items.1.version"), "9.9");
    assert_string_equal(member_text(nodes, "items.1.labels.zone"), "eu");
    assert_string_equal(member_text(nodes, "items.1.labels.disk"), "");
    assert_string_equal(member_text(nodes, "items.1.roles.0"), "worker");
    assert_int_equal(member_number(nodes, "items.1.capacity"), 3);
    assert_int_equal(member_number(nodes, "items.1.max_running"), 4);
    assert_int_equal(member_number(nodes, "items.1.cpu_pressure"), 40);
    assert_true(json_is_null(member(nodes, "items.1.memory_pressure")));
    assert_int_equal(member_number(nodes, "items.1.free"), 63); /* five eighths */
    assert_true(json_is_null(member(nodes, "items.0.cpu_pressure")));
    assert_int_equal(member_number(nodes, "items.0.free"), 50);
    assert_false(json_is_true(member(nodes, "items.1.self")));
    json_decref(nodes);
    store_free(other.store);
}

static bool has_load(void *context)
{
    struct world *world = context;
    struct answer answer = ask(world, "GET /cluster/load", NULL);
    bool has = answer.status == 200 && member_count(answer.body, "items") == 2;
    answer_release(&answer);
    return has;
}

/* The first look comes at once; that of a node that joins later with the next one. */
static void shows_load(void **state)
{
    struct world *world = *state;
    struct other other;
    until_state(world, "here", "ready");
    other_joins(&other, world, "there");
    other.peer.cpu_load = 150;
    other.peer.memory_used = -1;
    other_says(&other, PEER_ACCEPTS, 2);
    until_state(world, "there", "ready");
    world_until(world, has_load, world);
    json_t *loads = EXPECT(world, 200, "GET /cluster/load?points=1", NULL);
    assert_int_equal(member_count(loads, "items.0.cpu"), 1);
    json_decref(loads);
    json_t *load = EXPECT(world, 200, "GET /nodes/there/load", NULL);
    size_t count = (size_t)member_count(load, "cpu");
    char path[32];
    assert_true(count > 0 && count < 20);
    assert_int_equal(member_number(load, "step_s"), 15);
    snprintf(path, sizeof(path), "cpu.%zu", count - 1);
    assert_int_equal(member_number(load, path), 150);
    snprintf(path, sizeof(path), "memory.%zu", count - 1);
    assert_true(json_is_null(member(load, path)));
    snprintf(path, sizeof(path), "running.%zu", count - 1);
    assert_int_equal(member_number(load, path), 2);
    json_decref(load);
    json_decref(EXPECT(world, 404, "GET /nodes/nowhere/load", NULL));
    json_decref(EXPECT(world, 422, "GET /nodes/there/load?points=0", NULL));
    store_free(other.store);
}

/* What an older node would break without a word is refused while it is there. */
static void waits_for_older_nodes(void **state)
{
    static const struct {
        int line;
        const char *request, *body;
        int status; /* beside a node that knows nothing of it */
    } cases[] = {
        {__LINE__, "PUT /calendars/days", "{\"dates\":[\"12-25\"]}", 201},
        {__LINE__, "PUT /calendars/days", "{\"dates\":[\"12-26\"],\"windows\":[]}", 200},
        {__LINE__, "PUT /calendars/days", "{\"windows\":[\"09:00-17:00\"]}", 409},
        {__LINE__, "PUT /calendars/days", "{\"dates\":[\"12-25\"],\"timezone\":\"UTC\"}", 409},
        {__LINE__, "PUT /calendars/office", "{\"windows\":[\"09:00-17:00\"]}", 409},
        {__LINE__, "POST /maintenance", "{\"namespace\":\"shop\"}", 409},
    };
    struct world *world = *state;
    struct other other;
    other_joins(&other, world, "there");
    until_state(world, "there", "ready");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, cases[i].request, cases[i].body);
        const char *detail = answer.status >= 400 ? member_text(answer.body, "detail") : "there";
        if (answer.status != cases[i].status || !strstr(detail, "there"))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, detail);
        answer_release(&answer);
    }
    other.peer.knows = PEER_KNOWS;
    other_says(&other, PEER_FULL, 0);
    until_state(world, "there", "full");
    EXPECT_STATUS(world, 200, "PUT /calendars/days", cases[2].body);
    EXPECT_STATUS(world, 201, "PUT /calendars/office", cases[4].body);
    EXPECT_STATUS(world, 201, "POST /maintenance", cases[5].body);
    store_free(other.store);
}

static void shows_states(void **state)
{
    static const struct {
        int line;
        enum peer_refusal refusal;
        const char *state;
    } cases[] = {
        {__LINE__, PEER_FULL, "full"},          {__LINE__, PEER_CLOCK, "clock"},
        {__LINE__, PEER_NO_SPAWNER, "spawner"}, {__LINE__, PEER_NO_WORKER, "api"},
        {__LINE__, PEER_STOPPING, "stopping"},  {__LINE__, PEER_ACCEPTS, "ready"},
    };
    struct world *world = *state;
    struct other other;
    other_joins(&other, world, "there");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        other_says(&other, cases[i].refusal, 0);
        until_state(world, "there", cases[i].state);
    }
    store_free(other.store);
    until_state(world, "there", "gone");
    json_t *node = EXPECT(world, 200, "GET /nodes/there", NULL);
    assert_non_null(strstr(member_text(node, "detail"), "has not been heard of for"));
    assert_true(json_is_null(member(node, "skew_ms")));
    assert_true(json_is_null(member(node, "watch_lag_ms")));
    json_decref(node);
}

static void drains(void **state)
{
    struct world *world = *state;
    struct other other;
    other_joins(&other, world, "there");
    until_state(world, "there", "ready");
    json_t *node = EXPECT(world, 200, "POST /nodes/there/drain", NULL);
    assert_string_equal(member_text(node, "state"), "drained");
    assert_true(json_is_true(member(node, "drained")));
    assert_non_null(strstr(member_text(node, "detail"), "drained by "));
    json_decref(node);
    other_says(&other, PEER_ACCEPTS, 2);
    until_state(world, "there", "draining");
    store_free(other.store);
    until_state(world, "there", "gone");
    node = EXPECT(world, 200, "POST /nodes/there/undrain", NULL);
    assert_string_equal(member_text(node, "state"), "gone");
    assert_false(json_is_true(member(node, "drained")));
    json_decref(node);
    world->api_store.fails = true;
    EXPECT_STATUS(world, 503, "POST /nodes/here/drain", NULL);
}

static void shows_the_cluster(void **state)
{
    struct world *world = *state;
    struct other other;
    until_state(world, "here", "ready");
    other_joins(&other, world, "there");
    until_state(world, "there", "ready");
    json_t *cluster = EXPECT(world, 200, "GET /cluster", NULL);
    assert_string_equal(member_text(cluster, "node"), "here");
    assert_string_equal(member_text(cluster, "store.kind"), "sqlite");
    assert_true(json_is_true(member(cluster, "store.ok")));
    assert_false(json_is_true(member(cluster, "store.halted")));
    assert_int_equal(member_number(cluster, "nodes.ready"), 2);
    json_decref(cluster);
    world->api_store.fails = true;
    cluster = EXPECT(world, 200, "GET /cluster", NULL);
    assert_string_equal(member_text(cluster, "store.detail"), "the disk is full; make room");
    json_decref(cluster);
    store_free(other.store);
}

/* ---- jobs by node ---- */

static void taken(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)request->context = true;
}

static bool is_set(void *context)
{
    return *(const bool *)context;
}

/* A run that was asked for on the other node, and that it has taken. */
static void other_takes(struct other *other, const char *job)
{
    char line[64];
    bool done = false;
    struct store_take take = {.nonce = 77};
    struct store_request request = {
        .op = STORE_TAKE, .count = 1, .items.takes = &take, .done = taken, .context = &done};
    snprintf(line, sizeof(line), "POST /jobs/%s/run", job);
    json_t *run = EXPECT(other->world, 202, line, "{\"node\":\"there\"}");
    assert_int_equal(id_parse(member_text(run, "run_id"), &take.run_id), OK);
    json_decref(run);
    snprintf(take.node, sizeof(take.node), "there");
    take.now_ms = clock_now().wall.ms;
    take.owner = (struct incarnation){other->peer.instance, other->peer.home};
    store_submit(other->world->store, &request); /* the answers of its own wake nobody */
    world_until(other->world, is_set, &done);
    assert_true(take.taken);
}

struct wanted_jobs {
    struct world *world;
    const char *query;
    size_t count;
};

static bool are_so_many(void *context)
{
    const struct wanted_jobs *wanted = context;
    char line[80];
    snprintf(line, sizeof(line), "GET /jobs?%s", wanted->query);
    json_t *jobs = EXPECT(wanted->world, 200, line, NULL);
    bool are_there = member_count(jobs, "items") == wanted->count;
    json_decref(jobs);
    return are_there;
}

static void until_jobs(struct world *world, const char *query, size_t count)
{
    world_until(world, are_so_many, &(struct wanted_jobs){world, query, count});
}

/* Jobs by node: of two that have run here, one runs there now; one has always been there. */
static void filters_jobs(void **state)
{
    static const struct {
        int line;
        const char *query;
        int matched;
        const char *first;
    } cases[] = {
        {__LINE__, "node=here", 1, "a"},
        {__LINE__, "node=there", 2, "b"},
        {__LINE__, "node=there&status=running", 2, "b"},
        {__LINE__, "node=there&q=c", 1, "c"},
        {__LINE__, "node=nowhere", 0, NULL},
    };
    struct world *world = *state;
    struct other other;
    until_state(world, "here", "ready");
    fake_executor_set_instant(world->executor, true);
    for (const char *name = "abcd"; *name; name++) {
        char line[32];
        snprintf(line, sizeof(line), "PUT /jobs/%c", *name);
        EXPECT_STATUS(world, 201, line, "{\"schedule\":\"@manual\",\"command\":[\"true\"]}");
    }
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    EXPECT_STATUS(world, 202, "POST /jobs/b/run", NULL);
    until_jobs(world, "status=ok", 2);
    other_joins(&other, world, "there");
    until_state(world, "there", "ready");
    other_takes(&other, "b");
    other_takes(&other, "c");
    until_jobs(world, "node=there", 2);
    json_t *facets = EXPECT(world, 200, "GET /jobs:facets", NULL);
    assert_int_equal(member_count(facets, "nodes"), 2);
    assert_string_equal(member_text(facets, "nodes.0.value"), "there");
    assert_int_equal(member_number(facets, "nodes.0.count"), 2);
    assert_string_equal(member_text(facets, "nodes.1.value"), "here");
    assert_int_equal(member_number(facets, "nodes.1.count"), 1);
    json_decref(facets);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[80];
        snprintf(line, sizeof(line), "GET /jobs?%s", cases[i].query);
        json_t *jobs = EXPECT(world, 200, line, NULL);
        const char *first = json_string_value(member(jobs, "items.0.name"));
        if (member_count(jobs, "items") != (size_t)cases[i].matched ||
            (first && strcmp(first, cases[i].first) != 0))
            fail_msg("line %d: %zu jobs", cases[i].line, member_count(jobs, "items"));
        json_decref(jobs);
    }
    json_t *acted = EXPECT(world, 200, "POST /jobs:act?node=there", "{\"action\":\"pause\"}");
    assert_int_equal(member_number(acted, "touched"), 2);
    json_decref(acted);
    until_jobs(world, "status=paused&node=there", 2);
    store_free(other.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shows_nodes, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(shows_load, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(shows_states, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(waits_for_older_nodes, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(drains, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(filters_jobs, world_set_up, world_tear_down),
        cmocka_unit_test_setup_teardown(shows_the_cluster, world_set_up, world_tear_down),
    };
    return cmocka_run_group_tests_name("api_nodes", tests, NULL, NULL);
}
