/* Every example of docs/JOBS.md is a job that peal takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job_codec.h"

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

static void every_example_is_a_job(void **state)
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
        struct job_list jobs;
        struct job_error err;
        at += strlen(begin);
        const char *end = strstr(at, "```");
        assert_non_null(end);
        if (jobs_decode_text(at, (size_t)(end - at), "UTC", zones, &jobs, &err) != OK)
            fail_msg("example %d, line %d: %s", count + 1, err.line, err.message);
        job_list_release(&jobs);
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
        cmocka_unit_test(every_example_is_a_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
