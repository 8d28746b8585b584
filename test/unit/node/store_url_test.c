#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store_url.h"

/* What is understood, printed in full. */
static void reads(void **state)
{
    static const struct {
        int line;
        const char *text, *want;
    } cases[] = {
        {__LINE__, "sqlite", "sqlite"},
        {__LINE__, "sqlite:///var/lib/shared", "sqlite:///var/lib/shared"},
        {__LINE__, "sqlite:///var/lib/shared//", "sqlite:///var/lib/shared"},
        {__LINE__, "postgresql://peal@a,b:5433/jobs?schema=x&sslmode=require",
         "postgresql://peal@a,b:5433/jobs?schema=x&sslmode=require"},
        {__LINE__, "postgres://a/b", "postgres://a/b"},
        {__LINE__, "redis://a", "redis://a"},
        {__LINE__, "rediss://peal@[::1]:7/3?prefix=x&replicas=2",
         "rediss://peal@[::1]:7/3?prefix=x&replicas=2"},
        {__LINE__, "redis+unix:///run/redis.sock?db=1", "redis+unix:///run/redis.sock?db=1"},
        {__LINE__, "redis+sentinel://a,b:1/jobs", "redis+sentinel://a,b:1/jobs"},
        {__LINE__, "valkey://a?accept-loss=yes", "valkey://a?accept-loss=yes"},
        {__LINE__, "etcd://a", "etcd://a:2379/peal"},
        {__LINE__, "etcd://a/", "etcd://a:2379/peal"},
        {__LINE__, "etcd://a//", "etcd://a:2379/peal"},
        {__LINE__, "etcd://a:1", "etcd://a:1/peal"},
        {__LINE__, "etcd://a:65535/x", "etcd://a:65535/x"},
        {__LINE__, "etcd://a,b:2380,c.example.org", "etcd://a:2379,b:2380,c.example.org:2379/peal"},
        {__LINE__, "etcd://10.0.0.1:2379/prod/peal/", "etcd://10.0.0.1:2379/prod/peal"},
        {__LINE__, "etcd://[::1]", "etcd://[::1]:2379/peal"},
        {__LINE__, "etcd://[fe80::1%2]:99,[::2]/p", "etcd://[fe80::1%2]:99,[::2]:2379/p"},
        {__LINE__, "etcds://a", "etcds://a:2379/peal"},
        {__LINE__, "etcd://peal@a,b/x", "etcd://peal@a:2379,b:2379/x"},
        {__LINE__, "etcd://a/with@sign,and:colon", "etcd://a:2379/with@sign,and:colon"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_url url;
        struct parse_error err = {0};
        struct strbuf got;
        if (store_url_parse(cases[i].text, &url, &err) != OK)
            fail_msg("line %d: %s: %s", cases[i].line, cases[i].text, err.message);
        strbuf_init(&got);
        store_url_print(&url, &got);
        if (strcmp(got.text, cases[i].want) != 0)
            fail_msg("line %d: %s: got %s", cases[i].line, cases[i].text, got.text);
        strbuf_release(&got);
        store_url_release(&url);
    }
}

static void refuses(void **state)
{
    static const struct {
        int line;
        const char *text;
        int column;
        const char *words; /* in the message */
    } cases[] = {
        {__LINE__, "", 1, "knows sqlite, etcd://"},
        {__LINE__, "mysql://a", 1, "unknown store \"mysql\"; peal knows sqlite, etcd://"},
        {__LINE__, "redis+tls://a", 1, "did you mean rediss://?"},
        {__LINE__, "redis:a", 6, "write redis://HOST:PORT"},
        {__LINE__, "redis://", 9, "host is missing"},
        {__LINE__, "redis://a,b", 10, "redis+sentinel://HOST:PORT"},
        {__LINE__, "redis://u:secret@a", 10, "PEAL_REDIS_PASSWORD"},
        {__LINE__, "redis://a?password=x", 11, "PEAL_REDIS_PASSWORD"},
        {__LINE__, "redis://a/x", 11, "a database is a number"},
        {__LINE__, "redis://a?accept-loss=no", 23, "or leave it out"},
        {__LINE__, "redis://a?x=1", 11, "there are prefix=NAME"},
        {__LINE__, "redis+unix://sock", 14, "its whole path"},
        {__LINE__, "redis+sentinel://a", 19, "master's name in Sentinel is missing"},
        {__LINE__, "a:2379", 1, "knows sqlite, etcd://"},
        {__LINE__, "http://a:2379", 1, "did you mean etcd://?"},
        {__LINE__, "https://a:2379", 1, "did you mean etcds://?"},
        {__LINE__, "sqlite3", 1, "did you mean sqlite?"},
        {__LINE__, "sqlite:/var/x", 7, "--data"},
        {__LINE__, "sqlite://shared", 7, "sqlite:///FOLDER"},
        {__LINE__, "sqlite:///", 7, "sqlite:///FOLDER"},
        {__LINE__, "etcd", 5, "write etcd://HOST"},
        {__LINE__, "etcd:a", 5, "write etcd://HOST"},
        {__LINE__, "etcds:/a", 6, "write etcds://HOST"},
        {__LINE__, "etcd://", 8, "host is missing"},
        {__LINE__, "etcd:///peal", 8, "host is missing"},
        {__LINE__, "etcd://a,", 10, "host is missing"},
        {__LINE__, "etcd://a,,b", 10, "host is missing"},
        {__LINE__, "etcd://a b", 9, "letters, digits"},
        {__LINE__, "etcd://a, b", 10, "letters, digits"},
        {__LINE__, "etcd://:2379", 8, "host is missing"},
        {__LINE__, "etcd://a:", 10, "port is missing"},
        {__LINE__, "etcd://a:0", 10, "1 to 65535"},
        {__LINE__, "etcd://a:65536", 10, "1 to 65535"},
        {__LINE__, "etcd://a:99999999999999999999", 10, "1 to 65535"},
        {__LINE__, "etcd://a:23x9", 12, "not \"23x9\""},
        {__LINE__, "etcd://a:-1", 10, "a port is a number"},
        {__LINE__, "etcd://a,http://b", 15, "port is missing"},
        {__LINE__, "etcd://::1", 8, "in brackets"},
        {__LINE__, "etcd://[::1", 8, "not closed"},
        {__LINE__, "etcd://[]", 8, "no address"},
        {__LINE__, "etcd://[host]", 9, "only an IPv6 address"},
        {__LINE__, "etcd://[::1]2379", 13, "behind the bracket"},
        {__LINE__, "etcd://a,b,a:2379", 12, "a:2379 is named twice"},
        {__LINE__, "etcd://u:secret@a", 9, "PEAL_ETCD_PASSWORD"},
        {__LINE__, "etcd://@a", 8, "user is missing"},
        {__LINE__, "etcd://a/x?tls=1", 11, "nothing may follow"},
        {__LINE__, "etcd://a?tls=1", 9, "nothing may follow"},
        {__LINE__, "etcd://a/x#y", 11, "nothing may follow"},
        {__LINE__, "etcd://a/x//y", 12, "single slashes"},
        {__LINE__, "etcd://a/x y", 11, "visible"},
        {__LINE__, "etcd://a/\xc3\xa9", 10, "visible"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_url url;
        struct parse_error err = {0};
        if (store_url_parse(cases[i].text, &url, &err) != E_INVALID)
            fail_msg("line %d: %s was taken", cases[i].line, cases[i].text);
        if (err.column != cases[i].column || !strstr(err.message, cases[i].words))
            fail_msg("line %d: %s: column %d: %s", cases[i].line, cases[i].text, err.column,
                     err.message);
    }
}

/* A password is never repeated in a message, which may end in a log. */
static void keeps_secrets(void **state)
{
    struct store_url url;
    struct parse_error err = {0};
    (void)state;
    assert_int_equal(store_url_parse("etcd://u:secret@a", &url, &err), E_INVALID);
    assert_null(strstr(err.message, "secret"));
    assert_int_equal(store_url_parse("postgresql://u:secret@a/b", &url, &err), E_INVALID);
    assert_int_equal(err.column, 15);
    assert_null(strstr(err.message, "secret"));
    assert_int_equal(store_url_parse("postgresql://a/b?x=1&password=secret", &url, &err),
                     E_INVALID);
    assert_null(strstr(err.message, "secret"));
}

/* By which a node finds its own address. */
static void knows_the_servers(void **state)
{
    static const struct {
        int line;
        const char *text, *want;
    } cases[] = {
        {__LINE__, "postgresql://peal@a,b:5433/jobs?schema=x", "tcp://a:5432 tcp://b:5433"},
        {__LINE__, "postgresql://[::1],[::2]:7/jobs", "tcp://[::1]:5432 tcp://[::2]:7"},
        {__LINE__, "postgresql:///jobs?x=1&host=a,b", "tcp://a:5432 tcp://b:5432"},
        {__LINE__, "postgresql:///jobs?host=name&hostaddr=10.0.0.1&x=2", "tcp://name:5432"},
        {__LINE__, "postgresql:///jobs", "tcp://localhost:5432"},
        {__LINE__, "postgresql://", "tcp://localhost:5432"},
        {__LINE__, "postgresql://%2Frun%2Fpostgresql:5433/jobs", "tcp://localhost:5432"},
        {__LINE__, "postgresql://peal@/jobs?host=/run", "tcp://localhost:5432"},
        {__LINE__, "postgresql://a,,b/jobs", "tcp://a:5432 tcp://localhost:5432 tcp://b:5432"},
        {__LINE__, "redis://peal@a/3", "tcp://a:6379"},
        {__LINE__, "redis+sentinel://a,[::1]:7/jobs", "tcp://a:26379 tcp://[::1]:7"},
        {__LINE__, "redis+unix:///run/x", "tcp://localhost:6379"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_url url;
        struct parse_error err = {0};
        struct strbuf got;
        strbuf_init(&got);
        if (store_url_parse(cases[i].text, &url, &err) != OK)
            fail_msg("line %d: %s: %s", cases[i].line, cases[i].text, err.message);
        for (size_t j = 0; j < url.endpoint_count; j++)
            strbuf_addf(&got, "%s%s", j ? " " : "", url.endpoints[j]);
        if (strcmp(got.text, cases[i].want) != 0)
            fail_msg("line %d: %s: got %s", cases[i].line, cases[i].text, got.text);
        strbuf_release(&got);
        store_url_release(&url);
    }
}

static void knows_the_parts(void **state)
{
    struct store_url url;
    struct parse_error err = {0};
    (void)state;
    assert_int_equal(store_url_parse("etcds://root@a,[::1]:4/p", &url, &err), OK);
    assert_true(url.kind == STORE_OF_ETCD && url.is_tls);
    assert_string_equal(url.user, "root");
    assert_int_equal(url.endpoint_count, 2);
    assert_string_equal(url.endpoints[0], "https://a:2379");
    assert_string_equal(url.endpoints[1], "https://[::1]:4");
    assert_string_equal(url.prefix, "/p");
    store_url_release(&url);
    assert_int_equal(store_url_parse("sqlite", &url, &err), OK);
    assert_int_equal(url.kind, STORE_OF_SQLITE);
    store_url_release(&url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),           cmocka_unit_test(refuses),
        cmocka_unit_test(keeps_secrets),   cmocka_unit_test(knows_the_servers),
        cmocka_unit_test(knows_the_parts),
    };
    return cmocka_run_group_tests_name("store_url", tests, NULL, NULL);
}
