#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tzif_build.h"
#include "zone/tzif.h"

static const int32_t offsets[] = {-17762, -18000, -14400, -18000};
static const int64_t times[] = {-2717650800, -1633280400, -1615140000, -1000000000};
static const unsigned char type_indices[] = {1, 2, 1, 3};

static const struct tzif_build good = {
    .footer = "EST5EDT,M3.2.0,M11.1.0",
    .times = times,
    .type_indices = type_indices,
    .transitions = 4,
    .offsets = offsets,
    .types = 4,
};

enum {
    AT_COUNTS = TZIF_BUILD_HEADER_2 + 20,
    AT_TYPE_INDICES = TZIF_BUILD_DATA + 4 * 8,
    AT_TYPES = AT_TYPE_INDICES + 4,
    AT_FOOTER = AT_TYPES + 4 * 6 + 4,
};

static void keeps_changes_of_offset_only(void **state)
{
    (void)state;
    unsigned char bytes[TZIF_BUILD_SIZE];
    struct parse_error error;
    struct tzif tzif;
    size_t length = tzif_build(&good, bytes);
    assert_int_equal(tzif_parse(bytes, length, &tzif, &error), OK);
    assert_int_equal(tzif.first_offset_s, -17762);
    assert_int_equal(tzif.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tzif.changes[i].start_s, times[i]);
        assert_int_equal(tzif.changes[i].offset_s, offsets[type_indices[i]]);
    }
    assert_true(tzif.has_rule);
    assert_int_equal(tzif.rule_from_s, times[3]); /* changes only the type */
    tzif_release(&tzif);
}

static void reads_all_versions_from_2(void **state)
{
    (void)state;
    static const char versions[] = {'2', '3', '4', '5'};
    for (size_t i = 0; i < sizeof(versions); i++) {
        unsigned char bytes[TZIF_BUILD_SIZE];
        struct parse_error error = {0};
        struct tzif tzif;
        struct tzif_build build = good;
        build.version = versions[i];
        if (tzif_parse(bytes, tzif_build(&build, bytes), &tzif, &error) != OK)
            fail_msg("version %c: %s", versions[i], error.message);
        tzif_release(&tzif);
    }
}

/* Every prefix of a good file is refused, and none is read beyond its end. */
static void refuses_every_truncation(void **state)
{
    (void)state;
    unsigned char bytes[TZIF_BUILD_SIZE];
    size_t length = tzif_build(&good, bytes);
    for (size_t cut = 0; cut < length; cut++) {
        /* An exact copy on the heap, so that AddressSanitizer sees a read behind it. */
        unsigned char *copy = malloc(cut + !cut);
        struct parse_error error = {.column = -1};
        struct tzif tzif;
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        enum status st = tzif_parse(copy, cut, &tzif, &error);
        free(copy);
        if (st != E_CORRUPT || error.column != 0 || !error.message[0])
            fail_msg("cut at %zu of %zu: %s", cut, length, status_text(st));
    }
}

/* One byte or one 32-bit number of a good file is replaced. */
static void refuses_what_is_damaged(void **state)
{
    (void)state;
    static const struct {
        int line;
        size_t at;
        int width;
        uint32_t value;
        const char *message;
    } cases[] = {
        {__LINE__, 0, 1, 'X', "a header does not begin with \"TZif\""},
        {__LINE__, 4, 1, 0, "version 1 of TZif has only 32-bit times; 2 or newer is needed"},
        {__LINE__, 4, 1, 1, "the version of TZif is unknown"},
        {__LINE__, 4, 1, '1', "the version of TZif is unknown"},
        {__LINE__, 20, 4, UINT32_MAX, "the file ends within its 32-bit data"},
        {__LINE__, 32, 4, UINT32_MAX, "the file ends within its 32-bit data"},
        {__LINE__, 32, 4, 1, "a header does not begin with \"TZif\""},
        {__LINE__, TZIF_BUILD_HEADER_2, 1, 't', "a header does not begin with \"TZif\""},
        {__LINE__, AT_COUNTS, 4, 1, "its indicators are not as many as its local time types"},
        {__LINE__, AT_COUNTS + 4, 4, 3, "its indicators are not as many as its local time types"},
        {__LINE__, AT_COUNTS + 8, 4, 1, "it counts leap seconds, which Unix time does not"},
        {__LINE__, AT_COUNTS + 12, 4, UINT32_MAX, "it has too many transitions"},
        {__LINE__, AT_COUNTS + 12, 4, TZIF_TRANSITIONS_MAX, "the file ends within its 64-bit data"},
        {__LINE__, AT_COUNTS + 16, 4, 0, "the number of local time types is not 1 to 256"},
        {__LINE__, AT_COUNTS + 16, 4, 257, "the number of local time types is not 1 to 256"},
        {__LINE__, AT_COUNTS + 16, 4, 256, "the file ends within its 64-bit data"},
        {__LINE__, AT_COUNTS + 20, 4, 0, "it has no abbreviations"},
        {__LINE__, AT_COUNTS + 20, 4, UINT32_MAX, "the file ends within its 64-bit data"},
        {__LINE__, TZIF_BUILD_DATA, 1, 0, "its transitions are not in ascending order"},
        {__LINE__, TZIF_BUILD_DATA + 12, 4, 1577316496, /* the same twice */
         "its transitions are not in ascending order"},
        {__LINE__, TZIF_BUILD_DATA + 24, 1, 0x7f, "a transition is later than any calendar"},
        {__LINE__, AT_TYPE_INDICES + 2, 1, 4,
         "a transition names a local time type that is not there"},
        {__LINE__, AT_TYPES, 4, 26 * 3600, "an offset from UTC is a day or more"},
        {__LINE__, AT_TYPES, 4, (uint32_t)(-25 * 3600), "an offset from UTC is a day or more"},
        {__LINE__, AT_TYPES, 4, 0x80000000, "an offset from UTC is a day or more"},
        {__LINE__, AT_TYPES + 4, 1, 2, "a daylight saving flag is neither 0 nor 1"},
        {__LINE__, AT_TYPES + 5, 1, 4, "an abbreviation lies outside of its table"},
        {__LINE__, AT_FOOTER, 1, 'X', "the footer is missing"},
        {__LINE__, AT_FOOTER + 4, 1, 'X', "its footer, column 8: an offset has 0 to 24 hours"},
        {__LINE__, AT_FOOTER + 5, 1, 0,
         "its footer, column 5: a zone's abbreviation has three "
         "letters or more"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char bytes[TZIF_BUILD_SIZE];
        struct parse_error error = {0};
        struct tzif tzif;
        size_t length = tzif_build(&good, bytes);
        if (cases[i].width == 1)
            bytes[cases[i].at] = (unsigned char)cases[i].value;
        else
            tzif_build_poke(bytes, cases[i].at, cases[i].value);
        enum status st = tzif_parse(bytes, length, &tzif, &error);
        if (st != E_CORRUPT || strcmp(error.message, cases[i].message) != 0)
            fail_msg("line %d: %s: %s", cases[i].line, status_text(st), error.message);
    }
}

static void refuses_leap_seconds(void **state)
{
    (void)state;
    unsigned char bytes[TZIF_BUILD_SIZE];
    struct parse_error error;
    struct tzif tzif;
    struct tzif_build build = good;
    build.leaps = 27;
    assert_int_equal(tzif_parse(bytes, tzif_build(&build, bytes), &tzif, &error), E_CORRUPT);
    assert_string_equal(error.message, "it counts leap seconds, which Unix time does not");
    /* In the 32-bit block they do no harm. */
    unsigned char with_old[TZIF_BUILD_SIZE];
    size_t length = tzif_build(&good, bytes);
    memcpy(with_old, bytes, TZIF_BUILD_HEADER_2);
    tzif_build_poke(with_old, 28, 1);
    memset(with_old + TZIF_BUILD_HEADER_2, 0, 8);
    memcpy(with_old + TZIF_BUILD_HEADER_2 + 8, bytes + TZIF_BUILD_HEADER_2,
           length - TZIF_BUILD_HEADER_2);
    assert_int_equal(tzif_parse(with_old, length + 8, &tzif, &error), OK);
    tzif_release(&tzif);
}

static void ignores_what_follows_the_footer(void **state)
{
    (void)state;
    unsigned char bytes[TZIF_BUILD_SIZE];
    struct parse_error error;
    struct tzif tzif;
    size_t length = tzif_build(&good, bytes);
    bytes[length] = 'X';
    assert_int_equal(tzif_parse(bytes, length + 1, &tzif, &error), OK);
    tzif_release(&tzif);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_changes_of_offset_only),
        cmocka_unit_test(reads_all_versions_from_2),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(refuses_what_is_damaged),
        cmocka_unit_test(refuses_leap_seconds),
        cmocka_unit_test(ignores_what_follows_the_footer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
