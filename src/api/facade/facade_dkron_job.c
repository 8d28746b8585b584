/* A job of dkron as a definition. */
#include "facade/facade_dkron_job.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "facade/facade_dkron_http.h"
#include "foreign/foreign_build.h"

/* ---- commands ---- */

/* One word, with its quotes and backslashes undone. False: a quote is not closed. */
static bool take_word(const char **at, struct strbuf *word)
{
    char quote = '\0';
    for (; **at && (quote || !isspace((unsigned char)**at)); (*at)++) {
        char c = **at;
        if (c == quote)
            quote = '\0';
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        else if (c == '\\' && quote != '\'' && (*at)[1])
            strbuf_addc(word, *++*at);
        else
            strbuf_addc(word, c);
    }
    return !quote;
}

json_t *command_split(const char *line)
{
    json_t *words = json_array();
    struct strbuf word;
    strbuf_init(&word);
    bool is_good = words != NULL;
    for (line += strspn(line, " \t\r\n"); *line && is_good; line += strspn(line, " \t\r\n")) {
        strbuf_reset(&word);
        is_good = take_word(&line, &word) && strbuf_status(&word) == OK &&
                  json_array_append_new(words, json_string(word.text)) == 0;
    }
    strbuf_release(&word);
    if (is_good)
        return words;
    json_decref(words);
    return NULL;
}

/* ---- from dkron ---- */

struct reading {
    const json_t *theirs;
    json_t *ours;
    struct dkron_refusal *refusal;
};

struct dkron_field;
typedef bool read_field(struct reading *reading, const struct dkron_field *field,
                        const json_t *value);

struct dkron_field {
    const char *theirs;
    read_field *read;
    const char *ours; /* or why the field is not supported */
};

static bool set(struct reading *reading, const char *name, json_t *value)
{
    return json_object_set_new(reading->ours, name, value) == 0; /* else out of memory */
}

static bool refuse(struct reading *reading, const char *pointer, const char *why)
{
    snprintf(reading->refusal->pointer, sizeof(reading->refusal->pointer), "%s", pointer);
    reading->refusal->why = why;
    return false;
}

static bool refuse_field(struct reading *reading, const struct dkron_field *field, const char *why)
{
    char pointer[80];
    snprintf(pointer, sizeof(pointer), "/%s", field->theirs);
    return refuse(reading, pointer, why);
}

static const char *text_of(const struct reading *reading, const char *name)
{
    const char *text = json_string_value(json_object_get(reading->theirs, name));
    return text && *text ? text : NULL;
}

static bool read_text(struct reading *reading, const struct dkron_field *field, const json_t *value)
{
    if (!json_is_string(value))
        return refuse_field(reading, field, "expected a text");
    return !*json_string_value(value) ||
           set(reading, field->ours, json_string(json_string_value(value)));
}

/* A field that dkron computes itself. */
static bool read_nothing(struct reading *reading, const struct dkron_field *field,
                         const json_t *value)
{
    (void)reading;
    (void)field;
    (void)value;
    return true;
}

static bool is_unset(const json_t *value)
{
    return json_is_false(value) || (json_is_integer(value) && !json_integer_value(value)) ||
           (json_is_string(value) && !*json_string_value(value)) ||
           (json_is_object(value) && !json_object_size(value)) ||
           (json_is_array(value) && !json_array_size(value));
}

static bool read_unknown(struct reading *reading, const struct dkron_field *field,
                         const json_t *value)
{
    return is_unset(value) || refuse_field(reading, field, field->ours);
}

/* Go's durations have fractions, and units in any order. */
static bool read_every(struct reading *reading, const struct dkron_field *field,
                       const char *duration)
{
    struct strbuf schedule;
    strbuf_init(&schedule);
    foreign_every(duration, &schedule);
    bool is_set =
        strbuf_status(&schedule) == OK && set(reading, field->ours, json_string(schedule.text));
    strbuf_release(&schedule);
    return is_set;
}

static bool read_schedule(struct reading *reading, const struct dkron_field *field,
                          const json_t *value)
{
    const char *text = json_string_value(value);
    if (text_of(reading, "parent_job"))
        return true; /* dkron does not look at it either */
    if (!text || !*text)
        return refuse_field(reading, field, "expected a schedule");
    if (strcmp(text, "@manually") == 0)
        text = "@manual";
    if (strcmp(text, "@minutely") == 0)
        text = "* * * * *";
    static const char every[] = "@every ";
    if (strncmp(text, every, strlen(every)) == 0)
        return read_every(reading, field, text + strlen(every));
    return set(reading, field->ours, json_string(text));
}

static bool read_parent(struct reading *reading, const struct dkron_field *field,
                        const json_t *value)
{
    if (!json_is_string(value))
        return refuse_field(reading, field, "expected a text");
    return !*json_string_value(value) ||
           set(reading, field->ours, json_pack("[s]", json_string_value(value)));
}

/* "Name <address>": peal has one field for both. */
static bool read_owner(struct reading *reading, const struct dkron_field *field,
                       const json_t *value)
{
    const char *name = text_of(reading, "owner"), *mail = text_of(reading, "owner_email");
    if (!json_is_string(value))
        return refuse_field(reading, field, "expected a text");
    if (!name && !mail)
        return true;
    return set(reading, "owner",
               !mail   ? json_string(name)
               : !name ? json_sprintf("<%s>", mail)
                       : json_sprintf("%s <%s>", name, mail));
}

static bool read_disabled(struct reading *reading, const struct dkron_field *field,
                          const json_t *value)
{
    if (!json_is_boolean(value))
        return refuse_field(reading, field, "expected true or false");
    return set(reading, field->ours, json_boolean(json_is_true(value)));
}

/* "eu:2" is the label's value and a number of nodes. No number: 0, for all that have the label. -1:
 * the number is none. */
static int read_tag(const char *text, size_t *ret_length)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    *ret_length = colon ? (size_t)(colon - text) : strlen(text);
    if (!colon)
        return 0;
    long count = strtol(colon + 1, &end, 10);
    bool is_number = isdigit((unsigned char)colon[1]) && !*end;
    return is_number && count >= 1 && count <= RUN_PARTS_MAX ? (int)count : -1;
}

/* {"zone":"eu:1"}: on one of these nodes; "eu:3": on three; "eu": on all. Of several numbers dkron
 * goes by the least. */
static bool read_tags(struct reading *reading, const struct dkron_field *field, const json_t *value)
{
    const char *name;
    json_t *item;
    struct strbuf where;
    int least = 0;
    strbuf_init(&where);
    json_object_foreach ((json_t *)value, name, item) {
        size_t length = 0;
        const char *text = json_string_value(item);
        int count = text ? read_tag(text, &length) : -1;
        if (count < 0) {
            char pointer[120];
            strbuf_release(&where);
            snprintf(pointer, sizeof(pointer), "/tags/%.100s", name);
            return refuse(reading, pointer,
                          "expected a label's value, perhaps with a number of nodes, 1 to 256: "
                          "\"eu:1\"");
        }
        least = count && (!least || count < least) ? count : least;
        strbuf_addf(&where, "%s%s=%.*s", where.length ? "," : "", name, (int)length, text);
    }
    bool is_set = !where.length || set(reading, field->ours, json_string(where.text));
    if (is_set && where.length && least != 1)
        is_set = set(reading, "spread", least ? json_sprintf("%d", least) : json_string("all"));
    strbuf_release(&where);
    return is_set;
}

static bool read_metadata(struct reading *reading, const struct dkron_field *field,
                          const json_t *value)
{
    if (!json_is_object(value))
        return refuse_field(reading, field, "expected names and values");
    return !json_object_size(value) || set(reading, field->ours, json_deep_copy(value));
}

static bool read_concurrency(struct reading *reading, const struct dkron_field *field,
                             const json_t *value)
{
    const char *text = json_string_value(value);
    bool is_forbid = text && strcmp(text, "forbid") == 0;
    if (!text || (*text && !is_forbid && strcmp(text, "allow") != 0))
        return refuse_field(reading, field, "expected allow or forbid");
    return set(reading, field->ours, json_string(is_forbid ? "skip" : "allow"));
}

/* dkron tries again at once. */
static bool read_retries(struct reading *reading, const struct dkron_field *field,
                         const json_t *value)
{
    json_int_t count = json_integer_value(value);
    if (!json_is_integer(value) || count < 0)
        return refuse_field(reading, field, "expected a number");
    return !count ||
           set(reading, field->ours, json_pack("{s:I, s:s}", "count", count, "wait", "0s"));
}

static bool read_executor(struct reading *reading, const struct dkron_field *field,
                          const json_t *value)
{
    const char *text = json_string_value(value);
    return (text && (strcmp(text, "shell") == 0 || strcmp(text, "http") == 0)) ||
           refuse_field(reading, field, "expected shell or http");
}

/* ---- its executor ---- */

static bool read_command(struct reading *reading, const struct dkron_field *field,
                         const json_t *value)
{
    const json_t *config = json_object_get(reading->theirs, "executor_config");
    const json_t *shell = json_object_get(config, "shell");
    const char *text = json_string_value(shell), *command = json_string_value(value);
    if (!command || !*command)
        return refuse_field(reading, field, "expected a command");
    if (json_is_true(shell) || (text && strcmp(text, "true") == 0))
        return set(reading, "shell", json_string(command));
    json_t *words = command_split(command);
    return words ? set(reading, field->ours, words)
                 : refuse_field(reading, field, "a quote is not closed");
}

/* "A=b,C=d" */
static bool read_env(struct reading *reading, const struct dkron_field *field, const json_t *value)
{
    const char *at = json_string_value(value);
    json_t *env = json_object();
    while (at && *at && env) {
        size_t length = strcspn(at, ","), name = strcspn(at, "=");
        char *key = name < length ? strndup(at, name) : NULL;
        if (!key || json_object_set_new(env, key, json_stringn(at + name + 1, length - name - 1))) {
            free(key);
            json_decref(env);
            return refuse_field(reading, field, "expected NAME=VALUE, with commas between");
        }
        free(key);
        at += length + (at[length] == ',');
    }
    return set(reading, field->ours, env);
}

static bool read_fields(struct reading *reading, const json_t *object,
                        const struct dkron_field *fields, const char *where);

static bool read_http(struct reading *reading, const json_t *config)
{
    const char *name = "", *why = "";
    char pointer[120];
    json_t *timeout = NULL, *http = dkron_read_http(config, &timeout, &name, &why);
    snprintf(pointer, sizeof(pointer), "/executor_config/%.80s", name);
    if (!http)
        return refuse(reading, pointer, why);
    bool done = set(reading, "http", http);
    return set(reading, "timeout", timeout) && done;
}

static bool read_executor_config(struct reading *reading, const struct dkron_field *field,
                                 const json_t *value)
{
    static const struct dkron_field fields[] = {
        {"executor_config/command", read_command, "command"},
        {"executor_config/shell", read_nothing, NULL}, /* the command looks at it */
        {"executor_config/env", read_env, "env"},
        {"executor_config/cwd", read_text, "cwd"},
        {"executor_config/timeout", read_text, "timeout"},
        {0},
    };
    if (!json_is_object(value))
        return refuse_field(reading, field, "expected names and values");
    if (strcmp(text_of(reading, "executor"), "http") == 0)
        return read_http(reading, value);
    return read_fields(reading, value, fields, "executor_config/");
}

static const struct dkron_field dkron_fields[] = {
    {"name", read_text, "name"},
    {"displayname", read_text, "notes"},
    {"schedule", read_schedule, "schedule"},
    {"timezone", read_text, "timezone"},
    {"owner", read_owner, NULL},
    {"owner_email", read_owner, NULL},
    {"disabled", read_disabled, "paused"},
    {"tags", read_tags, "where"},
    {"metadata", read_metadata, "labels"},
    {"concurrency", read_concurrency, "overlap"},
    {"executor", read_executor, NULL},
    {"executor_config", read_executor_config, NULL},
    {"starts_at", read_text, "start"},
    {"expires_at", read_text, "end"},
    {"retries", read_retries, "retries"},
    {"parent_job", read_parent, "after"},
    {"processors", read_unknown, "peal keeps all output itself, and has no processors"},
    {"ephemeral", read_unknown, "jobs stay until they are deleted; give it an expires_at"},
    {"id", read_nothing, NULL},
    {"success_count", read_nothing, NULL},
    {"error_count", read_nothing, NULL},
    {"last_success", read_nothing, NULL},
    {"last_error", read_nothing, NULL},
    {"dependent_jobs", read_nothing, NULL},
    {"status", read_nothing, NULL},
    {"next", read_nothing, NULL},
    {0},
};

/* `where`: what the names of the table begin with, besides their own. */
static bool read_fields(struct reading *reading, const json_t *object,
                        const struct dkron_field *fields, const char *where)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)object, name, value) {
        const struct dkron_field *field = fields;
        while (field->theirs && strcmp(field->theirs + strlen(where), name) != 0)
            field++;
        if (json_is_null(value))
            continue;
        if (!field->theirs) {
            char pointer[120];
            snprintf(pointer, sizeof(pointer), "/%s%.80s", where, name);
            return refuse(reading, pointer, "unknown field, or one that can't be converted");
        }
        if (!field->read(reading, field, value))
            return false;
    }
    return true;
}

json_t *dkron_convert_job(const json_t *theirs, struct dkron_refusal *refusal)
{
    struct reading reading = {.theirs = theirs, .ours = json_object(), .refusal = refusal};
    *refusal = (struct dkron_refusal){.why = NULL};
    if (!json_is_string(json_object_get(theirs, "name")))
        (void)refuse(&reading, "/name", "expected a text");
    else if (!text_of(&reading, "executor"))
        (void)refuse(&reading, "/executor", "expected shell or http");
    else if (set(&reading, "overlap", json_string("allow")) &&
             set(&reading, "paused", json_false()) &&
             read_fields(&reading, theirs, dkron_fields, ""))
        return reading.ours;
    json_decref(reading.ours);
    return NULL;
}

json_t *dkron_read_job(struct call *call, const json_t *theirs)
{
    struct dkron_refusal refusal;
    if (!json_is_object(theirs)) {
        call_fail_at(call, "", "the body must be a JSON object");
        return NULL;
    }
    json_t *ours = dkron_convert_job(theirs, &refusal);
    if (!ours && refusal.why)
        call_fail_at(call, refusal.pointer, "%s: %s", refusal.pointer + 1,
                     message_in(call->language, refusal.why));
    else if (!ours)
        call_fail(call, 500, "out of memory");
    return ours;
}
