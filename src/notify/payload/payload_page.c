/* Receivers that wake people: PagerDuty (Events API v2) and ntfy. */
#include <string.h>

#include "payload_internal.h"

enum {
    SUMMARY_MAX = 1000, /* PagerDuty takes 1,024 characters */
    TITLE_MAX = 250,
    MESSAGE_MAX = 4000, /* ntfy makes an attachment of more than 4,096 bytes */
};

/* What the events mean there. */
static const struct meaning {
    const char *severity; /* PagerDuty */
    const char *tag;      /* ntfy: a name of an emoji */
    int priority;         /* ntfy: 3 is the default, 5 the highest */
    bool resolves;
} meanings[NOTIFY_EVENTS] = {
    [NOTIFY_FAILURE] = {"error", "rotating_light", 4, false},
    [NOTIFY_LOST] = {"critical", "skull", 5, false},
    [NOTIFY_RECOVERY] = {"info", "white_check_mark", 3, true},
    [NOTIFY_LATE] = {"warning", "hourglass", 3, false},
    [NOTIFY_SUCCESS] = {"info", "heavy_check_mark", 2, true},
    [NOTIFY_TOO_LONG] = {"warning", "hourglass", 3, false},
    [NOTIFY_TOO_SHORT] = {"warning", "warning", 3, false},
    [NOTIFY_OVERDUE] = {"error", "alarm_clock", 4, false},
};

/* ---- PagerDuty ---- */

/* One incident for a job that fails, until it recovers; that it is late, and the like, is another
 * one, as no event says that it is in time again. */
static void add_dedup_key(const struct notice *notice, struct strbuf *out)
{
    char uid[ID_TEXT + 1];
    id_format(&notice->job_uid, uid);
    bool has_own = notice->event == NOTIFY_LATE || notice->event >= NOTIFY_TOO_LONG;
    strbuf_addf(out, "peal-%s%s%s", notice->is_sample ? "test" : uid, has_own ? "-" : "",
                has_own ? notify_event_name(notice->event) : "");
}

static int add_number(json_t *map, const char *name, bool is_known, int64_t number)
{
    return is_known ? json_object_set_new(map, name, json_integer(number)) : 0;
}

/* What a person wants to see of it; what is not known is left out. */
static json_t *details_of(const struct notice *notice)
{
    bool has_ended = notice->started_ms && notice->finished_ms >= notice->started_ms;
    json_t *details =
        json_pack("{s:s, s:s, s:s, s:s*, s:o, s:s*}", "job", notice->job, "event",
                  notify_event_name(notice->event), "state", run_state_name(notice->state),
                  "detail", *notice->detail ? notice->detail : NULL, "tick",
                  payload_time(notice->tick_ms), "output", notice->output);
    bool failed =
        !details || add_number(details, "exit_code", notice->exit_code >= 0, notice->exit_code) ||
        add_number(details, "duration_ms", has_ended, notice->finished_ms - notice->started_ms) ||
        add_number(details, "held_back", notice->held > 0, notice->held);
    return payload_unless(failed, details);
}

static json_t *incident_of(const struct notice *notice, const char *summary)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:o}", "summary", summary, "source",
                     *notice->node ? notice->node : "peal", "severity",
                     meanings[notice->event].severity, "timestamp", payload_time(notice->made_ms),
                     "component", notice->job, "class", notify_event_name(notice->event),
                     "custom_details", details_of(notice));
}

/* What a trigger has besides. */
static int add_incident(json_t *body, const struct channel *channel, const struct notice *notice,
                        const struct notice_world *world)
{
    struct strbuf summary, link;
    strbuf_init(&summary);
    strbuf_init(&link);
    payload_title(channel, notice, world, &summary);
    payload_cut(&summary, SUMMARY_MAX);
    notice_link(notice, world, &link);
    int failed = strbuf_status(&summary) != OK || strbuf_status(&link) != OK ||
                 json_object_set_new(body, "payload", incident_of(notice, summary.text)) != 0 ||
                 json_object_set_new(body, "client", json_string("peal")) != 0 ||
                 (link.length && json_object_set_new(body, "links",
                                                     json_pack("[{s:s, s:s}]", "href", link.text,
                                                               "text", notice->job)) != 0);
    strbuf_release(&summary);
    strbuf_release(&link);
    return failed;
}

json_t *pagerduty_body(const struct channel *channel, const struct notice *notice,
                       const struct notice_world *world, int64_t now_ms)
{
    bool resolves = meanings[notice->event].resolves;
    struct strbuf key;
    (void)now_ms;
    strbuf_init(&key);
    add_dedup_key(notice, &key);
    json_t *body = json_pack("{s:s, s:s, s:s}", "routing_key", channel->token, "event_action",
                             resolves ? "resolve" : "trigger", "dedup_key", key.text);
    bool failed = !body || strbuf_status(&key) != OK ||
                  (!resolves && add_incident(body, channel, notice, world) != 0);
    strbuf_release(&key);
    return payload_unless(failed, body);
}

/* ---- ntfy: published as JSON to the server, whose URL ends with the topic ---- */

static const char *topic_of(const struct channel *channel)
{
    return strrchr(channel->url, '/') + 1;
}

void ntfy_make_url(const struct channel *channel, int64_t now_ms, struct strbuf *url)
{
    (void)now_ms;
    strbuf_truncate(url, (size_t)(topic_of(channel) - channel->url));
}

enum status ntfy_add_headers(const struct channel *channel, const struct notice *notice,
                             int64_t now_ms, struct payload *payload)
{
    struct strbuf value;
    (void)notice;
    (void)now_ms;
    if (!channel->token)
        return OK;
    strbuf_init(&value);
    strbuf_addf(&value, "Bearer %s", channel->token);
    enum status st = strbuf_status(&value);
    if (st == OK)
        st = job_pairs_add(&payload->headers, "Authorization", value.text);
    strbuf_release(&value);
    return st;
}

json_t *ntfy_body(const struct channel *channel, const struct notice *notice,
                  const struct notice_world *world, int64_t now_ms)
{
    const struct meaning *meaning = &meanings[notice->event];
    struct strbuf title, text, link;
    (void)now_ms;
    strbuf_init(&title);
    strbuf_init(&text);
    strbuf_init(&link);
    payload_title(channel, notice, world, &title);
    payload_cut(&title, TITLE_MAX);
    payload_add_text(channel, notice, world, false, &text);
    payload_cut(&text, MESSAGE_MAX);
    notice_link(notice, world, &link);
    json_t *body =
        json_pack("{s:s, s:s, s:s, s:i, s:[s], s:s*}", "topic", topic_of(channel), "title",
                  title.text, "message", text.text, "priority", meaning->priority, "tags",
                  meaning->tag, "click", link.length ? link.text : NULL);
    bool failed =
        strbuf_status(&title) != OK || strbuf_status(&text) != OK || strbuf_status(&link) != OK;
    strbuf_release(&title);
    strbuf_release(&text);
    strbuf_release(&link);
    return payload_unless(failed, body);
}
