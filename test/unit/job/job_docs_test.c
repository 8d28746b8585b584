/* Every example of docs/JOBS.md is a job, or a calendar, that peal takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calendar_codec.h"
#include "definition/job_codec.h"

static char *read_document(void)
{
    char path[4096];
    const char *source = getenv("PEAL_SOURCE");
    if (!source)
        return NULL;
    snprintf(path, sizeof(path), "%s/docs/JOBS.md", source);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = NULL;
    size_t size = 0;
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

/* What stands beside jobs is read by the command, whose tests have it. */
static enum status pass_over(void *context, const struct node *document, struct job_errors *errors)
{
    (void)context;
    (void)document;
    (void)errors;
    return OK;
}

static void forget(void *context)
{
    (void)context;
}

static enum status decode_file(const char *text, size_t length, struct zone_db *zones,
                               struct job_error *reterr)
{
    const struct document_reader reader = {pass_over, forget, NULL};
    struct job_errors errors;
    struct job_list jobs;
    job_list_init(&jobs);
    job_errors_init(&errors);
    enum status st = jobs_decode_file(text, length, "UTC", zones, NULL, &reader, &jobs, &errors);
    if (errors.count)
        *reterr = errors.items[0];
    job_errors_release(&errors);
    job_list_release(&jobs);
    return st;
}

/* A job, or several; with kinds of their own, what jobs name, too; or, if it has dates or windows,
 * a calendar. */
static enum status decode_example(const char *text, size_t length, struct zone_db *zones,
                                  struct job_error *reterr)
{
    if (memmem(text, length, "kind: group", strlen("kind: group")))
        return decode_file(text, length, zones, reterr);
    struct job_list jobs;
    struct calendar_definition calendar;
    bool is_calendar = memmem(text, length, "\ndates:", strlen("\ndates:")) ||
                       memmem(text, length, "\nwindows:", strlen("\nwindows:"));
    enum status st = is_calendar ? calendar_decode_text(text, length, NULL, NULL, &calendar, reterr)
                                 : jobs_decode_text(text, length, "UTC", zones, &jobs, reterr);
    if (st == OK && is_calendar)
        calendar_definition_release(&calendar);
    else if (st == OK)
        job_list_release(&jobs);
    return st;
}

static void every_example_can_be_read(void **state)
{
    (void)state;
    static const char begin[] = "```yaml\n";
    struct zone_db *zones;
    char *text = read_document();
    int count = 0;
    if (!text) {
        print_message("the sources are not here\n");
        skip();
    }
    assert_int_equal(zone_db_new(NULL, &zones), OK);
    for (const char *at = strstr(text, begin); at; at = strstr(at, begin)) {
        struct job_error err;
        at += strlen(begin);
        const char *end = strstr(at, "```");
        assert_non_null(end);
        if (decode_example(at, (size_t)(end - at), zones, &err) != OK)
            fail_msg("example %d, line %d: %s", count + 1, err.line, err.message);
        at = end;
        count++;
    }
    assert_true(count >= 5);
    zone_db_free(zones);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
