/* Calendars over the API: their way in and out, who may, which jobs name them, and what is said of
 * the ticks that they take out. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVERY_DAY "{\"weekdays\":[\"mon\",\"tue\",\"wed\",\"thu\",\"fri\",\"sat\",\"sun\"]}"

static void put_job(struct world *world, const char *name, const char *more)
{
    char line[160], body[400];
    snprintf(line, sizeof(line), "PUT /jobs/%s", name);
    snprintf(body, sizeof(body), "{\"command\":[\"true\"],\"timezone\":\"UTC\",%s}", more);
    EXPECT_STATUS(world, 201, line, body);
}

static void test_the_way_of_a_calendar(void **state)
{
    struct world *world = *state;
    json_t *made = EXPECT(world, 201, "PUT /calendars/holidays",
                          "{\"dates\":[\"2026-12-26\",\"12-25\",\"2026-12-26\"],"
                          "\"weekdays\":[\"SUN\"],\"notes\":\"Closed.\"}");
    assert_string_equal(member_text(made, "name"), "holidays");
    assert_int_equal(member_count(made, "dates"), 2);
    assert_string_equal(member_text(made, "dates.0"), "12-25");
    assert_string_equal(member_text(made, "weekdays.0"), "sun");
    assert_int_equal(member_number(made, "revision"), 1);
    assert_int_equal(member_number(made, "job_count"), 0);
    json_decref(made);
    EXPECT_STATUS(world, 201, "PUT /calendars/b", "{}");

    json_t *list = EXPECT(world, 200, "GET /calendars", NULL);
    assert_int_equal(member_count(list, "items"), 2);
    assert_string_equal(member_text(list, "items.0.name"), "b");
    json_decref(list);

    /* a dry run answers what it would be, with the revision that it has */
    json_t *dry = EXPECT(world, 200, "PUT /calendars/b?dry_run=true", "{\"dates\":[\"01-01\"]}");
    assert_string_equal(member_text(dry, "dates.0"), "01-01");
    assert_int_equal(member_number(dry, "revision"), 1);
    json_decref(dry);

    /* the same again is no change */
    json_t *same = EXPECT(world, 200, "PUT /calendars/b", "{\"dates\":[],\"name\":\"b\"}");
    assert_int_equal(member_number(same, "revision"), 1);
    json_decref(same);
    json_t *changed = EXPECT(world, 200, "PUT /calendars/b", "{\"dates\":[\"02-29\"]}");
    assert_int_equal(member_number(changed, "revision"), 2);
    json_decref(changed);

    json_t *gone = EXPECT(world, 200, "DELETE /calendars/b", NULL);
    assert_string_equal(member_text(gone, "dates.0"), "02-29");
    json_decref(gone);
    EXPECT_STATUS(world, 404, "GET /calendars/b", NULL);
    EXPECT_STATUS(world, 404, "DELETE /calendars/b", NULL);
}

static void test_conditions(void **state)
{
    struct world *world = *state;
    static const struct {
        int line, status;
        const char *request, *header, *body;
    } cases[] = {
        {__LINE__, 412, "PUT /calendars/c", "If-Match: \"1\"\r\n", "{}"},
        {__LINE__, 412, "PUT /calendars/c", "If-Match: *\r\n", "{}"},
        {__LINE__, 428, "PUT /calendars/c?require_match=true", "", "{}"},
        {__LINE__, 200, "PUT /calendars/c?dry_run=true", "If-None-Match: *\r\n", "{}"},
        {__LINE__, 404, "GET /calendars/c", "", NULL}, /* it was a dry run */
        {__LINE__, 422, "PUT /calendars/c?dry_run=true", "", "{\"dates\":[\"13-01\"]}"},
        {__LINE__, 422, "PUT /calendars/c?dry_run=yes", "", "{}"},
        {__LINE__, 201, "PUT /calendars/c", "If-None-Match: *\r\n", "{}"},
        {__LINE__, 412, "PUT /calendars/c", "If-None-Match: *\r\n", "{\"dates\":[\"01-01\"]}"},
        {__LINE__, 200, "PUT /calendars/c", "If-Match: \"1\"\r\n", "{\"dates\":[\"01-01\"]}"},
        {__LINE__, 412, "PUT /calendars/c", "If-Match: \"1\"\r\n", "{\"dates\":[\"01-02\"]}"},
        {__LINE__, 412, "PUT /calendars/c?dry_run=true", "If-Match: \"1\"\r\n", "{}"},
        {__LINE__, 200, "PUT /calendars/c?dry_run=true", "If-Match: \"2\"\r\n", "{}"},
        {__LINE__, 200, "PUT /calendars/c", "If-Match: *\r\n", "{\"dates\":[\"01-03\"]}"},
        {__LINE__, 412, "DELETE /calendars/c", "If-Match: \"1\"\r\n", NULL},
        {__LINE__, 200, "DELETE /calendars/c", "If-Match: \"3\"\r\n", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_with(world, cases[i].request, cases[i].header, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    EXPECT_STATUS(world, 201, "PUT /calendars/c", "{}");
    struct answer answer = ask(world, "GET /calendars/c", NULL);
    char *etag = answer_header(&answer, "ETag");
    assert_non_null(etag);
    assert_non_null(strstr(etag, "1"));
    free(etag);
    answer_release(&answer);
}

static void test_mistakes(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *request, *body, *pointer, *message;
    } cases[] = {
        {__LINE__, "PUT /calendars/c", "{\"date\":[]}", "/date", "did you mean \"dates\"?"},
        {__LINE__, "PUT /calendars/c", "{\"dates\":[\"12-25\",\"2026-02-30\"]}", "/dates/1",
         "day 30 is out of range 1-28"},
        {__LINE__, "PUT /calendars/c", "{\"weekdays\":[\"caturday\"]}", "/weekdays/0",
         "unknown weekday"},
        {__LINE__, "PUT /calendars/c", "{\"name\":\"d\"}", "/name", "it is to be \"c\""},
        {__LINE__, "PUT /calendars/a%2Fb", "{}", "/name", "may hold letters, digits"},
        {__LINE__, "PUT /calendars/c", "[]", "", "expected a calendar"},
        {__LINE__, "PUT /jobs/j",
         "{\"schedule\":\"@daily\",\"command\":[\"true\"],\"calendars\":[\"holidayz\"]}",
         "/calendars/0", "there is no calendar \"holidayz\"; did you mean \"holidays\"?"},
        {__LINE__, "PUT /jobs/j",
         "{\"schedule\":\"@daily\",\"command\":[\"true\"],\"calendars\":[\"x\"]}", "/calendars/0",
         "make it with `peal calendar set`"},
        {__LINE__, "POST /jobs:batch",
         "{\"put\":[{\"name\":\"j\",\"schedule\":\"@daily\",\"command\":[\"true\"],"
         "\"calendars\":[\"holidays\",\"x\"]}]}",
         "/put/0/calendars/1", "there is no calendar \"x\""},
        {__LINE__, "GET /schedule/next?spec=@daily&calendars=holidays,x", NULL, "?calendars",
         "there is no calendar \"x\""},
    };
    EXPECT_STATUS(world, 201, "PUT /calendars/holidays", "{}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, cases[i].request, cases[i].body);
        if (answer.status != 422 ||
            strcmp(member_text(answer.body, "errors.0.pointer"), cases[i].pointer) != 0 ||
            !strstr(member_text(answer.body, "errors.0.message"), cases[i].message))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

static void test_one_that_is_in_use_stays(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /calendars/holidays", "{\"dates\":[\"12-25\"]}");
    for (char name[] = "a"; *name <= 'g'; (*name)++)
        put_job(world, name, "\"schedule\":\"@daily\",\"calendars\":[\"holidays\"]");
    json_t *problem = EXPECT(world, 409, "DELETE /calendars/holidays", NULL);
    assert_int_equal(member_number(problem, "job_count"), 7);
    assert_int_equal(member_count(problem, "jobs"), 5);
    assert_non_null(strstr(member_text(problem, "detail"), "and 2 more jobs"));
    json_decref(problem);
    struct answer answer =
        ask_with(world, "DELETE /calendars/holidays", "Accept-Language: zh\r\n", NULL);
    assert_non_null(strstr(member_text(answer.body, "detail"), "以及另外 2 个任务使用"));
    answer_release(&answer);
    for (char line[] = "DELETE /jobs/a"; line[13] <= 'g'; line[13]++)
        EXPECT_STATUS(world, 200, line, NULL);
    EXPECT_STATUS(world, 200, "DELETE /calendars/holidays", NULL);

    /* one that comes back goes without it, and says so */
    EXPECT_STATUS(world, 200, "POST /jobs/a/undelete", NULL);
    json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_non_null(strstr(member_text(job, "status.warning.detail"), "calendar \"holidays\""));
    json_decref(job);
    json_t *why = EXPECT(world, 200, "GET /jobs/a/why", NULL);
    assert_non_null(strstr(member_text(why, "next.text"), "that is not there"));
    json_decref(why);
}

static void test_who_may(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *who, *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "editor", "PUT /calendars/c", "{}", 201},
        {__LINE__, "viewer", "GET /calendars/c", NULL, 200},
        {__LINE__, "team-viewer", "GET /calendars", NULL, 200},
        {__LINE__, "viewer", "PUT /calendars/c", "{}", 403},
        {__LINE__, "operator", "PUT /calendars/c", "{}", 403},
        {__LINE__, "team-editor", "PUT /calendars/c", "{}", 403},
        {__LINE__, "team-editor", "DELETE /calendars/c", NULL, 403},
        {__LINE__, "editor", "DELETE /calendars/c", NULL, 200},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char headers[100];
        snprintf(headers, sizeof(headers), "Host: localhost\r\nAuthorization: Bearer %s\r\n",
                 cases[i].who);
        struct answer answer = ask_tcp(world, cases[i].request, headers, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

/* Of the jobs that name it, others are told of those alone that they may see. */
static void test_jobs_of_other_namespaces_are_hidden(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /calendars/c", "{}");
    put_job(world, "team%2Fa", "\"schedule\":\"@daily\",\"calendars\":[\"c\"]");
    put_job(world, "other%2Fb", "\"schedule\":\"@daily\",\"calendars\":[\"c\"]");
    struct answer answer =
        ask_tcp(world, "GET /calendars/c",
                "Host: localhost\r\nAuthorization: Bearer team-viewer\r\n", NULL);
    assert_int_equal(member_number(answer.body, "job_count"), 1);
    assert_string_equal(member_text(answer.body, "jobs.0"), "team/a");
    answer_release(&answer);
}

static void test_what_comes_next(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /calendars/weekends", "{\"weekdays\":[\"sat\",\"sun\"]}");
    EXPECT_STATUS(world, 201, "PUT /calendars/summer", "{\"dates\":[\"2096-06-04/2096-06-06\"]}");
    /* 2096-06-01 is a Friday */
    put_job(world, "j",
            "\"schedule\":\"0 9 * * *\",\"start\":\"2096-06-01T00:00:00Z\","
            "\"calendars\":[\"weekends\",\"summer\"]");
    json_t *job = EXPECT(world, 200, "GET /jobs/j", NULL);
    assert_string_equal(member_text(job, "status.next_at"), "2096-06-01T09:00:00.000Z");
    json_decref(job);
    json_t *next = EXPECT(world, 200, "GET /jobs/j/next?n=3", NULL);
    assert_string_equal(member_text(next, "fires.1.at"), "2096-06-07T09:00:00.000Z");
    assert_string_equal(member_text(next, "fires.2.at"), "2096-06-08T09:00:00.000Z");
    assert_int_equal(member_count(next, "left_out"), 2);
    assert_string_equal(member_text(next, "left_out.0.at"), "2096-06-02T09:00:00.000Z");
    assert_string_equal(member_text(next, "left_out.0.calendar"), "weekends");
    assert_string_equal(member_text(next, "left_out.1.at"), "2096-06-04T09:00:00.000Z");
    assert_string_equal(member_text(next, "left_out.1.calendar"), "summer");
    json_decref(next);
    next = EXPECT(world, 200,
                  "GET /schedule/next?spec=0+9+*+*+*&tz=UTC&from=2096-06-01&n=2&calendars=weekends",
                  NULL);
    assert_string_equal(member_text(next, "fires.1.at"), "2096-06-04T09:00:00.000Z");
    assert_int_equal(member_count(next, "left_out"), 1);
    json_decref(next);

    json_t *why = EXPECT(world, 200, "GET /jobs/j/why?tick=2096-06-02T09:00:00Z", NULL);
    assert_string_equal(member_text(why, "state"), "upcoming");
    assert_string_equal(member_text(why, "reason"), "calendar");
    assert_non_null(strstr(member_text(why, "text"), "on the calendar \"weekends\""));
    json_decref(why);

    /* what is skipped is what would have run */
    json_t *skipped = EXPECT(world, 200, "POST /jobs/j/skip-next", "{\"count\":2}");
    assert_string_equal(member_text(skipped, "skipped.1"), "2096-06-07T09:00:00.000Z");
    json_decref(skipped);
    job = EXPECT(world, 200, "GET /jobs/j", NULL);
    assert_string_equal(member_text(job, "status.next_at"), "2096-06-08T09:00:00.000Z");
    json_decref(job);
}

/* Windows as they come back, what they take out, and who says so. */
static void test_windows(void **state)
{
    struct world *world = *state;
    json_t *calendar = EXPECT(world, 201, "PUT /calendars/office",
                              "{\"windows\":[\"mon-fri 09:00-17:30\",\"2096-06-02 12:00-24:00\"],"
                              "\"timezone\":\"Europe/Berlin\"}");
    assert_string_equal(member_text(calendar, "windows.0"), "mon-fri 09:00-17:30");
    assert_string_equal(member_text(calendar, "timezone"), "Europe/Berlin");
    json_decref(calendar);
    /* 2096-06-01 is a Friday; 09:00 in Berlin is 07:00 UTC */
    put_job(world, "j",
            "\"schedule\":\"0 */3 * * *\",\"start\":\"2096-06-01T00:00:00Z\","
            "\"calendars\":[\"office\"]");
    json_t *next = EXPECT(world, 200, "GET /jobs/j/next?n=6", NULL);
    assert_string_equal(member_text(next, "fires.2.at"), "2096-06-01T06:00:00.000Z");
    assert_string_equal(member_text(next, "fires.3.at"), "2096-06-01T18:00:00.000Z");
    assert_string_equal(member_text(next, "left_out.0.at"), "2096-06-01T09:00:00.000Z");
    assert_string_equal(member_text(next, "left_out.0.window"), "mon-fri 09:00-17:30");
    json_decref(next);
    json_t *why = EXPECT(world, 200, "GET /jobs/j/why?tick=2096-06-02T12:00:00Z", NULL);
    assert_string_equal(member_text(why, "reason"), "calendar");
    assert_non_null(strstr(member_text(why, "text"),
                           "in the window \"2096-06-02 12:00-24:00\" of the calendar \"office\""));
    json_decref(why);
    json_t *seen = EXPECT(
        world, 200,
        "GET /calendars/office/preview?from=2096-06-01T00:00:00Z&to=2096-06-04T00:00:00Z", NULL);
    assert_int_equal(member_count(seen, "days"), 0);
    assert_int_equal(member_count(seen, "windows"), 2);
    assert_string_equal(member_text(seen, "windows.0.from"), "2096-06-01T09:00:00+02:00");
    assert_string_equal(member_text(seen, "windows.0.to"), "2096-06-01T17:30:00+02:00");
    assert_string_equal(member_text(seen, "windows.1.window"), "2096-06-02 12:00-24:00");
    assert_int_equal(member_number(seen, "jobs.0.skipped"), 3 + 4);
    assert_string_equal(member_text(seen, "jobs.0.days.0.day"), "2096-06-01");
    assert_int_equal(member_number(seen, "jobs.0.days.0.skipped"), 3);
    json_decref(seen);

    static const struct {
        int line;
        const char *body, *pointer;
    } wrong[] = {
        {__LINE__, "{\"windows\":[\"09:00-17:30\",\"9-17\"]}", "/windows/1"},
        {__LINE__, "{\"windows\":\"09:00-17:30\"}", "/windows"},
        {__LINE__, "{\"timezone\":\"Mars/X\"}", "/timezone"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        json_t *problem = EXPECT(world, 422, "PUT /calendars/office", wrong[i].body);
        const char *pointer = member_text(problem, "errors.0.pointer");
        if (!pointer || strcmp(pointer, wrong[i].pointer) != 0)
            fail_msg("line %d: %s", wrong[i].line, pointer ? pointer : "no pointer");
        json_decref(problem);
    }
}

/* An @after has no ticks in the past, whatever the zone; the cron beside it has. */
static void test_backfill_beside_after(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /calendars/day", "{\"dates\":[\"2020-01-02\"]}");
    EXPECT_STATUS(world, 201, "PUT /jobs/j",
                  "{\"schedules\":[\"0 9 * * *\",\"@after 1h\"],\"command\":[\"true\"],"
                  "\"timezone\":\"America/New_York\",\"calendars\":[\"day\"]}");
    json_t *fill = EXPECT(world, 200, "POST /jobs/j/backfill",
                          "{\"from\":\"2020-01-01\",\"to\":\"2020-01-04\",\"dry_run\":true}");
    assert_int_equal(member_number(fill, "ticks"), 2);
    assert_string_equal(member_text(fill, "left_out.0.calendar"), "day");
    json_decref(fill);
}

/* A job that never may: no next tick, and a timeline without it. */
static void test_every_day_is_out(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /calendars/never", EVERY_DAY);
    put_job(world, "j", "\"schedule\":\"* * * * *\",\"calendars\":[\"never\"]");
    json_t *job = EXPECT(world, 200, "GET /jobs/j", NULL);
    assert_true(json_is_null(member(job, "status.next_at")));
    json_decref(job);
    json_t *next = EXPECT(world, 200, "GET /jobs/j/next", NULL);
    assert_int_equal(member_count(next, "fires"), 0);
    assert_int_equal(member_count(next, "left_out"), 1);
    json_decref(next);
    json_t *line = EXPECT(world, 200, "GET /timeline", NULL);
    assert_int_equal(member_count(line, "ticks"), 0);
    json_decref(line);
    json_t *fill = EXPECT(world, 200, "POST /jobs/j/backfill",
                          "{\"from\":\"2020-01-01\",\"to\":\"2020-01-02\"}");
    assert_int_equal(member_number(fill, "ticks"), 0);
    assert_string_equal(member_text(fill, "left_out.0.calendar"), "never");
    json_decref(fill);
    EXPECT_STATUS(world, 202, "POST /jobs/j/run", NULL);

    /* once it changes, so does what was said */
    EXPECT_STATUS(world, 200, "PUT /calendars/never", "{}");
    job = EXPECT(world, 200, "GET /jobs/j", NULL);
    assert_true(json_is_string(member(job, "status.next_at")));
    json_decref(job);
}

static void test_it_is_on_record_and_told(void **state)
{
    struct world *world = *state;
    struct client *client = client_connect(world);
    static const char request[] = "GET /api/v1/events?topics=calendars HTTP/1.1\r\nHost: x\r\n\r\n";
    client_send(client, request, strlen(request));
    client_wait_for(world, client, "event: hello");
    EXPECT_STATUS(world, 201, "PUT /calendars/c", "{\"dates\":[\"12-25\"]}");
    client_wait_for(
        world, client,
        "event: calendar\ndata: {\"calendar\":\"c\",\"revision\":1,\"change\":\"put\"}");
    EXPECT_STATUS(world, 200, "DELETE /calendars/c", NULL);
    client_wait_for(world, client, "\"change\":\"deleted\"}");
    client_free(client);

    json_t *audit = EXPECT(world, 200, "GET /audit?action=calendar_create,calendar_delete", NULL);
    assert_int_equal(member_count(audit, "items"), 2);
    assert_string_equal(member_text(audit, "items.1.action"), "calendar_create");
    assert_string_equal(member_text(audit, "items.1.target.kind"), "calendar");
    assert_string_equal(member_text(audit, "items.1.target.name"), "c");
    assert_string_equal(member_text(audit, "items.1.after.dates.0"), "12-25");
    assert_string_equal(member_text(audit, "items.0.before.dates.0"), "12-25");
    assert_true(json_is_null(member(audit, "items.0.after")));
    json_decref(audit);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_way_of_a_calendar),
        TEST(test_conditions),
        TEST(test_mistakes),
        TEST(test_one_that_is_in_use_stays),
        TEST(test_who_may),
        TEST(test_jobs_of_other_namespaces_are_hidden),
        TEST(test_what_comes_next),
        TEST(test_windows),
        TEST(test_backfill_beside_after),
        TEST(test_every_day_is_out),
        TEST(test_it_is_on_record_and_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
