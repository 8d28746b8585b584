/* A job as JSON: the fields that differ from the defaults, in the order of the table. */
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_decode.h"
#include "duration.h"
#include "id_json.h"
#include "timestamp.h"

/* The text of a buffer as JSON; the buffer is released. */
static json_t *take_text(struct strbuf *text)
{
    json_t *value = strbuf_status(text) == OK ? json_string(text->text) : NULL;
    strbuf_release(text);
    return value;
}

static json_t *encode_duration(int64_t seconds)
{
    struct strbuf text;
    strbuf_init(&text);
    duration_print(seconds, &text);
    return take_text(&text);
}

static json_t *encode_time(int64_t at_s)
{
    struct strbuf text;
    strbuf_init(&text);
    timestamp_print_utc(at_s, &text);
    return take_text(&text);
}

/* 1048576 -> "1MiB", 1000 -> 1000: the largest binary unit that leaves a whole number. */
static json_t *encode_size(int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    return unit ? json_sprintf("%lld%s", (long long)bytes, units[unit - 1]) : json_integer(bytes);
}

static json_t *encode_texts(char *const *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        if (json_array_append_new(list, json_string(texts[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *encode_argv(char *const *argv)
{
    size_t count = 0;
    while (argv[count])
        count++;
    return encode_texts(argv, count);
}

static json_t *encode_pairs(const struct job_pairs *pairs)
{
    json_t *map = json_object();
    for (size_t i = 0; map && i < pairs->count; i++) {
        if (json_object_set_new(map, pairs->items[i].name, json_string(pairs->items[i].value))) {
            json_decref(map);
            return NULL;
        }
    }
    return map;
}

static json_t *encode_after(const struct job_after *after, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        json_t *item = after[i].on == AFTER_SUCCESS ? json_pack("{s:s}", "job", after[i].job)
                                                    : json_pack("{s:s, s:s}", "job", after[i].job,
                                                                "on", after_on_names[after[i].on]);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The field `timezone` is not allowed beside schedules that name a zone. */
static bool zone_is_in_schedules(const struct job *job)
{
    const char *first = job->schedule_count ? job->schedules[0] : "";
    first += strspn(first, " \t\r\n");
    return strncmp(first, "CRON_TZ=", 8) == 0 || strncmp(first, "TZ=", 3) == 0;
}

/* A single name is written without a list. */
static json_t *encode_names(char *const *names)
{
    return names[0] && !names[1] ? json_string(names[0]) : encode_argv(names);
}

static json_t *encode_set(unsigned set, const char *const *words)
{
    json_t *list = json_array();
    for (unsigned i = 0; list && words[i]; i++) {
        if (set >> i & 1 && json_array_append_new(list, json_string(words[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static int64_t int64_at(const void *object, const struct field *field)
{
    return *(const int64_t *)(const void *)((const char *)object + field->offset);
}

static int int_at(const void *object, const struct field *field)
{
    return *(const int *)(const void *)((const char *)object + field->offset);
}

static const char *text_at(const void *object, const struct field *field)
{
    return *(char *const *)(const void *)((const char *)object + field->offset);
}

/* `job` is valid only for the kinds of field that only jobs have. */
static bool is_default(const void *object, const void *defaults, const struct field *field)
{
    const struct job *job = object;
    const char *at = (const char *)object + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_SCRIPT:
    case FIELD_ARGV:
    case FIELD_SELECTOR:
    case FIELD_NAMES:
        return !text_at(object, field);
    case FIELD_ZONE:
        return zone_is_in_schedules(job) || job->after_count || !job->timezone;
    case FIELD_SCHEDULE:
        return job->schedule_count != 1;
    case FIELD_SCHEDULES:
        return job->schedule_count == 1 || job->after_count;
    case FIELD_CALENDARS:
        return !job->calendar_count;
    case FIELD_AFTER:
        return !job->after_count;
    case FIELD_TIME:
    case FIELD_DURATION:
    case FIELD_SIZE:
    case FIELD_INT64:
        return int64_at(object, field) == int64_at(defaults, field);
    case FIELD_INT:
    case FIELD_CHOICE:
    case FIELD_UMASK:
    case FIELD_SET:
        return int_at(object, field) == int_at(defaults, field);
    case FIELD_BOOL:
        return *(const bool *)at == *(const bool *)((const char *)defaults + field->offset);
    case FIELD_PAIRS:
        return ((const struct job_pairs *)(const void *)at)->count == 0;
    case FIELD_ID:
        return id_is_zero((const struct id *)(const void *)at);
    case FIELD_GROUP:
        for (const struct field *inner = field->fields; inner->name; inner++) {
            if (!is_default(object, defaults, inner))
                return false;
        }
        return true;
    }
    return false;
}

static json_t *encode_fields(const void *object, const void *defaults, const struct field *fields,
                             bool with_meta);

static json_t *encode_field(const void *object, const void *defaults, const struct field *field)
{
    const struct job *job = object; /* for the kinds of field that only jobs have */
    const char *at = (const char *)object + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_SCRIPT:
    case FIELD_ZONE:
    case FIELD_SELECTOR:
        return json_string(text_at(object, field));
    case FIELD_ARGV:
        return encode_argv(*(char *const *const *)(const void *)at);
    case FIELD_SCHEDULE:
        return json_string(job->schedules[0]);
    case FIELD_SCHEDULES:
        return encode_texts(job->schedules, job->schedule_count);
    case FIELD_CALENDARS:
        return encode_texts(job->calendars, job->calendar_count);
    case FIELD_AFTER:
        return encode_after(job->after, job->after_count);
    case FIELD_TIME:
        return encode_time(int64_at(object, field));
    case FIELD_DURATION:
        return encode_duration(int64_at(object, field));
    case FIELD_SIZE:
        return encode_size(int64_at(object, field));
    case FIELD_INT64:
        return json_integer(int64_at(object, field));
    case FIELD_INT:
        return json_integer(int_at(object, field));
    case FIELD_BOOL:
        return json_boolean(*(const bool *)at);
    case FIELD_CHOICE:
        return json_string(field->words[int_at(object, field)]);
    case FIELD_UMASK:
        return json_sprintf("%03o", (unsigned)int_at(object, field));
    case FIELD_PAIRS:
        return encode_pairs((const struct job_pairs *)(const void *)at);
    case FIELD_NAMES:
        return encode_names(*(char *const *const *)(const void *)at);
    case FIELD_SET:
        return encode_set((unsigned)int_at(object, field), field->words);
    case FIELD_ID:
        return json_id((const struct id *)(const void *)at);
    case FIELD_GROUP:
        break;
    }
    json_t *map = encode_fields(object, defaults, field->fields, false);
    bool is_single = map && json_object_size(map) == 1 && field->fields->alone;
    json_t *first = is_single ? json_object_get(map, field->fields->name) : NULL;
    if (first) { /* its value is written instead of the map */
        json_incref(first);
        json_decref(map);
        return first;
    }
    return map;
}

static json_t *encode_fields(const void *object, const void *defaults, const struct field *fields,
                             bool with_meta)
{
    json_t *map = json_object();
    for (const struct field *field = fields; map && field->name; field++) {
        if ((field->meta && !with_meta) || is_default(object, defaults, field))
            continue;
        /* NULL, out of memory, makes the setter fail. */
        if (json_object_set_new(map, field->name, encode_field(object, defaults, field)) != 0) {
            json_decref(map);
            return NULL;
        }
    }
    return map;
}

json_t *fields_encode_json(const struct field *fields, const void *object, const void *defaults)
{
    return encode_fields(object, defaults, fields, false);
}

json_t *job_encode_json(const struct job *job, bool with_meta)
{
    struct job defaults = job_defaults();
    return encode_fields(job, &defaults, job_fields, with_meta);
}

json_t *job_field_default(const struct field *field)
{
    struct job defaults = job_defaults();
    return field->about->unset ? NULL : encode_field(&defaults, &defaults, field);
}

struct job_changes job_changes_find(const json_t *from, const json_t *to)
{
    struct job_changes changes = {0};
    for (const struct field *field = job_fields; field->name; field++) {
        const json_t *before = json_object_get(from, field->name);
        const json_t *now = json_object_get(to, field->name);
        if (before && now ? json_equal(before, now) : before == now)
            continue;
        changes.any = true;
        changes.ticks |= field->moves_ticks;
        changes.runs |= field->defines;
        changes.after |= field->kind == FIELD_AFTER;
    }
    return changes;
}

static int append(const char *bytes, size_t length, void *out)
{
    strbuf_add(out, bytes, length);
    return 0;
}

/* Dumps into a strbuf, which remembers failures: json_dumps ignores one at a key, and would return
 * a text without that key. */
static char *encode_text(const struct job *job, bool with_meta)
{
    struct strbuf text;
    json_t *value = job_encode_json(job, with_meta);
    strbuf_init(&text);
    if (!value || json_dump_callback(value, append, &text, JSON_COMPACT) != 0)
        text.failed = true;
    json_decref(value);
    return strbuf_detach(&text);
}

char *job_encode_text(const struct job *job)
{
    return encode_text(job, true);
}

char *job_encode_definition(const struct job *job)
{
    return encode_text(job, false);
}
