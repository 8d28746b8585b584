/* Chat rooms: Slack, DingTalk, Feishu and WeCom. */
#include <inttypes.h>
#include <string.h>

#include "payload_internal.h"

enum { WECOM_MAX = 2048 };

/* ---- Slack ---- */

/* Escapes Slack's markup: job output must neither mention people nor end the block. */
static void add_slack(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            strbuf_adds(out, "&amp;");
            break;
        case '<':
            strbuf_adds(out, "&lt;");
            break;
        case '>':
            strbuf_adds(out, "&gt;");
            break;
        case '`': /* followed by a zero-width space */
            strbuf_adds(out, "`\xE2\x80\x8B");
            break;
        default:
            strbuf_addc(out, *text);
        }
    }
}

json_t *slack_body(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, int64_t now_ms)
{
    struct strbuf text, part;
    (void)now_ms;
    strbuf_init(&text);
    strbuf_init(&part);
    payload_title(channel, notice, world, &part);
    strbuf_adds(&text, "*");
    add_slack(&text, part.text);
    strbuf_adds(&text, "*\n");
    strbuf_reset(&part);
    payload_facts(channel, notice, world, &part);
    add_slack(&text, part.text);
    strbuf_reset(&part);
    payload_link(channel, notice, world, &part);
    if (part.length)
        strbuf_addf(&text, "\n<%s>", part.text);
    const char *output = payload_output(channel, notice);
    if (output) {
        strbuf_addf(&text, "\n%s:\n```", notice_output_title(notice, channel->language));
        add_slack(&text, output);
        strbuf_adds(&text, "```");
    }
    bool failed = strbuf_status(&text) != OK || strbuf_status(&part) != OK;
    json_t *body = json_pack("{s:s}", "text", text.text);
    strbuf_release(&text);
    strbuf_release(&part);
    return payload_unless(failed, body);
}

/* ---- DingTalk and WeCom, which show text as it is: nothing to escape ---- */

/* With so many bytes at most. */
static json_t *text_body(const struct channel *channel, const struct notice *notice,
                         const struct notice_world *world, size_t max)
{
    struct strbuf text;
    strbuf_init(&text);
    payload_add_text(channel, notice, world, true, &text);
    payload_cut(&text, max);
    bool failed = strbuf_status(&text) != OK;
    json_t *body = json_pack("{s:s, s:{s:s}}", "msgtype", "text", "text", "content", text.text);
    strbuf_release(&text);
    return payload_unless(failed, body);
}

json_t *dingtalk_body(const struct channel *channel, const struct notice *notice,
                      const struct notice_world *world, int64_t now_ms)
{
    (void)now_ms;
    return text_body(channel, notice, world, SIZE_MAX);
}

json_t *wecom_body(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, int64_t now_ms)
{
    (void)now_ms;
    return text_body(channel, notice, world, WECOM_MAX);
}

/* DingTalk: of "MILLISECONDS\nSECRET", with the secret as key, as parameters. */
void dingtalk_sign_url(const struct channel *channel, int64_t now_ms, struct strbuf *url)
{
    uint8_t digest[DIGEST];
    struct strbuf text;
    if (!channel->secret)
        return;
    strbuf_init(&text);
    strbuf_addf(&text, "%" PRId64 "\n%s", now_ms, channel->secret);
    payload_sign(channel->secret, &text, digest);
    strbuf_reset(&text);
    payload_add_base64(&text, digest);
    strbuf_addf(url, "%ctimestamp=%" PRId64 "&sign=", strchr(url->text, '?') ? '&' : '?', now_ms);
    for (const char *at = text.text; *at; at++) {
        if (strchr("+/=", *at))
            strbuf_addf(url, "%%%02X", *at);
        else
            strbuf_addc(url, *at);
    }
    strbuf_release(&text);
}

/* ---- Feishu ---- */

/* Feishu: of nothing, with "SECONDS\nSECRET" as key, as members of the body. */
static int sign_feishu(const struct channel *channel, int64_t now_ms, json_t *body)
{
    uint8_t digest[DIGEST];
    struct strbuf key, nothing;
    strbuf_init(&key);
    strbuf_init(&nothing);
    strbuf_addf(&key, "%" PRId64 "\n%s", now_ms / 1000, channel->secret);
    payload_sign(key.text, &nothing, digest);
    strbuf_reset(&key);
    payload_add_base64(&key, digest);
    int failed = json_object_set_new(body, "timestamp", json_sprintf("%" PRId64, now_ms / 1000)) ||
                 json_object_set_new(body, "sign", json_string(key.text));
    strbuf_release(&key);
    return failed;
}

json_t *feishu_body(const struct channel *channel, const struct notice *notice,
                    const struct notice_world *world, int64_t now_ms)
{
    struct strbuf text, title;
    strbuf_init(&text);
    strbuf_init(&title);
    payload_title(channel, notice, world, &title);
    payload_add_text(channel, notice, world, false, &text);
    json_t *body =
        json_pack("{s:s, s:{s:{s:{s:s, s:[[{s:s, s:s}]]}}}}", "msg_type", "post", "content", "post",
                  channel->language == LANGUAGE_ZH ? "zh_cn" : "en_us", "title", title.text,
                  "content", "tag", "text", "text", text.text);
    bool failed = !body || strbuf_status(&text) != OK || strbuf_status(&title) != OK ||
                  (channel->secret && sign_feishu(channel, now_ms, body) != 0);
    strbuf_release(&text);
    strbuf_release(&title);
    return payload_unless(failed, body);
}
