#include "channel_kind.h"

#include "payload_internal.h"

static const struct channel_kind kinds[CHANNEL_TYPES] = {
    [CHANNEL_WEBHOOK] = {.takes = KIND_HEADERS | KIND_SECRET,
                         .body = webhook_body,
                         .add_headers = webhook_add_headers},
    [CHANNEL_SLACK] = {.hides_path = true, .body = slack_body},
    [CHANNEL_DINGTALK] = {.hides_path = true,
                          .takes = KIND_SECRET,
                          .body = dingtalk_body,
                          .change_url = dingtalk_sign_url,
                          .judge = judge_code},
    [CHANNEL_FEISHU] = {.hides_path = true,
                        .takes = KIND_SECRET,
                        .body = feishu_body,
                        .judge = judge_code},
    [CHANNEL_WECOM] = {.hides_path = true, .body = wecom_body, .judge = judge_code},
    [CHANNEL_MAIL] = {.takes = KIND_MAIL},
    [CHANNEL_PAGERDUTY] = {.usual_url = "https://events.pagerduty.com/v2/enqueue",
                           .takes = KIND_TOKEN,
                           .needs = KIND_TOKEN,
                           .body = pagerduty_body,
                           .judge = judge_pagerduty},
    [CHANNEL_TEAMS] = {.hides_path = true, .body = teams_body, .judge = judge_teams},
    [CHANNEL_TELEGRAM] = {.usual_url = "https://api.telegram.org",
                          .takes = KIND_TOKEN | KIND_CHAT,
                          .needs = KIND_TOKEN | KIND_CHAT,
                          .body = telegram_body,
                          .change_url = telegram_make_url,
                          .judge = judge_telegram},
    [CHANNEL_NTFY] = {.hides_path = true,
                      .takes = KIND_TOKEN,
                      .body = ntfy_body,
                      .change_url = ntfy_make_url,
                      .add_headers = ntfy_add_headers},
};

const struct channel_kind *channel_kind_of(enum channel_type type)
{
    return &kinds[type];
}
