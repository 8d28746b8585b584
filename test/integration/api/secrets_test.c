/* Secrets of definitions: no answer has them for those who may not define the job, and none tells
 * whether a guess is right. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"

#define HOST "Host: localhost\r\n"

/* The first is a variable's value, the second is all of stdin. */
#define SECRET "hunter2-of-the-db"
#define INPUT  "line-of-stdin"
#define MASK   "********"

#define DEFINITION(schedule, password, stdin)                                                      \
    "{\"schedule\":\"" schedule "\",\"command\":[\"true\"],\"stdin\":\"" stdin "\","               \
    "\"env\":{\"DB_PASSWORD\":\"" password "\",\"MODE\":\"fast\"}}"

#define NAMED(schedule, password, stdin)                                                           \
    "{\"name\":\"team/a\",\"schedule\":\"" schedule "\",\"command\":[\"true\"],\"stdin\":\"" stdin \
    "\",\"env\":{\"DB_PASSWORD\":\"" password "\",\"MODE\":\"fast\"}}"

static struct answer ask_as(struct world *world, const char *token, const char *line,
                            const char *more, const char *body)
{
    char headers[300];
    snprintf(headers, sizeof(headers), HOST "Authorization: Bearer %s\r\n%s", token, more);
    return ask_tcp(world, line, headers, body);
}

static void put_secrets(struct world *world)
{
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fa", DEFINITION("@hourly", SECRET, INPUT));
    EXPECT_STATUS(world, 200, "PUT /jobs/team%2Fa", DEFINITION("@daily", SECRET, INPUT));
}

static void expect_no_secret(const struct answer *answer, const char *who, const char *line)
{
    if (strstr(answer->text, SECRET) || strstr(answer->text, INPUT) ||
        strstr(answer->head, SECRET) || strstr(answer->head, INPUT))
        fail_msg("%s, %s: %d %s", who, line, answer->status, answer->text);
}

/* ---- what is shown ---- */

static const char *const strangers[] = {"viewer", "operator", "editor", "team-viewer",
                                        "team-operator"};

static const char *const method_names[] = {
    [HTTP_GET] = "GET",     [HTTP_PUT] = "PUT",       [HTTP_POST] = "POST",
    [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE", [HTTP_HEAD] = "HEAD"};

/* Every route, with arguments that lead to the job, for everybody who may not define it. What
 * changes it is refused or done; in no case does the answer have a secret. */
static void fill_path(const char *path, char filled[256])
{
    size_t length = 0;
    for (const char *at = path; *at;) {
        const char *word = NULL;
        if (strncmp(at, "{name}", 6) == 0)
            word = "team%2Fa";
        else if (strncmp(at, "{revision}", 10) == 0)
            word = "1";
        if (word) {
            length += (size_t)snprintf(filled + length, 256 - length, "%s", word);
            at = strchr(at, '}') + 1;
        } else {
            filled[length++] = *at++;
        }
    }
    filled[length] = '\0';
}

static void test_no_route_shows_them(void **state)
{
    struct world *world = *state;
    put_secrets(world);
    for (size_t i = 0; i < api_route_count; i++) {
        const struct route *route = &api_routes[i];
        char path[256], line[300];
        if (route->flags & ROUTE_STREAM || route->method == HTTP_DELETE)
            continue;
        fill_path(route->pattern, path);
        snprintf(line, sizeof(line), "%s /%s", method_names[route->method], path);
        for (size_t j = 0; j < sizeof(strangers) / sizeof(strangers[0]); j++) {
            struct answer answer =
                ask_as(world, strangers[j], line, "", route->method == HTTP_GET ? NULL : "{}");
            expect_no_secret(&answer, strangers[j], line);
            answer_release(&answer);
        }
    }
}

static void test_answers_are_masked(void **state)
{
    static const struct {
        int line;
        const char *request, *body, *password, *input;
    } cases[] = {
        {__LINE__, "GET /jobs/team%2Fa", NULL, "env.DB_PASSWORD", "stdin"},
        {__LINE__, "GET /jobs?q=team", NULL, "items.0.env.DB_PASSWORD", "items.0.stdin"},
        {__LINE__, "GET /jobs?fields=stdin,env", NULL, "items.0.env.DB_PASSWORD", "items.0.stdin"},
        {__LINE__, "GET /audit", NULL, "items.0.before.env.DB_PASSWORD", "items.0.after.stdin"},
        {__LINE__, "GET /jobs/team%2Fa/versions/1", NULL, "env.DB_PASSWORD", "stdin"},
        {__LINE__, "PATCH /jobs/team%2Fa?dry_run=true", "{\"notes\":\"x\"}", "env.DB_PASSWORD",
         "stdin"},
        {__LINE__, "PATCH /jobs/team%2Fa", "{\"notes\":\"x\"}", "env.DB_PASSWORD", "stdin"},
        {__LINE__, "PUT /jobs/team%2Fa?dry_run=true", DEFINITION("@weekly", MASK, MASK),
         "env.DB_PASSWORD", "stdin"},
        {__LINE__, "PUT /jobs/team%2Fa", DEFINITION("@weekly", MASK, MASK), "env.DB_PASSWORD",
         "stdin"},
        {__LINE__, "POST /jobs/team%2Fa/rollback", "{\"revision\":1,\"dry_run\":true}",
         "env.DB_PASSWORD", "stdin"},
        {__LINE__, "POST /jobs/team%2Fa/rollback", "{\"revision\":1}", "env.DB_PASSWORD", "stdin"},
        {__LINE__, "POST /jobs/team%2Fa/pause", NULL, "env.DB_PASSWORD", "stdin"},
        {__LINE__, "DELETE /jobs/team%2Fa", NULL, "env.DB_PASSWORD", "stdin"},
        {__LINE__, "GET /jobs?deleted=true", NULL, "items.0.env.DB_PASSWORD", "items.0.stdin"},
        {__LINE__, "POST /jobs/team%2Fa/undelete", NULL, "env.DB_PASSWORD", "stdin"},
    };
    struct world *world = *state;
    put_secrets(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_as(world, "editor", cases[i].request, "", cases[i].body);
        expect_no_secret(&answer, "editor", cases[i].request);
        const char *password = member_text(answer.body, cases[i].password);
        const char *input = member_text(answer.body, cases[i].input);
        if (answer.status != 200 || !password || strcmp(password, MASK) != 0 || !input ||
            strcmp(input, MASK) != 0)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    json_t *job = EXPECT(world, 200, "GET /jobs/team%2Fa", NULL); /* and nothing was lost */
    assert_string_equal(member_text(job, "env.DB_PASSWORD"), SECRET);
    assert_string_equal(member_text(job, "stdin"), INPUT);
    json_decref(job);
}

/* Of an HTTP call: headers with secret names, and the body. */
#define CALL(schedule, header, body)                                                               \
    "{\"schedule\":\"" schedule                                                                    \
    "\",\"http\":{\"url\":\"https://h/\",\"headers\":{\"Authorization\":"                          \
    "\"" header "\",\"Accept\":\"text/plain\"},\"body\":\"" body "\"}}"

static void test_calls_are_masked(void **state)
{
    static const struct {
        const char *request, *body;
    } cases[] = {
        {"GET /jobs/team%2Fa", NULL},
        {"PATCH /jobs/team%2Fa", "{\"notes\":\"x\"}"},
        {"PUT /jobs/team%2Fa", CALL("@weekly", MASK, MASK)},
        {"PATCH /jobs/team%2Fa", "{\"schedule\":\"@daily\",\"http\":{\"body\":\"" MASK "\"}}"},
    };
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fa", CALL("@hourly", SECRET, INPUT));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_as(world, "editor", cases[i].request, "", cases[i].body);
        expect_no_secret(&answer, "editor", cases[i].request);
        const char *header = member_text(answer.body, "http.headers.Authorization");
        const char *body = member_text(answer.body, "http.body");
        const char *plain = member_text(answer.body, "http.headers.Accept");
        if (answer.status != 200 || !header || strcmp(header, MASK) != 0 || !body ||
            strcmp(body, MASK) != 0 || !plain || strcmp(plain, "text/plain") != 0)
            fail_msg("%s: %d %s", cases[i].request, answer.status, answer.text);
        answer_release(&answer);
    }
    struct answer refused = ask_as(world, "editor", "PATCH /jobs/team%2Fa", "",
                                   "{\"http\":{\"url\":\"https://elsewhere/\"}}");
    assert_int_equal(refused.status, 403);
    answer_release(&refused);
    json_t *job = EXPECT(world, 200, "GET /jobs/team%2Fa", NULL); /* and nothing was lost */
    assert_string_equal(member_text(job, "http.headers.Authorization"), SECRET);
    assert_string_equal(member_text(job, "http.body"), INPUT);
    json_decref(job);
    /* A program instead of the call, and back, by a patch. */
    EXPECT_STATUS(world, 200, "PATCH /jobs/team%2Fa", "{\"shell\":\"true\",\"cwd\":\"/srv\"}");
    EXPECT_STATUS(world, 200, "PATCH /jobs/team%2Fa", "{\"http\":\"https://h/\"}");
    EXPECT_STATUS(world, 200, "PATCH /jobs/team%2Fa", "{\"http\":{\"method\":\"PUT\"}}");
    job = EXPECT(world, 200, "GET /jobs/team%2Fa", NULL);
    assert_string_equal(member_text(job, "http.url"), "https://h/");
    assert_string_equal(member_text(job, "http.method"), "PUT");
    assert_null(member(job, "shell"));
    assert_null(member(job, "cwd"));
    json_decref(job);
}

/* Of a workflow: those of its steps, and of both lists. */
#define STEPS(schedule, password, body, input)                                                     \
    "{\"schedule\":\"" schedule "\",\"steps\":[{\"name\":\"x\",\"shell\":\"true\",\"env\":{"       \
    "\"DB_PASSWORD\":\"" password                                                                  \
    "\",\"MODE\":\"fast\"}},{\"name\":\"y\",\"after\":\"x\",\"http\":{"                            \
    "\"url\":\"https://h/\",\"body\":\"" body "\"}}],\"finally\":[{\"name\":\"z\",\"command\":["   \
    "\"cat\"],\"stdin\":\"" input "\"}]}"

static void test_steps_are_masked(void **state)
{
    static const struct {
        int line;
        const char *request, *body;
    } cases[] = {
        {__LINE__, "GET /jobs/team%2Fa", NULL},
        {__LINE__, "PATCH /jobs/team%2Fa", "{\"notes\":\"x\"}"},
        {__LINE__, "PUT /jobs/team%2Fa", STEPS("@weekly", MASK, MASK, MASK)},
        {__LINE__, "PUT /jobs/team%2Fa?dry_run=true", STEPS("@weekly", MASK, MASK, MASK)},
    };
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fa", STEPS("@hourly", SECRET, INPUT, INPUT));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_as(world, "editor", cases[i].request, "", cases[i].body);
        expect_no_secret(&answer, "editor", cases[i].request);
        const char *password = member_text(answer.body, "steps.0.env.DB_PASSWORD");
        const char *mode = member_text(answer.body, "steps.0.env.MODE");
        const char *body = member_text(answer.body, "steps.1.http.body");
        const char *input = member_text(answer.body, "finally.0.stdin");
        if (answer.status != 200 || !password || strcmp(password, MASK) != 0 || !body ||
            strcmp(body, MASK) != 0 || !input || strcmp(input, MASK) != 0 || !mode ||
            strcmp(mode, "fast") != 0)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    json_t *job = EXPECT(world, 200, "GET /jobs/team%2Fa", NULL); /* and nothing was lost */
    assert_string_equal(member_text(job, "steps.0.env.DB_PASSWORD"), SECRET);
    assert_string_equal(member_text(job, "steps.1.http.body"), INPUT);
    assert_string_equal(member_text(job, "finally.0.stdin"), INPUT);
    assert_string_equal(member_text(job, "kind"), "workflow");
    json_decref(job);
    /* What runs is theirs to see, not to change; a step that is not there has no secret. */
    struct answer refused =
        ask_as(world, "editor", "PUT /jobs/team%2Fa", "", STEPS("@weekly", "guess", MASK, MASK));
    assert_int_equal(refused.status, 403);
    answer_release(&refused);
    refused = ask(world, "PUT /jobs/new", STEPS("@weekly", "x", "y", MASK));
    assert_int_equal(refused.status, 422);
    assert_string_equal(member_text(refused.body, "errors.0.pointer"), "/finally/0/stdin");
    answer_release(&refused);
    /* A program instead of steps, and back, by a patch. */
    EXPECT_STATUS(world, 200, "PATCH /jobs/team%2Fa", "{\"shell\":\"true\",\"retries\":2}");
    EXPECT_STATUS(world, 200, "PATCH /jobs/team%2Fa",
                  "{\"steps\":[{\"name\":\"x\",\"shell\":\"true\"}]}");
    job = EXPECT(world, 200, "GET /jobs/team%2Fa", NULL);
    assert_string_equal(member_text(job, "kind"), "workflow");
    assert_null(member(job, "shell"));
    assert_null(member(job, "retries"));
    assert_null(member(job, "finally"));
    json_decref(job);
}

/* Who may define sees what they write. */
static void test_definers_see_them(void **state)
{
    static const char *const lines[] = {"GET /jobs/team%2Fa", "GET /jobs/team%2Fa/versions/1",
                                        "GET /audit?job=team/a", "GET /jobs"};
    struct world *world = *state;
    put_secrets(world);
    for (size_t i = 0; i < 2 * sizeof(lines) / sizeof(lines[0]); i++) {
        struct answer answer =
            ask_as(world, i % 2 ? "definer" : "team-editor", lines[i / 2], "", NULL);
        if (!strstr(answer.text, SECRET) || !strstr(answer.text, INPUT))
            fail_msg("%s: %s", lines[i / 2], answer.text);
        answer_release(&answer);
    }
}

/* ---- what is told ---- */

/* A right guess and a wrong one are answered alike: by what they send, clear text is something
 * else than what they see. */
static void test_guesses_are_answered_alike(void **state)
{
    static const struct {
        int line;
        const char *request, *right, *wrong;
    } cases[] = {
        {__LINE__, "PUT /jobs/team%2Fa", DEFINITION("@daily", SECRET, MASK),
         DEFINITION("@daily", "guess", MASK)},
        {__LINE__, "PUT /jobs/team%2Fa?dry_run=true", DEFINITION("@daily", SECRET, MASK),
         DEFINITION("@daily", "guess", MASK)},
        {__LINE__, "PUT /jobs/team%2Fa", DEFINITION("@daily", MASK, INPUT),
         DEFINITION("@daily", MASK, "guess")},
        {__LINE__, "PATCH /jobs/team%2Fa", "{\"env\":{\"DB_PASSWORD\":\"" SECRET "\"}}",
         "{\"env\":{\"DB_PASSWORD\":\"guess\"}}"},
        {__LINE__, "PATCH /jobs/team%2Fa?dry_run=true",
         "{\"env\":{\"DB_PASSWORD\":\"" SECRET "\"}}", "{\"env\":{\"DB_PASSWORD\":\"guess\"}}"},
        {__LINE__, "PATCH /jobs/team%2Fa", "{\"stdin\":\"" INPUT "\"}", "{\"stdin\":\"guess\"}"},
        {__LINE__, "POST /jobs:batch", "{\"put\":[" NAMED("@daily", SECRET, MASK) "]}",
         "{\"put\":[" NAMED("@daily", "guess", MASK) "]}"},
        {__LINE__, "POST /jobs:batch",
         "{\"put\":[" NAMED("@daily", SECRET, MASK) "],\"dry_run\":true}",
         "{\"put\":[" NAMED("@daily", "guess", MASK) "],\"dry_run\":true}"},
    };
    struct world *world = *state;
    put_secrets(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer right =
            ask_as(world, "editor", cases[i].request, "X-Request-Id: 1\r\n", cases[i].right);
        struct answer wrong =
            ask_as(world, "editor", cases[i].request, "X-Request-Id: 1\r\n", cases[i].wrong);
        if (right.status != 403 || wrong.status != 403 || strcmp(right.text, wrong.text) != 0)
            fail_msg("line %d: %d %s\n%d %s", cases[i].line, right.status, right.text, wrong.status,
                     wrong.text);
        answer_release(&right);
        answer_release(&wrong);
    }
}

static char *digest_for(struct world *world, const char *token)
{
    struct answer answer = ask_as(world, token, "GET /jobs?fields=digest", "", NULL);
    const char *digest = member_text(answer.body, "items.0.digest");
    if (answer.status != 200 || !digest)
        fail_msg("%d %s", answer.status, answer.text);
    char *copy = strdup(digest);
    answer_release(&answer);
    return copy;
}

/* The digest of a definition is of what its reader sees: it can't be held against guesses. */
static void test_digests_tell_no_secret(void **state)
{
    struct world *world = *state;
    put_secrets(world);
    char *seen = digest_for(world, "editor"), *clear = digest_for(world, "definer");
    EXPECT_STATUS(world, 200, "PUT /jobs/team%2Fa", DEFINITION("@daily", "other", "input"));
    char *seen_later = digest_for(world, "editor"), *clear_later = digest_for(world, "definer");
    assert_string_equal(seen, seen_later);
    assert_string_not_equal(seen, clear);
    assert_string_not_equal(clear, clear_later);
    free(seen);
    free(clear);
    free(seen_later);
    free(clear_later);
}

/* ---- asterisks that come back ---- */

static void test_asterisks_keep_them(void **state)
{
    static const char batch[] = "{\"put\":[" NAMED("@yearly", MASK, MASK) "]}";
    static const struct {
        int line;
        const char *who, *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "editor", "PUT /jobs/team%2Fa", DEFINITION("@monthly", MASK, MASK), 200},
        {__LINE__, "team-editor", "PATCH /jobs/team%2Fa",
         "{\"env\":{\"DB_PASSWORD\":\"" MASK "\"},\"schedule\":\"@weekly\"}", 200},
        {__LINE__, "definer", "PUT /jobs/team%2Fa", DEFINITION("@hourly", MASK, MASK), 200},
        {__LINE__, "editor", "POST /jobs:batch", batch, 200},
        /* Nothing is there that they could stand for. */
        {__LINE__, "definer", "PUT /jobs/new", DEFINITION("@hourly", MASK, "x"), 422},
        {__LINE__, "definer", "PUT /jobs/new", DEFINITION("@hourly", "x", MASK), 422},
        {__LINE__, "definer", "PATCH /jobs/team%2Fa", "{\"env\":{\"API_TOKEN\":\"" MASK "\"}}",
         422},
        /* To take one away is to change it, and so is another name for it. */
        {__LINE__, "editor", "PATCH /jobs/team%2Fa", "{\"env\":{\"DB_PASSWORD\":null}}", 403},
        {__LINE__, "editor", "PATCH /jobs/team%2Fa", "{\"stdin\":null}", 403},
        {__LINE__, "editor", "PATCH /jobs/team%2Fa", "{\"env\":{\"MODE\":\"" MASK "\"}}", 403},
    };
    struct world *world = *state;
    put_secrets(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_as(world, cases[i].who, cases[i].request, "", cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
        json_t *job = EXPECT(world, 200, "GET /jobs/team%2Fa", NULL);
        assert_string_equal(member_text(job, "env.DB_PASSWORD"), SECRET);
        assert_string_equal(member_text(job, "env.MODE"), "fast");
        assert_string_equal(member_text(job, "stdin"), INPUT);
        json_decref(job);
    }
}

/* ---- answers that are given again ---- */

static void test_no_secret_is_replayed(void **state)
{
    static const struct {
        int line;
        const char *request, *body, *member;
        int status;
    } cases[] = {
        {__LINE__, "POST /jobs",
         "{\"name\":\"b\",\"schedule\":\"@daily\",\"command\":[\"true\"],\"stdin\":\"" INPUT
         "\",\"env\":{\"DB_PASSWORD\":\"" SECRET "\"}}",
         NULL, 201},
        {__LINE__, "POST /jobs/team%2Fa/pause", "{}", NULL, 200},
        {__LINE__, "POST /tokens", "{\"label\":\"x\",\"role\":\"viewer\"}", "token", 201},
        {__LINE__, "POST /links", "{}", "url", 201},
    };
    struct world *world = *state;
    put_secrets(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer first =
            ask_with(world, cases[i].request, "Idempotency-Key: k\r\n", cases[i].body);
        struct answer again =
            ask_with(world, cases[i].request, "Idempotency-Key: k\r\n", cases[i].body);
        char *replayed = answer_header(&again, "Idempotency-Replayed");
        if (first.status != cases[i].status || again.status != cases[i].status || !replayed)
            fail_msg("line %d: %d %s\n%d %s", cases[i].line, first.status, first.text, again.status,
                     again.text);
        expect_no_secret(&again, "again", cases[i].request);
        const char *secret = cases[i].member ? member_text(first.body, cases[i].member) : NULL;
        if (cases[i].member && (!secret || strstr(again.text, secret)))
            fail_msg("line %d: %s", cases[i].line, again.text);
        free(replayed);
        answer_release(&first);
        answer_release(&again);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_no_route_shows_them),    TEST(test_answers_are_masked),
        TEST(test_calls_are_masked),       TEST(test_steps_are_masked),
        TEST(test_definers_see_them),      TEST(test_guesses_are_answered_alike),
        TEST(test_digests_tell_no_secret), TEST(test_asterisks_keep_them),
        TEST(test_no_secret_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
