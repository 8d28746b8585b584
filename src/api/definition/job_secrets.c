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

/* The fields of a group that is written as a map; one in place of a group is never secret. */
static void write_group(struct strbuf *out, const struct field *fields, const char *map)
{
    struct json_member member;
    const struct field *next = fields;
    bool is_first = true;
    strbuf_addc(out, '{');
    while (json_text_next(&map, &member)) {
        /* Names are in quotes. */
        const struct field *field =
            field_find(fields, &next, member.name.text + 1, member.name.length - 2);
        strbuf_adds(out, is_first ? "" : ",");
        strbuf_add(out, member.name.text, member.name.length);
        strbuf_addc(out, ':');
        secrets_write(out, field, &member, SECRETS_MASKED);
        is_first = false;
    }
    strbuf_addc(out, '}');
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
        write_group(out, field->fields, member->value.text);
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

static bool are_masked(const struct field *fields, const struct node *map)
{
    const struct field *next = fields;
    const struct entry *entry = map->kind == NODE_MAP ? map->entries : NULL;
    for (; entry; entry = entry->next) {
        const struct field *field = field_find(fields, &next, entry->key->text, entry->key->length);
        if (field && field->kind == FIELD_GROUP && are_masked(field->fields, entry->value))
            return true;
        if (field && field->secret &&
            (field->kind == FIELD_PAIRS ? has_masks(entry->value) : node_is_mask(entry->value)))
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
                                  struct job_error *reterr)
{
    enum status st = OK;
    for (const struct field *field = fields; field->name && st == OK; field++) {
        const char *name = field->name;
        json_t *value = json_object_get(map, name);
        if (field->kind == FIELD_GROUP && json_is_object(value))
            st = restore_fields(field->fields, value, json_object_get(stored, name), reterr);
        else if (field->secret && field->kind == FIELD_PAIRS)
            st = restore_pairs(value, json_object_get(stored, name), name, reterr);
        else if (field->secret && is_mask(value))
            st = restore(map, stored, name, name, reterr);
    }
    return st;
}

enum status secrets_restore(json_t *definition, const char *stored, struct job_error *reterr)
{
    json_t *there = stored ? json_loads(stored, 0, NULL) : NULL;
    enum status st = restore_fields(job_fields, definition, there, reterr);
    json_decref(there);
    return st;
}
