/* Jobs: made, changed, listed, paused, deleted and brought back. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YEARLY "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"

static int status_with(struct world *world, const char *line, const char *headers, const char *body)
{
    struct answer answer = ask_with(world, line, headers, body);
    int status = answer.status;
    answer_release(&answer);
    return status;
}

/* ---- definitions ---- */

static void test_put_and_get(void **state)
{
    struct world *world = *state;
    json_t *made = EXPECT(world, 201, "PUT /jobs/db%2Fbackup",
                          "{\"schedule\":\"30 2 * * *\",\"command\":[\"backup\",\"--all\"],"
                          "\"labels\":{\"team\":\"ops\"},\"notes\":\"Nightly\"}");
    assert_string_equal(member_text(made, "name"), "db/backup");
    assert_string_equal(member_text(made, "timezone"), "Europe/Berlin");
    assert_int_equal(strlen(member_text(made, "uid")), 26);
    assert_int_equal(member_number(made, "revision"), 1);
    assert_int_equal(strlen(member_text(made, "created_at")), 24);
    assert_int_equal(strlen(member_text(made, "status.next_at")), 24);
    assert_int_equal(member_number(made, "status.running"), 0);
    assert_int_equal(member_number(made, "status.queued"), 0);
    assert_true(json_is_null(member(made, "status.last")));
    assert_true(json_is_null(member(made, "status.problem")));
    assert_true(json_is_false(member(made, "status.paused")));
    struct answer got = ask(world, "GET /jobs/db%2Fbackup", NULL);
    assert_true(json_equal(got.body, made));
    assert_non_null(strstr(got.head, "ETag: \"1-"));
    answer_release(&got);
    json_decref(made);
}

static void test_post(void **state)
{
#define NAMED(name) "{\"name\":" name ",\"schedule\":\"@daily\",\"command\":[\"true\"]}"
    struct world *world = *state;
    static const struct {
        int line;
        const char *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "POST /jobs?dry_run=true", NAMED("\"db/backup\""), 200},
        {__LINE__, "POST /jobs", NAMED("\"db/backup\""), 201},
        {__LINE__, "POST /jobs", NAMED("\"db/backup\""), 409},
        {__LINE__, "POST /jobs?dry_run=true", NAMED("\"db/backup\""), 409},
        {__LINE__, "POST /jobs", "{\"schedule\":\"@daily\",\"command\":[\"true\"]}", 422},
        {__LINE__, "POST /jobs", NAMED("7"), 422},
        {__LINE__, "POST /jobs", NAMED("\"/\""), 422},
        {__LINE__, "POST /jobs", NAMED("\"\""), 422},
        {__LINE__, "POST /jobs", "[]", 422},
        {__LINE__, "POST /jobs", NULL, 422},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, cases[i].request, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        char *place = answer_header(&answer, "Location");
        if (answer.status == 201)
            assert_string_equal(place, "/api/v1/jobs/db%2Fbackup");
        else
            assert_null(place);
        free(place);
        answer_release(&answer);
    }
    json_t *job = EXPECT(world, 200, "GET /jobs/db%2Fbackup", NULL);
    assert_int_equal(member_number(job, "revision"), 1);
    json_decref(job);
#undef NAMED
}

static void test_replace_keeps_identity(void **state)
{
    struct world *world = *state;
    json_t *first = EXPECT(world, 201, "PUT /jobs/a", YEARLY);
    json_t *same = EXPECT(world, 200, "PUT /jobs/a", YEARLY);
    assert_int_equal(member_number(same, "revision"), 1); /* nothing was written */
    json_t *second = EXPECT(world, 200, "PUT /jobs/a",
                            "{\"name\":\"a\",\"schedule\":\"0 0 2 1 *\",\"shell\":\"true\"}");
    assert_int_equal(member_number(second, "revision"), 2);
    assert_string_equal(member_text(second, "uid"), member_text(first, "uid"));
    assert_string_equal(member_text(second, "created_at"), member_text(first, "created_at"));
    assert_null(member(second, "command"));
    json_decref(first);
    json_decref(same);
    json_decref(second);
}

static void test_conditions(void **state)
{
    struct world *world = *state;
    const char *other = "{\"schedule\":\"0 0 3 1 *\",\"command\":[\"true\"]}";
    EXPECT_STATUS(world, 201, "PUT /jobs/a", YEARLY);
    static const struct {
        int line;
        const char *request, *headers;
        int status;
    } cases[] = {
        {__LINE__, "PUT /jobs/a", "If-None-Match: *\r\n", 412},
        {__LINE__, "PUT /jobs/new", "If-None-Match: *\r\n", 201},
        {__LINE__, "PUT /jobs/a", "If-Match: \"7\"\r\n", 412},
        {__LINE__, "PUT /jobs/a", "If-Match: nonsense\r\n", 412},
        {__LINE__, "PUT /jobs/none", "If-Match: \"1\"\r\n", 412},
        {__LINE__, "PUT /jobs/none", "If-Match: *\r\n", 412},
        {__LINE__, "PUT /jobs/a", "If-Match: \"1\"\r\n", 200},
        {__LINE__, "PUT /jobs/a", "If-Match: \"1\"\r\n", 412},
        {__LINE__, "PUT /jobs/a", "If-Match: *\r\n", 200},
        {__LINE__, "DELETE /jobs/a", "If-Match: \"1\"\r\n", 412},
        {__LINE__, "DELETE /jobs/a", "If-Match: \"2\"\r\n", 200},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool put = *cases[i].request == 'P';
        int status = status_with(world, cases[i].request, cases[i].headers, put ? other : NULL);
        if (status != cases[i].status)
            fail_msg("line %d: expected %d, got %d", cases[i].line, cases[i].status, status);
    }
}

static void test_dry_run_writes_nothing(void **state)
{
    struct world *world = *state;
    json_t *shown = EXPECT(world, 200, "PUT /jobs/a?dry_run=true", YEARLY);
    assert_string_equal(member_text(shown, "timezone"), "Europe/Berlin");
    json_decref(shown);
    EXPECT_STATUS(world, 422, "PUT /jobs/a?dry_run=true", "{}");
    EXPECT_STATUS(world, 404, "GET /jobs/a", NULL);
}

static void test_errors_say_where(void **state)
{
    json_t *problem = EXPECT(*state, 422, "PUT /jobs/a",
                             "{\"schedules\":[\"* * * * *\",\"* 25 * * *\"],\"command\":[\"x\"]}");
    assert_string_equal(member_text(problem, "errors.0.pointer"), "/schedules/1");
    assert_non_null(strstr(member_text(problem, "errors.0.message"), "column 3"));
    json_decref(problem);
}

/* ---- batches ---- */

static void test_batch(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/same", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/old", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/gone", YEARLY);
#define NAMED(name, day)                                                                           \
    "{\"name\":\"" name "\",\"schedule\":\"0 0 " day " 1 *\",\"command\":[\"true\"]}"
    static const char body[] = "{\"put\":[" NAMED("same", "1") "," NAMED("old", "2") "," NAMED(
        "new", "1") "],\"delete\":[\"gone\"],\"dry_run\":%s}";
    static const char *const wanted[][2] = {
        {"same", "unchanged"}, {"old", "changed"}, {"new", "created"}, {"gone", "deleted"}};
    for (int round = 0; round < 2; round++) { /* first dry */
        char text[1024], path[32];
        snprintf(text, sizeof(text), body, round ? "false" : "true");
        json_t *answer = EXPECT(world, 200, "POST /jobs:batch", text);
        assert_int_equal(member_count(answer, "results"), 4);
        for (int i = 0; i < 4; i++) {
            snprintf(path, sizeof(path), "results.%d.name", i);
            assert_string_equal(member_text(answer, path), wanted[i][0]);
            snprintf(path, sizeof(path), "results.%d.result", i);
            assert_string_equal(member_text(answer, path), wanted[i][1]);
        }
        json_decref(answer);
        EXPECT_STATUS(world, round ? 404 : 200, "GET /jobs/gone", NULL);
        EXPECT_STATUS(world, round ? 200 : 404, "GET /jobs/new", NULL);
    }
}

static void test_batch_with_mistakes_writes_nothing(void **state)
{
    struct world *world = *state;
    json_t *problem = EXPECT(world, 422, "POST /jobs:batch",
                             "{\"put\":[" NAMED("fine", "1") "," NAMED("fine", "2") "," NAMED(
                                 "bad", "99") ",7],\"delete\":[\"absent\",3]}");
    static const char *const pointers[] = {"/put/1", "/put/2/schedule", "/put/3", "/delete/0",
                                           "/delete/1"};
    assert_int_equal(member_count(problem, "errors"), 5);
    for (int i = 0; i < 5; i++) {
        char path[32];
        snprintf(path, sizeof(path), "errors.%d.pointer", i);
        assert_string_equal(member_text(problem, path), pointers[i]);
    }
    json_decref(problem);
    EXPECT_STATUS(world, 404, "GET /jobs/fine", NULL);
}

/* The id under which the agent keeps the checked jobs; empty: it does not. */
static void check_to_keep(struct world *world, const char *body, char *ret, size_t size)
{
    json_t *answer = EXPECT(world, 200, "POST /jobs:batch?keep=true", body);
    snprintf(ret, size, "%s",
             json_is_string(member(answer, "kept")) ? member_text(answer, "kept") : "");
    json_decref(answer);
}

static void test_kept_batch_is_written_once(void **state)
{
    struct world *world = *state;
    char kept[64], line[128];
    check_to_keep(world, "{\"put\":[" NAMED("one", "1") "," NAMED("two", "1") "],\"dry_run\":true}",
                  kept, sizeof(kept));
    assert_true(*kept);
    EXPECT_STATUS(world, 404, "GET /jobs/one", NULL);
    snprintf(line, sizeof(line), "POST /jobs:batch?kept=%s", kept);
    json_t *answer = EXPECT(world, 200, line, NULL);
    assert_int_equal(json_integer_value(member(answer, "created")), 2);
    assert_int_equal(member_count(answer, "results"), 0);
    json_decref(answer);
    EXPECT_STATUS(world, 200, "GET /jobs/two", NULL);
    EXPECT_STATUS(world, 410, line, NULL);
}

/* What others do between the check and the write is in the way of all of it. */
static void test_stale_batch_is_not_written(void **state)
{
    struct world *world = *state;
    char kept[64], line[128];
    check_to_keep(world, "{\"put\":[" NAMED("one", "1") "," NAMED("two", "1") "],\"dry_run\":true}",
                  kept, sizeof(kept));
    EXPECT_STATUS(world, 201, "PUT /jobs/two", YEARLY);
    snprintf(line, sizeof(line), "POST /jobs:batch?kept=%s", kept);
    EXPECT_STATUS(world, 410, line, NULL);
    EXPECT_STATUS(world, 404, "GET /jobs/one", NULL);
}

static void test_only_new_jobs_are_kept(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *body;
        bool is_kept;
    } cases[] = {
        {__LINE__, "{\"put\":[" NAMED("new", "1") "],\"dry_run\":true}", true},
        {__LINE__, "{\"put\":[" NAMED("new", "1") "," NAMED("old", "2") "],\"dry_run\":true}",
         false},
        {__LINE__, "{\"put\":[" NAMED("new", "1") "," NAMED("old", "1") "],\"dry_run\":true}",
         false},
        {__LINE__, "{\"put\":[" NAMED("new", "1") "],\"delete\":[\"old\"],\"dry_run\":true}",
         false},
        {__LINE__,
         "{\"put\":[{\"name\":\"new\",\"after\":\"old\",\"command\":[\"true\"]}],\"dry_run\":true}",
         false},
        {__LINE__, "{\"dry_run\":true}", false},
    };
    EXPECT_STATUS(world, 201, "PUT /jobs/old", YEARLY);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char kept[64];
        check_to_keep(world, cases[i].body, kept, sizeof(kept));
        if (!*kept == cases[i].is_kept)
            fail_msg("line %d: %s", cases[i].line, *kept ? "kept" : "not kept");
    }
    EXPECT_STATUS(world, 410, "POST /jobs:batch?kept=none", NULL);
    EXPECT_STATUS(world, 404, "GET /jobs/new", NULL);
}

/* ---- lists ---- */

static void add_thousand(struct world *world)
{
    json_t *list = json_array();
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%04d", i);
        json_array_append_new(list, json_pack("{s:s, s:s, s:[s, s], s:{s:s}}", "name", name,
                                              "schedule", "0 0 1 1 *", "command", "run",
                                              i == 500 ? "Special \"one\"" : "plain", "labels",
                                              "tier", i % 100 ? "low" : "high"));
    }
    json_t *body = json_pack("{s:o}", "put", list);
    char *text = json_dumps(body, 0);
    EXPECT_STATUS(world, 200, "POST /jobs:batch", text);
    free(text);
    json_decref(body);
}

/* Follows `next` to the end; how many there were. */
static size_t walk(struct world *world, const char *query, size_t *ret_pages)
{
    char line[512], last[128] = "";
    size_t count = 0, pages = 0;
    snprintf(line, sizeof(line), "GET /jobs?%s", query);
    for (;;) {
        json_t *page = EXPECT(world, 200, line, NULL);
        size_t i;
        json_t *job;
        json_array_foreach (member(page, "items"), i, job) {
            assert_true(strcmp(member_text(job, "name"), last) > 0);
            snprintf(last, sizeof(last), "%s", member_text(job, "name"));
            count++;
        }
        pages++;
        bool more = json_is_string(member(page, "next"));
        snprintf(line, sizeof(line), "GET /jobs?%s&cursor=%s", query, member_text(page, "next"));
        json_decref(page);
        if (!more)
            break;
    }
    *ret_pages = pages;
    return count;
}

static void test_pages(void **state)
{
    static const struct {
        int line;
        const char *query;
        size_t count, pages;
    } cases[] = {
        {__LINE__, "limit=7", 1000, 143},
        {__LINE__, "limit=1000", 1000, 1},
        {__LINE__, "limit=500", 1000, 2},
        {__LINE__, "", 1000, 20},
        {__LINE__, "label=tier=high", 10, 1},
        {__LINE__, "label=tier", 1000, 20},
        {__LINE__, "label=tier=none", 0, 1},
        {__LINE__, "q=JOB-001", 10, 1},
        {__LINE__, "q=special+%22one%22", 1, 1},
        {__LINE__, "q=nowhere", 0, 1},
        {__LINE__, "q=run&label=tier=high&limit=3", 10, 4},
    };
    struct world *world = *state;
    add_thousand(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t pages, count = walk(world, cases[i].query, &pages);
        if (count != cases[i].count || pages != cases[i].pages)
            fail_msg("line %d: %zu jobs in %zu pages", cases[i].line, count, pages);
    }
}

static bool is_running(void *context)
{
    json_t *jobs = EXPECT(context, 200, "GET /jobs?status=running&node=here", NULL);
    bool is = member_count(jobs, "items") == 1;
    json_decref(jobs);
    return is;
}

static void test_facets(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a%2Fb%2Fone",
                  "{\"schedule\":\"@manual\",\"command\":[\"true\"],\"owner\":\"x\",\"labels\":{"
                  "\"tier\":1,\"team\":\"db\"}}");
    EXPECT_STATUS(world, 201, "PUT /jobs/a%2Ftwo",
                  "{\"schedule\":\"@manual\",\"command\":[\"true\"],\"owner\":\"x\",\"labels\":{"
                  "\"tier\":1},\"paused\":true}");
    EXPECT_STATUS(world, 201, "PUT /jobs/ab",
                  "{\"schedule\":\"@manual\",\"command\":[\"true\"],\"labels\":{\"odd\":\"\"}}");
    EXPECT_STATUS(world, 202, "POST /jobs/ab/run", NULL);
    world_until(world, is_running, world);
    static const struct {
        int line;
        const char *query;
        int matched;
        const char *owner, *label, *folder, *status, *node; /* the first; NULL: none */
    } cases[] = {
        {__LINE__, "", 3, "x", "tier=1", "a", "never", "here"},
        {__LINE__, "?folder=a", 2, "x", "tier=1", "a/b", "never", NULL},
        {__LINE__, "?folder=a%2Fb", 1, "x", "team=db", NULL, "never", NULL},
        {__LINE__, "?folder=b", 0, NULL, NULL, NULL, NULL, NULL},
        {__LINE__, "?q=ab", 1, NULL, "odd", NULL, "never", "here"},
        {__LINE__, "?status=paused&owner=x", 1, "x", "tier=1", "a", "never", NULL},
        {__LINE__, "?node=here", 1, NULL, "odd", NULL, "never", "here"},
        {__LINE__, "?node=here&owner=x", 0, NULL, NULL, NULL, NULL, NULL},
        {__LINE__, "?node=nowhere", 0, NULL, NULL, NULL, NULL, NULL},
        {__LINE__, "?node=", 0, NULL, NULL, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[80];
        snprintf(line, sizeof(line), "GET /jobs:facets%s", cases[i].query);
        json_t *facets = EXPECT(world, 200, line, NULL);
        const struct {
            const char *path, *want;
        } firsts[] = {{"owners.0.value", cases[i].owner},
                      {"labels.0.value", cases[i].label},
                      {"folders.0.value", cases[i].folder},
                      {"status.0.value", cases[i].status},
                      {"nodes.0.value", cases[i].node}};
        if (member_number(facets, "total") != 3 ||
            member_number(facets, "matched") != cases[i].matched)
            fail_msg("line %d: matched %d", cases[i].line, (int)member_number(facets, "matched"));
        for (size_t f = 0; f < sizeof(firsts) / sizeof(firsts[0]); f++) {
            const char *text = json_string_value(member(facets, firsts[f].path));
            if (text ? !firsts[f].want || strcmp(text, firsts[f].want) != 0 : !!firsts[f].want)
                fail_msg("line %d: %s is %s", cases[i].line, firsts[f].path, text ? text : "none");
        }
        json_decref(facets);
    }
    EXPECT_STATUS(world, 422, "GET /jobs:facets?status=odd", NULL);
    json_t *page = EXPECT(world, 200, "GET /jobs?folder=a&limit=1", NULL);
    assert_string_equal(member_text(page, "items.0.name"), "a/b/one");
    assert_non_null(member_text(page, "next"));
    json_decref(page);
    json_t *acted =
        EXPECT(world, 200, "POST /jobs:act?folder=a", "{\"action\":\"pause\",\"dry_run\":true}");
    assert_int_equal(member_number(acted, "touched"), 1);
    json_decref(acted);
}

static void test_next(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a",
                  "{\"schedule\":\"0 12 * * *\",\"timezone\":\"America/New_York\","
                  "\"jitter\":\"1h\",\"command\":[\"true\"]}");
    EXPECT_STATUS(world, 201, "PUT /jobs/manual",
                  "{\"schedule\":\"@manual\",\"command\":[\"true\"]}");
    json_t *next = EXPECT(world, 200, "GET /jobs/a/next?n=3", NULL);
    assert_int_equal(member_count(next, "fires"), 3);
    assert_int_equal(strlen(member_text(next, "fires.0.at")), 24);
    assert_non_null(strstr(member_text(next, "fires.0.local"), "T12:00:00-0"));
    assert_int_equal(strlen(member_text(next, "fires.2.starts_at")), 24);
    json_decref(next);
    next = EXPECT(world, 200, "GET /jobs/manual/next", NULL);
    assert_int_equal(member_count(next, "fires"), 0);
    json_decref(next);
    EXPECT_STATUS(world, 422, "GET /jobs/a/next?n=0", NULL);
}

/* ---- pause, skip ---- */

static void test_pause_and_resume(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", YEARLY);
    json_t *job = EXPECT(world, 200, "POST /jobs/a/pause", NULL);
    assert_true(json_is_true(member(job, "status.paused")));
    assert_true(json_is_null(member(job, "status.next_at")));
    assert_int_equal(member_number(job, "revision"), 2);
    json_decref(job);
    job = EXPECT(world, 200, "POST /jobs/a/pause", "{}"); /* it is so already */
    assert_int_equal(member_number(job, "revision"), 2);
    json_decref(job);
    job = EXPECT(world, 200, "PUT /jobs/a", YEARLY); /* does not say, does not change it */
    assert_true(json_is_true(member(job, "status.paused")));
    assert_int_equal(member_number(job, "revision"), 2);
    json_decref(job);
    job = EXPECT(world, 200, "POST /jobs/a/resume", NULL);
    assert_true(json_is_false(member(job, "status.paused")));
    assert_true(json_is_string(member(job, "status.next_at")));
    json_decref(job);
    job = EXPECT(world, 200, "PUT /jobs/a",
                 "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"],\"paused\":true}");
    assert_true(json_is_true(member(job, "status.paused")));
    json_decref(job);
}

static void test_skip_next(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/m", "{\"schedule\":\"@manual\",\"shell\":\"true\"}");
    json_t *next = EXPECT(world, 200, "GET /jobs/a/next?n=4", NULL);
    json_t *one = EXPECT(world, 200, "POST /jobs/a/skip-next", NULL);
    assert_int_equal(member_count(one, "skipped"), 1);
    assert_string_equal(member_text(one, "skipped.0"), member_text(next, "fires.0.at"));
    json_t *two = EXPECT(world, 200, "POST /jobs/a/skip-next", "{\"count\":2}");
    assert_int_equal(member_count(two, "skipped"), 2); /* the two behind that */
    assert_string_equal(member_text(two, "skipped.1"), member_text(next, "fires.2.at"));
    json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_string_equal(member_text(job, "status.next_at"), member_text(next, "fires.3.at"));
    json_decref(next);
    next = EXPECT(world, 200, "GET /jobs/a/next?n=4", NULL);
    assert_string_equal(member_text(next, "fires.2.note"), "left out: skip-next");
    assert_null(member(next, "fires.3.note"));
    json_decref(next);
    json_decref(one);
    json_decref(two);
    json_decref(job);
    EXPECT_STATUS(world, 422, "POST /jobs/a/skip-next", "{\"count\":-1}");
    EXPECT_STATUS(world, 422, "POST /jobs/a/skip-next", "{\"count\":\"1\"}");
    EXPECT_STATUS(world, 422, "POST /jobs/a/skip-next", "{\"n\":1}");
    EXPECT_STATUS(world, 409, "POST /jobs/m/skip-next", NULL);

    /* taken back */
    json_t *none = EXPECT(world, 200, "POST /jobs/a/skip-next", "{\"count\":0}");
    assert_int_equal(member_count(none, "skipped"), 0);
    next = EXPECT(world, 200, "GET /jobs/a/next?n=1", NULL);
    assert_null(member(next, "fires.0.note"));
    job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_string_equal(member_text(job, "status.next_at"), member_text(next, "fires.0.at"));
    json_decref(none);
    json_decref(next);
    json_decref(job);
}

/* ---- delete ---- */

static void test_delete_and_undelete(void **state)
{
    struct world *world = *state;
    json_t *first = EXPECT(world, 201, "PUT /jobs/a", YEARLY);
    json_t *gone = EXPECT(world, 200, "DELETE /jobs/a", NULL);
    assert_true(json_is_string(member(gone, "deleted_at")));
    assert_true(json_is_null(member(gone, "status.next_at")));
    json_decref(gone);
    EXPECT_STATUS(world, 404, "GET /jobs/a", NULL);
    EXPECT_STATUS(world, 404, "DELETE /jobs/a", NULL);
    json_t *second = EXPECT(world, 201, "PUT /jobs/a", YEARLY); /* the name is free */
    assert_string_not_equal(member_text(first, "uid"), member_text(second, "uid"));
    EXPECT_STATUS(world, 409, "POST /jobs/a/undelete", NULL);
    EXPECT_STATUS(world, 200, "DELETE /jobs/a", NULL);
    json_t *list = EXPECT(world, 200, "GET /jobs?deleted=true", NULL);
    assert_int_equal(member_count(list, "items"), 1); /* the one that can be brought back */
    assert_string_equal(member_text(list, "items.0.uid"), member_text(second, "uid"));
    json_t *back = EXPECT(world, 200, "POST /jobs/a/undelete", NULL);
    assert_string_equal(member_text(back, "uid"), member_text(second, "uid"));
    assert_null(member(back, "deleted_at"));
    assert_true(json_is_string(member(back, "status.next_at")));
    json_decref(first);
    json_decref(second);
    json_decref(list);
    json_decref(back);
    EXPECT_STATUS(world, 200, "GET /jobs/a", NULL);
}

/* ---- changes that meet in the store ---- */

#define REQUEST(line, headers) line " HTTP/1.1\r\nHost: p\r\nConnection: close\r\n" headers "\r\n"
#define PUT(name, day, headers)                                                                    \
    REQUEST("PUT /api/v1/jobs/" name, headers "Content-Length: 43\r\n")                            \
    "{\"schedule\":\"0 0 " day " 1 *\",\"command\":[\"true\"]}"

static void test_changes_at_once(void **state)
{
    static const struct {
        int line;
        const char *requests[2];
        int statuses[2];
        int64_t revision;
    } cases[] = {
        /* Both want to make it: the later one changes what the first one made. */
        {__LINE__, {PUT("a", "1", ""), PUT("a", "2", "")}, {201, 200}, 2},
        {__LINE__, {PUT("a", "3", ""), PUT("a", "4", "")}, {200, 200}, 4},
        {__LINE__, {PUT("a", "5", ""), PUT("a", "6", "If-Match: \"4\"\r\n")}, {200, 412}, 5},
        {__LINE__,
         {REQUEST("POST /api/v1/jobs/a/pause", ""), REQUEST("POST /api/v1/jobs/a/skip-next", "")},
         {200, 200},
         7},
        {__LINE__,
         {PUT("a", "7", ""), REQUEST("DELETE /api/v1/jobs/a", "If-Match: \"7\"\r\n")},
         {200, 412},
         8},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int statuses[2];
        ask_at_once(world, cases[i].requests, 2, statuses);
        json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
        if (memcmp(statuses, cases[i].statuses, sizeof(statuses)) != 0 ||
            member_number(job, "revision") != cases[i].revision)
            fail_msg("line %d: %d, %d; revision %lld", cases[i].line, statuses[0], statuses[1],
                     (long long)member_number(job, "revision"));
        json_decref(job);
    }
    static const char *const made[] = {PUT("b", "1", ""), PUT("b", "2", "If-None-Match: *\r\n")};
    int statuses[2];
    ask_at_once(world, made, 2, statuses);
    assert_int_equal(statuses[0], 201);
    assert_int_equal(statuses[1], 412);
}

/* An edit is made again once; one that is overtaken twice is told to try again. Whether the third
 * is depends on when it is looked at; each that is said to be done is. */
static void test_third_at_once(void **state)
{
    static const char *const skips[] = {REQUEST("POST /api/v1/jobs/a/skip-next", ""),
                                        REQUEST("POST /api/v1/jobs/a/skip-next", ""),
                                        REQUEST("POST /api/v1/jobs/a/skip-next", "")};
    struct world *world = *state;
    int statuses[3], done = 0;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", "{\"schedule\":\"@daily\",\"command\":[\"true\"]}");
    ask_at_once(world, skips, 3, statuses);
    for (int i = 0; i < 3; i++) {
        assert_true(statuses[i] == 200 || statuses[i] == 409);
        done += statuses[i] == 200;
    }
    json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_true(done >= 2);
    assert_int_equal(member_number(job, "revision"), 1 + done);
    json_decref(job);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_put_and_get),
        TEST(test_post),
        TEST(test_replace_keeps_identity),
        TEST(test_conditions),
        TEST(test_dry_run_writes_nothing),
        TEST(test_errors_say_where),
        TEST(test_batch),
        TEST(test_batch_with_mistakes_writes_nothing),
        TEST(test_kept_batch_is_written_once),
        TEST(test_stale_batch_is_not_written),
        TEST(test_only_new_jobs_are_kept),
        TEST(test_pages),
        TEST(test_facets),
        TEST(test_next),
        TEST(test_pause_and_resume),
        TEST(test_skip_next),
        TEST(test_delete_and_undelete),
        TEST(test_changes_at_once),
        TEST(test_third_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
