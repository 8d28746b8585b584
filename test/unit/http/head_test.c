/* What a head says, and what is refused: each case whole, byte by byte, and cut at every place. */
#include "head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINE "GET /a HTTP/1.1\r\n"
#define POST "POST /a HTTP/1.1\r\nHost: h\r\n"
#define HOST "Host: h\r\n"
#define END  "\r\n"

/* ---- reading in pieces ---- */

/* A copy of exactly so many bytes, so that a sanitizer sees whoever reads more. */
static enum http_head_state read_copy(struct http_head *head, const char *bytes, size_t length)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    enum http_head_state state = http_head_read(head, copy, length);
    free(copy);
    return state;
}

/* In two pieces, the second of which comes only if the first is not enough. */
static enum http_head_state read_cut(struct http_head *head, const char *bytes, size_t length,
                                     size_t cut)
{
    http_head_init(head);
    enum http_head_state state = read_copy(head, bytes, cut);
    return state == HTTP_HEAD_MORE ? read_copy(head, bytes, length) : state;
}

/* The number of bytes after which it is decided; 0: it never is. */
static size_t read_bytes(struct http_head *head, const char *bytes, size_t length)
{
    http_head_init(head);
    for (size_t i = 1; i <= length; i++) {
        if (read_copy(head, bytes, i) != HTTP_HEAD_MORE)
            return i;
    }
    return 0;
}

/* ---- refusals ---- */

static const struct {
    int line;
    int status; /* 0: it is taken */
    const char *bytes;
} cases[] = {
    /* line ends, controls */
    {__LINE__, 0, LINE HOST END},
    {__LINE__, 400, "GET /a HTTP/1.1\nHost: h\r\n\r\n"},
    {__LINE__, 400, "GET /a HTTP/1.1\r\nHost: h\n\r\n"},
    {__LINE__, 400, "GET /a HTTP/1.1\r\nHost: h\r\n\n"},
    {__LINE__, 400, "GET /a HTTP/1.1\rHost: h\r\n\r\n"},
    {__LINE__, 400, LINE "Host: h\r\r\n\r\n"},
    {__LINE__, 400, LINE HOST "\rX: y\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X: a\x01z\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X: a\x7Fz\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X: a\vz\r\n\r\n"},
    {__LINE__, 0, LINE HOST "X: a\tb \xC3\xA9\r\n\r\n"},

    /* the first line */
    {__LINE__, 400, "\r\n" LINE HOST END},
    {__LINE__, 400, "\r\n\r\n"},
    {__LINE__, 400, "nonsense\r\n\r\n"},
    {__LINE__, 400, "GET\r\n\r\n"},
    {__LINE__, 400, "GET \r\n\r\n"},
    {__LINE__, 400, "GET /a\r\n\r\n"},
    {__LINE__, 400, "GET /a \r\n\r\n"},
    {__LINE__, 400, "GET  /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET /a  HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET /a HTTP/1.1 \r\n" HOST END},
    {__LINE__, 400, " GET /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET\t/a HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET /a\tHTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET /a b HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET /a#b HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET /\xC3\xA9 HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET http://h/a HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "GET a HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "OPTIONS * HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "CONNECT h:80 HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "PRI * HTTP/2.0\r\n\r\n"},
    {__LINE__, 0, "GET /a?b=c&d=%20;e[]~{} HTTP/1.1\r\n" HOST END},
    {__LINE__, 0, "GET //a HTTP/1.1\r\n" HOST END}, /* what it means is the router's to say */

    /* the method */
    {__LINE__, 0, "HEAD /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 0, "POST /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 0, "PUT /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 0, "PATCH /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 0, "DELETE /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 0, "OPTIONS /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 501, "PROPFIND /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 501, "TRACE /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 501, "get /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 501, "GETX /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 501, "GE /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "G@T /a HTTP/1.1\r\n" HOST END},
    {__LINE__, 400, "\x16\x03\x01\x02"}, /* TLS */

    /* the version */
    {__LINE__, 0, "GET /a HTTP/1.0\r\n\r\n"},
    {__LINE__, 0, "GET /a HTTP/1.0\r\n" HOST END},
    {__LINE__, 505, "GET /a HTTP/1.2\r\n" HOST END},
    {__LINE__, 505, "GET /a HTTP/2.0\r\n" HOST END},
    {__LINE__, 505, "GET /a HTTP/0.9\r\n" HOST END},
    {__LINE__, 505, "GET /a HTTP/9.9\r\n\r\n"},
    {__LINE__, 400, "GET /a HTTP/1.10\r\n" HOST END},
    {__LINE__, 400, "GET /a HTTP/11\r\n" HOST END},
    {__LINE__, 400, "GET /a HTTP/x\r\n" HOST END},
    {__LINE__, 400, "GET /a http/1.1\r\n" HOST END},
    {__LINE__, 400, "GET /a HTTPS/1.1\r\n" HOST END},

    /* fields */
    {__LINE__, 400, LINE HOST "no colon\r\n\r\n"},
    {__LINE__, 400, LINE HOST "nocolon\r\n\r\n"},
    {__LINE__, 400, LINE HOST ": empty\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X : y\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X\t: y\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X: y\r\n folded\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X: y\r\n\tfolded\r\n\r\n"},
    {__LINE__, 400, LINE " X: y\r\n" HOST END},
    {__LINE__, 400, LINE HOST " \r\n\r\n"},
    {__LINE__, 400, LINE HOST "X\xC3: y\r\n\r\n"},
    {__LINE__, 400, LINE HOST "X(: y\r\n\r\n"},
    {__LINE__, 0, LINE HOST "X:\r\n\r\n"},
    {__LINE__, 0, LINE HOST "X:y\r\nX: y\r\n!#$%&'*+-.^_`|~: z\r\n\r\n"},
    {__LINE__, 0, LINE HOST "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n\r\n"},

    /* Host */
    {__LINE__, 400, LINE END},
    {__LINE__, 400, LINE HOST HOST END},
    {__LINE__, 400, LINE HOST "hOST: other\r\n\r\n"},
    {__LINE__, 400, "GET /a HTTP/1.0\r\n" HOST HOST END},
    {__LINE__, 400, LINE "Host : h\r\n\r\n"},

    /* Content-Length */
    {__LINE__, 0, POST "Content-Length: 0\r\n\r\n"},
    {__LINE__, 0, POST "Content-Length: 2\r\n\r\n"},
    {__LINE__, 0, POST "content-length:2\r\n\r\n"},
    {__LINE__, 0, POST "Content-Length: \t 2 \t\r\n\r\n"},
    {__LINE__, 0, POST "Content-Length: 999999999999999\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 1000000000000000\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 18446744073709551618\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length:\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: +2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: -2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 02\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 00\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 0x2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 2 2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 2, 2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 2.0\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: x\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length : 2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 2\r\nContent-Length: 2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 2\r\ncontent-length: 3\r\n\r\n"},

    /* Transfer-Encoding */
    {__LINE__, 0, POST "Transfer-Encoding: chunked\r\n\r\n"},
    {__LINE__, 0, POST "transfer-encoding:\tchunked \r\n\r\n"},
    {__LINE__, 400, POST "Transfer-Encoding : chunked\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: Chunked\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: gzip\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: gzip, chunked\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: chunked, identity\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: xchunked\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: \"chunked\"\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: chunked;q=1\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding: identity\r\n\r\n"},
    {__LINE__, 501, POST "Transfer-Encoding:\r\n\r\n"},
    {__LINE__, 400, POST "Transfer-Encoding:\vchunked\r\n\r\n"},
    {__LINE__, 400, POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {__LINE__, 400, POST "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {__LINE__, 400, POST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {__LINE__, 400, "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},

    /* bodies where the method has none */
    {__LINE__, 0, LINE HOST "Content-Length: 0\r\n\r\n"},
    {__LINE__, 400, LINE HOST "Content-Length: 1\r\n\r\n"},
    {__LINE__, 400, LINE HOST "Transfer-Encoding: chunked\r\n\r\n"},
    {__LINE__, 400, "HEAD /a HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n"},
    {__LINE__, 400, "HEAD /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"},
    {__LINE__, 400, "OPTIONS /a HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n"},
    {__LINE__, 0, "DELETE /a HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n"},

    /* what must not be there twice */
    {__LINE__, 417, POST "Expect: a miracle\r\n\r\n"},
    {__LINE__, 417, POST "Expect:\r\n\r\n"},
    {__LINE__, 400, POST "Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n"},
    {__LINE__, 400, LINE HOST "Authorization: a\r\nAuthorization: b\r\n\r\n"},
    {__LINE__, 400, LINE HOST "Origin: a\r\nOrigin: a\r\n\r\n"},
    {__LINE__, 400, LINE HOST "Content-Type: a\r\nContent-Type: a\r\n\r\n"},
    {__LINE__, 400, LINE HOST "Content-Encoding: a\r\nContent-Encoding: a\r\n\r\n"},
    {__LINE__, 0, LINE HOST "Cookie: a\r\nCookie: b\r\nConnection: x\r\nConnection: y\r\n\r\n"},
};

static bool is_as_expected(const struct http_head *head, enum http_head_state state, size_t length,
                           int status)
{
    return status ? state == HTTP_HEAD_REFUSED && head->status == status && head->why
                  : state == HTTP_HEAD_WHOLE && head->size == length;
}

static void test_cases_at_every_cut(void **state)
{
    struct http_head head;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t length = strlen(cases[i].bytes);
        for (size_t cut = 0; cut <= length; cut++) {
            enum http_head_state got = read_cut(&head, cases[i].bytes, length, cut);
            if (!is_as_expected(&head, got, length, cases[i].status))
                fail_msg("line %d, cut at %zu: state %d, status %d", cases[i].line, cut, (int)got,
                         head.status);
        }
        size_t decided = read_bytes(&head, cases[i].bytes, length);
        enum http_head_state got = head.status ? HTTP_HEAD_REFUSED : HTTP_HEAD_WHOLE;
        if (!decided || !is_as_expected(&head, got, decided, cases[i].status))
            fail_msg("line %d, byte by byte: status %d", cases[i].line, head.status);
    }
}

/* NUL can't stand in the table. */
static void test_nul(void **state)
{
    static const char bytes[] = LINE HOST "X: a\0z\r\n\r\n";
    struct http_head head;
    (void)state;
    for (size_t cut = 0; cut < sizeof(bytes); cut++) {
        assert_int_equal(read_cut(&head, bytes, sizeof(bytes) - 1, cut), HTTP_HEAD_REFUSED);
        assert_int_equal(head.status, 400);
    }
}

/* Nobody waits for the end of what is wrong already. */
static void test_refused_at_once(void **state)
{
    static const struct {
        int line;
        const char *bytes; /* the last byte is the one that is wrong */
    } early[] = {
        {__LINE__, "\x16"},         {__LINE__, "GET /a HTTP/1.1\n"}, {__LINE__, LINE "Host: \x01"},
        {__LINE__, LINE "Host\rX"}, {__LINE__, LINE HOST "\n"},
    };
    struct http_head head;
    (void)state;
    for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
        if (read_bytes(&head, early[i].bytes, strlen(early[i].bytes)) != strlen(early[i].bytes))
            fail_msg("line %d", early[i].line);
        assert_int_equal(head.status, 400);
    }
}

/* ---- what it says ---- */

static void test_framing(void **state)
{
    static const struct {
        int line;
        const char *bytes;
        enum http_method method;
        bool is_old, closes, is_chunked, expects_continue;
        uint64_t length;
    } framings[] = {
        {__LINE__, LINE HOST END, HTTP_GET, false, false, false, false, 0},
        {__LINE__, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", HTTP_GET, true, true, false,
         false, 0},
        {__LINE__, "HEAD /a HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n", HTTP_HEAD, false, true,
         false, false, 0},
        {__LINE__, LINE HOST "Connection: x, CLOSE ,y\r\n\r\n", HTTP_GET, false, true, false, false,
         0},
        {__LINE__, LINE HOST "Connection: keep-alive\r\nConnection: close\r\n\r\n", HTTP_GET, false,
         true, false, false, 0},
        {__LINE__, LINE HOST "Connection: closed, xclose\r\n\r\n", HTTP_GET, false, false, false,
         false, 0},
        {__LINE__, POST "Content-Length: 999999999999999\r\n\r\n", HTTP_POST, false, false, false,
         false, 999999999999999},
        {__LINE__, POST "Transfer-Encoding: chunked\r\n\r\n", HTTP_POST, false, false, true, false,
         0},
        {__LINE__, POST "Expect: 100-Continue\r\nContent-Length: 7\r\n\r\n", HTTP_POST, false,
         false, false, true, 7},
        {__LINE__, "PUT /a HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 7\r\n\r\n", HTTP_PUT,
         true, true, false, false, 7}, /* 1.0 does not know of it */
    };
    struct http_head head;
    (void)state;
    for (size_t i = 0; i < sizeof(framings) / sizeof(framings[0]); i++) {
        size_t length = strlen(framings[i].bytes);
        if (read_cut(&head, framings[i].bytes, length, 0) != HTTP_HEAD_WHOLE ||
            head.method != framings[i].method || head.is_old != framings[i].is_old ||
            head.closes != framings[i].closes || head.is_chunked != framings[i].is_chunked ||
            head.expects_continue != framings[i].expects_continue ||
            head.body_length != framings[i].length)
            fail_msg("line %d", framings[i].line);
    }
}

static void check_span(const char *bytes, struct http_span span, const char *expected)
{
    assert_int_equal(span.length, strlen(expected));
    assert_memory_equal(bytes + span.at, expected, span.length);
}

static void test_spans(void **state)
{
    static const char bytes[] =
        "GET /a/b?c=d HTTP/1.1\r\nHost:h\r\nX-Long: \t a b \t \r\nEmpty: \r\n"
        "\r\nGET /next";
    struct http_head head;
    (void)state;
    for (size_t cut = 0; cut < sizeof(bytes) - 1; cut++) {
        assert_int_equal(read_cut(&head, bytes, sizeof(bytes) - 1, cut), HTTP_HEAD_WHOLE);
        assert_int_equal(head.size, sizeof(bytes) - 1 - strlen("GET /next"));
        check_span(bytes, head.target, "/a/b?c=d");
        assert_int_equal(head.field_count, 3);
        check_span(bytes, head.fields[0].name, "Host");
        check_span(bytes, head.fields[0].value, "h");
        check_span(bytes, head.fields[1].name, "X-Long");
        check_span(bytes, head.fields[1].value, "a b");
        check_span(bytes, head.fields[2].name, "Empty");
        check_span(bytes, head.fields[2].value, "");
    }
}

/* ---- limits ---- */

/* A head of exactly so many bytes. */
static char *make_head(size_t size)
{
    static const char start[] = LINE HOST "X: ";
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    memset(bytes, 'x', size);
    memcpy(bytes, start, strlen(start));
    memcpy(bytes + size - 4, "\r\n\r\n", 5);
    return bytes;
}

static void test_size(void **state)
{
    struct http_head head;
    (void)state;
    char *bytes = make_head(HTTP_HEAD_MAX);
    assert_int_equal(read_cut(&head, bytes, HTTP_HEAD_MAX, 0), HTTP_HEAD_WHOLE);
    assert_int_equal(read_cut(&head, bytes, HTTP_HEAD_MAX - 1, 0), HTTP_HEAD_MORE);
    free(bytes);
    bytes = make_head(HTTP_HEAD_MAX + 1);
    for (size_t cut = HTTP_HEAD_MAX - 5; cut <= HTTP_HEAD_MAX + 1; cut++) {
        assert_int_equal(read_cut(&head, bytes, HTTP_HEAD_MAX + 1, cut), HTTP_HEAD_REFUSED);
        assert_int_equal(head.status, 431);
    }
    assert_int_equal(read_bytes(&head, bytes, HTTP_HEAD_MAX + 1), HTTP_HEAD_MAX + 1);
    free(bytes);
}

static void test_field_count(void **state)
{
    char bytes[HTTP_FIELDS_MAX * 8 + 64];
    struct http_head head;
    (void)state;
    for (int count = HTTP_FIELDS_MAX; count <= HTTP_FIELDS_MAX + 1; count++) {
        size_t used = (size_t)snprintf(bytes, sizeof(bytes), LINE HOST);
        for (int i = 1; i < count; i++)
            used += (size_t)snprintf(bytes + used, sizeof(bytes) - used, "X: %d\r\n", i);
        used += (size_t)snprintf(bytes + used, sizeof(bytes) - used, END);
        enum http_head_state got = read_cut(&head, bytes, used, 0);
        assert_int_equal(got, count > HTTP_FIELDS_MAX ? HTTP_HEAD_REFUSED : HTTP_HEAD_WHOLE);
        assert_int_equal(head.status, count > HTTP_FIELDS_MAX ? 431 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_at_every_cut),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_refused_at_once),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_field_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
