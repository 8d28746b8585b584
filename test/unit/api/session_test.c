/* Cookies: who they say, when they end, and that nobody else can make one. */
#include "auth/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static const uint8_t secret[SESSION_SECRET] = {1, 2, 3}, other[SESSION_SECRET] = {1, 2, 4};

static void test_life(void **state)
{
    const int64_t begin_s = 1800000000;
    static const struct {
        int line;
        int64_t seen_s, now_s; /* after it began */
        bool is_good;
    } cases[] = {
        {__LINE__, 0, 0, true},
        {__LINE__, 0, SESSION_IDLE_S - 1, true},
        {__LINE__, 0, SESSION_IDLE_S, false},
        {__LINE__, SESSION_IDLE_S - 1, SESSION_IDLE_S, true},
        {__LINE__, SESSION_ABSOLUTE_S - 10, SESSION_ABSOLUTE_S - 1, true},
        {__LINE__, SESSION_ABSOLUTE_S - 10, SESSION_ABSOLUTE_S, false},
        {__LINE__, 100, 0, true},   /* the clock of another node is ahead ... */
        {__LINE__, 4000, 0, false}, /* ... but not by an hour */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct session session = {.issued_ms = begin_s * 1000,
                                  .seen_s = begin_s + cases[i].seen_s,
                                  .generation = 7,
                                  .name = "an.na@x"};
        struct session read = {.generation = 0};
        char text[SESSION_TEXT];
        session_print(&session, secret, text);
        if (session_read(text, secret, begin_s + cases[i].now_s, &read) != cases[i].is_good)
            fail_msg("line %d", cases[i].line);
        if (!cases[i].is_good)
            continue;
        assert_string_equal(read.name, "an.na@x");
        assert_int_equal(read.generation, 7);
        assert_false(read.is_link);
        assert_false(session_read(text, other, begin_s + cases[i].now_s, &read));
    }
}

static void test_no_sessions(void **state)
{
    static const char *const texts[] = {
        "",
        ".",
        "1.u.1.1.1.anna",
        "1.u.1.1.1.anna.",
        "x",
        "1.u.1.1.1.anna.0000000000000000000000000000000000000000000000000000000000000000"};
    struct session read;
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (session_read(texts[i], secret, 1, &read))
            fail_msg("%s", texts[i]);
    }
}

static void test_devices(void **state)
{
    const int64_t begin_s = 1800000000;
    struct device device = {.issued_s = begin_s, .id = "0123456789abcdef", .name = "an.na@x"};
    struct device read = {.issued_s = 0};
    struct session session = {.issued_ms = begin_s * 1000, .seen_s = begin_s, .name = "anna"};
    char text[SESSION_TEXT];
    (void)state;
    device_print(&device, secret, text);
    assert_true(device_read(text, secret, begin_s + DEVICE_LIFE_S - 1, &read));
    assert_string_equal(read.name, "an.na@x");
    assert_string_equal(read.id, "0123456789abcdef");
    assert_false(device_read(text, secret, begin_s + DEVICE_LIFE_S, &read));
    assert_false(device_read(text, secret, begin_s - 4000, &read));
    assert_false(device_read(text, other, begin_s, &read));
    assert_false(session_read(text, secret, begin_s, &session)); /* it lets nobody in */
    session_print(&session, secret, text);
    assert_false(device_read(text, secret, begin_s, &read));
    device_print(&device, secret, text);
    text[strlen("1.d.1800000000.")] = 'f';
    assert_false(device_read(text, secret, begin_s, &read));
}

static void test_cookies(void **state)
{
    static const struct {
        int line;
        const char *header, *value;
    } cases[] = {
        {__LINE__, "s=1", "1"},
        {__LINE__, "a=2; s=1; b=3", "1"},
        {__LINE__, "a=2;s=", ""},
        {__LINE__, "xs=1", NULL},
        {__LINE__, "sx=1", NULL},
        {__LINE__, "s", NULL},
        {__LINE__, "", NULL},
        {__LINE__, ";;; ;", NULL},
        {__LINE__, "s=123456789", NULL}, /* longer than there is room */
        {__LINE__, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char value[8] = "";
        bool found = cookie_find(cases[i].header, "s", value, sizeof(value));
        if (found != (cases[i].value != NULL) || (found && strcmp(value, cases[i].value) != 0))
            fail_msg("line %d: %s", cases[i].line, value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_no_sessions),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_cookies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
