/* What is printed from the table of a job's fields is what the tree has: the tables of docs/JOBS.md
 * and the fields of the console's form. With PEAL_WRITE=1 in the environment they are written anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "duration.h"
#include "strbuf.h"
#include "words/explain.h"

#define DOCUMENT "docs/JOBS.md"
#define FORM     "web/src/screens/editor/job_fields.ts"
#define GUIDE    "docs/WORKFLOWS.md"
#define LONG_S   (INT64_C(36500) * 86400)

/* ---- the rows that people see ---- */

/* A field, or one of a group, which has the traits of the group. */
struct shown {
    const struct field *field, *group; /* group NULL: it is in none */
    bool defines, of_ticks, of_process;
    char name[64]; /* "overlap.queue" */
};

static struct shown show(const struct field *field, const struct field *group)
{
    struct shown shown = {field,
                          group,
                          field->defines || (group && group->defines),
                          field->of_ticks || (group && group->of_ticks),
                          field->of_process || (group && group->of_process),
                          ""};
    snprintf(shown.name, sizeof(shown.name), "%s%s%s", group ? group->name : "", group ? "." : "",
             field->name);
    return shown;
}

static size_t list_shown(const struct field *fields, struct shown *list, size_t max)
{
    size_t count = 0;
    for (const struct field *field = fields; field->name; field++) {
        for (const struct field *inner = field->fields; inner && inner->name; inner++) {
            assert_true(count < max);
            list[count++] = show(inner, field);
        }
        if (field->meta || field->fields)
            continue;
        assert_true(count < max);
        list[count++] = show(field, NULL);
    }
    return count;
}

/* ---- the reference ---- */

static const struct {
    const char *mark, *title, *anchor;
    unsigned sections;
} parts[] = {
    {"name", "Name", "name", 1 << SECTION_NAME},
    {"when", "When", "when", 1 << SECTION_WHEN},
    {"what", "What", "what", 1 << SECTION_WHAT | 1 << SECTION_LIMITS},
    {"http", "HTTP calls", "http-calls", 1 << SECTION_HTTP},
    {"function", "Functions of a program", "functions-of-a-program", 1 << SECTION_FUNCTION},
    {"steps", "Workflows", "workflows", 1 << SECTION_STEPS},
    {"how", "How", "how", 1 << SECTION_HOW},
    {"expect", "What a run must show", "what-a-run-must-show", 1 << SECTION_EXPECT},
    {"notify", "Who is told", "who-is-told", 1 << SECTION_NOTIFY},
    {"kept", "What is kept", "what-is-kept", 1 << SECTION_KEPT},
};

static void add_words(struct strbuf *out, const char *const *words, const char *last)
{
    for (size_t i = 0; words[i]; i++)
        strbuf_addf(out, "%s`%s`", i == 0 ? "" : words[i + 1] ? ", " : last, words[i]);
}

static void add_size(struct strbuf *out, int64_t bytes)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    while (unit < 3 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    strbuf_addf(out, "%lld%s", (long long)bytes, units[unit]);
}

static void add_limit(struct strbuf *out, const struct field *field)
{
    if (field->kind == FIELD_DURATION && field->max < LONG_S) {
        strbuf_adds(out, " up to `");
        duration_print(field->max, out);
        strbuf_adds(out, "`");
    } else if (field->kind == FIELD_SIZE && field->max <= 1 << 30) {
        strbuf_adds(out, " up to `");
        add_size(out, field->max);
        strbuf_adds(out, "`");
    } else if (field->kind == FIELD_TEXT && field->max > 0 && field->max < INT64_MAX) {
        strbuf_adds(out, " of up to ");
        add_size(out, field->max);
        strbuf_adds(out, field->max % 1024 ? " bytes" : "");
    } else if (field->kind == FIELD_INT) {
        strbuf_addf(out, ", %d to %d", (int)field->min, (int)field->max);
    }
}

static void add_kind(struct strbuf *out, const struct field *field)
{
    static const char *const kinds[] = {
        [FIELD_TEXT] = "a text",
        [FIELD_SCRIPT] = "a script of up to %lld bytes",
        [FIELD_ARGV] = "a list of words",
        [FIELD_SCHEDULE] = "a schedule",
        [FIELD_SCHEDULES] = "a list of 1 to %lld schedules",
        [FIELD_CALENDARS] = "a list of up to %lld names",
        [FIELD_AFTER] = "a job, or a list of up to %lld",
        [FIELD_ZONE] = "a name",
        [FIELD_SELECTOR] = "labels, up to %lld bytes",
        [FIELD_TIME] = "a [time](#values)",
        [FIELD_DURATION] = "a [duration](#values)",
        [FIELD_SIZE] = "a [size](#values)",
        [FIELD_INT] = "a number",
        [FIELD_INT64] = "a number",
        [FIELD_BOOL] = "`true` or `false`",
        [FIELD_UMASK] = "an octal text in quotes",
        [FIELD_PARAMS] = "a map of up to %lld parameters",
        [FIELD_PAIRS] = "a map of names and values",
        [FIELD_NAMES] = "a name, or a list of up to %lld",
        [FIELD_SET] = "some of ",
        [FIELD_CHOICE] = "",
        [FIELD_KIND] = "",
        [FIELD_STEPS] = "a list of 1 to %lld [steps](WORKFLOWS.md#steps)",
        [FIELD_FINALLY] = "a list of steps",
        [FIELD_STEP_AFTER] = "a step, or a list of up to %lld",
        [FIELD_JOIN] = "`all`, `any` or a number",
        [FIELD_ITEMS] = "a list of 1 to %lld texts",
    };
    const char *kind = kinds[field->kind];
    const char *gap = strstr(kind, "%lld");
    if (gap)
        strbuf_addf(out, "%.*s%lld%s", (int)(gap - kind), kind, (long long)field->max, gap + 4);
    else
        strbuf_adds(out, kind);
    if (field->words)
        add_words(out, field->words, field->kind == FIELD_SET ? ", " : " or ");
    add_limit(out, field);
}

static void add_default(struct strbuf *out, const struct field *field)
{
    json_t *value = job_field_default(field);
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (!value)
        strbuf_adds(out, field->about->unset);
    else if (json_is_string(value))
        strbuf_addf(out, "`%s`", json_string_value(value));
    else
        strbuf_addf(out, "`%s`", text);
    json_decref(value);
    free(text);
}

static void add_row(struct strbuf *out, const struct shown *shown)
{
    const struct field_about *about = shown->field->about;
    const char *help = about->help[LANGUAGE_EN];
    if (about->see)
        strbuf_addf(out, "| [`%s`](%s) | ", shown->name, about->see);
    else
        strbuf_addf(out, "| `%s` | ", shown->name);
    add_kind(out, shown->field);
    strbuf_adds(out, " | ");
    if (shown->field->alone)
        strbuf_addf(out, "Alone it may stand for the whole: `%s`. ", shown->group->name);
    for (; *help; help++)
        strbuf_addf(out, *help == '|' ? "\\%c" : "%c", *help);
    strbuf_adds(out, " | ");
    add_default(out, shown->field);
    strbuf_adds(out, " |\n");
}

static void add_table(struct strbuf *out, const struct shown *list, size_t count, unsigned sections)
{
    strbuf_adds(out, "| field | value | what it does | default |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < count; i++) {
        if (sections >> list[i].field->about->section & 1)
            add_row(out, &list[i]);
    }
}

/* The sections with their fields, for the top of the document. */
static void add_contents(struct strbuf *out, const struct shown *list, size_t count)
{
    for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
        const struct field *before = NULL;
        strbuf_addf(out, "- [%s](#%s):", parts[part].title, parts[part].anchor);
        for (size_t i = 0; i < count; i++) {
            const struct field *top = list[i].group ? list[i].group : list[i].field;
            if (top != before && parts[part].sections >> list[i].field->about->section & 1)
                strbuf_addf(out, " `%s`", top->name);
            before = top;
        }
        strbuf_adds(out, "\n");
    }
}

/* ---- the form ---- */

static const char *input_of(const struct field *field)
{
    switch (field->kind) {
    case FIELD_TEXT:
        return field->max >= 64 * 1024 && field->max < INT64_MAX ? "area" : "text";
    case FIELD_SCRIPT:
        return "area";
    case FIELD_SIZE:
    case FIELD_INT:
    case FIELD_INT64:
        return "number";
    case FIELD_NAMES:
    case FIELD_SET:
    case FIELD_ARGV:
    case FIELD_SCHEDULES:
    case FIELD_CALENDARS:
    case FIELD_AFTER:
        return "names";
    case FIELD_PAIRS:
        return "pairs";
    case FIELD_PARAMS:
        return "params";
    case FIELD_STEPS:
    case FIELD_FINALLY:
        return "steps";
    case FIELD_CHOICE:
        return "choice";
    case FIELD_BOOL:
        return "switch";
    case FIELD_SCHEDULE:
    case FIELD_ZONE:
    case FIELD_SELECTOR:
    case FIELD_TIME:
    case FIELD_DURATION:
    case FIELD_UMASK:
    case FIELD_ID:
    case FIELD_GROUP:
    case FIELD_KIND:
    case FIELD_STEP_AFTER:
    case FIELD_JOIN:
    case FIELD_ITEMS:
        break;
    }
    return "text";
}

/* As text of TypeScript. */
static void add_json(struct strbuf *out, json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    assert_non_null(text);
    strbuf_adds(out, text);
    free(text);
    json_decref(value);
}

static void add_sample(struct strbuf *out, const struct field *field)
{
    json_t *value = job_field_default(field);
    if (field->about->sample ||
        (value && field->kind != FIELD_CHOICE && field->kind != FIELD_BOOL)) {
        strbuf_adds(out, ", sample: ");
        if (!field->about->sample && json_is_integer(value))
            strbuf_addf(out, "\"%lld\"", (long long)json_integer_value(value));
        else
            add_json(out,
                     field->about->sample ? json_string(field->about->sample) : json_incref(value));
    }
    json_decref(value);
}

static void add_field(struct strbuf *out, const struct shown *shown)
{
    static const char *const sections[] = {
        [SECTION_NAME] = "name",     [SECTION_WHEN] = "when", [SECTION_WHAT] = "what",
        [SECTION_STEPS] = "steps",   [SECTION_HTTP] = "http", [SECTION_FUNCTION] = "function",
        [SECTION_LIMITS] = "limits", [SECTION_HOW] = "how",   [SECTION_EXPECT] = "expect",
        [SECTION_NOTIFY] = "notify", [SECTION_KEPT] = "kept"};
    static const char *const languages[] = {"en", "zh"};
    const struct field_about *about = shown->field->about;
    strbuf_addf(out, "    {\n        name: \"%s\", section: \"%s\", kind: \"%s\"", shown->name,
                sections[about->section], input_of(shown->field));
    if (shown->field->kind == FIELD_CHOICE) {
        strbuf_adds(out, ", choices: [");
        for (size_t i = 0; shown->field->words[i]; i++)
            strbuf_addf(out, "%s\"%s\"", i ? ", " : "", shown->field->words[i]);
        strbuf_adds(out, "]");
    }
    add_sample(out, shown->field);
    strbuf_adds(out, shown->defines ? ", defines: true" : "");
    strbuf_adds(out, shown->of_ticks ? ", ofTicks: true" : "");
    strbuf_adds(out, shown->of_process ? ", ofProcess: true" : "");
    strbuf_adds(out, shown->field->alone ? ", alone: true" : "");
    strbuf_adds(out, ",\n");
    for (int language = LANGUAGE_EN; language <= LANGUAGE_ZH; language++) {
        strbuf_addf(out, "        %s: ", languages[language]);
        add_json(out, json_pack("[s, s]", about->label[language], about->help[language]));
        strbuf_adds(out, ",\n");
    }
    strbuf_adds(out, "    },\n");
}

static void add_form(struct strbuf *out, const struct shown *list, size_t count)
{
    strbuf_adds(
        out, "// The fields of a job. Made from the table in src/job/definition/job_fields.c, and "
             "not to be edited:\n"
             "//     PEAL_WRITE=1 ctest -R unit.job_reference\n"
             "import type { JobField } from \"./fields\";\n\n"
             "export const jobFields: readonly JobField[] = [\n");
    for (size_t i = 0; i < count; i++)
        add_field(out, &list[i]);
    strbuf_adds(out, "];\n");
}

/* ---- the files ---- */

static void full_path(const char *name, char path[4096])
{
    const char *source = getenv("PEAL_SOURCE");
    if (!source) {
        print_message("the sources are not here\n");
        skip();
    }
    snprintf(path, 4096, "%s/%s", source, name);
}

/* NULL: there is no such file. */
static char *read_text(const char *name)
{
    char path[4096], *text = NULL;
    size_t size = 0;
    full_path(name, path);
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

/* Fails if the file has another text; or writes it. */
static void compare(const char *name, const struct strbuf *wanted)
{
    char path[4096];
    char *text = read_text(name);
    bool is_same = text && strcmp(text, wanted->text) == 0;
    free(text);
    if (is_same)
        return;
    if (!getenv("PEAL_WRITE"))
        fail_msg("%s is not as the table of fields: PEAL_WRITE=1 ctest -R unit.job_reference",
                 name);
    full_path(name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(wanted->text, 1, wanted->length, file), wanted->length);
    assert_int_equal(fclose(file), 0);
}

/* *at goes behind the part with this mark; the text up to it, and what is there now, are added. */
static void add_part(struct strbuf *out, const char **at, const char *mark,
                     const struct strbuf *now)
{
    static const char end_mark[] = "<!-- fields: end -->\n";
    char begin_mark[64];
    snprintf(begin_mark, sizeof(begin_mark), "<!-- fields: %s -->\n", mark);
    const char *begin = strstr(*at, begin_mark);
    if (!begin)
        fail_msg("%s has no part \"%s\"", DOCUMENT, mark);
    begin += strlen(begin_mark);
    strbuf_add(out, *at, (size_t)(begin - *at));
    strbuf_addf(out, "\n%s\n", now->text);
    *at = strstr(begin, end_mark);
    assert_non_null(*at);
}

static void the_reference_has_every_field(void **state)
{
    struct shown list[160];
    size_t count = list_shown(job_fields, list, sizeof(list) / sizeof(list[0]));
    char *text = read_text(DOCUMENT);
    const char *at = text;
    struct strbuf wanted, part;
    (void)state;
    assert_non_null(text);
    strbuf_init(&wanted);
    strbuf_init(&part);
    add_contents(&part, list, count);
    add_part(&wanted, &at, "contents", &part);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        strbuf_reset(&part);
        add_table(&part, list, count, parts[i].sections);
        add_part(&wanted, &at, parts[i].mark, &part);
    }
    strbuf_adds(&wanted, at);
    compare(DOCUMENT, &wanted);
    strbuf_release(&part);
    strbuf_release(&wanted);
    free(text);
}

/* The fields that only steps have, in the guide of workflows. */
static void the_guide_has_every_field_of_a_step(void **state)
{
    struct shown list[40];
    size_t count = list_shown(step_fields, list, sizeof(list) / sizeof(list[0]));
    char *text = read_text(GUIDE);
    const char *at = text;
    struct strbuf wanted, part;
    (void)state;
    assert_non_null(text);
    strbuf_init(&wanted);
    strbuf_init(&part);
    add_table(&part, list, count, 1 << SECTION_STEPS);
    add_part(&wanted, &at, "step", &part);
    strbuf_adds(&wanted, at);
    compare(GUIDE, &wanted);
    strbuf_release(&part);
    strbuf_release(&wanted);
    free(text);
}

static bool is_of_reference(const struct field *field)
{
    return field->in_reference;
}

static bool is_of_both(const struct field *field)
{
    return field->of == OF_EITHER;
}

static bool is_of_ticks(const struct field *field)
{
    return field->of_ticks && field->kind != FIELD_SCHEDULE && field->kind != FIELD_SCHEDULES;
}

static bool is_of_process(const struct field *field)
{
    return field->of_process;
}

static bool is_of_own_process(const struct field *field)
{
    return field->of_process || strcmp(field->name, "env") == 0 ||
           strcmp(field->name, "secrets") == 0;
}

static bool is_defining(const struct field *field)
{
    return field->defines;
}

/* What is told in a sentence. */
static void sentences_name_the_fields(void **state)
{
    static const struct {
        const char *document, *begin, *end;
        bool (*is_meant)(const struct field *field);
    } sentences[] = {
        {DOCUMENT, "There are no ticks, so ", "can't be", is_of_ticks},
        {DOCUMENT, "There is no process, so ", "can't be", is_of_process},
        {DOCUMENT, "There is no process of its own, so ", "can't be", is_of_own_process},
        {GUIDE, "Of the fields of a job, a step can have ", ".", field_is_of_step},
        {GUIDE, "A workflow can have ", "itself", is_of_both},
        {GUIDE, "Beside `job` a step can have ", ":", is_of_reference},
        {"docs/API.md", "Changes of the command and its environment (", ")", is_defining},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
        char *text = read_text(sentences[i].document), name[80];
        assert_non_null(text);
        char *begin = strstr(text, sentences[i].begin);
        char *end = begin ? strstr(begin, sentences[i].end) : NULL;
        assert_non_null(end);
        *end = '\0';
        for (const struct field *field = job_fields; field->name; field++) {
            snprintf(name, sizeof(name), "`%s`", field->name);
            if (strstr(begin, name) ? !sentences[i].is_meant(field) : sentences[i].is_meant(field))
                fail_msg("%s: \"%s\" is wrong about %s", sentences[i].document, sentences[i].begin,
                         name);
        }
        free(text);
    }
}

static void the_form_has_every_field(void **state)
{
    struct shown list[160];
    size_t count = list_shown(job_fields, list, sizeof(list) / sizeof(list[0]));
    struct strbuf wanted;
    (void)state;
    strbuf_init(&wanted);
    add_form(&wanted, list, count);
    compare(FORM, &wanted);
    strbuf_release(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_has_every_field),
        cmocka_unit_test(the_guide_has_every_field_of_a_step),
        cmocka_unit_test(sentences_name_the_fields),
        cmocka_unit_test(the_form_has_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
