#include "state/known_calendars.h"

#include <stdlib.h>
#include <string.h>

static const struct table_type known_type = {.key_at = offsetof(struct known_calendar, name)};

void known_calendars_init(struct table *known)
{
    table_init(known, &known_type);
}

static void forget(struct known_calendar *entry)
{
    calendar_release(&entry->calendar);
    free(entry->json);
    entry->json = NULL;
    entry->revision = 0;
}

void known_calendars_release(struct table *known)
{
    size_t at = 0;
    for (struct known_calendar *entry; (entry = table_next(known, &at));) {
        forget(entry);
        free(entry);
    }
    table_release(known);
    known_calendars_init(known);
}

static struct known_calendar *find(const struct table *known, const char *name)
{
    return table_find(known, name);
}

struct known_calendar *known_calendars_find(const struct table *known, const char *name)
{
    struct known_calendar *entry = find(known, name);
    return entry && entry->revision ? entry : NULL;
}

/* The entry of this name, made if there is none. */
static enum status reach(struct table *known, const char *name, struct known_calendar **ret)
{
    struct known_calendar *entry = find(known, name);
    if (!entry) {
        entry = calloc(1, sizeof(*entry));
        if (!entry)
            return E_NOMEM;
        memcpy(entry->name, name, strnlen(name, CALENDAR_NAME_MAX));
        LIST_INIT(&entry->uses);
        enum status st = table_insert(known, entry);
        if (st != OK) {
            free(entry);
            return st;
        }
    }
    *ret = entry;
    return OK;
}

static void drop_if_idle(struct table *known, struct known_calendar *entry)
{
    if (entry->revision || !LIST_EMPTY(&entry->uses))
        return;
    table_remove(known, entry);
    forget(entry);
    free(entry);
}

/* ---- documents ---- */

enum status known_calendars_entry(struct table *known, const struct store_doc *doc,
                                  struct known_calendar **ret)
{
    return calendar_name_complaint(doc->name) ? E_INVALID : reach(known, doc->name, ret);
}

enum status known_calendars_take(struct table *known, struct known_calendar *entry,
                                 const struct store_doc *doc, struct job_error *reterr)
{
    struct calendar_definition definition;
    char *json = doc->json ? strdup(doc->json) : NULL;
    enum status st = OK;
    calendar_definition_init(&definition);
    if (doc->json)
        st = json ? calendar_decode_text(json, strlen(json), NULL, &definition, reterr) : E_NOMEM;
    if (st != E_NOMEM)
        forget(entry);
    if (st == OK && json) {
        entry->calendar = definition.calendar;
        calendar_init(&definition.calendar);
        entry->json = json;
        entry->revision = doc->revision;
        json = NULL;
    }
    free(json);
    calendar_definition_release(&definition);
    drop_if_idle(known, entry);
    return st;
}

/* ---- jobs ---- */

struct job_calendars *job_calendars_free(struct table *known, struct job_calendars *calendars)
{
    for (size_t i = 0; calendars && i < calendars->set.count; i++) {
        LIST_REMOVE(&calendars->uses[i], link);
        drop_if_idle(known, calendars->uses[i].known);
    }
    free(calendars);
    return NULL;
}

enum status job_calendars_new(struct table *known, struct catalog_job *job, char *const *names,
                              size_t count, struct job_calendars **ret)
{
    size_t uses_size = count * sizeof(struct calendar_use);
    struct job_calendars *made = malloc(sizeof(*made) + uses_size + count * sizeof(void *));
    if (!made)
        return E_NOMEM;
    const struct calendar **items = (const struct calendar **)(void *)&made->uses[count];
    *made = (struct job_calendars){INT64_MIN, INT64_MIN, {items, 0}};
    for (size_t i = 0; i < count; i++) {
        struct known_calendar *entry;
        enum status st = reach(known, names[i], &entry);
        if (st != OK) {
            job_calendars_free(known, made);
            return st;
        }
        made->uses[i] = (struct calendar_use){.known = entry, .job = job};
        LIST_INSERT_HEAD(&entry->uses, &made->uses[i], link);
        items[made->set.count++] = &entry->calendar;
    }
    *ret = made;
    return OK;
}
