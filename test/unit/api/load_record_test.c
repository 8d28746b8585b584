/* The load of nodes over a day: samples that become longer, nodes that come and go, a machine that
 * slept. */
#include "cluster/load_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka wants the above first */
#include <cmocka.h>

static struct boot_ms at_look(int64_t look)
{
    return (struct boot_ms){1000 + look * LOAD_LOOK_S * 1000};
}

/* A look in which a node has these values. */
static void look(struct load_record *record, int64_t number, const char *node, int cpu, int memory,
                 int running)
{
    const int values[LOAD_KINDS] = {cpu, memory, running};
    load_record_begin(record, at_look(number));
    if (node)
        load_record_note(record, node, values);
    load_record_end(record);
}

static void test_first_samples(void **state)
{
    (void)state;
    struct load_record record;
    load_record_init(&record);
    look(&record, 0, "a", 10, 50, 3);
    look(&record, 1, "a", 20, -1, 0);
    look(&record, 2, "a", 100000, 51, 40000);
    const struct load_node *node = load_record_find(&record, "a");
    assert_non_null(node);
    assert_null(load_record_find(&record, "b"));
    assert_int_equal(record.count, 3);
    static const struct {
        int line;
        enum load_kind kind;
        size_t from, to;
        int want;
    } cases[] = {
        {__LINE__, LOAD_CPU, 0, 1, 10},        {__LINE__, LOAD_CPU, 0, 2, 15},
        {__LINE__, LOAD_MEMORY, 1, 2, -1},     {__LINE__, LOAD_MEMORY, 0, 3, 51},
        {__LINE__, LOAD_RUNNING, 0, 2, 3},     {__LINE__, LOAD_RUNNING, 1, 2, 0},
        {__LINE__, LOAD_CPU, 2, 3, INT16_MAX}, {__LINE__, LOAD_RUNNING, 2, 3, INT16_MAX},
        {__LINE__, LOAD_RUNNING, 3, 3, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int value = load_node_value(node, cases[i].kind, cases[i].from, cases[i].to);
        if (value != cases[i].want)
            fail_msg("line %d: %d instead of %d", cases[i].line, value, cases[i].want);
    }
    load_record_release(&record);
}

/* The processor's load is the number of the hour: what is shown of a day does not depend on how
 * long the samples became. */
static void test_a_day(void **state)
{
    (void)state;
    enum { HOUR = 3600 / LOAD_LOOK_S };
    struct load_record record;
    load_record_init(&record);
    for (int i = 0; i < 30 * HOUR; i++) {
        look(&record, i, "a", i / HOUR, 7, i % HOUR == HOUR / 2 ? 9 : 1);
        assert_in_range(record.count, 0, LOAD_SAMPLES);
        assert_true((int)record.count * record.looks + record.looks_done <=
                    24 * HOUR + LOAD_LOOKS_MAX);
        if (i + 1 >= LOAD_SAMPLES && i < 23 * HOUR) /* all of it is there */
            assert_int_equal((int)record.count * record.looks + record.looks_done, i + 1);
    }
    assert_int_equal(record.looks, LOAD_LOOKS_MAX);
    assert_int_equal(record.count, LOAD_SAMPLES);
    const struct load_node *node = load_record_find(&record, "a");
    size_t hour = HOUR / LOAD_LOOKS_MAX;
    for (size_t i = 0; i < 24; i++) {
        assert_in_range(load_node_value(node, LOAD_CPU, i * hour, (i + 1) * hour), i + 5, i + 6);
        assert_int_equal(load_node_value(node, LOAD_RUNNING, i * hour, (i + 1) * hour), 9);
        assert_int_equal(load_node_value(node, LOAD_MEMORY, i * hour, (i + 1) * hour), 7);
    }
    load_record_release(&record);
}

static void test_sleep(void **state)
{
    (void)state;
    struct load_record record;
    load_record_init(&record);
    look(&record, 0, "a", 5, 5, 5);
    look(&record, 5, "a", 6, 6, 6); /* four looks later than the next one */
    assert_int_equal(record.count, 6);
    const struct load_node *node = load_record_find(&record, "a");
    assert_int_equal(load_node_value(node, LOAD_CPU, 0, 1), 5);
    assert_int_equal(load_node_value(node, LOAD_CPU, 1, 5), -1);
    assert_int_equal(load_node_value(node, LOAD_CPU, 5, 6), 6);
    look(&record, INT64_C(1) << 40, "b", 1, 1, 1); /* however long */
    assert_null(load_record_find(&record, "a"));
    assert_non_null(load_record_find(&record, "b"));
    load_record_release(&record);
}

/* One that is gone is forgotten with its last value. */
static void test_nodes_come_and_go(void **state)
{
    (void)state;
    struct load_record record;
    char name[32];
    load_record_init(&record);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "node-%d", i);
        look(&record, i, name, 1, 1, 1);
    }
    assert_int_equal(record.nodes.count, 40);
    int look_at = 40;
    for (; look_at < LOAD_SAMPLES * (LOAD_LOOKS_MAX - 1); look_at++)
        look(&record, look_at, "stays", 1, 1, 1);
    assert_int_equal(record.nodes.count, 41);
    for (; look_at < (LOAD_SAMPLES + 50) * LOAD_LOOKS_MAX; look_at++)
        look(&record, look_at, "stays", 1, 1, 1);
    assert_int_equal(record.nodes.count, 1);
    load_record_release(&record);
}

static void test_too_many_nodes(void **state)
{
    (void)state;
    struct load_record record;
    const int values[LOAD_KINDS] = {1, 1, 1};
    char name[32];
    load_record_init(&record);
    for (int i = 0; i < LOAD_NODES_MAX + 10; i++) {
        snprintf(name, sizeof(name), "node-%d", i);
        load_record_note(&record, name, values);
    }
    assert_int_equal(record.nodes.count, LOAD_NODES_MAX);
    load_record_release(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_samples),  cmocka_unit_test(test_a_day),
        cmocka_unit_test(test_sleep),          cmocka_unit_test(test_nodes_come_and_go),
        cmocka_unit_test(test_too_many_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
