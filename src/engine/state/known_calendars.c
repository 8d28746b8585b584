#include "state/known_calendars.h"

#include <stdio.h>
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
                                 const struct store_doc *doc, struct zone_db *zones,
                                 struct job_error *reterr)
{
    struct calendar_definition definition;
    char *json = doc->json ? strdup(doc->json) : NULL;
    enum status st = OK;
    calendar_definition_init(&definition);
    if (doc->json)
        st = json ? calendar_decode_text(json, strlen(json), NULL, zones, &definition, reterr)
                  : E_NOMEM;
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

void calendar_out_print(const struct calendar_out *out, char ret[CALENDAR_OUT_SIZE])
{
    struct strbuf window;
    strbuf_init(&window);
    if (out->window)
        window_print(out->window, &window);
    snprintf(ret, CALENDAR_OUT_SIZE, window.length ? "%s: %s" : "%s%s", out->calendar,
             window.length ? window.text : "");
    strbuf_release(&window);
}

/* ---- jobs ---- */

struct job_calendars *job_calendars_free(struct table *known, struct job_calendars *calendars)
{
    for (size_t i = 0; calendars && i < calendars->use_count; i++) {
        LIST_REMOVE(&calendars->uses[i], link);
        drop_if_idle(known, calendars->uses[i].known);
    }
    free(calendars);
    return NULL;
}

static enum status add_use(struct table *known, struct catalog_job *job, const char *name,
                           struct job_calendars *made, const struct calendar **items)
{
    struct known_calendar *entry;
    enum status st = reach(known, name, &entry);
    if (st != OK)
        return st;
    struct calendar_use *use = &made->uses[made->use_count];
    *use = (struct calendar_use){.known = entry, .job = job};
    LIST_INSERT_HEAD(&entry->uses, use, link);
    items[made->use_count++] = &entry->calendar;
    return OK;
}

/* What stays empty without required calendars. */
static void print_not_on(const struct job *definition, struct strbuf *out)
{
    for (size_t i = 0; definition && definition->only_on && definition->only_on[i]; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "not on ", definition->only_on[i]);
}

/* The uses are added by the caller. NULL: out of memory. */
static struct job_calendars *make(size_t count, size_t only_count, const char *not_on)
{
    size_t all = count + only_count,
           items_at = sizeof(struct job_calendars) + all * sizeof(struct calendar_use);
    size_t text_at = items_at + all * sizeof(void *), size = strlen(not_on) + 1;
    char *block = malloc(text_at + size);
    if (!block)
        return NULL;
    memcpy(block + text_at, not_on, size);
    struct job_calendars *made = (struct job_calendars *)(void *)block;
    *made = (struct job_calendars){
        .not_on = block + text_at,
        .next_run_ms = INT64_MIN,
        .out_until_ms = INT64_MIN,
        .set = {(const struct calendar *const *)(void *)(block + items_at), count, only_count}};
    return made;
}

enum status job_calendars_new(struct table *known, struct catalog_job *job,
                              const struct job *definition, struct job_calendars **ret)
{
    size_t count = definition ? definition->calendar_count : 0, only_count = 0;
    while (definition && definition->only_on && definition->only_on[only_count])
        only_count++;
    struct strbuf not_on;
    strbuf_init(&not_on);
    print_not_on(definition, &not_on);
    struct job_calendars *made =
        strbuf_status(&not_on) == OK ? make(count, only_count, not_on.text) : NULL;
    strbuf_release(&not_on);
    if (!made)
        return E_NOMEM;
    const struct calendar **items =
        (const struct calendar **)(void *)&made->uses[count + only_count];
    enum status st = OK;
    for (size_t i = 0; st == OK && i < count + only_count; i++)
        st = add_use(known, job,
                     i < count ? definition->calendars[i] : definition->only_on[i - count], made,
                     items);
    if (st != OK) {
        job_calendars_free(known, made);
        return st;
    }
    *ret = made;
    return OK;
}
