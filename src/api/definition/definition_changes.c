#include "definition/definition_changes.h"

#include "runs/encode.h"
#include "strbuf.h"

struct comparison {
    json_t *changes;
    bool failed;
};

/* A value, and how it is shown. */
struct side {
    const json_t *value, *shown;
};

static struct side member(struct side side, const char *name)
{
    return (struct side){json_object_get(side.value, name), json_object_get(side.shown, name)};
}

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
                       struct side before, struct side after)
{
    json_t *item = strbuf_status(pointer) != OK
                       ? NULL
                       : json_pack("{s:o, s:O?, s:O?}", "pointer", json_words(pointer->text),
                                   "before", before.shown, "after", after.shown);
    comparison->failed |= json_array_append_new(comparison->changes, item) != 0;
}

/* Recurses into objects, whose depth the fields of a job limit; a list is compared as one value. */
static void compare(struct comparison *comparison, struct strbuf *pointer, struct side from,
                    struct side to)
{
    const struct side nothing = {NULL, NULL};
    const char *name;
    json_t *value;
    size_t length = pointer->length;
    if (from.value && to.value && json_equal(from.value, to.value))
        return;
    if (!json_is_object(from.value) || !json_is_object(to.value)) {
        add_change(comparison, pointer, from, to);
        return;
    }
    json_object_foreach ((json_t *)from.value, name, value) {
        add_to_pointer(pointer, name);
        compare(comparison, pointer, member(from, name), member(to, name));
        strbuf_truncate(pointer, length);
    }
    json_object_foreach ((json_t *)to.value, name, value) {
        if (json_object_get(from.value, name))
            continue;
        add_to_pointer(pointer, name);
        compare(comparison, pointer, nothing, member(to, name));
        strbuf_truncate(pointer, length);
    }
}

json_t *definition_changes_shown(const json_t *from, const json_t *shown_from, const json_t *to,
                                 const json_t *shown_to)
{
    struct comparison comparison = {.changes = json_array()};
    struct strbuf pointer;
    if (!comparison.changes)
        return NULL;
    strbuf_init(&pointer);
    compare(&comparison, &pointer, (struct side){from, shown_from}, (struct side){to, shown_to});
    strbuf_release(&pointer);
    if (!comparison.failed)
        return comparison.changes;
    json_decref(comparison.changes);
    return NULL;
}

json_t *definition_changes(const json_t *from, const json_t *to)
{
    return definition_changes_shown(from, from, to, to);
}
