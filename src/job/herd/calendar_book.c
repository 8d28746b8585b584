#include "herd/calendar_book.h"

#include <stdlib.h>
#include <string.h>

struct named_calendar {
    char *name;
    struct calendar_definition definition;
    bool is_there;
};

/* The calendars of a job, by their names with commas. */
struct calendar_list {
    char *key;
    const struct calendar **items;
    size_t count, only_count; /* as in struct calendars */
};

static const struct table_type calendars_type = {.key_at = offsetof(struct named_calendar, name),
                                                 .is_pointer = true};
static const struct table_type lists_type = {.key_at = offsetof(struct calendar_list, key),
                                             .is_pointer = true};

void calendar_book_init(struct calendar_book *book)
{
    *book = (struct calendar_book){0};
    table_init(&book->calendars, &calendars_type);
    table_init(&book->lists, &lists_type);
}

static void calendar_free(struct named_calendar *calendar)
{
    calendar_definition_release(&calendar->definition);
    free(calendar->name);
    free(calendar);
}

static void list_free(struct calendar_list *list)
{
    free(list->items);
    free(list->key);
    free(list);
}

void calendar_book_release(struct calendar_book *book)
{
    struct named_calendar *calendar;
    struct calendar_list *list;
    size_t at = 0;
    while ((calendar = table_next(&book->calendars, &at)))
        calendar_free(calendar);
    at = 0;
    while ((list = table_next(&book->lists, &at)))
        list_free(list);
    table_release(&book->calendars);
    table_release(&book->lists);
}

/* Takes the definition over. */
static enum status add(struct calendar_book *book, const char *name,
                       struct calendar_definition *definition, bool is_there)
{
    struct named_calendar *calendar = calloc(1, sizeof(*calendar));
    if (!calendar) {
        calendar_definition_release(definition);
        return E_NOMEM;
    }
    *calendar = (struct named_calendar){strdup(name), *definition, is_there};
    enum status st = calendar->name ? table_insert(&book->calendars, calendar) : E_NOMEM;
    if (st != OK)
        calendar_free(calendar);
    return st;
}

bool calendar_book_has(const struct calendar_book *book, const char *name)
{
    return table_find(&book->calendars, name) != NULL;
}

enum status calendar_book_add(struct calendar_book *book, const char *name,
                              struct calendar_definition *definition)
{
    return add(book, name, definition, true);
}

enum status calendar_book_hide(struct calendar_book *book, const char *name)
{
    struct calendar_definition none;
    calendar_definition_init(&none);
    return add(book, name, &none, false);
}

/* Books lie over each other one or two deep. NOLINTNEXTLINE(misc-no-recursion) */
static enum status find(struct calendar_book *book, const char *name, const struct calendar **ret)
{
    const struct named_calendar *found = table_find(&book->calendars, name);
    *ret = found && found->is_there ? &found->definition.calendar : NULL;
    if (found)
        return OK;
    if (book->base)
        return find(book->base, name, ret);
    if (book->missing)
        book->missing(name);
    return calendar_book_hide(book, name);
}

static size_t count_of(char *const *names)
{
    size_t count = 0;
    while (names && names[count])
        count++;
    return count;
}

/* One that is nowhere excludes nothing; but if it is required, it has no dates. */
static enum status fill_list(struct calendar_book *book, const struct job *job,
                             struct calendar_list *list)
{
    static const struct calendar no_dates;
    enum status st = OK;
    for (size_t i = 0; i < job->calendar_count && st == OK; i++) {
        st = find(book, job->calendars[i], &list->items[list->count]);
        if (st == OK && list->items[list->count])
            list->count++;
    }
    for (char **name = job->only_on; name && *name && st == OK; name++) {
        const struct calendar **item = &list->items[list->count + list->only_count++];
        st = find(book, *name, item);
        if (st == OK && !*item)
            *item = &no_dates;
    }
    return st;
}

static enum status make_list(struct calendar_book *book, const struct job *job, const char *key)
{
    struct calendar_list *list = calloc(1, sizeof(*list));
    enum status st = list ? OK : E_NOMEM;
    if (st == OK) {
        list->key = strdup(key);
        list->items =
            calloc(job->calendar_count + count_of(job->only_on) + 1, sizeof(*list->items));
        st = list->key && list->items ? OK : E_NOMEM;
    }
    if (st == OK)
        st = fill_list(book, job, list);
    if (st == OK)
        st = table_insert(&book->lists, list);
    if (st != OK && list)
        list_free(list);
    return st;
}

enum status calendar_book_of_job(struct calendar_book *book, const struct job *job,
                                 struct calendars *ret)
{
    struct strbuf key;
    enum status st = OK;
    *ret = (struct calendars){NULL, 0, 0};
    if (!job->calendar_count && !job->only_on)
        return OK;
    strbuf_init(&key);
    for (size_t i = 0; i < job->calendar_count; i++)
        strbuf_addf(&key, "%s,", job->calendars[i]);
    for (char **name = job->only_on; name && *name; name++)
        strbuf_addf(&key, "only %s,", *name);
    st = strbuf_status(&key);
    if (st == OK && !table_find(&book->lists, key.text))
        st = make_list(book, job, key.text);
    if (st == OK) {
        const struct calendar_list *list = table_find(&book->lists, key.text);
        *ret = (struct calendars){list->items, list->count, list->only_count};
    }
    strbuf_release(&key);
    return st;
}
