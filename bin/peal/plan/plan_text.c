#include <stdio.h>

#include "cli/terminal.h"
#include "jobs/documents/doc_types.h"
#include "plan/plan_words.h"
#include "text/tr.h"

enum { LABEL = 10, VALUE_MOST = 60 };

/* Prints what the words are, and empties them; nothing if there are none. */
static enum status print_words(const char *label, struct strbuf *words)
{
    enum status st = strbuf_status(words);
    if (st == OK && words->length) {
        fputs("    ", stdout);
        cli_line(LABEL, label, "%s", words->text);
    }
    strbuf_truncate(words, 0);
    return st;
}

static enum status print_fields(const struct plan_field *fields, size_t count, bool detail,
                                struct strbuf *words)
{
    size_t most = detail ? 0 : VALUE_MOST;
    enum status st = OK;
    for (size_t i = 0; i < count && st == OK; i++) {
        const struct plan_field *field = &fields[i];
        plan_words_value(field->before, most, words);
        strbuf_adds(words, " -> ");
        plan_words_value(field->after, most, words);
        if (field->place.file) {
            strbuf_adds(words, "   ");
            plan_words_place(&field->place, words);
        }
        st = strbuf_status(words);
        if (st == OK) /* a name, which is the same in all languages */
            printf("    %-*s %s\n", LABEL, field->pointer + (*field->pointer == '/'), words->text);
        strbuf_truncate(words, 0);
    }
    return st;
}

/* Of a job that comes or goes. */
static enum status print_schedules(const struct job *job, struct strbuf *words)
{
    enum status st = OK;
    for (size_t i = 0; i < job->schedule_count && st == OK; i++) {
        strbuf_adds(words, job->schedules[i]);
        st = print_words(i ? "" : "schedule", words);
    }
    return st;
}

static enum status print_differences(const struct plan_ticks *ticks, struct strbuf *words)
{
    const struct tick_change *change = &ticks->change;
    enum status st = OK;
    for (size_t i = 0; i < change->shown_count && st == OK; i++) {
        plan_words_difference(ticks, &change->shown[i], words);
        st = print_words("", words);
    }
    size_t more = change->gained + change->lost + change->moved - change->shown_count;
    if (st == OK && more) {
        strbuf_addf(words, tr("and %zu more"), more);
        st = print_words("", words);
    }
    return st;
}

static enum status print_ticks(const struct job_plan *plan, const struct plan_item *item,
                               bool detail, struct strbuf *words)
{
    const struct plan_ticks *ticks = item->ticks;
    plan_words_ticks(ticks, words);
    enum status st = print_words("ticks", words);
    plan_words_span(ticks, words);
    if (st == OK)
        st = print_words("differ", words);
    plan_words_until(plan, ticks, words);
    if (st == OK)
        st = print_words("", words);
    if (st == OK && detail)
        st = print_differences(ticks, words);
    plan_words_excluded(ticks, words);
    if (st == OK)
        st = print_words("calendars", words);
    for (size_t i = 0; i < ticks->clock_count && st == OK; i++) {
        plan_words_clock(ticks, &ticks->clocks[i], words);
        st = print_words(i ? "" : "clock", words);
    }
    for (size_t i = 0; i < item->skipped_count && st == OK; i++) {
        plan_words_skipped(item, &item->skipped[i], words);
        st = print_words(i ? "" : "skipped", words);
    }
    plan_words_together(item, words);
    if (st == OK)
        st = print_words("together", words);
    for (size_t i = 0; i < item->crowded_count && st == OK; i++) {
        plan_words_crowded(item, &item->crowded[i], words);
        st = print_words(i ? "" : "groups", words);
    }
    return st;
}

/* "~ backup   new/jobs.yaml:1:7" */
static void print_head(enum plan_action action, const char *name, const struct source_place *place)
{
    static const struct {
        char mark;
        const char *colour;
    } marks[] = {
        [PLAN_CREATE] = {'+', "\033[32m"},
        [PLAN_CHANGE] = {'~', "\033[33m"},
        [PLAN_DELETE] = {'-', "\033[31m"},
        [PLAN_MOVE] = {'*', "\033[33m"},
    };
    bool colour = terminal_of(stdout).colour;
    struct strbuf words;
    strbuf_init(&words);
    plan_words_place(place, &words);
    printf("%s%c %s%s%s%s\n", colour ? marks[action].colour : "", marks[action].mark, name,
           colour ? "\033[0m" : "", words.length ? "   " : "", words.text);
    strbuf_release(&words);
}

static enum status print_doc(const struct plan_doc *doc, bool detail)
{
    struct strbuf words;
    strbuf_init(&words);
    doc_words(doc->type, doc->name, &words);
    enum status st = strbuf_status(&words);
    if (st == OK)
        print_head(doc->action, words.text, &doc->place);
    strbuf_truncate(&words, 0);
    if (st == OK)
        st = print_fields(doc->fields, doc->field_count, detail, &words);
    strbuf_release(&words);
    return st;
}

static enum status print_item(const struct job_plan *plan, const struct plan_item *item,
                              bool detail)
{
    struct strbuf words;
    strbuf_init(&words);
    print_head(item->action, item->name, &item->place);
    bool is_same = item->action == PLAN_CHANGE || item->action == PLAN_MOVE;
    enum status st = is_same ? print_fields(item->fields, item->field_count, detail, &words)
                             : print_schedules(item->after ? item->after : item->before, &words);
    if (st == OK && item->ticks)
        st = print_ticks(plan, item, detail, &words);
    strbuf_release(&words);
    return st;
}

enum status job_plan_print_text(const struct job_plan *plan, bool detail)
{
    struct strbuf words;
    enum status st = OK;
    for (size_t i = 0; i < plan->docs.count && st == OK; i++)
        st = print_doc(&plan->docs.items[i], detail);
    for (size_t i = 0; i < plan->count && st == OK; i++)
        st = print_item(plan, &plan->items[i], detail);
    if (st != OK)
        return st;
    strbuf_init(&words);
    plan_words_docs(plan, &words);
    if (words.length)
        strbuf_addc(&words, '\n');
    plan_words_summary(plan, &words);
    st = strbuf_status(&words);
    if (st == OK)
        printf("%s%s\n", plan->count + plan->docs.count ? "\n" : "", words.text);
    strbuf_release(&words);
    return st;
}
