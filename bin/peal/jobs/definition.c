#include "jobs/definition.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/when.h"
#include "definition/job_fields.h"
#include "jobs/git_files.h"
#include "jobs/input_file.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

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
    file_docs_release(&reading->docs);
    *reading = (struct reading){0};
}

/* ---- files ---- */

const struct job *definitions_find(const struct reading *reading, const char *name)
{
    return table_find(&reading->names, name);
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
    for (size_t i = 0; i < from->count && st == OK; i++) {
        if (!definitions_find(reading, from->items[i]->name)) /* a twin was reported */
            st = table_insert(&reading->names, from->items[i]);
    }
    from->count = 0;
    return st;
}

/* Every mistake, or the first of very many. */
static enum exit_code tell_errors(const char *name, const char *text,
                                  const struct job_errors *errors)
{
    for (size_t i = 0; i < errors->count; i++)
        job_error_tell(name, text, &errors->items[i]);
    if (errors->more)
        cli_error("%s: and %zu more mistakes", name, errors->more);
    return EXIT_INVALID;
}

static enum exit_code read_text(struct reading *reading, const char *name, struct strbuf *text,
                                struct job_list *jobs, struct job_sources *sources)
{
    struct job_list list;
    struct job_errors errors;
    job_list_init(&list);
    job_errors_init(&errors);
    struct doc_reading docs = {.docs = &reading->docs,
                               .file = name,
                               .from = reading->docs.count,
                               .zones = reading->zones,
                               .has_secrets = !reading->hides_secrets};
    const struct document_reader reader = doc_reader_of(&docs);
    enum status st = jobs_decode_file(text->text, text->length, reading->default_tz.text,
                                      reading->zones, &reading->observer, &reader, &list, &errors);
    bool is_wrong = st == E_INVALID || st == E_TOO_LARGE;
    enum exit_code code = is_wrong ? tell_errors(name, text->text, &errors) : cli_fail(st);
    if (is_wrong || st == OK)
        st = job_sources_add(sources, name, text, &list);
    if (st == E_INVALID)
        code = EXIT_INVALID;
    if (st == E_INVALID || st == OK)
        st = take_over(reading, &list, jobs);
    job_list_release(&list);
    job_errors_release(&errors);
    return st == OK ? code : cli_fail(st);
}

static enum exit_code read_file(struct reading *reading, const char *path, struct job_list *jobs,
                                struct job_sources *sources)
{
    struct strbuf text;
    strbuf_init(&text);
    enum exit_code code = input_file_read(path, &text);
    if (code == EXIT_OK)
        code = read_text(reading, strcmp(path, "-") == 0 ? "stdin" : path, &text, jobs, sources);
    strbuf_release(&text);
    return code;
}

static bool is_job_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return name[0] != '.' && dot &&
           (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".json"));
}

static int is_job_file(const struct dirent *entry)
{
    return is_job_name(entry->d_name);
}

/* Every file is read, so that all mistakes are seen at once. */
static enum exit_code read_folder(struct reading *reading, const char *path, struct job_list *jobs,
                                  struct job_sources *sources)
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
        enum exit_code code = read_file(reading, file.text, jobs, sources);
        if (code != EXIT_OK)
            worst = code;
        strbuf_release(&file);
        free(entries[i]);
    }
    free(entries);
    return worst;
}

static enum exit_code settle_docs(struct reading *reading, const struct job_sources *sources,
                                  enum exit_code worst)
{
    enum status st = file_docs_settle(&reading->docs, sources);
    return st == OK ? worst : st == E_INVALID ? EXIT_INVALID : cli_fail(st);
}

enum exit_code definitions_read(struct reading *reading, const char *const *paths, size_t count,
                                struct job_list *jobs, struct job_sources *sources)
{
    enum exit_code worst = EXIT_OK;
    for (size_t i = 0; i < count; i++) {
        const char *path = paths[i];
        struct stat info;
        bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
        enum exit_code code = folder ? read_folder(reading, path, jobs, sources)
                                     : read_file(reading, path, jobs, sources);
        if (code != EXIT_OK)
            worst = code;
    }
    if (worst == EXIT_OK && jobs->count + reading->docs.count == 0) {
        cli_error("there are no jobs in %s", paths[0]);
        worst = EXIT_INVALID;
    }
    return settle_docs(reading, sources, worst);
}

/* ---- files of a git revision ---- */

struct git_reading {
    struct reading *reading;
    struct job_list *jobs;
    struct job_sources *sources;
};

static enum exit_code read_git_text(void *context, const char *name, struct strbuf *text)
{
    struct git_reading *git = context;
    return read_text(git->reading, name, text, git->jobs, git->sources);
}

enum exit_code definitions_read_git(struct reading *reading, const char *revision,
                                    const char *const *paths, size_t count, struct job_list *jobs,
                                    struct job_sources *sources)
{
    struct git_reading git = {reading, jobs, sources};
    enum exit_code worst = EXIT_OK;
    for (size_t i = 0; i < count; i++) {
        enum exit_code code = git_files_read(revision, paths[i], is_job_name, read_git_text, &git);
        if (code != EXIT_OK)
            worst = code;
    }
    return settle_docs(reading, sources, worst);
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
    if (st == E_INVALID) {
        tr_parsed(err.message, sizeof(err.message));
        cli_error("job %s: %s", answer_text(api_job, "name"), err.message);
    }
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

const char *after_word(const char *on)
{
    return tr(on); /* TR("success"), TR("failure"), TR("always") */
}

void definition_after(const json_t *api_job, struct strbuf *out)
{
    const json_t *list = json_object_get(api_job, "after"), *after;
    struct strbuf names;
    size_t i;
    strbuf_init(&names);
    json_array_foreach (list, i, after) {
        const char *on = answer_text(after, "on");
        strbuf_addf(&names, "%s%s", i ? tr(", ") : "", answer_text(after, "job"));
        if (*on)
            strbuf_addf(&names, " (%s)", after_word(on));
    }
    if (json_array_size(list))
        strbuf_addf(out, tr("after %s"), names.text);
    out->failed = out->failed || names.failed;
    strbuf_release(&names);
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
