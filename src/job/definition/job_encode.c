/* A job as JSON: the fields that differ from the defaults, in the order of the table. */
#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_decode.h"
#include "document/json_quote.h"
#include "document/node.h"
#include "duration.h"
#include "timestamp.h"
#include "workflow/steps.h"

/* ---- values ---- */

/* A job has no text that is not UTF-8; one that has is not written. */
static void write_text(const char *text, struct strbuf *out)
{
    if (!json_quote(out, text))
        out->failed = true;
}

/* A word that needs no escapes. */
static void write_word(const char *word, struct strbuf *out)
{
    strbuf_addc(out, '"');
    strbuf_adds(out, word);
    strbuf_addc(out, '"');
}

static void write_duration(int64_t seconds, struct strbuf *out)
{
    strbuf_addc(out, '"');
    duration_print(seconds, out);
    strbuf_addc(out, '"');
}

static void write_time(int64_t at_s, struct strbuf *out)
{
    strbuf_addc(out, '"');
    timestamp_print_utc(at_s, out);
    strbuf_addc(out, '"');
}

/* 1048576 -> "1MiB", 1000 -> 1000: the largest binary unit that leaves a whole number. */
static void write_size(int64_t bytes, struct strbuf *out)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    if (unit)
        strbuf_addf(out, "\"%lld%s\"", (long long)bytes, units[unit - 1]);
    else
        strbuf_add_number(out, bytes);
}

static void write_texts(char *const *texts, size_t count, struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            strbuf_addc(out, ',');
        write_text(texts[i], out);
    }
    strbuf_addc(out, ']');
}

static void write_argv(char *const *argv, struct strbuf *out)
{
    size_t count = 0;
    while (argv[count])
        count++;
    write_texts(argv, count, out);
}

static void write_pairs(const struct job_pairs *pairs, struct strbuf *out)
{
    strbuf_addc(out, '{');
    for (size_t i = 0; i < pairs->count; i++) {
        if (i)
            strbuf_addc(out, ',');
        write_text(pairs->items[i].name, out);
        strbuf_addc(out, ':');
        write_text(pairs->items[i].value, out);
    }
    strbuf_addc(out, '}');
}

static void write_on(enum after_on on, struct strbuf *out)
{
    if (on == AFTER_SUCCESS)
        return;
    strbuf_adds(out, ",\"on\":");
    write_word(after_on_names[on], out);
}

static void write_after(const struct job_after *after, size_t count, struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (size_t i = 0; i < count; i++) {
        strbuf_adds(out, i ? ",{\"job\":" : "{\"job\":");
        write_text(after[i].job, out);
        write_on(after[i].on, out);
        strbuf_addc(out, '}');
    }
    strbuf_addc(out, ']');
}

static void write_step_after(const struct job_step *step, struct strbuf *out)
{
    strbuf_addc(out, '[');
    for (size_t i = 0; i < step->after_count; i++) {
        strbuf_adds(out, i ? ",{\"step\":" : "{\"step\":");
        write_text(step->after[i].step, out);
        write_on(step->after[i].on, out);
        strbuf_addc(out, '}');
    }
    strbuf_addc(out, ']');
}

static void write_join(int join, struct strbuf *out)
{
    if (join > 1)
        strbuf_add_number(out, join);
    else
        write_word(join ? "any" : "all", out);
}

/* Whole numbers and booleans as JSON has them, other values as texts. */
static void write_param_value(const struct job_param *param, const char *value, struct strbuf *out)
{
    if (param->type == PARAM_INTEGER || param->type == PARAM_BOOLEAN)
        strbuf_adds(out, value);
    else
        write_text(value, out);
}

static void write_param(const struct job_param *param, struct strbuf *out)
{
    char before = '{';
    if (param->type != PARAM_STRING) {
        strbuf_adds(out, "{\"type\":");
        write_word(param_type_names[param->type], out);
        before = ',';
    }
    if (param->initial) {
        strbuf_addf(out, "%c\"default\":", before);
        write_param_value(param, param->initial, out);
        before = ',';
    }
    for (size_t i = 0; param->allowed && param->allowed[i]; i++) {
        if (i == 0)
            strbuf_addf(out, "%c\"allowed\":[", before);
        else
            strbuf_addc(out, ',');
        write_param_value(param, param->allowed[i], out);
        if (!param->allowed[i + 1])
            strbuf_addc(out, ']');
        before = ',';
    }
    if (param->help) {
        strbuf_addf(out, "%c\"help\":", before);
        write_text(param->help, out);
        before = ',';
    }
    strbuf_adds(out, before == '{' ? "{}" : "}");
}

static void write_params(const struct job_params *params, struct strbuf *out)
{
    for (size_t i = 0; i < params->count; i++) {
        strbuf_addc(out, i ? ',' : '{');
        write_text(params->items[i].name, out);
        strbuf_addc(out, ':');
        write_param(&params->items[i], out);
    }
    strbuf_addc(out, '}');
}

/* The field `timezone` is not allowed beside schedules that name a zone. */
static bool zone_is_in_schedules(const struct job *job)
{
    const char *first = job->schedule_count ? job->schedules[0] : "";
    first += strspn(first, " \t\r\n");
    return strncmp(first, "CRON_TZ=", 8) == 0 || strncmp(first, "TZ=", 3) == 0;
}

/* A single name is written without a list. */
static void write_names(char *const *names, struct strbuf *out)
{
    if (names[0] && !names[1])
        write_text(names[0], out);
    else
        write_argv(names, out);
}

static void write_set(unsigned set, const char *const *words, struct strbuf *out)
{
    bool is_first = true;
    strbuf_addc(out, '[');
    for (unsigned i = 0; words[i]; i++) {
        if (!(set >> i & 1))
            continue;
        if (!is_first)
            strbuf_addc(out, ',');
        write_word(words[i], out);
        is_first = false;
    }
    strbuf_addc(out, ']');
}

static void write_id(const struct id *id, struct strbuf *out)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    write_word(text, out);
}

/* ---- fields ---- */

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

static size_t count_steps(const struct job *job, bool final)
{
    size_t count = 0;
    for (size_t i = 0; i < job->step_count; i++)
        count += job->steps[i].is_final == final;
    return count;
}

/* `job` is valid only for the kinds of field that only jobs have. */
static bool is_default(const void *object, const struct field *field)
{
    const struct job *job = object;
    const char *at = (const char *)object + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_SCRIPT:
    case FIELD_ARGV:
    case FIELD_SELECTOR:
    case FIELD_NAMES:
    case FIELD_ITEMS:
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
        return int64_at(object, field) == field->initial;
    case FIELD_INT:
    case FIELD_CHOICE:
    case FIELD_UMASK:
    case FIELD_SET:
    case FIELD_JOIN:
        return int_at(object, field) == (int)field->initial;
    case FIELD_BOOL:
        return *(const bool *)at == (field->initial != 0);
    case FIELD_PAIRS:
        return ((const struct job_pairs *)(const void *)at)->count == 0;
    case FIELD_PARAMS:
        return !job->params.count;
    case FIELD_ID:
        return id_is_zero((const struct id *)(const void *)at);
    case FIELD_KIND:
        return job->kind != JOB_WORKFLOW;
    case FIELD_STEPS:
        return !count_steps(job, false);
    case FIELD_FINALLY:
        return !count_steps(job, true);
    case FIELD_STEP_AFTER:
        return !((const struct job_step *)object)->after_count;
    case FIELD_GROUP:
        for (const struct field *inner = field->fields; inner->name; inner++) {
            if (!is_default(object, inner))
                return false;
        }
        return true;
    }
    return false;
}

static void write_fields(const void *object, const struct field *fields, bool with_meta,
                         struct strbuf *out);
static void write_steps(const struct job *job, bool final, struct strbuf *out);

/* The only field of a group that is not the default, if it may stand for the group; else NULL. */
static const struct field *single_field(const void *object, const struct field *fields)
{
    if (!fields->alone)
        return NULL;
    for (const struct field *other = fields + 1; other->name; other++) {
        if (!is_default(object, other))
            return NULL;
    }
    return fields;
}

static void write_group(const void *object, const struct field *fields, struct strbuf *out);

static void write_value(const void *object, const struct field *field, struct strbuf *out)
{
    const struct job *job = object; /* for the kinds of field that only jobs have */
    const char *at = (const char *)object + field->offset;
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_SCRIPT:
    case FIELD_ZONE:
    case FIELD_SELECTOR:
        write_text(text_at(object, field), out);
        break;
    case FIELD_ARGV:
    case FIELD_ITEMS:
        write_argv(*(char *const *const *)(const void *)at, out);
        break;
    case FIELD_SCHEDULE:
        write_text(job->schedules[0], out);
        break;
    case FIELD_SCHEDULES:
        write_texts(job->schedules, job->schedule_count, out);
        break;
    case FIELD_CALENDARS:
        write_texts(job->calendars, job->calendar_count, out);
        break;
    case FIELD_AFTER:
        write_after(job->after, job->after_count, out);
        break;
    case FIELD_TIME:
        write_time(int64_at(object, field), out);
        break;
    case FIELD_DURATION:
        write_duration(int64_at(object, field), out);
        break;
    case FIELD_SIZE:
        write_size(int64_at(object, field), out);
        break;
    case FIELD_INT64:
        strbuf_add_number(out, int64_at(object, field));
        break;
    case FIELD_INT:
        strbuf_add_number(out, int_at(object, field));
        break;
    case FIELD_BOOL:
        strbuf_adds(out, *(const bool *)at ? "true" : "false");
        break;
    case FIELD_CHOICE:
        write_word(field->words[int_at(object, field)], out);
        break;
    case FIELD_UMASK:
        strbuf_addf(out, "\"%03o\"", (unsigned)int_at(object, field));
        break;
    case FIELD_PAIRS:
        write_pairs((const struct job_pairs *)(const void *)at, out);
        break;
    case FIELD_PARAMS:
        write_params(&job->params, out);
        break;
    case FIELD_NAMES:
        write_names(*(char *const *const *)(const void *)at, out);
        break;
    case FIELD_SET:
        write_set((unsigned)int_at(object, field), field->words, out);
        break;
    case FIELD_ID:
        write_id((const struct id *)(const void *)at, out);
        break;
    case FIELD_KIND:
        write_word("workflow", out);
        break;
    case FIELD_STEPS:
        write_steps(job, false, out);
        break;
    case FIELD_FINALLY:
        write_steps(job, true, out);
        break;
    case FIELD_STEP_AFTER:
        write_step_after(object, out);
        break;
    case FIELD_JOIN:
        write_join(int_at(object, field), out);
        break;
    case FIELD_GROUP:
        write_group(object, field->fields, out);
        break;
    }
}

static void write_group(const void *object, const struct field *fields, struct strbuf *out)
{
    const struct field *single = single_field(object, fields);
    if (single)
        write_value(object, single, out);
    else
        write_fields(object, fields, false, out);
}

/* Appends the member to the map, of which *before is the character in front of the next one. */
static void write_given(const void *object, const struct field *field, char *before,
                        struct strbuf *out)
{
    strbuf_addc(out, *before);
    strbuf_addc(out, '"');
    strbuf_adds(out, field->name);
    strbuf_adds(out, "\":");
    write_value(object, field, out);
    *before = ',';
}

/* The same, unless it has its default. */
static void write_member(const void *object, const struct field *field, char *before,
                         struct strbuf *out)
{
    if (!is_default(object, field))
        write_given(object, field, before, out);
}

static void write_fields(const void *object, const struct field *fields, bool with_meta,
                         struct strbuf *out)
{
    char before = '{';
    for (const struct field *field = fields; field->name; field++) {
        if (with_meta || !field->meta)
            write_member(object, field, &before, out);
    }
    strbuf_adds(out, before == '{' ? "{}" : "}");
}

/* ---- steps ---- */

static void write_step(const struct job_step *step, struct strbuf *out)
{
    char before = '{';
    for (const struct field *field = step_fields; field->name; field++)
        write_member(step, field, &before, out);
    for (const struct field *field = job_fields; field->name; field++) {
        if (step->given & step_field_bit(field) && field->kind != FIELD_PAIRS)
            write_given(step->job, field, &before, out);
        else if (field_is_of_step(field))
            write_member(step->job, field, &before, out);
    }
    strbuf_adds(out, before == '{' ? "{}" : "}");
}

static void write_steps(const struct job *job, bool final, struct strbuf *out)
{
    char before = '[';
    for (size_t i = 0; i < job->step_count; i++) {
        if (job->steps[i].is_final != final)
            continue;
        strbuf_addc(out, before);
        write_step(&job->steps[i], out);
        before = ',';
    }
    strbuf_adds(out, before == '[' ? "[]" : "]");
}

/* ---- as text, and as a tree ---- */

/* The text as a tree; the text is released. NULL: out of memory, of which jansson's own parser
 * would not always tell. */
static json_t *take_tree(struct strbuf *text)
{
    struct tree tree;
    struct parse_error err;
    const struct node *node;
    tree_init(&tree);
    enum status st = strbuf_status(text);
    if (st == OK)
        st = tree_from_json_text(&tree, text->text, &node, &err);
    json_t *value = st == OK ? node_to_json(node) : NULL;
    tree_release(&tree);
    strbuf_release(text);
    return value;
}

json_t *fields_encode_json(const struct field *fields, const void *object)
{
    struct strbuf text;
    strbuf_init(&text);
    write_fields(object, fields, false, &text);
    return take_tree(&text);
}

static void write_job(const struct job *job, bool with_meta, struct strbuf *out)
{
    write_fields(job, job_fields, with_meta, out);
}

json_t *job_encode_json(const struct job *job, bool with_meta)
{
    struct strbuf text;
    strbuf_init(&text);
    write_job(job, with_meta, &text);
    return take_tree(&text);
}

json_t *job_field_default(const struct field *field)
{
    struct job defaults = job_defaults();
    struct strbuf text;
    if (field->about->unset)
        return NULL;
    strbuf_init(&text);
    write_value(&defaults, field, &text);
    return take_tree(&text);
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
        changes.after |= field->kind == FIELD_AFTER || strcmp(field->name, "only_if") == 0;
        changes.steps |= field->kind == FIELD_STEPS || field->kind == FIELD_FINALLY;
    }
    return changes;
}

static char *encode_text(const struct job *job, bool with_meta)
{
    struct strbuf text;
    strbuf_init(&text);
    write_job(job, with_meta, &text);
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
