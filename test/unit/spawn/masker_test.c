/* The masker of output: every stream, however it is cut, against a plain reference that marks each
 * byte of each occurrence; its state across processes; the forms of a value. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "serve/mask_forms.h"
#include "serve/masker.h"
#include "strbuf.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static uint64_t state;

static uint64_t below(uint64_t bound)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % bound;
}

static void take(void *context, const char *bytes, size_t length)
{
    strbuf_add(context, bytes, length);
}

/* ---- the reference ---- */

static void reference(const char *const *forms, size_t count, const char *text, size_t length,
                      struct strbuf *out)
{
    char *marks = calloc(length + 1, 1);
    assert_non_null(marks);
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(forms[i]);
        for (size_t at = 0; at + size <= length; at++)
            if (memcmp(text + at, forms[i], size) == 0)
                memset(marks + at, 1, size);
    }
    for (size_t at = 0; at < length; at++) {
        if (!marks[at])
            strbuf_addc(out, text[at]);
        else if (at == 0 || !marks[at - 1])
            strbuf_adds(out, SECRET_MASK);
    }
    free(marks);
}

/* ---- random streams ---- */

enum { FORMS_MAX = 6, FORM_MAX = 400, TEXT_MAX = 3000 };

struct sample {
    char forms[FORMS_MAX][FORM_MAX + 1];
    const char *list[FORMS_MAX];
    size_t count;
    char text[TEXT_MAX + 1];
    size_t length;
};

static void make_form(struct sample *sample, size_t i, unsigned letters)
{
    static const unsigned longest[] = {3, 12, FORM_MAX};
    size_t length = 1 + below(longest[below(3)]);
    for (size_t at = 0; at < length; at++)
        sample->forms[i][at] = (char)('a' + below(letters));
    sample->forms[i][length] = '\0';
    sample->list[i] = sample->forms[i];
}

/* Letters, and beginnings of the forms. */
static void make_sample(struct sample *sample)
{
    unsigned letters = 1 + (unsigned)below(3);
    memset(sample, 0, sizeof(*sample));
    sample->count = 1 + below(FORMS_MAX);
    for (size_t i = 0; i < sample->count; i++)
        make_form(sample, i, letters);
    size_t want = below(TEXT_MAX);
    while (sample->length < want) {
        const char *form = sample->forms[below(sample->count)];
        size_t part = below(3) ? strlen(form) : below(strlen(form) + 1);
        if (below(2)) {
            sample->text[sample->length++] = (char)('a' + below(letters + 1));
        } else if (sample->length + part <= want) {
            memcpy(sample->text + sample->length, form, part);
            sample->length += part;
        }
    }
}

static struct masks *make_masks(const struct sample *sample)
{
    struct masks *masks;
    assert_int_equal(masks_new(&masks), OK);
    for (size_t i = 0; i < sample->count; i++)
        assert_int_equal(masks_add(masks, sample->forms[i], strlen(sample->forms[i])), OK);
    assert_int_equal(masks_finish(masks), OK);
    return masks;
}

/* As another process would go on with it. */
static void hand_over(struct masker *masker, const struct masks *masks)
{
    struct masker next;
    char held[FORM_MAX + 1];
    size_t masked, length = masker_save(masker, held, &masked);
    assert_true(length <= FORM_MAX);
    masker_release(masker);
    assert_int_equal(masker_init(&next, masks), OK);
    assert_int_equal(masker_restore(&next, held, length, masked), OK);
    *masker = next;
}

static void check_sample(const struct sample *sample, bool is_handed_over)
{
    struct strbuf want, got;
    struct masker masker;
    struct masks *masks = make_masks(sample);
    strbuf_init(&want);
    strbuf_init(&got);
    reference(sample->list, sample->count, sample->text, sample->length, &want);
    assert_int_equal(masker_init(&masker, masks), OK);
    for (size_t at = 0; at < sample->length;) {
        size_t piece = 1 + below(below(2) ? 5 : 1500);
        if (piece > sample->length - at)
            piece = sample->length - at;
        masker_feed(&masker, sample->text + at, piece, take, &got);
        at += piece;
        if (is_handed_over && below(3) == 0)
            hand_over(&masker, masks);
    }
    masker_end(&masker, take, &got);
    assert_int_equal(strbuf_status(&got), OK);
    assert_int_equal(got.length, want.length);
    assert_memory_equal(got.text, want.text, want.length);
    masker_release(&masker);
    masks_free(masks);
    strbuf_release(&want);
    strbuf_release(&got);
}

static void test_reference(void **unused)
{
    static struct sample sample;
    const char *given = getenv("PEAL_SEED");
    uint64_t seed =
        given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    (void)unused;
    print_message("PEAL_SEED=%" PRIu64 "\n", seed);
    state = seed;
    for (int i = 0; i < 3000; i++) {
        make_sample(&sample);
        check_sample(&sample, i % 2);
    }
}

/* ---- what a cut leaves ---- */

static void test_cut(void **unused)
{
    static const struct {
        int line;
        const char *text, *ended, *cut;
    } cases[] = {
        {__LINE__, "xx", "xx", "xx"},
        {__LINE__, "xxsecr", "xxsecr", "xx********"},
        {__LINE__, "xxsecret", "xx********", "xx********"},
        {__LINE__, "xxsecretsec", "xx********sec", "xx********"},
    };
    struct masks *masks;
    (void)unused;
    assert_int_equal(masks_new(&masks), OK);
    assert_int_equal(masks_add(masks, "secret", 6), OK);
    assert_int_equal(masks_finish(masks), OK);
    for (size_t i = 0; i < 2 * ROWS(cases); i++) {
        struct masker masker;
        struct strbuf got;
        const char *text = cases[i / 2].text;
        strbuf_init(&got);
        assert_int_equal(masker_init(&masker, masks), OK);
        masker_feed(&masker, text, strlen(text), take, &got);
        (i % 2 ? masker_cut : masker_end)(&masker, take, &got);
        const char *want = i % 2 ? cases[i / 2].cut : cases[i / 2].ended;
        if (strcmp(got.text, want) != 0)
            fail_msg("line %d: \"%s\", not \"%s\"", cases[i / 2].line, got.text, want);
        strbuf_release(&got);
        masker_release(&masker);
    }
    masks_free(masks);
}

static void test_bad_state(void **unused)
{
    static const struct {
        int line;
        const char *held;
        size_t masked;
    } cases[] = {
        {__LINE__, "x", 0},   {__LINE__, "xsecret", 0},
        {__LINE__, "sec", 5}, {__LINE__, "secretsecretsecret", 0},
        {__LINE__, "ses", 0},
    };
    struct masks *masks;
    (void)unused;
    assert_int_equal(masks_new(&masks), OK);
    assert_int_equal(masks_add(masks, "secret", 6), OK);
    assert_int_equal(masks_finish(masks), OK);
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct masker masker;
        assert_int_equal(masker_init(&masker, masks), OK);
        if (masker_restore(&masker, cases[i].held, strlen(cases[i].held), cases[i].masked) !=
            E_CORRUPT)
            fail_msg("line %d: taken", cases[i].line);
        masker_release(&masker);
    }
    masks_free(masks);
}

/* ---- the forms of a value ---- */

static void test_forms(void **unused)
{
    static const struct {
        int line;
        const char *value, *text, *want;
    } cases[] = {
        {__LINE__, "hunter22", "a hunter22 b", "a ******** b"},
        {__LINE__, "hunter22", "hunter2", "hunter2"},
        {__LINE__, "abc", "abc", "abc"},
        /* line by line */
        {__LINE__, "first line\nsec\nthird line\n", "> first line\n> sec\n> third line",
         "> ********\n> sec\n> ********"},
        {__LINE__, "one two\r\nthree four\r\n", "one two\r\nthree four\r\n",
         "********\r\n********\r\n"},
        /* percent-encoded */
        {__LINE__, "p@ss w/rd", "?p=p%40ss%20w%2Frd&", "?p=********&"},
        {__LINE__, "p@ss w/rd", "?p=p%40ss%20w%2frd&", "?p=********&"},
        {__LINE__, "p@ss w/rd", "p%40ss+w%2Frd", "********"},
        {__LINE__, "p@ss w/rd", "/p@ss%20w/rd", "/********"},
        /* base 64: echo -n hunter22 | base64, with the end of a line, after a:, after ab: */
        {__LINE__, "hunter22", "aHVudGVyMjI=", "********="},
        {__LINE__, "hunter22", "aHVudGVyMjIK", "********K"},
        {__LINE__, "hunter22", "Basic YTpodW50ZXIyMg==", "Basic YTp********=="},
        {__LINE__, "hunter22", "Basic YWI6aHVudGVyMjI=", "Basic YWI6********="},
        {__LINE__, "hunter22", "Basic YWJjOmh1bnRlcjIy", "Basic YWJjOm********"},
        {__LINE__, "\xfb\xff\xfe\xfb\xff\xfe", "-__--__-", "********"},
    };
    (void)unused;
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct masks *masks;
        struct masker masker;
        struct strbuf got;
        strbuf_init(&got);
        assert_int_equal(masks_new(&masks), OK);
        assert_int_equal(mask_forms_add(masks, cases[i].value, strlen(cases[i].value)), OK);
        assert_int_equal(masks_finish(masks), OK);
        assert_int_equal(masker_init(&masker, masks), OK);
        for (const char *at = cases[i].text; *at; at++)
            masker_feed(&masker, at, 1, take, &got);
        masker_end(&masker, take, &got);
        if (strcmp(got.text, cases[i].want) != 0)
            fail_msg("line %d: \"%s\", not \"%s\"", cases[i].line, got.text, cases[i].want);
        strbuf_release(&got);
        masker_release(&masker);
        masks_free(masks);
    }
}

/* base64(1) writes lines of 76. */
static void test_wrapped(void **unused)
{
    static const char value[] = "-----BEGIN KEY----- 0123456789 abcdefghijklmnopqrstuvwxyz "
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ -----END KEY-----";
    static const char text[] =
        "LS0tLS1CRUdJTiBLRVktLS0tLSAwMTIzNDU2Nzg5IGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6\n"
        "IEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaIC0tLS0tRU5EIEtFWS0tLS0t\n";
    struct masks *masks;
    struct masker masker;
    struct strbuf got;
    (void)unused;
    strbuf_init(&got);
    assert_int_equal(masks_new(&masks), OK);
    assert_int_equal(mask_forms_add(masks, value, sizeof(value) - 1), OK);
    assert_int_equal(masks_finish(masks), OK);
    assert_int_equal(masker_init(&masker, masks), OK);
    masker_feed(&masker, text, sizeof(text) - 1, take, &got);
    masker_end(&masker, take, &got);
    assert_string_equal(got.text, "********\n********\n");
    strbuf_release(&got);
    masker_release(&masker);
    masks_free(masks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bad_state), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
