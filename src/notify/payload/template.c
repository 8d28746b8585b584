#include "payload/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "definition/job_fields.h"
#include "run_words.h"

enum template_field {
    FILL_OWN_TITLE,
    FILL_FACTS,
    FILL_JOB,
    FILL_EVENT,
    FILL_STATE,
    FILL_REASON,
    FILL_DETAIL,
    FILL_TICK,
    FILL_TICKS,
    FILL_STARTED,
    FILL_FINISHED,
    FILL_DURATION,
    FILL_EXIT_CODE,
    FILL_SIGNAL,
    FILL_ATTEMPT,
    FILL_NODE,
    FILL_RUN,
    FILL_OUTPUT,
    FILL_LINK,
    FILL_HELD_BACK,
    FILL_CHANNEL,
    FILL_FIELDS,
};

static const char *const names[FILL_FIELDS + 1] = {
    [FILL_OWN_TITLE] = "title",
    [FILL_FACTS] = "facts",
    [FILL_JOB] = "job",
    [FILL_EVENT] = "event",
    [FILL_STATE] = "state",
    [FILL_REASON] = "reason",
    [FILL_DETAIL] = "detail",
    [FILL_TICK] = "tick",
    [FILL_TICKS] = "ticks",
    [FILL_STARTED] = "started",
    [FILL_FINISHED] = "finished",
    [FILL_DURATION] = "duration",
    [FILL_EXIT_CODE] = "exit_code",
    [FILL_SIGNAL] = "signal",
    [FILL_ATTEMPT] = "attempt",
    [FILL_NODE] = "node",
    [FILL_RUN] = "run",
    [FILL_OUTPUT] = "output",
    [FILL_LINK] = "link",
    [FILL_HELD_BACK] = "held_back",
    [FILL_CHANNEL] = "channel",
};

/* ---- taking it apart ---- */

/* Text up to the next field, and that field; FILL_FIELDS: none follows. */
struct piece {
    const char *text;
    size_t length;
    enum template_field field;
    const char *name; /* as it is written */
    size_t name_length;
    bool is_open; /* it has no end */
};

static enum template_field find(const char *name, size_t length)
{
    int i = 0;
    while (i < FILL_FIELDS && (strlen(names[i]) != length || memcmp(names[i], name, length) != 0))
        i++;
    return (enum template_field)i;
}

/* Of "$$" the text is one "$", and nothing else. */
static const char *take(const char *at, struct piece *ret)
{
    *ret = (struct piece){.text = at, .field = FILL_FIELDS};
    if (at[0] == '$' && at[1] == '$') {
        ret->length = 1;
        return at + 2;
    }
    if (at[0] == '$' && at[1] == '{') {
        size_t length = strcspn(at + 2, "}");
        ret->name = at + 2;
        ret->name_length = length;
        ret->is_open = !at[2 + length];
        ret->field = find(at + 2, length);
        return at + 2 + length + !ret->is_open;
    }
    ret->length = 1 + strcspn(at + 1, "$");
    return at + ret->length;
}

bool template_check(const char *template, struct strbuf *why)
{
    struct piece piece;
    while (*template) {
        template = take(template, &piece);
        if (!piece.name || (piece.field < FILL_FIELDS && !piece.is_open))
            continue;
        char name[40];
        snprintf(name, sizeof(name), "%.*s", (int)(piece.name_length < 39 ? piece.name_length : 39),
                 piece.name);
        const char *near = word_nearest(names, name);
        if (piece.is_open)
            strbuf_addf(why, "\"${%s\" has no }", name);
        else if (near)
            strbuf_addf(why, "there is no field ${%s}; did you mean ${%s}?", name, near);
        else
            strbuf_addf(why, "there is no field ${%s}", name);
        return false;
    }
    return true;
}

/* ---- filling it in ---- */

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

static void add_field(const struct filling *f, enum template_field field)
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
    struct piece piece;
    while (*template) {
        template = take(template, &piece);
        strbuf_add(out, piece.text, piece.length);
        add_field(&f, piece.field);
    }
}
