#include "jobs/job_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/after_check.h"
#include "definition/job_warning.h"
#include "server.h"
#include "text/json_text.h"

/* ---- one job ---- */

/* Is the JSON string this text? */
static bool is_text(const struct json_span *value, const char *text)
{
    if (value->length < 2 || *value->text != '"')
        return false;
    if (!memchr(value->text, '\\', value->length))
        return strlen(text) == value->length - 2 &&
               memcmp(value->text + 1, text, value->length - 2) == 0;
    json_t *string = json_loadb(value->text, value->length, JSON_DECODE_ANY, NULL);
    bool is_same = json_is_string(string) && strcmp(json_string_value(string), text) == 0;
    json_decref(string);
    return is_same;
}

bool job_has_label(const char *definition, const char *label, const char *value)
{
    struct json_span labels, there;
    return json_text_get(definition, "labels", &labels) &&
           json_text_get(labels.text, label, &there) && (!value || is_text(&there, value));
}

static bool has_owner(const struct job_filter *filter, const char *definition)
{
    struct json_span owner;
    return json_text_get(definition, "owner", &owner) && is_text(&owner, filter->owner);
}

static bool string_has(const json_t *text, const char *q)
{
    const char *words = json_string_value(text);
    return words && strcasestr(words, q);
}

/* Does the string, one of a list, or the URL of a call contain the text? */
static bool member_has(const char *definition, const char *name, const char *q)
{
    struct json_span span;
    size_t i;
    const json_t *word;
    if (!json_text_get(definition, name, &span))
        return false;
    json_t *value = json_loadb(span.text, span.length, JSON_DECODE_ANY, NULL);
    bool has = string_has(value, q) || string_has(json_object_get(value, "url"), q) ||
               string_has(json_object_get(value, "program"), q) ||
               string_has(json_object_get(value, "name"), q);
    json_array_foreach (value, i, word) {
        has |= string_has(word, q);
    }
    json_decref(value);
    return has;
}

static bool definition_has(const struct job_filter *filter, const char *definition)
{
    return strcasestr(definition, filter->q_in_json) &&
           (member_has(definition, "command", filter->q) ||
            member_has(definition, "shell", filter->q) ||
            member_has(definition, "http", filter->q) ||
            member_has(definition, "function", filter->q) ||
            member_has(definition, "notes", filter->q));
}

static bool is_broken(const struct job_filter *filter, const struct catalog_job *job)
{
    return job->broken || after_missing(engine_catalog(filter->engine), job);
}

bool job_has_status(const struct job_filter *filter, const struct catalog_job *job,
                    enum job_status status)
{
    bool has_run = job->last.ended_ms != 0;
    switch (status) {
    case STATUS_ANY:
        return true;
    case IS_OK:
        return has_run && job->last.state == RUN_OK;
    case IS_FAILED: /* what was killed on purpose has not failed */
        return has_run && job->last.state != RUN_OK && job->last.state != RUN_KILLED;
    case IS_NEVER:
        return !has_run;
    case IS_RUNNING:
        return job->open_runs > 0;
    case IS_PAUSED:
        return job->paused;
    case IS_BROKEN:
        return is_broken(filter, job);
    case IS_WARNING: /* as it is shown: what is broken has no warning */
        return job_warning_reason(filter->engine, job) && !is_broken(filter, job);
    }
    return false;
}

static bool is_in_folder(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    return strncmp(name, folder, length) == 0 && name[length] == '/';
}

/* Every word, in any order. */
static bool has_words(const char *words, const char *name)
{
    char word[JOB_NAME_SIZE];
    for (const char *at = words + strspn(words, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        if (length >= sizeof(word))
            return false;
        snprintf(word, sizeof(word), "%.*s", (int)length, at);
        if (!strcasestr(name, word))
            return false;
        at += length;
    }
    return true;
}

bool job_filter_takes(const struct job_filter *filter, const struct catalog_job *job)
{
    return job_has_status(filter, job, filter->status) &&
           (!filter->folder || is_in_folder(filter->folder, job->name)) &&
           (!filter->words || has_words(filter->words, job->name)) &&
           (!filter->node || job_nodes_have(&filter->nodes, job, filter->node_mark)) &&
           (!filter->owner || has_owner(filter, job->json)) &&
           (!filter->label || job_has_label(job->json, filter->label, filter->value)) &&
           (!filter->q || strcasestr(job->name, filter->q) || definition_has(filter, job->json));
}

/* ---- what is asked ---- */

bool param_choice(const struct call *call, const char *name, const char *const *words, int *inout)
{
    const char *text = query_get(&call->query, name);
    for (int i = 0; text && words[i]; i++) {
        if (*words[i] && strcmp(words[i], text) == 0) {
            *inout = i;
            return true;
        }
    }
    return !text;
}

const char *const job_status_names[] = {"",       "ok",     "failed",  "never", "running",
                                        "paused", "broken", "warning", NULL};

static bool read_status(struct call *call, struct job_filter *filter)
{
    int status = STATUS_ANY;
    if (!param_choice(call, "status", job_status_names, &status)) {
        call_fail_word(call, "?status", query_get(&call->query, "status"),
                       "ok,failed,never,running,paused,broken,warning",
                       "status: expected ok, failed, never, running, paused, broken or warning");
        return false;
    }
    filter->status = (enum job_status)status;
    return true;
}

static bool read_label(struct call *call, struct job_filter *filter)
{
    const char *text = query_get(&call->query, "label");
    if (!text)
        return true;
    filter->label = strdup(text);
    if (!filter->label) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    char *equals = strchr(filter->label, '=');
    if (equals) {
        *equals = '\0';
        filter->value = equals + 1;
    }
    if (*filter->label)
        return true;
    call_fail_at(call, "?label", "label: expected name=value, or name alone");
    return false;
}

static bool read_text(struct call *call, struct job_filter *filter)
{
    const char *text = query_get(&call->query, "q");
    struct strbuf quoted;
    if (!text || !*text)
        return true;
    strbuf_init(&quoted);
    json_text_quote(&quoted, text);
    filter->q = strdup(text);
    filter->q_in_json = quoted.length ? strndup(quoted.text + 1, quoted.length - 2) : NULL;
    strbuf_release(&quoted);
    if (filter->q && filter->q_in_json)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

static bool read_node(struct call *call, struct job_filter *filter)
{
    filter->node = query_get(&call->query, "node");
    if (!filter->node)
        return true;
    filter->node_mark = node_mark(filter->node);
    return call_check(call, job_nodes_read(call, &filter->nodes), NULL);
}

bool job_filter_read(struct call *call, struct job_filter *filter)
{
    filter->owner = query_get(&call->query, "owner");
    filter->folder = query_get(&call->query, "folder");
    filter->words = query_get(&call->query, "words");
    filter->engine = call->api->ports.engine;
    return read_label(call, filter) && read_text(call, filter) && read_status(call, filter) &&
           read_node(call, filter);
}

void job_filter_release(struct job_filter *filter)
{
    free(filter->q);
    free(filter->q_in_json);
    free(filter->label);
    job_nodes_release(&filter->nodes);
}
