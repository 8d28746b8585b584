#include "notice_text.h"

#include <inttypes.h>
#include <string.h>

#include "duration.h"
#include "run_words.h"
#include "timestamp.h"

/* ---- the title ---- */

static void add_why_short(const struct notice *n, enum language language, struct strbuf *out)
{
    bool zh = language == LANGUAGE_ZH;
    const char *colon = zh ? "：" : ": ";
    if (n->state == RUN_TIMED_OUT)
        strbuf_addf(out, "%s%s", colon, zh ? "超时" : "timed out");
    else if (n->reason == REASON_NO_START || n->reason == REASON_CPU_TIME ||
             n->reason == REASON_OOM)
        strbuf_addf(out, "%s%s", colon, run_reason_text(n->reason, language));
    else if (n->term_signal > 0)
        strbuf_addf(out, zh ? "%s信号 %d" : "%ssignal %d", colon, n->term_signal);
    else if (n->exit_code > 0)
        strbuf_addf(out, zh ? "%s退出码 %d" : "%sexit code %d", colon, n->exit_code);
}

/* "80 failed, 3 late". */
static void add_counts(const struct notice *n, enum language language, struct strbuf *out)
{
    static const char *const zh[NOTIFY_EVENTS] = {
        [NOTIFY_FAILURE] = "失败",       [NOTIFY_LOST] = "失联",
        [NOTIFY_RECOVERY] = "恢复",      [NOTIFY_LATE] = "延迟",
        [NOTIFY_SUCCESS] = "成功",       [NOTIFY_TOO_LONG] = "运行过长",
        [NOTIFY_TOO_SHORT] = "运行过短", [NOTIFY_OVERDUE] = "未按时成功",
    };
    static const char *const en[NOTIFY_EVENTS] = {
        [NOTIFY_FAILURE] = "failed",      [NOTIFY_LOST] = "lost",
        [NOTIFY_RECOVERY] = "recovered",  [NOTIFY_LATE] = "late",
        [NOTIFY_SUCCESS] = "succeeded",   [NOTIFY_TOO_LONG] = "too long",
        [NOTIFY_TOO_SHORT] = "too short", [NOTIFY_OVERDUE] = "overdue",
    };
    const char *comma = "";
    for (int i = 0; i < NOTIFY_EVENTS; i++) {
        if (!n->group.counts[i])
            continue;
        if (language == LANGUAGE_ZH)
            strbuf_addf(out, "%s%s %" PRId64, comma, zh[i], n->group.counts[i]);
        else
            strbuf_addf(out, "%s%" PRId64 " %s", comma, n->group.counts[i], en[i]);
        comma = language == LANGUAGE_ZH ? "，" : ", ";
    }
}

static void group_title(const struct notice *n, enum language language, struct strbuf *out)
{
    int64_t count = notice_group_count(n);
    if (language == LANGUAGE_ZH)
        strbuf_addf(out, "另有 %" PRId64 " 条消息：", count);
    else
        strbuf_addf(out, count == 1 ? "%" PRId64 " more: " : "%" PRId64 " more messages: ", count);
    add_counts(n, language, out);
}

static void title_en(const struct notice *n, struct strbuf *out)
{
    switch (n->event) {
    case NOTIFY_FAILURE:
        strbuf_addf(out, "%s failed", n->job);
        add_why_short(n, LANGUAGE_EN, out);
        break;
    case NOTIFY_LOST:
        strbuf_addf(out, "%s was lost%s", n->job,
                    n->reason == REASON_NODE_DIED ? " with its node" : "");
        break;
    case NOTIFY_RECOVERY:
        strbuf_addf(out, "%s recovered", n->job);
        break;
    case NOTIFY_LATE:
        if (n->state == RUN_MISSED && n->count == 1)
            strbuf_addf(out, "%s missed a tick", n->job);
        else if (n->state == RUN_MISSED)
            strbuf_addf(out, "%s missed %" PRId64 " ticks", n->job, n->count);
        else
            strbuf_addf(out, "%s started late", n->job);
        break;
    case NOTIFY_TOO_LONG:
        strbuf_addf(out, "%s is running too long", n->job);
        break;
    case NOTIFY_TOO_SHORT:
        strbuf_addf(out, "%s was over too soon", n->job);
        break;
    case NOTIFY_OVERDUE:
        strbuf_addf(out, "%s has not succeeded in time", n->job);
        break;
    case NOTIFY_SUCCESS:
    case NOTIFY_EVENTS:
        strbuf_addf(out, "%s succeeded", n->job);
        break;
    }
    if (n->held)
        strbuf_addf(out, " (and %" PRId64 " more)", n->held);
}

static void title_zh(const struct notice *n, struct strbuf *out)
{
    switch (n->event) {
    case NOTIFY_FAILURE:
        strbuf_addf(out, "%s 失败", n->job);
        add_why_short(n, LANGUAGE_ZH, out);
        break;
    case NOTIFY_LOST:
        strbuf_addf(out, "%s %s失联", n->job, n->reason == REASON_NODE_DIED ? "随节点" : "");
        break;
    case NOTIFY_RECOVERY:
        strbuf_addf(out, "%s 已恢复", n->job);
        break;
    case NOTIFY_LATE:
        if (n->state == RUN_MISSED)
            strbuf_addf(out, "%s 错过 %" PRId64 " 次触发", n->job, n->count);
        else
            strbuf_addf(out, "%s 启动延迟", n->job);
        break;
    case NOTIFY_TOO_LONG:
        strbuf_addf(out, "%s 运行时间过长", n->job);
        break;
    case NOTIFY_TOO_SHORT:
        strbuf_addf(out, "%s 过早结束", n->job);
        break;
    case NOTIFY_OVERDUE:
        strbuf_addf(out, "%s 未按时成功", n->job);
        break;
    case NOTIFY_SUCCESS:
    case NOTIFY_EVENTS:
        strbuf_addf(out, "%s 成功", n->job);
        break;
    }
    if (n->held)
        strbuf_addf(out, "（另有 %" PRId64 " 次）", n->held);
}

void notice_title(const struct notice *notice, enum language language, struct strbuf *out)
{
    bool zh = language == LANGUAGE_ZH;
    if (notice->is_sample)
        strbuf_adds(out, zh ? "[测试] " : "[test] ");
    if (notice_is_group(notice))
        group_title(notice, language, out);
    else if (zh)
        title_zh(notice, out);
    else
        title_en(notice, out);
}

/* ---- the facts ---- */

struct writer {
    const struct notice *notice;
    const struct notice_world *world;
    bool zh;
    struct strbuf *out;
};

static void line(const struct writer *w, const char *en, const char *zh)
{
    if (w->out->length && w->out->text[w->out->length - 1] != '\n')
        strbuf_addc(w->out, '\n');
    strbuf_addf(w->out, w->zh ? "%s：" : "%s: ", w->zh ? zh : en);
}

void notice_time(const struct notice *notice, const struct notice_world *world, int64_t ms,
                 struct strbuf *out)
{
    const struct zone *zone = zone_utc();
    struct parse_error err;
    const char *name = notice->timezone;
    if (*name && world->zones && zone_db_get(world->zones, name, &zone, &err) != OK)
        zone = zone_utc();
    int64_t s = ms / 1000 - (ms % 1000 < 0);
    timestamp_print_local(s, zone, out);
}

static void add_time(const struct writer *w, int64_t ms)
{
    notice_time(w->notice, w->world, ms, w->out);
}

void notice_span(int64_t ms, enum language language, struct strbuf *out)
{
    bool zh = language == LANGUAGE_ZH;
    if (ms < 1000)
        strbuf_addf(out, zh ? "%" PRId64 " 毫秒" : "%" PRId64 " ms", ms);
    else if (ms < 60000)
        strbuf_addf(out, zh ? "%.1f 秒" : "%.1f s", (double)ms / 1000);
    else
        duration_print(ms / 1000, out);
}

static void add_state(const struct writer *w)
{
    const struct notice *n = w->notice;
    enum language language = w->zh ? LANGUAGE_ZH : LANGUAGE_EN;
    const char *why = run_reason_text(n->reason, language);
    if (n->event != NOTIFY_OVERDUE) {
        line(w, "State", "状态");
        strbuf_adds(w->out, run_state_text(n->state, language));
    }
    if (*why && n->event != NOTIFY_OVERDUE)
        strbuf_addf(w->out, w->zh ? "，%s" : ", %s", why);
    if (n->detail[0]) {
        line(w, "Detail", "详情");
        strbuf_adds(w->out, n->detail);
    }
}

static void add_ticks(const struct writer *w)
{
    const struct notice *n = w->notice;
    if (n->event == NOTIFY_OVERDUE)
        line(w, "Deadline", "截止时间");
    else
        line(w, "Tick", "触发时间");
    add_time(w, n->tick_ms);
    if (n->last_tick_ms != n->tick_ms) {
        strbuf_adds(w->out, w->zh ? " 至 " : " to ");
        add_time(w, n->last_tick_ms);
    }
    if (n->event == NOTIFY_LATE && n->started_ms) {
        line(w, "Started", "启动时间");
        add_time(w, n->started_ms);
    }
}

static void add_end(const struct writer *w)
{
    const struct notice *n = w->notice;
    if (n->node[0]) {
        line(w, "Node", "节点");
        strbuf_adds(w->out, n->node);
    }
    if (n->started_ms && n->finished_ms >= n->started_ms) {
        line(w, "Duration", "耗时");
        notice_span(n->finished_ms - n->started_ms, w->zh ? LANGUAGE_ZH : LANGUAGE_EN, w->out);
    }
    if (n->exit_code >= 0) {
        line(w, "Exit code", "退出码");
        strbuf_addf(w->out, "%d", n->exit_code);
    }
    if (n->term_signal > 0) {
        line(w, "Signal", "信号");
        strbuf_addf(w->out, "%d", n->term_signal);
    }
    if (n->attempt > 1) {
        line(w, "Attempt", "尝试次数");
        strbuf_addf(w->out, "%d", n->attempt);
    }
}

static void add_group(const struct writer *w)
{
    const struct notice *n = w->notice;
    const char *more = w->zh ? " 等" : " and others";
    line(w, "Jobs", "任务");
    strbuf_addf(w->out, "%s%s", n->group.jobs, n->group.has_more ? more : "");
    line(w, "Messages", "消息");
    add_counts(n, w->zh ? LANGUAGE_ZH : LANGUAGE_EN, w->out);
    line(w, "From", "时间");
    add_time(w, n->group.from_ms);
    strbuf_adds(w->out, w->zh ? " 至 " : " to ");
    add_time(w, n->made_ms);
}

void notice_facts(const struct notice *notice, enum language language,
                  const struct notice_world *world, struct strbuf *out)
{
    struct writer w = {notice, world, language == LANGUAGE_ZH, out};
    if (notice->is_sample)
        strbuf_adds(out, w.zh ? "这是一条测试消息，没有任务失败。"
                              : "This is a test; no job has failed.");
    if (notice_is_group(notice)) {
        add_group(&w);
        return;
    }
    line(&w, "Job", "任务");
    strbuf_adds(out, notice->job);
    add_state(&w);
    add_ticks(&w);
    add_end(&w);
    if (notice->held) {
        line(&w, "Held back", "已合并");
        strbuf_addf(out, w.zh ? "此前还有 %" PRId64 " 条同类消息" : "%" PRId64 " more like this",
                    notice->held);
    }
}

const char *notice_output_title(const struct notice *notice, enum language language)
{
    if (language == LANGUAGE_ZH)
        return notice->output_is_cut ? "输出（末尾部分）" : "输出";
    return notice->output_is_cut ? "The last lines of its output" : "Its output";
}

/* ---- the link ---- */

static void escape(struct strbuf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    for (; *text; text++) {
        if (strchr(plain, *text))
            strbuf_addc(out, *text);
        else
            strbuf_addf(out, "%%%02X", (unsigned char)*text);
    }
}

void notice_link(const struct notice *notice, const struct notice_world *world, struct strbuf *out)
{
    char id[ID_TEXT + 1];
    if (!world->public_url || notice->is_sample)
        return;
    strbuf_adds(out, world->public_url);
    while (out->length && out->text[out->length - 1] == '/')
        strbuf_truncate(out, out->length - 1);
    if (notice_is_group(notice)) {
        strbuf_adds(out, "/#/jobs");
    } else if (notice->is_entry) {
        strbuf_adds(out, "/#/jobs/");
        escape(out, notice->job);
    } else {
        id_format(&notice->id, id);
        strbuf_addf(out, "/#/runs/%s", id);
    }
}
