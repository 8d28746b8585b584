/* json_quote() writes what jansson writes, for texts from a generator and for each character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include "document/json_quote.h"
#include "hash.h"

static void check(const char *text)
{
    struct strbuf out;
    json_t *value = json_string(text);
    char *wanted = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    strbuf_init(&out);
    strbuf_adds(&out, "before ");
    assert_int_equal(json_quote(&out, text), wanted != NULL);
    assert_string_equal(out.text + strlen("before "), wanted ? wanted : "");
    strbuf_release(&out);
    json_decref(value);
    free(wanted);
}

static void each_byte_alone_and_between(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        check((const char[]){(char)c, '\0'});
        check((const char[]){'a', (char)c, 'z', '\0'});
    }
}

/* Eight bytes are looked at together: each byte at each place of three such groups. */
static void each_byte_at_each_place(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        for (size_t length = 1; length <= 24; length++) {
            for (size_t at = 0; at < length; at++) {
                char text[] = "plain text, and some more";
                text[length] = '\0';
                text[at] = (char)c;
                check(text);
            }
        }
    }
}

static void texts_of_all_kinds(void **state)
{
    static const char *const parts[] = {
        "",     "plain",   "\"",           "\\",   "\n",
        "\x7f", "\x01",    "\xc3\xa4",     "备份", "\xf0\x9f\x94\x94",
        "\xff", "\xc3",    "\xe2\x80\xa8", "/",    "\xed\xa0\x80",
        "\t",   "\xc0\x80"};
    enum { COUNT = sizeof(parts) / sizeof(parts[0]) };
    uint64_t seed = (uint64_t)time(NULL);
    (void)state;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < 20000; i++) {
        char text[200] = "";
        for (uint64_t k = hash_below(seed, 12); k > 0; k--)
            strcat(text, parts[hash_below(seed = hash_bytes(seed, "part", 4), COUNT)]);
        check(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_alone_and_between),
        cmocka_unit_test(each_byte_at_each_place),
        cmocka_unit_test(texts_of_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
