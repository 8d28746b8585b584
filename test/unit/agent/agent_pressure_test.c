#include "agent_pressure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        int want;
    } cases[] = {
        {__LINE__, "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=7.00", 0},
        {__LINE__, "some avg10=12.34 avg60=1.00 avg300=0.00 total=9\n", 12},
        {__LINE__, "some avg10=99.60 avg60=1.00 avg300=0.00 total=9\n", 100},
        {__LINE__, "some avg10=100.00", 100},
        {__LINE__, "some avg10=101.00", -1},
        {__LINE__, "some avg10=-1", -1},
        {__LINE__, "some avg10=", -1},
        {__LINE__, "some avg10=nan", -1},
        {__LINE__, "full avg10=1.00", -1},
        {__LINE__, "", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int percent = pressure_parse(cases[i].text);
        if (percent != cases[i].want)
            fail_msg("line %d: %d instead of %d", cases[i].line, percent, cases[i].want);
    }
}

static void test_load(void **state)
{
    (void)state;
    static const struct {
        int line;
        double load, processors;
        int want;
    } cases[] = {
        {__LINE__, 0, 4, 0},     {__LINE__, 4, 4, 0},   {__LINE__, 8, 4, 50}, {__LINE__, 16, 4, 75},
        {__LINE__, 1e9, 1, 100}, {__LINE__, -1, 4, -1}, {__LINE__, 1, 0, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int percent = pressure_of_load(cases[i].load, cases[i].processors);
        if (percent != cases[i].want)
            fail_msg("line %d: %d instead of %d", cases[i].line, percent, cases[i].want);
    }
}

static void test_files(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        double want_load;
        int want_memory;
    } cases[] = {
        {__LINE__, "0.52 0.40 0.30 1/523 12345\n", 0.52, -1},
        {__LINE__, "0.00 0.00 0.00 1/1 1\n", 0, -1},
        {__LINE__, "-1.0", -1, -1},
        {__LINE__, "", -1, -1},
        {__LINE__, "MemTotal:  1000 kB\nMemFree:   10 kB\nMemAvailable:  250 kB\n", -1, 75},
        {__LINE__, "MemTotal:  1000 kB\nMemAvailable: 1000 kB\n", -1, 0},
        {__LINE__, "MemTotal:  1000 kB\nMemAvailable: 1001 kB\n", -1, -1},
        {__LINE__, "MemTotal:  1000 kB\nMemFree:   10 kB\n", -1, -1},
        {__LINE__, "MemAvailable: 5 kB", -1, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double load = load_parse(cases[i].text);
        int memory = memory_parse(cases[i].text);
        if (load < cases[i].want_load || load > cases[i].want_load ||
            memory != cases[i].want_memory)
            fail_msg("line %d: %g, %d", cases[i].line, load, memory);
    }
}

/* Of this machine, whatever it has. */
static void test_gauge(void **state)
{
    (void)state;
    struct agent_pressure pressure;
    struct peer peer = {
        .cpu_pressure = -7, .memory_pressure = -7, .cpu_load = -7, .memory_used = -7};
    agent_pressure_init(&pressure);
    struct pressure_gauge gauge = agent_pressure_gauge(&pressure);
    gauge.read(gauge.context, &peer);
    assert_in_range(peer.cpu_pressure + 1, 0, 101);
    assert_in_range(peer.memory_pressure + 1, 0, 101);
    assert_in_range(peer.cpu_load + 1, 0, 1000000);
    assert_in_range(peer.memory_used + 1, 0, 101);
    agent_pressure_release(&pressure); /* without the files nothing is known */
    gauge.read(gauge.context, &peer);
    assert_int_equal(peer.cpu_pressure, -1);
    assert_int_equal(peer.memory_pressure, -1);
    assert_int_equal(peer.cpu_load, -1);
    assert_int_equal(peer.memory_used, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_gauge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
