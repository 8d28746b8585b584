#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payload/template.h"
#include "payload_internal.h"
#include "timestamp.h"

void payload_release(struct payload *payload)
{
    free(payload->url);
    job_pairs_release(&payload->headers);
    strbuf_release(&payload->body);
    *payload = (struct payload){0};
}

/* ---- signatures ---- */

void payload_sign(const char *key, const struct strbuf *text, uint8_t digest[DIGEST])
{
    unsigned length = DIGEST;
    HMAC(EVP_sha256(), key, (int)strlen(key), (const uint8_t *)text->text, text->length, digest,
         &length);
}

void payload_add_base64(struct strbuf *out, const uint8_t digest[DIGEST])
{
    unsigned char text[(DIGEST + 2) / 3 * 4 + 1];
    EVP_EncodeBlock(text, digest, DIGEST);
    strbuf_adds(out, (const char *)text);
}

/* ---- texts ---- */

void payload_title(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, struct strbuf *out)
{
    size_t from = out->length;
    const char *template = notice->title ? notice->title : channel->title;
    if (!template || notice_is_group(notice)) {
        notice_title(notice, channel->language, out);
        return;
    }
    if (notice->is_sample)
        strbuf_adds(out, channel->language == LANGUAGE_ZH ? "[测试] " : "[test] ");
    template_fill(template, notice, channel->language, world, out);
    for (size_t i = from; i < out->length; i++) {
        if ((unsigned char)out->text[i] < ' ')
            out->text[i] = ' ';
    }
}

/* That of the job, else of the channel; a message that stands for many has none. */
static const char *text_template(const struct channel *channel, const struct notice *notice)
{
    const char *template = notice->text ? notice->text : channel->text;
    return notice_is_group(notice) ? NULL : template;
}

bool payload_has_text(const struct channel *channel, const struct notice *notice)
{
    return text_template(channel, notice) != NULL;
}

void payload_facts(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, struct strbuf *out)
{
    const char *template = text_template(channel, notice);
    if (template)
        template_fill(template, notice, channel->language, world, out);
    else
        notice_facts(notice, channel->language, world, out);
}

const char *payload_output(const struct channel *channel, const struct notice *notice)
{
    return payload_has_text(channel, notice) || notice_is_group(notice) ? NULL : notice->output;
}

void payload_link(const struct channel *channel, const struct notice *notice,
                  const struct notice_world *world, struct strbuf *out)
{
    if (!payload_has_text(channel, notice))
        notice_link(notice, world, out);
}

/* The title is the first line. */
void payload_add_text(const struct channel *channel, const struct notice *notice,
                      const struct notice_world *world, bool with_title, struct strbuf *out)
{
    struct strbuf link;
    strbuf_init(&link);
    payload_link(channel, notice, world, &link);
    if (with_title) {
        payload_title(channel, notice, world, out);
        strbuf_addc(out, '\n');
    }
    payload_facts(channel, notice, world, out);
    if (link.length)
        strbuf_addf(out, "\n%s", link.text);
    const char *output = payload_output(channel, notice);
    if (output)
        strbuf_addf(out, channel->language == LANGUAGE_ZH ? "\n\n%s：\n%s" : "\n\n%s:\n%s",
                    notice_output_title(notice, channel->language), output);
    strbuf_release(&link);
}

void payload_cut(struct strbuf *text, size_t max)
{
    const char *dots = strchr(text->text, '\n') ? "\n…" : "…";
    if (text->length <= max)
        return;
    size_t length = max - strlen(dots);
    while (length && ((unsigned char)text->text[length] & 0xC0) == 0x80)
        length--;
    strbuf_truncate(text, length);
    strbuf_adds(text, dots);
}

/* ---- JSON ---- */

json_t *payload_time(int64_t ms)
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

json_t *payload_text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

json_t *payload_unless(bool failed, json_t *body)
{
    if (!failed)
        return body;
    json_decref(body);
    return NULL;
}

/* ---- all of them ---- */

static int append(const char *bytes, size_t length, void *out)
{
    strbuf_add(out, bytes, length);
    return 0;
}

static enum status fill_http(const struct channel *channel, const struct notice *notice,
                             const struct notice_world *world, int64_t now_ms, struct payload *p)
{
    char key[NOTICE_KEY_MAX + 1];
    const struct channel_kind *kind = channel_kind_of(channel->type);
    json_t *body = kind->body(channel, notice, world, now_ms);
    if (!body || json_dump_callback(body, append, &p->body, JSON_COMPACT) != 0)
        p->body.failed = true;
    json_decref(body);
    enum status st = strbuf_status(&p->body);
    notice_key(notice, key);
    if (st == OK)
        st = job_pairs_add(&p->headers, "Content-Type", "application/json; charset=utf-8");
    if (st == OK)
        st = job_pairs_add(&p->headers, "Idempotency-Key", key);
    if (st == OK && kind->add_headers)
        st = kind->add_headers(channel, notice, now_ms, p);
    return st;
}

enum status payload_make(const struct channel *channel, const struct notice *notice,
                         const struct notice_world *world, int64_t now_ms, struct payload *ret)
{
    const struct channel_kind *kind = channel_kind_of(channel->type);
    struct payload payload = {0};
    struct strbuf url;
    strbuf_init(&payload.body);
    strbuf_init(&url);
    strbuf_adds(&url, channel->url);
    if (kind->change_url)
        kind->change_url(channel, now_ms, &url);
    enum status st = OK;
    if (!kind->body)
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
