/* Who changed what: every write is on record before it is answered, versions of jobs come from
 * there, and statistics from beside it. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOB     "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"],\"overlap\":\"allow\"}"
#define CHANGED "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"false\"],\"overlap\":\"allow\"}"
#define HOST    "Host: localhost\r\n"

/* ---- the trail ---- */

static void test_every_write(void **state)
{
    static const struct {
        int line, status;
        const char *request, *body, *action, *kind, *target, *job; /* action NULL: no line */
    } cases[] = {
        {__LINE__, 201, "PUT /jobs/a", JOB, "create", "job", "a", "a"},
        {__LINE__, 200, "PUT /jobs/a", JOB, NULL, NULL, NULL, NULL}, /* nothing new */
        {__LINE__, 200, "PUT /jobs/a?dry_run=true", CHANGED, NULL, NULL, NULL, NULL},
        {__LINE__, 422, "PUT /jobs/a", "{}", NULL, NULL, NULL, NULL},
        {__LINE__, 200, "PUT /jobs/a", CHANGED, "change", "job", "a", "a"},
        {__LINE__, 200, "PATCH /jobs/a", "{\"notes\":\"n\"}", "change", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/pause", NULL, "pause", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/pause", NULL, NULL, NULL, NULL, NULL},
        {__LINE__, 200, "POST /jobs/a/resume", NULL, "resume", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/skip-next", NULL, "skip_next", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/skip-next", "{\"count\":0}", "skip_next", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/skip-next", "{\"count\":0}", NULL, NULL, NULL, NULL},
        {__LINE__, 202, "POST /jobs/a/run", NULL, "run", "run", NULL, "a"},
        {__LINE__, 200, "POST /jobs/a/backfill",
         "{\"from\":\"2020-01-01\",\"to\":\"2021-02-02\",\"dry_run\":true}", NULL, NULL, NULL,
         NULL},
        {__LINE__, 200, "POST /jobs/a/backfill", "{\"from\":\"2020-01-01\",\"to\":\"2021-02-02\"}",
         "backfill", "job", "a", "a"},
        {__LINE__, 200, "DELETE /jobs/a", NULL, "delete", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/undelete", NULL, "undelete", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/rollback", "{\"revision\":1}", "rollback", "job", "a", "a"},
        {__LINE__, 200, "POST /jobs/a/rollback", "{\"revision\":1}", NULL, NULL, NULL, NULL},
        {__LINE__, 200, "POST /jobs:batch",
         "{\"put\":[{\"name\":\"b\",\"schedule\":\"@hourly\",\"command\":[\"true\"]}]}", "create",
         "job", "b", "b"},
        {__LINE__, 200, "POST /jobs:batch", "{\"delete\":[\"b\"]}", "delete", "job", "b", "b"},
        {__LINE__, 200, "POST /nodes/here/drain", NULL, "drain", "node", "here", NULL},
        {__LINE__, 200, "POST /nodes/here/undrain", NULL, "undrain", "node", "here", NULL},
        {__LINE__, 200, "POST /agent/drain", NULL, "drain", "node", "here", NULL},
        {__LINE__, 409, "POST /cluster/advance-cursors", NULL, NULL, NULL, NULL, NULL},
    };
    struct world *world = *state;
    size_t lines = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_decref(expect(world, cases[i].line, cases[i].status, cases[i].request, cases[i].body));
        json_t *page = EXPECT(world, 200, "GET /audit?limit=1000", NULL);
        lines += cases[i].action != NULL;
        const char *job = json_string_value(member(page, "items.0.job"));
        if (member_count(page, "items") != lines ||
            (cases[i].action &&
             (strcmp(member_text(page, "items.0.action"), cases[i].action) != 0 ||
              strcmp(member_text(page, "items.0.target.kind"), cases[i].kind) != 0 ||
              (cases[i].target &&
               strcmp(member_text(page, "items.0.target.name"), cases[i].target) != 0) ||
              !job != !cases[i].job || (job && strcmp(job, cases[i].job) != 0))))
            fail_msg("line %d: %s", cases[i].line, json_dumps(page, JSON_INDENT(1)));
        json_decref(page);
    }
}

/* Of runs: the run is the target, and the job is named, too. */
static void test_runs(void **state)
{
    struct world *world = *state;
    char line[100], id[ID_TEXT + 1];
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    json_t *run = EXPECT(world, 202, "POST /jobs/a/run", NULL);
    snprintf(id, sizeof(id), "%s", member_text(run, "run_id"));
    json_decref(run);
    snprintf(line, sizeof(line), "POST /runs/%s/kill", id);
    EXPECT_STATUS(world, 202, line, NULL);
    json_t *page = EXPECT(world, 200, "GET /audit?action=kill", NULL);
    assert_int_equal(member_count(page, "items"), 1);
    assert_string_equal(member_text(page, "items.0.target.kind"), "run");
    assert_string_equal(member_text(page, "items.0.target.name"), id);
    assert_string_equal(member_text(page, "items.0.job"), "a");
    json_decref(page);

    fake_executor_set_instant(world->executor, true);
    run = EXPECT(world, 202, "POST /jobs/a/run", NULL);
    snprintf(line, sizeof(line), "POST /runs/%s/retry", member_text(run, "run_id"));
    json_decref(run);
    for (int status = 0; status != 202;) { /* it ends a moment later */
        struct answer answer = ask(world, line, NULL);
        status = answer.status;
        assert_true(status == 202 || status == 409 || status == 404);
        answer_release(&answer);
    }
    page = EXPECT(world, 200, "GET /audit?action=retry", NULL);
    assert_int_equal(member_count(page, "items"), 1);
    json_decref(page);
}

static void test_lines_are_whole(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    struct answer answer =
        ask_tcp(world, "PUT /jobs/a",
                HOST "Authorization: Bearer definer\r\nX-Request-Id: request-7\r\n", CHANGED);
    assert_int_equal(answer.status, 200);
    int64_t revision = member_number(answer.body, "revision");
    answer_release(&answer);
    json_t *page = EXPECT(world, 200, "GET /audit", NULL);
    assert_string_equal(member_text(page, "items.0.actor"), "definer");
    assert_string_equal(member_text(page, "items.0.via"), "token");
    assert_string_equal(member_text(page, "items.0.address"), "127.0.0.1");
    assert_string_equal(member_text(page, "items.0.request_id"), "request-7");
    assert_int_equal(member_number(page, "items.0.revision"), revision);
    assert_string_equal(member_text(page, "items.0.before.command.0"), "true");
    assert_string_equal(member_text(page, "items.0.after.command.0"), "false");
    assert_null(member(page, "items.0.after.uid"));
    assert_string_equal(member_text(page, "items.1.via"), "socket");
    assert_true(json_is_null(member(page, "items.1.address")));
    assert_true(json_is_null(member(page, "items.1.before")));
    assert_true(json_is_null(member(page, "next")));
    json_decref(page);
}

static void test_filters(void **state)
{
    static const struct {
        int line;
        const char *query;
        size_t want;
    } cases[] = {
        {__LINE__, "", 5},
        {__LINE__, "?job=a", 4},
        {__LINE__, "?job=b&action=create", 1},
        {__LINE__, "?action=pause,resume", 2},
        {__LINE__, "?actor=nobody", 0},
        {__LINE__, "?q=PAUS", 1},
        {__LINE__, "?since=2100-01-01", 0},
        {__LINE__, "?until=2100-01-01&limit=2", 2},
    };
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    EXPECT_STATUS(world, 201, "PUT /jobs/b", JOB);
    EXPECT_STATUS(world, 200, "PUT /jobs/a", CHANGED);
    EXPECT_STATUS(world, 200, "POST /jobs/a/pause", NULL);
    EXPECT_STATUS(world, 200, "POST /jobs/a/resume", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[200];
        snprintf(line, sizeof(line), "GET /audit%s", cases[i].query);
        json_t *page = expect(world, cases[i].line, 200, line, NULL);
        if (member_count(page, "items") != cases[i].want)
            fail_msg("line %d: %zu", cases[i].line, member_count(page, "items"));
        json_decref(page);
    }
    EXPECT_STATUS(world, 422, "GET /audit?action=nothing", NULL);
    EXPECT_STATUS(world, 422, "GET /audit?cursor=x", NULL);
    size_t seen = 0;
    char line[200] = "GET /audit?limit=2";
    for (bool more = true; more;) {
        json_t *page = EXPECT(world, 200, line, NULL);
        seen += member_count(page, "items");
        more = json_is_string(member(page, "next"));
        if (more)
            snprintf(line, sizeof(line), "GET /audit?limit=2&cursor=%s", member_text(page, "next"));
        json_decref(page);
    }
    assert_int_equal(seen, 5);
}

/* Values of secrets are for those who may define jobs; accounts are for admins. */
static void test_who_sees_what(void **state)
{
    static const struct {
        const char *path, *value;
    } places[] = {
        {"GET /jobs/a", "env.DB_PASSWORD"},
        {"GET /audit", "items.0.after.env.DB_PASSWORD"},
        {"GET /jobs/a/versions/1", "env.DB_PASSWORD"},
        {"GET /jobs?q=a", "items.0.env.DB_PASSWORD"},
    };
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a",
                  "{\"schedule\":\"@hourly\",\"command\":[\"true\"],"
                  "\"env\":{\"DB_PASSWORD\":\"hunter2\",\"MODE\":\"fast\"}}");
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct answer viewer =
            ask_tcp(world, places[i].path, HOST "Authorization: Bearer viewer\r\n", NULL);
        struct answer definer =
            ask_tcp(world, places[i].path, HOST "Authorization: Bearer definer\r\n", NULL);
        assert_int_equal(viewer.status, 200);
        assert_null(strstr(viewer.text, "hunter2"));
        assert_non_null(strstr(viewer.text, "fast"));
        assert_string_equal(member_text(viewer.body, places[i].value), "********");
        assert_string_equal(member_text(definer.body, places[i].value), "hunter2");
        answer_release(&viewer);
        answer_release(&definer);
    }
    struct answer login =
        ask_tcp(world, "GET /audit?action=login", HOST "Authorization: Bearer viewer\r\n", NULL);
    assert_int_equal(login.status, 403);
    answer_release(&login);
    EXPECT_STATUS(world, 200, "GET /audit?action=login", NULL);
}

/* ---- a history that does not take it ---- */

static void expect_warning(struct world *world, const char *request, const char *words)
{
    struct answer answer = ask(world, request, NULL);
    char *warning = answer_header(&answer, "X-Peal-Warning");
    assert_int_equal(answer.status, 200); /* it is done */
    assert_non_null(warning);
    assert_non_null(strstr(warning, words));
    free(warning);
    answer_release(&answer);
}

/* The record of a definition is in the store, with it. */
static void put_without_warning(struct world *world, const char *request)
{
    struct answer answer = ask(world, request, JOB);
    assert_int_equal(answer.status, 201);
    assert_null(answer_header(&answer, "X-Peal-Warning"));
    answer_release(&answer);
}

static size_t lines_of(struct world *world, const char *request)
{
    json_t *page = EXPECT(world, 200, request, NULL);
    size_t count = member_count(page, "items");
    json_decref(page);
    return count;
}

static void test_history_fails(void **state)
{
    struct world *world = *state;
    world->api_history.fails = true;
    put_without_warning(world, "PUT /jobs/a");
    expect_warning(world, "POST /jobs/a/pause", "not on record: history.db is damaged");
    EXPECT_STATUS(world, 503, "GET /audit", NULL);
    EXPECT_STATUS(world, 503, "GET /jobs/a/versions", NULL);
    EXPECT_STATUS(world, 503, "GET /stats", NULL);
    EXPECT_STATUS(world, 503, "POST /jobs/a/rollback", "{\"revision\":9}");
    world->api_history.fails = false;
    struct answer answer = ask(world, "POST /jobs/a/resume", NULL);
    assert_null(answer_header(&answer, "X-Peal-Warning"));
    answer_release(&answer);
    while (lines_of(world, "GET /audit?action=create") == 0) /* it is brought a moment later */
        ;
    assert_int_equal(lines_of(world, "GET /audit"), 2); /* create and resume */
    assert_int_equal(lines_of(world, "GET /jobs/a/versions"), 2);
}

/* Nobody waits longer than a little while; the line is written when it can be. */
static void test_history_is_silent(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    assert_int_equal(lines_of(world, "GET /audit"), 1);
    world->api_history.is_silent = true;
    expect_warning(world, "POST /jobs/a/pause", "does not answer");
    world->api_history.is_silent = false;
    assert_non_null(world->api_history.unanswered);
    history_append(world->history, world->api_history.unanswered);
    assert_int_equal(lines_of(world, "GET /audit"), 2);
}

/* Readers wait for what the store still has, but no longer than a little while. */
static void test_readers_wait(void **state)
{
    struct world *world = *state;
    world->api_history.is_silent = true;
    put_without_warning(world, "PUT /jobs/a");
    put_without_warning(world, "PUT /jobs/b");
    assert_int_equal(lines_of(world, "GET /audit"), 0);
    world->api_history.is_silent = false;
    assert_non_null(world->api_history.unanswered);
    history_append(world->history, world->api_history.unanswered);
    while (lines_of(world, "GET /audit") == 0)
        ;
    EXPECT_STATUS(world, 200, "PUT /jobs/a", CHANGED);
    assert_int_equal(lines_of(world, "GET /audit?job=a"), 2);
    assert_int_equal(lines_of(world, "GET /audit"), 3);
}

/* A record that another node has left in the store: the leader brings it, after a while in which
 * that node could have started again. Nobody waits for it. */
static void test_nodes_that_are_gone(void **state)
{
    struct world *world = *state;
    world_put_doc(world, "change", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                  "{\"node\":\"gone\",\"id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"actor\":\"anna\"}");
    world_put_doc(world, "changes", "01ARZ3NDEKTSV4RRFFQ69G5FAW",
                  "[{\"node\":\"gone\",\"id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAW\",\"actor\":\"bea\"}\n"
                  ",null\n,{}\n"
                  ",{\"node\":\"gone\",\"id\":\"01ARZ3NDEKTSV4RRFFQ69G5FAX\",\"actor\":\"bea\"}\n"
                  ",null\n,null]");
    assert_int_equal(lines_of(world, "GET /audit"), 0);
    while (lines_of(world, "GET /audit?actor=anna") == 0)
        usleep(50000);
    while (lines_of(world, "GET /audit?actor=bea") < 2)
        usleep(50000);
    assert_int_equal(lines_of(world, "GET /audit"), 3);
}

/* ---- many at once ---- */

#define PUT(name) "{\"name\":\"" name "\",\"schedule\":\"@daily\",\"command\":[\"true\"]}"

/* The records of a batch are in the store, with its jobs, whatever the history does. */
static void test_batch_without_history(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/old", JOB);
    assert_int_equal(lines_of(world, "GET /audit"), 1);
    world->api_history.fails = true;
    struct answer answer =
        ask(world, "POST /jobs:batch",
            "{\"put\":[" PUT("a") "," PUT("b") "," PUT("c") "],\"delete\":[\"old\"]}");
    assert_int_equal(answer.status, 200);
    assert_null(answer_header(&answer, "X-Peal-Warning"));
    answer_release(&answer);
    world->api_history.fails = false;
    while (lines_of(world, "GET /audit?action=create") < 4)
        usleep(50000);
    assert_int_equal(lines_of(world, "GET /audit"), 5);
    json_t *page = EXPECT(world, 200, "GET /audit?action=delete", NULL);
    assert_string_equal(member_text(page, "items.0.target.name"), "old");
    assert_int_equal(member_number(page, "items.0.revision"), 2);
    json_decref(page);
    assert_int_equal(lines_of(world, "GET /jobs/b/versions"), 1);
    json_t *made = EXPECT(world, 200, "GET /jobs/b/versions/1", NULL);
    assert_string_equal(member_text(made, "command.0"), "true");
    json_decref(made);
}

/* Hundreds of them, in several documents: a reader sees all. */
static void test_large_batch(void **state)
{
    enum { JOBS = 700 };
    struct world *world = *state;
    struct strbuf body;
    strbuf_init(&body);
    for (int i = 0; i < JOBS; i++)
        strbuf_addf(&body, "%s{\"name\":\"job-%d\",\"schedule\":\"@daily\",\"shell\":\"%0*d\"}",
                    i ? "," : "{\"put\":[", i, 200 + i, i);
    strbuf_adds(&body, "]}");
    assert_int_equal(strbuf_status(&body), OK);
    EXPECT_STATUS(world, 200, "POST /jobs:batch", body.text);
    assert_int_equal(lines_of(world, "GET /jobs/job-0/versions"), 1);
    assert_int_equal(lines_of(world, "GET /jobs/job-699/versions"), 1);
    assert_int_equal(lines_of(world, "GET /audit?limit=1000"), JOBS);
    strbuf_release(&body);
}

static bool is_told(void *context)
{
    const struct world *world = context;
    return strncmp(world->logged, "change_unread ", 14) == 0;
}

static void expect_aside(struct world *world, const char *key)
{
    json_t *agent = EXPECT(world, 200, "GET /agent", NULL), *item;
    json_t *list = member(agent, "store.set_aside");
    size_t i;
    assert_int_equal(json_array_size(list), key ? 1 : 0);
    json_array_foreach (list, i, item) {
        assert_string_equal(member_text(item, "key"), key);
    }
    json_decref(agent);
}

/* It stays where it is, and does not go unseen; nobody waits for it. */
static void test_a_record_that_cannot_be_read(void **state)
{
    static const struct {
        const char *kind, *name, *json;
    } cases[] = {
        {"change", "unread", "{}"},
        {"change", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "{\"node\":\"gone\",\"id\":1}"},
        {"change", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "no JSON"},
        {"changes", "unread", "[]"},
        {"changes", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "[]"},
        {"changes", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "[{\"node\":\"here\",\"id\":1}]"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char key[80];
        world->logged[0] = '\0';
        world_put_doc(world, cases[i].kind, cases[i].name, cases[i].json);
        world_until(world, is_told, world);
        assert_non_null(strstr(world->logged, cases[i].name));
        snprintf(key, sizeof(key), "docs/%s/%s", cases[i].kind, cases[i].name);
        expect_aside(world, key);
        assert_int_equal(lines_of(world, "GET /audit"), 0);
        world_put_doc(world, cases[i].kind, cases[i].name, NULL);
        expect_aside(world, NULL);
    }
}

/* What is too large for a document of the store goes straight to the history. */
static void test_large_definitions(void **state)
{
    struct world *world = *state;
    size_t length = 70000;
    char *body = malloc(length + 100), *at = body;
    assert_non_null(body);
    at += sprintf(at, "{\"schedule\":\"@daily\",\"shell\":\"");
    memset(at, 'x', length);
    snprintf(at + length, 4, "\"}");
    EXPECT_STATUS(world, 201, "PUT /jobs/a", body);
    free(body);
    assert_int_equal(lines_of(world, "GET /audit"), 1);
    EXPECT_STATUS(world, 200, "PUT /jobs/a", JOB); /* before it, the large one */
    assert_int_equal(lines_of(world, "GET /audit"), 2);
}

/* ---- versions ---- */

static int64_t revision_of(struct world *world)
{
    json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
    int64_t revision = member_number(job, "revision");
    json_decref(job);
    return revision;
}

static void test_versions(void **state)
{
    struct world *world = *state;
    char line[200];
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    int64_t first = revision_of(world);
    EXPECT_STATUS(world, 200, "PUT /jobs/a", CHANGED);
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL); /* no version */
    int64_t second = revision_of(world);
    json_t *page = EXPECT(world, 200, "GET /jobs/a/versions", NULL);
    assert_int_equal(member_count(page, "items"), 2);
    assert_int_equal(member_number(page, "items.0.revision"), second);
    assert_true(json_is_true(member(page, "items.0.current")));
    assert_true(json_is_false(member(page, "items.1.current")));
    assert_string_equal(member_text(page, "items.1.action"), "create");
    json_decref(page);

    snprintf(line, sizeof(line), "GET /jobs/a/versions/%lld", (long long)first);
    json_t *then = EXPECT(world, 200, line, NULL);
    assert_string_equal(member_text(then, "command.0"), "true");
    assert_int_equal(member_number(then, "revision"), first);
    json_decref(then);

    snprintf(line, sizeof(line), "GET /jobs/a/versions/%lld/diff", (long long)first);
    json_t *diff = EXPECT(world, 200, line, NULL);
    assert_int_equal(member_number(diff, "from"), first);
    assert_int_equal(member_number(diff, "to"), second);
    assert_int_equal(member_count(diff, "changes"), 1);
    assert_string_equal(member_text(diff, "changes.0.pointer"), "/command");
    assert_string_equal(member_text(diff, "changes.0.after.0"), "false");
    assert_non_null(
        strstr(member_text(diff, "text"), "\n-command: [\"true\"]\n+command: [\"false\"]\n"));
    json_decref(diff);
    snprintf(line, sizeof(line), "GET /jobs/a/versions/%lld/diff?to=%lld", (long long)first,
             (long long)first);
    diff = EXPECT(world, 200, line, NULL);
    assert_int_equal(member_count(diff, "changes"), 0);
    assert_string_equal(member_text(diff, "text"), "");
    json_decref(diff);

    EXPECT_STATUS(world, 404, "GET /jobs/a/versions/999999", NULL);
    EXPECT_STATUS(world, 404, "GET /jobs/a/versions/x", NULL);
    EXPECT_STATUS(world, 404, "GET /jobs/a/versions/999999/diff", NULL);
    EXPECT_STATUS(world, 404, "GET /jobs/a/versions/1/diff?to=999999", NULL);
    EXPECT_STATUS(world, 422, "GET /jobs/a/versions/1/diff?to=x", NULL);
    EXPECT_STATUS(world, 404, "GET /jobs/none/versions", NULL);
    EXPECT_STATUS(world, 200, "DELETE /jobs/a", NULL);
    page = EXPECT(world, 200, "GET /jobs/a/versions", NULL); /* also of one that was deleted */
    assert_string_equal(member_text(page, "items.0.action"), "delete");
    json_decref(page);
}

static void test_rollback(void **state)
{
    struct world *world = *state;
    char body[100], headers[100];
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    int64_t first = revision_of(world);
    EXPECT_STATUS(world, 200, "PUT /jobs/a", CHANGED);
    EXPECT_STATUS(world, 200, "POST /jobs/a/pause", NULL);
    snprintf(body, sizeof(body), "{\"revision\":%lld,\"dry_run\":true}", (long long)first);
    json_t *would = EXPECT(world, 200, "POST /jobs/a/rollback", body);
    assert_string_equal(member_text(would, "command.0"), "true");
    json_decref(would);
    snprintf(body, sizeof(body), "{\"revision\":%lld}", (long long)first);

    snprintf(headers, sizeof(headers), "If-Match: \"%lld\"\r\n", (long long)first);
    struct answer stale = ask_with(world, "POST /jobs/a/rollback", headers, body);
    assert_int_equal(stale.status, 412);
    answer_release(&stale);
    EXPECT_STATUS(world, 428, "POST /jobs/a/rollback?require_match=true", body);
    struct answer editor =
        ask_tcp(world, "POST /jobs/a/rollback", HOST "Authorization: Bearer editor\r\n", body);
    assert_int_equal(editor.status, 403); /* the command differs */
    answer_release(&editor);

    snprintf(headers, sizeof(headers), "If-Match: \"%lld\"\r\n", (long long)revision_of(world));
    struct answer good = ask_with(world, "POST /jobs/a/rollback", headers, body);
    assert_int_equal(good.status, 200);
    assert_string_equal(member_text(good.body, "command.0"), "true");
    assert_true(json_is_true(member(good.body, "status.paused"))); /* as it was */
    answer_release(&good);
    json_t *page = EXPECT(world, 200, "GET /audit?action=rollback", NULL);
    snprintf(body, sizeof(body), "to revision %lld", (long long)first);
    assert_string_equal(member_text(page, "items.0.detail"), body);
    json_decref(page);
    EXPECT_STATUS(world, 422, "POST /jobs/a/rollback", "{}");
    EXPECT_STATUS(world, 404, "POST /jobs/a/rollback", "{\"revision\":99999}");
    EXPECT_STATUS(world, 404, "POST /jobs/none/rollback", "{\"revision\":1}");
}

/* ---- statistics ---- */

static void test_stats(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    fake_executor_set_instant(world->executor, true);
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    json_t *stats = NULL;
    for (bool done = false; !done;) { /* they end a moment later */
        json_decref(stats);
        stats = EXPECT(world, 200, "GET /stats?job=a", NULL);
        int64_t ok = 0;
        for (size_t i = 0; i < member_count(stats, "items"); i++) {
            char path[40];
            snprintf(path, sizeof(path), "items.%zu.ok", i);
            ok += member_number(stats, path);
        }
        done = ok == 3;
    }
    assert_string_equal(member_text(stats, "span"), "hour");
    assert_int_equal(member_number(stats, "items.0.failed"), 0);
    assert_true(json_is_integer(member(stats, "items.0.p95_ms")));
    json_decref(stats);
    json_t *days = EXPECT(world, 200, "GET /stats?span=day", NULL);
    assert_string_equal(member_text(days, "span"), "day");
    assert_true(member_count(days, "items") >= 1);
    json_decref(days);
    EXPECT_STATUS(world, 422, "GET /stats?span=week", NULL);
    EXPECT_STATUS(world, 422, "GET /stats?from=2027-01-02&to=2027-01-01", NULL);
    EXPECT_STATUS(world, 422, "GET /stats?from=2000-01-01", NULL);
    EXPECT_STATUS(world, 404, "GET /stats?job=none", NULL);

    json_t *recent = EXPECT(world, 200, "GET /jobs:recent?names=none,a", NULL);
    assert_int_equal(member_count(recent, "items"), 1);
    assert_int_equal(member_count(recent, "items.0.recent"), 3);
    assert_string_equal(member_text(recent, "items.0.recent.0.state"), "ok");
    assert_true(json_is_integer(member(recent, "items.0.p50_ms")));
    json_decref(recent);
    EXPECT_STATUS(world, 422, "GET /jobs:recent", NULL);
}

/* ---- hints ---- */

static void test_hints(void **state)
{
    static const struct {
        int line;
        const char *body, *language, *pointer, *hint; /* hint NULL: none */
        int column;
    } cases[] = {
        {__LINE__, "{\"schedul\":\"@daily\"}", "en", "/schedul", "did you mean \"schedule\"?", 0},
        {__LINE__, "{\"schedul\":\"@daily\"}", "zh", "/schedul", "是否指“schedule”？", 0},
        {__LINE__, "{\"schedule\":\"@dayly\",\"command\":[\"a\"]}", "en", "/schedule",
         "did you mean @daily?", 1},
        {__LINE__, "{\"schedule\":\"@daily\",\"command\":[\"a\"],\"timeout\":\"5\"}", "zh",
         "/timeout", "请使用 w、d、h、m 或 s", 2},
        {__LINE__, "{\"schedule\":\"@daily\",\"command\":\"a\"}", "en", "/command",
         "for a line of shell use \"shell\" instead of \"command\"", 0},
        {__LINE__, "{\"schedule\":\"75 * * * *\",\"command\":[\"a\"]}", "en", "/schedule", NULL, 1},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char headers[64];
        snprintf(headers, sizeof(headers), "Accept-Language: %s\r\n", cases[i].language);
        struct answer answer = ask_with(world, "PUT /jobs/a", headers, cases[i].body);
        const char *hint = json_string_value(member(answer.body, "errors.0.hint"));
        if (answer.status != 422 || !hint != !cases[i].hint ||
            (hint && strcmp(hint, cases[i].hint) != 0) ||
            strcmp(member_text(answer.body, "errors.0.pointer"), cases[i].pointer) != 0 ||
            member_number(answer.body, "errors.0.column") != cases[i].column)
            fail_msg("line %d: %s", cases[i].line, answer.text);
        answer_release(&answer);
    }
}

/* ---- traces ---- */

static void test_traceparent(void **state)
{
    static const struct {
        int line;
        const char *given, *want; /* NULL: it is ignored */
    } cases[] = {
        {__LINE__, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
         "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        {__LINE__, "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
         "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        {__LINE__, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", NULL},
        {__LINE__, "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", NULL},
        {__LINE__, "00-00000000000000000000000000000000-b7ad6b7169203331-01", NULL},
        {__LINE__, "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", NULL},
        {__LINE__, "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", NULL},
        {__LINE__, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", NULL},
        {__LINE__, "x", NULL},
    };
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char header[200], line[100];
        snprintf(header, sizeof(header), "traceparent: %s\r\n", cases[i].given);
        struct answer answer = ask_with(world, "POST /jobs/a/run", header, NULL);
        assert_int_equal(answer.status, 202);
        snprintf(line, sizeof(line), "GET /runs/%s", member_text(answer.body, "run_id"));
        answer_release(&answer);
        json_t *run = EXPECT(world, 200, line, NULL);
        const char *got = json_string_value(member(run, "traceparent"));
        if (!got != !cases[i].want || (got && strcmp(got, cases[i].want) != 0))
            fail_msg("line %d: %s", cases[i].line, got ? got : "none");
        json_decref(run);
    }
}

/* What a backfill has added is told, also if it did not come to its end. */
static void test_backfill_that_stops(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a",
                  "{\"schedule\":\"* * * * *\",\"command\":[\"true\"],\"paused\":true}");
    world->api_store.fails_after = 1;
    EXPECT_STATUS(world, 503, "POST /jobs/a/backfill",
                  "{\"from\":\"2020-01-01\",\"to\":\"2020-01-02\"}");
    world->api_store.fails = false;
    json_t *page = EXPECT(world, 200, "GET /audit?action=backfill", NULL);
    assert_int_equal(member_count(page, "items"), 1);
    assert_non_null(strstr(member_text(page, "items.0.detail"), "500 runs"));
    json_decref(page);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_every_write),
        TEST(test_runs),
        TEST(test_lines_are_whole),
        TEST(test_filters),
        TEST(test_who_sees_what),
        TEST(test_history_fails),
        TEST(test_history_is_silent),
        TEST(test_readers_wait),
        TEST(test_large_definitions),
        TEST(test_nodes_that_are_gone),
        TEST(test_a_record_that_cannot_be_read),
        TEST(test_batch_without_history),
        TEST(test_large_batch),
        TEST(test_versions),
        TEST(test_rollback),
        TEST(test_stats),
        TEST(test_traceparent),
        TEST(test_hints),
        TEST(test_backfill_that_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
