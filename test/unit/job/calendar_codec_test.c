/* Calendars as JSON and YAML: what is read, what is refused, and what comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calendar_codec.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void read_and_written(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text, *want;
    } cases[] = {
        {__LINE__, "{}", "{\"dates\":[],\"weekdays\":[]}"},
        {__LINE__, "dates: [2026-12-26, 2026-12-25]\nweekdays: [sun, SAT]\nnotes: Closed.\n",
         "{\"dates\":[\"2026-12-25\",\"2026-12-26\"],\"weekdays\":[\"sat\",\"sun\"],"
         "\"notes\":\"Closed.\"}"},
        {__LINE__, "{\"dates\": [\"12-25\", \"2026-10-01/2026-10-07\"], \"name\": \"it\"}",
         "{\"dates\":[\"12-25\",\"2026-10-01/2026-10-07\"],\"weekdays\":[]}"},
        {__LINE__,
         "windows: [mon-fri 09:00-17:30, 22:00-06:00, 09:00-17:30, '22:00-06:00']\n"
         "timezone: Europe/Berlin\n",
         "{\"dates\":[],\"weekdays\":[],\"windows\":[\"09:00-17:30\",\"22:00-06:00\","
         "\"mon-fri 09:00-17:30\"],\"timezone\":\"Europe/Berlin\"}"},
        {__LINE__, "windows: []\ntimezone: ''\n", "{\"dates\":[],\"weekdays\":[]}"},
        {__LINE__, "notes: ''\ndates:\n- 02-29\n", "{\"dates\":[\"02-29\"],\"weekdays\":[]}"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct calendar_definition definition, again;
        struct job_error error = {0};
        if (calendar_decode_text(cases[i].text, strlen(cases[i].text), "it", NULL, &definition,
                                 &error) != OK)
            fail_msg("line %d: %s", cases[i].line, error.message);
        char *text = calendar_encode_text(&definition);
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
        json_t *value = json_loads(text, 0, NULL);
        assert_int_equal(calendar_decode_json(value, NULL, NULL, &again, &error), OK);
        char *text_again = calendar_encode_text(&again);
        assert_string_equal(text_again, text);
        json_decref(value);
        free(text);
        free(text_again);
        calendar_definition_release(&definition);
        calendar_definition_release(&again);
    }
}

static void refused_with_a_place(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        int at_line, at_column;
        const char *path, *message;
    } cases[] = {
        {__LINE__, "[]", 1, 1, "",
         "expected a calendar (a map with dates and weekdays), found a list"},
        {__LINE__, "", 0, 0, "", "expected one calendar, found 0"},
        {__LINE__, "{}\n---\n{}\n", 0, 0, "", "expected one calendar, found 2"},
        {__LINE__, "date: []\n", 1, 1, "/date", "unknown field \"date\"; did you mean \"dates\"?"},
        {__LINE__, "except: []\n", 1, 1, "/except",
         "unknown field \"except\"; known: dates, weekdays, windows, timezone, notes"},
        {__LINE__, "dates: 2026-12-25\n", 1, 8, "/dates",
         "dates: expected a list like [2026-12-25], found a text"},
        {__LINE__, "dates:\n- 2026-12-25\n- 2026-02-30\n", 3, 11, "/dates/1",
         "dates[1]: day 30 is out of range 1-28"},
        {__LINE__, "dates: [[]]\n", 1, 9, "/dates/0", "dates[0]: expected a text, found a list"},
        {__LINE__, "weekdays: [satt]\n", 1, 12, "/weekdays/0",
         "weekdays[0]: unknown weekday \"satt\"; did you mean sat?"},
        {__LINE__, "weekdays: [sat, sat, sat, sat, sat, sat, sat, sat]\n", 1, 11, "/weekdays",
         "weekdays: expected at most 7, found 8"},
        {__LINE__, "windows: 09:00-17:30\n", 1, 10, "/windows",
         "windows: expected a list like [09:00-17:30], found a text"},
        {__LINE__, "windows:\n- 09:00-17:30\n- 09:00-25:00\n", 3, 9, "/windows/1",
         "windows[1]: hour 25 is out of range 0-24"},
        {__LINE__, "timezone: []\n", 1, 11, "/timezone", "timezone: expected a text, found a list"},
        {__LINE__, "notes: {}\n", 1, 8, "/notes", "notes: expected a text, found a map"},
        {__LINE__, "name: other\n", 1, 7, "/name", "name: is \"other\", but it is to be \"it\""},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct calendar_definition definition;
        struct job_error error = {0};
        enum status st = calendar_decode_text(cases[i].text, strlen(cases[i].text), "it", NULL,
                                              &definition, &error);
        if (st != E_INVALID || strcmp(error.path, cases[i].path) != 0 ||
            strcmp(error.message, cases[i].message) != 0 || error.line != cases[i].at_line ||
            error.column != cases[i].at_column)
            fail_msg("line %d: %d:%d %s %s", cases[i].line, error.line, error.column, error.path,
                     error.message);
    }
}

/* The longest one fits into a document of the store. */
static void the_longest(void **state)
{
    (void)state;
    struct strbuf text;
    struct calendar_definition definition;
    struct job_error error = {0};
    strbuf_init(&text);
    strbuf_adds(&text, "{\"notes\":\"");
    for (int i = 0; i < CALENDAR_NOTES_MAX; i++)
        strbuf_adds(&text, "\\u0001");
    strbuf_adds(&text, "\",\"dates\":[");
    for (int i = 0; i < CALENDAR_DATES_MAX; i++)
        strbuf_addf(&text, "%s\"%04d-01-01/%04d-01-02\"", i ? "," : "", 2000 + i, 2000 + i);
    strbuf_adds(&text, "]}");
    json_t *value = json_loads(text.text, 0, NULL);
    assert_non_null(value);
    assert_int_equal(calendar_decode_json(value, NULL, NULL, &definition, &error), OK);
    char *stored = calendar_encode_text(&definition);
    assert_true(strlen(stored) < 64 * 1024);
    free(stored);
    calendar_definition_release(&definition);
    json_array_append_new(json_object_get(value, "dates"), json_string("01-01"));
    assert_int_equal(calendar_decode_json(value, NULL, NULL, &definition, &error), E_INVALID);
    assert_string_equal(error.message, "dates: expected at most 2000, found 2001");
    json_decref(value);
    strbuf_release(&text);
}

/* As many windows as fit into a document with the dates that there are. */
static void the_longest_with_windows(void **state)
{
    (void)state;
    struct calendar_definition definition;
    struct job_error error = {0};
    json_t *windows = json_array(), *dates = json_array();
    json_t *value = json_pack("{s:o, s:o}", "windows", windows, "dates", dates);
    char text[64];
    for (int i = 0; i < CALENDAR_WINDOWS_MAX; i++) {
        snprintf(text, sizeof(text), "%04d-01-01T00:00:01Z/%04d-01-02T00:00:01Z", 2000 + i,
                 2000 + i);
        json_array_append_new(windows, json_string(text));
    }
    assert_int_equal(calendar_decode_json(value, NULL, NULL, &definition, &error), OK);
    char *stored = calendar_encode_text(&definition);
    assert_true(strlen(stored) < CALENDAR_TEXT_MAX);
    assert_true(calendar_text_is_new(stored));
    free(stored);
    calendar_definition_release(&definition);
    for (int i = 0; i < CALENDAR_DATES_MAX; i++) {
        snprintf(text, sizeof(text), "%04d-01-01/%04d-01-02", 2000 + i, 2000 + i);
        json_array_append_new(dates, json_string(text));
    }
    assert_int_equal(calendar_decode_json(value, NULL, NULL, &definition, &error), E_INVALID);
    assert_non_null(strstr(error.message, "dates, windows and notes have "));
    json_decref(value);
    assert_false(calendar_text_is_new("{\"dates\":[\"12-25\"],\"notes\":\"windows\"}"));
    assert_true(calendar_text_is_new("{\"dates\":[],\"timezone\":\"UTC\"}"));
}

/* A zone that this machine does not have is no zone. */
static void time_zones_are_looked_up(void **state)
{
    (void)state;
    static const char known[] = "timezone: America/New_York", unknown[] = "timezone: Mars/X";
    struct zone_db *zones;
    struct calendar_definition definition;
    struct job_error error = {0};
    assert_int_equal(zone_db_new(NULL, &zones), OK);
    assert_int_equal(calendar_decode_text(known, strlen(known), NULL, zones, &definition, &error),
                     OK);
    assert_string_equal(zone_name(definition.calendar.zone), "America/New_York");
    calendar_definition_release(&definition);
    assert_int_equal(
        calendar_decode_text(unknown, strlen(unknown), NULL, zones, &definition, &error),
        E_INVALID);
    assert_string_equal(error.path, "/timezone");
    zone_db_free(zones);
}

static void names(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *name;
        bool good;
    } cases[] = {
        {__LINE__, "holidays", true},
        {__LINE__, "cn-2026.v1_a", true},
        {__LINE__, "", false},
        {__LINE__, "-x", false},
        {__LINE__, "a/b", false},
        {__LINE__, "ferién", true},
        {__LINE__, "a23456789012345678901234567890123456789012345678901234567890123", true},
        {__LINE__, "a234567890123456789012345678901234567890123456789012345678901234", false},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        if (!calendar_name_complaint(cases[i].name) != cases[i].good)
            fail_msg("line %d", cases[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_and_written),
        cmocka_unit_test(refused_with_a_place),
        cmocka_unit_test(the_longest),
        cmocka_unit_test(the_longest_with_windows),
        cmocka_unit_test(time_zones_are_looked_up),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
