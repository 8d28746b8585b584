/* What holds for all calls: conditions, repeats, languages, compression, request ids. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define JOB   "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"
#define OTHER "{\"schedule\":\"0 0 2 1 *\",\"command\":[\"true\"]}"

/* ---- conditions ---- */

static void test_not_modified(void **state)
{
    struct world *world = *state;
    static const char *const lines[] = {"GET /jobs/a", "GET /jobs", "GET /runs", "HEAD /jobs"};
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char headers[128];
        struct answer first = ask(world, lines[i], NULL);
        char *tag = answer_header(&first, "ETag");
        assert_non_null(tag);
        snprintf(headers, sizeof(headers), "If-None-Match: \"other\", %s\r\n", tag);
        struct answer again = ask_with(world, lines[i], headers, NULL);
        if (again.status != 304 || *again.text)
            fail_msg("%s: %d %s", lines[i], again.status, again.text);
        answer_release(&again);
        again = ask_with(world, lines[i], "If-None-Match: \"other\"\r\n", NULL);
        assert_int_equal(again.status, 200);
        free(tag);
        answer_release(&first);
        answer_release(&again);
    }
}

/* A job's tag tells of its status, too, while If-Match is about its definition. */
static void test_tag_of_a_job(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    struct answer before = ask(world, "GET /jobs/a", NULL);
    char *tag = answer_header(&before, "ETag");
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    char headers[128];
    snprintf(headers, sizeof(headers), "If-None-Match: %s\r\n", tag);
    struct answer after = ask_with(world, "GET /jobs/a", headers, NULL);
    assert_int_equal(after.status, 200);
    answer_release(&after);
    snprintf(headers, sizeof(headers), "If-Match: W/%s\r\n", tag); /* as a proxy weakens it */
    after = ask_with(world, "PUT /jobs/a", headers, OTHER);
    assert_int_equal(after.status, 200);
    answer_release(&after);
    snprintf(headers, sizeof(headers), "If-Match: %s\r\n", tag);
    after = ask_with(world, "PUT /jobs/a", headers, JOB);
    assert_int_equal(after.status, 412);
    answer_release(&after);
    answer_release(&before);
    free(tag);
}

static void test_required_condition(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *request, *headers, *body;
        int status;
    } cases[] = {
        {__LINE__, "PUT /jobs/a?require_match=true", "", JOB, 428},
        {__LINE__, "PUT /jobs/a?require_match=true", "If-None-Match: *\r\n", JOB, 201},
        {__LINE__, "PUT /jobs/a?require_match=true", "If-Match: \"1\"\r\n", OTHER, 200},
        {__LINE__, "PUT /jobs/a?require_match=false", "", JOB, 200},
        {__LINE__, "DELETE /jobs/a?require_match=true", "", NULL, 428},
        {__LINE__, "DELETE /jobs/a", "", NULL, 200},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_with(world, cases[i].request, cases[i].headers, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

/* ---- repeats ---- */

#define KEY "Idempotency-Key: k1\r\n"

static size_t count_runs(struct world *world)
{
    json_t *runs = EXPECT(world, 200, "GET /runs", NULL);
    size_t count = member_count(runs, "items");
    json_decref(runs);
    return count;
}

static void put_many_at_once(struct world *world)
{
    EXPECT_STATUS(world, 201, "PUT /jobs/a",
                  "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"],\"overlap\":\"allow\"}");
}

static void test_repeated_run(void **state)
{
    struct world *world = *state;
    put_many_at_once(world);
    struct answer first = ask_with(world, "POST /jobs/a/run", KEY, NULL);
    struct answer again = ask_with(world, "POST /jobs/a/run", KEY, NULL);
    char *replayed = answer_header(&again, "Idempotency-Replayed");
    assert_int_equal(first.status, 202);
    assert_int_equal(again.status, 202);
    assert_string_equal(first.text, again.text);
    assert_string_equal(replayed, "true");
    assert_int_equal(count_runs(world), 1);
    free(replayed);
    answer_release(&again);
    answer_release(&first);
    again = ask_with(world, "POST /jobs/a/run", "Idempotency-Key: k2\r\n", NULL);
    assert_int_equal(again.status, 202);
    assert_int_equal(count_runs(world), 2);
    answer_release(&again);
}

/* The store did it, but its answer was lost: the client sends it again, and there is one run. */
static void test_repeat_after_lost_answer(void **state)
{
    struct world *world = *state;
    put_many_at_once(world);
    world->api_store.forgets = true;
    struct answer lost = ask_with(world, "POST /jobs/a/run", KEY, NULL);
    assert_int_equal(lost.status, 503);
    world->api_store.forgets = false;
    struct answer again = ask_with(world, "POST /jobs/a/run", KEY, NULL);
    assert_int_equal(again.status, 202);
    assert_int_equal(count_runs(world), 1);
    answer_release(&again);
    answer_release(&lost);
}

static void test_repeat_of_what_was_refused(void **state)
{
    struct world *world = *state;
    struct answer first = ask_with(world, "POST /jobs/a/run", KEY, NULL);
    assert_int_equal(first.status, 404);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    struct answer again = ask_with(world, "POST /jobs/a/run", KEY, NULL);
    assert_int_equal(again.status, 404); /* the same answer: a new try has a new key */
    answer_release(&again);
    answer_release(&first);
}

static void test_key_of_another_request(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    EXPECT_STATUS(world, 201, "PUT /jobs/b", JOB);
    static const struct {
        int line;
        const char *request, *headers, *body;
        int status;
    } cases[] = {
        {__LINE__, "POST /jobs/a/skip-next", KEY, "{\"count\":1}", 200},
        {__LINE__, "POST /jobs/a/skip-next", KEY, "{\"count\":2}", 422},
        {__LINE__, "POST /jobs/b/skip-next", KEY, "{\"count\":2}", 200}, /* another path */
        {__LINE__, "POST /jobs/a/pause", "Idempotency-Key: \r\n", NULL, 422},
        {__LINE__, "POST /jobs/a/pause", "Idempotency-Key: a b\r\n", NULL, 422},
        {__LINE__, "GET /jobs/a", "Idempotency-Key: a b\r\n", NULL, 200}, /* not looked at */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_with(world, cases[i].request, cases[i].headers, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

static void test_keys_of_others(void **state)
{
    struct world *world = *state;
    put_many_at_once(world);
    static const char *const who[] = {"operator", "definer", "admin"};
    for (size_t i = 0; i < 3; i++) {
        char headers[128];
        snprintf(headers, sizeof(headers), "Host: localhost\r\nAuthorization: Bearer %s\r\n" KEY,
                 who[i]);
        struct answer answer = ask_tcp(world, "POST /jobs/a/run", headers, NULL);
        assert_int_equal(answer.status, 202);
        answer_release(&answer);
    }
    assert_int_equal(count_runs(world), 3);
}

static void test_repeat_while_under_way(void **state)
{
    struct world *world = *state;
    static const char request[] =
        "POST /api/v1/jobs/a/run HTTP/1.1\r\nHost: peal\r\n" KEY "Connection: close\r\n\r\n";
    int status = 409;
    put_many_at_once(world);
    world_hold(world);
    struct client *first = client_connect(world);
    client_send(first, request, sizeof(request) - 1);
    struct answer again = ask_with(world, "POST /jobs/a/run", KEY, NULL);
    assert_int_equal(again.status, 409);
    answer_release(&again);
    client_free(first); /* goes away: it is done all the same */
    world_release(world);
    while (status == 409) {
        again = ask_with(world, "POST /jobs/a/run", KEY, NULL);
        status = again.status;
        answer_release(&again);
    }
    assert_int_equal(status, 202);
    assert_int_equal(count_runs(world), 1);
}

/* The table has an end. */
static void test_many_keys(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    for (int i = 0; i < 300; i++) {
        char headers[64];
        snprintf(headers, sizeof(headers), "Idempotency-Key: key-%d\r\n", i);
        struct answer answer = ask_with(world, "POST /jobs/a/pause", headers, NULL);
        assert_int_equal(answer.status, 200);
        answer_release(&answer);
    }
}

/* ---- languages ---- */

static void test_language(void **state)
{
    struct world *world = *state;
    struct answer answer = ask_with(world, "GET /jobs/none", "Accept-Language: zh-CN\r\n", NULL);
    char *language = answer_header(&answer, "Content-Language");
    assert_string_equal(member_text(answer.body, "detail"), "没有任务“none”");
    assert_string_equal(language, "zh");
    free(language);
    answer_release(&answer);
    answer = ask_with(world, "GET /jobs?limit=0", "Accept-Language: zh\r\n", NULL);
    assert_string_equal(member_text(answer.body, "errors.0.message"),
                        "limit：应为 1 到 1000 之间的数字");
    answer_release(&answer);
    answer = ask_with(world, "GET /schedule/next?spec=x+y", "Accept-Language: zh\r\n", NULL);
    assert_string_equal(member_text(answer.body, "detail"), "应有 5 到 7 个字段，实际为 2 个");
    assert_string_equal(member_text(answer.body, "errors.0.message"),
                        "应有 5 到 7 个字段，实际为 2 个");
    assert_string_equal(member_text(answer.body, "errors.0.pointer"), "?spec");
    answer_release(&answer);
    answer = ask_with(world, "PUT /jobs/wrong", "Accept-Language: zh\r\n",
                      "{\"schedule\": \"0 25 * * *\", \"command\": [\"true\"]}");
    assert_string_equal(member_text(answer.body, "errors.0.message"),
                        "schedule：小时 25 超出范围 0-23（文本第 3 列）");
    assert_string_equal(member_text(answer.body, "errors.0.pointer"), "/schedule");
    answer_release(&answer);
    answer = ask_with(world, "GET /jobs/none", "Accept-Language: fr\r\n", NULL);
    assert_string_equal(member_text(answer.body, "detail"), "there is no job \"none\"");
    answer_release(&answer);
}

/* ---- compression ---- */

static bool is_closed(void *context)
{
    return client_is_closed(context);
}

static void test_gzip(void **state)
{
    struct world *world = *state;
    static const char request[] = "GET /api/v1/jobs?limit=100 HTTP/1.1\r\nHost: p\r\n"
                                  "Connection: close\r\nAccept-Encoding: br, gzip;q=0.5\r\n\r\n";
    for (int i = 0; i < 20; i++) {
        char line[64];
        snprintf(line, sizeof(line), "PUT /jobs/job-%d", i);
        EXPECT_STATUS(world, 201, line, JOB);
    }
    struct answer plain = ask(world, "GET /jobs?limit=100", NULL);
    struct client *client = client_connect(world);
    client_send(client, request, sizeof(request) - 1);
    world_until(world, is_closed, client);
    size_t length;
    const char *bytes = client_bytes(client, &length);
    const char *body = strstr(bytes, "\r\n\r\n") + 4;
    assert_non_null(strstr(bytes, "Content-Encoding: gzip\r\n"));
    assert_non_null(strstr(bytes, "Vary: Accept-Encoding"));
    char *text = calloc(1, 1 << 20);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)body,
                       .avail_in = (uInt)(length - (size_t)(body - bytes)),
                       .next_out = (Bytef *)text,
                       .avail_out = (1 << 20) - 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    assert_string_equal(text, plain.text);
    free(text);
    client_free(client);
    answer_release(&plain);
}

static void test_no_gzip(void **state)
{
    struct world *world = *state;
    static const char *const headers[] = {
        "",
        "Accept-Encoding: identity\r\n",
        "Accept-Encoding: gzip;q=0\r\n",
        "Accept-Encoding: x-gzip-not\r\n",
        "Accept-Encoding: gzipped\r\n",
    };
    for (int i = 0; i < 5; i++) {
        char line[64];
        snprintf(line, sizeof(line), "PUT /jobs/job-%d", i);
        EXPECT_STATUS(world, 201, line, JOB);
    }
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct answer answer = ask_with(world, "GET /jobs", headers[i], NULL);
        assert_true(strlen(answer.text) > 1024);
        if (strstr(answer.head, "Content-Encoding"))
            fail_msg("%s", headers[i]);
        answer_release(&answer);
    }
    /* Small ones are left alone. */
    struct answer answer = ask_with(world, "GET /agent", "Accept-Encoding: gzip\r\n", NULL);
    assert_null(strstr(answer.head, "Content-Encoding"));
    answer_release(&answer);
}

/* ---- request ids ---- */

static void test_request_ids(void **state)
{
    static const struct {
        int line;
        const char *header;
        const char *id; /* NULL: one of ours */
    } cases[] = {
        {__LINE__, "", NULL},
        {__LINE__, "X-Request-Id: abc-123_4.5:6/7=+\r\n", "abc-123_4.5:6/7=+"},
        {__LINE__, "X-Request-Id: two words\r\n", NULL},
        {__LINE__, "X-Request-Id: <b>\r\n", NULL},
        {__LINE__, "X-Request-Id: \r\n", NULL},
        {__LINE__,
         "X-Request-Id: 12345678901234567890123456789012345678901234567890123456789012345\r\n",
         NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_with(*state, "GET /nothing", cases[i].header, NULL);
        char *id = answer_header(&answer, "X-Request-Id");
        if (cases[i].id ? strcmp(id, cases[i].id) != 0 : strlen(id) != 26)
            fail_msg("line %d: %s", cases[i].line, id);
        assert_string_equal(member_text(answer.body, "request_id"), id);
        free(id);
        answer_release(&answer);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_not_modified),
        TEST(test_tag_of_a_job),
        TEST(test_required_condition),
        TEST(test_repeated_run),
        TEST(test_repeat_after_lost_answer),
        TEST(test_repeat_of_what_was_refused),
        TEST(test_key_of_another_request),
        TEST(test_keys_of_others),
        TEST(test_repeat_while_under_way),
        TEST(test_many_keys),
        TEST(test_language),
        TEST(test_gzip),
        TEST(test_no_gzip),
        TEST(test_request_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
