#include "cli/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "cli/json_out.h"
#include "document/node.h"
#include "text/tr.h"

const char *const output_words[] = {"table", "wide", "json", "yaml", "name", NULL};

/* ---- YAML ---- */

static bool emit_value(yaml_emitter_t *emitter, const json_t *value);

/* Text that a reader of YAML would take for something else is quoted. */
static bool emit_scalar(yaml_emitter_t *emitter, const char *text, bool is_text)
{
    yaml_event_t event;
    bool quote = is_text && plain_kind(text) != PLAIN_TEXT;
    yaml_scalar_style_t style = quote                ? YAML_SINGLE_QUOTED_SCALAR_STYLE
                                : strchr(text, '\n') ? YAML_LITERAL_SCALAR_STYLE
                                                     : YAML_ANY_SCALAR_STYLE;
    return yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                        (int)strlen(text), 1, 1, style) &&
           yaml_emitter_emit(emitter, &event);
}

static bool emit_list(yaml_emitter_t *emitter, const json_t *list)
{
    yaml_event_t event;
    yaml_sequence_style_t style =
        json_array_size(list) ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE;
    size_t i;
    const json_t *item;
    bool good = yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style) &&
                yaml_emitter_emit(emitter, &event);
    json_array_foreach (list, i, item) {
        good = good && emit_value(emitter, item);
    }
    return good && yaml_sequence_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

static bool emit_map(yaml_emitter_t *emitter, const json_t *map)
{
    yaml_event_t event;
    yaml_mapping_style_t style =
        json_object_size(map) ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE;
    const char *key;
    const json_t *item;
    bool good = yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, style) &&
                yaml_emitter_emit(emitter, &event);
    json_object_foreach ((json_t *)map, key, item) {
        good = good && emit_scalar(emitter, key, true) && emit_value(emitter, item);
    }
    return good && yaml_mapping_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

static bool emit_value(yaml_emitter_t *emitter, const json_t *value)
{
    char number[64];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return emit_map(emitter, value);
    case JSON_ARRAY:
        return emit_list(emitter, value);
    case JSON_STRING:
        return emit_scalar(emitter, json_string_value(value), true);
    case JSON_INTEGER:
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
        return emit_scalar(emitter, number, false);
    case JSON_REAL:
        snprintf(number, sizeof(number), "%.17g", json_real_value(value));
        return emit_scalar(emitter, number, false);
    case JSON_TRUE:
        return emit_scalar(emitter, "true", false);
    case JSON_FALSE:
        return emit_scalar(emitter, "false", false);
    case JSON_NULL:
        break;
    }
    return emit_scalar(emitter, "null", false);
}

static int append(void *context, unsigned char *bytes, size_t size)
{
    struct strbuf *out = context;
    strbuf_add(out, (const char *)bytes, size);
    return !out->failed;
}

enum status output_yaml(const json_t *value, struct strbuf *out)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    if (!yaml_emitter_initialize(&emitter))
        return E_NOMEM;
    yaml_emitter_set_output(&emitter, append, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    bool good = yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) &&
                yaml_emitter_emit(&emitter, &event) &&
                yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) &&
                yaml_emitter_emit(&emitter, &event) && emit_value(&emitter, value) &&
                yaml_document_end_event_initialize(&event, 1) &&
                yaml_emitter_emit(&emitter, &event) && yaml_stream_end_event_initialize(&event) &&
                yaml_emitter_emit(&emitter, &event);
    yaml_emitter_delete(&emitter);
    return good ? strbuf_status(out) : E_NOMEM;
}

/* A failed write is told by cli_finish. */
static enum status print_yaml(const json_t *value)
{
    struct strbuf text;
    strbuf_init(&text);
    enum status st = output_yaml(value, &text);
    if (st == OK)
        fputs(text.text, stdout);
    strbuf_release(&text);
    return st;
}

enum exit_code output_print(const json_t *value, enum output output)
{
    return cli_fail(output == OUTPUT_YAML ? print_yaml(value) : json_print(value));
}

/* ---- questions ---- */

static bool can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

__attribute__((format(printf, 1, 0))) static bool ask(const char *format, va_list args)
{
    char answer[16];
    vfprintf(stderr, tr(format), args);
    fputs(" [y/N] ", stderr);
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

bool confirmed(bool yes, const char *format, ...)
{
    va_list args;
    if (yes || !can_ask())
        return true;
    va_start(args, format);
    yes = ask(format, args);
    va_end(args);
    return yes;
}

enum exit_code confirm_deletion(bool yes, const char *format, ...)
{
    va_list args;
    if (yes)
        return EXIT_OK;
    if (!can_ask()) {
        cli_error("nothing was deleted: without a terminal to ask on, --yes is needed");
        return EXIT_USAGE;
    }
    va_start(args, format);
    yes = ask(format, args);
    va_end(args);
    if (!yes)
        fprintf(stderr, "%s\n", tr("nothing was deleted"));
    return yes ? EXIT_OK : EXIT_ERROR;
}
