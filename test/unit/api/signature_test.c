/* Signatures of webhooks: the examples of GitHub's and Standard Webhooks' documentation, and what
 * is wrong with others; rates; the document of a webhook. */
#include "hooks/signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
/* cmocka wants the first of them first */
#include <cmocka.h>

#include "hooks/webhook.h"
#include "params/run_body.h"

struct header {
    const char *name, *value;
};

enum { HEADERS = 6 };

static const char *find(const void *context, const char *name, bool *ret_is_twice)
{
    const struct header *headers = context;
    const char *first = NULL;
    *ret_is_twice = false;
    for (size_t i = 0; i < HEADERS && headers[i].name; i++) {
        if (strcasecmp(headers[i].name, name) != 0)
            continue;
        *ret_is_twice = first != NULL;
        first = first ? first : headers[i].value;
    }
    return first;
}

#define HUB       "X-Hub-Signature-256"
#define HUB_GOOD  "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
#define EVERYBODY "It's a Secret to Everybody"
#define HELLO     "Hello, World!"

#define KEY      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define TEST     "{\"test\": 2432232314}"
#define GOOD     "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
#define ID_VALUE "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define ID                                                                                         \
    {                                                                                              \
        "webhook-id", ID_VALUE                                                                     \
    }
#define AT                                                                                         \
    {                                                                                              \
        "webhook-timestamp", "1614265330"                                                          \
    }
#define SIGNED(text)                                                                               \
    {                                                                                              \
        "webhook-signature", (text)                                                                \
    }

enum { NOW = 1614265330 };

static const struct {
    int line;
    enum webhook_kind kind;
    const char *secret, *body;
    struct header headers[HEADERS];
    int64_t now_s;
    bool want;
} cases[] = {
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{HUB, HUB_GOOD}}, NOW, true},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{"x-hub-signature-256", HUB_GOOD}}, NOW, true},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, "Hello, World", {{HUB, HUB_GOOD}}, NOW, false},
    {__LINE__, WEBHOOK_GITHUB, "It's a secret to Everybody", HELLO, {{HUB, HUB_GOOD}}, NOW, false},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{0}}, NOW, false},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{HUB, ""}}, NOW, false},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{HUB, "sha256="}}, NOW, false},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{HUB, HUB_GOOD "0"}}, NOW, false},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{HUB, &HUB_GOOD[7]}}, NOW, false},
    {__LINE__,
     WEBHOOK_GITHUB,
     EVERYBODY,
     HELLO,
     {{HUB, "SHA256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}},
     NOW,
     false},
    {__LINE__, /* twice, even if both are right */
     WEBHOOK_GITHUB,
     EVERYBODY,
     HELLO,
     {{HUB, HUB_GOOD}, {HUB, HUB_GOOD}},
     NOW,
     false},
    {__LINE__, /* the older header, of SHA-1, does not count */
     WEBHOOK_GITHUB,
     EVERYBODY,
     HELLO,
     {{"X-Hub-Signature", HUB_GOOD}},
     NOW,
     false},
    {__LINE__, WEBHOOK_GITHUB, EVERYBODY, HELLO, {{"X-Gitlab-Token", EVERYBODY}}, NOW, false},

    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED(GOOD)}, NOW, true},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED(GOOD)}, NOW + 300, true},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED(GOOD)}, NOW - 300, true},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED(GOOD)}, NOW + 301, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED(GOOD)}, NOW - 301, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED("v1,AAAA " GOOD)}, NOW, true},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED("v1a,AAAA " GOOD " v2,x")}, NOW, true},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED("v1,AAAA," GOOD)}, NOW, false},
    {__LINE__, /* not the ninth */
     WEBHOOK_GENERIC,
     KEY,
     TEST,
     {ID, AT, SIGNED("v1,a v1,b v1,c v1,d v1,e v1,f v1,g v1,h " GOOD)},
     NOW,
     false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED(GOOD "x")}, NOW, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED("v1,")}, NOW, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT}, NOW, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, SIGNED(GOOD)}, NOW, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {AT, SIGNED(GOOD)}, NOW, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, ID, AT, SIGNED(GOOD)}, NOW, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, AT, SIGNED(GOOD)}, NOW, false},
    {__LINE__, WEBHOOK_GENERIC, KEY, TEST, {ID, AT, SIGNED(GOOD), SIGNED(GOOD)}, NOW, false},
    {__LINE__,
     WEBHOOK_GENERIC,
     KEY,
     TEST,
     {ID, {"webhook-timestamp", "1614265330.0"}, SIGNED(GOOD)},
     NOW,
     false},
    {__LINE__,
     WEBHOOK_GENERIC,
     KEY,
     TEST,
     {ID, {"webhook-timestamp", "99999999999999999999"}, SIGNED(GOOD)},
     NOW,
     false},
    {__LINE__, WEBHOOK_GENERIC, &KEY[6], TEST, {ID, AT, SIGNED(GOOD)}, NOW, false},
    {__LINE__, /* the signed text cut elsewhere */
     WEBHOOK_GENERIC,
     KEY,
     "2." TEST,
     {{"webhook-id", "msg.1614265330"}, AT, SIGNED(GOOD)},
     NOW,
     false},

    {__LINE__, WEBHOOK_GITLAB, KEY, TEST, {ID, AT, SIGNED(GOOD)}, NOW, true},
    {__LINE__, WEBHOOK_GITLAB, KEY, TEST, {{"X-Gitlab-Token", KEY}}, NOW, true},
    {__LINE__, WEBHOOK_GITLAB, KEY, TEST, {{"X-Gitlab-Token", KEY "x"}}, NOW, false},
    {__LINE__, WEBHOOK_GITLAB, KEY, TEST, {{"X-Gitlab-Token", ""}}, NOW, false},
    {__LINE__, WEBHOOK_GITLAB, KEY, TEST, {{0}}, NOW, false},
    {__LINE__,
     WEBHOOK_GITLAB,
     KEY,
     TEST,
     {{"X-Gitlab-Token", KEY}, {"X-Gitlab-Token", KEY}},
     NOW,
     false},
    {__LINE__, /* a wrong signature is not saved by a right token */
     WEBHOOK_GITLAB,
     KEY,
     TEST,
     {ID, AT, SIGNED("v1,AAAA"), {"X-Gitlab-Token", KEY}},
     NOW,
     false},
};

static struct hook_request request_of(const struct header headers[HEADERS], const char *body,
                                      int64_t now_s)
{
    return (struct hook_request){
        .header = find, .context = headers, .body = body, .length = strlen(body), .now_s = now_s};
}

static void test_signatures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hook_request request = request_of(cases[i].headers, cases[i].body, cases[i].now_s);
        if (signature_is_good(cases[i].kind, cases[i].secret, &request) != cases[i].want)
            fail_msg("line %d: is %s", cases[i].line, cases[i].want ? "refused" : "accepted");
    }
}

static const struct {
    int line;
    enum webhook_kind kind;
    struct header headers[HEADERS];
    const char *want; /* NULL: none */
} deliveries[] = {
    {__LINE__, WEBHOOK_GITHUB, {{"X-GitHub-Delivery", "a-1"}}, "a-1"},
    {__LINE__, WEBHOOK_GITHUB, {{"X-GitHub-Delivery", "a"}, {"Idempotency-Key", "b"}}, "a"},
    {__LINE__, WEBHOOK_GITHUB, {{"Idempotency-Key", "b"}}, "b"},
    {__LINE__, WEBHOOK_GITHUB, {{"X-GitHub-Delivery", ""}}, NULL},
    {__LINE__, WEBHOOK_GITHUB, {{"X-GitHub-Delivery", "a b"}}, NULL},
    {__LINE__, WEBHOOK_GITHUB, {{"X-GitHub-Delivery", "\303\244"}}, NULL},
    {__LINE__, WEBHOOK_GITHUB, {{"X-GitHub-Delivery", "a"}, {"X-GitHub-Delivery", "a"}}, NULL},
    {__LINE__, WEBHOOK_GITLAB, {{"X-Gitlab-Event-UUID", "u"}}, "u"},
    {__LINE__, WEBHOOK_GITLAB, {{"X-Gitlab-Event-UUID", "u"}, {"Idempotency-Key", "k"}}, "k"},
    {__LINE__, WEBHOOK_GITLAB, {{"Idempotency-Key", "k"}, ID, SIGNED("v1,x")}, ID_VALUE},
    {__LINE__, WEBHOOK_GENERIC, {{"Idempotency-Key", "k"}}, NULL},
    {__LINE__, WEBHOOK_GENERIC, {ID, {"Idempotency-Key", "k"}}, ID_VALUE},
    {__LINE__, WEBHOOK_GITHUB, {{0}}, NULL},
};

static void test_deliveries(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(deliveries) / sizeof(deliveries[0]); i++) {
        struct hook_request request = request_of(deliveries[i].headers, "", NOW);
        const char *got = hook_delivery(deliveries[i].kind, &request), *want = deliveries[i].want;
        if (!got != !want || (got && strcmp(got, want) != 0))
            fail_msg("line %d: got %s", deliveries[i].line, got ? got : "none");
    }
    char first[DELIVERY_NAME_SIZE], second[DELIVERY_NAME_SIZE];
    delivery_name("01M7NJETT059K5W8FP9CPXH1Q5", "a", first);
    delivery_name("01M7NJETT059K5W8FP9CPXH1Q5", "b", second);
    assert_int_equal(strlen(first), DELIVERY_NAME_SIZE - 1);
    assert_string_not_equal(first, second);
}

/* What comes from headers gets into environments, lists and logs. */
static void test_clean(void **state)
{
    static const struct {
        int line;
        const char *text, *want;
    } texts[] = {
        {__LINE__, "push", "push"},
        {__LINE__, "Push Hook", "Push Hook"},
        {__LINE__, "$(id)`x`\"'\\", "__id__x____"},
        {__LINE__, "a\tb\x1b[31m", "a_b__31m"},
        {__LINE__, "\303\244", "__"},
        {__LINE__, "application/json; charset=utf-8", "application/json; c"},
        {__LINE__, "", ""},
    };
    char got[20];
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        run_body_clean(texts[i].text, got, sizeof(got));
        if (strcmp(got, texts[i].want) != 0)
            fail_msg("line %d: %s", texts[i].line, got);
    }
}

static void test_rates(void **state)
{
    static const struct {
        int line;
        const char *text;
        int count; /* 0: refused */
        int64_t period_ms;
    } rates[] = {
        {__LINE__, "30/m", 30, 60000},
        {__LINE__, "1/s", 1, 1000},
        {__LINE__, "6000/h", 6000, 3600000},
        {__LINE__, "6001/h", 0, 0},
        {__LINE__, "0/m", 0, 0},
        {__LINE__, "-1/m", 0, 0},
        {__LINE__, "30", 0, 0},
        {__LINE__, "30/", 0, 0},
        {__LINE__, "30/d", 0, 0},
        {__LINE__, "30/mm", 0, 0},
        {__LINE__, "", 0, 0},
        {__LINE__, "99999999999/s", 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct hook_rate rate = {0};
        char text[16];
        bool is_good = hook_rate_parse(rates[i].text, &rate);
        if (is_good != (rates[i].count > 0) || rate.count != rates[i].count ||
            rate.period_ms != rates[i].period_ms)
            fail_msg("line %d: %d in %lld", rates[i].line, rate.count, (long long)rate.period_ms);
        hook_rate_print(&rate, text, sizeof(text));
        if (is_good)
            assert_string_equal(text, rates[i].text);
    }
    struct webhook hook = {.rate = {.count = 3, .period_ms = 60000}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(webhook_ask(&hook, 5000), 0);
    assert_int_equal(webhook_ask(&hook, 5000), 20000);
    assert_int_equal(webhook_ask(&hook, 15000), 10000);
    assert_int_equal(webhook_ask(&hook, 25000), 0);
    assert_true(webhook_ask(&hook, 25000) > 0);
    for (int i = 0; i < 3; i++) /* no more than a period is saved up */
        assert_int_equal(webhook_ask(&hook, 9000000), 0);
    assert_true(webhook_ask(&hook, 9000000) > 0);
}

static void test_document(void **state)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{\"kind\":\"github\",\"rate\":\"1/s\"}",
        "{\"kind\":\"github\",\"rate\":\"1/s\",\"secret\":\"short\"}",
        "{\"kind\":\"other\",\"rate\":\"1/s\",\"secret\":\"0123456789abcdef\"}",
        "{\"kind\":\"github\",\"rate\":\"1/w\",\"secret\":\"0123456789abcdef\"}",
    };
    struct webhook hook = {.kind = WEBHOOK_GITLAB,
                           .rate = {.count = 2, .period_ms = 1000},
                           .secret = "0123456789abcdef",
                           .created_ms = 5,
                           .rotated_ms = 6,
                           .by = "anna"};
    struct webhook got;
    (void)state;
    char *text = webhook_encode(&hook);
    assert_non_null(text);
    assert_int_equal(webhook_decode("01M7NJETT059K5W8FP9CPXH1Q5", text, &got), OK);
    assert_int_equal(got.kind, WEBHOOK_GITLAB);
    assert_int_equal(got.rate.count, 2);
    assert_string_equal(got.secret, hook.secret);
    assert_string_equal(got.by, "anna");
    assert_int_equal(got.created_ms + got.rotated_ms, 11);
    assert_int_equal(webhook_decode("no id", text, &got), E_CORRUPT);
    free(text);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(webhook_decode("01M7NJETT059K5W8FP9CPXH1Q5", bad[i], &got), E_CORRUPT);
}

/* What is encoded is decoded; what somebody else has written there is checked. */
static void test_body(void **state)
{
    static const struct {
        int line;
        const char *json;
        int length; /* -1: refused */
    } texts[] = {
        {__LINE__, "{\"data\":\"\"}", 0},
        {__LINE__, "{\"data\":\"AA==\"}", 1},
        {__LINE__, "{\"data\":\"AAA=\"}", 2},
        {__LINE__, "{\"data\":\"AAAA\"}", 3},
        {__LINE__, "{\"data\":\"A\"}", -1},
        {__LINE__, "{\"data\":\"====\"}", -1},
        {__LINE__, "{\"data\":\"A===\"}", -1},
        {__LINE__, "{\"data\":\"AA=A\"}", -1},
        {__LINE__, "{\"data\":\" AAA\"}", -1},
        {__LINE__, "{\"data\":\"AA A\"}", -1},
        {__LINE__, "{\"data\":\"AAA-\"}", -1},
        {__LINE__, "{\"data\":1}", -1},
        {__LINE__, "{}", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *value = json_loads(texts[i].json, 0, NULL);
        struct run_body *body = NULL;
        enum status st = run_body_decode(value, &body);
        if ((st == OK ? (int)body->length : -1) != texts[i].length)
            fail_msg("line %d: %d", texts[i].line, (int)st);
        run_body_free(body);
        json_decref(value);
    }
    char bytes[] = "a\0b\377";
    struct run_body body = {.bytes = bytes, .length = 4, .type = "text/plain", .event = "push"},
                    *got;
    json_t *value = run_body_encode(&body);
    assert_int_equal(run_body_decode(value, &got), OK);
    assert_int_equal(got->length, 4);
    assert_memory_equal(got->bytes, bytes, 4);
    assert_string_equal(got->type, "text/plain");
    assert_string_equal(got->event, "push");
    assert_string_equal(got->source, "");
    run_body_free(got);
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures), cmocka_unit_test(test_deliveries),
        cmocka_unit_test(test_clean),      cmocka_unit_test(test_rates),
        cmocka_unit_test(test_document),   cmocka_unit_test(test_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
