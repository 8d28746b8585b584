#include "channel.h"

#include <stdlib.h>
#include <string.h>

#include "definition/job_decode.h"
#include "expect/message_template.h"
#include "payload/channel_kind.h"

#define AT(member) .offset = offsetof(struct channel, member)
#define DAY_S      INT64_C(86400)

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

enum { HEADERS_MAX = 20, TOPIC_MAX = 64, GROUP_USUAL = -1, GROUP_S = 60 };

static const char *const type_names[] = {
    [CHANNEL_WEBHOOK] = "webhook",     [CHANNEL_SLACK] = "slack", [CHANNEL_DINGTALK] = "dingtalk",
    [CHANNEL_FEISHU] = "feishu",       [CHANNEL_WECOM] = "wecom", [CHANNEL_MAIL] = "mail",
    [CHANNEL_PAGERDUTY] = "pagerduty", [CHANNEL_TEAMS] = "teams", [CHANNEL_TELEGRAM] = "telegram",
    [CHANNEL_NTFY] = "ntfy",           [CHANNEL_TYPES] = NULL,
};

static const char *const language_names[] = {
    [LANGUAGE_EN] = "en",
    [LANGUAGE_ZH] = "zh",
    NULL,
};

/* ---- what may stand in a field ---- */

/* Control characters could end a line of HTTP or SMTP. */
static bool has_control(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7F)
            return true;
    }
    return false;
}

static const char *url_complaint(const char *url)
{
    const char *host = strstr(url, "://");
    if (has_control(url) || strpbrk(url, " \"<>\\^`{|}"))
        return "holds characters that can't be in a URL";
    if (!host || !host[3] || strchr("/?#:@", host[3]))
        return "is not a URL like https://host/path";
    return NULL;
}

static const char *header_complaint(const char *name)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
    static const char *const ours[] = {"Content-Type",   "Content-Length",  "Host",
                                       "User-Agent",     "Idempotency-Key", "Peal-Event",
                                       "Peal-Timestamp", "Peal-Signature",  "Transfer-Encoding",
                                       "Connection",     "Expect"};
    if (!*name || name[strspn(name, letters)])
        return "is not the name of a header";
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (strcasecmp(ours[i], name) == 0)
            return "this header is set by peal";
    }
    return NULL;
}

/* One address, without a name in front of it. */
static const char *address_complaint(const char *address)
{
    const char *at = strrchr(address, '@');
    if (has_control(address) || strpbrk(address, " <>,;\"()"))
        return "is not an address like ops@example.com";
    return !at || at == address || !at[1] || strlen(address) > 254
               ? "is not an address like ops@example.com"
               : NULL;
}

static const char *secret_complaint(const char *text)
{
    return has_control(text) ? "holds control characters" : NULL;
}

/* It becomes a part of a URL, or of a header. */
static const char *token_complaint(const char *text)
{
    return text[strspn(text, LETTERS DIGITS ":*._~+/=-")] ? "holds characters that no token has"
                                                          : NULL;
}

static const char *chat_complaint(const char *text)
{
    bool is_name = *text == '@';
    const char *from = text + (is_name || *text == '-');
    return !*from || from[strspn(from, is_name ? LETTERS DIGITS "_" : DIGITS)]
               ? "is not an id like -1001234567890, or a @name"
               : NULL;
}

static const struct field channel_fields[] = {
    {"type", FIELD_CHOICE, AT(type), .initial = CHANNEL_TYPES, .words = type_names},
    {"url", FIELD_TEXT, AT(url), 1, 2048, .complain = url_complaint},
    {"headers", FIELD_PAIRS, AT(headers), 0, 4096, .complain = header_complaint},
    {"secret", FIELD_TEXT, AT(secret), 1, 512, .complain = secret_complaint},
    {"token", FIELD_TEXT, AT(token), 1, 512, .complain = token_complaint},
    {"chat", FIELD_TEXT, AT(chat), 1, 64, .complain = chat_complaint},
    {"from", FIELD_TEXT, AT(from), 1, 254, .complain = address_complaint},
    {"to", FIELD_NAMES, AT(to), 1, 50, .complain = address_complaint},
    {"user", FIELD_TEXT, AT(user), 1, 255, .complain = secret_complaint},
    {"password", FIELD_TEXT, AT(password), 1, 512, .complain = secret_complaint},
    {"unencrypted", FIELD_BOOL, AT(unencrypted)},
    {"on", FIELD_SET, AT(on), .words = notify_event_names},
    {"default", FIELD_BOOL, AT(hears_all)},
    {"language", FIELD_CHOICE, AT(language), .words = language_names},
    {"quiet", FIELD_DURATION, AT(quiet_s), 0, 30 * DAY_S},
    {"group", FIELD_DURATION, AT(group_s), 0, DAY_S, .initial = GROUP_USUAL},
    {"give_up", FIELD_DURATION, AT(give_up_s), 1, 7 * DAY_S, .initial = 3600},
    {"title", FIELD_TEXT, AT(title), 0, MESSAGE_TITLE_MAX, .complain = message_title_complaint},
    {"text", FIELD_TEXT, AT(text), 0, MESSAGE_TEXT_MAX},
    {"notes", FIELD_TEXT, AT(notes), 0, 4096},
    {0},
};

/* A program that takes messages wants each of them, and an incident is of one job. */
int64_t channel_group_s(const struct channel *channel)
{
    bool is_of_people = channel->type != CHANNEL_WEBHOOK && channel->type != CHANNEL_PAGERDUTY;
    if (channel->group_s != GROUP_USUAL)
        return channel->group_s;
    return is_of_people ? GROUP_S : 0;
}

struct channel *channel_free(struct channel *channel)
{
    if (!channel)
        return NULL;
    free(channel->url);
    job_pairs_release(&channel->headers);
    free(channel->secret);
    free(channel->token);
    free(channel->chat);
    free(channel->from);
    job_names_free(channel->to);
    free(channel->user);
    free(channel->password);
    free(channel->title);
    free(channel->text);
    free(channel->notes);
    free(channel);
    return NULL;
}

/* ---- the whole ---- */

static enum status complain(struct job_error *err, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum status complain(struct job_error *err, const char *field, const char *format, ...)
{
    struct strbuf text;
    va_list args;
    const struct node nowhere = {0};
    struct spot root = {.node = &nowhere}, spot = {&root, field, 0, &nowhere};
    strbuf_init(&text);
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    spot_set(err, &spot, "%s", text.text);
    strbuf_release(&text);
    return E_INVALID;
}

/* A field that only some types have. */
struct of_types {
    const char *field;
    bool is_given;
    enum kind_field kind;
};

static enum status check_type(const struct channel *c, struct job_error *err)
{
    const struct channel_kind *kind = channel_kind_of(c->type);
    const struct of_types some[] = {
        {"headers", c->headers.count, KIND_HEADERS},
        {"secret", c->secret, KIND_SECRET},
        {"token", c->token, KIND_TOKEN},
        {"chat", c->chat, KIND_CHAT},
        {"from", c->from, KIND_MAIL},
        {"to", c->to, KIND_MAIL},
        {"user", c->user, KIND_MAIL},
        {"password", c->password, KIND_MAIL},
        {"unencrypted", c->unencrypted, KIND_MAIL},
    };
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        if (some[i].is_given && !(kind->takes & some[i].kind))
            return complain(err, some[i].field, "a channel of type %s has no \"%s\"",
                            type_names[c->type], some[i].field);
        if (!some[i].is_given && kind->needs & some[i].kind)
            return complain(err, some[i].field, "a channel of type %s needs a \"%s\"",
                            type_names[c->type], some[i].field);
    }
    return OK;
}

static enum status check_url(const struct channel *c, struct job_error *err)
{
    bool is_mail = c->type == CHANNEL_MAIL;
    static const char *const schemes[] = {"http://", "https://", "smtp://", "smtps://"};
    for (size_t i = is_mail ? 2 : 0; i < (is_mail ? 4U : 2U); i++) {
        if (strncmp(c->url, schemes[i], strlen(schemes[i])) == 0)
            return OK;
    }
    return complain(err, "url", "a channel of type %s has a URL that starts with %s",
                    type_names[c->type], is_mail ? "smtp:// or smtps://" : "https:// or http://");
}

static enum status check_mail(const struct channel *c, struct job_error *err)
{
    if (!c->from)
        return complain(err, "from", "a channel of type mail needs a sender: \"from\"");
    if (!c->to || !c->to[0])
        return complain(err, "to", "a channel of type mail needs one or more receivers: \"to\"");
    if (!c->user != !c->password)
        return complain(err, c->user ? "password" : "user",
                        "\"user\" and \"password\" go together");
    if (c->unencrypted && c->password)
        return complain(err, "unencrypted", "a password is never sent without TLS");
    if (strchr(c->url, '@'))
        return complain(err, "url",
                        "a login belongs into \"user\" and \"password\", not into the URL");
    return OK;
}

/* The topic is the end of the URL. */
static enum status check_topic(const struct channel *c, struct job_error *err)
{
    const char *host = strstr(c->url, "://") + 3, *slash = strrchr(host, '/');
    const char *topic = slash ? slash + 1 : "";
    size_t length = strspn(topic, LETTERS DIGITS "_-");
    if (!length || topic[length] || length > TOPIC_MAX)
        return complain(err, "url", "the URL of ntfy ends with a topic: https://ntfy.sh/topic");
    return OK;
}

static enum status check_headers(const struct channel *c, struct job_error *err)
{
    if (c->headers.count > HEADERS_MAX)
        return complain(err, "headers", "expected at most %d headers", HEADERS_MAX);
    for (size_t i = 0; i < c->headers.count; i++) {
        if (has_control(c->headers.items[i].value))
            return complain(err, "headers", "\"%.60s\" holds control characters",
                            c->headers.items[i].name);
    }
    return OK;
}

static enum status check_template(const char *field, const char *template, struct job_error *err)
{
    struct parse_error inside = {0};
    if (!template || message_template_check(template, &inside) == OK)
        return OK;
    return complain(err, field, "%s", inside.message);
}

static enum status check_whole(const struct channel *c, struct job_error *err)
{
    if (c->type == CHANNEL_TYPES)
        return complain(err, "type",
                        "a channel needs a \"type\": webhook, slack, dingtalk, feishu, wecom, "
                        "mail, pagerduty, teams, telegram or ntfy");
    if (!c->url)
        return complain(err, "url", "a channel needs a \"url\"");
    enum status st = check_url(c, err);
    if (st == OK)
        st = check_type(c, err);
    if (st == OK)
        st = check_headers(c, err);
    if (st == OK && c->type == CHANNEL_MAIL)
        st = check_mail(c, err);
    if (st == OK && c->type == CHANNEL_NTFY)
        st = check_topic(c, err);
    if (st == OK)
        st = check_template("title", c->title, err);
    if (st == OK)
        st = check_template("text", c->text, err);
    return st;
}

/* ---- secrets ---- */

void channel_print_url(const struct channel *channel, struct strbuf *out)
{
    const char *host = strstr(channel->url, "://") + 3;
    size_t authority = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', authority);
    bool is_chat = channel_kind_of(channel->type)->hides_path;
    strbuf_add(out, channel->url, (size_t)(host - channel->url));
    if (at)
        strbuf_adds(out, CHANNEL_MASK "@");
    const char *from = at ? at + 1 : host;
    size_t shown = is_chat ? authority : strcspn(host, "?#");
    strbuf_add(out, from, (size_t)(host + shown - from));
    if (is_chat && host[shown])
        strbuf_adds(out, "/" CHANNEL_MASK);
    else if (host[shown])
        strbuf_adds(out, "?" CHANNEL_MASK);
}

/* Replaces a mask by the old value; E_INVALID: there is none. */
static enum status unmask(char **text, const char *old, const char *field, struct job_error *err)
{
    if (!*text || strcmp(*text, CHANNEL_MASK) != 0)
        return OK;
    if (!old)
        return complain(err, field,
                        "the asterisks stand for no stored value; give the value itself");
    char *copy = strdup(old);
    if (!copy)
        return E_NOMEM;
    free(*text);
    *text = copy;
    return OK;
}

static enum status unmask_url(struct channel *channel, const struct channel *old,
                              struct job_error *err)
{
    if (!channel->url || !strstr(channel->url, CHANNEL_MASK))
        return OK;
    struct strbuf shown;
    strbuf_init(&shown);
    if (old)
        channel_print_url(old, &shown);
    bool is_same = old && strcmp(shown.text, channel->url) == 0;
    strbuf_release(&shown);
    if (!is_same)
        return complain(err, "url", "the asterisks stand for no stored value; give the whole URL");
    char *copy = strdup(old->url);
    if (!copy)
        return E_NOMEM;
    free(channel->url);
    channel->url = copy;
    return OK;
}

static const char *header_of(const struct channel *channel, const char *name)
{
    for (size_t i = 0; channel && i < channel->headers.count; i++) {
        if (strcasecmp(channel->headers.items[i].name, name) == 0)
            return channel->headers.items[i].value;
    }
    return NULL;
}

static enum status unmask_all(struct channel *channel, const struct channel *old,
                              struct job_error *err)
{
    enum status st = unmask_url(channel, old, err);
    if (st == OK)
        st = unmask(&channel->secret, old ? old->secret : NULL, "secret", err);
    if (st == OK)
        st = unmask(&channel->token, old ? old->token : NULL, "token", err);
    if (st == OK)
        st = unmask(&channel->password, old ? old->password : NULL, "password", err);
    for (size_t i = 0; i < channel->headers.count && st == OK; i++) {
        struct job_pair *pair = &channel->headers.items[i];
        st = unmask(&pair->value, header_of(old, pair->name), "headers", err);
    }
    return st;
}

/* ---- from and to JSON ---- */

static enum status add_usual_url(struct channel *channel)
{
    bool has_type = channel->type < CHANNEL_TYPES;
    const char *usual = has_type ? channel_kind_of(channel->type)->usual_url : NULL;
    if (channel->url || !usual)
        return OK;
    channel->url = strdup(usual);
    return channel->url ? OK : E_NOMEM;
}

/* An empty template is none. */
static void drop_empty(char **template)
{
    if (*template && !**template) {
        free(*template);
        *template = NULL;
    }
}

enum status channel_decode(const char *name, const json_t *value, const struct channel *old,
                           struct channel **ret, struct job_error *reterr)
{
    struct channel *channel = calloc(1, sizeof(*channel));
    if (!channel)
        return E_NOMEM;
    fields_set_defaults(channel_fields, channel);
    snprintf(channel->name, sizeof(channel->name), "%s", name);
    enum status st = fields_decode_json(channel_fields, "a channel (a map with type and url)",
                                        value, channel, reterr);
    drop_empty(&channel->title);
    drop_empty(&channel->text);
    if (st == OK)
        st = add_usual_url(channel);
    if (st == OK)
        st = unmask_all(channel, old, reterr);
    if (st == OK)
        st = check_whole(channel, reterr);
    if (st != OK)
        goto out;
    *ret = channel;
    channel = NULL;
out:
    channel_free(channel);
    return st;
}

static int mask(json_t *map, const char *name)
{
    return json_object_get(map, name) ? json_object_set_new(map, name, json_string(CHANNEL_MASK))
                                      : 0;
}

/* All headers are masked: credentials have many names. */
static int mask_all(const struct channel *channel, json_t *value)
{
    struct strbuf url;
    strbuf_init(&url);
    channel_print_url(channel, &url);
    int failed = strbuf_status(&url) != OK ||
                 json_object_set_new(value, "url", json_string(url.text)) ||
                 mask(value, "secret") || mask(value, "token") || mask(value, "password");
    strbuf_release(&url);
    json_t *headers = json_object_get(value, "headers");
    for (size_t i = 0; i < channel->headers.count && !failed; i++)
        failed = mask(headers, channel->headers.items[i].name);
    return failed;
}

json_t *channel_encode(const struct channel *channel, bool masked)
{
    json_t *value = fields_encode_json(channel_fields, channel);
    if (value && masked && mask_all(channel, value) != 0) {
        json_decref(value);
        return NULL;
    }
    return value;
}
