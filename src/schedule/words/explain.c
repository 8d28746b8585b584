#include "words/explain.h"

#include <string.h>

#include "timestamp.h"
#include "words/explain_words.h"

void list_words(const struct number_set *set, int min_run, const struct list_style *style,
                number_writer *write, struct strbuf *out)
{
    struct number_run run, following;
    bool more = number_set_next_run(set, set->min, min_run, &run);
    for (bool first = true; more; first = false, run = following) {
        more = number_set_next_run(set, run.last + 1, min_run, &following);
        if (!first)
            strbuf_adds(out, more ? style->comma : style->last);
        write(run.first, out);
        if (run.last > run.first) {
            strbuf_adds(out, style->through);
            write(run.last, out);
        }
    }
}

static bool is_utc(const struct zone *zone)
{
    return strcmp(zone_name(zone), "UTC") == 0;
}

static void zone_words(const struct zone *zone, enum language language, struct strbuf *out)
{
    const char *name = zone_name(zone);
    if (language == LANGUAGE_EN)
        strbuf_addf(out, is_utc(zone) ? ", %s" : ", %s time", name);
    else
        strbuf_addf(out, is_utc(zone) ? "（%s）" : "（%s时区）", name);
}

static void cron_words(const struct schedule *schedule, enum language language, struct strbuf *out)
{
    const struct zone *zone = schedule_zone(schedule);
    struct cron_plan plan;
    cron_plan_make(&plan, schedule_cron(schedule));
    if (language == LANGUAGE_EN)
        cron_words_en(&plan, out);
    else
        cron_words_zh(&plan, out);
    /* A plain frequency is the same in UTC and in every zone. */
    if (!is_utc(zone) || !cron_plan_is_plain_frequency(&plan))
        zone_words(zone, language, out);
}

static void every_words(const struct schedule *schedule, enum language language, struct strbuf *out)
{
    int64_t interval_s = schedule_interval(schedule), start_s = schedule_start(schedule);
    struct strbuf anchor;
    strbuf_init(&anchor);
    timestamp_print_local(start_s == TIME_UNSET ? 0 : start_s,
                          start_s == TIME_UNSET ? zone_utc() : schedule_zone(schedule), &anchor);
    if (language == LANGUAGE_EN) {
        every_words_en(interval_s, out);
        strbuf_addf(out, ", counted from %s", anchor.text);
    } else {
        every_words_zh(interval_s, out);
        strbuf_addf(out, "，自%s起计", anchor.text);
    }
    strbuf_release(&anchor);
}

static void after_words(const struct schedule *schedule, enum language language, struct strbuf *out)
{
    if (language == LANGUAGE_EN) {
        duration_words_en(schedule_interval(schedule), out);
        strbuf_adds(out, " after the end of the previous run");
    } else {
        strbuf_adds(out, "上一次运行结束后");
        duration_words_zh(schedule_interval(schedule), out);
    }
}

static void at_words(const struct schedule *schedule, enum language language, struct strbuf *out)
{
    strbuf_adds(out, language == LANGUAGE_EN ? "Once, at " : "仅一次，于");
    timestamp_print_local(schedule_at(schedule), schedule_zone(schedule), out);
    if (!is_utc(schedule_zone(schedule)))
        zone_words(schedule_zone(schedule), language, out);
}

static void window_words(const struct schedule *schedule, enum language language,
                         struct strbuf *out)
{
    bool english = language == LANGUAGE_EN;
    int64_t start_s = schedule_start(schedule), end_s = schedule_end(schedule);
    /* The sentence of @every has named its start already, as its anchor. */
    bool start = start_s != TIME_UNSET && schedule_kind(schedule) != SCHEDULE_EVERY;
    if (start) {
        strbuf_adds(out, english ? ", from " : "，自");
        timestamp_print_local(start_s, schedule_zone(schedule), out);
        strbuf_adds(out, english ? "" : "起");
    }
    if (end_s != TIME_UNSET) {
        strbuf_adds(out, english ? (start ? " until " : ", until ") : (start ? "至" : "，至"));
        timestamp_print_local(end_s, schedule_zone(schedule), out);
        strbuf_adds(out, english ? "" : "止");
    }
}

static void jitter_words(const struct schedule *schedule, enum language language,
                         struct strbuf *out)
{
    int64_t jitter_s = schedule_jitter_limit(schedule);
    if (jitter_s <= 0)
        return;
    if (language == LANGUAGE_EN) {
        strbuf_adds(out, ", delayed by up to ");
        duration_words_en(jitter_s, out);
        strbuf_adds(out, ", the same for each run");
    } else {
        strbuf_adds(out, "，每次运行都推迟同样长的时间，最多");
        duration_words_zh(jitter_s, out);
    }
}

static void schedule_words(const struct schedule *schedule, enum language language,
                           struct strbuf *out)
{
    bool english = language == LANGUAGE_EN;
    switch (schedule_kind(schedule)) {
    case SCHEDULE_CRON:
        cron_words(schedule, language, out);
        break;
    case SCHEDULE_EVERY:
        every_words(schedule, language, out);
        break;
    case SCHEDULE_AFTER:
        after_words(schedule, language, out);
        break;
    case SCHEDULE_AT:
        at_words(schedule, language, out);
        break;
    case SCHEDULE_REBOOT:
        strbuf_adds(out, english ? "When the node starts" : "节点启动时");
        break;
    case SCHEDULE_MANUAL:
        strbuf_adds(out, english ? "Only when triggered by hand" : "仅手动触发");
        break;
    }
    window_words(schedule, language, out);
    jitter_words(schedule, language, out);
    strbuf_adds(out, english ? "." : "。");
}

void schedule_explain(const struct schedule *schedule, enum language language, struct strbuf *out)
{
    if (language == LANGUAGE_EN) {
        schedule_words(schedule, language, out);
        return;
    }
    struct strbuf unspaced;
    strbuf_init(&unspaced);
    schedule_words(schedule, language, &unspaced);
    spaced_zh(&unspaced, out);
    strbuf_release(&unspaced);
}
