#include <string.h>

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

void instance_tell_wait(const struct instance_view *view, int step, enum language language,
                        struct strbuf *out)
{
    int told = 0, left = 0;
    if (!view->flow || strcmp(instance_step_state(view, step), "waiting") != 0)
        return;
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
