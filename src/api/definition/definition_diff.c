#include "definition/definition_diff.h"

#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_text.h"
#include "runs/encode.h"
#include "server.h"
#include "text_diff.h"

json_t *show_definition(const char *stored, enum secrets secrets)
{
    json_error_t error = {0};
    struct strbuf text;
    strbuf_init(&text);
    definition_text_write(&text, stored, secrets);
    json_t *definition =
        strbuf_status(&text) == OK ? json_loadb(text.text, text.length, 0, &error) : NULL;
    bool is_damaged = !definition && strbuf_status(&text) == OK &&
                      json_error_code(&error) != json_error_out_of_memory;
    strbuf_release(&text);
    return is_damaged ? json_null() : definition;
}

/* ---- field by field ---- */

struct comparison {
    json_t *changes;
    bool failed;
};

/* Appends "/name" with the escapes of RFC 6901. */
static void add_to_pointer(struct strbuf *pointer, const char *name)
{
    strbuf_addc(pointer, '/');
    for (const char *c = name; *c; c++) {
        if (*c == '~' || *c == '/')
            strbuf_adds(pointer, *c == '~' ? "~0" : "~1");
        else
            strbuf_addc(pointer, *c);
    }
}

static void add_change(struct comparison *comparison, const struct strbuf *pointer,
                       const json_t *before, const json_t *after)
{
    json_t *item = strbuf_status(pointer) != OK
                       ? NULL
                       : json_pack("{s:o, s:O?, s:O?}", "pointer", json_words(pointer->text),
                                   "before", before, "after", after);
    comparison->failed |= json_array_append_new(comparison->changes, item) != 0;
}

/* Recurses into objects, whose depth the fields of a job limit; a list is compared as one value. */
static void compare(struct comparison *comparison, struct strbuf *pointer, const json_t *from,
                    const json_t *to)
{
    const char *name;
    json_t *value;
    size_t length = pointer->length;
    if (from && to && json_equal(from, to))
        return;
    if (!json_is_object(from) || !json_is_object(to)) {
        add_change(comparison, pointer, from, to);
        return;
    }
    json_object_foreach ((json_t *)from, name, value) {
        add_to_pointer(pointer, name);
        compare(comparison, pointer, value, json_object_get(to, name));
        strbuf_truncate(pointer, length);
    }
    json_object_foreach ((json_t *)to, name, value) {
        if (json_object_get(from, name))
            continue;
        add_to_pointer(pointer, name);
        compare(comparison, pointer, NULL, value);
        strbuf_truncate(pointer, length);
    }
}

json_t *definition_changes(const json_t *from, const json_t *to)
{
    struct comparison comparison = {.changes = json_array()};
    struct strbuf pointer;
    if (!comparison.changes)
        return NULL;
    strbuf_init(&pointer);
    compare(&comparison, &pointer, from, to);
    strbuf_release(&pointer);
    if (!comparison.failed)
        return comparison.changes;
    json_decref(comparison.changes);
    return NULL;
}

/* ---- line by line ---- */

static enum status print_yaml(const struct call *call, const json_t *definition, struct strbuf *out)
{
    const struct api *api = call->api;
    struct job *job = NULL;
    struct job_error error;
    enum status st =
        job_decode_json(definition, false, api->default_tz, api->ports.zones, &job, &error);
    if (st == OK)
        st = job_encode_yaml(job, out);
    job_free(job);
    return st;
}

json_t *definition_text_diff(const struct call *call, const char *from_name, const json_t *from,
                             const char *to_name, const json_t *to)
{
    struct strbuf old, new, diff;
    json_t *text = NULL;
    strbuf_init(&old);
    strbuf_init(&new);
    strbuf_init(&diff);
    enum status st = print_yaml(call, from, &old);
    if (st == OK)
        st = print_yaml(call, to, &new);
    if (st == OK)
        st = text_diff(from_name, old.text, to_name, new.text, &diff);
    if (st == OK)
        text = json_words(diff.text);
    else if (st != E_NOMEM)
        text = json_null();
    strbuf_release(&old);
    strbuf_release(&new);
    strbuf_release(&diff);
    return text;
}
