#include "jobs/check/job_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_places.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

/* A job of a file. */
struct named {
    const char *name;
    const char *file;
};

struct job_source {
    char *name;
    struct strbuf text;
    struct job_places *places; /* NULL: not looked at yet */
    struct named *jobs;
};

static const struct table_type names_type = {.key_at = offsetof(struct named, name),
                                             .is_pointer = true};

void job_sources_init(struct job_sources *sources)
{
    *sources = (struct job_sources){NULL, 0, .names = {0}};
    table_init(&sources->names, &names_type);
}

void job_sources_release(struct job_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i].name);
        strbuf_release(&sources->items[i].text);
        job_places_free(sources->items[i].places);
        free(sources->items[i].jobs);
    }
    free(sources->items);
    table_release(&sources->names);
    job_sources_init(sources);
}

void job_sources_forget_jobs(struct job_sources *sources)
{
    table_release(&sources->names);
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i].jobs);
        sources->items[i].jobs = NULL;
    }
}

/* The text is parsed when it is first asked for. */
static bool find(struct job_source *source, const struct job_mistake *mistake,
                 struct job_error *ret)
{
    if (!source->places &&
        job_places_new(source->text.text, source->text.length, &source->places) != OK)
        return false;
    return job_places_find(source->places, mistake->job, mistake->field, mistake->value, &ret->line,
                           &ret->column);
}

static bool tell_in(struct job_source *source, const struct job_mistake *mistake)
{
    struct job_error err = {0};
    snprintf(err.message, sizeof(err.message), "%s", mistake->message);
    if (!find(source, mistake, &err))
        return false;
    job_error_tell(source->name, source->text.text, &err);
    return true;
}

void job_sources_tell(const struct job_sources *sources, const struct job_mistake *mistake)
{
    for (size_t i = 0; i < sources->count; i++) {
        if (tell_in(&sources->items[i], mistake))
            return;
    }
    cli_error("%s: %s", mistake->job, mistake->message);
}

void job_sources_show(const struct job_sources *sources, const char *file,
                      const struct job_error *err)
{
    const char *text = "";
    for (size_t i = 0; i < sources->count; i++) {
        if (strcmp(sources->items[i].name, file) == 0)
            text = sources->items[i].text.text;
    }
    job_error_tell(file, text, err);
}

static struct job_source *source_of(const struct job_sources *sources, const char *job)
{
    const struct named *named = table_find(&sources->names, job);
    for (size_t i = 0; named && i < sources->count; i++) {
        if (sources->items[i].name == named->file)
            return &sources->items[i];
    }
    return NULL;
}

struct source_place job_sources_place(const struct job_sources *sources, const char *job,
                                      const char *field)
{
    struct job_mistake mistake = {.job = job, .field = field};
    struct job_source *source = source_of(sources, job);
    struct job_error at = {0};
    if (!source)
        return (struct source_place){0};
    if (!find(source, &mistake, &at) && field) {
        mistake.field = NULL;
        if (!find(source, &mistake, &at))
            at = (struct job_error){0};
    }
    return (struct source_place){source->name, at.line, at.column};
}

static enum status add_text(struct job_sources *sources, const char *name, struct strbuf *text)
{
    struct job_source *items =
        reallocarray(sources->items, sources->count + 1, sizeof(*sources->items));
    char *copy = strdup(name);
    if (items)
        sources->items = items;
    if (!items || !copy) {
        free(copy);
        return E_NOMEM;
    }
    items[sources->count++] = (struct job_source){.name = copy, .text = *text};
    strbuf_init(text);
    return OK;
}

static void tell_twin(struct job_source *source, const char *job, const char *other)
{
    char message[600];
    snprintf(message, sizeof(message), tr("job \"%s\" is defined twice: in %s, too"), job, other);
    tell_in(source, &(struct job_mistake){.job = job, .message = message});
}

/* The decoder has reported twins within one file. */
enum status job_sources_add(struct job_sources *sources, const char *name, struct strbuf *text,
                            const struct job_list *jobs)
{
    struct named *named = calloc(jobs->count + 1, sizeof(*named));
    enum status st = named ? add_text(sources, name, text) : E_NOMEM;
    size_t twins = 0;
    if (st != OK) {
        free(named);
        return st;
    }
    struct job_source *source = &sources->items[sources->count - 1];
    source->jobs = named;
    for (size_t i = 0; st == OK && i < jobs->count; i++) {
        const char *job = jobs->items[i]->name;
        const struct named *other = table_find(&sources->names, job);
        named[i] = (struct named){job, source->name};
        if (!other)
            st = table_insert(&sources->names, &named[i]);
        else if (other->file != source->name && twins++ < JOB_ERRORS_MAX)
            tell_twin(source, job, other->file);
    }
    if (twins > JOB_ERRORS_MAX)
        cli_error("%s: and %zu more jobs that are defined twice", name, twins - JOB_ERRORS_MAX);
    return st == OK && twins ? E_INVALID : st;
}

bool job_sources_have(const struct job_sources *sources, const char *job)
{
    const struct job_mistake mistake = {.job = job};
    struct job_error err;
    if (table_find(&sources->names, job))
        return true;
    for (size_t i = 0; i < sources->count; i++) {
        if (find(&sources->items[i], &mistake, &err))
            return true;
    }
    return false;
}

void job_error_tell(const char *name, const char *text, const struct job_error *err)
{
    struct parse_error place = {.column = err->column};
    const char *line = text;
    char where[512];
    snprintf(place.message, sizeof(place.message), "%s", err->message);
    tr_parsed(place.message, sizeof(place.message));
    if (err->line == 0) {
        cli_error("%s: %s", name, place.message);
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
