/* What is sent to each kind of receiver, and what their answers mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "payload.h"

#define NOW INT64_C(1794711612345) /* 2026-11-15T03:00:12Z */

static const struct notice_world nowhere;

static struct channel *make(const char *format)
{
    char text[512];
    struct channel *channel = NULL;
    struct job_error error = {0};
    snprintf(text, sizeof(text), "%s", format);
    for (char *at = text; (at = strchr(at, '\''));)
        *at = '"';
    json_t *value = json_loads(text, 0, NULL);
    if (channel_decode("ops", value, NULL, &channel, &error) != OK)
        fail_msg("%s: %s", format, error.message);
    json_decref(value);
    return channel;
}

/* With output that every format trips over. */
static struct notice failure(void)
{
    static const char output[] = "<!channel> a & b ``` **x**\n<at user_id=\"all\">";
    struct notice notice = {.event = NOTIFY_FAILURE,
                            .channel = "ops",
                            .job = "db/backup",
                            .state = RUN_FAILED,
                            .reason = REASON_EXIT_CODE,
                            .tick_ms = NOW - 12345,
                            .last_tick_ms = NOW - 12345,
                            .count = 1,
                            .started_ms = NOW - 12345,
                            .finished_ms = NOW - 345,
                            .attempt = 1,
                            .exit_code = 3,
                            .node = "web-1"};
    notice_set_output(&notice, output, sizeof(output) - 1, false);
    return notice;
}

static struct payload send_to(const char *channel_text)
{
    struct payload payload;
    struct channel *channel = make(channel_text);
    struct notice notice = failure();
    assert_int_equal(payload_make(channel, &notice, &nowhere, NOW, &payload), OK);
    notice_release(&notice);
    channel_free(channel);
    return payload;
}

static json_t *body_of(const struct payload *payload)
{
    json_t *body = json_loads(payload->body.text, 0, NULL);
    assert_non_null(body);
    return body;
}

static const char *header(const struct payload *payload, const char *name)
{
    for (size_t i = 0; i < payload->headers.count; i++) {
        if (strcmp(payload->headers.items[i].name, name) == 0)
            return payload->headers.items[i].value;
    }
    return NULL;
}

static void a_webhook_has_all_the_facts(void **state)
{
    (void)state;
    struct payload payload = send_to("{'type':'webhook','url':'https://h/x','secret':'key',"
                                     "'headers':{'X-Team':'a'}}");
    json_t *body = body_of(&payload);
    assert_string_equal(json_string_value(json_object_get(body, "event")), "failure");
    assert_string_equal(json_string_value(json_object_get(body, "job")), "db/backup");
    assert_string_equal(json_string_value(json_object_get(body, "tick")), "2026-11-15T03:00:00Z");
    assert_int_equal(json_integer_value(json_object_get(body, "duration_ms")), 12000);
    assert_int_equal(json_integer_value(json_object_get(body, "exit_code")), 3);
    assert_true(json_is_null(json_object_get(body, "signal")));
    assert_non_null(strstr(json_string_value(json_object_get(body, "output")), "<!channel> a & b"));
    assert_string_equal(header(&payload, "Idempotency-Key"),
                        "00000000000000000000000000-failure-ops");
    assert_string_equal(header(&payload, "Peal-Event"), "failure");
    assert_string_equal(header(&payload, "X-Team"), "a");
    assert_string_equal(header(&payload, "Peal-Timestamp"), "1794711612");
    assert_int_equal(strncmp(header(&payload, "Peal-Signature"), "sha256=", 7), 0);
    assert_int_equal(strlen(header(&payload, "Peal-Signature")), 7 + 64);
    json_decref(body);
    payload_release(&payload);
}

/* Neither names people nor ends the block early. */
static void slack_text_is_escaped(void **state)
{
    (void)state;
    struct payload payload = send_to("{'type':'slack','url':'https://s/x'}");
    json_t *body = body_of(&payload);
    const char *text = json_string_value(json_object_get(body, "text"));
    assert_int_equal(strncmp(text, "*db/backup failed: exit code 3*\n", 32), 0);
    assert_non_null(strstr(text, "&lt;!channel&gt; a &amp; b"));
    assert_null(strstr(text, "<!channel>"));
    const char *first = strstr(text, "```");
    assert_non_null(first);
    assert_string_equal(strstr(first + 3, "```"), "```");
    json_decref(body);
    payload_release(&payload);
}

/* The signatures were made with openssl dgst. */
static void dingtalk_signs_its_url(void **state)
{
    (void)state;
    struct payload payload =
        send_to("{'type':'dingtalk','url':'https://d/send?access_token=t','secret':'SECkey'}");
    json_t *body = body_of(&payload);
    assert_string_equal(payload.url, "https://d/send?access_token=t&timestamp=1794711612345&sign="
                                     "uRjRbVE%2FDhTRvk70n3PtX9eQ2zFO2o3zwLAXmnIm%2FWo%3D");
    assert_string_equal(json_string_value(json_object_get(body, "msgtype")), "text");
    const json_t *text = json_object_get(body, "text");
    assert_non_null(strstr(json_string_value(json_object_get(text, "content")),
                           "db/backup failed: exit code 3\nJob: db/backup"));
    json_decref(body);
    payload_release(&payload);
}

static void feishu_signs_its_body(void **state)
{
    (void)state;
    struct payload payload =
        send_to("{'type':'feishu','url':'https://f/hook','secret':'SECkey','language':'zh'}");
    json_t *body = body_of(&payload);
    assert_string_equal(json_string_value(json_object_get(body, "timestamp")), "1794711612");
    assert_string_equal(json_string_value(json_object_get(body, "sign")),
                        "2MsSU4ll9ahTkleizqIHMqjhNkA338DM4YiDAarGOgU=");
    const json_t *post = json_object_get(json_object_get(body, "content"), "post");
    const json_t *chinese = json_object_get(post, "zh_cn");
    assert_string_equal(json_string_value(json_object_get(chinese, "title")),
                        "db/backup 失败：退出码 3");
    json_decref(body);
    payload_release(&payload);
}

static void wecom_is_kept_short(void **state)
{
    (void)state;
    struct channel *channel = make("{'type':'wecom','url':'https://w/x','language':'zh'}");
    struct notice notice = failure();
    struct payload payload;
    struct strbuf output;
    strbuf_init(&output);
    for (int i = 0; i < 340; i++)
        strbuf_adds(&output, "世");
    notice_set_output(&notice, output.text, output.length, false);
    memset(notice.job, 'j', 120);
    memset(notice.node, 'n', 63);
    memset(notice.detail, 'd', 159);
    free(notice.output); /* however long it is made */
    for (int i = 0; i < 2000; i++)
        strbuf_adds(&output, "世");
    notice.output = strdup(output.text);
    assert_int_equal(payload_make(channel, &notice, &nowhere, NOW, &payload), OK);
    json_t *body = body_of(&payload);
    const json_t *text = json_object_get(json_object_get(body, "text"), "content");
    assert_true(json_string_length(text) <= 2048);
    json_decref(body);
    strbuf_release(&output);
    notice_release(&notice);
    payload_release(&payload);
    channel_free(channel);
}

static void a_mail_is_one_that_servers_take(void **state)
{
    (void)state;
    struct payload payload = send_to(
        "{'type':'mail','url':'smtp://m','from':'peal@example.com','to':['a@x.org','b@x.org'],"
        "'language':'zh'}");
    const char *mail = payload.body.text;
    assert_int_equal(strncmp(mail, "Date: Sun, 15 Nov 2026 03:00:12 +0000\r\n", 39), 0);
    assert_non_null(
        strstr(mail, "\r\nFrom: peal <peal@example.com>\r\nTo: a@x.org,\r\n b@x.org\r\n"));
    assert_non_null(strstr(mail, "\r\nSubject: =?UTF-8?B?"));
    assert_non_null(
        strstr(mail, "\r\nMessage-ID: <00000000000000000000000000-failure-ops@example.com>\r\n"));
    for (const char *line = mail; *line;) { /* ASCII, in short lines that end as they should */
        const char *end = strstr(line, "\r\n");
        assert_non_null(end);
        assert_true(end - line <= 100);
        for (; line < end; line++)
            assert_true(*line >= ' ' && *line <= '~');
        line = end + 2;
    }
    payload_release(&payload);
}

static const struct {
    int line;
    enum channel_type type;
    long status;
    const char *body;
    enum verdict want;
    const char *why;
} answers[] = {
    {__LINE__, CHANNEL_WEBHOOK, 200, "", VERDICT_SENT, "HTTP status 200"},
    {__LINE__, CHANNEL_WEBHOOK, 204, "", VERDICT_SENT, "HTTP status 204"},
    {__LINE__, CHANNEL_WEBHOOK, 302, "", VERDICT_REFUSED, "HTTP status 302"},
    {__LINE__, CHANNEL_WEBHOOK, 404, "no such hook\n<html>", VERDICT_REFUSED,
     "HTTP status 404: no such hook"},
    {__LINE__, CHANNEL_WEBHOOK, 429, "", VERDICT_TROUBLE, "HTTP status 429"},
    {__LINE__, CHANNEL_WEBHOOK, 503, "\xFF", VERDICT_TROUBLE, "HTTP status 503"},
    {__LINE__, CHANNEL_SLACK, 200, "ok", VERDICT_SENT, "HTTP status 200"},
    {__LINE__, CHANNEL_SLACK, 403, "invalid_token", VERDICT_REFUSED,
     "HTTP status 403: invalid_token"},
    {__LINE__, CHANNEL_DINGTALK, 200, "{\"errcode\":0,\"errmsg\":\"ok\"}", VERDICT_SENT,
     "HTTP status 200"},
    {__LINE__, CHANNEL_DINGTALK, 200, "{\"errcode\":310000,\"errmsg\":\"sign not match\"}",
     VERDICT_REFUSED, "error 310000: sign not match"},
    {__LINE__, CHANNEL_DINGTALK, 200, "{\"errcode\":130101,\"errmsg\":\"send too fast\"}",
     VERDICT_TROUBLE, "error 130101: send too fast"},
    {__LINE__, CHANNEL_WECOM, 200, "{\"errcode\":93000,\"errmsg\":\"invalid webhook url\"}",
     VERDICT_REFUSED, "error 93000: invalid webhook url"},
    {__LINE__, CHANNEL_WECOM, 200, "{\"errcode\":45009,\"errmsg\":\"limit\"}", VERDICT_TROUBLE,
     "error 45009: limit"},
    {__LINE__, CHANNEL_FEISHU, 200, "{\"StatusCode\":0,\"StatusMessage\":\"success\"}",
     VERDICT_SENT, "HTTP status 200"},
    {__LINE__, CHANNEL_FEISHU, 200, "{\"code\":19021,\"msg\":\"sign match fail\"}", VERDICT_REFUSED,
     "error 19021: sign match fail"},
    {__LINE__, CHANNEL_FEISHU, 200, "<html>", VERDICT_REFUSED,
     "the answer is not one of this service: <html>"},
};

static void answers_are_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct strbuf why;
        strbuf_init(&why);
        enum verdict got = payload_judge(answers[i].type, answers[i].status, answers[i].body, &why);
        if (got != answers[i].want || strcmp(why.text, answers[i].why) != 0)
            fail_msg("line %d: got %d \"%s\"", answers[i].line, (int)got, why.text);
        strbuf_release(&why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_webhook_has_all_the_facts),
        cmocka_unit_test(slack_text_is_escaped),
        cmocka_unit_test(dingtalk_signs_its_url),
        cmocka_unit_test(feishu_signs_its_body),
        cmocka_unit_test(wecom_is_kept_short),
        cmocka_unit_test(a_mail_is_one_that_servers_take),
        cmocka_unit_test(answers_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
