#include "payload/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "expect/message_template.h"
#include "run_words.h"

struct filling {
    const struct notice *notice;
    const struct notice_world *world;
    enum language language;
    struct strbuf *out;
};

static void add_number(const struct filling *f, bool is_known, int64_t number)
{
    if (is_known)
        strbuf_addf(f->out, "%" PRId64, number);
}

static void add_time(const struct filling *f, int64_t ms)
{
    if (ms)
        notice_time(f->notice, f->world, ms, f->out);
}

static void add_run(const struct filling *f)
{
    char id[ID_TEXT + 1];
    id_format(&f->notice->id, id);
    strbuf_adds(f->out, f->notice->is_entry ? "" : id);
}

static void add_duration(const struct filling *f)
{
    const struct notice *n = f->notice;
    if (n->started_ms && n->finished_ms >= n->started_ms)
        notice_span(n->finished_ms - n->started_ms, f->language, f->out);
}

static void add_field(const struct filling *f, enum message_field field)
{
    const struct notice *n = f->notice;
    switch (field) {
    case FILL_OWN_TITLE:
        notice_title(n, f->language, f->out);
        break;
    case FILL_FACTS:
        notice_facts(n, f->language, f->world, f->out);
        break;
    case FILL_JOB:
        strbuf_adds(f->out, n->job);
        break;
    case FILL_EVENT:
        strbuf_adds(f->out, notify_event_name(n->event));
        break;
    case FILL_STATE:
        strbuf_adds(f->out, run_state_text(n->state, f->language));
        break;
    case FILL_REASON:
        strbuf_adds(f->out, run_reason_text(n->reason, f->language));
        break;
    case FILL_DETAIL:
        strbuf_adds(f->out, n->detail);
        break;
    case FILL_TICK:
        add_time(f, n->tick_ms);
        break;
    case FILL_TICKS:
        add_number(f, true, n->count);
        break;
    case FILL_STARTED:
        add_time(f, n->started_ms);
        break;
    case FILL_FINISHED:
        add_time(f, n->finished_ms);
        break;
    case FILL_DURATION:
        add_duration(f);
        break;
    case FILL_EXIT_CODE:
        add_number(f, n->exit_code >= 0, n->exit_code);
        break;
    case FILL_SIGNAL:
        add_number(f, n->term_signal > 0, n->term_signal);
        break;
    case FILL_ATTEMPT:
        add_number(f, !n->is_entry, n->attempt);
        break;
    case FILL_NODE:
        strbuf_adds(f->out, n->node);
        break;
    case FILL_RUN:
        add_run(f);
        break;
    case FILL_OUTPUT:
        strbuf_adds(f->out, n->output ? n->output : "");
        break;
    case FILL_LINK:
        notice_link(n, f->world, f->out);
        break;
    case FILL_HELD_BACK:
        add_number(f, true, n->held);
        break;
    case FILL_CHANNEL:
        strbuf_adds(f->out, n->channel);
        break;
    case FILL_FIELDS:
        break;
    }
}

void template_fill(const char *template, const struct notice *notice, enum language language,
                   const struct notice_world *world, struct strbuf *out)
{
    struct filling f = {notice, world, language, out};
    struct message_piece piece;
    while (*template) {
        template = message_template_take(template, &piece);
        strbuf_add(out, piece.text, piece.length);
        add_field(&f, piece.field);
    }
}
