/* What may be the name of a job, a channel, a calendar or a namespace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "job_name.h"

#define LONG_32 "abcdefghijklmnopqrstuvwxyz012345"

static void test_jobs(void **state)
{
    static const struct {
        int line;
        const char *name;
        const char *complaint; /* NULL: good */
    } cases[] = {
        {__LINE__, "a", NULL},
        {__LINE__, "billing/2026.v1_x-y", NULL},
        {__LINE__, "备份/数据库", NULL},
        {__LINE__, "夜间备份-01", NULL},
        {__LINE__, "sauvegarde-été", NULL},
        {__LINE__, "резервная.копия", NULL},
        {__LINE__, "バックアップ", NULL},
        {__LINE__, "백업", NULL},
        {__LINE__, "नमस्ते", NULL},
        {__LINE__, "نسخ", NULL},
        {__LINE__, "٣", NULL},
        {__LINE__, LONG_32 LONG_32 LONG_32 LONG_32, NULL},
        {__LINE__, LONG_32 LONG_32 LONG_32 LONG_32 "x", "is longer than 128 bytes"},
        {__LINE__, LONG_32 LONG_32 LONG_32 "一二三四五六七八九十一", "is longer than 128 bytes"},
        {__LINE__, "", "is empty"},
        {__LINE__, "-a", "must start with a letter or a digit"},
        {__LINE__, "/a", "must start with a letter or a digit"},
        {__LINE__, "\u0301a", "must start with a letter or a digit"},
        {__LINE__, "\u3164", "must start with a letter or a digit"}, /* Hangul filler */
        {__LINE__, "a b", "may hold letters, digits and . _ / - only"},
        {__LINE__, "a\u3000b", "may hold letters, digits and . _ / - only"}, /* wide blank */
        {__LINE__, "a\u00A0b", "may hold letters, digits and . _ / - only"},
        {__LINE__, "a\u200Bb", "may hold letters, digits and . _ / - only"}, /* no width */
        {__LINE__, "a\u202Eb", "may hold letters, digits and . _ / - only"}, /* right to left */
        {__LINE__, "a\u2066b", "may hold letters, digits and . _ / - only"}, /* isolate */
        {__LINE__, "a\u00ADb", "may hold letters, digits and . _ / - only"}, /* soft hyphen */
        {__LINE__, "a\uFE0F", "may hold letters, digits and . _ / - only"},  /* variation */
        {__LINE__, "a\u115F", "may hold letters, digits and . _ / - only"},  /* Hangul filler */
        {__LINE__, "a\x01", "may hold letters, digits and . _ / - only"},
        {__LINE__, "a\x7F", "may hold letters, digits and . _ / - only"},
        {__LINE__, "a\xC2\x85", "may hold letters, digits and . _ / - only"},
        {__LINE__, "備份！", "may hold letters, digits and . _ / - only"},
        {__LINE__, "a😀", "may hold letters, digits and . _ / - only"},
        {__LINE__, "a\xFF", "is not UTF-8"},
        {__LINE__, "a\xE4\xB8", "is not UTF-8"},
        {__LINE__, "a\xC0\xAF", "is not UTF-8"},     /* an overlong slash */
        {__LINE__, "a\xED\xA0\x80", "is not UTF-8"}, /* half a pair */
        {__LINE__, "cafe\u0301",
         "is written with separate accents; write it with composed letters (Unicode NFC)"},
        {__LINE__, "\u212B", /* Ångström, which is written as the letter */
         "is written with separate accents; write it with composed letters (Unicode NFC)"},
        {__LINE__, "a//b", "has a slash with no name behind it"},
        {__LINE__, "备份/", "has a slash with no name behind it"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = job_name_complaint(cases[i].name);
        if (strcmp(found ? found : "", cases[i].complaint ? cases[i].complaint : "") != 0)
            fail_msg("line %d: %s", cases[i].line, found ? found : "no complaint");
    }
}

static void test_others(void **state)
{
    (void)state;
    assert_null(channel_name_complaint("值班"));
    assert_null(calendar_name_complaint("法定节假日"));
    assert_null(namespace_complaint("团队/一组"));
    assert_null(namespace_complaint("_internal")); /* accounts of earlier versions have such */
    assert_non_null(channel_name_complaint("a/b"));
    assert_non_null(calendar_name_complaint("a/b"));
    assert_non_null(calendar_name_complaint("一二三四五六七八九十一二三四五六七八九十一二"));
    assert_non_null(namespace_complaint(""));
    assert_non_null(namespace_complaint("a/"));
    assert_non_null(namespace_complaint("a\u202Eb"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
