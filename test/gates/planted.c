/* A cmocka program whose cases go wrong in the way that its argument names; see report.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void passes(void **state)
{
    (void)state;
}

static void fails(void **state)
{
    (void)state;
    assert_int_equal(2, 3);
}

static void skips(void **state)
{
    (void)state;
    print_message("no such server here\n");
    skip();
}

static void aborts(void **state)
{
    (void)state;
    fflush(NULL);
    abort();
}

static void reads_freed_memory(void **state)
{
    (void)state;
    char *volatile text = calloc(1, 8);
    free(text);
    assert_int_equal(text[2], 0);
}

static void leaks(void **state)
{
    (void)state;
    void *volatile lost = malloc(8);
    assert_non_null(lost);
    lost = NULL;
}

static void fails_and_leaks(void **state)
{
    leaks(state);
    fails(state);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void **state);
    } faults[] = {
        {"fail", fails},   {"skip", skips},
        {"abort", aborts}, {"memory", reads_freed_memory},
        {"leak", leaks},   {"fail-leaking", fails_and_leaks},
    };
    void (*run)(void **state) = passes;
    for (size_t i = 0; argc > 1 && i < sizeof(faults) / sizeof(faults[0]); i++)
        if (strcmp(argv[1], faults[i].name) == 0)
            run = faults[i].run;

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes),
        {argc > 1 ? argv[1] : "passes_too", run, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests_name("planted", tests, NULL, NULL);
}
