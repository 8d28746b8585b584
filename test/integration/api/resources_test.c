/* PATCH, small documents that two change at once, the filters and orders of lists, schedules
 * without a job, the timeline. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB "{\"schedule\":\"0 0 1 1 *\",\"timezone\":\"UTC\",\"command\":[\"true\"]}"

/* ---- PATCH ---- */

static void test_patch(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *patch;
        int status;
        const char *path, *text; /* a member of the answer; NULL: there is none */
    } cases[] = {
        {__LINE__, "{\"notes\":\"hello\"}", 200, "notes", "hello"},
        {__LINE__, "{\"labels\":{\"a\":\"1\",\"b\":\"2\"}}", 200, "labels.b", "2"},
        {__LINE__, "{\"labels\":{\"a\":null}}", 200, "labels.a", NULL},
        {__LINE__, "{}", 200, "labels.b", "2"},
        {__LINE__, "{\"notes\":null}", 200, "notes", NULL},
        {__LINE__, "{\"schedules\":[\"1 0 1 1 *\",\"2 0 1 1 *\"]}", 200, "schedules.1",
         "2 0 1 1 *"},
        {__LINE__, "{\"schedule\":\"3 0 1 1 *\"}", 200, "schedule", "3 0 1 1 *"},
        {__LINE__, "{\"shell\":\"echo hi\"}", 200, "shell", "echo hi"},
        {__LINE__, "{\"command\":[\"false\"]}", 200, "command.0", "false"},
        {__LINE__, "{\"name\":\"a\"}", 200, "name", "a"},
        {__LINE__, "{\"name\":\"b\"}", 422, "errors.0.pointer", "/name"},
        {__LINE__, "{\"schedule\":\"99 * * * *\"}", 422, "status", NULL},
        {__LINE__, "{\"command\":null}", 422, "status", NULL},
        {__LINE__, "{\"nonsense\":1}", 422, "status", NULL},
        {__LINE__, "[]", 422, "status", NULL},
        {__LINE__, "\"x\"", 422, "status", NULL},
    };
    EXPECT_STATUS(world, 404, "PATCH /jobs/a", "{\"notes\":\"x\"}");
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, "PATCH /jobs/a", cases[i].patch);
        json_t *found = member(answer.body, cases[i].path);
        if (answer.status != cases[i].status ||
            (cases[i].text &&
             (!json_is_string(found) || strcmp(json_string_value(found), cases[i].text) != 0)) ||
            (!cases[i].text && cases[i].status == 200 && found))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    struct answer old = ask_with(world, "PATCH /jobs/a", "If-Match: \"1\"\r\n", "{}");
    assert_int_equal(old.status, 412);
    answer_release(&old);
    json_t *job = EXPECT(world, 200, "PATCH /jobs/a?dry_run=true", "{\"owner\":\"me\"}");
    assert_string_equal(member_text(job, "owner"), "me");
    json_decref(job);
    job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_null(member(job, "owner"));
    json_decref(job);
}

/* Two at once: neither's change is lost. */
static void test_patches_meet(void **state)
{
    struct world *world = *state;
    static const char *const requests[] = {
        "PATCH /api/v1/jobs/a HTTP/1.1\r\nHost: p\r\nConnection: close\r\nContent-Length: 13\r\n"
        "\r\n{\"notes\":\"n\"}",
        "PATCH /api/v1/jobs/a HTTP/1.1\r\nHost: p\r\nConnection: close\r\nContent-Length: 13\r\n"
        "\r\n{\"owner\":\"o\"}",
    };
    int statuses[2];
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    ask_at_once(world, requests, 2, statuses);
    assert_int_equal(statuses[0], 200);
    assert_int_equal(statuses[1], 200);
    json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_string_equal(member_text(job, "notes"), "n");
    assert_string_equal(member_text(job, "owner"), "o");
    json_decref(job);
}

/* ---- small documents ---- */

#define CALENDAR(note) "{\"notes\":\"" note "\"}"
#define CHANNEL(note)                                                                              \
    "{\"type\":\"slack\",\"url\":\"https://example.com/h\",\"notes\":\"" note "\"}"
#define USER(role, disabled)                                                                       \
    "{\"role\":\"" role "\",\"password\":\"\",\"disabled\":" disabled ",\"generation\":1,"         \
    "\"created_ms\":1,\"changed_ms\":1}"

/* Somebody else writes between the look at a document and its write: an unconditional change is
 * made again from what is there by then, once; a conditional one is refused. */
static void test_documents_that_lose_a_race(void **state)
{
    static const struct {
        int line;
        const char *request, *headers, *body;
        int rivals;
        const char *rival;
        int status;
        const char *read, *path, *text; /* the document afterwards; NULL: it is gone */
    } cases[] = {
        {__LINE__, "PUT /calendars/a", "", CALENDAR("mine"), 1, CALENDAR("theirs"), 200,
         "GET /calendars/a", "notes", "mine"},
        {__LINE__, "PUT /calendars/a", "", CALENDAR("new"), 2, CALENDAR("theirs"), 409,
         "GET /calendars/a", "notes", "theirs"},
        {__LINE__, "PUT /calendars/a", "If-Match: \"4\"\r\n", CALENDAR("new"), 1,
         CALENDAR("others"), 412, "GET /calendars/a", "notes", "others"},
        {__LINE__, "PUT /calendars/b", "If-None-Match: *\r\n", CALENDAR("new"), 1,
         CALENDAR("others"), 412, "GET /calendars/b", "notes", "others"},
        {__LINE__, "DELETE /calendars/a", "If-Match: \"5\"\r\n", NULL, 1, CALENDAR("more"), 412,
         "GET /calendars/a", "notes", "more"},
        {__LINE__, "DELETE /calendars/a", "", NULL, 1, CALENDAR("theirs"), 200, "GET /calendars/a",
         NULL, NULL},
        {__LINE__, "DELETE /calendars/b", "", NULL, 1, NULL, 404, "GET /calendars/b", NULL, NULL},

        {__LINE__, "PUT /channels/a", "", CHANNEL("mine"), 1, CHANNEL("theirs"), 200,
         "GET /channels/a", "notes", "mine"},
        {__LINE__, "PUT /channels/a", "", CHANNEL("new"), 2, CHANNEL("theirs"), 409,
         "GET /channels/a", "notes", "theirs"},
        {__LINE__, "PUT /channels/a", "If-Match: \"4\"\r\n", CHANNEL("new"), 1, CHANNEL("others"),
         412, "GET /channels/a", "notes", "others"},
        {__LINE__, "PUT /channels/b", "If-None-Match: *\r\n", CHANNEL("new"), 1, CHANNEL("others"),
         412, "GET /channels/b", "notes", "others"},
        {__LINE__, "DELETE /channels/a", "If-Match: \"5\"\r\n", NULL, 1, CHANNEL("more"), 412,
         "GET /channels/a", "notes", "more"},
        {__LINE__, "DELETE /channels/a", "", NULL, 1, CHANNEL("theirs"), 200, "GET /channels/a",
         NULL, NULL},
        {__LINE__, "DELETE /channels/b", "", NULL, 1, NULL, 404, "GET /channels/b", NULL, NULL},

        {__LINE__, "POST /users", "", "{\"name\":\"otto\",\"role\":\"viewer\"}", 1,
         USER("viewer", "false"), 409, "GET /users/otto", "role", "viewer"},
        {__LINE__, "PATCH /users/otto", "", "{\"disabled\":true}", 1, USER("operator", "false"),
         200, "GET /users/otto", "role", "operator"},
        {__LINE__, "PATCH /users/otto", "", "{\"disabled\":false}", 2, USER("editor", "true"), 409,
         "GET /users/otto", "role", "editor"},
        {__LINE__, "DELETE /users/otto", "", NULL, 1, USER("viewer", "true"), 200,
         "GET /users/otto", NULL, NULL},

        {__LINE__, "DELETE /tokens/viewer", "", NULL, 1, NULL, 200, "DELETE /tokens/viewer", NULL,
         NULL},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world->api_store.rivals = cases[i].rivals;
        world->api_store.rival_json = cases[i].rival;
        struct answer answer = ask_with(world, cases[i].request, cases[i].headers, cases[i].body);
        assert_int_equal(world->api_store.rivals, 0);
        struct answer read = ask(world, cases[i].read, NULL);
        bool is_right = cases[i].path
                            ? read.status == 200 &&
                                  strcmp(member_text(read.body, cases[i].path), cases[i].text) == 0
                            : read.status == 404;
        if (answer.status != cases[i].status || !is_right)
            fail_msg("line %d: %d %s; %s", cases[i].line, answer.status, answer.text, read.text);
        answer_release(&answer);
        answer_release(&read);
    }
}

/* What was written is the answer, also if it is gone by then. */
static void test_one_that_is_deleted_at_once(void **state)
{
    static const char *const requests[] = {
        "PUT /api/v1/calendars/a HTTP/1.1\r\nHost: p\r\nConnection: close\r\n"
        "Content-Length: 13\r\n\r\n{\"notes\":\"n\"}",
        "DELETE /api/v1/calendars/a HTTP/1.1\r\nHost: p\r\nConnection: close\r\n\r\n",
    };
    struct world *world = *state;
    int statuses[2];
    EXPECT_STATUS(world, 201, "PUT /calendars/a", CALENDAR("first"));
    ask_at_once(world, requests, 2, statuses);
    assert_int_equal(statuses[0], 200);
    assert_int_equal(statuses[1], 200);
    EXPECT_STATUS(world, 404, "GET /calendars/a", NULL);
}

/* ---- lists ---- */

static void put_jobs(struct world *world)
{
    EXPECT_STATUS(world, 201, "PUT /jobs/a",
                  "{\"schedule\":\"0 0 1 3 *\",\"command\":[\"x\"],\"owner\":\"ann\"}");
    EXPECT_STATUS(world, 201, "PUT /jobs/b",
                  "{\"schedule\":\"* * * * *\",\"command\":[\"x\"],\"owner\":\"bob\","
                  "\"paused\":true}");
    EXPECT_STATUS(world, 201, "PUT /jobs/c", "{\"schedule\":\"@manual\",\"command\":[\"x\"]}");
    EXPECT_STATUS(world, 201, "PUT /jobs/d",
                  "{\"schedule\":\"@hourly\",\"command\":[\"x\"],\"owner\":\"ann\"}");
}

/* The names of a list, page by page, as "a,b,c". */
static void names_of(struct world *world, const char *query, char names[64])
{
    char line[512], cursor[256] = "";
    names[0] = '\0';
    do {
        snprintf(line, sizeof(line), "GET /jobs?%s%s%s", query, *cursor ? "&cursor=" : "", cursor);
        json_t *page = EXPECT(world, 200, line, NULL);
        for (size_t i = 0; i < member_count(page, "items"); i++) {
            char path[32];
            snprintf(path, sizeof(path), "items.%zu.name", i);
            size_t used = strlen(names);
            snprintf(names + used, 64 - used, "%s%s", used ? "," : "", member_text(page, path));
        }
        json_t *next = member(page, "next");
        snprintf(cursor, sizeof(cursor), "%s", json_is_string(next) ? json_string_value(next) : "");
        json_decref(page);
    } while (*cursor);
}

static void test_filters(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *query, *names;
    } cases[] = {
        {__LINE__, "", "a,b,c,d"},
        {__LINE__, "owner=ann", "a,d"},
        {__LINE__, "owner=an", ""},
        {__LINE__, "status=paused", "b"},
        {__LINE__, "status=never", "a,b,c"},
        {__LINE__, "status=ok", "d"},
        {__LINE__, "status=failed", ""},
        {__LINE__, "status=ok&owner=ann", "d"},
        {__LINE__, "sort=next", "d,a,b,c"},
        {__LINE__, "sort=next&limit=1", "d,a,b,c"},
        {__LINE__, "sort=next&limit=3", "d,a,b,c"},
        {__LINE__, "sort=last", "d,a,b,c"},
        {__LINE__, "sort=last&limit=2", "d,a,b,c"},
        {__LINE__, "sort=next&owner=ann&limit=1", "d,a"},
        {__LINE__, "sort=name&limit=1", "a,b,c,d"},
    };
    put_jobs(world);
    fake_executor_set_instant(world->executor, true);
    json_t *run = EXPECT(world, 202, "POST /jobs/d/run", NULL);
    char line[80];
    snprintf(line, sizeof(line), "GET /runs/%s", member_text(run, "run_id"));
    json_decref(run);
    for (bool ended = false; !ended;) {
        run = EXPECT(world, 200, line, NULL);
        ended = strcmp(member_text(run, "state"), "ok") == 0;
        json_decref(run);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char names[64];
        names_of(world, cases[i].query, names);
        if (strcmp(names, cases[i].names) != 0)
            fail_msg("line %d: %s", cases[i].line, names);
    }
    EXPECT_STATUS(world, 422, "GET /jobs?status=nonsense", NULL);
    EXPECT_STATUS(world, 422, "GET /jobs?sort=nonsense", NULL);
    EXPECT_STATUS(world, 422, "GET /jobs?sort=next&cursor=YQ==", NULL);
}

static void test_fields(void **state)
{
    struct world *world = *state;
    put_jobs(world);
    json_t *page = EXPECT(world, 200, "GET /jobs?fields=name,status", NULL);
    assert_int_equal(json_object_size(member(page, "items.0")), 2);
    assert_non_null(member(page, "items.0.status.next_at"));
    json_decref(page);
    page = EXPECT(world, 200, "GET /jobs?fields=labels,deleted_at,uid", NULL);
    assert_true(json_is_string(member(page, "items.0.uid")));
    json_decref(page);
    EXPECT_STATUS(world, 422, "GET /jobs?fields=name,created_ms", NULL); /* as it is stored */
}

/* ---- schedules ---- */

static void test_schedules(void **state)
{
    struct world *world = *state;
    json_t *answer = EXPECT(
        world, 200, "GET /schedule/explain?spec=30+2+*+*+SUN&tz=America/New_York&lang=en", NULL);
    assert_string_equal(member_text(answer, "timezone"), "America/New_York");
    assert_non_null(strstr(member_text(answer, "text"), "02:30"));
    assert_true(member_count(answer, "warnings") > 0); /* the clock skips it once a year */
    json_decref(answer);
    struct answer zh =
        ask_with(world, "GET /schedule/explain?spec=@hourly", "Accept-Language: zh\r\n", NULL);
    assert_non_null(strstr(member_text(zh.body, "text"), "小时"));
    answer_release(&zh);
    answer = EXPECT(world, 200,
                    "GET /schedule/next?spec=0+9+*+*+*&tz=UTC&n=2&from=2026-03-01T00:00:00Z", NULL);
    assert_string_equal(member_text(answer, "fires.0.at"), "2026-03-01T09:00:00.000Z");
    assert_string_equal(member_text(answer, "fires.1.at"), "2026-03-02T09:00:00.000Z");
    assert_int_equal(member_count(answer, "fires"), 2);
    json_decref(answer);
    answer = EXPECT(world, 200, "GET /schedule/validate?spec=0+9+*+*+*", NULL);
    assert_true(json_is_true(member(answer, "valid")));
    json_decref(answer);
    answer = EXPECT(world, 200, "GET /schedule/validate?spec=75+9+*+*+*", NULL);
    assert_true(json_is_false(member(answer, "valid")));
    assert_int_equal(member_number(answer, "column"), 1);
    json_decref(answer);
    answer = EXPECT(world, 422, "GET /schedule/explain?spec=0+99+*+*+*", NULL);
    assert_int_equal(member_number(answer, "errors.0.column"), 3);
    json_decref(answer);
    EXPECT_STATUS(world, 422, "GET /schedule/explain", NULL);
    EXPECT_STATUS(world, 422, "GET /schedule/explain?spec=@hourly&lang=fr", NULL);
    EXPECT_STATUS(world, 422, "GET /schedule/explain?spec=@hourly&tz=Mars/Base", NULL);
}

/* What is told of a schedule that is being typed is what comes of it once it is the job's. */
static void test_schedule_of_a_job(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(
        world, 201, "PUT /jobs/hashed",
        "{\"schedule\":\"H H ~ * "
        "*\",\"timezone\":\"Asia/Shanghai\",\"start\":\"2096-01-01\",\"command\":[\"true\"]}");
    json_t *due = EXPECT(world, 200, "GET /jobs/hashed/next?n=1", NULL);
    const char *local = member_text(due, "fires.0.local"); /* 2096-01-02T03:04:00+08:00 */
    json_t *answer = EXPECT(world, 200,
                            "GET /schedule/next?spec=H+H+~+*+*&tz=Asia/Shanghai&job=hashed&n=1"
                            "&start=2096-01-01",
                            NULL);
    assert_string_equal(member_text(answer, "fires.0.local"), local);
    json_decref(answer);
    char clock[6];
    snprintf(clock, sizeof(clock), "%.5s", strchr(local, 'T') + 1);
    static const char *const calls[] = {"explain", "validate"};
    for (size_t i = 0; i < 2; i++) {
        char call[128];
        snprintf(call, sizeof(call), "GET /schedule/%s?spec=H+H+~+*+*&tz=Asia/Shanghai&job=hashed",
                 calls[i]);
        answer = EXPECT(world, 200, call, NULL);
        if (!strstr(member_text(answer, "text"), clock))
            fail_msg("%s: %s, not at %s", call, member_text(answer, "text"), clock);
        json_decref(answer);
    }
    json_decref(due);
    answer = EXPECT(world, 200,
                    "GET /schedule/next?spec=30+2+*+*+*&tz=Europe/Berlin&dst=skip"
                    "&start=2096-03-24+12:00&end=2096-03-27&n=10&from=2096-01-01T00:00:00Z",
                    NULL);
    assert_int_equal(member_count(answer, "fires"), 1); /* the clock skips it on the 25th */
    assert_string_equal(member_text(answer, "fires.0.local"), "2096-03-26T02:30:00+02:00");
    json_decref(answer);
    EXPECT_STATUS(world, 422, "GET /schedule/next?spec=@daily&dst=never", NULL);
    EXPECT_STATUS(world, 422, "GET /schedule/next?spec=@daily&start=soon", NULL);
}

/* What is wrong with a job that is being typed is told beside what it says. */
static void test_decode(void **state)
{
    struct world *world = *state;
    json_t *answer = EXPECT(world, 200, "POST /jobs:decode",
                            "{\"text\":\"name: a\\nschedule: '@daily'\\ncommand: [sleep, 60, "
                            "1.10]\\numask: '022'\\n\"}");
    assert_int_equal(member_count(answer, "errors"), 0);
    assert_string_equal(member_text(answer, "definition.name"), "a");
    assert_int_equal(member_number(answer, "definition.command.1"), 60);
    assert_string_equal(member_text(answer, "definition.command.2"), "1.10");
    assert_string_equal(member_text(answer, "definition.umask"), "022");
    json_decref(answer);
    answer = EXPECT(world, 200, "POST /jobs:decode",
                    "{\"text\":\"name: a\\nschedule: 0 99 * * *\\nshell: x\\n\"}");
    assert_string_equal(member_text(answer, "definition.schedule"), "0 99 * * *");
    assert_string_equal(member_text(answer, "errors.0.pointer"), "/schedule");
    assert_int_equal(member_number(answer, "errors.0.line"), 2);
    assert_int_equal(member_number(answer, "errors.0.column"), 13);
    json_decref(answer);
    answer = EXPECT(world, 422, "POST /jobs:decode", "{\"text\":\"name: a\\n  b: [\"}");
    assert_int_equal(member_number(answer, "errors.0.line"), 2);
    json_decref(answer);
    EXPECT_STATUS(world, 422, "POST /jobs:decode", "{\"text\":\"[1, 2]\"}");
    EXPECT_STATUS(world, 422, "POST /jobs:decode", "{\"text\":\"\"}");
    EXPECT_STATUS(world, 422, "POST /jobs:decode", "{\"text\":\"{a: 1}\\n---\\n{b: 2}\\n\"}");
    EXPECT_STATUS(world, 422, "POST /jobs:decode", "{}");
    EXPECT_STATUS(world, 404, "GET /jobs/a", NULL);
}

/* A crontab that is pasted: its jobs, and what could not be converted, by line. */
static void test_import(void **state)
{
    struct world *world = *state;
    json_t *answer =
        EXPECT(world, 200, "POST /jobs:import",
               "{\"text\":\"MAILTO=ops\\n30 2 * * * /opt/backup.sh --full\\n0 99 * * * x\\n\","
               "\"timezone\":\"Europe/Berlin\"}");
    assert_int_equal(member_count(answer, "items"), 1);
    assert_string_equal(member_text(answer, "items.0.name"), "backup");
    assert_string_equal(member_text(answer, "items.0.schedule"), "30 2 * * *");
    assert_string_equal(member_text(answer, "items.0.timezone"), "Europe/Berlin");
    json_t *bad =
        json_array_get(json_object_get(answer, "notes"), member_count(answer, "notes") - 1);
    assert_string_equal(member_text(bad, "severity"), "error");
    assert_int_equal(member_number(bad, "line"), 3);
    json_decref(answer);
    answer = EXPECT(world, 200, "POST /jobs:import",
                    "{\"text\":\"@daily root /opt/backup.sh\",\"system\":true}");
    assert_string_equal(member_text(answer, "items.0.user"), "root");
    json_decref(answer);
    EXPECT_STATUS(world, 422, "POST /jobs:import", "{}");
    EXPECT_STATUS(world, 422, "POST /jobs:import", "{\"text\":\"\",\"timezone\":1}");
    EXPECT_STATUS(world, 404, "GET /jobs/backup", NULL);
}

/* ---- again ---- */

static void test_retry(void **state)
{
    struct world *world = *state;
    char line[80];
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    json_t *run = EXPECT(world, 202, "POST /jobs/a/run", NULL);
    struct id id;
    assert_int_equal(id_parse(member_text(run, "run_id"), &id), OK);
    snprintf(line, sizeof(line), "POST /runs/%s/retry", member_text(run, "run_id"));
    EXPECT_STATUS(world, 409, line, NULL);
    while (!fake_executor_end(world->executor, &id, 1))
        EXPECT_STATUS(world, 200, "GET /agent", NULL);
    json_decref(run);
    struct answer answer = {0};
    do {
        answer_release(&answer);
        answer = ask(world, line, NULL);
    } while (answer.status == 409);
    assert_int_equal(answer.status, 202);
    assert_string_not_equal(member_text(answer.body, "run_id"), strrchr(line, '/'));
    answer_release(&answer);
    EXPECT_STATUS(world, 404, "POST /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/retry", NULL);
}

/* ---- the timeline ---- */

static void test_timeline(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", "{\"schedule\":\"0 * * * *\",\"command\":[\"x\"]}");
    EXPECT_STATUS(world, 201, "PUT /jobs/b", "{\"schedule\":\"0 */2 * * *\",\"command\":[\"x\"]}");
    EXPECT_STATUS(world, 201, "PUT /jobs/p",
                  "{\"schedule\":\"0 * * * *\",\"command\":[\"x\"],\"paused\":true}");
    char line[128];
    snprintf(line, sizeof(line),
             "GET /timeline?from=2090-01-01T00:00:00Z&to=2090-01-02T00:00:00Z&herd=true");
    json_t *answer = EXPECT(world, 200, line, NULL);
    assert_int_equal(member_count(answer, "ticks"), 24 + 12);
    assert_string_equal(member_text(answer, "ticks.0.at"), "2090-01-01T00:00:00.000Z");
    assert_int_equal(member_count(answer, "herds"), 12);
    assert_int_equal(member_number(answer, "herds.0.jobs"), 2);
    assert_true(json_is_false(member(answer, "more")));
    json_decref(answer);
    answer = EXPECT(world, 200,
                    "GET /timeline?from=2090-01-01T00:00:00Z&to=2090-01-02T00:00:00Z&limit=5&job=b",
                    NULL);
    assert_int_equal(member_count(answer, "ticks"), 5);
    assert_true(json_is_true(member(answer, "more")));
    assert_null(member(answer, "herds"));
    json_decref(answer);
    EXPECT_STATUS(world, 201, "PUT /jobs/c", "{\"schedule\":\"* * * * *\",\"command\":[\"x\"]}");
    answer =
        EXPECT(world, 200,
               "GET /timeline?from=2090-01-01T00:00:00Z&to=2090-01-02T00:00:00Z&limit=60", NULL);
    assert_in_range(member_count(answer, "ticks"), 58, 60); /* 12 of b, 24 of a, the rest of c */
    assert_string_equal(member_text(answer, "ticks.58.at"), "2090-01-01T23:00:00.000Z");
    assert_int_equal(member_count(answer, "dense"), 1); /* the others of c, of 1,000 */
    assert_string_equal(member_text(answer, "dense.0.job"), "c");
    assert_int_equal(member_count(answer, "dense.0.seconds"),
                     1000 - (member_count(answer, "ticks") - 36));
    assert_int_equal(member_number(answer, "dense.0.seconds.0"), 0);
    assert_int_equal(member_number(answer, "dense.0.seconds.1"), 60);
    json_decref(answer);
    answer =
        EXPECT(world, 200,
               "GET /timeline?from=2090-01-01T00:00:00Z&to=2090-01-02T00:00:00Z&limit=1", NULL);
    assert_int_equal(member_count(answer, "dense"), 3); /* the first ticks of two jobs, too */
    assert_int_equal(member_count(answer, "dense.0.seconds") +
                         member_count(answer, "dense.1.seconds") +
                         member_count(answer, "dense.2.seconds") + 1,
                     24 + 12 + 1000);
    json_decref(answer);
    EXPECT_STATUS(world, 200, "DELETE /jobs/c", NULL);
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    answer = EXPECT(world, 200, "GET /timeline", NULL);
    assert_int_equal(member_count(answer, "runs"), 1);
    json_decref(answer);
    EXPECT_STATUS(world, 422, "GET /timeline?from=2090-01-02T00:00:00Z&to=2090-01-01T00:00:00Z",
                  NULL);
    EXPECT_STATUS(world, 422, "GET /timeline?from=2090-01-02T00:00:00Z&to=2091-01-01T00:00:00Z",
                  NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_patch),
        TEST(test_patches_meet),
        TEST(test_documents_that_lose_a_race),
        TEST(test_one_that_is_deleted_at_once),
        TEST(test_filters),
        TEST(test_fields),
        TEST(test_schedules),
        TEST(test_schedule_of_a_job),
        TEST(test_decode),
        TEST(test_import),
        TEST(test_retry),
        TEST(test_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
