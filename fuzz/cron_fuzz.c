/* Any text is either refused with a place and a reason, or it is an expression that survives being
 * printed, and whose searches keep their promises. The first byte picks the dialect: '0' is peal's
 * own, '1' the next of enum cron_profile, and so on. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../test/support/cron_check.h"
#include "civil.h"
#include "cron/cron_expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct parse_error *err, const char *text)
{
    assert(err->column >= 1 && (size_t)err->column <= strlen(text) + 1);
    assert(err->message[0] && memchr(err->message, '\0', sizeof(err->message)));
}

static void check_print(const struct cron_expr *expr)
{
    struct strbuf text;
    struct cron_expr again;
    strbuf_init(&text);
    cron_expr_print(expr, &text);
    assert(strbuf_status(&text) == OK);
    assert(cron_expr_parse(&again, text.text, CRON_PEAL, NULL, NULL) == OK);
    assert(cron_expr_equal(expr, &again));
    cron_expr_release(&again);
    strbuf_release(&text);
}

/* From a few instants: strictly after, a match, and the way back finds it again. */
static void check_search(const struct cron_expr *expr)
{
    static const int64_t instants[] = {0, 1709164799, 4107542399, -62135596800, 253402300799};
    for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++) {
        int64_t after_s = instants[i];
        int64_t next_s = cron_expr_next(expr, after_s);
        if (next_s == NEVER)
            continue;
        assert(!expr->never);
        assert(next_s > after_s);
        assert(cron_expr_matches(expr, next_s));
        assert(cron_expr_prev(expr, next_s + 1) == next_s);
        assert(cron_expr_prev(expr, next_s) <= after_s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 400)
        return 0;
    enum cron_profile profile = (enum cron_profile)(data[0] % (CRON_OCPS_STRICT + 1));
    struct cron_seed seed = {.job_name = "backup", .job_uid = "01HZX4"};
    struct parse_error err = {0};
    struct cron_expr expr;
    char *text = strndup((const char *)data + 1, size - 1);
    if (!text)
        return 0;
    enum status st = cron_expr_parse(&expr, text, profile, &seed, &err);
    if (st == OK) {
        check_print(&expr);
        check_search(&expr);
        cron_expr_release(&expr);
    } else if (st == E_INVALID) {
        check_error(&err, text);
    }
    free(text);
    return 0;
}
