/* The schema of a job's definition, made from the table of its fields. */
#include "auth/principal.h"
#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "site/openapi.h"
#include "words/explain.h"

static json_t *words_list(const char *const *words)
{
    json_t *list = json_array();
    for (; list && *words; words++)
        json_array_append_new(list, json_string(*words));
    return list;
}

static json_t *text_schema(const struct field *field)
{
    json_t *schema = json_pack("{s:s}", "type", "string");
    if (field->max && field->max < INT64_MAX)
        json_object_set_new(schema, "maxLength", json_integer(field->max));
    return schema;
}

static json_t *list_schema(const struct field *field, json_t *items)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", items);
    if (field->max)
        json_object_set_new(schema, "maxItems", json_integer(field->max));
    return schema;
}

/* A list, or a single item without a list. */
static json_t *list_or_one(const struct field *field, json_t *item)
{
    return json_pack("{s:[O, o]}", "anyOf", item, list_schema(field, item));
}

static json_t *number_schema(const struct field *field)
{
    return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)field->min,
                     "maximum", (json_int_t)field->max);
}

/* A name, {job, on}, {jobs, on}, or a list of these; replies have a list of {job, on}. */
static json_t *after_schema(void)
{
    return json_pack("{s:[s, s, s], s:{s:[s, s], s:{s:{s:s}, s:{s:o, s:s}}}}", "type", "array",
                     "object", "string", "items", "type", "object", "string", "properties", "job",
                     "type", "string", "on", "enum", words_list(after_on_names), "default",
                     after_on_names[AFTER_SUCCESS]);
}

/* A name, {step, on}, or a list of these; replies have a list of {step, on}. */
static json_t *step_after_schema(void)
{
    return json_pack("{s:[s, s, s], s:{s:[s, s], s:{s:{s:s}, s:{s:o, s:s}}}}", "type", "array",
                     "object", "string", "items", "type", "object", "string", "properties", "step",
                     "type", "string", "on", "enum", words_list(after_on_names), "default",
                     after_on_names[AFTER_SUCCESS]);
}

/* all, any or a number. */
static json_t *join_schema(const struct field *field)
{
    return json_pack("{s:[{s:[s, s]}, {s:s, s:I, s:I}]}", "anyOf", "enum", "all", "any", "type",
                     "integer", "minimum", (json_int_t)field->min, "maximum",
                     (json_int_t)field->max);
}

/* Names, each with its type, default, allowed values and help. */
static json_t *params_schema(void)
{
    json_t *param =
        json_pack("{s:s, s:b, s:{s:{s:o, s:s}, s:{}, s:{s:s}, s:{s:s}}}", "type", "object",
                  "additionalProperties", 0, "properties", "type", "enum",
                  words_list(param_type_names), "default", param_type_names[PARAM_STRING],
                  "default", "allowed", "type", "array", "help", "type", "string");
    return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", param);
}

static json_t *field_schema(const struct field *field);
static json_t *properties(const struct field *fields);

static json_t *group_schema(const struct field *field)
{
    json_t *map = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
                            "properties", properties(field->fields));
    return field->fields->alone ? json_pack("{s:[o, o]}", "anyOf", field_schema(field->fields), map)
                                : map;
}

/* A list of steps, each with its own fields and those of a job that a step has. */
static json_t *steps_schema(const struct field *field)
{
    json_t *fields = properties(step_fields);
    for (const struct field *of_job = job_fields; of_job->name; of_job++) {
        if (field_is_of_step(of_job))
            json_object_set_new(fields, of_job->name, field_schema(of_job));
    }
    json_t *step = json_pack("{s:s, s:b, s:[s], s:o}", "type", "object", "additionalProperties", 0,
                             "required", "name", "properties", fields);
    return list_schema(field, step);
}

static json_t *kind_schema(const struct field *field)
{
    switch (field->kind) {
    case FIELD_TEXT:
        return field->numbers ? json_pack("{s:[s, s]}", "type", "string", "integer")
                              : text_schema(field);
    case FIELD_SCRIPT:
    case FIELD_ZONE:
    case FIELD_SELECTOR:
    case FIELD_SCHEDULE:
    case FIELD_TIME:
    case FIELD_DURATION:
    case FIELD_ID:
        return text_schema(field);
    case FIELD_UMASK:
        return json_pack("{s:s, s:s}", "type", "string", "pattern", "^[0-7]{1,4}$");
    case FIELD_ARGV: /* arguments may be numbers */
        return list_schema(field, json_pack("{s:[s, s]}", "type", "string", "number"));
    case FIELD_STEPS:
    case FIELD_FINALLY:
        return steps_schema(field);
    case FIELD_STEP_AFTER:
        return step_after_schema();
    case FIELD_JOIN:
        return join_schema(field);
    case FIELD_ITEMS:
        return list_schema(field, json_pack("{s:[s, s]}", "type", "string", "number"));
    case FIELD_SCHEDULES:
    case FIELD_CALENDARS:
        return list_schema(field, json_pack("{s:s}", "type", "string"));
    case FIELD_NAMES:
        return list_or_one(field, json_pack("{s:s}", "type", "string"));
    case FIELD_SET:
        return list_or_one(field, json_pack("{s:o}", "enum", words_list(field->words)));
    case FIELD_AFTER:
        return after_schema();
    case FIELD_SIZE:
        return json_pack("{s:[s, s]}", "type", "integer", "string");
    case FIELD_INT:
    case FIELD_INT64:
        return number_schema(field);
    case FIELD_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    case FIELD_CHOICE:
    case FIELD_KIND:
        return json_pack("{s:o}", "enum", words_list(field->words));
    case FIELD_PARAMS:
        return params_schema();
    case FIELD_PAIRS:
        if (field->numbers)
            return json_pack("{s:s, s:{s:[s, s, s]}}", "type", "object", "additionalProperties",
                             "type", "string", "number", "boolean");
        return json_pack("{s:s, s:{s:[s, s]}}", "type", "object", "additionalProperties", "type",
                         "string", "number");
    case FIELD_GROUP:
        break;
    }
    return group_schema(field);
}

static json_t *field_schema(const struct field *field)
{
    json_t *schema = kind_schema(field);
    json_t *value = field->about ? job_field_default(field) : NULL;
    if (value)
        json_object_set_new(schema, "default", value);
    if (field->about)
        json_object_set_new(schema, "description", json_string(field->about->help[LANGUAGE_EN]));
    if (field->defines)
        json_object_set_new(schema, "x-right", json_string(right_name(RIGHT_DEFINE)));
    return schema;
}

static json_t *properties(const struct field *fields)
{
    json_t *map = json_object();
    for (const struct field *field = fields; field->name; field++) {
        if (!field->meta)
            json_object_set_new(map, field->name, field_schema(field));
    }
    return map;
}

json_t *openapi_definition(void)
{
    return json_pack("{s:s, s:s, s:o}", "type", "object", "description",
                     "A job as in docs/JOBS.md. Asterisks stand for values that are secret, for "
                     "those who may not define the job; sent back they keep them as they are.",
                     "properties", properties(job_fields));
}
