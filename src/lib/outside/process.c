#include "outside/process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "document/node.h"

/* ---- the definition ---- */

/* What an author writes as YAML or JSON. NULL: *why, or out of memory. */
static json_t *read_text(const char *text, const char *member, struct strbuf *why)
{
    struct parse_error error = {0};
    const struct node *documents;
    struct tree tree;
    json_t *value = NULL;
    tree_init(&tree);
    enum status st = tree_from_yaml(&tree, text, strlen(text), &documents, &error);
    if (st == OK && documents->count == 1)
        value = node_to_json(documents->entries->value);
    else if (st == OK)
        strbuf_addf(why, "%s is not one document of YAML", member);
    else
        strbuf_addf(why, "%s: %s (at character %d)", member, error.message, error.column);
    tree_release(&tree);
    return value;
}

/* NULL: the field is not one of a process. */
static const struct field *process_field(const char *name)
{
    for (const struct field *field = job_fields; field->name; field++) {
        bool is_env = field->kind == FIELD_PAIRS && field->offset == offsetof(struct job, env);
        if (strcmp(field->name, name) == 0)
            return field->of_process || is_env ? field : NULL;
    }
    return NULL;
}

/* The library itself can set these two for a command. */
static bool needs_spawner(const struct field *field)
{
    return field->offset != offsetof(struct job, env) && field->offset != offsetof(struct job, cwd);
}

static enum status lacks(const char *what, const char *tool, struct strbuf *why)
{
    strbuf_addf(why,
                "%s needs %s, which is not installed here: install peal, or name the folder of its "
                "programs with .bin or PEAL_BIN",
                what, tool);
    return E_INVALID;
}

/* Fields of a process into `process`, the others as lines into `rest`. */
static enum status split_more(const char *more, const struct tools *tools, json_t *process,
                              struct strbuf *rest, struct strbuf *why)
{
    const char *name;
    json_t *value, *all = more ? read_text(more, ".more", why) : NULL;
    enum status st = OK;
    if (!more)
        return OK;
    if (all && !json_is_object(all)) {
        strbuf_adds(why, ".more is no list of fields");
        st = E_INVALID;
    }
    json_object_foreach (all, name, value) {
        const struct field *field = process_field(name);
        if (st == OK && field && needs_spawner(field) && !tools->spawn)
            st = lacks(name, "peal-spawn", why);
        if (field && json_object_set(process, name, value) != 0)
            st = E_NOMEM;
        if (field)
            continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        strbuf_addf(rest, "\"%s\": %s\n", name, text ? text : "null");
        free(text);
    }
    json_decref(all);
    return all ? st : why->length ? E_INVALID : E_NOMEM;
}

/* A URL alone, or the fields of a call. */
static json_t *read_http(const char *http, struct strbuf *why)
{
    bool is_map = http[strspn(http, " \t\r\n")] == '{' || strchr(http, '\n');
    return is_map ? read_text(http, ".http", why) : json_string(http);
}

static enum status decode(const json_t *value, struct zone_db *zones, struct job **ret,
                          struct strbuf *why)
{
    struct job_error error = {0};
    enum status st = job_decode_json(value, false, "UTC", zones, ret, &error);
    if (st == E_INVALID)
        strbuf_adds(why, error.message);
    return st;
}

enum status process_define(const peal_job *job, const struct tools *tools, struct zone_db *zones,
                           struct strbuf *rest, struct job **ret, struct strbuf *why)
{
    if (job->http && !tools->call)
        return lacks("an HTTP call", "peal-call", why);
    json_t *what = job->http ? read_http(job->http, why) : json_string(job->command);
    json_t *value = json_pack("{s:s, s:s}", "name", job->name, "schedule", "@manual");
    enum status st = what && value ? OK : why->length ? E_INVALID : E_NOMEM;
    if (st == OK && json_object_set(value, job->http ? "http" : "shell", what) != 0)
        st = E_NOMEM;
    if (st == OK)
        st = split_more(job->more, tools, value, rest, why);
    if (st == OK)
        st = decode(value, zones, ret, why);
    json_decref(what);
    json_decref(value);
    return st;
}

/* ---- one run ---- */

/* Of a run that this program is itself: they are another's. */
static bool is_of_run(const char *entry)
{
    static const char *const names[] = {
        "PEAL_JOB=",   "PEAL_RUN_ID=", "PEAL_TICK=",   "PEAL_ATTEMPT=", "PEAL_FENCE=",
        "PEAL_NODE=",  "PEAL_GRACE=",  "PEAL_PARAM_",  "PEAL_PART",     "PEAL_SHARD",
        "PEAL_AFTER_", "PEAL_INPUT",   "PEAL_WEBHOOK", "TRACEPARENT=",  "TRACESTATE="};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static enum status add_environment(struct job_pairs *env)
{
    enum status st = OK;
    for (char **entry = environ; st == OK && entry && *entry; entry++) {
        const char *value = strchr(*entry, '=');
        if (!value || value == *entry || is_of_run(*entry))
            continue;
        char *name = strndup(*entry, (size_t)(value - *entry));
        st = name ? job_pairs_add(env, name, value + 1) : E_NOMEM;
        free(name);
    }
    return st;
}

enum status process_run_init(struct process_run *run, const struct job *process,
                             const struct job *stored)
{
    *run = (struct process_run){.job = *process};
    run->script = process->script ? strdup(process->script) : NULL;
    run->cwd = process->cwd ? strdup(process->cwd) : getcwd(NULL, 0);
    enum status st = process->script && !run->script ? E_NOMEM : OK;
    if (st == OK)
        st = add_environment(&run->env);
    for (size_t i = 0; st == OK && i < process->env.count; i++)
        st = job_pairs_add(&run->env, process->env.items[i].name, process->env.items[i].value);
    run->job.script = run->script;
    run->job.cwd = run->cwd;
    run->job.env = run->env;
    run->job.name = stored->name;
    run->job.timeout_s = stored->timeout_s;
    run->job.grace_s = stored->grace_s;
    run->job.output_limit = stored->output_limit;
    run->job.params = stored->params;
    run->job.body = stored->body;
    if (st != OK)
        process_run_release(run);
    return st;
}

void process_run_release(struct process_run *run)
{
    job_pairs_release(&run->env);
    free(run->script);
    free(run->cwd);
    *run = (struct process_run){0};
}
