/* A job as dkron shows it. */
#include <stdlib.h>
#include <string.h>

#include "facade/facade_dkron_http.h"
#include "facade/facade_dkron_job.h"
#include "runs/encode.h"

static void quote_word(const char *word, struct strbuf *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-_./:=,@%+";
    if (*word && strspn(word, plain) == strlen(word)) {
        strbuf_adds(out, word);
        return;
    }
    strbuf_addc(out, '\'');
    for (; *word; word++)
        strbuf_adds(out, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    strbuf_addc(out, '\'');
}

void command_join(const json_t *words, struct strbuf *out)
{
    for (size_t i = 0; i < json_array_size(words); i++) {
        if (i)
            strbuf_addc(out, ' ');
        quote_word(json_string_value(json_array_get(words, i)), out);
    }
}

static json_t *share(const json_t *object, const char *name, json_t *otherwise)
{
    json_t *value = json_object_get(object, name);
    if (!value)
        return otherwise;
    json_decref(otherwise);
    return json_incref(value);
}

/* {"zone":"eu:1"} of "zone=eu", by `spread` also "eu:3" and "eu"; what is no equation is left out.
 */
static json_t *show_tags(const char *where, const char *spread)
{
    json_t *tags = json_object();
    int nodes = spread ? atoi(spread) : 1; /* "3", or "all" */
    char count[16] = "";
    if (nodes)
        snprintf(count, sizeof(count), ":%d", nodes);
    while (where && *where) {
        size_t length = strcspn(where, ","), name = strcspn(where, "=!");
        if (name < length && where[name] == '=') {
            char *key = strndup(where, name);
            if (key)
                json_object_set_new(
                    tags, key,
                    json_sprintf("%.*s%s", (int)(length - name - 1), where + name + 1, count));
            free(key);
        }
        where += length + (where[length] == ',');
    }
    return tags;
}

static json_t *show_executor(const json_t *native)
{
    json_t *config = json_object();
    json_t *script = json_object_get(native, "shell");
    struct strbuf text;
    strbuf_init(&text);
    command_join(json_object_get(native, "command"), &text);
    json_object_set_new(config, "command", script ? json_incref(script) : json_string(text.text));
    json_object_set_new(config, "shell", json_string(script ? "true" : "false"));
    strbuf_reset(&text);
    const char *name;
    json_t *value;
    json_object_foreach (json_object_get(native, "env"), name, value) {
        strbuf_addf(&text, "%s%s=%s", text.length ? "," : "", name, json_string_value(value));
    }
    if (text.length)
        json_object_set_new(config, "env", json_string(text.text));
    strbuf_release(&text);
    static const char *const same[] = {"cwd", "timeout"};
    for (size_t i = 0; i < 2; i++) {
        if (json_object_get(native, same[i]))
            json_object_set(config, same[i], json_object_get(native, same[i]));
    }
    return config;
}

static void show_owner(json_t *job, const char *owner)
{
    const char *open = owner ? strrchr(owner, '<') : NULL;
    size_t name = open ? (size_t)(open - owner) : owner ? strlen(owner) : 0;
    while (open && name && owner[name - 1] == ' ')
        name--;
    json_object_set_new(job, "owner", json_stringn(owner ? owner : "", name));
    json_object_set_new(job, "owner_email",
                        open ? json_stringn(open + 1, strcspn(open + 1, ">")) : json_string(""));
}

static const char *show_schedule(const json_t *native)
{
    const json_t *many = json_object_get(native, "schedules");
    const char *text =
        json_string_value(many ? json_array_get(many, 0) : json_object_get(native, "schedule"));
    return !text ? "" : strcmp(text, "@manual") == 0 ? "@manually" : text;
}

static const char *show_parent(const json_t *native)
{
    const json_t *first = json_array_get(json_object_get(native, "after"), 0);
    const char *name = json_string_value(json_object_get(first, "job"));
    return name ? name : "";
}

static int show_retries(const json_t *native)
{
    const json_t *retries = json_object_get(native, "retries");
    const json_t *count = json_is_integer(retries) ? retries : json_object_get(retries, "count");
    return (int)json_integer_value(count);
}

json_t *dkron_show_job(const json_t *native)
{
    const json_t *status = json_object_get(native, "status");
    const json_t *last = json_object_get(status, "last");
    const json_t *overlap = json_object_get(native, "overlap");
    const char *state = json_string_value(json_object_get(last, "state"));
    const char *policy = json_string_value(overlap);
    bool is_ok = state && strcmp(state, "ok") == 0;
    json_t *name = json_object_get(native, "name");
    json_t *job = json_pack(
        "{s:O, s:O, s:o, s:s, s:o, s:b, s:o, s:o, s:i, s:s, s:n, s:{}, s:s, s:s, s:o}", "id", name,
        "name", name, "displayname", share(native, "notes", json_string("")), "schedule",
        show_schedule(native), "timezone", share(native, "timezone", json_string("")), "disabled",
        json_is_true(json_object_get(status, "paused")), "tags",
        show_tags(json_string_value(json_object_get(native, "where")),
                  json_string_value(json_object_get(native, "spread"))),
        "metadata", share(native, "labels", json_object()), "retries", show_retries(native),
        "parent_job", show_parent(native), "dependent_jobs", "processors", "concurrency",
        policy && strcmp(policy, "allow") == 0 ? "allow" : "forbid", "executor",
        json_object_get(native, "http") ? "http" : "shell", "executor_config",
        json_object_get(native, "http") ? dkron_show_http(native) : show_executor(native));
    json_t *more =
        json_pack("{s:o, s:o, s:s, s:o}", "last_success",
                  share(status, "succeeded_at", json_null()), "last_error",
                  state && !is_ok ? share(last, "finished_at", json_null()) : json_null(), "status",
                  !state  ? ""
                  : is_ok ? "success"
                          : "failed",
                  "next", share(status, "next_at", json_null()));
    if (job)
        show_owner(job, json_string_value(json_object_get(native, "owner")));
    return json_joined(job, more);
}
