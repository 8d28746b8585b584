#include "jobs/definition.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/when.h"
#include "definition/job_fields.h"
#include "jobs/input_file.h"

/* ---- what reading needs ---- */

static const struct table_type names_type = {.key_at = offsetof(struct job, name),
                                             .is_pointer = true};

enum exit_code reading_init(struct reading *reading, struct client *client)
{
    const char *dir = getenv("TZDIR");
    json_t *agent = NULL;
    *reading = (struct reading){0};
    strbuf_init(&reading->default_tz);
    table_init(&reading->names, &names_type);
    enum status st = zone_db_new(dir && *dir ? dir : NULL, &reading->zones);
    if (st != OK)
        return cli_fail(st);
    if (client) {
        enum exit_code code = client_get(client, "/agent", &agent);
        if (code != EXIT_OK)
            return code;
        strbuf_adds(&reading->default_tz, answer_text(agent, "timezone"));
        json_decref(agent);
    }
    if (reading->default_tz.length == 0)
        zone_db_local_name(reading->zones, &reading->default_tz);
    return cli_fail(strbuf_status(&reading->default_tz));
}

void reading_release(struct reading *reading)
{
    zone_db_free(reading->zones);
    strbuf_release(&reading->default_tz);
    table_release(&reading->names);
    *reading = (struct reading){0};
}

/* ---- files ---- */

/* "FILE:4:13: message", the line, and a caret. */
static void job_error_print(const char *name, const char *text, const struct job_error *err)
{
    struct parse_error place = {.column = err->column};
    const char *line = text;
    char where[512];
    snprintf(place.message, sizeof(place.message), "%s", err->message);
    if (err->line == 0) {
        cli_error("%s: %s", name, err->message);
        return;
    }
    for (int i = 1; i < err->line && line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    snprintf(where, sizeof(where), "%s:%d:%d", name, err->line, err->column);
    char *copy = strndup(line ? line : "", line ? strcspn(line, "\r\n") : 0);
    cli_parse_error(where, copy ? copy : "", &place);
    free(copy);
}

static enum status take_over(struct reading *reading, struct job_list *from, struct job_list *to)
{
    if (from->count == 0)
        return OK;
    struct job **items = reallocarray(to->items, to->count + from->count, sizeof(struct job *));
    if (!items)
        return E_NOMEM;
    memcpy(items + to->count, from->items, from->count * sizeof(struct job *));
    to->items = items;
    to->count += from->count;
    enum status st = OK;
    for (size_t i = 0; i < from->count && st == OK; i++)
        st = table_insert(&reading->names, from->items[i]);
    from->count = 0;
    return st;
}

const struct job *definitions_find(const struct reading *reading, const char *name)
{
    return table_find(&reading->names, name);
}

/* Duplicates across files; the decoder finds those within one. */
static enum exit_code refuse_doubles(const struct reading *reading, const char *name,
                                     const struct job_list *more)
{
    for (size_t i = 0; i < more->count; i++) {
        const char *job = more->items[i]->name;
        if (!definitions_find(reading, job))
            continue;
        cli_error("%s: job %s is defined twice", name, job);
        return EXIT_INVALID;
    }
    return EXIT_OK;
}

enum exit_code definitions_read_text(struct reading *reading, const char *name, const char *text,
                                     size_t length, struct job_list *jobs)
{
    struct job_list list;
    struct job_error err = {0};
    job_list_init(&list);
    enum status st =
        jobs_decode_text(text, length, reading->default_tz.text, reading->zones, &list, &err);
    enum exit_code code;
    if (st == E_INVALID || st == E_TOO_LARGE) {
        job_error_print(name, text, &err);
        code = EXIT_INVALID;
    } else {
        code = cli_fail(st);
    }
    if (code == EXIT_OK)
        code = refuse_doubles(reading, name, &list);
    if (code == EXIT_OK)
        code = cli_fail(take_over(reading, &list, jobs));
    job_list_release(&list);
    return code;
}

static enum exit_code read_file(struct reading *reading, const char *path, struct job_list *jobs)
{
    struct strbuf text;
    strbuf_init(&text);
    enum exit_code code = input_file_read(path, &text);
    if (code == EXIT_OK)
        code = definitions_read_text(reading, strcmp(path, "-") == 0 ? "stdin" : path, text.text,
                                     text.length, jobs);
    strbuf_release(&text);
    return code;
}

static int is_job_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot &&
           (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".json"));
}

/* Every file is read, so that all mistakes are seen at once. */
static enum exit_code read_folder(struct reading *reading, const char *path, struct job_list *jobs)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_job_file, alphasort);
    enum exit_code worst = EXIT_OK;
    if (count < 0) {
        cli_error("can't read %s: %m", path);
        return EXIT_ERROR;
    }
    if (count == 0)
        cli_note("%s has no *.yaml, *.yml or *.json", path);
    for (int i = 0; i < count; i++) {
        struct strbuf file;
        strbuf_init(&file);
        strbuf_addf(&file, "%s/%s", path, entries[i]->d_name);
        enum exit_code code = read_file(reading, file.text, jobs);
        if (code != EXIT_OK)
            worst = code;
        strbuf_release(&file);
        free(entries[i]);
    }
    free(entries);
    return worst;
}

enum exit_code definitions_read(struct reading *reading, const char *const *paths, size_t count,
                                struct job_list *jobs)
{
    enum exit_code worst = EXIT_OK;
    for (size_t i = 0; i < count; i++) {
        const char *path = paths[i];
        struct stat info;
        bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
        enum exit_code code =
            folder ? read_folder(reading, path, jobs) : read_file(reading, path, jobs);
        if (code != EXIT_OK)
            worst = code;
    }
    if (worst == EXIT_OK && jobs->count == 0) {
        cli_error("there are no jobs in %s", paths[0]);
        worst = EXIT_INVALID;
    }
    return worst;
}

/* ---- jobs of the API ---- */

/* Only the fields that people write. NULL: out of memory. */
static json_t *written_fields(const json_t *api_job)
{
    json_t *definition = json_object();
    for (const struct field *field = job_fields; definition && field->name; field++) {
        json_t *value = json_object_get(api_job, field->name);
        if (!value || field->meta)
            continue;
        if (json_object_set(definition, field->name, value) != 0) {
            json_decref(definition);
            return NULL;
        }
    }
    return definition;
}

enum status definition_decode(const struct reading *reading, const json_t *api_job,
                              struct job **ret)
{
    struct job_error err = {0};
    json_t *definition = written_fields(api_job);
    if (!definition)
        return E_NOMEM;
    enum status st =
        job_decode_json(definition, false, reading->default_tz.text, reading->zones, ret, &err);
    json_decref(definition);
    if (st == E_INVALID)
        cli_error("job %s: %s", answer_text(api_job, "name"), err.message);
    return st;
}

enum status definition_yaml(const struct reading *reading, const json_t *api_job,
                            struct strbuf *out)
{
    struct job *job;
    enum status st = definition_decode(reading, api_job, &job);
    if (st != OK)
        return st;
    st = job_encode_yaml(job, out);
    job_free(job);
    return st;
}

bool definition_is_pruned(const struct reading *reading, const json_t *api_job)
{
    return json_is_string(json_object_get(api_job, "applied_at")) &&
           !definitions_find(reading, answer_text(api_job, "name"));
}

void definition_after(const json_t *api_job, struct strbuf *out)
{
    const json_t *after;
    size_t i;
    json_array_foreach (json_object_get(api_job, "after"), i, after) {
        const char *on = answer_text(after, "on");
        strbuf_addf(out, "%s%s", i ? ", " : "after ", answer_text(after, "job"));
        if (*on)
            strbuf_addf(out, " (%s)", on);
    }
}

void definition_schedules(const json_t *api_job, struct strbuf *out)
{
    const json_t *one = json_object_get(api_job, "schedule"), *each;
    const json_t *list = json_object_get(api_job, "schedules");
    size_t i;
    if (json_is_string(one))
        strbuf_adds(out, json_string_value(one));
    json_array_foreach (list, i, each) {
        strbuf_addf(out, "%s%s", i ? "; " : "",
                    json_is_string(each) ? json_string_value(each) : "");
    }
    definition_after(api_job, out);
}
