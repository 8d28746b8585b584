/* Bodies in chunks: each case whole, byte by byte, and cut at every place. */
#include "chunked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    int line;
    const char *bytes;
    const char *held; /* NULL: it is refused */
    const char *rest; /* behind the body */
} cases[] = {
    {__LINE__, "0\r\n\r\n", "", ""},
    {__LINE__, "00000000\r\n\r\n", "", ""},
    {__LINE__, "1\r\na\r\n0\r\n\r\n", "a", ""},
    {__LINE__, "3\r\nabc\r\n00a\r\n0123456789\r\n0\r\n\r\n", "abc0123456789", ""},
    {__LINE__, "A\r\n0123456789\r\n0\r\n\r\n", "0123456789", ""},
    {__LINE__, "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n", ""},
    {__LINE__, "0\r\n\r\nGET / HTTP/1.1\r\n", "", "GET / HTTP/1.1\r\n"},
    {__LINE__, "1\r\na\r\n0\r\n\r\n\r\n", "a", "\r\n"},

    {__LINE__, "\r\n", NULL, NULL},
    {__LINE__, "zz\r\n", NULL, NULL},
    {__LINE__, "0x2\r\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "+2\r\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "-2\r\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, " 2\r\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "2 \r\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "2;a=b\r\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "2;\nGET / HTTP/1.1\r\n", NULL, NULL},
    {__LINE__, "2\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "2\rab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "2\r\nabc\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "2\r\nab\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "2\r\nab0\r\n\r\n", NULL, NULL},
    {__LINE__, "2\r\nab\r\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "0\r\n\n", NULL, NULL},
    {__LINE__, "0\n\n", NULL, NULL},
    {__LINE__, "0\r\nX: y\r\n\r\n", NULL, NULL},
    {__LINE__, "0\r\n\r\r\n", NULL, NULL},
    {__LINE__, "000000002\r\nab\r\n0\r\n\r\n", NULL, NULL},
    {__LINE__, "10000000000000002\r\nab\r\n0\r\n\r\n", NULL, NULL},
};

/* What was read so far. */
struct body {
    struct http_chunked chunked;
    enum http_chunked_state state;
    char held[64];
    size_t length;
    size_t used;
};

/* The bytes from..to, as a copy of exactly so many. */
static void take(struct body *body, const char *bytes, size_t from, size_t to)
{
    size_t used, held, length = to - from;
    char *copy = malloc(length ? length : 1), *out = malloc(length ? length : 1);
    assert_true(copy && out);
    memcpy(copy, bytes + from, length);
    body->state = http_chunked_read(&body->chunked, copy, length, out, &used, &held);
    assert_true(used <= length && held <= used);
    assert_true(body->state != HTTP_CHUNKED_MORE || used == length);
    memcpy(body->held + body->length, out, held);
    body->length += held;
    body->used += used;
    free(copy);
    free(out);
}

static void check(int line, size_t cut, const struct body *body, const char *bytes,
                  const char *held, const char *rest)
{
    bool is_right = held ? body->state == HTTP_CHUNKED_WHOLE && body->length == strlen(held) &&
                               memcmp(body->held, held, body->length) == 0 &&
                               body->chunked.total == body->length &&
                               strcmp(bytes + body->used, rest) == 0
                         : body->state == HTTP_CHUNKED_BAD;
    if (!is_right)
        fail_msg("line %d, cut at %zu: state %d, %zu bytes", line, cut, (int)body->state,
                 body->length);
}

static void test_cases_at_every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *bytes = cases[i].bytes;
        size_t length = strlen(bytes);
        for (size_t cut = 0; cut <= length; cut++) {
            struct body body = {.state = HTTP_CHUNKED_MORE};
            http_chunked_init(&body.chunked);
            take(&body, bytes, 0, cut);
            if (body.state == HTTP_CHUNKED_MORE)
                take(&body, bytes, cut, length);
            check(cases[i].line, cut, &body, bytes, cases[i].held, cases[i].rest);
        }
        struct body body = {.state = HTTP_CHUNKED_MORE};
        http_chunked_init(&body.chunked);
        for (size_t at = 0; at < length && body.state == HTTP_CHUNKED_MORE; at++)
            take(&body, bytes, at, at + 1);
        check(cases[i].line, SIZE_MAX, &body, bytes, cases[i].held, cases[i].rest);
    }
}

/* Before it has come: who gave the limit compares. */
static void test_total_is_known_ahead(void **state)
{
    static const char bytes[] = "ffffffff\r\nab";
    struct body body = {.state = HTTP_CHUNKED_MORE};
    (void)state;
    http_chunked_init(&body.chunked);
    take(&body, bytes, 0, sizeof(bytes) - 1);
    assert_int_equal(body.state, HTTP_CHUNKED_MORE);
    assert_int_equal(body.chunked.total, 0xffffffff);
    assert_int_equal(body.length, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_at_every_cut),
        cmocka_unit_test(test_total_is_known_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
