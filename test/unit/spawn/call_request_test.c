/* A call as words, and back. */
#include "call_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void words_are_read_back(void **state)
{
    struct call_words words;
    struct call_request request;
    const char *word;
    size_t at = 0;
    (void)state;
    call_words_init(&words);
    call_words_add(&words, "method", "POST");
    call_words_add(&words, "url", "https://h/?a=b=c");
    call_words_add_header(&words, "X-A", "b: c=d");
    call_words_add(&words, "match", NULL);
    call_words_add_header(&words, "X-Empty", "");
    call_words_add(&words, "no-match", "=x");
    call_words_add(&words, "status", "200-299,304");
    call_words_add(&words, "ca", "/ca");
    call_words_add(&words, "cert", "/cert");
    call_words_add(&words, "key", "/key");
    call_words_add(&words, "allow", "10.0.0.0/8");
    call_words_add_number(&words, "redirects", 3);
    call_words_add_number(&words, "connect-ms", 2500);
    assert_false(words.has_failed);
    assert_int_equal(call_request_read(words.argv, &request, &word), OK);
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.url, "https://h/?a=b=c");
    assert_string_equal(request.status, "200-299,304");
    assert_null(request.match);
    assert_string_equal(request.no_match, "=x");
    assert_string_equal(request.ca, "/ca");
    assert_string_equal(request.cert, "/cert");
    assert_string_equal(request.key, "/key");
    assert_string_equal(request.allow, "10.0.0.0/8");
    assert_int_equal(request.redirects, 3);
    assert_int_equal(request.connect_ms, 2500);
    assert_string_equal(call_request_header(&request, &at), "X-A: b: c=d");
    assert_string_equal(call_request_header(&request, &at), "X-Empty: ");
    assert_null(call_request_header(&request, &at));
    call_words_release(&words);
}

static void what_is_not_known_is_refused(void **state)
{
    static const struct {
        int line;
        const char *words[4], *wrong; /* NULL: it is read */
    } cases[] = {
        {__LINE__, {"http", "url=http://h"}, NULL},
        {__LINE__, {"http"}, "url"},
        {__LINE__, {"http", "url=http://h", "url=http://g"}, "url=http://g"},
        {__LINE__, {"http", "url=http://h", "header=A: b", "header=A: b"}, NULL},
        {__LINE__, {"ftp", "url=http://h"}, "ftp"},
        {__LINE__, {"http", "url=http://h", "retries=3"}, "retries=3"},
        {__LINE__, {"http", "url=http://h", "redirects"}, "redirects"},
        {__LINE__, {"http", "url=http://h", "redirects=x"}, "redirects=x"},
        {__LINE__, {"http", "url=http://h", "redirects=-1"}, "redirects=-1"},
        {__LINE__, {"http", "url=http://h", "connect-ms=99999999999"}, "connect-ms=99999999999"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct call_request request;
        const char *word;
        enum status st = call_request_read((char *const *)cases[i].words, &request, &word);
        if ((st == OK) != !cases[i].wrong || (st != OK && strcmp(word, cases[i].wrong) != 0))
            fail_msg("line %d: %s", cases[i].line, word);
    }
}

static void statuses_are_listed(void **state)
{
    static const struct {
        int line;
        const char *list;
        int status;
        bool want;
    } cases[] = {
        {__LINE__, "200-299,304", 200, true},  {__LINE__, "200-299,304", 299, true},
        {__LINE__, "200-299,304", 300, false}, {__LINE__, "200-299,304", 304, true},
        {__LINE__, "204", 204, true},          {__LINE__, "204", 20, false},
        {__LINE__, "404,200", 200, true},      {__LINE__, "", 200, false},
        {__LINE__, "x,200", 200, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (call_status_is_listed(cases[i].list, cases[i].status) != cases[i].want)
            fail_msg("line %d", cases[i].line);
    }
}

static void too_many_words_fail(void **state)
{
    struct call_words words;
    (void)state;
    call_words_init(&words);
    for (int i = 0; i < CALL_WORDS_MAX + 10; i++)
        call_words_add_header(&words, "A", "b");
    assert_true(words.has_failed);
    assert_null(words.argv[CALL_WORDS_MAX]);
    call_words_release(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_read_back),
        cmocka_unit_test(what_is_not_known_is_refused),
        cmocka_unit_test(statuses_are_listed),
        cmocka_unit_test(too_many_words_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
