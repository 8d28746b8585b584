#include "notice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document/utf8.h"
#include "id_json.h"

void notice_release(struct notice *notice)
{
    free(notice->output);
    free(notice->title);
    free(notice->text);
    notice->output = notice->title = notice->text = NULL;
}

/* False: out of memory. */
static bool copy_text(const char *text, char **ret)
{
    *ret = text ? strdup(text) : NULL;
    return !text == !*ret;
}

bool notice_copy(const struct notice *notice, struct notice *ret)
{
    *ret = *notice;
    bool has_output = copy_text(notice->output, &ret->output);
    bool has_title = copy_text(notice->title, &ret->title);
    bool has_text = copy_text(notice->text, &ret->text);
    if (has_output && has_title && has_text)
        return true;
    notice_release(ret);
    return false;
}

void notice_set_templates(struct notice *notice, const struct job_notify *notify)
{
    free(notice->title);
    free(notice->text);
    if (!copy_text(notify ? notify->title : NULL, &notice->title) ||
        !copy_text(notify ? notify->text : NULL, &notice->text))
        return; /* the channel's, then */
}

/* ---- what happened ---- */

/* Can its start be late? A manual run has no due time, nor has one that waited for its turn. */
static bool has_due_time(const struct run *run)
{
    return (run->cause == CAUSE_TICK || run->cause == CAUSE_CATCH_UP) && run->attempt == 1 &&
           !(run->rolling & ROLLING_WAITED);
}

unsigned run_events(const struct run *run, bool was_bad, int64_t late_ms, int64_t jitter_ms)
{
    enum run_state state = run_tick_result(run);
    unsigned events = 0;
    if (state == RUN_FAILED || state == RUN_TIMED_OUT)
        events |= 1 << NOTIFY_FAILURE;
    if (state == RUN_LOST)
        events |= 1 << NOTIFY_LOST;
    if (state == RUN_OK)
        events |= 1 << NOTIFY_SUCCESS | (unsigned)was_bad << NOTIFY_RECOVERY;
    if (state == RUN_MISSED || (run->started_ms && has_due_time(run) &&
                                run->started_ms - run->tick_ms - jitter_ms > late_ms))
        events |= 1 << NOTIFY_LATE;
    return events;
}

unsigned attempt_events(const struct run *run, unsigned events, bool each)
{
    bool is_given_up =
        run->attempt > 1 && run->state == RUN_SKIPPED && run->reason != REASON_NOT_NEEDED;
    if (each)
        return run->attempt > 1 && run->state == RUN_OK ? events | 1 << NOTIFY_RECOVERY : events;
    if (run->retried)
        events &= ~(1U << NOTIFY_FAILURE | 1U << NOTIFY_LOST);
    return is_given_up ? events | 1 << NOTIFY_FAILURE : events;
}

unsigned entry_events(const struct ledger_entry *entry)
{
    return entry->state == RUN_MISSED ? 1 << NOTIFY_LATE : 0;
}

/* ---- the facts ---- */

/* Copies the valid UTF-8 prefix: the text may have been cut in the middle of a character. */
static void copy_words(char *to, size_t size, const char *from)
{
    size_t length = strlen(from), at = 0, step = 0;
    for (uint32_t c; at < length && utf8_decode(from + at, length - at, &c, &step); at += step)
        ;
    snprintf(to, size, "%.*s", (int)at, from);
}

/* Of a tick with several runs the result may be another run's end. */
static void take_result(struct notice *notice, const struct run *run)
{
    notice->state = run_tick_result(run);
    if (notice->state == run->state) {
        notice->reason = run->reason;
        copy_words(notice->detail, sizeof(notice->detail), run->detail);
        return;
    }
    notice->reason = REASON_NONE;
    snprintf(notice->detail, sizeof(notice->detail), "the worst end of the %d runs of the tick",
             run->parts);
}

void notice_of_run(struct notice *notice, const struct run *run)
{
    notice->id = run->id;
    notice->is_entry = false;
    notice->job_uid = run->job_uid;
    snprintf(notice->job, sizeof(notice->job), "%s", run->job_name);
    take_result(notice, run);
    notice->tick_ms = notice->last_tick_ms = run->tick_ms;
    notice->count = 1;
    notice->started_ms = run->started_ms;
    notice->finished_ms = run->finished_ms;
    notice->attempt = run->attempt;
    notice->exit_code = run->exit_code;
    notice->term_signal = run->term_signal;
    snprintf(notice->node, sizeof(notice->node), "%s", run->node);
}

void notice_of_entry(struct notice *notice, const struct ledger_entry *entry)
{
    notice->id = entry->id;
    notice->is_entry = true;
    notice->job_uid = entry->job_uid;
    snprintf(notice->job, sizeof(notice->job), "%s", entry->job_name);
    notice->state = entry->state;
    notice->reason = entry->reason;
    copy_words(notice->detail, sizeof(notice->detail), entry->detail);
    notice->tick_ms = entry->from_ms;
    notice->last_tick_ms = entry->to_ms;
    notice->count = entry->count;
    notice->exit_code = -1;
    snprintf(notice->node, sizeof(notice->node), "%s", entry->node);
}

void notice_sample(struct notice *notice, const char *node, int64_t now_ms)
{
    *notice = (struct notice){.event = NOTIFY_FAILURE,
                              .is_sample = true,
                              .job = "peal-sample",
                              .state = RUN_FAILED,
                              .reason = REASON_EXIT_CODE,
                              .tick_ms = now_ms,
                              .last_tick_ms = now_ms,
                              .count = 1,
                              .started_ms = now_ms,
                              .finished_ms = now_ms,
                              .attempt = 1,
                              .exit_code = 1,
                              .made_ms = now_ms};
    notice->id = id_make((struct wall_ms){now_ms}, (const uint8_t[10]){0});
    snprintf(notice->node, sizeof(notice->node), "%s", node);
}

void notice_sample_as(struct notice *notice, enum notify_event event)
{
    notice->event = event;
    if (event == NOTIFY_FAILURE)
        return;
    bool is_lost = event == NOTIFY_LOST;
    if (event == NOTIFY_OVERDUE || event == NOTIFY_TOO_LONG)
        notice->finished_ms = 0;
    notice->state = is_lost ? RUN_LOST : RUN_OK;
    notice->reason = is_lost ? REASON_NODE_DIED : REASON_NONE;
    notice->exit_code = is_lost ? -1 : 0;
    if (event == NOTIFY_LATE)
        notice->tick_ms = notice->last_tick_ms = notice->started_ms - 120000;
}

/* The end of the terminal escape sequence that starts here: colours, cursor moves, titles. */
static const char *behind_escape(const char *at, const char *end)
{
    if (++at == end)
        return end;
    if (*at == '[') {
        for (at++; at < end && (*at < '@' || *at > '~');)
            at++;
        return at < end ? at + 1 : end;
    }
    if (*at == ']') {
        while (at < end && *at != '\a' && *at != 0x1B)
            at++;
        return at < end && *at == '\a' ? at + 1 : at;
    }
    return at + 1;
}

static void add_clean(struct strbuf *out, const char *bytes, size_t length)
{
    const char *end = bytes + length;
    for (const char *at = bytes; at < end;) {
        uint32_t c = 0;
        size_t size = 1;
        if (*at == 0x1B) {
            at = behind_escape(at, end);
            continue;
        }
        if (!utf8_decode(at, (size_t)(end - at), &c, &size)) {
            strbuf_adds(out, "\xEF\xBF\xBD");
            size = 1;
        } else if (c == '\n' || c == '\t' || (c != '\r' && utf8_is_printable(c))) {
            strbuf_add(out, at, size);
        }
        at += size;
    }
    while (out->length && strchr("\n\t ", out->text[out->length - 1]))
        strbuf_truncate(out, out->length - 1);
}

/* Start of the last lines that fit: after a line end if there is one, else at a character
 * boundary. */
static const char *tail_of(const char *text, size_t length)
{
    if (length <= NOTICE_OUTPUT_MAX)
        return text;
    const char *from = text + length - NOTICE_OUTPUT_MAX;
    const char *line = strchr(from, '\n');
    if (line && line[1])
        return line + 1;
    while (((unsigned char)*from & 0xC0) == 0x80)
        from++;
    return from;
}

void notice_set_output(struct notice *notice, const char *bytes, size_t length, bool is_cut)
{
    struct strbuf clean;
    strbuf_init(&clean);
    add_clean(&clean, bytes, length);
    const char *tail = tail_of(clean.text, clean.length);
    free(notice->output);
    notice->output = NULL;
    notice->output_is_cut = is_cut || tail != clean.text;
    if (clean.length && strbuf_status(&clean) == OK)
        notice->output = strdup(tail);
    strbuf_release(&clean);
}

void notice_key(const struct notice *notice, char key[NOTICE_KEY_MAX + 1])
{
    notice_key_of(&notice->id, notice->event, notice->channel, key);
}

void notice_key_of(const struct id *id, enum notify_event event, const char *channel,
                   char key[NOTICE_KEY_MAX + 1])
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    snprintf(key, NOTICE_KEY_MAX + 1, "%s-%s-%s", text, notify_event_name(event), channel);
}

/* ---- of many ---- */

int64_t notice_group_count(const struct notice *notice)
{
    int64_t count = 0;
    for (int i = 0; i < NOTIFY_EVENTS; i++)
        count += notice->group.counts[i];
    return count;
}

bool notice_is_group(const struct notice *notice)
{
    return notice_group_count(notice) > 0;
}

static bool is_listed(const char *jobs, const char *job)
{
    size_t length = strlen(job);
    for (const char *at = jobs; *at; at += strspn(at, ", ")) {
        size_t name = strcspn(at, ",");
        if (name == length && memcmp(at, job, length) == 0)
            return true;
        at += name;
    }
    return false;
}

static void list_job(struct notice *notice, const char *job)
{
    size_t used = strlen(notice->group.jobs);
    if (is_listed(notice->group.jobs, job))
        return;
    if (notice->group.has_more || used + strlen(job) + 3 > sizeof(notice->group.jobs))
        notice->group.has_more = true;
    else
        snprintf(notice->group.jobs + used, sizeof(notice->group.jobs) - used, "%s%s",
                 used ? ", " : "", job);
}

void notice_group_start(struct notice *notice)
{
    notice->group.counts[notice->event] = notice->held + 1;
    notice->group.from_ms = notice->made_ms;
    list_job(notice, notice->job);
}

void notice_group_add(struct notice *into, const struct notice *other)
{
    into->group.counts[other->event] += other->held + 1;
    list_job(into, other->job);
    into->made_ms = other->made_ms;
    into->held = notice_group_count(into) - 1; /* for versions that know no groups */
}

static json_t *encode_group(const struct notice *n)
{
    json_t *counts = json_object();
    bool failed = !counts;
    for (int i = 0; i < NOTIFY_EVENTS && !failed; i++) {
        if (n->group.counts[i])
            failed = json_object_set_new(counts, notify_event_name((enum notify_event)i),
                                         json_integer(n->group.counts[i])) != 0;
    }
    return json_pack("{s:o, s:I, s:s, s:b}", "counts", counts, "from", (json_int_t)n->group.from_ms,
                     "jobs", n->group.jobs, "more", n->group.has_more);
}

static void decode_group(const json_t *value, struct notice *n)
{
    const json_t *counts = json_object_get(value, "counts"), *count;
    const char *jobs = json_string_value(json_object_get(value, "jobs")), *name;
    enum notify_event event;
    json_object_foreach ((json_t *)counts, name, count) {
        if (notice_event_by_name(name, &event) && json_integer_value(count) > 0)
            n->group.counts[event] = json_integer_value(count);
    }
    n->group.from_ms = json_integer_value(json_object_get(value, "from"));
    n->group.has_more = json_is_true(json_object_get(value, "more"));
    snprintf(n->group.jobs, sizeof(n->group.jobs), "%s", jobs ? jobs : "");
}

/* ---- on disk ---- */

json_t *notice_encode(const struct notice *n)
{
    return json_pack(
        "{s:s, s:s, s:b, s:o, s:b, s:o, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:i, s:i,"
        " s:i, s:s, s:s*, s:b, s:I, s:I, s:I, s:o*, s:s*, s:s*}",
        "event", notify_event_name(n->event), "channel", n->channel, "sample", n->is_sample, "id",
        json_id(&n->id), "entry", n->is_entry, "job_uid", json_id(&n->job_uid), "job", n->job,
        "timezone", n->timezone, "state", run_state_name(n->state), "reason",
        run_reason_name(n->reason), "detail", n->detail, "tick", (json_int_t)n->tick_ms,
        "last_tick", (json_int_t)n->last_tick_ms, "count", (json_int_t)n->count, "started",
        (json_int_t)n->started_ms, "finished", (json_int_t)n->finished_ms, "attempt", n->attempt,
        "exit_code", n->exit_code, "signal", n->term_signal, "node", n->node, "output", n->output,
        "output_cut", n->output_is_cut, "made", (json_int_t)n->made_ms, "not_before",
        (json_int_t)n->not_before_ms, "held", (json_int_t)n->held, "group",
        notice_is_group(n) ? encode_group(n) : NULL, "title", n->title, "text", n->text);
}

bool notice_event_by_name(const char *name, enum notify_event *ret)
{
    for (int i = 0; i < NOTIFY_EVENTS; i++) {
        if (strcmp(notify_event_name((enum notify_event)i), name) == 0) {
            *ret = (enum notify_event)i;
            return true;
        }
    }
    return false;
}

#define COPY(to, from) snprintf(to, sizeof(to), "%s", from)

enum status notice_decode(const json_t *value, struct notice *ret)
{
    struct notice n = {0};
    const char *event, *channel, *id, *uid, *job, *timezone, *state, *reason, *detail, *node;
    const char *output = NULL;
    int is_sample, is_entry, is_cut;
    json_int_t tick, last_tick, count, started, finished, made, not_before, held;
    if (json_unpack((json_t *)value,
                    "{s:s, s:s, s:b, s:s, s:b, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I,"
                    " s:I, s:i, s:i, s:i, s:s, s?s, s:b, s:I, s:I, s:I}",
                    "event", &event, "channel", &channel, "sample", &is_sample, "id", &id, "entry",
                    &is_entry, "job_uid", &uid, "job", &job, "timezone", &timezone, "state", &state,
                    "reason", &reason, "detail", &detail, "tick", &tick, "last_tick", &last_tick,
                    "count", &count, "started", &started, "finished", &finished, "attempt",
                    &n.attempt, "exit_code", &n.exit_code, "signal", &n.term_signal, "node", &node,
                    "output", &output, "output_cut", &is_cut, "made", &made, "not_before",
                    &not_before, "held", &held) != 0 ||
        !notice_event_by_name(event, &n.event) || id_parse(id, &n.id) != OK ||
        id_parse(uid, &n.job_uid) != OK || run_state_by_name(state, &n.state) != OK ||
        run_reason_by_name(reason, &n.reason) != OK)
        return E_CORRUPT;
    n.is_sample = is_sample;
    n.is_entry = is_entry;
    n.output_is_cut = is_cut;
    n.tick_ms = tick;
    n.last_tick_ms = last_tick;
    n.count = count;
    n.started_ms = started;
    n.finished_ms = finished;
    n.made_ms = made;
    n.not_before_ms = not_before;
    n.held = held;
    decode_group(json_object_get(value, "group"), &n);
    COPY(n.channel, channel);
    COPY(n.job, job);
    COPY(n.timezone, timezone);
    COPY(n.detail, detail);
    COPY(n.node, node);
    n.output = (char *)output; /* borrowed, as the templates are */
    n.title = (char *)json_string_value(json_object_get(value, "title"));
    n.text = (char *)json_string_value(json_object_get(value, "text"));
    struct notice copy;
    if (!notice_copy(&n, &copy))
        return E_NOMEM;
    *ret = copy;
    return OK;
}
