#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "text_table.h"

static const char *const headers[] = {"JOB", "WHERE", "NOTE", NULL};

/* `cells` ends with NULL. */
static void fill(struct text_table *table, const char *const *cells)
{
    text_table_init(table, headers);
    for (; *cells; cells++)
        text_table_cell(table, *cells);
}

static void lines_up_columns(void **state)
{
    static const struct {
        int line;
        const char *cells[16];
        const char *want;
    } cases[] = {
        {__LINE__, {NULL}, "JOB\n"},
        {__LINE__,
         {"a", "node-1", "late", NULL},
         "JOB  WHERE   NOTE\n"
         "a    node-1  late\n"},
        /* no blanks at the end of a line */
        {__LINE__,
         {"a", "n", "", "backup", "n", "late", NULL},
         "JOB     WHERE  NOTE\n"
         "a       n\n"
         "backup  n      late\n"},
        /* an unused column goes, the first stays */
        {__LINE__,
         {"", "", "x", "", "", "y", NULL},
         "JOB  NOTE\n"
         "     x\n"
         "     y\n"},
        {__LINE__,
         {"备份", "n", "x", "ab", "n", "y", NULL},
         "JOB   WHERE  NOTE\n"
         "备份  n      x\n"
         "ab    n      y\n"},
        {__LINE__,
         {"a\033[2Jb", "n", "x\ny", NULL},
         "JOB     WHERE  NOTE\n"
         "a?[2Jb  n      x y\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text_table table;
        char *text;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        assert_non_null(out);
        fill(&table, cases[i].cells);
        assert_int_equal(text_table_print(&table, out), OK);
        fclose(out);
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("line %d: got\n%swant\n%s", cases[i].line, text, cases[i].want);
        free(text);
        text_table_release(&table);
    }
}

/* What a table with a long cell prints on a terminal of 20 columns. */
static void print_on_terminal(char *text, size_t size)
{
    static const char *const cells[] = {"备份", "node-1", "very late again", NULL};
    struct winsize window = {.ws_row = 25, .ws_col = 20};
    struct text_table table;
    int ours, theirs;
    assert_int_equal(openpty(&ours, &theirs, NULL, NULL, &window), 0);
    FILE *out = fdopen(theirs, "w");
    assert_non_null(out);
    fill(&table, cells);
    assert_int_equal(text_table_print(&table, out), OK);
    assert_int_equal(fflush(out), 0);
    text_table_release(&table);
    fclose(out);
    size_t length = 0;
    for (ssize_t got; (got = read(ours, text + length, size - 1 - length)) > 0;)
        length += (size_t)got; /* until it fails: nobody has the other end any more */
    text[length] = '\0';
    close(ours);
}

static void keeps_to_the_terminal(void **state)
{
    char text[256];
    (void)state;
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    print_on_terminal(text, sizeof(text));
    assert_string_equal(text, "JOB   WHERE   NOTE\r\n备份  node-1  very …\r\n");
    unsetenv("NO_COLOR");
    print_on_terminal(text, sizeof(text));
    assert_string_equal(text, "\033[1mJOB   WHERE   NOTE\033[0m\r\n备份  node-1  very …\r\n");
    setenv("TERM", "dumb", 1);
    print_on_terminal(text, sizeof(text));
    assert_null(strchr(text, '\033'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_up_columns),
        cmocka_unit_test(keeps_to_the_terminal),
    };
    return cmocka_run_group_tests_name("text_table", tests, NULL, NULL);
}
