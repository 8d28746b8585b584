/* A merge patch laid over a definition. */
#include "definition/job_fields.h"
#include "jobs/jobs.h"

/* RFC 7396: null removes, objects go into objects, anything else replaces. False: out of memory. */
static bool merge(json_t *into, json_t *patch)
{
    const char *name;
    json_t *value;
    json_object_foreach (patch, name, value) {
        json_t *there = json_object_get(into, name);
        if (json_is_null(value)) {
            json_object_del(into, name);
        } else if (json_is_object(value)) {
            if (!json_is_object(there) && json_object_set_new(into, name, json_object()) != 0)
                return false;
            if (!merge(json_object_get(into, name), value))
                return false;
        } else if (json_object_set(into, name, value) != 0) {
            return false;
        }
    }
    return true;
}

/* Of two fields for the same thing, the patched one replaces the other. */
static void drop_other(json_t *definition, const json_t *patch, const char *one, const char *other)
{
    if (json_object_get(patch, one) && !json_object_get(patch, other))
        json_object_del(definition, other);
    if (json_object_get(patch, other) && !json_object_get(patch, one))
        json_object_del(definition, one);
}

/* A job with a new `after` loses its schedules, and the other way round. */
static void drop_ticks(json_t *definition, const json_t *patch)
{
    const json_t *after = json_object_get(patch, "after");
    if (after && !json_is_null(after)) {
        for (const struct field *field = job_fields; field->name; field++) {
            if (field->of_ticks)
                json_object_del(definition, field->name);
        }
    } else if (json_object_get(patch, "schedule") || json_object_get(patch, "schedules")) {
        json_object_del(definition, "after");
    }
}

static bool sets(const json_t *patch, const char *name)
{
    const json_t *value = json_object_get(patch, name);
    return value && !json_is_null(value);
}

/* A job that becomes an HTTP call or a function loses what only a process has. */
static void drop_process(json_t *definition, const json_t *patch)
{
    if (!sets(patch, "http") && !sets(patch, "function"))
        return;
    for (const struct field *field = job_fields; field->name; field++) {
        if (field->of_process)
            json_object_del(definition, field->name);
    }
    if (sets(patch, "function"))
        json_object_del(definition, "env");
}

/* A job that becomes a workflow loses what its steps have instead, and the other way round. */
static void drop_work(json_t *definition, const json_t *patch)
{
    static const char *const works[] = {"command", "shell", "http", "function"};
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
        if (!sets(patch, works[i]) || sets(patch, "steps"))
            continue;
        json_object_del(definition, "kind");
        json_object_del(definition, "steps");
        json_object_del(definition, "finally");
    }
    for (const struct field *field = job_fields; field->name && sets(patch, "steps"); field++) {
        if (field->of == OF_STEP || field->of == OF_NEITHER)
            json_object_del(definition, field->name);
    }
}

/* A group that is given as the value of its first field becomes a map, into which a map can be
 * merged. False: out of memory. */
static bool open_groups(json_t *definition, const json_t *patch)
{
    for (const struct field *field = job_fields; field->name; field++) {
        json_t *there = json_object_get(definition, field->name);
        if (field->kind != FIELD_GROUP || !field->fields->alone || !there ||
            json_is_object(there) || !json_is_object(json_object_get(patch, field->name)))
            continue;
        json_t *map = json_pack("{s:O}", field->fields->name, there);
        if (!map || json_object_set_new(definition, field->name, map) != 0)
            return false;
    }
    return true;
}

bool job_patch(json_t *definition, json_t *patch)
{
    if (!open_groups(definition, patch))
        return false;
    drop_other(definition, patch, "schedule", "schedules");
    drop_other(definition, patch, "command", "shell");
    drop_other(definition, patch, "command", "http");
    drop_other(definition, patch, "shell", "http");
    drop_other(definition, patch, "command", "function");
    drop_other(definition, patch, "shell", "function");
    drop_other(definition, patch, "http", "function");
    drop_process(definition, patch);
    drop_work(definition, patch);
    drop_ticks(definition, patch);
    return merge(definition, patch);
}
