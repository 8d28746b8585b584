/* The body of a batch, cut into items, against jansson: what it refuses is refused, what it takes
 * is taken with the same items. */
#include "batch/batch_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "batch_same.h"

static void test_table(void **state)
{
    static const struct {
        int line;
        bool taken;
        const char *text;
    } cases[] = {
        {__LINE__, true, "{}"},
        {__LINE__, true, " { } \n"},
        {__LINE__, true, "{\"put\":[]}"},
        {__LINE__, true, "{\"put\":[{\"name\":\"a\"},{}],\"delete\":[\"b\"],\"dry_run\":true}"},
        {__LINE__, true, "{\"dry_run\" : false , \"delete\" : [ ] , \"put\" : [ 1 , null , [] ] }"},
        {__LINE__, true, "{\"put\":[\"]\",\"\\\"}\",{\"a\":\"\\\\\"}]}"},
        {__LINE__, true, "{\"\\u0070ut\":[1]}"},
        {__LINE__, true, "{\"put\":[{\"a\":[{\"b\":[[]]}]}]}"},
        {__LINE__, false, ""},
        {__LINE__, false, "[]"},
        {__LINE__, false, "{"},
        {__LINE__, false, "{}{}"},
        {__LINE__, false, "{} x"},
        {__LINE__, false, "{,}"},
        {__LINE__, false, "{\"put\"}"},
        {__LINE__, false, "{\"put\":}"},
        {__LINE__, false, "{\"put\":{}}"},
        {__LINE__, false, "{\"put\":[}"},
        {__LINE__, false, "{\"put\":[]"},
        {__LINE__, false, "{\"put\":[],}"},
        {__LINE__, false, "{\"put\":[1,]}"},
        {__LINE__, false, "{\"put\":[,1]}"},
        {__LINE__, false, "{\"put\":[1 2]}"},
        {__LINE__, false, "{\"put\":[1]\"delete\":[]}"},
        {__LINE__, false, "{\"put\":[[}]}"},
        {__LINE__, false, "{\"put\":[{]]}"},
        {__LINE__, false, "{\"put\":[\"a]}"},
        {__LINE__, false, "{\"put\":[\"a\\\"]}"},
        {__LINE__, false, "{\"put\":[],\"put\":[]}"},
        {__LINE__, false, "{\"put\":[],\"\\u0070ut\":[]}"},
        {__LINE__, false, "{\"put\":[{\"a\":1,\"a\":2}]}"},
        {__LINE__, false, "{\"puts\":[]}"},
        {__LINE__, false, "{put:[]}"},
        {__LINE__, false, "{\"put\":[\"\\u0000\"]}"},
        {__LINE__, false, "{\"put\":[\"\xFF\"]}"},
        {__LINE__, false, "{\"put\":[01]}"},
        {__LINE__, false, "{\"put\":[1]]}"},
        {__LINE__, false, "{\"put\":[tru]}"},
        {__LINE__, false, "\xEF\xBB\xBF{}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool taken = false;
        bool same = batch_is_same(cases[i].text, strlen(cases[i].text), &taken);
        if (!same || taken != cases[i].taken)
            fail_msg("line %d: %s: %s", cases[i].line, cases[i].text,
                     !same   ? "jansson reads it otherwise"
                     : taken ? "taken"
                             : "refused");
    }
}

/* A 0 in the text is no end of it. */
static void test_zero(void **state)
{
    static const char inside[] = "{\"put\":[1\0]}", behind[] = "{\"put\":[1]}\0";
    bool taken;
    (void)state;
    assert_true(batch_is_same(inside, sizeof(inside) - 1, &taken) && !taken);
    assert_true(batch_is_same(behind, sizeof(behind) - 1, &taken) && !taken);
}

/* jansson allows so many levels; the last that it takes is taken, and the next refused. */
static void test_depth(void **state)
{
    (void)state;
    for (size_t depth = 2040; depth <= 2052; depth++) {
        for (int filled = 0; filled < 2; filled++) {
            char text[8192] = "{\"put\":[";
            size_t at = strlen(text);
            bool taken;
            memset(text + at, '[', depth);
            at += depth;
            at += (size_t)snprintf(text + at, 8, filled ? "1" : "");
            memset(text + at, ']', depth);
            at += depth;
            at += (size_t)snprintf(text + at, 8, "]}");
            if (!batch_is_same(text, at, &taken))
                fail_msg("depth %zu, filled %d: jansson reads it otherwise", depth, filled);
        }
    }
}

/* What a body is made of, put together by chance: a tenth or so is JSON. */
static void test_random(void **state)
{
    static const char *const words[] = {
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"put\":[",
        "\"delete\":[",
        "\"dry_run\":",
        "true",
        "null",
        "1",
        "-0.5e3",
        "\"a\"",
        "\"\\\"\"",
        "\"]\"",
        "\"\\\\\"",
        "{}",
        "[]",
        "{\"name\":\"x\"}",
        " ",
        "\n",
        "],",
        "]}",
        "\"put\"",
        "\"",
        "\\",
        "{\"put\":[",
    };
    enum { WORDS = sizeof(words) / sizeof(words[0]), ROUNDS = 200000 };
    int taken_count = 0;
    (void)state;
    srandom(7);
    for (int round = 0; round < ROUNDS; round++) {
        char text[512] = "{\"put\":[";
        bool taken;
        int count = (int)(random() % 10);
        for (int i = 0; i < count; i++)
            strcat(text, words[random() % WORDS]);
        if (random() % 2)
            strcat(text, "]}");
        if (!batch_is_same(text, strlen(text), &taken))
            fail_msg("round %d: jansson reads this otherwise: %s", round, text);
        taken_count += taken;
    }
    assert_true(taken_count > ROUNDS / 100);
}

/* Good bodies with one byte changed, taken out or doubled. */
static void test_mutations(void **state)
{
    static const char good[] =
        "{\"put\":[{\"name\":\"a/b\",\"env\":{\"X\":\"\\\"\\\\\"}},[1,2.5e1],"
        "\"\\u00e4\"],\"delete\":[\"c\" , \"d\"],\"dry_run\":true}";
    static const char bytes[] = "{}[],:\"\\ 0a\n\x01\x80";
    (void)state;
    for (size_t at = 0; at + 1 < sizeof(good); at++) {
        for (size_t i = 0; i < sizeof(bytes); i++) { /* with the 0 */
            char text[sizeof(good) + 1];
            bool taken;
            memcpy(text, good, sizeof(good));
            text[at] = bytes[i];
            assert_true(batch_is_same(text, sizeof(good) - 1, &taken));
            memcpy(text + at + 1, good + at, sizeof(good) - at);
            assert_true(batch_is_same(text, sizeof(good), &taken));
        }
        char text[sizeof(good)];
        bool taken;
        memcpy(text, good, at);
        memcpy(text + at, good + at + 1, sizeof(good) - at - 1);
        assert_true(batch_is_same(text, sizeof(good) - 2, &taken));
        assert_true(batch_is_same(good, at, &taken) && !taken);
    }
}

static void test_place(void **state)
{
    struct batch_scan scan;
    int line, column;
    (void)state;
    batch_scan_init(&scan, "{\n\"\xC3\xA4\" x", 8);
    batch_scan_place(&scan, 0, &line, &column);
    assert_true(line == 1 && column == 1);
    batch_scan_place(&scan, 7, &line, &column);
    assert_true(line == 2 && column == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_zero),
        cmocka_unit_test(test_depth),     cmocka_unit_test(test_random),
        cmocka_unit_test(test_mutations), cmocka_unit_test(test_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
