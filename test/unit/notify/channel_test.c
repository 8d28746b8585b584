/* Channels: what is read, what is refused, and what is shown of secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "channel.h"

#define HOOK "'type':'webhook','url':'https://example.com/hook'"
#define MAIL "'type':'mail','url':'smtp://mail.example.com','from':'peal@example.com'"

/* With ' for ", which are hard to read in C. */
static json_t *read_json(const char *text)
{
    char copy[1024];
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *at = copy; (at = strchr(at, '\''));)
        *at = '"';
    return json_loads(copy, JSON_DECODE_ANY, NULL);
}

static struct channel *must_read(const char *text, const struct channel *old)
{
    struct channel *channel = NULL;
    struct job_error error = {0};
    json_t *value = read_json(text);
    assert_non_null(value);
    if (channel_decode("ops", value, old, &channel, &error) != OK)
        fail_msg("%s: %s", text, error.message);
    json_decref(value);
    return channel;
}

static const struct {
    int line;
    const char *text, *want; /* the pointer and the message */
} mistakes[] = {
    {__LINE__, "[]", " expected a channel (a map with type and url), found a list"},
    {__LINE__, "{}",
     "/type type: a channel needs a \"type\": webhook, slack, dingtalk, feishu, wecom, mail, "
     "pagerduty, teams, telegram or ntfy"},
    {__LINE__, "{'type':'webhook'}", "/url url: a channel needs a \"url\""},
    {__LINE__, "{'type':'slak'}",
     "/type type: \"slak\" is not one of webhook, slack, dingtalk, feishu, wecom, mail, pagerduty, "
     "teams, telegram or ntfy; did you mean \"slack\"?"},
    {__LINE__, "{" HOOK ",'sercet':'x'}",
     "/sercet unknown field \"sercet\"; did you mean \"secret\"?"},
    {__LINE__, "{'type':'webhook','url':'ftp://example.com'}",
     "/url url: a channel of type webhook has a URL that starts with https:// or http://"},
    {__LINE__, "{'type':'webhook','url':'example.com'}",
     "/url url: \"example.com\" is not a URL like https://host/path"},
    {__LINE__, "{'type':'webhook','url':'https://example.com/a b'}",
     "/url url: \"https://example.com/a b\" holds characters that can't be in a URL"},
    {__LINE__, "{" HOOK ",'headers':{'Host':'x'}}",
     "/headers/Host headers.Host: this header is set by peal"},
    {__LINE__, "{" HOOK ",'headers':{'X-A':'b\\nc'}}",
     "/headers headers: \"X-A\" holds control characters"},
    {__LINE__, "{" HOOK ",'from':'a@b'}", "/from from: a channel of type webhook has no \"from\""},
    {__LINE__, "{'type':'slack','url':'https://s','secret':'x'}",
     "/secret secret: a channel of type slack has no \"secret\""},
    {__LINE__, "{" HOOK ",'on':['failure','fail']}",
     "/on/1 on[1]: \"fail\" is not one of failure, lost, recovery, late, success, too_long, "
     "too_short or overdue; did you mean "
     "\"failure\"?"},
    {__LINE__, "{" HOOK ",'title':'${jop} failed'}",
     "/title title: there is no field ${jop}; did you mean ${job}?"},
    {__LINE__, "{" HOOK ",'text':'a $$ ${job} ${xyzzy}'}",
     "/text text: there is no field ${xyzzy}"},
    {__LINE__, "{" HOOK ",'text':'${job'}", "/text text: \"${job\" has no }"},
    {__LINE__, "{" HOOK ",'title':'a\\nb'}", "/title title: \"a\nb\" must be a single line"},
    {__LINE__, "{" HOOK ",'give_up':'0s'}", "/give_up give_up: 0s is out of range 1s to 1w"},
    {__LINE__, "{" HOOK ",'secret':'********'}",
     "/secret secret: the asterisks stand for no stored value; give the value itself"},
    {__LINE__, "{'type':'webhook','url':'https://example.com/hook?********'}",
     "/url url: the asterisks stand for no stored value; give the whole URL"},
    {__LINE__, "{" MAIL "}", "/to to: a channel of type mail needs one or more receivers: \"to\""},
    {__LINE__, "{" MAIL ",'to':'Ops <ops@example.com>'}",
     "/to to: \"Ops <ops@example.com>\" is not an address like ops@example.com"},
    {__LINE__, "{" MAIL ",'to':'a@b','user':'x'}",
     "/password password: \"user\" and \"password\" go together"},
    {__LINE__, "{'type':'mail','url':'smtp://u:p@mail','from':'a@b','to':'a@b'}",
     "/url url: a login belongs into \"user\" and \"password\", not into the URL"},
    {__LINE__, "{'type':'pagerduty'}",
     "/token token: a channel of type pagerduty needs a \"token\""},
    {__LINE__, "{'type':'telegram','token':'1:a'}",
     "/chat chat: a channel of type telegram needs a \"chat\""},
    {__LINE__, "{'type':'telegram','token':'1:a/../b?','chat':'1'}",
     "/token token: \"1:a/../b?\" holds characters that no token has"},
    {__LINE__, "{'type':'telegram','token':'1:a','chat':'ops'}",
     "/chat chat: \"ops\" is not an id like -1001234567890, or a @name"},
    {__LINE__, "{'type':'teams'}", "/url url: a channel needs a \"url\""},
    {__LINE__, "{" HOOK ",'token':'x'}",
     "/token token: a channel of type webhook has no \"token\""},
    {__LINE__, "{'type':'ntfy','url':'https://ntfy.sh/'}",
     "/url url: the URL of ntfy ends with a topic: https://ntfy.sh/topic"},
    {__LINE__, "{'type':'ntfy','url':'https://ntfy.sh'}",
     "/url url: the URL of ntfy ends with a topic: https://ntfy.sh/topic"},
    {__LINE__, "{'type':'ntfy','url':'https://ntfy.sh/a?auth=b'}",
     "/url url: the URL of ntfy ends with a topic: https://ntfy.sh/topic"},
    {__LINE__, "{'type':'pagerduty','token':'********'}",
     "/token token: the asterisks stand for no stored value; give the value itself"},
};

static void mistakes_are_told_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct channel *channel = NULL;
        struct job_error error = {0};
        char got[400];
        json_t *value = read_json(mistakes[i].text);
        assert_non_null(value);
        enum status st = channel_decode("ops", value, NULL, &channel, &error);
        json_decref(value);
        snprintf(got, sizeof(got), "%s %s", error.path, error.message);
        if (st != E_INVALID || strcmp(got, mistakes[i].want) != 0)
            fail_msg("line %d: got \"%s\"", mistakes[i].line, got);
    }
}

static const struct {
    int line;
    const char *type, *url, *want;
} urls[] = {
    {__LINE__, "webhook", "https://example.com/a/b", "https://example.com/a/b"},
    {__LINE__, "webhook", "https://u:p@example.com:1/a?t=1#x",
     "https://********@example.com:1/a?********"},
    {__LINE__, "webhook", "https://example.com?t=1", "https://example.com?********"},
    {__LINE__, "slack", "https://hooks.slack.com/services/T/B/x",
     "https://hooks.slack.com/********"},
    {__LINE__, "dingtalk", "https://oapi.dingtalk.com/robot/send?access_token=1",
     "https://oapi.dingtalk.com/********"},
    {__LINE__, "wecom", "https://qyapi.weixin.qq.com?key=1",
     "https://qyapi.weixin.qq.com/********"},
    {__LINE__, "webhook", "https://example.com/a@b", "https://example.com/a@b"},
};

static void urls_are_shown_without_what_lets_one_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        char text[400];
        struct strbuf shown;
        strbuf_init(&shown);
        snprintf(text, sizeof(text), "{'type':'%s','url':'%s'}", urls[i].type, urls[i].url);
        struct channel *channel = must_read(text, NULL);
        channel_print_url(channel, &shown);
        if (strcmp(shown.text, urls[i].want) != 0)
            fail_msg("line %d: got %s", urls[i].line, shown.text);
        strbuf_release(&shown);
        channel_free(channel);
    }
}

/* What is shown, sent back, is what was there; and nothing that is shown is secret. */
static void asterisks_keep_what_was_there(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{'type':'webhook','url':'https://u:hush1@example.com/h?token=hush2','secret':'hush3',"
        "'headers':{'Authorization':'Bearer hush4','X-Team':'hush5'},'on':['late'],'quiet':'5m'}",
        "{" MAIL ",'to':['a@example.com','b@example.com'],'user':'peal','password':'hush6',"
        "'language':'zh','default':true}",
        "{'type':'telegram','token':'8:hush7','chat':'-1001'}",
        "{'type':'pagerduty','url':'https://events.eu.pagerduty.com/v2/enqueue','token':'hush8'}",
        "{'type':'ntfy','url':'https://ntfy.sh/hush9','token':'hush10'}",
        "{'type':'feishu','url':'https://open.feishu.cn/open-apis/bot/v2/hook/hush7',"
        "'secret':'hush8','give_up':'1d','notes':'room 3'}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct job_error error = {0};
        struct channel *channel = must_read(texts[i], NULL), *again = NULL;
        json_t *whole = channel_encode(channel, false), *shown = channel_encode(channel, true);
        char *text = json_dumps(shown, 0);
        assert_null(strstr(text, "hush"));
        if (channel_decode("ops", shown, channel, &again, &error) != OK)
            fail_msg("%s: %s", texts[i], error.message);
        json_t *kept = channel_encode(again, false);
        assert_true(json_equal(whole, kept));
        json_decref(whole);
        json_decref(shown);
        json_decref(kept);
        free(text);
        channel_free(again);
        channel_free(channel);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told_with_their_place),
        cmocka_unit_test(urls_are_shown_without_what_lets_one_in),
        cmocka_unit_test(asterisks_keep_what_was_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
