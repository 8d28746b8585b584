#include "listen.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static int port_of(const struct listen_address *address)
{
    return address->address.ss_family == AF_INET6
               ? ntohs(((const struct sockaddr_in6 *)(const void *)&address->address)->sin6_port)
               : ntohs(((const struct sockaddr_in *)(const void *)&address->address)->sin_port);
}

static void test_parse(void **state)
{
    static const struct {
        int line;
        const char *text;
        int family, port; /* 0: refused */
        bool is_loopback;
    } cases[] = {
        {__LINE__, "127.0.0.1", AF_INET, 7325, true},
        {__LINE__, "127.1.2.3:80", AF_INET, 80, true},
        {__LINE__, "localhost:0", AF_INET, 0, true},
        {__LINE__, "localhost", AF_INET, 7325, true},
        {__LINE__, "0.0.0.0", AF_INET, 7325, false},
        {__LINE__, "10.0.0.1:65535", AF_INET, 65535, false},
        {__LINE__, "::1", AF_INET6, 7325, true},
        {__LINE__, "[::1]:8080", AF_INET6, 8080, true},
        {__LINE__, "[::]", AF_INET6, 7325, false},
        {__LINE__, "::", AF_INET6, 7325, false},
        {__LINE__, "::ffff:127.0.0.1", AF_INET6, 7325, false}, /* better too careful */
        {__LINE__, "", 0, 0, false},
        {__LINE__, ":80", 0, 0, false},
        {__LINE__, "80", 0, 0, false},
        {__LINE__, "127.0.0.1:", 0, 0, false},
        {__LINE__, "127.0.0.1:65536", 0, 0, false},
        {__LINE__, "127.0.0.1:+80", 0, 0, false},
        {__LINE__, "127.0.0.1:80x", 0, 0, false},
        {__LINE__, "127.0.0", 0, 0, false},
        {__LINE__, "[::1", 0, 0, false},
        {__LINE__, "[::1]80", 0, 0, false},
        {__LINE__, "example.com:80", 0, 0, false},
        {__LINE__, "/run/peal.sock", 0, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct listen_address address = {0};
        struct strbuf why;
        strbuf_init(&why);
        enum status st = listen_parse(cases[i].text, &address, &why);
        if ((st == OK) != (cases[i].family != 0) ||
            (st == OK &&
             (address.address.ss_family != cases[i].family || port_of(&address) != cases[i].port ||
              address.is_loopback != cases[i].is_loopback)) ||
            (st != OK && !strstr(why.text, "no address to listen on")))
            fail_msg("line %d: status %d, %s", cases[i].line, (int)st, why.text);
        strbuf_release(&why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
