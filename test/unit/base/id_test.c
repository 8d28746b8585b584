#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "id.h"

static const uint8_t low[10] = {0};
static const uint8_t high[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

static void ids_have_frozen_texts(void **state)
{
    (void)state;
    static const struct {
        int line;
        int64_t ms;
        const uint8_t *random;
        const char *want;
    } cases[] = {
        {__LINE__, 0, low, "00000000000000000000000000"},
        {__LINE__, 0, high, "0000000000ZZZZZZZZZZZZZZZZ"},
        {__LINE__, (INT64_C(1) << 48) - 1, high, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"},
        {__LINE__, 1, low, "00000000010000000000000000"},
        {__LINE__, 1767225600000, low, "01KDVDNA000000000000000000"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct id id = id_make((struct wall_ms){cases[i].ms}, cases[i].random), back;
        char text[ID_TEXT + 1];
        id_format(&id, text);
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
        assert_int_equal(id_parse(text, &back), OK);
        assert_int_equal(id_compare(&id, &back), 0);
    }
}

static void older_ids_sort_first(void **state)
{
    (void)state;
    struct id last = id_make((struct wall_ms){1}, low);
    char last_text[ID_TEXT + 1], text[ID_TEXT + 1];
    id_format(&last, last_text);
    for (int64_t ms = 2; ms < INT64_C(1) << 48; ms *= 3) {
        struct id id = id_make((struct wall_ms){ms}, low);
        id_format(&id, text);
        assert_true(id_compare(&last, &id) < 0);
        assert_true(strcmp(last_text, text) < 0);
        last = id_make((struct wall_ms){ms}, high);
        id_format(&last, last_text);
    }
}

static void texts_are_read_kindly(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        const char *same; /* NULL: refused */
    } cases[] = {
        {__LINE__, "01kdvdna000000000000000000", "01KDVDNA000000000000000000"},
        {__LINE__, "OIKDVDNAOOOOOOOOOOOOOOOOOL", "01KDVDNA000000000000000001"},
        {__LINE__, "oikdvdnaoooooooooooooooool", "01KDVDNA000000000000000001"},
        {__LINE__, "", NULL},
        {__LINE__, "0", NULL},
        {__LINE__, "0000000000000000000000000", NULL},
        {__LINE__, "000000000000000000000000000", NULL},
        {__LINE__, "80000000000000000000000000", NULL}, /* more than 128 bits */
        {__LINE__, "0000000000000000000000000U", NULL},
        {__LINE__, "0000000000000 000000000000", NULL},
        {__LINE__, "-0000000000000000000000000", NULL},
        {__LINE__, "0000000000000000000000000\xc3", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct id id = {{7}}, before = id;
        char text[ID_TEXT + 1];
        enum status st = id_parse(cases[i].text, &id);
        if ((st == OK) != (cases[i].same != NULL))
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        if (st != OK) {
            assert_int_equal(id_compare(&id, &before), 0);
            continue;
        }
        id_format(&id, text);
        if (strcmp(text, cases[i].same) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
    }
}

static void the_next_is_the_next(void **state)
{
    static const struct {
        int line;
        const char *id, *next;
    } cases[] = {
        {__LINE__, "01KDVDNA000000000000000000", "01KDVDNA000000000000000001"},
        {__LINE__, "01KDVDNA00000000000000000Z", "01KDVDNA000000000000000010"},
        {__LINE__, "01KDVDNA00ZZZZZZZZZZZZZZZZ", "01KDVDNA010000000000000000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct id id;
        char text[ID_TEXT + 1];
        assert_int_equal(id_parse(cases[i].id, &id), OK);
        id = id_next(&id);
        id_format(&id, text);
        if (strcmp(text, cases[i].next) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
    }
}

static void zero_is_zero(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(struct id); i++) {
        struct id id = {{0}};
        assert_true(id_is_zero(&id));
        id.bytes[i] = 1;
        assert_false(id_is_zero(&id));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_have_frozen_texts), cmocka_unit_test(older_ids_sort_first),
        cmocka_unit_test(texts_are_read_kindly), cmocka_unit_test(the_next_is_the_next),
        cmocka_unit_test(zero_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
