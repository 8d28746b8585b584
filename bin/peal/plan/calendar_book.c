#include "plan/calendar_book.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calendar_codec.h"
#include "cli/when.h"
#include "jobs/input_file.h"
#include "text/tr_parsed.h"

struct named_calendar {
    char *name;
    struct calendar_definition definition;
    bool is_there;
};

/* The calendars of a job, by their names with commas. */
struct calendar_list {
    char *key;
    const struct calendar **items;
    size_t count;
};

static const struct table_type calendars_type = {.key_at = offsetof(struct named_calendar, name),
                                                 .is_pointer = true};
static const struct table_type lists_type = {.key_at = offsetof(struct calendar_list, key),
                                             .is_pointer = true};

void calendar_book_init(struct calendar_book *book)
{
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

/* ---- of the agent ---- */

static enum exit_code add_items(struct calendar_book *book, const json_t *items)
{
    const json_t *item;
    size_t i;
    json_array_foreach (items, i, item) {
        const char *name = answer_text(item, "name");
        json_t *value = json_pack("{s:O?, s:O?}", "dates", json_object_get(item, "dates"),
                                  "weekdays", json_object_get(item, "weekdays"));
        struct calendar_definition definition;
        struct job_error error = {0};
        enum status st = value ? calendar_decode_json(value, NULL, &definition, &error) : E_NOMEM;
        json_decref(value);
        if (st == OK)
            st = add(book, name, &definition, true);
        if (st == E_INVALID)
            cli_note("calendar %s can't be read by this version: %s", name, error.message);
        else if (st != OK)
            return cli_fail(st);
    }
    return EXIT_OK;
}

enum exit_code calendar_book_of_agent(struct calendar_book *book, struct client *client)
{
    json_t *answer = NULL;
    enum exit_code code = client_get(client, "/calendars", &answer);
    if (code == EXIT_OK)
        code = add_items(book, json_object_get(answer, "items"));
    json_decref(answer);
    return code;
}

/* ---- of a folder ---- */

static size_t stem_length(const char *name)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            return length - ending;
    }
    return 0;
}

static int is_calendar_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && stem_length(entry->d_name) > 0;
}

static enum exit_code read_file(struct calendar_book *book, const char *folder, const char *file)
{
    struct calendar_definition definition;
    struct job_error error = {0};
    struct strbuf path, text, name;
    strbuf_init(&path);
    strbuf_init(&text);
    strbuf_init(&name);
    strbuf_addf(&path, "%s/%s", folder, file);
    strbuf_add(&name, file, stem_length(file));
    enum exit_code code = input_file_read(path.text, &text);
    if (code == EXIT_OK) {
        enum status st =
            calendar_decode_text(text.text, text.length, name.text, &definition, &error);
        if (st == OK)
            st = add(book, name.text, &definition, true);
        code = st == E_INVALID ? EXIT_INVALID : cli_fail(st);
    }
    if (error.message[0]) {
        tr_parsed(error.message, sizeof(error.message));
        fprintf(stderr, "%s:%d:%d: %s\n", path.text, error.line, error.column, error.message);
    }
    strbuf_release(&name);
    strbuf_release(&text);
    strbuf_release(&path);
    return code;
}

enum exit_code calendar_book_of_folder(struct calendar_book *book, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_calendar_file, alphasort);
    enum exit_code worst = EXIT_OK;
    if (count < 0) {
        cli_error("can't read %s: %m", folder);
        return EXIT_ERROR;
    }
    for (int i = 0; i < count; i++) {
        enum exit_code code = read_file(book, folder, entries[i]->d_name);
        if (code != EXIT_OK)
            worst = code;
        free(entries[i]);
    }
    free(entries);
    return worst;
}

/* ---- of a job ---- */

static enum status find(struct calendar_book *book, const char *name, const struct calendar **ret)
{
    const struct named_calendar *found = table_find(&book->calendars, name);
    *ret = found && found->is_there ? &found->definition.calendar : NULL;
    if (found)
        return OK;
    struct calendar_definition none;
    calendar_definition_init(&none);
    cli_note("calendar %s is not known here: its dates are not left out", name);
    return add(book, name, &none, false);
}

static enum status make_list(struct calendar_book *book, const struct job *job, const char *key)
{
    struct calendar_list *list = calloc(1, sizeof(*list));
    enum status st = list ? OK : E_NOMEM;
    if (st == OK) {
        list->key = strdup(key);
        list->items = calloc(job->calendar_count, sizeof(*list->items));
        st = list->key && list->items ? OK : E_NOMEM;
    }
    for (size_t i = 0; i < job->calendar_count && st == OK; i++) {
        st = find(book, job->calendars[i], &list->items[list->count]);
        if (st == OK && list->items[list->count])
            list->count++;
    }
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
    *ret = (struct calendars){NULL, 0};
    if (!job->calendar_count)
        return OK;
    strbuf_init(&key);
    for (size_t i = 0; i < job->calendar_count; i++)
        strbuf_addf(&key, "%s,", job->calendars[i]);
    st = strbuf_status(&key);
    if (st == OK && !table_find(&book->lists, key.text))
        st = make_list(book, job, key.text);
    if (st == OK) {
        const struct calendar_list *list = table_find(&book->lists, key.text);
        *ret = (struct calendars){list->items, list->count};
    }
    strbuf_release(&key);
    return st;
}
