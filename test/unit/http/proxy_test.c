#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "proxy.h"

static void test_client(void **state)
{
    static const struct {
        int line;
        const char *trusted, *peer, *forwarded, *client;
    } cases[] = {
        {__LINE__, NULL, "192.0.2.1", NULL, "192.0.2.1"},
        {__LINE__, NULL, "192.0.2.1", "198.51.100.7", "192.0.2.1"}, /* nobody is trusted */
        {__LINE__, "192.0.2.1", "192.0.2.1", "198.51.100.7", "198.51.100.7"},
        {__LINE__, "192.0.2.1", "192.0.2.1", NULL, "192.0.2.1"},
        {__LINE__, "192.0.2.1", "192.0.2.2", "198.51.100.7", "192.0.2.2"},
        /* Whatever the client says of itself stands further left. */
        {__LINE__, "192.0.2.1", "192.0.2.1", "127.0.0.1, 198.51.100.7", "198.51.100.7"},
        {__LINE__, "192.0.2.0/24", "192.0.2.1", "198.51.100.7, 192.0.2.9", "198.51.100.7"},
        {__LINE__, "192.0.2.0/24", "192.0.2.1", "192.0.2.8,192.0.2.9", "192.0.2.8"},
        {__LINE__, "192.0.2.0/24", "192.0.2.1", "nonsense, 192.0.2.9", "192.0.2.9"},
        {__LINE__, "192.0.2.0/24", "192.0.2.1", " , ", "192.0.2.1"},
        {__LINE__, "10.0.0.0/9", "10.127.0.1", "198.51.100.7", "198.51.100.7"},
        {__LINE__, "10.0.0.0/9", "10.128.0.1", "198.51.100.7", "10.128.0.1"},
        {__LINE__, "0.0.0.0/0", "192.0.2.1", "198.51.100.7", "198.51.100.7"},
        {__LINE__, "::1 2001:db8::/32", "2001:db8::5", "2001:db9::1", "2001:db9::1"},
        {__LINE__, "192.0.2.1", "::ffff:192.0.2.1", "198.51.100.7", "198.51.100.7"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char client[INET6_ADDRSTRLEN];
        struct proxy_list list;
        struct parse_error error = {0};
        assert_int_equal(proxy_list_parse(cases[i].trusted, &list, &error), OK);
        proxy_client(&list, cases[i].peer, cases[i].forwarded, client);
        if (strcmp(client, cases[i].client) != 0)
            fail_msg("line %d: %s", cases[i].line, client);
        if (proxy_is_trusted(&list, cases[i].peer) < (strcmp(client, cases[i].peer) != 0))
            fail_msg("line %d: not trusted", cases[i].line);
        proxy_list_release(&list);
    }
}

static void test_mistakes(void **state)
{
    static const struct {
        int line;
        const char *text;
        int column;
    } cases[] = {
        {__LINE__, "nonsense", 1},          {__LINE__, "192.0.2.1,x", 11},
        {__LINE__, "192.0.2.1/33", 1},      {__LINE__, "192.0.2.1/", 1},
        {__LINE__, "192.0.2.1/8x", 1},      {__LINE__, "::1/129", 1},
        {__LINE__, "192.0.2.1/-1, ::1", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct proxy_list list;
        struct parse_error error = {0};
        if (proxy_list_parse(cases[i].text, &list, &error) != E_INVALID ||
            error.column != cases[i].column)
            fail_msg("line %d: column %d", cases[i].line, error.column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
