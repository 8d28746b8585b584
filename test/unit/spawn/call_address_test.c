/* Which addresses a call may reach. */
#include "call_address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

#include <cmocka.h>

static const struct {
    int line;
    const char *address, *kind; /* its beginning; NULL: public */
} kinds[] = {
    {__LINE__, "8.8.8.8", NULL},
    {__LINE__, "0.0.0.0", "unspecified"},
    {__LINE__, "0.1.2.3", "unspecified"},
    {__LINE__, "9.255.255.255", NULL},
    {__LINE__, "10.0.0.0", "private"},
    {__LINE__, "10.255.255.255", "private"},
    {__LINE__, "11.0.0.0", NULL},
    {__LINE__, "100.63.255.255", NULL},
    {__LINE__, "100.64.0.0", "shared"},
    {__LINE__, "100.100.100.200", "shared"}, /* metadata of Alibaba Cloud */
    {__LINE__, "100.127.255.255", "shared"},
    {__LINE__, "100.128.0.0", NULL},
    {__LINE__, "127.0.0.1", "loopback"},
    {__LINE__, "127.255.255.254", "loopback"},
    {__LINE__, "128.0.0.0", NULL},
    {__LINE__, "168.63.129.15", NULL},
    {__LINE__, "168.63.129.16", "metadata"},
    {__LINE__, "169.253.255.255", NULL},
    {__LINE__, "169.254.169.254", "link-local"},
    {__LINE__, "172.15.255.255", NULL},
    {__LINE__, "172.16.0.0", "private"},
    {__LINE__, "172.31.255.255", "private"},
    {__LINE__, "172.32.0.0", NULL},
    {__LINE__, "192.0.0.192", "reserved"}, /* metadata of Oracle Cloud */
    {__LINE__, "192.0.1.0", NULL},
    {__LINE__, "192.0.2.1", "reserved"},
    {__LINE__, "192.167.255.255", NULL},
    {__LINE__, "192.168.1.1", "private"},
    {__LINE__, "198.17.255.255", NULL},
    {__LINE__, "198.18.0.1", "reserved"},
    {__LINE__, "198.19.255.255", "reserved"},
    {__LINE__, "203.0.113.9", "reserved"},
    {__LINE__, "223.255.255.255", NULL},
    {__LINE__, "224.0.0.1", "multicast"},
    {__LINE__, "239.255.255.255", "multicast"},
    {__LINE__, "240.0.0.1", "reserved"},
    {__LINE__, "255.255.255.255", "reserved"},
    {__LINE__, "::", "unspecified"},
    {__LINE__, "::1", "loopback"},
    {__LINE__, "::2", "unspecified"}, /* v4-compatible 0.0.0.2 */
    {__LINE__, "::7f00:1", "loopback"},
    {__LINE__, "::ffff:127.0.0.1", "loopback"},
    {__LINE__, "::ffff:10.1.2.3", "private"},
    {__LINE__, "::ffff:169.254.169.254", "link-local"},
    {__LINE__, "::ffff:8.8.8.8", NULL},
    {__LINE__, "::ffff:0:10.1.2.3", "private"},
    {__LINE__, "64:ff9b::127.0.0.1", "loopback"},
    {__LINE__, "64:ff9b::8.8.8.8", NULL},
    {__LINE__, "64:ff9b:1::8.8.8.8", "translated"},
    {__LINE__, "2002:7f00:1::", "loopback"},
    {__LINE__, "2002:a00:1::1", "private"},
    {__LINE__, "2002:808:808::", NULL},
    {__LINE__, "2001::1", "reserved"},
    {__LINE__, "2001:db8::1", "reserved"},
    {__LINE__, "2001:200::1", NULL},
    {__LINE__, "2606:4700:4700::1111", NULL},
    {__LINE__, "100::1", "reserved"},
    {__LINE__, "fbff::1", NULL},
    {__LINE__, "fc00::1", "private"},
    {__LINE__, "fd00:ec2::254", "private"}, /* metadata of AWS */
    {__LINE__, "fe7f::1", NULL},
    {__LINE__, "fe80::1", "link-local"},
    {__LINE__, "febf::1", "link-local"},
    {__LINE__, "fec0::1", "private"},
    {__LINE__, "ff02::1", "multicast"},
};

static void addresses_have_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct sockaddr_storage address;
        if (!call_address_read(kinds[i].address, &address))
            fail_msg("line %d: not read", kinds[i].line);
        const char *kind = call_address_kind((struct sockaddr *)&address);
        const char *want = kinds[i].kind;
        if (!kind != !want || (want && strncmp(kind, want, strlen(want)) != 0))
            fail_msg("line %d: %s", kinds[i].line, kind ? kind : "public");
    }
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    assert_non_null(call_address_kind((struct sockaddr *)&local));
}

static const struct {
    int line;
    const char *address, *list;
    bool want;
} lists[] = {
    {__LINE__, "127.0.0.1", "", false},
    {__LINE__, "127.0.0.1", "127.0.0.1", true},
    {__LINE__, "127.0.0.2", "127.0.0.1", false},
    {__LINE__, "127.0.0.2", "127.0.0.1/31", false},
    {__LINE__, "127.0.0.2", "127.0.0.0/30", true},
    {__LINE__, "10.9.8.7", "127.0.0.1, 10.0.0.0/8", true},
    {__LINE__, "10.9.8.7", "127.0.0.1,10.9.8.0/25,::1", true},
    {__LINE__, "10.9.8.200", "127.0.0.1,10.9.8.0/25,::1", false},
    {__LINE__, "::1", "127.0.0.1", false},
    {__LINE__, "::1", "::1/128", true},
    {__LINE__, "::ffff:127.0.0.1", "127.0.0.1", true},
    {__LINE__, "64:ff9b::10.0.0.1", "10.0.0.0/8", true},
    {__LINE__, "fd00::5", "fd00::/8", true},
    {__LINE__, "fc00::5", "fd00::/8", false},
    {__LINE__, "10.0.0.1", "0.0.0.0/0", true},
    {__LINE__, "::1", "0.0.0.0/0", true}, /* carries 0.0.0.1 */
    {__LINE__, "fe80::1", "0.0.0.0/0", false},
    {__LINE__, "10.0.0.1", "nonsense, 10.0.0.1", true},
};

static void lists_are_searched(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct sockaddr_storage address;
        assert_true(call_address_read(lists[i].address, &address));
        if (call_address_is_listed((struct sockaddr *)&address, lists[i].list) != lists[i].want)
            fail_msg("line %d", lists[i].line);
    }
}

static void lists_are_checked(void **state)
{
    static const struct {
        int line;
        const char *list;
        int column; /* 0: good */
    } cases[] = {
        {__LINE__, "", 0},
        {__LINE__, "10.0.0.0/8, ::1,fd00::/8", 0},
        {__LINE__, "10.0.0.0/33", 1},
        {__LINE__, "10.0.0.0/", 1},
        {__LINE__, "::1, localhost", 6},
        {__LINE__, "::1/129", 1},
        {__LINE__, "10.0.0/8", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parse_error error = {0};
        enum status st = call_address_check_list(cases[i].list, &error);
        if ((st == OK) != !cases[i].column || error.column != cases[i].column)
            fail_msg("line %d: %d %s", cases[i].line, error.column, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_kinds),
        cmocka_unit_test(lists_are_searched),
        cmocka_unit_test(lists_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
