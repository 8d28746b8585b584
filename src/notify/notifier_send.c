#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notifier_internal.h"

enum { RETRY_AFTER_MAX_S = 600 }; /* limit on a receiver's Retry-After */

/* ---- trying again ---- */

static int64_t pause_ms(const struct notifier *notifier, int tries)
{
    int64_t ms = notifier->retry_first_ms;
    for (int i = 1; i < tries && ms < notifier->retry_last_ms; i++)
        ms *= 2;
    return ms < notifier->retry_last_ms ? ms : notifier->retry_last_ms;
}

/* Has the notice been tried for give_up_s, counted from when it could first be sent? */
static bool is_over(const struct lane *lane, const struct notice *notice, int64_t now_ms)
{
    int64_t from_ms =
        notice->not_before_ms > notice->made_ms ? notice->not_before_ms : notice->made_ms;
    return now_ms - from_ms >= lane->channel->give_up_s * 1000;
}

static void give_up(struct notifier *notifier, struct lane *lane, struct waiting *waiting,
                    const char *why, int64_t now_ms)
{
    const struct notice *notice = &waiting->notice;
    lane->stats.given_up++;
    notifier_log(notifier, "notification_given_up", "channel=%s job=%s of=%s tries=%d error=\"%s\"",
                 lane->name, notice->job, notify_event_name(notice->event), waiting->tries, why);
    notifier_end(notifier, lane, waiting, false, why, now_ms);
}

static void note_failure(struct lane *lane, struct waiting *waiting, const char *why,
                         int64_t now_ms)
{
    waiting->tries++;
    free(waiting->answer);
    waiting->answer = strdup(why); /* NULL, out of memory: it is not shown */
    lane->stats.failed++;
    channel_note_failure(&lane->stats, now_ms);
    snprintf(lane->stats.error, sizeof(lane->stats.error), "%s", why);
}

static void failed(struct notifier *notifier, struct lane *lane, struct waiting *waiting,
                   const struct outcome *outcome, struct now now)
{
    int64_t asked_s = outcome->retry_after_s < RETRY_AFTER_MAX_S ? outcome->retry_after_s
                                                                 : (int64_t)RETRY_AFTER_MAX_S;
    note_failure(lane, waiting, outcome->answer, now.wall.ms);
    notifier_log(notifier, "notification_failed", "channel=%s job=%s of=%s try=%d error=\"%s\"",
                 lane->name, waiting->notice.job, notify_event_name(waiting->notice.event),
                 waiting->tries, outcome->answer);
    if (outcome->verdict == VERDICT_TROUBLE) {
        int64_t wait_ms = pause_ms(notifier, ++lane->troubles);
        lane->try_at.ms = now.boot.ms + (asked_s * 1000 > wait_ms ? asked_s * 1000 : wait_ms);
    } else {
        lane->troubles = 0;
        waiting->try_at.ms = now.boot.ms + pause_ms(notifier, waiting->tries);
    }
    if (lane->channel && is_over(lane, &waiting->notice, now.wall.ms))
        give_up(notifier, lane, waiting, outcome->answer, now.wall.ms);
}

static void sent(void *context, const struct outcome *outcome)
{
    struct lane *lane = context;
    struct notifier *notifier = lane->notifier;
    struct waiting *waiting = lane->sending;
    struct now now = clock_now();
    lane->sending = NULL;
    if (outcome->verdict == VERDICT_SENT) {
        lane->stats.sent++;
        lane->stats.sent_ms = now.wall.ms;
        lane->stats.failing_ms = 0;
        lane->troubles = 0;
        waiting->tries++;
        notifier_end(notifier, lane, waiting, true, outcome->answer, now.wall.ms);
    } else {
        failed(notifier, lane, waiting, outcome, now);
    }
    notifier_pump(notifier);
}

/* ---- sending ---- */

static void send_one(struct notifier *notifier, struct lane *lane, struct waiting *waiting,
                     struct now now)
{
    struct payload payload;
    enum status st =
        payload_make(lane->channel, &waiting->notice, &notifier->world, now.wall.ms, &payload);
    if (st == OK)
        st = sender_send(notifier->sender, lane->channel, &payload, sent, lane);
    if (st == OK)
        lane->sending = waiting;
    else
        lane->try_at.ms = now.boot.ms + pause_ms(notifier, ++lane->troubles);
}

static int64_t later(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

/* How long until the notice can be sent; 0 or less: now. A hold that exceeds the channel's `quiet`,
 * after the clock was set back or the channel was changed, is shortened to it. */
static int64_t wait_of(const struct lane *lane, struct waiting *waiting, struct now now)
{
    int64_t hold_s =
        notice_is_group(&waiting->notice) ? channel_group_s(lane->channel) : lane->channel->quiet_s;
    int64_t last_ms = now.wall.ms + hold_s * 1000;
    if (waiting->notice.not_before_ms > last_ms)
        waiting->notice.not_before_ms = last_ms;
    return later(waiting->notice.not_before_ms - now.wall.ms,
                 later(waiting->try_at.ms, lane->try_at.ms) - now.boot.ms);
}

/* Gives up notices of a deleted channel, and those that have waited too long for a failing
 * receiver. */
static void clear(struct notifier *notifier, struct lane *lane, int64_t now_ms)
{
    struct waiting *next;
    for (struct waiting *waiting = TAILQ_FIRST(&lane->waiting); waiting; waiting = next) {
        next = TAILQ_NEXT(waiting, link);
        if (waiting == lane->sending)
            continue;
        if (!lane->channel)
            give_up(notifier, lane, waiting, "the channel was deleted", now_ms);
        else if ((waiting->tries || lane->troubles) && is_over(lane, &waiting->notice, now_ms))
            give_up(notifier, lane, waiting,
                    lane->stats.error[0] ? lane->stats.error : "it waited too long", now_ms);
    }
}

/* Sends the first notice that is due. Returns the time until there is more to do; INT64_MAX: only
 * when the one under way is done. */
static int64_t pump_lane(struct notifier *notifier, struct lane *lane, struct now now)
{
    int64_t first_ms = INT64_MAX;
    struct waiting *waiting;
    if (lane->is_unreadable)
        return first_ms; /* a newer version sends it */
    clear(notifier, lane, now.wall.ms);
    if (lane->sending)
        return first_ms;
    TAILQ_FOREACH (waiting, &lane->waiting, link) {
        int64_t wait_ms = wait_of(lane, waiting, now);
        if (wait_ms <= 0) {
            send_one(notifier, lane, waiting, now);
            return lane->sending ? INT64_MAX : lane->try_at.ms - now.boot.ms;
        }
        first_ms = wait_ms < first_ms ? wait_ms : first_ms;
    }
    return first_ms;
}

void notifier_pump(struct notifier *notifier)
{
    struct now now = clock_now();
    int64_t first_ms = INT64_MAX;
    struct lane *lane;
    if (!notifier->is_live)
        return;
    TAILQ_FOREACH (lane, &notifier->lanes, link) {
        int64_t wait_ms = pump_lane(notifier, lane, now);
        first_ms = wait_ms < first_ms ? wait_ms : first_ms;
    }
    if (first_ms == INT64_MAX)
        loop_timer_stop(notifier->timer);
    else
        loop_timer_set(notifier->timer, first_ms > 0 ? first_ms : 0);
}

/* ---- samples ---- */

struct sample {
    struct notifier *notifier;
    notifier_tried *tried;
    void *context;
    TAILQ_ENTRY(sample) link;
};

static void sample_sent(void *context, const struct outcome *outcome)
{
    struct sample *sample = context;
    TAILQ_REMOVE(&sample->notifier->samples, sample, link);
    sample->tried(sample->context, outcome);
    free(sample);
}

/* With some output, and perhaps templates: to be released. */
static void make_sample(struct notice *notice, const struct notifier *notifier,
                        const struct channel *channel, const struct sample_about *about,
                        int64_t now_ms)
{
    static const char output[] = "the first line of its output\nthe last line\n";
    notice_sample(notice, notifier->node, now_ms);
    notice_sample_as(notice, about->event);
    snprintf(notice->channel, sizeof(notice->channel), "%s", channel->name);
    if (about->job) {
        snprintf(notice->job, sizeof(notice->job), "%s", about->job);
        notice_set_output(notice, output, sizeof(output) - 1, false);
    }
    if (about->timezone)
        snprintf(notice->timezone, sizeof(notice->timezone), "%s", about->timezone);
    notice_set_templates(notice, about->notify);
}

enum status notifier_preview(const struct notifier *notifier, const struct channel *channel,
                             const struct sample_about *about, int64_t now_ms, struct strbuf *title,
                             struct strbuf *text)
{
    struct notice notice;
    make_sample(&notice, notifier, channel, about, now_ms);
    payload_title(channel, &notice, &notifier->world, title);
    payload_facts(channel, &notice, &notifier->world, text);
    const char *output = payload_output(channel, &notice);
    if (output)
        strbuf_addf(text, "\n\n%s:\n%s", notice_output_title(&notice, channel->language), output);
    notice_release(&notice);
    return strbuf_status(title) == OK ? strbuf_status(text) : E_NOMEM;
}

enum status notifier_try(struct notifier *notifier, const struct channel *channel,
                         const struct sample_about *about, int64_t now_ms, notifier_tried *tried,
                         void *context)
{
    struct notice notice;
    struct payload payload;
    struct sample *sample = malloc(sizeof(*sample));
    if (!sample)
        return E_NOMEM;
    *sample = (struct sample){.notifier = notifier, .tried = tried, .context = context};
    TAILQ_INSERT_TAIL(&notifier->samples, sample, link);
    make_sample(&notice, notifier, channel, about, now_ms);
    enum status st = payload_make(channel, &notice, &notifier->world, now_ms, &payload);
    if (st == OK)
        st = sender_send(notifier->sender, channel, &payload, sample_sent, sample);
    notice_release(&notice);
    if (st != OK) {
        TAILQ_REMOVE(&notifier->samples, sample, link);
        free(sample);
    }
    return st;
}

void notifier_free_samples(struct notifier *notifier)
{
    static const struct outcome stopped = {VERDICT_TROUBLE, "the agent stops", "", 0};
    for (struct sample *sample; (sample = TAILQ_FIRST(&notifier->samples));) {
        TAILQ_REMOVE(&notifier->samples, sample, link);
        sample->tried(sample->context, &stopped);
        free(sample);
    }
}
