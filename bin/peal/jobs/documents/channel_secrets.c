#include "jobs/documents/channel_secrets.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "text/tr.h"

enum { SECRET_FILE_MAX = 16 * 1024, HEADER_POINTER = 9 /* "/headers/" */ };

/* The members that may hold a secret, besides each of the headers. */
static const struct {
    const char *name, *option;
} secrets[] = {
    {"url", "--hook-file FILE"},
    {"secret", "--secret-file FILE"},
    {"token", "--key-file FILE"},
    {"password", "--password-file FILE"},
};
enum { SECRETS_COUNT = sizeof(secrets) / sizeof(secrets[0]) };

const char *channel_secret_option(const json_t *channel, const char *pointer)
{
    const char *type = json_string_value(json_object_get(channel, "type"));
    if (strcmp(pointer, "/url") == 0 && type && strcmp(type, "mail") == 0)
        return "--smtp URL";
    if (strcmp(pointer, "/url") == 0 && type && strcmp(type, "ntfy") == 0)
        return "--hook URL";
    for (size_t i = 0; i < SECRETS_COUNT; i++) {
        if (strcmp(pointer + 1, secrets[i].name) == 0)
            return secrets[i].option;
    }
    return "--header NAME=VALUE";
}

/* ---- what a file has ---- */

/* One reference on its way to its value. */
struct lookup {
    const char *folder; /* NULL: nothing is looked up */
    json_t *holes;
    struct job_error *err;
};

static enum status fail(const struct lookup *lookup, const char *pointer, const char *message)
{
    snprintf(lookup->err->path, sizeof(lookup->err->path), "%s", pointer);
    snprintf(lookup->err->message, sizeof(lookup->err->message), "%s: %s", pointer + 1,
             tr(message));
    return E_INVALID;
}

/* The text of a file without its last line end; NULL: it can't be read, or is too long. */
static char *read_file(const char *folder, const char *name)
{
    char text[SECRET_FILE_MAX + 1];
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s%s%s", *name == '/' ? "" : folder, *name == '/' ? "" : "/", name);
    FILE *file = strbuf_status(&path) == OK ? fopen(path.text, "re") : NULL;
    strbuf_release(&path);
    size_t length = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        (void)fclose(file);
    if (!length || length > SECRET_FILE_MAX)
        return NULL;
    text[length] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return strdup(text);
}

/* The value that a reference stands for; NULL: there is none here. */
static char *look_up(const struct lookup *lookup, const char *how, const char *name)
{
    if (!lookup->folder)
        return NULL;
    if (strcmp(how, "file") == 0)
        return read_file(lookup->folder, name);
    const char *found = getenv(name);
    return found && *found ? strdup(found) : NULL;
}

/* A mask is a reference to what the agent has. */
static bool is_mask(const char *pointer, const json_t *value)
{
    const char *text = json_string_value(value);
    return text && (strcmp(pointer, "/url") == 0 ? strstr(text, CHANNEL_MASK) != NULL
                                                 : strcmp(text, CHANNEL_MASK) == 0);
}

static enum status leave_hole(const struct lookup *lookup, json_t *map, const char *name,
                              const char *pointer)
{
    json_t *value = json_object_get(map, name);
    int failed = json_object_set(lookup->holes, pointer, value);
    if (json_is_object(value))
        failed |= strcmp(pointer, "/url") == 0
                      ? json_object_del(map, name)
                      : json_object_set_new(map, name, json_string(CHANNEL_MASK));
    return failed ? E_NOMEM : OK;
}

/* One member; a text is the value itself, unless it is a mask. */
static enum status take(const struct lookup *lookup, json_t *map, const char *name,
                        const char *pointer)
{
    json_t *value = json_object_get(map, name);
    if (is_mask(pointer, value))
        return leave_hole(lookup, map, name, pointer);
    if (!json_is_object(value))
        return OK;
    const char *how = json_object_iter_key(json_object_iter(value));
    const char *what = how ? json_string_value(json_object_get(value, how)) : NULL;
    if (json_object_size(value) != 1 || !what || !*what ||
        (strcmp(how, "env") != 0 && strcmp(how, "file") != 0))
        return fail(lookup, pointer, TR("expected the value itself, {env: NAME} or {file: PATH}"));
    char *found = look_up(lookup, how, what);
    if (!found)
        return leave_hole(lookup, map, name, pointer);
    json_t *text = json_string(found);
    free(found);
    if (!text)
        return fail(lookup, pointer, TR("what it refers to is not a text"));
    return json_object_set_new(map, name, text) == 0 ? OK : E_NOMEM;
}

enum status channel_secrets_take(json_t *channel, const char *folder, json_t **ret_holes,
                                 struct job_error *reterr)
{
    json_t *headers = json_object_get(channel, "headers"), *value;
    struct lookup lookup = {folder, json_object(), reterr};
    const char *name;
    void *next;
    enum status st = lookup.holes ? OK : E_NOMEM;
    for (size_t i = 0; i < SECRETS_COUNT && st == OK; i++) {
        char pointer[16];
        snprintf(pointer, sizeof(pointer), "/%s", secrets[i].name);
        st = take(&lookup, channel, secrets[i].name, pointer);
    }
    json_object_foreach_safe(headers, next, name, value)
    {
        char pointer[HEADER_POINTER + 80];
        snprintf(pointer, sizeof(pointer), "/headers/%.64s", name);
        if (st == OK)
            st = take(&lookup, headers, name, pointer);
    }
    if (st == OK)
        *ret_holes = lookup.holes;
    else
        json_decref(lookup.holes);
    return st;
}

void channel_hole_words(const json_t *hole, struct strbuf *out)
{
    const char *variable = json_string_value(json_object_get(hole, "env"));
    const char *file = json_string_value(json_object_get(hole, "file"));
    if (variable)
        strbuf_addf(out, tr("environment variable %s"), variable);
    else if (file)
        strbuf_addf(out, tr("file %s"), file);
}

enum status channel_secrets_restore(json_t *channel, const json_t *holes)
{
    const char *pointer;
    json_t *hole;
    int failed = 0;
    json_object_foreach ((json_t *)holes, pointer, hole) {
        if (strncmp(pointer, "/headers/", HEADER_POINTER) == 0)
            failed |= json_object_set(json_object_get(channel, "headers"), pointer + HEADER_POINTER,
                                      hole);
        else
            failed |= json_object_set(channel, pointer + 1, hole);
    }
    return failed ? E_NOMEM : OK;
}

/* A URL that a channel of this type can have. */
static const char *stand_in(const json_t *channel)
{
    const char *type = json_string_value(json_object_get(channel, "type"));
    return type && strcmp(type, "mail") == 0 ? "smtps://mail.invalid" : "https://host.invalid/x";
}

json_t *channel_secrets_fill(const json_t *channel, const json_t *holes)
{
    json_t *copy = json_deep_copy(channel), *value;
    const char *pointer;
    int failed = !copy;
    json_object_foreach ((json_t *)holes, pointer, value) {
        if (strcmp(pointer, "/url") == 0)
            failed |= json_object_set_new(copy, "url", json_string(stand_in(channel)));
        else if (strncmp(pointer, "/headers/", HEADER_POINTER) == 0)
            failed |= json_object_set_new(json_object_get(copy, "headers"),
                                          pointer + HEADER_POINTER, json_string("x"));
        else
            failed |= json_object_set_new(copy, pointer + 1, json_string("x"));
    }
    if (!failed)
        return copy;
    json_decref(copy);
    return NULL;
}

/* ---- what is exported ---- */

static void add_word(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_addc(out, isalnum((unsigned char)*text) ? (char)toupper((unsigned char)*text) : '_');
}

/* "ops.eu" and "ops-eu" would have one variable. */
static enum status choose(struct strbuf *variable, json_t *used)
{
    size_t length = variable->length;
    for (int i = 2; !variable->failed && json_object_get(used, variable->text); i++) {
        strbuf_truncate(variable, length);
        strbuf_addf(variable, "_%d", i);
    }
    enum status st = strbuf_status(variable);
    if (st == OK && json_object_set_new(used, variable->text, json_true()) != 0)
        st = E_NOMEM;
    return st;
}

static enum status refer(json_t *map, const char *member, const char *channel, const char *field,
                         json_t *used)
{
    struct strbuf variable;
    strbuf_init(&variable);
    strbuf_adds(&variable, "PEAL_CHANNEL_");
    add_word(&variable, channel);
    strbuf_addc(&variable, '_');
    add_word(&variable, field);
    enum status st = choose(&variable, used);
    if (st == OK && json_object_set_new(map, member, json_pack("{s:s}", "env", variable.text)) != 0)
        st = E_NOMEM;
    strbuf_release(&variable);
    return st;
}

enum status channel_secrets_refer(json_t *channel, const char *name, json_t *used)
{
    json_t *headers = json_object_get(channel, "headers"), *value;
    const char *header;
    void *next;
    enum status st = OK;
    for (size_t i = 0; i < SECRETS_COUNT && st == OK; i++) {
        char pointer[16];
        snprintf(pointer, sizeof(pointer), "/%s", secrets[i].name);
        if (is_mask(pointer, json_object_get(channel, secrets[i].name)))
            st = refer(channel, secrets[i].name, name, secrets[i].name, used);
    }
    json_object_foreach_safe(headers, next, header, value)
    {
        struct strbuf field;
        strbuf_init(&field);
        strbuf_addf(&field, "header_%s", header);
        if (st == OK)
            st = strbuf_status(&field);
        if (st == OK && is_mask("/headers", value))
            st = refer(headers, header, name, field.text, used);
        strbuf_release(&field);
    }
    return st;
}
