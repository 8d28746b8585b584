#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/text_table.h"

static const char *const headers[] = {"JOB", "WHERE", "NOTE", NULL};

/* `cells` ends with NULL. */
static void fill(struct text_table *table, const char *const *cells)
{
    text_table_init(table, headers);
    for (; *cells; cells++)
        text_table_cell(table, *cells);
}

/* `room` as in the table: 0 for as much as there is. */
static void expect_print(int line, int room, const char *const *cells, const char *want)
{
    struct text_table table;
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    fill(&table, cells);
    table.room = room;
    assert_int_equal(text_table_print(&table, out), OK);
    fclose(out);
    if (strcmp(text, want) != 0)
        fail_msg("line %d: got\n%swant\n%s", line, text, want);
    free(text);
    text_table_release(&table);
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
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_print(cases[i].line, 0, cases[i].cells, cases[i].want);
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

/* A long name does not push the rest off the screen. Ids of runs (26 columns) and times stay whole.
 */
static void cuts_long_cells_first(void **state)
{
    static const struct {
        int line;
        int room;
        const char *cells[8];
        const char *want;
    } cases[] = {
        {__LINE__,
         51, /* it fits */
         {"billing/europe/invoices/monthly/close", "node-1", "late", NULL},
         "JOB                                    WHERE   NOTE\n"
         "billing/europe/invoices/monthly/close  node-1  late\n"},
        {__LINE__,
         45,
         {"billing/europe/invoices/monthly/close", "node-1", "late", "a", "b", "c", NULL},
         "JOB                              WHERE   NOTE\n"
         "billing/europe/invoices/monthl…  node-1  late\n"
         "a                                b       c\n"},
        {__LINE__,
         30, /* too little for all: then the line is cut, too */
         {"billing/europe/invoices/monthly/close", "node-1", "late", NULL},
         "JOB                         W…\n"
         "billing/europe/invoices/m…  n…\n"},
        {__LINE__,
         43, /* a wide character that would stick out by half */
         {"a", "每天晚上把数据库备份到另一个地方去保存好", "late", NULL},
         "JOB  WHERE                             NOTE\n"
         "a    每天晚上把数据库备份到另一个地…   late\n"},
        {__LINE__,
         68, /* both of them */
         {"billing/europe/invoices/monthly/close", "a-node-with-a-very-long-name-12345", "x", NULL},
         "JOB                             WHERE                           NOTE\n"
         "billing/europe/invoices/month…  a-node-with-a-very-long-name-…  x\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect_print(cases[i].line, cases[i].room, cases[i].cells, cases[i].want);
}

/* Columns go in their order; what stays is cut rather than lost. */
static void drops_columns_in_order(void **state)
{
    static const char *const titles[] = {"NAME", "NEXT", "STATUS", "OWNER", NULL};
    static const unsigned char goes[] = {0, 2, 0, 1};
    static const char *const cells[] = {"extract-from-warehouse", "in 3 h", "failed", "anna"};
    static const struct {
        int line, room;
        const char *want;
    } cases[] = {
        {__LINE__, 45,
         "NAME                    NEXT    STATUS  OWNER\n"
         "extract-from-warehouse  in 3 h  failed  anna\n"},
        {__LINE__, 44,
         "NAME                    NEXT    STATUS\n"
         "extract-from-warehouse  in 3 h  failed\n"},
        {__LINE__, 37,
         "NAME                    STATUS\n"
         "extract-from-warehouse  failed\n"},
        {__LINE__, 20,
         "NAME          STATUS\n"
         "extract-fro…  failed\n"},
    };
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct text_table table;
        char *text;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        assert_non_null(out);
        text_table_init(&table, titles);
        table.goes = goes;
        table.room = cases[i].room;
        for (size_t k = 0; k < 4; k++)
            text_table_cell(&table, cells[k]);
        assert_int_equal(text_table_print(&table, out), OK);
        fclose(out);
        if (strcmp(text, cases[i].want) != 0) {
            print_error("line %d: got\n%s", cases[i].line, text);
            failed++;
        }
        free(text);
        text_table_release(&table);
    }
    assert_int_equal(failed, 0);
}

/* Rows in two parts: one header, columns that grow where nothing is cut, and stay on a terminal. */
static void goes_on_below(void **state)
{
    static const struct {
        int room;
        const char *want;
    } cases[] = {
        {0, "JOB  WHERE   NOTE\n"
            "a    node-1\n"
            "b    node-1  late\n"
            "cde  node-1  later\n"},
        {18, "JOB  WHERE   NOTE\n"
             "a    node-1\n"
             "b    node-1  late\n"
             "cde  node-1  lat…\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static const char *const first[] = {"a", "node-1", "", NULL};
        static const char *const more[] = {"b", "node-1", "late", "cde", "node-1", "later", NULL};
        struct text_table table;
        char *text;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        assert_non_null(out);
        fill(&table, first);
        table.room = cases[i].room;
        table.goes_on = true;
        assert_int_equal(text_table_print(&table, out), OK);
        for (size_t k = 0; more[k]; k++)
            text_table_cell(&table, more[k]);
        table.goes_on = false;
        assert_int_equal(text_table_print(&table, out), OK);
        fclose(out);
        assert_string_equal(text, cases[i].want);
        free(text);
        text_table_release(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops_columns_in_order), cmocka_unit_test(lines_up_columns),
        cmocka_unit_test(keeps_to_the_terminal),  cmocka_unit_test(cuts_long_cells_first),
        cmocka_unit_test(goes_on_below),
    };
    return cmocka_run_group_tests_name("text_table", tests, NULL, NULL);
}
