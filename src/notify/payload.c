#include "payload.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timestamp.h"

enum { DIGEST = 32, WECOM_MAX = 2048 };

void payload_release(struct payload *payload)
{
    free(payload->url);
    job_pairs_release(&payload->headers);
    strbuf_release(&payload->body);
    *payload = (struct payload){0};
}

/* ---- signatures ---- */

static void sign(const char *key, const struct strbuf *text, uint8_t digest[DIGEST])
{
    unsigned length = DIGEST;
    HMAC(EVP_sha256(), key, (int)strlen(key), (const uint8_t *)text->text, text->length, digest,
         &length);
}

static void add_base64(struct strbuf *out, const uint8_t digest[DIGEST])
{
    unsigned char text[(DIGEST + 2) / 3 * 4 + 1];
    EVP_EncodeBlock(text, digest, DIGEST);
    strbuf_adds(out, (const char *)text);
}

/* "sha256=" and the HMAC of "TIMESTAMP.BODY". */
static enum status sign_webhook(const struct channel *channel, int64_t now_ms,
                                struct payload *payload)
{
    uint8_t digest[DIGEST];
    char timestamp[24];
    struct strbuf text, signature;
    strbuf_init(&text);
    strbuf_init(&signature);
    snprintf(timestamp, sizeof(timestamp), "%" PRId64, now_ms / 1000);
    strbuf_addf(&text, "%s.", timestamp);
    strbuf_add(&text, payload->body.text, payload->body.length);
    sign(channel->secret, &text, digest);
    strbuf_adds(&signature, "sha256=");
    for (size_t i = 0; i < DIGEST; i++)
        strbuf_addf(&signature, "%02x", digest[i]);
    enum status st = strbuf_status(&text) == OK ? strbuf_status(&signature) : E_NOMEM;
    if (st == OK)
        st = job_pairs_add(&payload->headers, "Peal-Timestamp", timestamp);
    if (st == OK)
        st = job_pairs_add(&payload->headers, "Peal-Signature", signature.text);
    strbuf_release(&text);
    strbuf_release(&signature);
    return st;
}

/* DingTalk: of "MILLISECONDS\nSECRET", with the secret as key, as parameters. */
static void sign_dingtalk(const struct channel *channel, int64_t now_ms, struct strbuf *url)
{
    uint8_t digest[DIGEST];
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addf(&text, "%" PRId64 "\n%s", now_ms, channel->secret);
    sign(channel->secret, &text, digest);
    strbuf_reset(&text);
    add_base64(&text, digest);
    strbuf_addf(url, "%ctimestamp=%" PRId64 "&sign=", strchr(url->text, '?') ? '&' : '?', now_ms);
    for (const char *at = text.text; *at; at++) {
        if (strchr("+/=", *at))
            strbuf_addf(url, "%%%02X", *at);
        else
            strbuf_addc(url, *at);
    }
    strbuf_release(&text);
}

/* Feishu: of nothing, with "SECONDS\nSECRET" as key, as members of the body. */
static int sign_feishu(const struct channel *channel, int64_t now_ms, json_t *body)
{
    uint8_t digest[DIGEST];
    struct strbuf key, nothing;
    strbuf_init(&key);
    strbuf_init(&nothing);
    strbuf_addf(&key, "%" PRId64 "\n%s", now_ms / 1000, channel->secret);
    sign(key.text, &nothing, digest);
    strbuf_reset(&key);
    add_base64(&key, digest);
    int failed = json_object_set_new(body, "timestamp", json_sprintf("%" PRId64, now_ms / 1000)) ||
                 json_object_set_new(body, "sign", json_string(key.text));
    strbuf_release(&key);
    return failed;
}

/* ---- texts ---- */

/* The title is the first line. */
static void add_text(const struct channel *channel, const struct notice *notice,
                     const struct notice_world *world, bool with_title, struct strbuf *out)
{
    struct strbuf link;
    strbuf_init(&link);
    notice_link(notice, world, &link);
    if (with_title) {
        notice_title(notice, channel->language, out);
        strbuf_addc(out, '\n');
    }
    notice_facts(notice, channel->language, world, out);
    if (link.length)
        strbuf_addf(out, "\n%s", link.text);
    if (notice->output)
        strbuf_addf(out, channel->language == LANGUAGE_ZH ? "\n\n%s：\n%s" : "\n\n%s:\n%s",
                    notice_output_title(notice, channel->language), notice->output);
    strbuf_release(&link);
}

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

static json_t *slack_body(const struct channel *channel, const struct notice *notice,
                          const struct notice_world *world)
{
    struct strbuf text, part;
    strbuf_init(&text);
    strbuf_init(&part);
    notice_title(notice, channel->language, &part);
    strbuf_adds(&text, "*");
    add_slack(&text, part.text);
    strbuf_adds(&text, "*\n");
    strbuf_reset(&part);
    notice_facts(notice, channel->language, world, &part);
    add_slack(&text, part.text);
    strbuf_reset(&part);
    notice_link(notice, world, &part);
    if (part.length)
        strbuf_addf(&text, "\n<%s>", part.text);
    if (notice->output) {
        strbuf_addf(&text, "\n%s:\n```", notice_output_title(notice, channel->language));
        add_slack(&text, notice->output);
        strbuf_adds(&text, "```");
    }
    bool failed = strbuf_status(&text) != OK || strbuf_status(&part) != OK;
    json_t *body = failed ? NULL : json_pack("{s:s}", "text", text.text);
    strbuf_release(&text);
    strbuf_release(&part);
    return body;
}

/* Cut at the end of a character. */
static void cut(struct strbuf *text, size_t max)
{
    static const char dots[] = "\n…";
    if (text->length <= max)
        return;
    size_t length = max - (sizeof(dots) - 1);
    while (length && ((unsigned char)text->text[length] & 0xC0) == 0x80)
        length--;
    strbuf_truncate(text, length);
    strbuf_adds(text, dots);
}

/* For receivers that show text as it is: nothing to escape. */
static json_t *plain_body(const struct channel *channel, const struct notice *notice,
                          const struct notice_world *world)
{
    struct strbuf text, title;
    json_t *body = NULL;
    bool is_feishu = channel->type == CHANNEL_FEISHU;
    strbuf_init(&text);
    strbuf_init(&title);
    notice_title(notice, channel->language, &title);
    add_text(channel, notice, world, !is_feishu, &text);
    if (channel->type == CHANNEL_WECOM)
        cut(&text, WECOM_MAX);
    if (strbuf_status(&text) == OK && strbuf_status(&title) == OK && is_feishu)
        body = json_pack("{s:s, s:{s:{s:{s:s, s:[[{s:s, s:s}]]}}}}", "msg_type", "post", "content",
                         "post", channel->language == LANGUAGE_ZH ? "zh_cn" : "en_us", "title",
                         title.text, "content", "tag", "text", "text", text.text);
    else if (strbuf_status(&text) == OK)
        body = json_pack("{s:s, s:{s:s}}", "msgtype", "text", "text", "content", text.text);
    strbuf_release(&text);
    strbuf_release(&title);
    return body;
}

/* ---- the webhook ---- */

static json_t *json_time(int64_t ms)
{
    struct strbuf text;
    if (!ms)
        return json_null();
    strbuf_init(&text);
    timestamp_print_utc(ms / 1000, &text);
    json_t *value = strbuf_status(&text) == OK ? json_string(text.text) : NULL;
    strbuf_release(&text);
    return value;
}

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *number_if(bool is_given, int64_t value)
{
    return is_given ? json_integer(value) : json_null();
}

static json_t *id_or_null(bool is_given, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    return is_given ? json_string(text) : json_null();
}

static json_t *webhook_body(const struct channel *channel, const struct notice *n,
                            const struct notice_world *world)
{
    char key[NOTICE_KEY_MAX + 1];
    struct strbuf title, text, link;
    strbuf_init(&title);
    strbuf_init(&text);
    strbuf_init(&link);
    notice_key(n, key);
    notice_title(n, channel->language, &title);
    add_text(channel, n, world, true, &text);
    notice_link(n, world, &link);
    bool has_ended = n->started_ms && n->finished_ms >= n->started_ms;
    json_t *body = json_pack(
        "{s:s, s:s, s:b, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o, s:b, s:I, s:s, s:s, s:o}",
        "id", key, "event", notify_event_name(n->event), "test", n->is_sample, "job", n->job,
        "job_uid", id_or_null(!n->is_sample, &n->job_uid), "run",
        id_or_null(!n->is_entry && !n->is_sample, &n->id), "state", run_state_name(n->state),
        "reason", text_or_null(run_reason_name(n->reason)), "detail", text_or_null(n->detail),
        "tick", json_time(n->tick_ms), "last_tick", json_time(n->last_tick_ms), "ticks",
        (json_int_t)n->count, "attempt", number_if(!n->is_entry, n->attempt), "node",
        text_or_null(n->node), "started_at", json_time(n->started_ms), "finished_at",
        json_time(n->finished_ms), "duration_ms",
        number_if(has_ended, n->finished_ms - n->started_ms), "exit_code",
        number_if(n->exit_code >= 0, n->exit_code), "signal",
        number_if(n->term_signal > 0, n->term_signal), "output", text_or_null(n->output),
        "output_cut", n->output_is_cut, "held_back", (json_int_t)n->held, "title", title.text,
        "text", text.text, "link", text_or_null(link.text));
    bool failed =
        strbuf_status(&title) != OK || strbuf_status(&text) != OK || strbuf_status(&link) != OK;
    strbuf_release(&title);
    strbuf_release(&text);
    strbuf_release(&link);
    if (!failed)
        return body;
    json_decref(body);
    return NULL;
}

/* ---- all of them ---- */

static json_t *make_body(const struct channel *channel, const struct notice *notice,
                         const struct notice_world *world, int64_t now_ms)
{
    if (channel->type == CHANNEL_WEBHOOK)
        return webhook_body(channel, notice, world);
    if (channel->type == CHANNEL_SLACK)
        return slack_body(channel, notice, world);
    json_t *body = plain_body(channel, notice, world);
    if (body && channel->type == CHANNEL_FEISHU && channel->secret &&
        sign_feishu(channel, now_ms, body) != 0) {
        json_decref(body);
        return NULL;
    }
    return body;
}

static int append(const char *bytes, size_t length, void *out)
{
    strbuf_add(out, bytes, length);
    return 0;
}

static enum status fill_http(const struct channel *channel, const struct notice *notice,
                             const struct notice_world *world, int64_t now_ms, struct payload *p)
{
    char key[NOTICE_KEY_MAX + 1];
    json_t *body = make_body(channel, notice, world, now_ms);
    if (!body || json_dump_callback(body, append, &p->body, JSON_COMPACT) != 0)
        p->body.failed = true;
    json_decref(body);
    enum status st = strbuf_status(&p->body);
    notice_key(notice, key);
    if (st == OK)
        st = job_pairs_add(&p->headers, "Content-Type", "application/json; charset=utf-8");
    if (st == OK)
        st = job_pairs_add(&p->headers, "Idempotency-Key", key);
    if (st == OK && channel->type == CHANNEL_WEBHOOK)
        st = job_pairs_add(&p->headers, "Peal-Event", notify_event_name(notice->event));
    for (size_t i = 0; i < channel->headers.count && st == OK; i++)
        st = job_pairs_add(&p->headers, channel->headers.items[i].name,
                           channel->headers.items[i].value);
    if (st == OK && channel->type == CHANNEL_WEBHOOK && channel->secret)
        st = sign_webhook(channel, now_ms, p);
    return st;
}

enum status payload_make(const struct channel *channel, const struct notice *notice,
                         const struct notice_world *world, int64_t now_ms, struct payload *ret)
{
    struct payload payload = {0};
    struct strbuf url;
    strbuf_init(&payload.body);
    strbuf_init(&url);
    strbuf_adds(&url, channel->url);
    if (channel->type == CHANNEL_DINGTALK && channel->secret)
        sign_dingtalk(channel, now_ms, &url);
    enum status st = OK;
    if (channel->type == CHANNEL_MAIL)
        mail_write(channel, notice, world, now_ms, &payload.body);
    else
        st = fill_http(channel, notice, world, now_ms, &payload);
    if (st == OK)
        st = strbuf_status(&payload.body);
    payload.url = strbuf_detach(&url);
    if (st == OK && !payload.url)
        st = E_NOMEM;
    if (st != OK) {
        payload_release(&payload);
        return st;
    }
    *ret = payload;
    return OK;
}
