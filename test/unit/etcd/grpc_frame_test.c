#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "transport/grpc_frame.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static const struct {
    int line;
    const uint8_t *bytes;
    size_t length;
    enum status want, want_end;
    const char *messages; /* each followed by '|' */
} rows[] = {
    {__LINE__, BYTES(""), OK, OK, ""},
    {__LINE__, BYTES("\0\0\0\0\0"), OK, OK, "|"},
    {__LINE__, BYTES("\0\0\0\0\3abc"), OK, OK, "abc|"},
    {__LINE__, BYTES("\0\0\0\0\3abc\0\0\0\0\0\0\0\0\0\1d"), OK, OK, "abc||d|"},
    {__LINE__, BYTES("\0\0\0\0"), OK, E_CORRUPT, ""},
    {__LINE__, BYTES("\0\0\0\0\3ab"), OK, E_CORRUPT, ""},
    {__LINE__, BYTES("\1\0\0\0\0"), E_CORRUPT, E_CORRUPT, ""},
    {__LINE__, BYTES("HTTP/1.1"), E_CORRUPT, E_CORRUPT, ""},
    {__LINE__, BYTES("\0\0\0\0\x21"), E_TOO_LARGE, E_CORRUPT, ""},
    {__LINE__, BYTES("\0\xff\xff\xff\xff"), E_TOO_LARGE, E_CORRUPT, ""},
};

struct collected {
    char text[64];
    size_t length;
};

static enum status collect(void *context, const uint8_t *bytes, size_t length)
{
    struct collected *collected = context;
    memcpy(collected->text + collected->length, bytes, length);
    collected->length += length;
    collected->text[collected->length++] = '|';
    return OK;
}

/* However the bytes are cut, the messages are the same. */
static void any_cut_gives_the_same_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS(rows); i++)
        for (size_t step = 1; step <= rows[i].length + 1; step++) {
            struct grpc_deframer deframer;
            struct collected collected = {.length = 0};
            enum status st = OK;
            grpc_deframer_init(&deframer, 32);
            for (size_t at = 0; at < rows[i].length && st == OK; at += step) {
                size_t left = rows[i].length - at;
                st = grpc_deframe(&deframer, rows[i].bytes + at, left < step ? left : step, collect,
                                  &collected);
            }
            enum status end = grpc_deframe_end(&deframer);
            if (st != rows[i].want || end != rows[i].want_end ||
                strcmp(collected.text, rows[i].messages) != 0 ||
                ((st != OK || end != OK) && !deframer.error))
                fail_msg("line %d, cut every %zu: %s, then %s: %s", rows[i].line, step,
                         status_text(st), status_text(end), collected.text);
            grpc_deframer_release(&deframer);
        }
}

static const struct {
    int line;
    int code;
    const char *message;
    enum status want;
} statuses[] = {
    {__LINE__, 0, "", OK},
    {__LINE__, 1, "", E_UNKNOWN},
    {__LINE__, 2, "etcdserver: request timed out", E_UNKNOWN},
    {__LINE__, 3, "etcdserver: duplicate key given in txn request", E_INVALID},
    {__LINE__, 3, "etcdserver: request is too large", E_TOO_LARGE},
    {__LINE__, 4, "", E_UNKNOWN},
    {__LINE__, 5, "etcdserver: requested lease not found", E_NOT_FOUND},
    {__LINE__, 6, "", E_CONFLICT},
    {__LINE__, 7, "etcdserver: permission denied", E_INVALID},
    {__LINE__, 8, "etcdserver: mvcc: database space exceeded", E_BUSY},
    {__LINE__, 8, "grpc: received message larger than max (5 vs. 4)", E_TOO_LARGE},
    {__LINE__, 9, "", E_INVALID},
    {__LINE__, 10, "", E_CONFLICT},
    {__LINE__, 11, "etcdserver: mvcc: required revision has been compacted", E_NOT_FOUND},
    {__LINE__, 12, "", E_VERSION},
    {__LINE__, 13, "", E_UNKNOWN},
    {__LINE__, 14, "etcdserver: no leader", E_UNREACHABLE},
    {__LINE__, 14, "etcdserver: request timed out", E_UNKNOWN},
    {__LINE__, 15, "", E_CORRUPT},
    {__LINE__, 16, "etcdserver: invalid auth token", E_INVALID},
    {__LINE__, 99, "", E_UNKNOWN},
};

static void codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS(statuses); i++)
        if (grpc_status(statuses[i].code, statuses[i].message) != statuses[i].want)
            fail_msg("line %d", statuses[i].line);
    assert_int_equal(grpc_code_parse("14", 2), 14);
    assert_int_equal(grpc_code_parse("", 0), GRPC_UNKNOWN);
    assert_int_equal(grpc_code_parse("1x", 2), GRPC_UNKNOWN);
    assert_int_equal(grpc_code_parse("99999999999", 11), GRPC_UNKNOWN);
}

static const struct {
    int line;
    const char *text, *want;
} texts[] = {
    {__LINE__, "", ""},         {__LINE__, "plain words", "plain words"},
    {__LINE__, "a%20b", "a b"}, {__LINE__, "%e4%b8%ad", "\xe4\xb8\xad"},
    {__LINE__, "100%", "100%"}, {__LINE__, "%2", "%2"},
    {__LINE__, "%zz", "%zz"},   {__LINE__, "a%0Ab%00c", "a?b?c"},
};

static void messages(void **state)
{
    (void)state;
    char text[GRPC_TEXT], wide[3 * GRPC_TEXT];
    for (size_t i = 0; i < ROWS(texts); i++) {
        grpc_text_decode(texts[i].text, strlen(texts[i].text), text);
        if (strcmp(text, texts[i].want) != 0)
            fail_msg("line %d: %s", texts[i].line, text);
    }
    memset(wide, 'w', sizeof(wide));
    grpc_text_decode(wide, sizeof(wide), text);
    assert_int_equal(strlen(text), GRPC_TEXT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_same_messages),
        cmocka_unit_test(codes),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
