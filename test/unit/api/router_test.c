#include "router.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static void no_handler(struct call *call)
{
    (void)call;
}

static const struct route routes[] = {
    {HTTP_GET, "/api/v1/jobs", RIGHT_VIEW, 0, "limit cursor", "", no_handler, ""},
    {HTTP_POST, "/api/v1/jobs:batch", RIGHT_EDIT, 0, "", "put", no_handler, ""},
    {HTTP_GET, "/api/v1/jobs/{name}", RIGHT_VIEW, 0, "", "", no_handler, ""},
    {HTTP_PUT, "/api/v1/jobs/{name}", RIGHT_EDIT, 0, "", ANY_BODY, no_handler, ""},
    {HTTP_POST, "/api/v1/jobs/{name}/run", RIGHT_OPERATE, 0, "", "", no_handler, ""},
    {HTTP_GET, "/api/v1/jobs/{name}/versions/{revision}", RIGHT_VIEW, 0, "", "", no_handler, ""},
};

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void test_find(void **state)
{
    static const struct {
        int line;
        unsigned method;
        const char *path;
        enum route_result result;
        int route; /* index */
        const char *argument, *second;
    } cases[] = {
        {__LINE__, HTTP_GET, "/api/v1/jobs", ROUTE_FOUND, 0, NULL, NULL},
        {__LINE__, HTTP_POST, "/api/v1/jobs:batch", ROUTE_FOUND, 1, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a", ROUTE_FOUND, 2, "a", NULL},
        {__LINE__, HTTP_PUT, "/api/v1/jobs/a", ROUTE_FOUND, 3, "a", NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a%2Fb%2fc", ROUTE_FOUND, 2, "a/b/c", NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a+b", ROUTE_FOUND, 2, "a+b", NULL}, /* no query */
        {__LINE__, HTTP_GET, "/api/v1/jobs/%C3%A9", ROUTE_FOUND, 2, "\xC3\xA9", NULL},
        {__LINE__, HTTP_POST, "/api/v1/jobs/a/run", ROUTE_FOUND, 4, "a", NULL},
        {__LINE__, HTTP_POST, "/api/v1/jobs/run/run", ROUTE_FOUND, 4, "run", NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a%2Fb/versions/17", ROUTE_FOUND, 5, "a/b", "17"},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a/versions/", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a/versions/%", ROUTE_BAD_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1jobs", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs//run", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a/", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_POST, "/api/v1/jobs/a/runs", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_POST, "/api/v1/jobs/a/run/x", ROUTE_NO_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_POST, "/api/v1/jobs", ROUTE_NO_METHOD, 0, NULL, NULL},
        {__LINE__, 0, "/api/v1/jobs", ROUTE_NO_METHOD, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/%", ROUTE_BAD_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/a%2", ROUTE_BAD_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/%xy", ROUTE_BAD_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/%00", ROUTE_BAD_PATH, 0, NULL, NULL},
        {__LINE__, HTTP_GET, "/api/v1/jobs/%C3", ROUTE_BAD_PATH, 0, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct route *route = NULL;
        char *arguments[ROUTE_ARGUMENTS] = {NULL};
        unsigned methods = 0;
        enum route_result result =
            router_find(routes, 6, 0, cases[i].path, cases[i].method, &route, arguments, &methods);
        bool good = result == cases[i].result;
        if (good && result == ROUTE_FOUND)
            good = route == &routes[cases[i].route] && same(arguments[0], cases[i].argument) &&
                   same(arguments[1], cases[i].second);
        if (!good)
            fail_msg("line %d: result %d, argument %s", cases[i].line, (int)result,
                     arguments[0] ? arguments[0] : "(none)");
        free(arguments[0]);
        free(arguments[1]);
    }
}

static void test_target(void **state)
{
    static const struct {
        int line;
        const char *target, *path, *query; /* path NULL: not served */
    } cases[] = {
        {__LINE__, "/", "/", NULL},
        {__LINE__, "/a/b?x=1&y=?", "/a/b", "x=1&y=?"},
        {__LINE__, "/a?", "/a", ""},
        {__LINE__, "/a//b", "/a//b", NULL}, /* which no route matches */
        {__LINE__, "/a/%2e%2e/b", "/a/%2e%2e/b", NULL},
        {__LINE__, "//a/b", NULL, NULL},
        {__LINE__, "http://host/a", NULL, NULL},
        {__LINE__, "*", NULL, NULL},
        {__LINE__, "", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *path = NULL;
        const char *query = NULL;
        bool served = target_split(cases[i].target, &path, &query);
        if (served != (cases[i].path != NULL) ||
            (served && (strcmp(path, cases[i].path) != 0 || !query != !cases[i].query ||
                        (query && strcmp(query, cases[i].query) != 0))))
            fail_msg("line %d: %s", cases[i].line, path ? path : "(not served)");
        free(path);
    }
}

static void test_methods(void **state)
{
    const struct route *route;
    char *arguments[ROUTE_ARGUMENTS];
    unsigned methods = 0;
    struct strbuf text;
    (void)state;
    strbuf_init(&text);
    assert_int_equal(
        router_find(routes, 6, 0, "/api/v1/jobs/a", HTTP_DELETE, &route, arguments, &methods),
        ROUTE_NO_METHOD);
    router_print_methods(methods, &text);
    assert_string_equal(text.text, "GET, HEAD, PUT");
    strbuf_release(&text);
}

static void test_query(void **state)
{
    static const struct {
        int line;
        const char *text;
        enum status status;
        const char *q, *limit; /* NULL: not given */
        enum query_mistake mistake;
        const char *name; /* in the error */
    } cases[] = {
        {__LINE__, NULL, OK, NULL, NULL, 0, ""},
        {__LINE__, "", OK, NULL, NULL, 0, ""},
        {__LINE__, "q=a", OK, "a", NULL, 0, ""},
        {__LINE__, "&q=a&&limit=5&", OK, "a", "5", 0, ""},
        {__LINE__, "q=a+b%26c%3D+", OK, "a b&c= ", NULL, 0, ""},
        {__LINE__, "q=k=v", OK, "k=v", NULL, 0, ""},
        {__LINE__, "q", OK, "", NULL, 0, ""},
        {__LINE__, "%71=a", OK, "a", NULL, 0, ""},
        {__LINE__, "x=1", E_INVALID, NULL, NULL, QUERY_UNKNOWN, "x"},
        {__LINE__, "q=1&q=2", E_INVALID, NULL, NULL, QUERY_TWICE, "q"},
        {__LINE__, "=1", E_INVALID, NULL, NULL, QUERY_UNKNOWN, ""},
        {__LINE__, "q=%f", E_INVALID, NULL, NULL, QUERY_NOT_TEXT, ""},
        {__LINE__, "q=%ff", E_INVALID, NULL, NULL, QUERY_NOT_TEXT, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct query query = {0};
        struct query_error error = {0};
        enum status st = query_parse(cases[i].text, "q limit", &query, &error);
        const char *q = query_get(&query, "q"), *limit = query_get(&query, "limit");
        if (st != cases[i].status || error.mistake != cases[i].mistake ||
            strcmp(error.name, cases[i].name) != 0 ||
            (q ? !cases[i].q || strcmp(q, cases[i].q) != 0 : cases[i].q != NULL) ||
            (limit ? !cases[i].limit || strcmp(limit, cases[i].limit) != 0
                   : cases[i].limit != NULL))
            fail_msg("line %d: status %d, %s", cases[i].line, (int)st, error.name);
        query_release(&query);
    }
}

static void test_word_in_list(void **state)
{
    (void)state;
    assert_true(word_in_list("a bc d", "bc"));
    assert_true(word_in_list("a bc d", "d"));
    assert_false(word_in_list("a bc d", "b"));
    assert_false(word_in_list("a bc d", "bcd"));
    assert_false(word_in_list("", "a"));
    assert_false(word_in_list("a b", ""));
}

/* As much as it needs, and little for who need not be known. */
static void test_body_max(void **state)
{
    static const struct {
        int line;
        enum right right;
        unsigned flags;
        const char *fields;
        size_t most;
    } cases[] = {
        {__LINE__, RIGHT_PUBLIC, 0, "name password", 16 << 10},
        {__LINE__, RIGHT_PUBLIC, ROUTE_LARGE, ANY_BODY, 16 << 10},
        {__LINE__, RIGHT_OPERATE, ROUTE_JOB, "", 16 << 10},
        {__LINE__, RIGHT_EDIT, ROUTE_JOB, ANY_BODY, 1 << 20},
        {__LINE__, RIGHT_ADMIN, 0, "name", 1 << 20},
        {__LINE__, RIGHT_EDIT, ROUTE_LARGE | ROUTE_SCOPED, "put delete", 12 << 20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct route route = {
            .right = cases[i].right, .flags = cases[i].flags, .fields = cases[i].fields};
        if (route_body_max(&route) != cases[i].most)
            fail_msg("line %d: %zu", cases[i].line, route_body_max(&route));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_body_max), cmocka_unit_test(test_find),
        cmocka_unit_test(test_target),   cmocka_unit_test(test_methods),
        cmocka_unit_test(test_query),    cmocka_unit_test(test_word_in_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
