#include "plan/calendars_read.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "jobs/input_file.h"
#include "text/tr_parsed.h"

/* ---- of the agent ---- */

static enum exit_code add_items(struct calendar_book *book, const json_t *items,
                                struct zone_db *zones)
{
    const json_t *item;
    size_t i;
    json_array_foreach (items, i, item) {
        const char *name = answer_text(item, "name");
        json_t *value = json_pack(
            "{s:O*, s:O*, s:O*, s:O*}", "dates", json_object_get(item, "dates"), "weekdays",
            json_object_get(item, "weekdays"), "windows", json_object_get(item, "windows"),
            "timezone", json_object_get(item, "timezone"));
        struct calendar_definition definition;
        struct job_error error = {0};
        enum status st =
            value ? calendar_decode_json(value, NULL, zones, &definition, &error) : E_NOMEM;
        json_decref(value);
        if (st == OK)
            st = calendar_book_add(book, name, &definition);
        if (st == E_INVALID)
            cli_note("calendar %s can't be read by this version: %s", name, error.message);
        else if (st != OK)
            return cli_fail(st);
    }
    return EXIT_OK;
}

static void tell_missing(const char *name)
{
    cli_note("calendar %s is not known here: its dates are not left out", name);
}

enum exit_code calendars_of_agent(struct calendar_book *book, struct client *client,
                                  struct zone_db *zones)
{
    json_t *answer = NULL;
    book->missing = tell_missing;
    enum exit_code code = client_get(client, "/calendars", &answer);
    if (code == EXIT_OK)
        code = add_items(book, json_object_get(answer, "items"), zones);
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

static enum exit_code read_file(struct calendar_book *book, const char *folder, const char *file,
                                struct zone_db *zones)
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
            calendar_decode_text(text.text, text.length, name.text, zones, &definition, &error);
        if (st == OK && calendar_book_has(book, name.text)) /* which other files have */
            calendar_definition_release(&definition);
        else if (st == OK)
            st = calendar_book_add(book, name.text, &definition);
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

enum exit_code calendars_of_folder(struct calendar_book *book, const char *folder,
                                   struct zone_db *zones)
{
    struct dirent **entries;
    enum exit_code worst = EXIT_OK;
    book->missing = tell_missing;
    if (!folder)
        return EXIT_OK;
    int count = scandir(folder, &entries, is_calendar_file, alphasort);
    if (count < 0) {
        cli_error("can't read %s: %m", folder);
        return EXIT_ERROR;
    }
    for (int i = 0; i < count; i++) {
        enum exit_code code = read_file(book, folder, entries[i]->d_name, zones);
        if (code != EXIT_OK)
            worst = code;
        free(entries[i]);
    }
    free(entries);
    return worst;
}
