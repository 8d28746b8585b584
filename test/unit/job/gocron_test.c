/* Listings of gocron: what becomes of each field, of names, of parents and children; and what is
 * said of everything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "foreign/gocron.h"

static struct zone_db *zones;

static int open_zones(void **state)
{
    (void)state;
    return zone_db_new(NULL, &zones) == OK ? 0 : -1;
}

static int close_zones(void **state)
{
    (void)state;
    zones = zone_db_free(zones);
    return 0;
}

/* The jobs as JSON and the notes, a line each; or what is wrong with the listing. */
static void show_import(const char *text, const char *prefix, struct strbuf *got)
{
    struct foreign foreign;
    struct parse_error err = {0};
    const struct foreign_options options = {.prefix = prefix, .default_tz = "UTC"};
    foreign_init(&foreign);
    enum status st = gocron_import(text, strlen(text), &options, zones, &foreign, &err);
    if (st != OK)
        strbuf_addf(got, "%d:%d %s\n", err.line, err.column, err.message);
    for (size_t i = 0; i < foreign.jobs.count && st == OK; i++) {
        char *job = job_encode_definition(foreign.jobs.items[i]);
        strbuf_addf(got, "%s\n", job);
        free(job);
    }
    for (size_t i = 0; i < foreign.note_count && st == OK; i++) {
        const struct foreign_note *note = &foreign.notes[i];
        strbuf_addf(got, "%s %s:%s %s\n", foreign_severity_name(note->severity), note->id,
                    note->name, note->text);
    }
    if (st == OK && foreign.lost)
        strbuf_addf(got, "lost %zu\n", foreign.lost);
    foreign_release(&foreign);
}

#define SHELL(id, name) "{\"id\":" id ",\"name\":\"" name "\",\"protocol\":2,\"command\":\"x\","
#define DAILY           "\"spec\":\"@daily\""
#define JOB(name)                                                                                  \
    "{\"name\":\"" name "\",\"schedule\":\"@daily\",\"timezone\":\"UTC\",\"shell\":\"x\","
#define AS_GOCRON "\"overlap\":\"allow\",\"catch_up\":\"skip\""
#define HTTP      "{\"name\":\"h\",\"schedule\":\"@daily\",\"timezone\":\"UTC\",\"http\":{"
#define CALLS                                                                                      \
    "info : HTTP calls reach public addresses alone, and those that http_allow of a node's "       \
    "configuration lists\n"

static const struct {
    int line;
    const char *prefix;
    const char *text, *want;
} imports[] = {
    /* The three forms. */
    {__LINE__, NULL, "[]", ""},
    {__LINE__, NULL, "{\"code\":0,\"message\":\"\",\"data\":{\"total\":0,\"data\":[]}}", ""},
    {__LINE__, NULL, "[" SHELL("1", "a") DAILY "}]", JOB("a") AS_GOCRON "}\n"},
    {__LINE__, NULL, "{\"data\":[" SHELL("1", "a") DAILY "}]}", JOB("a") AS_GOCRON "}\n"},
    {__LINE__, NULL,
     "{\"code\":0,\"message\":\"ok\",\"data\":{\"total\":1,\"data\":[" SHELL("1", "a") DAILY "}]}}",
     JOB("a") AS_GOCRON "}\n"},
    {__LINE__, "old/", "[" SHELL("1", "a") DAILY "}]", JOB("old/a") AS_GOCRON "}\n"},
    {__LINE__, NULL, "{\"data\":{\"total\":21,\"data\":[" SHELL("1", "a") DAILY "}]}}",
     JOB("a") AS_GOCRON
     "}\n"
     "error : the listing has 1 of 21 tasks; ask gocron for the others as well, with "
     "/api/task?page_size=1000\nlost 20\n"},
    /* What is no listing. */
    {__LINE__, NULL, "", "1:1 the file is empty\n"},
    {__LINE__, NULL, "<html>\n",
     "1:1 expected gocron's listing of tasks, the answer of GET /api/task, found a text\n"},
    {__LINE__, NULL, "{\"code\":0,\"data\":null}",
     "1:18 expected gocron's listing of tasks, the answer of GET /api/task, found nothing\n"},
    {__LINE__, NULL, "{\"code\":401,\n\"message\":\"认证失败\"}",
     "1:9 this is gocron's answer to a call that failed: code 401, \"认证失败\"\n"},
    {__LINE__, NULL, "[\n1]", "2:1 expected a task of gocron: a map with id, name and command\n"},
    {__LINE__, NULL, "[" SHELL("1", "a") DAILY "},\n {\"name\":\"b\"}]",
     "2:2 expected a task of gocron: a map with id, name and command\n"},
    {__LINE__, NULL, "[]\n---\n[]", "3:1 there is a second document here; one is expected\n"},
    /* Fields that are not what they should be lose their task alone. */
    {__LINE__, NULL,
     "[" SHELL("\"x\"", "a") DAILY "},{\"id\":2,\"name\":\"b\",\"command\":\"x\"}," SHELL("3", "c")
         DAILY ",\"timeout\":-1}," SHELL("4", "d") "\"spec\":[]}," SHELL("5", "e") DAILY
     ",\"multi\":{}}," SHELL("6", "ok") DAILY "}," SHELL("6", "ok") DAILY "}," SHELL(
         "7", "g") "\"spec\":\"0 61 * * * *\"},{\"id\":8,\"name\":\"i\",\"protocol\":1,"
                   "\"command\":\"ftp://x\"," DAILY "}," SHELL("9", "j") DAILY ",\"level\":3}]",
     JOB("ok") AS_GOCRON
     "}\n"
     "error x:a id: expected a number, found a text\n"
     "error 2:b protocol is missing: 1 is HTTP, 2 is a shell command\n"
     "error 3:c timeout: -1 is out of range\n"
     "error 4:d spec: expected a text, found a list\n"
     "error 5:e multi: expected a number, found a map\n"
     "error 6:ok is in the listing twice; this one is left out\n"
     "error 7:g schedule: minute 61 is out of range 0-59 (at column 3 of the text)\n"
     "error 8:i http.url: \"ftp://x\" is not a URL that begins with http:// or https://\n"
     "error 9:j level: 3 is out of range\nlost 9\n"},
    /* Time limits, overlap, tag, remark, status, other fields. */
    {__LINE__, NULL,
     "[" SHELL("1", "a") DAILY
     ",\"timeout\":90,\"multi\":0,\"tag\":\"运维\",\"remark\":\"r\","
     "\"status\":0,\"created\":\"2020-01-01T00:00:00Z\",\"zone\":\"\",\"weight\":5}]",
     JOB("a") "\"catch_up\":\"skip\",\"timeout\":\"1m30s\",\"paused\":true,\"labels\":{\"tag\":"
              "\"运维\"},\"notes\":\"r\"}\n"
              "warning 1:a unknown field \"weight\" is not converted\n"},
    /* HTTP: 200 alone, redirects, at most 300 s; a POST sends its query as a form. */
    {__LINE__, NULL,
     "[{\"id\":1,\"name\":\"h\",\"protocol\":1,\"command\":\"http://x/?a=${b}\",\"http_method\":1,"
     "\"timeout\":7," DAILY "}]",
     HTTP "\"url\":\"http://x/?a=$${b}\",\"status\":\"200\",\"redirects\":10}," AS_GOCRON
          ",\"timeout\":\"7s\"}\n" CALLS},
    {__LINE__, NULL,
     "[{\"id\":1,\"name\":\"h\",\"protocol\":1,\"command\":\"http://x/y?a=b&c=${d}?e\","
     "\"http_method\":2," DAILY "}]",
     HTTP "\"url\":\"http://x/y\",\"method\":\"POST\",\"headers\":{\"Content-Type\":"
          "\"application/x-www-form-urlencoded\"},\"body\":\"a=b&c=$${d}\",\"status\":\"200\","
          "\"redirects\":10}," AS_GOCRON ",\"timeout\":\"5m\"}\n" CALLS},
    {__LINE__, NULL,
     "[{\"id\":1,\"name\":\"h\",\"protocol\":1,\"command\":\"http://x/y\",\"http_method\":2,"
     "\"timeout\":9999," DAILY "}]",
     HTTP "\"url\":\"http://x/y\",\"method\":\"POST\",\"headers\":{\"Content-Type\":"
          "\"application/x-www-form-urlencoded\"},\"status\":\"200\",\"redirects\":10}," AS_GOCRON
          ",\"timeout\":\"5m\"}\n" CALLS},
    /* Retries: as they are, or growing. */
    {__LINE__, NULL, "[" SHELL("1", "a") DAILY ",\"retry_times\":4,\"retry_interval\":30}]",
     JOB("a") AS_GOCRON ",\"retries\":{\"count\":4,\"wait\":\"30s\"}}\n"},
    {__LINE__, NULL, "[" SHELL("1", "a") DAILY ",\"retry_times\":1}]",
     JOB("a") AS_GOCRON ",\"retries\":{\"count\":1,\"wait\":\"1m\"}}\n"},
    {__LINE__, NULL, "[" SHELL("1", "a") DAILY ",\"retry_times\":3,\"retry_interval\":0}]",
     JOB("a") AS_GOCRON ",\"retries\":{\"count\":3,\"wait\":\"1m\",\"backoff\":\"exponential\","
                        "\"max_wait\":\"3m\"}}\n"},
    {__LINE__, NULL, "[" SHELL("1", "a") DAILY ",\"retry_times\":4}]",
     JOB("a") AS_GOCRON
     ",\"retries\":{\"count\":4,\"wait\":\"1m\",\"backoff\":\"exponential\","
     "\"max_wait\":\"4m\"}}\n"
     "info 1:a gocron waits 1 to 4 minutes between its attempts, a minute more each time; here "
     "each wait is twice the one before, up to 4 minutes\n"},
    /* Notifications and hosts are told of. */
    {__LINE__, NULL,
     "[" SHELL("1", "a") DAILY ",\"notify_status\":1,\"notify_type\":1},\n" SHELL("2", "b") DAILY
     ",\"notify_status\":2,\"notify_type\":2},\n" SHELL("3", "c") DAILY
     ",\"notify_status\":3,\"notify_type\":3,\"notify_keyword\":\"bad\"}]",
     JOB("a") AS_GOCRON "}\n" JOB("b") AS_GOCRON "}\n" JOB("c") AS_GOCRON
     "}\n"
     "warning 1:a gocron tells of failures by mail: make a channel with `peal channel set`, and "
     "name it in the job's notify\n"
     "warning 2:b gocron tells of every end by Slack: make a channel with `peal channel set`, and "
     "name it in the job's notify, on failure and success\n"
     "warning 3:c gocron tells by a webhook of an output that holds \"bad\"; peal has no such "
     "event: let the command fail then, and name a channel in the job's notify\n"},
    {__LINE__, NULL,
     "[" SHELL("1", "a") DAILY ",\"hosts\":[]},\n" SHELL("2", "b") DAILY
     ",\"remark\":\"r\",\"hosts\":[{\"host_id\":1,\"name\":\"10.0.0.5\",\"port\":5921,"
     "\"alias\":\"db\"}]},\n" SHELL("3", "c") DAILY
     ",\"hosts\":[{\"name\":\"w1\",\"port\":1},"
     "{\"name\":\"w2\",\"port\":1,\"alias\":\"\"}]}]",
     JOB("a") AS_GOCRON "}\n" JOB("b") AS_GOCRON
     ",\"notes\":\"r\\nHosts in gocron: db (10.0.0.5:5921)\"}\n" JOB("c") AS_GOCRON
     ",\"notes\":\"Hosts in gocron: w1, w2\"}\n"
     "warning 1:a has no hosts, so that gocron runs it nowhere; here it runs on one of the nodes\n"
     "warning 2:b gocron runs it on the host db (10.0.0.5:5921), peal on any of its nodes: give "
     "that node a label, and name it in the job's where\n"
     "warning 3:c gocron runs it on each of 2 hosts (w1, w2), peal on one of its nodes: give "
     "those nodes a label, name it in the job's where, and set spread: all\n"},
    /* Names: by id, whatever the order of the listing is. */
    {__LINE__, NULL,
     "[" SHELL("9", "备 份") DAILY "},\n" SHELL("8", "备 份") DAILY "},\n" SHELL("7", "!?") DAILY
     "},\n" SHELL("6", "a/b") DAILY "}]",
     JOB("a-b") AS_GOCRON "}\n" JOB("task-7") AS_GOCRON "}\n" JOB("备-份") AS_GOCRON
     "}\n" JOB("备-份-9") AS_GOCRON "}\n"
                                    "info 9:备 份 the job is named \"备-份-9\"\n"
                                    "info 8:备 份 the job is named \"备-份\"\n"
                                    "info 7:!? the job is named \"task-7\"\n"
                                    "info 6:a/b the job is named \"a-b\"\n"},
    /* Children: after success, after any end, after each of several; grandchildren do not run. */
    {__LINE__, NULL,
     "[" SHELL("1", "p") DAILY ",\"level\":1,\"dependency_task_id\":\"3, 4\","
                               "\"dependency_status\":1},\n" SHELL("2", "q") DAILY
     ",\"dependency_task_id\":\"4\","
     "\"dependency_status\":2},\n" SHELL("3", "c") "\"level\":2,\"spec\":\"\","
                                                   "\"dependency_task_id\":\"4\"},\n" SHELL(
                                                       "4", "d") "\"level\":2}]",
     JOB("p") AS_GOCRON "}\n" JOB("q") AS_GOCRON
     "}\n"
     "{\"name\":\"c\",\"after\":[{\"job\":\"p\"}],\"shell\":\"x\","
     "\"overlap\":\"allow\"}\n"
     "{\"name\":\"d\",\"after\":[{\"job\":\"p\"}],\"shell\":\"x\","
     "\"overlap\":\"allow\"}\n"
     "{\"name\":\"d-after-2\",\"after\":[{\"job\":\"q\",\"on\":\"always\"}],"
     "\"shell\":\"x\",\"overlap\":\"allow\"}\n"
     "info 4:d runs after each of 2 tasks: there is a job for each of them\n"},
    {__LINE__, NULL,
     "[" SHELL("1", "p") "\"spec\":\"nonsense\",\"dependency_task_id\":\"2\"},\n" SHELL(
         "2", "c") "\"level\":2,\"status\":0},\n" SHELL("3", "q") DAILY
     ",\"dependency_task_id\":\"1,77,zz\"}]",
     JOB("q") AS_GOCRON
     "}\n"
     "{\"name\":\"c\",\"schedule\":\"@manual\",\"timezone\":\"UTC\",\"shell\":\"x\"," AS_GOCRON
     ",\"paused\":true}\n"
     "error 1:p schedule: expected 5 to 7 fields, found 1 (at column 9 of the text)\n"
     "warning 2:c a child task that no task of this listing starts: its job runs on request alone "
     "(@manual)\n"
     "warning 2:c its parent, task 1, could not be imported\n"
     "warning 2:c gocron runs a child task also if it is disabled; the job is paused: resume it if "
     "it is to run\n"
     "warning 3:q its child task \"77\" is not in this listing\n"
     "warning 3:q its child task \"zz\" is not in this listing\n"
     "warning 3:q task 1 is no child task: gocron does not run it after this one, and neither does "
     "peal\nlost 1\n"},
};

static void imports_listings(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        show_import(imports[i].text, imports[i].prefix, &got);
        if (strcmp(got.text, imports[i].want) != 0) {
            print_error("line %d:\ngot  %swant %s", imports[i].line, got.text, imports[i].want);
            failed++;
        }
        strbuf_release(&got);
    }
    assert_int_equal(failed, 0);
}

static void converts_schedules(void **state)
{
    static const struct {
        int line;
        const char *theirs, *ours;
    } cases[] = {
        {__LINE__, "0 30 2 * * *", "0 30 2 * * *"},
        {__LINE__, "0 30 2 * * ?", "0 30 2 * * *"},
        {__LINE__, "  ?\t?/5  * 1,15 JAN-mar MON ", "* */5 * 1,15 JAN-mar MON"},
        {__LINE__, "0 */5 * * *", "0 */5 * * * *"}, /* second first, no day of the week */
        {__LINE__, "@daily", "@daily"},
        {__LINE__, "@every 90s", "@every 90s"},
        {__LINE__, "@every 1h30m", "@every 1h30m"},
        {__LINE__, "@every 1.5h", "@every 1h30m"},
        {__LINE__, "@every 30m1h", "@every 1h30m"}, /* Go's order is any */
        {__LINE__, "@every 90m500ms", "@every 1h30m"},
        {__LINE__, "@every 1500ms", "@every 1s"},
        {__LINE__, "@every 300ms", "@every 0s"}, /* refused: 1 s is the least */
        {__LINE__, "@every soon", "@every soon"},
        {__LINE__, "@every 1d", "@every 1d"}, /* none in Go: it can't be in a listing */
        {__LINE__, "@every ", "@every "},
        {__LINE__, "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        gocron_schedule(cases[i].theirs, &got);
        if (strcmp(got.text, cases[i].ours) != 0)
            fail_msg("line %d: \"%s\", not \"%s\"", cases[i].line, got.text, cases[i].ours);
        strbuf_release(&got);
    }
}

/* ---- made inputs ---- */

static uint64_t random_state;

static size_t below(size_t limit)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(random_state >> 33) % limit;
}

static uint64_t seed(void)
{
    const char *given = getenv("PEAL_SEED");
    uint64_t value = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    print_message("PEAL_SEED=%llu\n", (unsigned long long)value);
    return value;
}

static void add_free_text(struct strbuf *out)
{
    static const char *const bits[] = {
        "a", "B",   "7", "备份", "é", "e\\u0301", " ",       "-",       "/", "//", ".",
        "_", "\\n", "(", "\\\"", "%", "😀",        "\\u200b", "\\u3164", "ʼ", "한", "\\u0000"};
    for (size_t i = below(30); i > 0; i--)
        strbuf_adds(out, bits[below(sizeof(bits) / sizeof(bits[0]) - 1)]);
}

/* A listing of up to 40 tasks with names of any letters, many of them the same, and links between
 * them. */
static void make_listing(struct strbuf *out)
{
    size_t count = below(40);
    strbuf_addc(out, '[');
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(out, "%s{\"id\":%zu,\"name\":\"", i ? "," : "", count - i);
        if (below(2))
            add_free_text(out);
        else
            strbuf_adds(out, below(2) ? "same" : "same-3");
        strbuf_addf(out,
                    "\",\"level\":%zu,\"spec\":\"@daily\",\"protocol\":2,\"command\":\"x\","
                    "\"dependency_status\":%zu,\"dependency_task_id\":\"%zu,%zu\"}",
                    1 + below(2), 1 + below(2), 1 + below(count), 1 + below(count));
    }
    strbuf_addc(out, ']');
}

/* Every task has a job, with a valid name of its own, and every `after` has its job. */
static void any_names_become_valid_and_different(void **state)
{
    (void)state;
    random_state = seed();
    for (int round = 0; round < 300; round++) {
        struct strbuf text;
        struct foreign foreign;
        struct parse_error err = {0};
        const struct foreign_options options = {
            .prefix = below(2) ? "team/of/a/long/name/that/leaves/little/room/for/the/rest/" : NULL,
            .default_tz = "UTC"};
        strbuf_init(&text);
        foreign_init(&foreign);
        make_listing(&text);
        if (gocron_import(text.text, text.length, &options, zones, &foreign, &err) != OK)
            fail_msg("%d:%d %s: %s", err.line, err.column, err.message, text.text);
        assert_int_equal(foreign.lost, 0);
        for (size_t i = 0; i < foreign.jobs.count; i++) {
            const struct job *job = foreign.jobs.items[i];
            assert_null(job_name_complaint(job->name));
            size_t same = 0, upstream = 0;
            for (size_t k = 0; k < foreign.jobs.count; k++) {
                same += strcmp(foreign.jobs.items[k]->name, job->name) == 0;
                upstream +=
                    job->after_count && strcmp(foreign.jobs.items[k]->name, job->after[0].job) == 0;
            }
            if (same != 1 || (job->after_count && upstream != 1))
                fail_msg("%s: %s", job->name, text.text);
        }
        foreign_release(&foreign);
        strbuf_release(&text);
    }
}

/* Cut off, or with a letter changed: an answer, or an error with its place, never a crash. */
static void any_damage_is_told_with_its_place(void **state)
{
    (void)state;
    random_state = seed();
    for (int round = 0; round < 1000; round++) {
        struct strbuf text;
        struct foreign foreign;
        struct parse_error err = {0};
        const struct foreign_options options = {.default_tz = "UTC"};
        strbuf_init(&text);
        foreign_init(&foreign);
        make_listing(&text);
        if (below(2))
            strbuf_truncate(&text, below(text.length + 1));
        for (size_t i = below(4); i > 0 && text.length; i--)
            text.text[below(text.length)] = "{}[]\",:0a\\ \n-#&*!|>%@`"[below(23)];
        enum status st = gocron_import(text.text, text.length, &options, zones, &foreign, &err);
        if (st != OK && (st != E_INVALID || !*err.message || !err.line))
            fail_msg("%s: %d:%d %s: %s", status_text(st), err.line, err.column, err.message,
                     text.text);
        foreign_release(&foreign);
        strbuf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_listings),
        cmocka_unit_test(converts_schedules),
        cmocka_unit_test(any_names_become_valid_and_different),
        cmocka_unit_test(any_damage_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
