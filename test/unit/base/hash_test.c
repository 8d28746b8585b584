/* The values are frozen: which node a job runs on, and what `H` and `~` stand for, are computed
 * from this hash by every node of a cluster, of whatever version. A change here is never right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hash.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void bytes_give_frozen_values(void **state)
{
    (void)state;
    static const struct {
        int line;
        uint64_t seed;
        const char *bytes;
        size_t length;
        uint64_t want;
    } cases[] = {
        {__LINE__, 0, "", 0, UINT64_C(0xf52a15e9a9b5e89b)},
        {__LINE__, 0, "a", 1, UINT64_C(0x02c0bdbf481420f8)},
        {__LINE__, 1, "a", 1, UINT64_C(0x270aeb36a95726cf)},
        {__LINE__, 0, "\0", 1, UINT64_C(0x25fc6dd36ce04b20)},
        {__LINE__, 0, "\0\0", 2, UINT64_C(0x7bc210046bd616cc)},
        {__LINE__, 0, "\xff\x80", 2, UINT64_C(0xce476189e98c0818)},
        {__LINE__, 0, "foobar", 6, UINT64_C(0x404da9e3b74078c2)},
        {__LINE__, UINT64_MAX, "foobar", 6, UINT64_C(0x0e09251fda956ab3)},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        uint64_t got = hash_bytes(cases[i].seed, cases[i].bytes, cases[i].length);
        if (got != cases[i].want)
            fail_msg("line %d: got 0x%016llx", cases[i].line, (unsigned long long)got);
    }
}

static void texts_give_frozen_values(void **state)
{
    (void)state;
    static const struct {
        int line;
        uint64_t seed;
        const char *text;
        uint64_t want;
    } cases[] = {
        {__LINE__, 0, "", UINT64_C(0x25fc6dd36ce04b20)},
        {__LINE__, 0, "backup", UINT64_C(0x098680e9bc591ad4)},
        {__LINE__, 0, "backup2", UINT64_C(0xc1fcfea1304b9498)},
        {__LINE__, 42, "backup", UINT64_C(0xf438e4d3fabc339d)},
        {__LINE__, 0, "备份", UINT64_C(0x9d9bd947c5b070da)},
        {__LINE__, 0, "01J9ZK3V7Q0000000000000000", UINT64_C(0xc4f1eb4baa8e4ca0)},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        uint64_t got = hash_text(cases[i].seed, cases[i].text);
        if (got != cases[i].want)
            fail_msg("line %d: got 0x%016llx", cases[i].line, (unsigned long long)got);
    }
}

static void below_gives_frozen_values(void **state)
{
    (void)state;
    static const struct {
        int line;
        uint64_t hash, limit, want;
    } cases[] = {
        {__LINE__, 0, 1, 0},
        {__LINE__, UINT64_MAX, 1, 0},
        {__LINE__, 0, 60, 0},
        {__LINE__, UINT64_MAX, 60, 59},
        {__LINE__, UINT64_C(1) << 63, 60, 30},
        {__LINE__, (UINT64_C(1) << 63) - 1, 60, 29},
        {__LINE__, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1},
        {__LINE__, UINT64_C(0x123456789abcdef0), 28, 1},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        uint64_t got = hash_below(cases[i].hash, cases[i].limit);
        if (got != cases[i].want)
            fail_msg("line %d: got %llu", cases[i].line, (unsigned long long)got);
    }
}

static void chained_texts_keep_their_borders(void **state)
{
    (void)state;
    uint64_t ab_c = hash_text(hash_text(0, "ab"), "c");
    uint64_t a_bc = hash_text(hash_text(0, "a"), "bc");
    assert_true(ab_c != a_bc);
}

/* 6,000 names over 60 minutes: 100 each when even; a binomial spread stays well inside 50-150. */
static void below_spreads_evenly(void **state)
{
    (void)state;
    int counts[60] = {0};
    for (uint32_t i = 0; i < 6000; i++)
        counts[hash_below(hash_bytes(0, &i, sizeof(i)), 60)]++;
    for (int minute = 0; minute < 60; minute++)
        if (counts[minute] < 50 || counts[minute] > 150)
            fail_msg("minute %d was drawn %d times", minute, counts[minute]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_give_frozen_values),
        cmocka_unit_test(texts_give_frozen_values),
        cmocka_unit_test(below_gives_frozen_values),
        cmocka_unit_test(chained_texts_keep_their_borders),
        cmocka_unit_test(below_spreads_evenly),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
