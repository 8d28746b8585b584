/* Which jobs are sent together: those that wait for each other, whatever the size of a call. */
#include "client/batch/batch_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants those above first */
#include <cmocka.h>

#include "strbuf.h"

/* A job per word, "name:length:after,after"; the length is that of its text. */
static size_t read_puts(char *words, struct job *jobs, struct job_after *afters,
                        struct batch_put *puts)
{
    size_t count = 0;
    char *rest = words;
    for (char *word; (word = strsep(&rest, " ")) && *word; count++) {
        struct job *job = &jobs[count];
        *job = (struct job){.paused = false};
        job->name = strsep(&word, ":");
        job->after = afters;
        puts[count] = (struct batch_put){
            .job = job, .name = job->name, .length = strtoul(strsep(&word, ":"), NULL, 10)};
        for (char *name; (name = strsep(&word, ",")); job->after_count++, afters++)
            snprintf(afters->job, sizeof(afters->job), "%s", name);
    }
    return count;
}

static void print_parts(const struct batch_put *puts, const struct batch_part *parts, size_t count,
                        struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        strbuf_adds(out, i ? " |" : "");
        for (size_t k = 0; k < parts[i].count; k++)
            strbuf_addf(out, " %s", puts[parts[i].from + k].job->name);
    }
}

static void test_split(void **state)
{
    static const struct {
        int line;
        const char *jobs, *want; /* names of each part */
        size_t size, bytes;
    } cases[] = {
        {__LINE__, "", "", 2, SIZE_MAX},
        {__LINE__, "a:1 b:1 c:1", " a b | c", 2, SIZE_MAX},
        {__LINE__, "a:1:c b:1 c:1", " a c | b", 1, SIZE_MAX},
        {__LINE__, "a:1:c b:1 c:1:d d:1", " a c d | b", 1, SIZE_MAX},
        {__LINE__, "a:1:c,b b:1 c:1 d:1", " a b c | d", 1, SIZE_MAX},
        {__LINE__, "a:1:elsewhere b:1:b a:1", " a | b | a", 1, SIZE_MAX},
        {__LINE__, "aaa:8 b:1 c:1", " aaa | b c", 9, 8},
        {__LINE__, "a:9:c b:1 c:9 d:1", " a c | b d", 9, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job jobs[8];
        struct job_after afters[8];
        struct batch_put puts[8];
        struct batch_part *parts;
        struct strbuf got;
        size_t count;
        char *words = strdup(cases[i].jobs);
        assert_non_null(words);
        size_t put_count = read_puts(words, jobs, afters, puts);
        assert_int_equal(
            batch_split(puts, put_count, cases[i].size, cases[i].bytes, &parts, &count), OK);
        strbuf_init(&got);
        print_parts(puts, parts, count, &got);
        if (strcmp(got.text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, got.text);
        strbuf_release(&got);
        free(parts);
        free(words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
