#include "definition/job_secrets.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "document/node.h"
#include "strbuf.h"
#include "text/json_text.h"

/* Is it the name of a secret variable, like PASSWORD or API_TOKEN? `name` need not end with a NUL.
 * A name with a JSON escape, which peal never writes, counts as secret. */
static bool is_secret_name(const char *name, size_t length)
{
    static const char *const words[] = {"secret",        "passw",   "token",   "credential",
                                        "apikey",        "api_key", "api-key", "private_key",
                                        "authorization", "cookie",  "\\"};
    for (size_t at = 0; at < length; at++) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            size_t size = strlen(words[i]);
            if (size <= length - at && strncasecmp(name + at, words[i], size) == 0)
                return true;
        }
    }
    return false;
}

/* ---- masking ---- */

static void write_variables(struct strbuf *out, const char *env)
{
    struct json_member variable;
    bool is_first = true;
    strbuf_addc(out, '{');
    while (json_text_next(&env, &variable)) {
        strbuf_adds(out, is_first ? "" : ",");
        strbuf_add(out, variable.name.text, variable.name.length);
        strbuf_addc(out, ':');
        if (is_secret_name(variable.name.text, variable.name.length))
            strbuf_adds(out, "\"" SECRET_MASK "\"");
        else
            strbuf_add(out, variable.value.text, variable.value.length);
        is_first = false;
    }
    strbuf_addc(out, '}');
}

/* The fields of a group that is written as a map (one in place of a group is never secret), or of a
 * step: `fields` NULL. */
static void write_map(struct strbuf *out, const struct field *fields, const char *map)
{
    struct json_member member;
    const struct field *next = fields;
    bool is_first = true;
    strbuf_addc(out, '{');
    while (json_text_next(&map, &member)) {
        const char *name = member.name.text + 1; /* names are in quotes */
        size_t length = member.name.length - 2;
        const struct field *field =
            fields ? field_find(fields, &next, name, length) : step_field_find(name, length);
        strbuf_adds(out, is_first ? "" : ",");
        strbuf_add(out, member.name.text, member.name.length);
        strbuf_addc(out, ':');
        secrets_write(out, field, &member, SECRETS_MASKED);
        is_first = false;
    }
    strbuf_addc(out, '}');
}

static bool is_of_steps(const struct field *field)
{
    return field->kind == FIELD_STEPS || field->kind == FIELD_FINALLY;
}

/* Anything but a list of maps, as only a damaged definition has it, may be secret. */
static void write_steps(struct strbuf *out, const struct json_span *list)
{
    const char *at = list->text;
    struct json_span step;
    char before = '[';
    if (*at != '[') {
        strbuf_adds(out, "\"" SECRET_MASK "\"");
        return;
    }
    for (; json_text_item(&at, &step); before = ',') {
        strbuf_addc(out, before);
        if (*step.text == '{')
            write_map(out, NULL, step.text);
        else
            strbuf_adds(out, "\"" SECRET_MASK "\"");
    }
    strbuf_adds(out, before == '[' ? "[]" : "]");
}

static bool has_secrets(const struct field *fields)
{
    for (; fields->name; fields++) {
        if (fields->secret)
            return true;
    }
    return false;
}

void secrets_write(struct strbuf *out, const struct field *field, const struct json_member *member,
                   enum secrets secrets)
{
    bool is_map = *member->value.text == '{';
    bool is_secret =
        field ? field->secret : memchr(member->name.text, '\\', member->name.length) != NULL;
    if (secrets != SECRETS_CLEAR && field && field->kind == FIELD_GROUP && is_map &&
        has_secrets(field->fields))
        write_map(out, field->fields, member->value.text);
    else if (secrets != SECRETS_CLEAR && field && is_of_steps(field))
        write_steps(out, &member->value);
    else if (!is_secret || secrets == SECRETS_CLEAR)
        strbuf_add(out, member->value.text, member->value.length);
    else if (field && field->kind == FIELD_PAIRS && is_map)
        write_variables(out, member->value.text);
    else
        strbuf_adds(out, "\"" SECRET_MASK "\"");
}

/* ---- restoring ---- */

static bool is_mask(const json_t *value)
{
    return json_is_string(value) && strcmp(json_string_value(value), SECRET_MASK) == 0;
}

static bool node_is_mask(const struct node *value)
{
    return value->kind == NODE_SCALAR && strcmp(value->text, SECRET_MASK) == 0;
}

static bool has_masks(const struct node *pairs)
{
    const struct entry *pair = pairs->kind == NODE_MAP ? pairs->entries : NULL;
    for (; pair; pair = pair->next) {
        if (node_is_mask(pair->value) && is_secret_name(pair->key->text, pair->key->length))
            return true;
    }
    return false;
}

static bool are_masked(const struct field *fields, const struct node *map);

static bool is_masked(const struct field *field, const struct node *value)
{
    if (field->kind == FIELD_GROUP)
        return are_masked(field->fields, value);
    if (is_of_steps(field)) {
        const struct entry *step = value->kind == NODE_LIST ? value->entries : NULL;
        for (; step; step = step->next) {
            if (are_masked(NULL, step->value))
                return true;
        }
        return false;
    }
    return field->secret && (field->kind == FIELD_PAIRS ? has_masks(value) : node_is_mask(value));
}

/* `fields` NULL: of a step. A definition is not deeper than its tables.
 * NOLINTNEXTLINE(misc-no-recursion) */
static bool are_masked(const struct field *fields, const struct node *map)
{
    const struct field *next = fields;
    const struct entry *entry = map->kind == NODE_MAP ? map->entries : NULL;
    for (; entry; entry = entry->next) {
        const char *name = entry->key->text;
        size_t length = entry->key->length;
        const struct field *field =
            fields ? field_find(fields, &next, name, length) : step_field_find(name, length);
        if (field && is_masked(field, entry->value))
            return true;
    }
    return false;
}

bool secrets_are_masked(const struct node *definition)
{
    return are_masked(job_fields, definition);
}

static enum status fail_mask(struct job_error *reterr, const char *where, const char *name)
{
    *reterr = (struct job_error){0};
    snprintf(reterr->path, sizeof(reterr->path), "/%s%s%.100s", where, *name ? "/" : "", name);
    snprintf(reterr->message, sizeof(reterr->message),
             "%s: asterisks stand for a secret that is there already, and here is none", where);
    return E_INVALID;
}

/* Replaces the mask of `name` in `into` by the value in `from`. */
static enum status restore(json_t *into, const json_t *from, const char *name, const char *where,
                           struct job_error *reterr)
{
    json_t *kept = json_object_get(from, name);
    if (!json_is_string(kept))
        return fail_mask(reterr, where, strcmp(where, name) == 0 ? "" : name);
    return json_object_set(into, name, kept) == 0 ? OK : E_NOMEM;
}

static enum status restore_pairs(json_t *pairs, const json_t *stored, const char *where,
                                 struct job_error *reterr)
{
    json_t *value;
    const char *name;
    void *next;
    enum status st = OK;
    json_object_foreach_safe(pairs, next, name, value)
    {
        if (st == OK && is_mask(value) && is_secret_name(name, strlen(name)))
            st = restore(pairs, stored, name, where, reterr);
    }
    return st;
}

static enum status restore_fields(const struct field *fields, json_t *map, const json_t *stored,
                                  struct job_error *reterr);

/* One field of a map. NOLINTNEXTLINE(misc-no-recursion) */
static enum status restore_field(const struct field *field, json_t *map, const json_t *stored,
                                 struct job_error *reterr)
{
    const char *name = field->name;
    json_t *value = json_object_get(map, name);
    if (field->kind == FIELD_GROUP && json_is_object(value))
        return restore_fields(field->fields, value, json_object_get(stored, name), reterr);
    if (field->secret && field->kind == FIELD_PAIRS)
        return restore_pairs(value, json_object_get(stored, name), name, reterr);
    if (field->secret && is_mask(value))
        return restore(map, stored, name, name, reterr);
    return OK;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static enum status restore_fields(const struct field *fields, json_t *map, const json_t *stored,
                                  struct job_error *reterr)
{
    enum status st = OK;
    for (const struct field *field = fields; field->name && st == OK; field++)
        st = restore_field(field, map, stored, reterr);
    return st;
}

/* The stored step of this name, wherever it was; NULL: none. */
static const json_t *find_step(const json_t *stored, const char *name)
{
    static const char *const lists[] = {"steps", "finally"};
    size_t i;
    json_t *step;
    for (int list = 0; name && list < 2; list++) {
        json_array_foreach (json_object_get(stored, lists[list]), i, step) {
            const char *there = json_string_value(json_object_get(step, "name"));
            if (there && strcmp(there, name) == 0)
                return step;
        }
    }
    return NULL;
}

/* A step that is renamed loses its secrets, and asterisks for them are an error. */
static enum status restore_step(json_t *step, const json_t *stored, struct job_error *reterr)
{
    const json_t *there = find_step(stored, json_string_value(json_object_get(step, "name")));
    enum status st = restore_fields(step_fields, step, there, reterr);
    for (const struct field *field = job_fields; field->name && st == OK; field++) {
        if (field_is_of_step(field))
            st = restore_field(field, step, there, reterr);
    }
    return st;
}

static enum status restore_steps(const json_t *definition, const char *list, const json_t *stored,
                                 struct job_error *reterr)
{
    enum status st = OK;
    size_t i;
    json_t *step;
    json_array_foreach (json_object_get(definition, list), i, step) {
        if (st == OK)
            st = restore_step(step, stored, reterr);
        if (st != E_INVALID)
            continue;
        struct job_error inner = *reterr;
        snprintf(reterr->path, sizeof(reterr->path), "/%s/%zu%.60s", list, i, inner.path);
        snprintf(reterr->message, sizeof(reterr->message), "%s[%zu].%.200s", list, i,
                 inner.message);
        return st;
    }
    return st;
}

enum status secrets_restore(json_t *definition, const char *stored, struct job_error *reterr)
{
    json_t *there = stored ? json_loads(stored, 0, NULL) : NULL;
    enum status st = restore_fields(job_fields, definition, there, reterr);
    if (st == OK)
        st = restore_steps(definition, "steps", there, reterr);
    if (st == OK)
        st = restore_steps(definition, "finally", there, reterr);
    json_decref(there);
    return st;
}
