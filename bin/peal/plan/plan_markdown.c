#include <stdio.h>
#include <string.h>

#include "jobs/documents/doc_types.h"
#include "plan/plan_words.h"
#include "text/tr.h"

enum { VALUE_MOST = 80 };

/* Text of a job is never markup, and stays within its line of a list, or its cell. */
static void escape(const char *text, struct strbuf *out)
{
    for (bool is_first = true; *text; text++, is_first = false) {
        if (strchr(is_first ? "\\`*_[]<>#|~&@!+-" : "\\`*_[]<>#|~&@!", *text))
            strbuf_addf(out, "&#%d;", (unsigned char)*text);
        else
            strbuf_addc(out, (unsigned char)*text < ' ' ? ' ' : *text);
    }
}

/* One more line of the list below a job. */
static void bullet(const char *label, struct strbuf *words, struct strbuf *out)
{
    if (words->length) {
        strbuf_adds(out, "- ");
        strbuf_adds(out, *label ? tr(label) : "");
        strbuf_adds(out, *label ? ": " : "");
        escape(words->text, out);
        strbuf_addc(out, '\n');
    }
    out->failed |= words->failed;
    strbuf_truncate(words, 0);
}

static void add_fields(const struct plan_field *fields, size_t count, bool detail,
                       struct strbuf *out)
{
    size_t most = detail ? 0 : VALUE_MOST;
    struct strbuf words;
    strbuf_init(&words);
    for (size_t i = 0; i < count; i++) {
        const struct plan_field *field = &fields[i];
        strbuf_addf(&words, "%s: ", field->pointer + (*field->pointer == '/'));
        plan_words_value(field->before, most, &words);
        strbuf_adds(&words, " -> ");
        plan_words_value(field->after, most, &words);
        bullet("", &words, out);
    }
    strbuf_release(&words);
}

static void add_ticks(const struct job_plan *plan, const struct plan_item *item, bool detail,
                      struct strbuf *out)
{
    const struct plan_ticks *ticks = item->ticks;
    struct strbuf words;
    strbuf_init(&words);
    plan_words_ticks(ticks, &words);
    bullet("ticks", &words, out);
    plan_words_span(ticks, &words);
    bullet("differ", &words, out);
    plan_words_until(plan, ticks, &words);
    bullet("", &words, out);
    for (size_t i = 0; detail && i < ticks->change.shown_count; i++) {
        plan_words_difference(ticks, &ticks->change.shown[i], &words);
        bullet("", &words, out);
    }
    plan_words_excluded(ticks, &words);
    bullet("calendars", &words, out);
    for (size_t i = 0; i < ticks->clock_count; i++) {
        plan_words_clock(ticks, &ticks->clocks[i], &words);
        bullet("clock", &words, out);
    }
    for (size_t i = 0; i < item->skipped_count; i++) {
        plan_words_skipped(item, &item->skipped[i], &words);
        bullet("skipped", &words, out);
    }
    plan_words_together(item, &words);
    bullet("together", &words, out);
    for (size_t i = 0; i < item->crowded_count; i++) {
        plan_words_crowded(item, &item->crowded[i], &words);
        bullet("groups", &words, out);
    }
    strbuf_release(&words);
}

/* "#### change backup", and its place. */
static void add_head(enum plan_action action, const char *what, const struct source_place *where,
                     struct strbuf *out)
{
    static const char *const titles[] = {
        [PLAN_CREATE] = TR("create"),
        [PLAN_CHANGE] = TR("change"),
        [PLAN_DELETE] = TR("delete"),
        [PLAN_MOVE] = TR("other ticks of"),
    };
    struct strbuf name, place;
    strbuf_init(&name);
    strbuf_init(&place);
    escape(what, &name);
    strbuf_adds(out, "\n#### ");
    strbuf_addf(out, "%s %s", tr(titles[action]), name.text);
    strbuf_adds(out, "\n\n");
    plan_words_place(where, &place);
    bullet("", &place, out);
    out->failed |= name.failed;
    strbuf_release(&place);
    strbuf_release(&name);
}

static void add_doc(const struct plan_doc *doc, bool detail, struct strbuf *out)
{
    struct strbuf words;
    strbuf_init(&words);
    doc_words(doc->type, doc->name, &words);
    out->failed |= words.failed;
    add_head(doc->action, words.text, &doc->place, out);
    add_fields(doc->fields, doc->field_count, detail, out);
    strbuf_release(&words);
}

static void add_item(const struct job_plan *plan, const struct plan_item *item, bool detail,
                     struct strbuf *out)
{
    add_head(item->action, item->name, &item->place, out);
    add_fields(item->fields, item->field_count, detail, out);
    if (item->ticks)
        add_ticks(plan, item, detail, out);
}

enum status job_plan_print_markdown(const struct job_plan *plan, bool detail)
{
    struct strbuf out;
    strbuf_init(&out);
    strbuf_adds(&out, "**peal plan**: ");
    plan_words_summary(plan, &out);
    strbuf_addc(&out, '\n');
    if (plan->docs.count + plan->docs.same) {
        strbuf_addc(&out, '\n');
        plan_words_docs(plan, &out);
        strbuf_addc(&out, '\n');
    }
    for (size_t i = 0; i < plan->docs.count; i++)
        add_doc(&plan->docs.items[i], detail, &out);
    for (size_t i = 0; i < plan->count; i++)
        add_item(plan, &plan->items[i], detail, &out);
    enum status st = strbuf_status(&out);
    if (st == OK)
        fputs(out.text, stdout);
    strbuf_release(&out);
    return st;
}
