/* The files of the web console: for everybody, as they are kept or plain, and kept by browsers as
 * long as their names promise. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/console.h"

#define HOST "Host: localhost\r\n"

static void expect_header(const struct answer *answer, const char *name, const char *part)
{
    char *value = answer_header(answer, name);
    if (!value || !strstr(value, part))
        fail_msg("%s: expected \"%s\", found \"%s\"", name, part, value ? value : "nothing");
    free(value);
}

/* Whoever asks gets it, without credentials, under a policy that lets in nothing else. */
static void test_page_is_public(void **state)
{
    struct answer page = ask_tcp(*state, "GET //", HOST, NULL);
    assert_int_equal(page.status, 200);
    assert_null(answer_header(&page, "Content-Encoding"));
    expect_header(&page, "X-Content-Type-Options", "nosniff");
    expect_header(&page, "Referrer-Policy", "no-referrer");
    expect_header(&page, "Content-Security-Policy", "default-src 'none'");
    expect_header(&page, "Content-Security-Policy", "frame-ancestors 'none'");
    if (console_file_count) {
        expect_header(&page, "Content-Type", "text/html");
        expect_header(&page, "Cache-Control", "no-cache");
        assert_non_null(strstr(page.text, "<!doctype html>"));
    } else {
        assert_non_null(strstr(page.text, "without its web console"));
    }
    answer_release(&page);
}

static void test_every_file(void **state)
{
    for (size_t i = 0; i < console_file_count; i++) {
        const struct console_file *file = &console_files[i];
        char line[200], headers[200];
        snprintf(line, sizeof(line), "GET /%s", file->path);
        struct answer plain = ask_tcp(*state, line, HOST, NULL);
        assert_int_equal(plain.status, 200);
        assert_int_equal(strlen(plain.text), file->length);
        expect_header(&plain, "Cache-Control", file->is_hashed ? "immutable" : "no-cache");
        answer_release(&plain);

        struct answer packed = ask_tcp(*state, line, HOST "Accept-Encoding: br, gzip\r\n", NULL);
        assert_int_equal(packed.status, 200);
        expect_header(&packed, "Content-Encoding", "gzip");
        expect_header(&packed, "ETag", file->tag);
        answer_release(&packed);

        snprintf(headers, sizeof(headers), HOST "If-None-Match: %s\r\n", file->tag);
        struct answer same = ask_tcp(*state, line, headers, NULL);
        assert_int_equal(same.status, 304);
        answer_release(&same);
    }
}

static void test_nothing_else(void **state)
{
    static const char *const lines[] = {
        "GET //assets/nothing.js",
        "GET //assets/..%2F..%2Fetc%2Fpasswd",
        "GET //assets/",
        "GET //index.html",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct answer answer = ask(*state, lines[i], NULL);
        if (answer.status != 404)
            fail_msg("%s: status %d", lines[i], answer.status);
        answer_release(&answer);
    }
    struct answer posted = ask(*state, "POST //", "{}");
    assert_int_equal(posted.status, 405);
    answer_release(&posted);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_page_is_public),
        TEST(test_every_file),
        TEST(test_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
