/* The meaning of a receiver's answer. Chat services answer nearly everything with 200, and put
 * errors into the body. */
#include <stdio.h>
#include <string.h>

#include "document/utf8.h"
#include "payload_internal.h"

/* Is it a service's code for "too many messages"? Then the channel waits. */
static bool is_too_often(json_int_t code)
{
    static const json_int_t codes[] = {
        130101, 130102,           /* DingTalk */
        45009,  45033,            /* WeCom */
        9499,   11232,  99991400, /* Feishu */
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i] == code)
            return true;
    }
    return false;
}

/* The first line of the body, as far as it is text. */
static void add_excerpt(struct strbuf *out, const char *body)
{
    size_t length = strcspn(body, "\r\n"), at = 0, step = 0;
    uint32_t c;
    while (at < length && at < 160 && utf8_decode(body + at, length - at, &c, &step) &&
           utf8_is_printable(c))
        at += step;
    if (at)
        strbuf_addf(out, ": %.*s", (int)at, body);
}

static bool is_trouble(long status)
{
    return status >= 500 || status == 408 || status == 425 || status == 429;
}

/* errcode and errmsg (DingTalk, WeCom); code and msg, or StatusCode (Feishu). */
enum verdict judge_code(const char *body, struct strbuf *why)
{
    static const char *const codes[] = {"errcode", "code", "StatusCode"};
    static const char *const messages[] = {"errmsg", "msg", "StatusMessage"};
    json_t *value = json_loads(body, 0, NULL);
    const json_t *code = NULL;
    const char *message = NULL;
    for (size_t i = 0; i < 3 && !code; i++) {
        code = json_object_get(value, codes[i]);
        message = json_string_value(json_object_get(value, messages[i]));
    }
    enum verdict verdict = VERDICT_REFUSED;
    if (!json_is_integer(code)) {
        strbuf_adds(why, "the answer is not one of this service");
        add_excerpt(why, body);
    } else if (json_integer_value(code) == 0) {
        verdict = VERDICT_SENT;
    } else {
        strbuf_addf(why, "error %lld", (long long)json_integer_value(code));
        add_excerpt(why, message ? message : "");
        verdict = is_too_often(json_integer_value(code)) ? VERDICT_TROUBLE : VERDICT_REFUSED;
    }
    json_decref(value);
    return verdict;
}

/* Connectors put errors into a 200, which workflows don't. */
enum verdict judge_teams(const char *body, struct strbuf *why)
{
    if (!strstr(body, "delivery failed"))
        return VERDICT_SENT;
    strbuf_adds(why, "Teams did not take it");
    add_excerpt(why, body);
    return strstr(body, "429") ? VERDICT_TROUBLE : VERDICT_REFUSED;
}

/* Is there no sign of the service in the answer, such as that of a proxy, then it was not sent. */
static enum verdict judge_sign(bool is_taken, const char *body, struct strbuf *why)
{
    if (is_taken)
        return VERDICT_SENT;
    strbuf_adds(why, "the answer is not one of this service");
    add_excerpt(why, body);
    return VERDICT_REFUSED;
}

enum verdict judge_telegram(const char *body, struct strbuf *why)
{
    json_t *value = json_loads(body, JSON_DISABLE_EOF_CHECK, NULL);
    bool is_taken = json_is_true(json_object_get(value, "ok")) ||
                    (!value && strncmp(body, "{\"ok\":true", 10) == 0); /* one that was cut */
    json_decref(value);
    return judge_sign(is_taken, body, why);
}

enum verdict judge_pagerduty(const char *body, struct strbuf *why)
{
    json_t *value = json_loads(body, 0, NULL);
    const char *status = json_string_value(json_object_get(value, "status"));
    bool is_taken = status && strcmp(status, "success") == 0;
    json_decref(value);
    return judge_sign(is_taken, body, why);
}

/* Telegram says it in the body: {"parameters": {"retry_after": 5}}. */
int64_t payload_retry_after_s(enum channel_type type, const char *body)
{
    if (type != CHANNEL_TELEGRAM)
        return 0;
    json_t *value = json_loads(body, 0, NULL);
    const json_t *parameters = json_object_get(value, "parameters");
    int64_t after_s = json_integer_value(json_object_get(parameters, "retry_after"));
    json_decref(value);
    return after_s > 0 ? after_s : 0;
}

enum verdict payload_judge(enum channel_type type, long http_status, const char *body,
                           struct strbuf *why)
{
    const struct channel_kind *kind = channel_kind_of(type);
    bool is_taken = http_status >= 200 && http_status < 300;
    enum verdict verdict = is_taken && kind->judge ? kind->judge(body, why) : VERDICT_SENT;
    if (verdict != VERDICT_SENT)
        return verdict;
    strbuf_addf(why, "HTTP status %ld", http_status);
    if (is_taken)
        return VERDICT_SENT;
    add_excerpt(why, body);
    return is_trouble(http_status) ? VERDICT_TROUBLE : VERDICT_REFUSED;
}
