#include "plan/plan_words.h"

#include <stdlib.h>
#include <string.h>

#include "civil.h"
#include "fires.h"
#include "text/tr.h"
#include "timestamp.h"

void plan_words_summary(const struct job_plan *plan, struct strbuf *out)
{
    strbuf_addf(out, tr("%zu to create, %zu to change, %zu to delete; %zu stay as they are"),
                plan->counts[PLAN_CREATE], plan->counts[PLAN_CHANGE], plan->counts[PLAN_DELETE],
                plan->same);
}

void plan_words_docs(const struct job_plan *plan, struct strbuf *out)
{
    const struct plan_docs *docs = &plan->docs;
    if (docs->count + docs->same)
        strbuf_addf(out,
                    tr("beside jobs %zu to create, %zu to change, %zu to delete; %zu stay as they "
                       "are"),
                    docs->counts[PLAN_CREATE], docs->counts[PLAN_CHANGE], docs->counts[PLAN_DELETE],
                    docs->same);
}

static void add_shift(int64_t shift_s, struct strbuf *out)
{
    strbuf_addc(out, shift_s < 0 ? '-' : '+');
    span_print(shift_s < 0 ? -shift_s : shift_s, out);
}

/* Before the next of the counts. */
static const char *separator(bool *is_first)
{
    const char *text = *is_first ? ": " : tr(", ");
    *is_first = false;
    return text;
}

void plan_words_ticks(const struct plan_ticks *ticks, struct strbuf *out)
{
    const struct tick_change *change = &ticks->change;
    bool is_first = true;
    strbuf_addf(out, "%zu -> %zu", change->before, change->after);
    if (change->kept)
        strbuf_addf(out, tr("%s%zu kept"), separator(&is_first), change->kept);
    if (change->moved) {
        strbuf_addf(out, tr("%s%zu moved by "), separator(&is_first), change->moved);
        add_shift(change->least_s, out);
    }
    if (change->moved && change->most_s != change->least_s) {
        strbuf_adds(out, tr(" to "));
        add_shift(change->most_s, out);
    }
    if (change->gained)
        strbuf_addf(out, tr("%s%zu gained"), separator(&is_first), change->gained);
    if (change->lost)
        strbuf_addf(out, tr("%s%zu lost"), separator(&is_first), change->lost);
}

void plan_words_span(const struct plan_ticks *ticks, struct strbuf *out)
{
    const struct tick_change *change = &ticks->change;
    if (change->gained + change->lost + change->moved == 0)
        return;
    timestamp_print_local(change->first_s, ticks->zone, out);
    if (change->first_s == change->last_s)
        return;
    strbuf_adds(out, tr(" to "));
    timestamp_print_local(change->last_s, ticks->zone, out);
}

void plan_words_until(const struct job_plan *plan, const struct plan_ticks *ticks,
                      struct strbuf *out)
{
    if (ticks->until_s >= plan->until_s)
        return;
    struct strbuf at;
    strbuf_init(&at);
    timestamp_print_local(ticks->until_s, ticks->zone, &at);
    strbuf_addf(out, tr("compared up to %s, as the ticks are frequent"), at.text);
    out->failed |= at.failed;
    strbuf_release(&at);
}

void plan_words_excluded(const struct plan_ticks *ticks, struct strbuf *out)
{
    if (ticks->excluded || ticks->excluded_before)
        strbuf_addf(out, tr("calendars leave %zu ticks out; before: %zu"), ticks->excluded,
                    ticks->excluded_before);
}

static void add_clock_time(int64_t local_s, struct strbuf *out)
{
    struct civil time = civil_from_seconds(local_s);
    strbuf_addf(out, "%02d:%02d", time.hour, time.minute);
    if (time.second)
        strbuf_addf(out, ":%02d", time.second);
}

void plan_words_clock(const struct plan_ticks *ticks, const struct clock_change *change,
                      struct strbuf *out)
{
    static const char *const texts[] = {
        [CLOCK_MOVES] = TR("does not exist, fires when the clock has jumped"),
        [CLOCK_SKIPS] = TR("does not exist, does not fire"),
        [CLOCK_ONCE] = TR("comes twice, fires the first time"),
        [CLOCK_TWICE] = TR("comes twice, fires both times"),
    };
    struct strbuf at, wanted;
    strbuf_init(&at);
    strbuf_init(&wanted);
    timestamp_print_local(change->at_s, ticks->zone, &at);
    strbuf_truncate(&at, strcspn(at.text, "T"));
    add_clock_time(change->wanted_local_s, &wanted);
    strbuf_addf(out, "%s: %s %s", at.text, wanted.text, tr(texts[change->effect]));
    if (change->count > 1)
        strbuf_addf(out, tr(" (and %zu more)"), change->count - 1);
    out->failed |= at.failed || wanted.failed;
    strbuf_release(&wanted);
    strbuf_release(&at);
}

void plan_words_together(const struct plan_item *item, struct strbuf *out)
{
    struct strbuf at;
    if (item->together < PLAN_MANY_TOGETHER)
        return;
    strbuf_init(&at);
    timestamp_print_local(item->together_s, item->ticks->zone, &at);
    strbuf_addf(out, tr("starts in one second with %zu others: %s"), item->together, at.text);
    out->failed |= at.failed;
    strbuf_release(&at);
}

static void add_space(const struct maintenance *window, struct strbuf *out)
{
    if (window->space[0])
        strbuf_addf(out, tr("namespace %s"), window->space);
    else
        strbuf_adds(out, tr("the cluster"));
}

void plan_words_skipped(const struct plan_item *item, const struct plan_skipped *skipped,
                        struct strbuf *out)
{
    const struct maintenance *window = skipped->window;
    strbuf_addf(out,
                tr(window->is_pause ? TR("%zu ticks fall in the pause of ")
                                    : TR("%zu ticks fall in maintenance of ")),
                skipped->ticks);
    add_space(window, out);
    strbuf_adds(out, ": ");
    timestamp_print_local(window->from_ms / 1000, item->ticks->zone, out);
    if (window->to_ms) {
        strbuf_adds(out, tr(" to "));
        timestamp_print_local(window->to_ms / 1000, item->ticks->zone, out);
    }
    if (window->reason[0])
        strbuf_addf(out, " (%s)", window->reason);
}

void plan_words_crowded(const struct plan_item *item, const struct plan_crowded *crowded,
                        struct strbuf *out)
{
    struct strbuf at;
    strbuf_init(&at);
    timestamp_print_local(crowded->at_s, item->ticks->zone, &at);
    if (*crowded->where)
        strbuf_addf(out,
                    tr("%zu runs of %s on nodes with %s start in one second, of which %d may run: "
                       "%s"),
                    crowded->starts, crowded->group, crowded->where, crowded->most, at.text);
    else
        strbuf_addf(out, tr("%zu runs of %s start in one second, of which %d may run: %s"),
                    crowded->starts, crowded->group, crowded->most, at.text);
    out->failed |= at.failed;
    strbuf_release(&at);
}

void plan_words_difference(const struct plan_ticks *ticks, const struct tick_difference *difference,
                           struct strbuf *out)
{
    static const char *const marks[] = {
        [TICK_GAINED] = "+ ", [TICK_LOST] = "- ", [TICK_SHIFTED] = "~ "};
    strbuf_adds(out, marks[difference->kind]);
    if (difference->kind != TICK_GAINED)
        timestamp_print_local(difference->before_s, ticks->zone, out);
    if (difference->kind == TICK_SHIFTED)
        strbuf_adds(out, " -> ");
    if (difference->kind != TICK_LOST)
        timestamp_print_local(difference->after_s, ticks->zone, out);
    if (difference->kind != TICK_SHIFTED)
        return;
    strbuf_adds(out, " (");
    add_shift(difference->after_s - difference->before_s, out);
    strbuf_addc(out, ')');
}

/* Not within a character. */
static size_t cut(const char *text, size_t length, size_t most)
{
    if (!most || length <= most)
        return length;
    while (most && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}

void plan_words_value(const json_t *value, size_t most, struct strbuf *out)
{
    if (!value || json_is_null(value)) {
        strbuf_adds(out, tr("not given"));
        return;
    }
    bool is_plain = json_is_string(value) && !strchr(json_string_value(value), '\n') &&
                    *json_string_value(value);
    char *text = is_plain ? strdup(json_string_value(value))
                          : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (!text) {
        out->failed = true;
        return;
    }
    size_t length = strlen(text), kept = cut(text, length, most);
    strbuf_add(out, text, kept);
    strbuf_adds(out, kept < length ? "…" : "");
    free(text);
}

void plan_words_place(const struct source_place *place, struct strbuf *out)
{
    if (!place->file)
        return;
    strbuf_adds(out, place->file);
    if (place->line)
        strbuf_addf(out, ":%d:%d", place->line, place->column);
}
