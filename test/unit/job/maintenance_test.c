#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gates/maintenance.h"

static const char id[] = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

static void it_comes_back(void **state)
{
    (void)state;
    struct maintenance read, made = {.space = "shop/eu",
                                     .is_pause = true,
                                     .from_ms = 1767225600123,
                                     .set_ms = 1767225600000,
                                     .by = "otto",
                                     .reason = "new \"disks\"; 换盘"};
    memcpy(made.id, id, sizeof(made.id));
    for (int i = 0; i < 2; i++) {
        char *json = maintenance_encode(&made);
        assert_non_null(json);
        assert_int_equal(maintenance_decode(id, json, &read), OK);
        assert_memory_equal(&read, &made, sizeof(made));
        free(json);
        made.is_pause = false;
        made.to_ms = made.from_ms + 1;
    }
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
#define REST ",\"set_ms\":1,\"is_pause\":false"
    static const struct {
        int line;
        const char *id, *json;
        enum status want;
    } rows[] = {
        {__LINE__, id, "{\"from_ms\":1,\"to_ms\":2" REST "}", OK},
        {__LINE__, id, "{\"from_ms\":1,\"to_ms\":0,\"later\":true" REST "}", OK},
        {__LINE__, "x", "{\"from_ms\":1,\"to_ms\":2" REST "}", E_INVALID},
        {__LINE__, id, "", E_INVALID},
        {__LINE__, id, "[]", E_INVALID},
        {__LINE__, id, "{\"from_ms\":1" REST "}", E_INVALID},
        {__LINE__, id, "{\"from_ms\":2,\"to_ms\":1" REST "}", E_INVALID},
        {__LINE__, id, "{\"from_ms\":-1,\"to_ms\":1" REST "}", E_INVALID},
        {__LINE__, id, "{\"from_ms\":1,\"to_ms\":9223372036854775807" REST "}", E_INVALID},
        {__LINE__, id, "{\"from_ms\":1,\"to_ms\":2,\"namespace\":\"a//b\"" REST "}", E_INVALID},
        {__LINE__, id, "{\"from_ms\":1,\"to_ms\":2,\"reason\":7" REST "}", E_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct maintenance read;
        if (maintenance_decode(rows[i].id, rows[i].json, &read) != rows[i].want)
            fail_msg("line %d", rows[i].line);
    }
}

static void it_covers_a_span_and_a_namespace(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *space;
        int64_t to_ms;
        const char *job;
        int64_t at_ms;
        bool want;
    } rows[] = {
        {__LINE__, "", 200, "a", 99, false},
        {__LINE__, "", 200, "a", 100, true},
        {__LINE__, "", 200, "a", 199, true},
        {__LINE__, "", 200, "a", 200, false},
        {__LINE__, "", 0, "a", INT64_MAX, true},
        {__LINE__, "shop", 200, "shop/a", 100, true},
        {__LINE__, "shop", 200, "shop/eu/a", 100, true},
        {__LINE__, "shop/eu", 200, "shop/eu/a", 100, true},
        {__LINE__, "shop/eu", 200, "shop/a", 100, false},
        {__LINE__, "shop", 200, "shop", 100, false},
        {__LINE__, "shop", 200, "shopping/a", 100, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct maintenance item = {.from_ms = 100, .to_ms = rows[i].to_ms};
        strcpy(item.space, rows[i].space);
        if (maintenance_covers(&item, rows[i].job, rows[i].at_ms) != rows[i].want)
            fail_msg("line %d", rows[i].line);
    }
}

static void it_says_what_it_is(void **state)
{
    (void)state;
    struct maintenance item = {.reason = "disks"};
    char text[32];
    maintenance_tell(&item, text, sizeof(text));
    assert_string_equal(text, "disks");
    item.reason[0] = '\0';
    maintenance_tell(&item, text, sizeof(text));
    assert_string_equal(text, "the cluster");
    strcpy(item.space, "shop");
    maintenance_tell(&item, text, sizeof(text));
    assert_string_equal(text, "namespace shop");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(it_covers_a_span_and_a_namespace),
        cmocka_unit_test(it_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
