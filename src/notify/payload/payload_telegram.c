/* Telegram: sendMessage of a bot, whose text is HTML with three characters to be escaped. */
#include "payload_internal.h"

/* A message has at most 4,096 characters of UTF-16 without its markup, which are never more than
 * the bytes of UTF-8. */
enum { TITLE_MAX = 500, FACTS_MAX = 2000, OUTPUT_MAX = 1400 };

static void add_html(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            strbuf_adds(out, "&amp;");
        else if (*text == '<')
            strbuf_adds(out, "&lt;");
        else if (*text == '>')
            strbuf_adds(out, "&gt;");
        else
            strbuf_addc(out, *text);
    }
}

/* Empties `part`. */
static void add_part(struct strbuf *out, const char *before, struct strbuf *part, size_t max,
                     const char *after)
{
    payload_cut(part, max);
    strbuf_adds(out, before);
    add_html(out, part->text);
    strbuf_adds(out, after);
    out->failed |= part->failed;
    strbuf_reset(part);
}

void telegram_make_url(const struct channel *channel, int64_t now_ms, struct strbuf *url)
{
    (void)now_ms;
    while (url->length && url->text[url->length - 1] == '/')
        strbuf_truncate(url, url->length - 1);
    strbuf_addf(url, "/bot%s/sendMessage", channel->token);
}

json_t *telegram_body(const struct channel *channel, const struct notice *notice,
                      const struct notice_world *world, int64_t now_ms)
{
    struct strbuf text, part;
    (void)now_ms;
    strbuf_init(&text);
    strbuf_init(&part);
    payload_title(channel, notice, world, &part);
    add_part(&text, "<b>", &part, TITLE_MAX, "</b>\n");
    payload_facts(channel, notice, world, &part);
    strbuf_addc(&part, '\n');
    payload_link(channel, notice, world, &part);
    add_part(&text, "", &part,
             payload_has_text(channel, notice) ? FACTS_MAX + OUTPUT_MAX : FACTS_MAX, "");
    const char *output = payload_output(channel, notice);
    if (output) {
        strbuf_addf(&text, channel->language == LANGUAGE_ZH ? "\n%s：\n" : "\n%s:\n",
                    notice_output_title(notice, channel->language));
        strbuf_adds(&part, output);
        add_part(&text, "<pre>", &part, OUTPUT_MAX, "</pre>");
    }
    bool failed = strbuf_status(&text) != OK;
    json_t *body =
        json_pack("{s:s, s:s, s:s, s:{s:b}}", "chat_id", channel->chat, "text", text.text,
                  "parse_mode", "HTML", "link_preview_options", "is_disabled", true);
    strbuf_release(&text);
    strbuf_release(&part);
    return payload_unless(failed, body);
}
