#include <string.h>

#include "function/eligible.h"
#include "runs/encode.h"
#include "text/message.h"
#include "workflow/instance_view.h"

enum { TOLD_MAX = 5 };

/* "03:11:00" of a time in UTC. */
static void clock_text(int64_t ms, char text[TIME_TEXT])
{
    time_format(ms, text);
    memmove(text, text + strlen("2026-01-01T"), strlen("00:00:00"));
    text[strlen("00:00:00")] = '\0';
}

static bool has_ended(const struct instance_view *view, int step)
{
    const struct instance_step *shown = &view->steps[step];
    return shown->is_known && run_state_is_end(shown->run.state) && !shown->run.retried;
}

/* "load (running since 03:11:00)" */
static void tell_one(const struct instance_view *view, int step, enum language language,
                     struct strbuf *out)
{
    const struct instance_step *shown = &view->steps[step];
    const char *name = instance_step_name(view, step);
    char since[TIME_TEXT];
    if (shown->is_known && !run_state_is_end(shown->run.state) && shown->run.started_ms) {
        clock_text(shown->run.started_ms, since);
        strbuf_addf(out, message_in(language, "%s (running since %s UTC)"), name, since);
    } else if (shown->is_known && shown->run.state == RUN_DUE) {
        strbuf_addf(out, message_in(language, "%s (waiting for a node)"), name);
    } else if (shown->is_known && shown->run.state != RUN_QUEUED) {
        strbuf_addf(out, message_in(language, "%s (running)"), name);
    } else {
        strbuf_addf(out, message_in(language, "%s (waiting)"), name);
    }
}

static bool is_edge(const struct flow *flow, int from, int to)
{
    size_t count;
    const struct flow_edge *edges = flow_edges(flow, from, &count);
    for (size_t i = 0; i < count; i++)
        if (edges[i].step == to)
            return true;
    return false;
}

/* The steps before it that have not ended. */
static void tell_steps(const struct instance_view *view, int step, enum language language,
                       struct strbuf *out)
{
    int told = 0, left = 0;
    for (int i = 0; i < view->count; i++) {
        if (!is_edge(view->flow, i, step) || has_ended(view, i))
            continue;
        if (told == TOLD_MAX) {
            left++;
            continue;
        }
        strbuf_adds(out, message_in(language, told++ ? ", " : "waits for "));
        tell_one(view, i, language, out);
    }
    if (left)
        strbuf_addf(out, message_in(language, " and %d more"), left);
}

/* Why no node that is eligible takes it now. NULL: no reason is known. */
static const char *hindrance_text(enum run_reason hindrance, enum language language)
{
    static const struct {
        enum run_reason hindrance;
        const char *text;
    } texts[] = {{REASON_DISK_FULL, "the disk is full"},
                 {REASON_STORE_AWAY, "the store is unavailable"},
                 {REASON_CLOCK_DOUBTED, "the clock is not trusted"},
                 {REASON_DRAINED, "those that can run it are drained"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].hindrance == hindrance)
            return message_in(language, texts[i].text);
    }
    return NULL;
}

static void tell_lack(const struct instance_lack *lack, enum language language, struct strbuf *out)
{
    size_t length = 0;
    const char *hindrance = hindrance_text(lack->hindrance, language);
    const char *program =
        eligible_is_program(lack->where) ? eligible_program(lack->where, &length) : NULL;
    if (lack->is_nobody && program)
        strbuf_addf(out, message_in(language, "no process of the program %.*s can run it"),
                    (int)length, program);
    else if (lack->is_nobody && !lack->where)
        strbuf_adds(out, message_in(language, "no agent that runs jobs is there"));
    else if (lack->is_nobody && eligible_has_limits(lack->where))
        strbuf_addf(out, message_in(language, "no node has the labels that its limits need: %s"),
                    lack->where);
    else if (lack->is_nobody)
        strbuf_addf(out, message_in(language, "no node has the labels of its where: %s"),
                    lack->where);
    else if (lack->group && group_is_space(lack->group))
        strbuf_addf(
            out, message_in(language, "waits for its namespace %.*s, number %zu of %zu that wait"),
            (int)strlen(lack->group) - 1, lack->group, lack->place, lack->waiting);
    else if (lack->group)
        strbuf_addf(out, message_in(language, "waits for group %s, number %zu of %zu that wait"),
                    lack->group, lack->place, lack->waiting);
    else if (hindrance)
        strbuf_addf(out, message_in(language, "waits for a node to take it: %s"), hindrance);
    else
        strbuf_adds(out, message_in(language, "waits for a node to take it"));
}

static void tell_due(const struct instance_view *view, int step, enum language language,
                     struct strbuf *out)
{
    const struct instance_step *shown = &view->steps[step];
    const struct run *run = &shown->run;
    char at[TIME_TEXT];
    if (run->attempt > 1 && run->not_before_ms > view->now_ms) {
        clock_text(run->not_before_ms, at);
        strbuf_addf(out, message_in(language, "attempt %d of %d starts at %s UTC"), run->attempt,
                    run->attempts, at);
    } else {
        tell_lack(&shown->lack, language, out);
    }
}

/* A fan-out that is under way: items that were not made yet, and made ones that no node takes. */
static void tell_items(const struct instance_view *view, int step, enum language language,
                       struct strbuf *out)
{
    const struct instance_step *shown = &view->steps[step];
    const struct run_joins *joins = &shown->run.joins;
    int under_way = joins->made - joins->met - joins->unmet;
    if (view->flow && joins->made < joins->expected)
        strbuf_addf(out, message_in(language, "at_once: %d of %d items under way, %d to come"),
                    under_way, flow_at_once(view->flow, step), joins->expected - joins->made);
    if (!shown->items[RUN_DUE])
        return;
    strbuf_adds(out, out->length ? "; " : "");
    strbuf_addf(out, message_in(language, "items that are due: %d, "), shown->items[RUN_DUE]);
    tell_lack(&shown->lack, language, out);
}

void instance_tell_wait(const struct instance_view *view, int step, enum language language,
                        struct strbuf *out)
{
    const struct instance_step *shown = &view->steps[step];
    if (run_state_is_end(view->instance.state))
        return;
    if (view->flow && strcmp(instance_step_state(view, step), "waiting") == 0)
        tell_steps(view, step, language, out);
    else if (shown->is_known && shown->run.state == RUN_DUE)
        tell_due(view, step, language, out);
    else if (shown->is_known && shown->run.state == RUN_RUNNING && shown->has_items)
        tell_items(view, step, language, out);
}
