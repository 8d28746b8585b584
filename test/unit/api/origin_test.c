/* Whose page a request is of: scheme, host and port. */
#include "auth/origin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static void test_origins(void **state)
{
    static const struct {
        int line;
        const char *origin;
        bool is_secure;
        const char *host;
        bool is_own;
    } cases[] = {
        {__LINE__, "http://localhost", false, "localhost", true},
        {__LINE__, "http://localhost:7325", false, "localhost:7325", true},
        {__LINE__, "http://LOCALHOST:7325", false, "localhost:7325", true},
        {__LINE__, "https://peal.example", true, "peal.example", true},
        {__LINE__, "https://peal.example:8443", true, "peal.example:8443", true},
        /* the port */
        {__LINE__, "http://localhost:8000", false, "localhost:7325", false},
        {__LINE__, "http://localhost", false, "localhost:7325", false},
        {__LINE__, "http://localhost:7325", false, "localhost", false},
        {__LINE__, "http://localhost:80", false, "localhost", true},
        {__LINE__, "http://localhost", false, "localhost:80", true},
        {__LINE__, "https://peal.example", true, "peal.example:443", true},
        {__LINE__, "https://peal.example:443", true, "peal.example", true},
        {__LINE__, "https://peal.example:80", true, "peal.example", false},
        {__LINE__, "http://localhost:07325", false, "localhost:7325", true},
        {__LINE__, "http://localhost:73250", false, "localhost:7325", false},
        {__LINE__, "http://localhost:4294974621", false, "localhost:7325", false},
        {__LINE__, "http://localhost:", false, "localhost", false},
        {__LINE__, "http://localhost:0", false, "localhost", false},
        {__LINE__, "http://localhost:7325x", false, "localhost:7325", false},
        /* the scheme */
        {__LINE__, "http://peal.example", true, "peal.example", false},
        {__LINE__, "https://peal.example", false, "peal.example", false},
        {__LINE__, "http://peal.example:443", true, "peal.example", false},
        {__LINE__, "ftp://localhost", false, "localhost", false},
        {__LINE__, "httpx://localhost", false, "localhost", false},
        {__LINE__, "evil+http://localhost", false, "localhost", false},
        {__LINE__, "file://", false, "localhost", false},
        {__LINE__, "localhost", false, "localhost", false},
        /* the host */
        {__LINE__, "http://evil.example", false, "localhost", false},
        {__LINE__, "http://localhost.evil.example", false, "localhost", false},
        {__LINE__, "http://evil-localhost", false, "localhost", false},
        {__LINE__, "http://localhost.", false, "localhost", false},
        {__LINE__, "http://sub.peal.example", false, "peal.example", false},
        {__LINE__, "http://evil.example@localhost", false, "localhost", false},
        {__LINE__, "http://localhost@evil.example", false, "localhost", false},
        {__LINE__, "http://localhost/", false, "localhost", false},
        {__LINE__, "http://localhost, http://evil.example", false, "localhost", false},
        {__LINE__, "http://127.0.0.1:1", false, "127.0.0.1:1", true},
        {__LINE__, "http://127.0.0.1:1", false, "localhost:1", false},
        /* IPv6 */
        {__LINE__, "http://[::1]:7325", false, "[::1]:7325", true},
        {__LINE__, "http://[::1]:7325", false, "[0:0:0:0:0:0:0:1]:7325", true},
        {__LINE__, "http://[2001:DB8::1]", false, "[2001:db8::1]", true},
        {__LINE__, "http://[::1]:7325", false, "[::1]", false},
        {__LINE__, "http://[::2]", false, "[::1]", false},
        {__LINE__, "http://[::1", false, "[::1]", false},
        {__LINE__, "http://[::1]x", false, "[::1]", false},
        {__LINE__, "http://[evil]", false, "[evil]", false},
        {__LINE__, "http://::1", false, "::1", false},
        /* nobody's */
        {__LINE__, "null", false, "localhost", false},
        {__LINE__, "null", false, "null", false},
        {__LINE__, "", false, "localhost", false},
        {__LINE__, "http://", false, "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (origin_is_own(cases[i].origin, cases[i].is_secure, cases[i].host) != cases[i].is_own)
            fail_msg("line %d: %s at %s", cases[i].line, cases[i].origin, cases[i].host);
    }
}

static void test_sites(void **state)
{
    (void)state;
    assert_true(fetch_site_is_own("same-origin"));
    assert_true(fetch_site_is_own("none"));
    assert_false(fetch_site_is_own("same-site"));
    assert_false(fetch_site_is_own("cross-site"));
    assert_false(fetch_site_is_own(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
