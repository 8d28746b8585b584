/* Microsoft Teams: an adaptive card, for a workflow or an incoming webhook. Text blocks of a card
 * have markup, text runs do not: each line of a message is one, so that nothing is to be escaped.
 */
#include <string.h>

#include "payload_internal.h"

enum {
    LINES_MAX = 40, /* of facts, and of output its last ones: a card may have 28 KB */
    LINE_MAX = 300, /* bytes */
};

/* How a line looks; NULL: as usual. */
struct look {
    const char *size, *weight, *font;
};

static int add_line(json_t *blocks, const char *text, size_t length, const struct look *look,
                    bool is_first)
{
    struct strbuf line;
    strbuf_init(&line);
    strbuf_add(&line, text, length);
    payload_cut(&line, LINE_MAX);
    json_t *run = json_pack("{s:s, s:s, s:s*, s:s*, s:s*}", "type", "TextRun", "text",
                            line.length ? line.text : " ", "size", look->size, "weight",
                            look->weight, "fontType", look->font);
    int failed = strbuf_status(&line) != OK ||
                 json_array_append_new(
                     blocks, json_pack("{s:s, s:s, s:[O]}", "type", "RichTextBlock", "spacing",
                                       is_first ? "Medium" : "None", "inlines", run)) != 0;
    json_decref(run);
    strbuf_release(&line);
    return failed;
}

/* Where the last lines begin. */
static const char *last_lines(const char *text, size_t count)
{
    const char *from = text + strlen(text);
    for (size_t lines = 0; from > text; from--) {
        if (from[-1] == '\n' && ++lines == count)
            break;
    }
    return from;
}

static int add_lines(json_t *blocks, const char *text, const struct look *look)
{
    const char *from = last_lines(text, LINES_MAX);
    for (bool is_first = true;; is_first = false) {
        size_t length = strcspn(from, "\n");
        if (add_line(blocks, from, length, look, is_first) != 0)
            return -1;
        if (!from[length])
            return 0;
        from += length + 1;
    }
}

static int add_output(json_t *blocks, const struct channel *channel, const struct notice *notice)
{
    static const struct look bold = {.weight = "Bolder"}, fixed = {.font = "Monospace"};
    const char *words = notice_output_title(notice, channel->language);
    const char *output = payload_output(channel, notice);
    if (!output)
        return 0;
    return add_line(blocks, words, strlen(words), &bold, true) || add_lines(blocks, output, &fixed);
}

/* With a button if there is a link. */
static json_t *make_card(json_t *blocks, enum language language, const char *link)
{
    json_t *actions = *link ? json_pack("[{s:s, s:s, s:s}]", "type", "Action.OpenUrl", "title",
                                        language == LANGUAGE_ZH ? "打开" : "Open", "url", link)
                            : json_array();
    return json_pack("{s:s, s:s, s:s, s:{s:s}, s:O, s:o}", "$schema",
                     "http://adaptivecards.io/schemas/adaptive-card.json", "type", "AdaptiveCard",
                     "version", "1.4", "msteams", "width", "Full", "body", blocks, "actions",
                     actions);
}

json_t *teams_body(const struct channel *channel, const struct notice *notice,
                   const struct notice_world *world, int64_t now_ms)
{
    static const struct look large = {.size = "Medium", .weight = "Bolder"}, usual = {0};
    struct strbuf title, facts, link;
    json_t *blocks = json_array();
    (void)now_ms;
    strbuf_init(&title);
    strbuf_init(&facts);
    strbuf_init(&link);
    payload_title(channel, notice, world, &title);
    payload_facts(channel, notice, world, &facts);
    notice_link(notice, world, &link);
    bool failed = add_line(blocks, title.text, title.length, &large, true) ||
                  add_lines(blocks, facts.text, &usual) || add_output(blocks, channel, notice) ||
                  strbuf_status(&title) != OK || strbuf_status(&facts) != OK ||
                  strbuf_status(&link) != OK;
    json_t *body = json_pack("{s:s, s:[{s:s, s:n, s:o}]}", "type", "message", "attachments",
                             "contentType", "application/vnd.microsoft.card.adaptive", "contentUrl",
                             "content", make_card(blocks, channel->language, link.text));
    json_decref(blocks);
    strbuf_release(&title);
    strbuf_release(&facts);
    strbuf_release(&link);
    return payload_unless(failed, body);
}
