/* A mail: plain text in UTF-8, as base 64, so that neither long lines nor leading dots matter. */
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "civil.h"
#include "payload.h"

enum { LINE_BYTES = 54, WORD_BYTES = 42 }; /* of text in a line of base 64 */

/* Bytes of whole characters, at most `max`. */
static size_t whole(const char *text, size_t length, size_t max)
{
    if (length <= max)
        return length;
    while (max && ((unsigned char)text[max] & 0xC0) == 0x80)
        max--;
    return max;
}

static void add_base64(struct strbuf *out, const char *bytes, size_t length)
{
    unsigned char line[(LINE_BYTES + 2) / 3 * 4 + 1];
    EVP_EncodeBlock(line, (const unsigned char *)bytes, (int)length);
    strbuf_adds(out, (const char *)line);
}

/* RFC 2047 encoded words; pure ASCII is left as it is. */
static void add_subject(struct strbuf *out, const char *text)
{
    size_t length = strlen(text);
    bool is_ascii = length < 900;
    for (size_t i = 0; i < length; i++)
        is_ascii &= text[i] >= ' ' && text[i] <= '~';
    strbuf_adds(out, "Subject: ");
    if (is_ascii) {
        strbuf_addf(out, "%s\r\n", text);
        return;
    }
    for (size_t at = 0; at < length;) {
        size_t step = whole(text + at, length - at, WORD_BYTES);
        step = step ? step : 1;
        strbuf_adds(out, at ? "\r\n =?UTF-8?B?" : "=?UTF-8?B?");
        add_base64(out, text + at, step);
        strbuf_adds(out, "?=");
        at += step;
    }
    strbuf_adds(out, "\r\n");
}

static void add_date(struct strbuf *out, int64_t now_ms)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct civil t = civil_from_seconds(now_ms / 1000);
    strbuf_addf(out, "Date: %s, %02d %s %" PRId64 " %02d:%02d:%02d +0000\r\n", days[t.weekday],
                t.day, months[t.month - 1], t.year, t.hour, t.minute, t.second);
}

static void add_head(const struct channel *channel, const struct notice *notice,
                     const struct notice_world *world, int64_t now_ms, struct strbuf *out)
{
    char key[NOTICE_KEY_MAX + 1];
    struct strbuf title;
    strbuf_init(&title);
    notice_key(notice, key);
    strbuf_adds(&title, "[peal] ");
    payload_title(channel, notice, world, &title);
    add_date(out, now_ms);
    strbuf_addf(out, "From: peal <%s>\r\nTo: ", channel->from);
    for (size_t i = 0; channel->to[i]; i++)
        strbuf_addf(out, "%s%s", i ? ",\r\n " : "", channel->to[i]);
    strbuf_adds(out, "\r\n");
    add_subject(out, title.text);
    /* The same end, event and channel have the same id, so that duplicates can be detected. */
    strbuf_addf(out, "Message-ID: <%s%s>\r\nX-Peal-Event: %s\r\nX-Peal-Job: %s\r\n", key,
                strrchr(channel->from, '@'), notify_event_name(notice->event), notice->job);
    strbuf_adds(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                     "Content-Type: text/plain; charset=utf-8\r\n"
                     "Content-Transfer-Encoding: base64\r\n\r\n");
    out->failed |= title.failed;
    strbuf_release(&title);
}

static void add_lines(struct strbuf *text, const struct strbuf *from)
{
    for (size_t i = 0; i < from->length; i++) {
        if (from->text[i] == '\n')
            strbuf_addc(text, '\r');
        strbuf_addc(text, from->text[i]);
    }
}

void mail_write(const struct channel *channel, const struct notice *notice,
                const struct notice_world *world, int64_t now_ms, struct strbuf *out)
{
    struct strbuf plain, text;
    strbuf_init(&plain);
    strbuf_init(&text);
    payload_facts(channel, notice, world, &plain);
    strbuf_addc(&plain, '\n');
    payload_link(channel, notice, world, &plain);
    const char *output = payload_output(channel, notice);
    if (output)
        strbuf_addf(&plain, "\n\n%s:\n\n%s", notice_output_title(notice, channel->language),
                    output);
    strbuf_addc(&plain, '\n');
    add_lines(&text, &plain);
    add_head(channel, notice, world, now_ms, out);
    for (size_t at = 0; at < text.length; at += LINE_BYTES) {
        size_t left = text.length - at;
        add_base64(out, text.text + at, left < LINE_BYTES ? left : LINE_BYTES);
        strbuf_adds(out, "\r\n");
    }
    out->failed |= plain.failed || text.failed;
    strbuf_release(&plain);
    strbuf_release(&text);
}
