/* The catalog: names that come and go, the order of a page, and the next tick of each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shelf.h"

static void names_come_and_go(void **state)
{
    struct shelf *shelf = *state;
    struct catalog *catalog = &shelf->catalog;
    struct catalog_job *a = shelf_put(shelf, 1, "a", "'@manual'", "");
    struct id uid = shelf_uid(1);
    assert_ptr_equal(catalog_by_name(catalog, "a"), a);
    assert_ptr_equal(catalog_by_uid(catalog, &uid), a);

    assert_ptr_equal(shelf_put(shelf, 1, "b", "'@manual'", ""), a); /* renamed */
    assert_null(catalog_by_name(catalog, "a"));
    assert_ptr_equal(catalog_by_name(catalog, "b"), a);
    assert_int_equal(a->revision, 2);

    shelf_delete(shelf, 1);
    assert_true(a->deleted);
    assert_null(catalog_by_name(catalog, "b"));
    assert_ptr_equal(catalog_by_uid(catalog, &uid), a);
    assert_int_equal(catalog_count(catalog), 0);

    struct catalog_job *other = shelf_put(shelf, 2, "b", "'@manual'", ""); /* the name is free */
    assert_ptr_equal(catalog_by_name(catalog, "b"), other);
    catalog_remove(catalog, a);
    assert_ptr_equal(catalog_by_name(catalog, "b"), other);
    assert_null(catalog_by_uid(catalog, &uid));
    assert_int_equal(catalog_count(catalog), 1);
}

static void a_cursor_does_not_move_back(void **state)
{
    struct shelf *shelf = *state;
    struct catalog_job *job = shelf_put(shelf, 1, "a", "'* * * * *'", "");
    job->cursor_ms = SHELF_MS + 5000;
    shelf_put(shelf, 1, "a", "'* * * * *'", "");
    assert_int_equal(job->cursor_ms, SHELF_MS + 5000);
}

static void a_broken_definition_is_kept(void **state)
{
    struct shelf *shelf = *state;
    struct parse_error error = {0};
    struct catalog_job *job = NULL;
    struct store_change change = {.job_uid = shelf_uid(1),
                                  .job_revision = 1,
                                  .job_name = "a",
                                  .job_json = "{\"of\": \"another version\"}"};
    assert_int_equal(catalog_put(&shelf->catalog, &change, shelf->zones, &job, &error), OK);
    assert_true(job->broken);
    assert_string_not_equal(error.message, "");
    assert_ptr_equal(shelf_put(shelf, 1, "a", "'* * * * *'", ""), job);
    assert_false(job->broken);
}

struct page {
    char text[64];
    size_t limit;
};

static bool add_to_page(void *context, const struct catalog_job *job)
{
    struct page *page = context;
    strncat(page->text, job->name, sizeof(page->text) - strlen(page->text) - 1);
    return --page->limit > 0;
}

static void pages_are_in_order(void **state)
{
    static const struct {
        int line;
        const char *after;
        bool with_deleted;
        size_t limit;
        const char *want;
    } cases[] = {
        {__LINE__, NULL, false, 9, "ace"}, {__LINE__, NULL, true, 9, "abce"},
        {__LINE__, NULL, true, 2, "ab"},   {__LINE__, "a", false, 9, "ce"},
        {__LINE__, "b", true, 9, "ce"},    {__LINE__, "d", true, 9, "e"},
        {__LINE__, "e", true, 9, ""},      {__LINE__, "", true, 1, "a"},
    };
    static const char *const names[] = {"e", "a", "c", "b"};
    struct shelf *shelf = *state;
    for (uint8_t i = 0; i < 4; i++)
        shelf_put(shelf, i + 1, names[i], "'@manual'", "");
    shelf_delete(shelf, 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct page page = {.limit = cases[i].limit};
        catalog_each(&shelf->catalog, cases[i].after, cases[i].with_deleted, add_to_page, &page);
        if (strcmp(page.text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, page.text);
    }
}

/* All times are after SHELF_MS; -1: never. */
static void next_of_every_kind(void **state)
{
    static const struct {
        int line;
        const char *schedule, *more;
        int64_t after_ms, last_end_ms;
        uint32_t open_runs;
        int64_t want_ms;
    } cases[] = {
        {__LINE__, "'* * * * *'", "", 0, 0, 0, 60000},
        {__LINE__, "'* * * * *'", "", 59999, 0, 0, 60000},
        {__LINE__, "'* * * * *'", "", 60000, 0, 0, 120000},
        {__LINE__, "'* * * * *'", "", 0, 0, 3, 60000},
        {__LINE__, "'@every 90s'", "", 1, 0, 0, 90000},
        {__LINE__, "'@at 2026-01-01T00:00:05Z'", "", 0, 0, 0, 5000},
        {__LINE__, "'@at 2026-01-01T00:00:05Z'", "", 5000, 0, 0, -1},
        {__LINE__, "'@after 40s'", "", 0, 0, 0, 40000},
        {__LINE__, "'@after 40s'", "", 1, 0, 0, 41000}, /* whole seconds, never too early */
        {__LINE__, "'@after 40s'", "", 0, 10500, 0, 51000},
        {__LINE__, "'@after 40s'", "", 20000, 10500, 0, 60000}, /* a tick was passed since */
        {__LINE__, "'@after 40s'", "", 0, 0, 1, -1},
        {__LINE__, "'@reboot'", "", 0, 0, 0, -1},
        {__LINE__, "'@manual'", "", 0, 0, 0, -1},
        {__LINE__, "'0 0 * * *', '@every 7s'", "", 0, 0, 0, 7000},
        {__LINE__, "'* * * * *', '@after 10s'", "", 0, 0, 0, 10000},
        {__LINE__, "'* * * * *', '@after 10s'", "", 0, 0, 1, 60000},
        {__LINE__, "'* * * * *'", "end: 2026-01-01T00:01:00Z\n", 0, 0, 0, -1},
        {__LINE__, "'* * * * *'", "start: 2026-01-01T00:10:00Z\n", 0, 0, 0, 600000},
    };
    struct shelf *shelf = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct catalog_job *job = shelf_put(shelf, 1, "a", cases[i].schedule, cases[i].more);
        job->last.ended_ms = cases[i].last_end_ms ? SHELF_MS + cases[i].last_end_ms : 0;
        job->open_runs = cases[i].open_runs;
        int64_t next_ms = catalog_job_next(job, SHELF_MS + cases[i].after_ms);
        int64_t want_ms = cases[i].want_ms < 0 ? NEVER_MS : SHELF_MS + cases[i].want_ms;
        if (next_ms != want_ms)
            fail_msg("line %d: %lld", cases[i].line, (long long)(next_ms - SHELF_MS));
        job->open_runs = 0;
    }
}

static void put_calendar(struct shelf *shelf, const char *name, const char *json)
{
    struct store_doc doc = {.kind = CALENDAR_DOC, .json = json, .revision = 1};
    struct known_calendar *entry;
    struct job_error error;
    snprintf(doc.name, sizeof(doc.name), "%s", name);
    assert_int_equal(known_calendars_entry(&shelf->catalog.calendars, &doc, &entry), OK);
    assert_int_equal(known_calendars_take(&shelf->catalog.calendars, entry, &doc, NULL, &error),
                     OK);
}

/* A tick is out by its date where its schedule is; one that two schedules make, if it is for both.
 * 00:00 UTC is 09:00 in Tokyo, and 19:00 of the day before in New York. */
static void ticks_are_out_by_the_zone_of_their_schedule(void **state)
{
    struct shelf *shelf = *state;
    static const struct {
        int line;
        const char *schedule, *calendars;
        int64_t tick_h; /* since 2026-01-01 */
        const char *out;
        int64_t next_h; /* that runs, from the tick on */
    } cases[] = {
        {__LINE__, "'CRON_TZ=Asia/Tokyo 0 9 * * *'", "[third]", 48, "third", 72},
        {__LINE__, "'CRON_TZ=America/New_York 0 19 * * *'", "[third]", 48, NULL, 48},
        {__LINE__, "'CRON_TZ=America/New_York 0 19 * * *'", "[third]", 72, "third", 96},
        {__LINE__, "'CRON_TZ=America/New_York 0 19 * * *', 'CRON_TZ=Asia/Tokyo 0 9 * * *'",
         "[third]", 48, NULL, 48},
        {__LINE__, "'CRON_TZ=America/New_York 0 19 * * *', 'CRON_TZ=Asia/Tokyo 0 9 * * *'",
         "[second, third]", 48, "second", 72},
        {__LINE__, "'@reboot'", "[third]", 50, NULL, -1}, /* it has no ticks */
        {__LINE__, "'@daily'", "[nowhere]", 48, NULL, 48},
        {__LINE__, "'@daily'", "[nowhere, third]", 48, "third", 72},
    };
    put_calendar(shelf, "second", "{\"dates\":[\"2026-01-02\"]}");
    put_calendar(shelf, "third", "{\"dates\":[\"2026-01-03\"]}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char more[80];
        snprintf(more, sizeof(more), "calendars: %s\n", cases[i].calendars);
        const struct catalog_job *job = shelf_put(shelf, 1, "j", cases[i].schedule, more);
        int64_t tick_ms = SHELF_MS + cases[i].tick_h * 3600 * 1000;
        int64_t want_ms = cases[i].next_h < 0 ? NEVER_MS : SHELF_MS + cases[i].next_h * 3600 * 1000;
        const char *out = catalog_job_out(job, tick_ms).calendar;
        int64_t next_ms = catalog_job_next_run(job, tick_ms - 1);
        if (strcmp(out ? out : "", cases[i].out ? cases[i].out : "") != 0 || next_ms != want_ms)
            fail_msg("line %d: %s, %lld", cases[i].line, out ? out : "not out", (long long)next_ms);
        bool is_missing = strstr(cases[i].calendars, "nowhere") != NULL;
        assert_int_equal(catalog_job_missing_calendar(job) != NULL, is_missing);
    }
    const struct catalog_job *booted =
        shelf_put(shelf, 1, "j", "'CRON_TZ=UTC @daily', 'CRON_TZ=Asia/Tokyo @reboot'",
                  "calendars: [third]\n");
    assert_null(catalog_job_boot_out(booted, SHELF_MS + 38 * 3600 * 1000).calendar);
    assert_string_equal(catalog_job_boot_out(booted, SHELF_MS + 40 * 3600 * 1000).calendar,
                        "third");
    put_calendar(shelf, "third", NULL);
    shelf_put(shelf, 1, "j", "'@daily'", "");
    assert_null(known_calendars_find(&shelf->catalog.calendars, "third"));
    assert_non_null(known_calendars_find(&shelf->catalog.calendars, "second"));
    assert_int_equal(shelf->catalog.calendars.count, 1); /* nothing is left of the others */
}

/* What was kept out, or made good, until a time that the clock does not show any more. */
static void nothing_outlives_a_step_back(void **state)
{
    struct shelf *shelf = *state;
    put_calendar(shelf, "first", "{\"dates\":[\"2026-01-01\"]}");
    struct catalog_job *job = shelf_put(shelf, 1, "j", "'* * * * *'", "calendars: [first]\n");
    job->next_ms = SHELF_MS + 60000;
    job->calendars->next_run_ms = SHELF_MS + INT64_C(86400000);
    job->caught_up_ms = SHELF_MS + 3600000;
    catalog_job_keep_out(job, SHELF_MS + 3600000);
    assert_int_equal(job->calendars->out_until_ms, SHELF_MS + 3600000);
    catalog_job_set_back(job, SHELF_MS + 120000);
    assert_int_equal(job->calendars->out_until_ms, SHELF_MS + 120000);
    assert_int_equal(job->caught_up_ms, SHELF_MS + 120000);
    catalog_job_set_back(job, SHELF_MS + 240000);
    assert_int_equal(job->calendars->out_until_ms, SHELF_MS + 120000);
}

/* Schedules and policies that many jobs have, once: a change of one job leaves the others alone. */
static void what_is_equal_is_shared(void **state)
{
    struct shelf *shelf = *state;
    struct catalog *catalog = &shelf->catalog;
    struct catalog_job *a = shelf_put(shelf, 1, "a", "'0 2 * * *'", "overlap: queue\n");
    struct catalog_job *b = shelf_put(shelf, 2, "b", "'0 2 * * *'", "overlap: queue\n");
    const struct catalog_job *usual = shelf_put(shelf, 3, "c", "'0 3 * * *'", "");
    assert_ptr_equal(a->schedules[0], b->schedules[0]);
    assert_ptr_equal(a->policy, b->policy);
    assert_null(usual->policy);
    assert_int_equal(catalog->policies.count, 1);

    shelf_put(shelf, 1, "a", "'0 4 * * *', '0 2 * * *'", "overlap: queue\ndeadline: 5m\n");
    assert_ptr_equal(a->schedules[1], b->schedules[0]);
    assert_int_equal(catalog_job_policy(a).deadline_s, 300);
    assert_int_equal(catalog_job_policy(b).deadline_s, 0);
    assert_int_equal(catalog_job_policy(b).overlap, OVERLAP_QUEUE);
    assert_int_equal(catalog->pool.schedules.count, 3);

    shelf_put(shelf, 1, "a", "'0 3 * * *'", "");
    catalog_remove(catalog, b);
    assert_ptr_equal(a->schedules[0], usual->schedules[0]);
    assert_int_equal(catalog->pool.schedules.count, 1);
    assert_int_equal(catalog->policies.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SHELF(names_come_and_go),
        WITH_SHELF(a_cursor_does_not_move_back),
        WITH_SHELF(a_broken_definition_is_kept),
        WITH_SHELF(pages_are_in_order),
        WITH_SHELF(next_of_every_kind),
        WITH_SHELF(ticks_are_out_by_the_zone_of_their_schedule),
        WITH_SHELF(nothing_outlives_a_step_back),
        WITH_SHELF(what_is_equal_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
