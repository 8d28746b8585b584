#include "gather_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 3 };

static struct id id_of(int number)
{
    return (struct id){{[15] = (uint8_t)number}};
}

static int number_of(const struct id *id)
{
    return id->bytes[15];
}

/* "9 7 4": newest first. "+" behind it: there is more; "+5": it has looked as far as 5. */
static struct history_read read_of(const char *text)
{
    struct history_read read = {.rows = calloc(16, sizeof(struct history_row))};
    assert_non_null(read.rows);
    while (*text && *text != '+') {
        char *end;
        read.rows[read.count].run.id = id_of((int)strtol(text, &end, 10));
        read.rows[read.count++].run.state = RUN_OK;
        text = end + strspn(end, " ");
    }
    read.more = *text == '+';
    if (read.more && text[1])
        read.next = id_of(atoi(text + 1));
    else if (read.more)
        read.next = read.rows[read.count - 1].run.id;
    return read;
}

static void print_page(const struct history_read *read, char text[128])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < read->count; i++)
        used += (size_t)snprintf(text + used, 128 - used, "%s%d", i ? " " : "",
                                 number_of(&read->rows[i].run.id));
    if (read->more)
        snprintf(text + used, 128 - used, "+%d", number_of(&read->next));
}

static const struct {
    int line;
    const char *parts[PARTS]; /* NULL: did not answer */
    size_t limit;
    const char *want;
} pages[] = {
    {__LINE__, {"9 6 3", "8 5 2", "7 4 1"}, 10, "9 8 7 6 5 4 3 2 1"},
    {__LINE__, {"9 6 3", "8 5 2", "7 4 1"}, 4, "9 8 7 6+6"},
    {__LINE__, {"9 6 3", NULL, "7 4 1"}, 10, "9 7 6 4 3 1"}, /* one missing */
    {__LINE__, {"9 6 3", "", ""}, 3, "9 6 3"},
    {__LINE__, {"9 6 3+", "8 5 2+", "7 4 1+"}, 3, "9 8 7+7"},
    {__LINE__, {"9 8 7+", "3 2 1", ""}, 3, "9 8 7+7"},
    {__LINE__, {"9+", "8 7 6", "5"}, 10, "9+9"}, /* what is older is not known of the first */
    {__LINE__, {"9 4+2", "8 1", "7"}, 10, "9 8 7 4+2"}, /* a short page */
    {__LINE__, {"+6", "8 5", "7"}, 10, "8 7+6"},        /* nothing found yet, but more */
    {__LINE__, {"+6", "5", "4"}, 10, "+6"},
    {__LINE__, {"9 5", "9 5", "5"}, 10, "9 5"}, /* each once */
    {__LINE__, {"9 5", "9 5", "5"}, 2, "9 5"},
    {__LINE__, {"9 5", "9 5 4", "5"}, 2, "9 5+5"},
    {__LINE__, {"", "", ""}, 5, ""},
};

static void test_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        union gather_answer answers[PARTS];
        struct history_read page = {.query.limit = pages[i].limit};
        size_t count = 0;
        char found[128];
        for (int k = 0; k < PARTS; k++) {
            if (pages[i].parts[k])
                answers[count++].read = read_of(pages[i].parts[k]);
        }
        assert_int_equal(gather_merge_read(answers, count, &page), OK);
        print_page(&page, found);
        if (strcmp(found, pages[i].want) != 0)
            fail_msg("line %d: %s, not %s", pages[i].line, found, pages[i].want);
        for (size_t k = 0; k < count; k++)
            gather_answer_release(HISTORY_READ, &answers[k]);
        history_read_release(&page);
    }
}

/* What a history that holds `mine` answers; one search looks at `look` rows. */
static struct history_read page_of(const bool mine[100], const struct history_query *query,
                                   int look)
{
    struct history_read read = {.rows = calloc(query->limit, sizeof(struct history_row))};
    int at = id_is_zero(&query->before) ? 100 : number_of(&query->before);
    assert_non_null(read.rows);
    while (--at > 0 && !read.more) {
        if (!mine[at])
            continue;
        read.more = read.count == query->limit || look-- == 0;
        if (read.more)
            break;
        read.next = id_of(at);
        if (at % 3) /* the others do not match */
            read.rows[read.count++].run = (struct run){.id = id_of(at), .state = RUN_OK};
    }
    return read;
}

/* Page by page, everything comes once and in order, however small the pages and searches are. */
static void walk(const bool mine[PARTS][100], size_t limit, int look)
{
    struct history_query query = {.limit = limit};
    int last = 100, seen = 0, want = 0;
    bool more = true;
    for (int i = 1; i < 100; i++)
        want += i % 3 && (mine[0][i] || mine[1][i] || mine[2][i]);
    for (int round = 0; more; round++) {
        union gather_answer answers[PARTS];
        struct history_read page = {.query = query};
        assert_true(round < 1000);
        for (int k = 0; k < PARTS; k++)
            answers[k].read = page_of(mine[k], &query, look);
        assert_int_equal(gather_merge_read(answers, PARTS, &page), OK);
        for (size_t i = 0; i < page.count; i++, seen++) {
            assert_true(number_of(&page.rows[i].run.id) < last);
            last = number_of(&page.rows[i].run.id);
        }
        more = page.more;
        query.before = page.next;
        for (int k = 0; k < PARTS; k++)
            gather_answer_release(HISTORY_READ, &answers[k]);
        history_read_release(&page);
    }
    assert_int_equal(seen, want);
}

static void test_walk(void **state)
{
    (void)state;
    unsigned random = 7;
    for (int round = 0; round < 200; round++) {
        bool mine[PARTS][100] = {{false}};
        for (int i = 1; i < 100; i++) {
            random = random * 1103515245 + 12345;
            mine[random >> 16 & 3 ? (random >> 18) % PARTS : 0][i] = true;
            if (random >> 24 == 0)
                mine[1][i] = true; /* two have it */
        }
        walk(mine, 1 + (size_t)round % 7, 1 + round % 11);
    }
}

/* A run that was taken for lost, and was not. */
static void test_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        union gather_answer answers[2], logs[2];
        struct history_read page = {.query.limit = 1};
        struct history_log log = {0};
        memset(logs, 0, sizeof(logs));
        for (int k = 0; k < 2; k++) {
            answers[k].read = read_of("9");
            answers[k].read.rows[0].run.state = k == i ? RUN_LOST : RUN_FAILED;
            logs[k].log.found = true;
            logs[k].log.run = answers[k].read.rows[0].run;
        }
        assert_int_equal(gather_merge_read(answers, 2, &page), OK);
        assert_int_equal(page.count, 1);
        assert_int_equal(page.rows[0].run.state, RUN_FAILED);
        gather_merge_log(logs, 2, &log);
        assert_int_equal(log.run.state, RUN_FAILED);
        gather_answer_release(HISTORY_READ, &answers[0]);
        gather_answer_release(HISTORY_READ, &answers[1]);
        history_read_release(&page);
    }
}

/* Lost for all, but its home knows why. */
static void test_lost_at_home(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        union gather_answer logs[2];
        struct history_log log = {0};
        memset(logs, 0, sizeof(logs));
        for (int k = 0; k < 2; k++) {
            logs[k].log.found = true;
            logs[k].log.run.state = RUN_LOST;
            logs[k].log.run.reason = k == i ? REASON_NODE_DIED : REASON_SPAWNER_DIED;
        }
        gather_merge_log(logs, 2, &log);
        assert_int_equal(log.run.reason, REASON_SPAWNER_DIED);
    }
}

static struct history_stats stats_of(int64_t from_ms, int64_t ok, int64_t min_ms, int64_t max_ms)
{
    struct history_stats stats = {.rows = calloc(1, sizeof(struct history_stats_row)), .count = 1};
    assert_non_null(stats.rows);
    stats.rows[0] = (struct history_stats_row){.from_ms = from_ms,
                                               .timed = ok,
                                               .duration_min_ms = min_ms,
                                               .duration_max_ms = max_ms,
                                               .duration_sum_ms = ok * max_ms};
    stats.rows[0].ends[RUN_OK] = ok;
    stats.rows[0].buckets[3] = ok;
    return stats;
}

static void test_stats(void **state)
{
    (void)state;
    union gather_answer answers[] = {{.stats = stats_of(7200000, 2, 10, 20)},
                                     {.stats = stats_of(3600000, 1, 5, 5)},
                                     {.stats = stats_of(7200000, 3, 8, 15)},
                                     {.stats = {.count = 0}}};
    struct history_stats sum = {0};
    assert_int_equal(gather_merge_stats(answers, 4, &sum), OK);
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.rows[0].from_ms, 3600000);
    assert_int_equal(sum.rows[1].ends[RUN_OK], 5);
    assert_int_equal(sum.rows[1].buckets[3], 5);
    assert_int_equal(sum.rows[1].duration_min_ms, 8);
    assert_int_equal(sum.rows[1].duration_max_ms, 20);
    assert_int_equal(sum.rows[1].duration_sum_ms, 85);
    for (size_t i = 0; i < 4; i++)
        gather_answer_release(HISTORY_STATS, &answers[i]);
    history_stats_release(&sum);
}

static void add_change(struct history_changes *changes, int number)
{
    struct change_record *items =
        realloc(changes->items, (changes->count + 1) * sizeof(*changes->items));
    assert_non_null(items);
    changes->items = items;
    items[changes->count++] =
        (struct change_record){.id = id_of(number), .after = strdup("{\"command\": \"true\"}")};
}

static void test_changes(void **state)
{
    (void)state;
    union gather_answer answers[2];
    struct history_changes page = {.query = {.limit = 3, .with_definitions = true}};
    memset(answers, 0, sizeof(answers));
    add_change(&answers[0].changes, 9);
    add_change(&answers[0].changes, 4);
    add_change(&answers[1].changes, 8);
    add_change(&answers[1].changes, 3);
    answers[1].changes.more = true;
    answers[1].changes.next = id_of(3);
    assert_int_equal(gather_merge_changes(answers, 2, &page), OK);
    assert_int_equal(page.count, 3);
    assert_int_equal(number_of(&page.items[0].id), 9);
    assert_int_equal(number_of(&page.items[1].id), 8);
    assert_int_equal(number_of(&page.items[2].id), 4);
    assert_string_equal(page.items[2].after, "{\"command\": \"true\"}");
    assert_true(page.more);
    assert_int_equal(number_of(&page.next), 4);
    gather_answer_release(HISTORY_CHANGES, &answers[0]);
    gather_answer_release(HISTORY_CHANGES, &answers[1]);
    history_changes_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages), cmocka_unit_test(test_walk),
        cmocka_unit_test(test_lost),  cmocka_unit_test(test_lost_at_home),
        cmocka_unit_test(test_stats), cmocka_unit_test(test_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
