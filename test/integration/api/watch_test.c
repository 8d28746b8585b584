/* Events as they happen, numbers, and whether the agent is well. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"

/* ---- events ---- */

static struct client *subscribe(struct world *world, const char *query, const char *headers)
{
    char request[512];
    int length = snprintf(request, sizeof(request),
                          "GET /api/v1/events%s HTTP/1.1\r\nHost: p\r\n%s\r\n", query, headers);
    struct client *client = client_connect(world);
    client_send(client, request, (size_t)length);
    return client;
}

/* The id of the last event that the client has got. */
static void last_id(const struct client *client, char id[64])
{
    const char *at = client_text(client), *found = NULL;
    while ((at = strstr(at, "id: ")))
        found = at += strlen("id: ");
    assert_non_null(found);
    snprintf(id, 64, "%.*s", (int)strcspn(found, "\n"), found);
}

static void test_events(void **state)
{
    struct world *world = *state;
    struct client *client = subscribe(world, "", "");
    client_wait_for(world, client, "event: hello\n");
    assert_non_null(strstr(client_text(client), "Content-Type: text/event-stream\r\n"));
    assert_int_equal(api_open_requests(world->api), 0); /* it does not keep the agent from ending */
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    client_wait_for(world, client, "event: job\ndata: {\"uid\":\"");
    client_wait_for(world, client, "\"job\":\"a\",\"revision\":1,\"change\":\"put\"}\n\n");
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    client_wait_for(world, client, "event: run\n");
    client_wait_for(world, client, "\"state\":\"begun\"");
    EXPECT_STATUS(world, 200, "DELETE /jobs/a", NULL);
    client_wait_for(world, client, "\"change\":\"deleted\"}");
    client_free(client);
}

static void test_topics(void **state)
{
    struct world *world = *state;
    struct client *jobs = subscribe(world, "?topics=jobs", "");
    struct client *runs = subscribe(world, "?topics=nodes,runs", "");
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    client_wait_for(world, runs, "\"state\":\"begun\"");
    EXPECT_STATUS(world, 200, "DELETE /jobs/a", NULL);
    client_wait_for(world, jobs, "\"change\":\"deleted\"}");
    assert_null(strstr(client_text(jobs), "event: run"));
    assert_null(strstr(client_text(runs), "event: job"));
    client_free(jobs);
    client_free(runs);
    EXPECT_STATUS(world, 422, "GET /events?topics=", NULL);
    EXPECT_STATUS(world, 422, "GET /events?topics=job", NULL);
    EXPECT_STATUS(world, 422, "GET /events?topics=jobs,x", NULL);
}

static void test_resume(void **state)
{
    struct world *world = *state;
    char id[64], headers[128];
    struct client *client = subscribe(world, "", "");
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    client_wait_for(world, client, "\"job\":\"a\"");
    last_id(client, id);
    client_free(client);
    EXPECT_STATUS(world, 201, "PUT /jobs/b", JOB); /* while nobody listens */
    EXPECT_STATUS(world, 201, "PUT /jobs/c", JOB);
    snprintf(headers, sizeof(headers), "Last-Event-ID: %s\r\n", id);
    client = subscribe(world, "", headers);
    client_wait_for(world, client, "\"job\":\"c\"");
    const char *b = strstr(client_text(client), "\"job\":\"b\"");
    assert_non_null(b);
    assert_true(b < strstr(client_text(client), "\"job\":\"c\""));
    assert_null(strstr(client_text(client), "\"job\":\"a\""));
    assert_null(strstr(client_text(client), "event: reset"));
    client_free(client);
}

static void test_reset(void **state)
{
    struct world *world = *state;
    static const char *const ids[] = {"nonsense", "1-1", "0-0", "-", "1-18446744073709551615",
                                      "1-1x"};
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        char headers[128];
        snprintf(headers, sizeof(headers), "Last-Event-ID: %s\r\n", ids[i]);
        struct client *client = subscribe(world, "", headers);
        client_wait_for(world, client, "event: reset\n");
        client_free(client);
    }
}

/* More than is kept: who comes back late starts anew. */
static void test_ring(void **state)
{
    struct world *world = *state;
    char id[64], headers[128];
    struct client *client = subscribe(world, "?topics=jobs", "");
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    client_wait_for(world, client, "\"job\":\"a\"");
    last_id(client, id);
    client_free(client);
    for (int i = 0; i < 2100; i++) {
        EXPECT_STATUS(world, 200, "POST /jobs/a/pause", NULL);
        EXPECT_STATUS(world, 200, "POST /jobs/a/resume", NULL);
    }
    snprintf(headers, sizeof(headers), "Last-Event-ID: %s\r\n", id);
    client = subscribe(world, "?topics=jobs", headers);
    client_wait_for(world, client, "event: reset\n");
    client_free(client);
}

enum { CROWD = 300 };

static size_t of_crowd(struct client **clients, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < CROWD; i++)
        count += strstr(client_text(clients[i]), text) != NULL;
    return count;
}

static bool all_know(void *context)
{
    return of_crowd(context, "\"job\":\"a\"") == CROWD;
}

static bool has_no_connections(void *context)
{
    return api_connections(((struct world *)context)->api) == 0;
}

static size_t unread_bytes(struct world *world)
{
    struct answer answer = ask(world, "GET //metrics?jobs=false", NULL);
    const char *at = strstr(answer.text, "\npeal_api_unread_events_bytes ");
    assert_non_null(at);
    size_t bytes = (size_t)strtod(strchr(at, ' '), NULL);
    answer_release(&answer);
    return bytes;
}

static void test_crowd(void **state)
{
    struct world *world = *state;
    struct client *clients[CROWD];
    for (size_t i = 0; i < CROWD; i++) {
        clients[i] = subscribe(world, "", "");
        client_wait_for(world, clients[i], "event: hello"); /* a queue has room for few */
    }
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    world_until(world, all_know, clients);
    for (int64_t until_ms = clock_now().boot.ms + 60000; unread_bytes(world) > 0;)
        assert_true(clock_now().boot.ms < until_ms); /* they have it: nothing is kept of it */
    for (size_t i = 0; i < CROWD; i++)
        client_free(clients[i]);
    world_until(world, has_no_connections, world); /* that they left is seen at once */
}

/* ---- those who do not read ---- */

static bool is_behind(void *context)
{
    return api_unsent(((struct world *)context)->api) > 0;
}

static bool is_cut(void *context)
{
    return api_cut(((struct world *)context)->api) == 1;
}

/* Many jobs, each of which is an event. */
static void put_many(struct world *world, const char *name, int round)
{
    enum { MANY = 500 };
    struct strbuf body;
    strbuf_init(&body);
    for (int i = 0; i < MANY; i++)
        strbuf_addf(&body,
                    "%s{\"name\":\"%s-%d\",\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"],"
                    "\"notes\":\"%d\"}",
                    i ? "," : "{\"put\":[", name, i, round);
    strbuf_adds(&body, "]}");
    EXPECT_STATUS(world, 200, "POST /jobs:batch", body.text);
    strbuf_release(&body);
}

static void test_reader_that_does_not_read(void **state)
{
    struct world *world = *state;
    struct client *client = subscribe(world, "?topics=jobs", "");
    client_wait_for(world, client, "event: hello");
    client_stop_reading(client);
    for (int round = 0; round < 40 && !is_behind(world); round++)
        put_many(world, "job", round);
    world_until(world, is_behind, world);
    assert_int_equal(api_cut(world->api), 0);
    world_until(world, is_cut, world);
    assert_int_equal(api_connections(world->api), 0);
    client_free(client);
    EXPECT_STATUS(world, 200, "GET /jobs/job-1", NULL);
}

/* Of the namespace team: what they are sent is made for each of them. */
static struct client *subscribe_team(struct world *world)
{
    static const char request[] = "GET /api/v1/events?topics=jobs HTTP/1.1\r\nHost: localhost\r\n"
                                  "Authorization: Bearer team-viewer\r\n\r\n";
    struct client *client = client_connect_tcp(world);
    client_send(client, request, strlen(request));
    client_wait_for(world, client, "event: hello");
    return client;
}

/* Not before a while. */
static bool is_thinned(void *context)
{
    return api_connections(((struct world *)context)->api) < CROWD / 2;
}

/* All together hold no more than they may, those who do not read are cut, and nobody else is. */
static void test_crowd_that_does_not_read(void **state)
{
    struct world *world = *state;
    struct client *clients[CROWD], *reader = subscribe_team(world);
    size_t most = 0;
    for (size_t i = 0; i < CROWD; i++) {
        clients[i] = subscribe_team(world);
        client_stop_reading(clients[i]);
    }
    for (int round = 0; round < 8; round++) {
        put_many(world, "team/job", round);
        size_t unread = unread_bytes(world);
        most = unread > most ? unread : most;
    }
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fend", JOB);
    client_wait_for(world, reader, "\"job\":\"team/end\"");
    world_until(world, is_thinned, world);
    assert_in_range(most, NARROW_BYTES / 2, NARROW_BYTES + (256 << 10));
    assert_in_range(unread_bytes(world), 1, NARROW_BYTES + (256 << 10));
    assert_non_null(strstr(world->logged, "subscribers_cut count="));
    assert_false(client_is_closed(reader));
    for (size_t i = 0; i < CROWD; i++)
        client_free(clients[i]);
    client_free(reader);
}

/* Those who may see all are sent the same, which is in memory once. */
static void test_shared_news_count_once(void **state)
{
    enum { SHARERS = 30 };
    struct world *world = *state;
    struct client *clients[SHARERS];
    for (size_t i = 0; i < SHARERS; i++) {
        clients[i] = subscribe(world, "?topics=jobs", "");
        client_wait_for(world, clients[i], "event: hello");
        client_stop_reading(clients[i]);
    }
    for (int round = 0; round < 8; round++)
        put_many(world, "team/job", round);
    assert_true(api_unsent(world->api) > NARROW_BYTES);
    assert_in_range(unread_bytes(world), 1, NARROW_BYTES / 4);
    assert_string_equal(world->logged, "");
    for (size_t i = 0; i < SHARERS; i++)
        client_free(clients[i]);
}

static void test_head_of_a_stream(void **state)
{
    struct answer answer = ask(*state, "HEAD /events", NULL);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
}

/* ---- metrics ---- */

static void test_metrics(void **state)
{
    struct world *world = *state;
    static const char *const wanted[] = {
        "peal_build_info{version=\"1.2.3\",node=\"here\"} 1\n",
        "peal_jobs 1\n",
        "peal_watch_lag_seconds ",
        "peal_store_up 1\n",
        "peal_history_up 1\n",
        "peal_runs_total{state=\"ok\",reason=\"\"} 1\n",
        "peal_runs_total{state=\"lost\",reason=\"\"} 0\n",
        "peal_begins_total 1\n",
        "peal_run_duration_seconds_count 1\n",
        "peal_run_duration_seconds_bucket{le=\"+Inf\"} 1\n",
        "peal_job_next_run_timestamp_seconds{job=\"a\"} ",
        "peal_job_last_success_timestamp_seconds{job=\"a\"} ",
        "peal_job_last_run_ok{job=\"a\"} 1\n",
    };
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    struct client *client = subscribe(world, "?topics=runs", "");
    client_wait_for(world, client, "event: hello");
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    client_wait_for(world, client, "\"state\":\"ok\"");
    client_free(client);
    struct answer answer = ask(world, "GET //metrics", NULL);
    char *type = answer_header(&answer, "Content-Type");
    assert_string_equal(type, "text/plain; version=0.0.4");
    free(type);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (!strstr(answer.text, wanted[i]))
            fail_msg("not there: %s\n%s", wanted[i], answer.text);
    }
    answer_release(&answer);
    answer = ask(world, "GET //metrics?jobs=false", NULL);
    assert_null(strstr(answer.text, "job=\""));
    answer_release(&answer);
}

struct ending {
    struct world *world;
    struct id id;
    int exit_code;
};

/* As soon as it runs. */
static bool has_ended(void *context)
{
    const struct ending *ending = context;
    return fake_executor_end(ending->world->executor, &ending->id, ending->exit_code);
}

static void run_with(struct world *world, struct client *client, int exit_code)
{
    struct ending ending = {.world = world, .exit_code = exit_code};
    json_t *run = EXPECT(world, 202, "POST /jobs/a/run", NULL);
    assert_int_equal(id_parse(member_text(run, "run_id"), &ending.id), OK);
    json_decref(run);
    client_clear(client);
    world_until(world, has_ended, &ending);
    client_wait_for(world, client, exit_code ? "\"state\":\"failed\"" : "\"state\":\"ok\"");
}

/* When it last went well stays known after it failed. */
static void test_last_success(void **state)
{
    static const struct {
        int line;
        int exit_code;
        bool is_known;
    } cases[] = {{__LINE__, 1, false}, {__LINE__, 0, true}, {__LINE__, 1, true}};
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    struct client *client = subscribe(world, "?topics=runs", "");
    client_wait_for(world, client, "event: hello");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run_with(world, client, cases[i].exit_code);
        struct answer answer = ask(world, "GET //metrics", NULL);
        bool is_known =
            strstr(answer.text, "peal_job_last_success_timestamp_seconds{job=\"a\"} ") != NULL;
        if (is_known != cases[i].is_known)
            fail_msg("line %d: %s", cases[i].line, answer.text);
        answer_release(&answer);
        json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
        if (json_is_string(member(job, "status.succeeded_at")) != cases[i].is_known)
            fail_msg("line %d: %s", cases[i].line, member_text(job, "status.succeeded_at"));
        json_decref(job);
    }
    client_free(client);
}

/* Every metric has its help and its type once, before its samples. */
static void test_metrics_are_well_formed(void **state)
{
    struct answer answer = ask(*state, "GET //metrics", NULL);
    char family[128] = "";
    for (char *line = strtok(answer.text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "# HELP ", 7) == 0)
            snprintf(family, sizeof(family), "%.*s", (int)strcspn(line + 7, " "), line + 7);
        else if (strncmp(line, "# TYPE ", 7) == 0)
            assert_int_equal(strncmp(line + 7, family, strlen(family)), 0);
        else if (strncmp(line, family, strlen(family)) != 0 || !strchr(line, ' '))
            fail_msg("in %s: %s", family, line);
    }
    answer_release(&answer);
}

/* ---- well or not ---- */

static void test_ready(void **state)
{
    struct world *world = *state;
    struct answer answer = ask_tcp(world, "GET //readyz", "Host: localhost\r\n", NULL);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
    answer = ask_tcp(world, "GET //livez", "Host: localhost\r\n", NULL);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
    world->api_store.fails = true;
    answer = ask_tcp(world, "GET //readyz", "Host: localhost\r\n", NULL);
    assert_int_equal(answer.status, 503);
    assert_true(json_is_false(member(answer.body, "store")));
    assert_null(member(answer.body, "detail")); /* not for everybody */
    answer_release(&answer);
    answer = ask_tcp(world, "GET //readyz?for=api", "Host: localhost\r\n", NULL);
    assert_int_equal(answer.status, 200);
    assert_true(json_is_false(member(answer.body, "store")));
    answer_release(&answer);
    EXPECT_STATUS(world, 422, "GET //readyz?for=cake", NULL);
    answer = ask(world, "GET //readyz", NULL);
    assert_string_equal(member_text(answer.body, "detail"), "the disk is full; make room");
    answer_release(&answer);
    world->api_store.fails = false;
    world->api_history.fails = true; /* it serves and starts all the same */
    answer = ask(world, "GET //readyz", NULL);
    assert_int_equal(answer.status, 200);
    assert_true(json_is_false(member(answer.body, "history")));
    assert_non_null(member(answer.body, "detail"));
    answer_release(&answer);
    EXPECT_STATUS(world, 200, "GET //readyz?for=api", NULL);
    EXPECT_STATUS(world, 200, "GET //livez", NULL);
    world->api_history.fails = false;
    EXPECT_STATUS(world, 200, "POST /agent/drain", NULL);
    EXPECT_STATUS(world, 503, "GET //readyz", NULL);
    EXPECT_STATUS(world, 200, "GET //readyz?for=api", NULL);
}

static void test_not_ready_while_loading(void **state)
{
    EXPECT_STATUS(*state, 503, "GET //readyz", NULL);
    EXPECT_STATUS(*state, 503, "GET //readyz?for=api", NULL);
    EXPECT_STATUS(*state, 200, "GET //livez", NULL);
    EXPECT_STATUS(*state, 200, "GET //metrics", NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_events),
        TEST(test_topics),
        TEST(test_resume),
        TEST(test_reset),
        TEST(test_ring),
        TEST(test_crowd),
        cmocka_unit_test_setup_teardown(test_reader_that_does_not_read, world_set_up_impatient,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(test_crowd_that_does_not_read, world_set_up_narrow,
                                        world_tear_down),
        cmocka_unit_test_setup_teardown(test_shared_news_count_once, world_set_up_narrow,
                                        world_tear_down),
        TEST(test_head_of_a_stream),
        TEST(test_metrics),
        TEST(test_last_success),
        TEST(test_metrics_are_well_formed),
        TEST(test_ready),
        cmocka_unit_test_setup_teardown(test_not_ready_while_loading, world_set_up_loading,
                                        world_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
