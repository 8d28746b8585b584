/* What is sent to each kind of receiver, and what their answers mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "payload/payload.h"

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

/* `notify` is the job's; NULL: it has none. */
static struct payload send_with(const char *channel_text, const struct job_notify *notify)
{
    struct payload payload;
    struct channel *channel = make(channel_text);
    struct notice notice = failure();
    notice_set_templates(&notice, notify);
    assert_int_equal(payload_make(channel, &notice, &nowhere, NOW, &payload), OK);
    notice_release(&notice);
    channel_free(channel);
    return payload;
}

static struct payload send_to(const char *channel_text)
{
    return send_with(channel_text, NULL);
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

/* Filled in, and escaped like all else. */
static void templates_are_filled_in(void **state)
{
    static const struct {
        int line;
        const char *title, *text, *want;
    } cases[] = {
        {__LINE__, "${job} on ${node}",
         "${exit_code}|${signal}|${attempt}|${duration}|${held_back}",
         "*db/backup on web-1*\n3||1|12.0 s|0"},
        {__LINE__, "<!here> ${event}", "`$$5` $x ${channel}",
         "*&lt;!here&gt; failure*\n`\u200b$5`\u200b $x ops"},
        {__LINE__, "$", "${title}: ${state}, ${reason}",
         "*$*\ndb/backup failed: exit code 3: failed, the exit code was not 0"},
        {__LINE__, "t", "${tick} ${ticks} ${run}",
         "*t*\n2026-11-15T03:00:00Z 1 00000000000000000000000000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char channel[512];
        snprintf(channel, sizeof(channel),
                 "{'type':'slack','url':'https://s/x','title':'%s','text':'%s'}", cases[i].title,
                 cases[i].text);
        struct payload payload = send_to(channel);
        json_t *body = body_of(&payload);
        const char *text = json_string_value(json_object_get(body, "text"));
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
        json_decref(body);
        payload_release(&payload);
    }
}

/* The job's templates go before the channel's, each by itself. */
static void templates_of_the_job_go_first(void **state)
{
    static const struct {
        int line;
        const char *title, *text; /* of the job; NULL: none */
        const char *want;
    } cases[] = {
        {__LINE__, NULL, NULL, "*C db/backup*\nc 3"},
        {__LINE__, "J ${job}", NULL, "*J db/backup*\nc 3"},
        {__LINE__, NULL, "j ${node} $$", "*C db/backup*\nj web-1 $"},
        {__LINE__, "J\t${event}", "j", "*J failure*\nj"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct job_notify notify = {.title = (char *)cases[i].title,
                                          .text = (char *)cases[i].text};
        struct payload payload = send_with(
            "{'type':'slack','url':'https://s/x','title':'C ${job}','text':'c ${exit_code}'}",
            &notify);
        json_t *body = body_of(&payload);
        const char *text = json_string_value(json_object_get(body, "text"));
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
        json_decref(body);
        payload_release(&payload);
    }
}

/* All types take templates; none adds the output to a text that does not ask for it. */
static void every_type_takes_templates(void **state)
{
    static const char *const types[] = {
        "'webhook','url':'https://h/x'",     "'slack','url':'https://h/x'",
        "'dingtalk','url':'https://h/x'",    "'feishu','url':'https://h/x'",
        "'wecom','url':'https://h/x'",       "'teams','url':'https://h/x'",
        "'telegram','token':'t','chat':'1'", "'ntfy','url':'https://h/x'"};
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char channel[512];
        snprintf(channel, sizeof(channel),
                 "{'type':%s,'title':'T ${job} T','text':'<b>&${output}'}", types[i]);
        struct payload payload = send_to(channel);
        if (!strstr(payload.body.text, "T db/backup T"))
            fail_msg("%s: %s", types[i], payload.body.text);
        if (strstr(payload.body.text, "Job: "))
            fail_msg("%s: facts: %s", types[i], payload.body.text);
        if (strstr(types[i], "telegram") && !strstr(payload.body.text, "&lt;b&gt;&amp;&lt;!cha"))
            fail_msg("%s: not escaped: %s", types[i], payload.body.text);
        payload_release(&payload);
    }
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

/* ---- the same with all that could be markup or go wrong somewhere ---- */

/* What a job may print and be called: markup of all receivers, quotes, control characters, and
 * characters of four bytes up to the last byte. */
static struct notice hostile(void)
{
    struct notice notice = failure();
    struct strbuf output;
    strbuf_init(&output);
    for (int i = 0; i < 60; i++)
        strbuf_addf(&output, "%d </pre><b>&lt; [x](http://evil) **\"\\ <at>all</at> 😀\x01\xFF\r\n",
                    i);
    for (int i = 0; i < 100; i++)
        strbuf_adds(&output, "😀");
    notice_set_output(&notice, output.text, output.length, false);
    strbuf_release(&output);
    snprintf(notice.job, sizeof(notice.job), "db/<b>\"a\" & *b*");
    for (size_t i = 0; i + 4 < sizeof(notice.detail); i += 4)
        memcpy(notice.detail + i, "😀", 5);
    return notice;
}

static const struct notice_world linked = {.public_url = "https://peal.example.com/"};

static json_t *body_for(const char *channel_text, const struct notice *notice)
{
    struct payload payload;
    struct channel *channel = make(channel_text);
    assert_int_equal(payload_make(channel, notice, &linked, NOW, &payload), OK);
    assert_true(payload.body.length < 28 * 1024);
    json_t *body = body_of(&payload); /* it is JSON, in UTF-8 */
    payload_release(&payload);
    channel_free(channel);
    return body;
}

static const char *text_at(const json_t *value, const char *path)
{
    char name[64];
    while (*path) {
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof(name), "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
                                     : json_object_get(value, name);
        path += length;
        path += *path == '.';
    }
    return json_string_value(value);
}

static void expect_text(const json_t *value, const char *path, const char *want)
{
    const char *got = text_at(value, path);
    if (!got || strcmp(got, want) != 0)
        fail_msg("%s: got \"%s\"", path, got ? got : "nothing");
}

/* PagerDuty's Events API v2: what it demands, and what it limits. */
static void pagerduty_gets_an_incident_and_its_end(void **state)
{
    static const char channel[] = "{'type':'pagerduty','token':'0123456789abcdef0123456789abcdef'}";
    static const struct {
        const char *severity, *key; /* severity NULL: it resolves */
    } wanted[] = {
        [NOTIFY_FAILURE] = {"error", ""},
        [NOTIFY_LOST] = {"critical", ""},
        [NOTIFY_RECOVERY] = {NULL, ""},
        [NOTIFY_LATE] = {"warning", "-late"},
        [NOTIFY_SUCCESS] = {NULL, ""},
        [NOTIFY_TOO_LONG] = {"warning", "-too_long"},
        [NOTIFY_TOO_SHORT] = {"warning", "-too_short"},
        [NOTIFY_OVERDUE] = {"error", "-overdue"},
    };
    (void)state;
    struct notice notice = hostile();
    for (int i = 0; i < NOTIFY_EVENTS; i++) {
        notice.event = (enum notify_event)i;
        json_t *body = body_for(channel, &notice);
        expect_text(body, "routing_key", "0123456789abcdef0123456789abcdef");
        char key[64];
        snprintf(key, sizeof(key), "peal-00000000000000000000000000%s", wanted[i].key);
        expect_text(body, "event_action", wanted[i].severity ? "trigger" : "resolve");
        expect_text(body, "dedup_key", key);
        if (wanted[i].severity) {
            expect_text(body, "payload.severity", wanted[i].severity);
            expect_text(body, "payload.source", "web-1");
            assert_in_range(strlen(text_at(body, "payload.summary")), 1, 1024);
            expect_text(body, "payload.custom_details.job", notice.job);
            assert_int_equal(
                strncmp(text_at(body, "links.0.href"), "https://peal.example.com/", 25), 0);
        } else {
            assert_int_equal(json_object_size(body), 3);
        }
        json_decref(body);
    }
    notice_release(&notice);
}

/* Nothing of a message is in a text block, where it would be markup. */
static void teams_gets_a_card_of_plain_text(void **state)
{
    (void)state;
    struct notice notice = hostile();
    json_t *body = body_for("{'type':'teams','url':'https://t/x'}", &notice);
    const json_t *block;
    size_t i;
    expect_text(body, "type", "message");
    expect_text(body, "attachments.0.contentType", "application/vnd.microsoft.card.adaptive");
    expect_text(body, "attachments.0.content.type", "AdaptiveCard");
    expect_text(body, "attachments.0.content.actions.0.type", "Action.OpenUrl");
    const json_t *attachment = json_array_get(json_object_get(body, "attachments"), 0);
    const json_t *blocks = json_object_get(json_object_get(attachment, "content"), "body");
    assert_in_range(json_array_size(blocks), 5, 100);
    json_array_foreach (blocks, i, block) {
        expect_text(block, "type", "RichTextBlock");
        expect_text(block, "inlines.0.type", "TextRun");
        assert_null(strchr(text_at(block, "inlines.0.text"), '\n'));
    }
    json_decref(body);
    notice_release(&notice);
}

/* Only its own tags are in the text, each of them is closed, and it is not too long. */
static void telegram_gets_html_that_it_can_parse(void **state)
{
    static const char channel[] = "{'type':'telegram','token':'123:AB_c-d','chat':'-1001'}";
    static const char *const ours[] = {"<b>", "</b>", "<pre>", "</pre>"};
    (void)state;
    struct notice notice = hostile();
    memset(notice.job, '&', JOB_NAME_SIZE - 1);
    json_t *body = body_for(channel, &notice);
    expect_text(body, "chat_id", "-1001");
    expect_text(body, "parse_mode", "HTML");
    size_t tags = 0, length = 0;
    for (const char *at = text_at(body, "text"); *at;) {
        size_t skip = 1;
        for (size_t i = 0; i < 4 && *at == '<'; i++) {
            if (strncmp(at, ours[i], strlen(ours[i])) != 0)
                continue;
            assert_int_equal(tags++, i); /* in this order, each once */
            skip = strlen(ours[i]);
        }
        assert_false(*at == '<' && skip == 1);
        if (*at == '&') {
            skip = strcspn(at, ";") + 1;
            assert_in_range(skip, 4, 5);
        }
        at += skip;
        length++;
    }
    assert_int_equal(tags, 4);
    assert_in_range(length, 100, 4096);
    json_decref(body);
    notice_release(&notice);

    struct payload payload = send_to(channel);
    assert_string_equal(payload.url, "https://api.telegram.org/bot123:AB_c-d/sendMessage");
    payload_release(&payload);
}

static void ntfy_gets_a_title_and_a_priority(void **state)
{
    static const char channel[] = "{'type':'ntfy','url':'https://n/base/ops-1','token':'tk_a'}";
    (void)state;
    struct notice notice = hostile();
    json_t *body = body_for(channel, &notice);
    expect_text(body, "topic", "ops-1");
    expect_text(body, "tags.0", "rotating_light");
    assert_int_equal(json_integer_value(json_object_get(body, "priority")), 4);
    assert_in_range(strlen(text_at(body, "title")), 1, 250);
    assert_in_range(strlen(text_at(body, "message")), 1, 4096);
    assert_int_equal(strncmp(text_at(body, "click"), "https://peal.example.com/", 25), 0);
    json_decref(body);
    notice_release(&notice);
    struct payload payload = send_to(channel);
    assert_string_equal(payload.url, "https://n/base/");
    assert_string_equal(header(&payload, "Authorization"), "Bearer tk_a");
    payload_release(&payload);
}

/* Whatever is cut is cut between characters. */
static void texts_are_cut_between_characters(void **state)
{
    static const char *const channels[] = {
        "{'type':'wecom','url':'https://w/x','language':'zh'}",
        "{'type':'teams','url':'https://t/x'}",
        "{'type':'telegram','token':'1:a','chat':'@ops'}",
        "{'type':'ntfy','url':'https://n/ops'}",
        "{'type':'pagerduty','token':'k'}",
    };
    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        struct notice notice = hostile();
        struct strbuf output;
        strbuf_init(&output);
        for (size_t i = 0; i < shift; i++)
            strbuf_addc(&output, 'x');
        for (int i = 0; i < 1500; i++)
            strbuf_adds(&output, "😀");
        free(notice.output); /* however long it is made */
        notice.output = strdup(output.text);
        for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
            json_decref(body_for(channels[i], &notice)); /* which refuses half characters */
        strbuf_release(&output);
        notice_release(&notice);
    }
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
    {__LINE__, CHANNEL_PAGERDUTY, 202,
     "{\"status\":\"success\",\"message\":\"Event processed\",\"dedup_key\":\"k\"}", VERDICT_SENT,
     "HTTP status 202"},
    {__LINE__, CHANNEL_PAGERDUTY, 400, "{\"status\":\"invalid event\"}", VERDICT_REFUSED,
     "HTTP status 400: {\"status\":\"invalid event\"}"},
    {__LINE__, CHANNEL_PAGERDUTY, 429, "", VERDICT_TROUBLE, "HTTP status 429"},
    {__LINE__, CHANNEL_PAGERDUTY, 200, "<html>", VERDICT_REFUSED,
     "the answer is not one of this service: <html>"},
    {__LINE__, CHANNEL_TEAMS, 202, "", VERDICT_SENT, "HTTP status 202"},
    {__LINE__, CHANNEL_TEAMS, 200, "1", VERDICT_SENT, "HTTP status 200"},
    {__LINE__, CHANNEL_TEAMS, 200, "Webhook message delivery failed with error 429",
     VERDICT_TROUBLE, "Teams did not take it: Webhook message delivery failed with error 429"},
    {__LINE__, CHANNEL_TEAMS, 413, "", VERDICT_REFUSED, "HTTP status 413"},
    {__LINE__, CHANNEL_TELEGRAM, 200, "{\"ok\":true,\"result\":{}}", VERDICT_SENT,
     "HTTP status 200"},
    {__LINE__, CHANNEL_TELEGRAM, 200, "{\"ok\":true,\"result\":{\"te", VERDICT_SENT,
     "HTTP status 200"},
    {__LINE__, CHANNEL_TELEGRAM, 403, "bot was blocked", VERDICT_REFUSED,
     "HTTP status 403: bot was blocked"},
    {__LINE__, CHANNEL_TELEGRAM, 429, "wait", VERDICT_TROUBLE, "HTTP status 429: wait"},
    {__LINE__, CHANNEL_NTFY, 200, "{\"id\":\"a\"}", VERDICT_SENT, "HTTP status 200"},
    {__LINE__, CHANNEL_NTFY, 401, "", VERDICT_REFUSED, "HTTP status 401"},
    {__LINE__, CHANNEL_NTFY, 507, "", VERDICT_TROUBLE, "HTTP status 507"},
};

static void telegram_says_when_to_try_again(void **state)
{
    static const char body[] =
        "{\"ok\":false,\"error_code\":429,\"parameters\":{\"retry_after\":7}}";
    (void)state;
    assert_int_equal(payload_retry_after_s(CHANNEL_TELEGRAM, body), 7);
    assert_int_equal(payload_retry_after_s(CHANNEL_NTFY, body), 0);
    assert_int_equal(
        payload_retry_after_s(CHANNEL_TELEGRAM, "{\"parameters\":{\"retry_after\":-1}}"), 0);
    assert_int_equal(payload_retry_after_s(CHANNEL_TELEGRAM, "<"), 0);
}

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
        cmocka_unit_test(templates_are_filled_in),
        cmocka_unit_test(templates_of_the_job_go_first),
        cmocka_unit_test(every_type_takes_templates),
        cmocka_unit_test(pagerduty_gets_an_incident_and_its_end),
        cmocka_unit_test(teams_gets_a_card_of_plain_text),
        cmocka_unit_test(telegram_gets_html_that_it_can_parse),
        cmocka_unit_test(ntfy_gets_a_title_and_a_priority),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(telegram_says_when_to_try_again),
        cmocka_unit_test(dingtalk_signs_its_url),
        cmocka_unit_test(feishu_signs_its_body),
        cmocka_unit_test(wecom_is_kept_short),
        cmocka_unit_test(a_mail_is_one_that_servers_take),
        cmocka_unit_test(answers_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
