#include "plan/plan_calendars.h"

/* They were read before, so that there is no mistake in them. */
static enum status add(struct calendar_book *book, const struct file_doc *doc,
                       struct zone_db *zones)
{
    struct calendar_definition definition;
    struct job_error error = {0};
    enum status st = calendar_decode_json(doc->value, doc->name, zones, &definition, &error);
    return st == OK ? calendar_book_add(book, doc->name, &definition) : st;
}

enum status calendars_of_files(struct calendar_book *book, const struct file_docs *docs,
                               struct zone_db *zones)
{
    enum status st = OK;
    for (size_t i = 0; i < docs->count && st == OK; i++) {
        if (docs->items[i].type == DOC_CALENDAR && !calendar_book_has(book, docs->items[i].name))
            st = add(book, &docs->items[i], zones);
    }
    return st;
}

enum status plan_calendars_lay(struct calendar_book *after, struct calendar_book *before,
                               const struct plan_docs *plan, struct zone_db *zones)
{
    enum status st = OK;
    after->base = before;
    for (size_t i = 0; i < plan->count && st == OK; i++) {
        const struct plan_doc *item = &plan->items[i];
        if (item->type == DOC_CALENDAR)
            st = item->doc ? add(after, item->doc, zones) : calendar_book_hide(after, item->name);
    }
    return st;
}

bool plan_calendars_touch(const struct plan_docs *plan, const struct job *job)
{
    if (plan->count == 0)
        return false;
    for (size_t i = 0; i < job->calendar_count; i++) {
        if (plan_docs_change(plan, DOC_CALENDAR, job->calendars[i]))
            return true;
    }
    for (char **name = job->only_on; name && *name; name++) {
        if (plan_docs_change(plan, DOC_CALENDAR, *name))
            return true;
    }
    return false;
}
