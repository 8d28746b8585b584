#include "jobs/job_options.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "client/body.h"
#include "definition/job_fields.h"
#include "strbuf.h"
#include "words/explain.h"

enum { HELP_SIZE = 480, NAME_SIZE = 48 };

static bool is_list(const struct field *field)
{
    return field->kind == FIELD_NAMES || field->kind == FIELD_CALENDARS ||
           field->kind == FIELD_AFTER || field->kind == FIELD_PARAMS;
}

/* What the words of an option are made into a value by a function of its own. */
static bool is_made(const struct field *field)
{
    return field->kind == FIELD_AFTER || field->kind == FIELD_PARAMS;
}

static enum complete completion_of(const struct field *field)
{
    const char *value = field->about->value;
    return field->kind == FIELD_AFTER                   ? COMPLETE_JOBS
           : field->kind == FIELD_CALENDARS             ? COMPLETE_CALENDARS
           : field->complain == calendar_name_complaint ? COMPLETE_CALENDARS
           : field->complain == channel_name_complaint  ? COMPLETE_CHANNELS
           : field->complain == group_name_complaint    ? COMPLETE_GROUPS
           : value && strcmp(value, "DIR") == 0         ? COMPLETE_FILES
                                                        : COMPLETE_NOTHING;
}

static const struct help_words {
    const char *stop, *first, *next, *last, *initial, *repeats, *after, *param;
} help_words[LANGUAGES] = {
    [LANGUAGE_EN] = {".", ": ", ", ", " or ", " (default)", "; may repeat",
                     ". JOB:failure, JOB:always for other ends",
                     ". NAME, NAME=DEFAULT, NAME:TYPE or NAME:TYPE=DEFAULT"},
    [LANGUAGE_ZH] = {"。", "：", "、", " 或 ", "（默认）", "；可重复",
                     "。JOB:failure、JOB:always 表示其他结束状态",
                     "。NAME、NAME=默认值、NAME:类型 或 NAME:类型=默认值"},
};

/* The field's help without capital and full stop, and with the choices: "where it runs". */
static void make_help(const struct field *field, enum language language, char help[HELP_SIZE])
{
    const struct help_words *words = &help_words[language];
    struct strbuf text;
    strbuf_init(&text);
    strbuf_adds(&text, field->about->help[language]);
    strbuf_truncate(&text, text.length - strlen(words->stop));
    for (size_t i = 0; field->kind == FIELD_CHOICE && field->words[i]; i++)
        strbuf_addf(&text, "%s%s%s",
                    i == 0                ? words->first
                    : field->words[i + 1] ? words->next
                                          : words->last,
                    field->words[i], (int64_t)i == field->initial ? words->initial : "");
    if (is_list(field) || field->kind == FIELD_PAIRS)
        strbuf_adds(&text, words->repeats);
    if (field->kind == FIELD_AFTER)
        strbuf_adds(&text, words->after);
    if (field->kind == FIELD_PARAMS)
        strbuf_adds(&text, words->param);
    snprintf(help, HELP_SIZE, "%s", text.text);
    if (!isupper((unsigned char)help[1])) /* GET stays */
        help[0] = (char)tolower((unsigned char)help[0]);
    strbuf_release(&text);
}

/* `name` is the field's, or its group's if it may be given alone. */
static struct option_row make_row(const struct field *field, const char *name, size_t index,
                                  char help[LANGUAGES][HELP_SIZE])
{
    make_help(field, LANGUAGE_EN, help[LANGUAGE_EN]);
    make_help(field, LANGUAGE_ZH, help[LANGUAGE_ZH]);
    return (struct option_row){
        .name = field->about->option,
        .value = field->about->value,
        .help = help[LANGUAGE_EN],
        .help_zh = help[LANGUAGE_ZH],
        .take = field->kind == FIELD_BOOL    ? take_flag
                : field->kind == FIELD_PAIRS ? take_pairs
                : is_list(field)             ? take_list
                                             : take_text,
        .place = index * sizeof(union job_option_value),
        .choices = field->kind == FIELD_CHOICE ? field->words : NULL,
        .field = is_made(field) ? NULL : name, /* see job_options_fill */
        .complete = completion_of(field),
    };
}

/* "http.method" of a field in a group, into `buf`; for one that may stand for its group, the
 * group's name; for others, the field's. */
static const char *name_of(const struct field *field, const struct field *group,
                           char buf[NAME_SIZE])
{
    if (!group || field->alone)
        return group ? group->name : field->name;
    snprintf(buf, NAME_SIZE, "%s.%s", group->name, field->name);
    return buf;
}

/* Made once: callers keep the rows, and compare them by address. */
const struct option_row *job_option_rows(void)
{
    static struct option_row rows[JOB_OPTIONS_MAX + 1];
    static char helps[JOB_OPTIONS_MAX][LANGUAGES][HELP_SIZE];
    static char names[JOB_OPTIONS_MAX][NAME_SIZE];
    size_t count = 0;
    if (rows[0].name)
        return rows;
    for (const struct field *field = job_fields; field->name; field++) {
        const struct field *group = field->fields ? field : NULL;
        for (const struct field *shown = group ? field->fields : field; shown->name; shown++) {
            if (shown->about && shown->about->option) {
                assert(count < JOB_OPTIONS_MAX);
                rows[count] =
                    make_row(shown, name_of(shown, group, names[count]), count, helps[count]);
                count++;
            }
            if (!group)
                break;
        }
    }
    return rows;
}

/* Options are texts; a field that is a number is sent as one, so that it is not refused for its
 * quotes. What is no number stays a text, which the agent complains about. False: out of memory. */
static bool read_number(json_t *definition, const struct field *field, const char *name)
{
    const char *text = json_string_value(json_object_get(definition, name));
    const char *digits = text && *text == '-' ? text + 1 : text;
    if ((field->kind != FIELD_INT && field->kind != FIELD_INT64) || !digits || !*digits ||
        digits[strspn(digits, "0123456789")] || strlen(digits) > 15)
        return true;
    return json_object_set_new(definition, name, json_integer(atoll(text))) == 0;
}

static bool read_numbers(json_t *definition)
{
    bool done = true;
    for (const struct field *field = job_fields; field->name && done; field++) {
        char name[NAME_SIZE];
        done = read_number(definition, field, field->name);
        for (const struct field *inner = field->fields; inner && inner->name && done; inner++)
            done = read_number(definition, inner, name_of(inner, field, name));
    }
    return done;
}

/* "http.method" and the like, which body_fill has set beside each other, go into a map of their
 * group; what stands for the group becomes its first field. False: out of memory. */
static bool fold_groups(json_t *definition)
{
    for (const struct field *field = job_fields; field->name; field++) {
        for (const struct field *inner = field->fields; inner && inner->name; inner++) {
            char name[NAME_SIZE];
            json_t *value = json_object_get(definition, name_of(inner, field, name));
            if (inner->alone || !value)
                continue;
            json_t *map = json_object_get(definition, field->name);
            if (!json_is_object(map)) {
                json_t *fresh = map ? json_pack("{s:O}", field->fields->name, map) : json_object();
                if (json_object_set_new(definition, field->name, fresh) != 0)
                    return false;
                map = json_object_get(definition, field->name);
            }
            if (json_object_set(map, inner->name, value) != 0)
                return false;
            json_object_del(definition, name);
        }
    }
    return true;
}

/* JOB or JOB:ON; names have no colon. */
static json_t *make_after(const struct option_list *after)
{
    json_t *list = json_array();
    for (size_t i = 0; i < after->count; i++) {
        const char *text = after->items[i];
        int length = (int)strcspn(text, ":");
        json_t *item = text[length]
                           ? json_pack("{s:s#, s:s}", "job", text, length, "on", text + length + 1)
                           : json_pack("{s:s}", "job", text);
        if (json_array_append_new(list, item) == 0)
            continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

/* NAME[:TYPE][=DEFAULT] */
static json_t *make_params(const struct option_list *params)
{
    json_t *map = json_object();
    for (size_t i = 0; i < params->count; i++) {
        const char *text = params->items[i], *equals = strchr(text, '=');
        size_t head = equals ? (size_t)(equals - text) : strlen(text);
        const char *colon = memchr(text, ':', head);
        size_t name = colon ? (size_t)(colon - text) : head;
        json_t *param = json_object();
        bool is_made =
            param && (!colon || json_object_set_new(param, "type",
                                                    json_stringn(colon + 1, head - name - 1)) == 0);
        if (is_made && equals)
            is_made = json_object_set_new(param, "default", json_string(equals + 1)) == 0;
        if (is_made && json_object_setn_new(map, text, name, param) == 0)
            continue;
        json_decref(map);
        return NULL;
    }
    return map;
}

enum exit_code job_options_fill(json_t *definition, const struct job_options *options)
{
    const struct option_row *rows = job_option_rows();
    enum exit_code code = body_fill(definition, rows, options);
    for (size_t i = 0; rows[i].name && code == EXIT_OK; i++) {
        if (rows[i].field || !options->values[i].list.count)
            continue;
        bool is_after = strcmp(rows[i].name, "after") == 0;
        json_t *value =
            is_after ? make_after(&options->values[i].list) : make_params(&options->values[i].list);
        if (json_object_set_new(definition, is_after ? "after" : "params", value) != 0) {
            cli_error("--%s: not text in UTF-8", rows[i].name);
            code = EXIT_USAGE;
        }
    }
    if (code == EXIT_OK && !(read_numbers(definition) && fold_groups(definition)))
        code = cli_fail(E_NOMEM);
    return code;
}
