/* A job as YAML in handwritten style: short words plain, other texts in quotes, scripts as blocks,
 * commands on one line. */
#include <ctype.h>
#include <string.h>

#include "definition/job_codec.h"
#include "document/node.h"
#include "document/utf8.h"

static void indent(struct strbuf *out, int depth)
{
    for (int i = 0; i < depth; i++)
        strbuf_adds(out, "  ");
}

/* Letters, digits and some characters without a meaning in YAML: every YAML parser reads such a
 * plain scalar back as the same text. */
static bool may_be_plain(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./@%+=:-";
    size_t length = strspn(text, letters);
    if (text[length] || length > 120 || strchr("@%=:", text[0]))
        return false;
    for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
        if (!isalnum((unsigned char)colon[1]) && colon[1] != '/')
            return false;
    }
    if (text[0] == '-' && !isalpha((unsigned char)text[strspn(text, "-")])) /* `-`, `---` */
        return false;
    return strncmp(text, "...", 3) != 0 && strncmp(text, "---", 3) != 0 &&
           plain_kind(text) == PLAIN_TEXT;
}

/* Plain words with single spaces, as in a note. */
static bool may_be_sentence(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-, ()";
    size_t length = strlen(text);
    if (length > 120 || text[strspn(text, letters)] || strstr(text, "  "))
        return false;
    bool starts_well = strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", text[0]);
    return length && starts_well && text[length - 1] != ' ';
}

static void add_quoted(struct strbuf *out, const char *text)
{
    size_t length = strlen(text);
    strbuf_addc(out, '"');
    for (size_t at = 0, size; at < length; at += size) {
        uint32_t c = 0;
        size = 1;
        bool valid = utf8_decode(text + at, length - at, &c, &size);
        if (c == '"' || c == '\\')
            strbuf_addf(out, "\\%c", (char)c);
        else if (c == '\n' || c == '\t' || c == '\r')
            strbuf_adds(out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
        else if (!valid || (c != 0x85 && c != 0x2028 && c != 0x2029 && utf8_is_printable(c)))
            strbuf_add(out, text + at, size);
        else
            strbuf_addf(out, c > 0xFF ? "\\u%04X" : "\\x%02X", (unsigned)c);
    }
    strbuf_addc(out, '"');
}

/* Lines that a block scalar preserves: each ends with a line end, none with a space, and the first,
 * which determines the indentation, starts without a blank. */
static bool may_be_block(const char *text)
{
    size_t length = strlen(text);
    if (!length || text[length - 1] != '\n' || strchr(" \t\n", text[0]))
        return false;
    if (length > 1 && text[length - 2] == '\n')
        return false;
    for (size_t at = 0, size; at < length; at += size) {
        uint32_t c;
        if (!utf8_decode(text + at, length - at, &c, &size))
            return false;
        if (c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029 || !utf8_is_printable(c))
            return false;
        if ((c == ' ' || c == '\t') && text[at + 1] == '\n')
            return false;
    }
    return true;
}

static void add_block(struct strbuf *out, const char *text, int depth)
{
    strbuf_adds(out, "|\n");
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n") + 1;
        if (length > 1)
            indent(out, depth);
        strbuf_add(out, line, length);
        line += length;
    }
}

static void add_word(struct strbuf *out, const char *text)
{
    if (may_be_plain(text))
        strbuf_adds(out, text);
    else
        add_quoted(out, text);
}

/* A value on the line of "name: ", without the line end. */
static void add_scalar(struct strbuf *out, const json_t *value)
{
    if (json_is_string(value))
        add_word(out, json_string_value(value));
    else if (json_is_integer(value))
        strbuf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        strbuf_adds(out, json_is_true(value) ? "true" : "false");
}

static void add_words(struct strbuf *out, const json_t *list)
{
    strbuf_addc(out, '[');
    for (size_t i = 0; i < json_array_size(list); i++) {
        strbuf_adds(out, i ? ", " : "");
        add_scalar(out, json_array_get(list, i));
    }
    strbuf_addc(out, ']');
}

/* [extract, {job: probe, "on": always}]; of steps `key` is "step". */
static void add_after(struct strbuf *out, const json_t *list, const char *key)
{
    strbuf_adds(out, " [");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const json_t *on = json_object_get(item, "on");
        strbuf_adds(out, i ? ", " : "");
        if (on)
            strbuf_addf(out, "{%s: ", key);
        add_scalar(out, json_object_get(item, key));
        if (on)
            strbuf_addf(out, ", \"on\": %s}", json_string_value(on));
    }
    strbuf_adds(out, "]\n");
}

/* after: extract */
static void add_step_after(struct strbuf *out, const json_t *list)
{
    const json_t *first = json_array_get(list, 0);
    if (json_array_size(list) > 1 || json_object_get(first, "on")) {
        add_after(out, list, "step");
        return;
    }
    strbuf_addc(out, ' ');
    add_scalar(out, json_object_get(first, "step"));
    strbuf_addc(out, '\n');
}

/* {of: steps.extract.files, at_once: 4} */
static void add_flow_map(struct strbuf *out, const json_t *map)
{
    const char *before = " {", *name;
    json_t *value;
    json_object_foreach ((json_t *)map, name, value) {
        strbuf_addf(out, "%s%s: ", before, name);
        if (json_is_array(value))
            add_words(out, value);
        else
            add_scalar(out, value);
        before = ", ";
    }
    strbuf_adds(out, "}\n");
}

static void add_lines(struct strbuf *out, const json_t *list, int depth)
{
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < json_array_size(list); i++) {
        indent(out, depth);
        strbuf_adds(out, "- ");
        add_quoted(out, json_string_value(json_array_get(list, i)));
        strbuf_addc(out, '\n');
    }
}

/* An expression without a character that ends a plain scalar or begins a comment. */
static bool may_be_expression(const char *text)
{
    size_t length = strlen(text);
    for (const char *c = text; *c; c++) {
        if (*c < ' ' || *c > '~' || *c == ':' || *c == '#')
            return false;
    }
    return length <= 120 && isalpha((unsigned char)text[0]) && text[length - 1] != ' ' &&
           plain_kind(text) == PLAIN_TEXT;
}

static void add_text(struct strbuf *out, const char *name, const char *text, int depth)
{
    if (may_be_block(text)) {
        add_block(out, text, depth + 1);
        return;
    }
    bool is_plain = (may_be_sentence(text) && plain_kind(text) == PLAIN_TEXT) ||
                    (strcmp(name, "when") == 0 && may_be_expression(text));
    if (strcmp(name, "schedule") == 0) /* `*` and `@` need quotes, so every schedule has them */
        add_quoted(out, text);
    else if (is_plain)
        strbuf_adds(out, text);
    else
        add_word(out, text);
    strbuf_addc(out, '\n');
}

static void add_map(struct strbuf *out, const json_t *map, int depth, bool is_step);

static void add_steps(struct strbuf *out, const json_t *steps, int depth)
{
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < json_array_size(steps); i++) {
        indent(out, depth);
        strbuf_adds(out, "- ");
        add_map(out, json_array_get(steps, i), depth + 1, true);
    }
}

static void add_list(struct strbuf *out, const char *name, const json_t *list, int depth,
                     bool is_step)
{
    bool is_after = strcmp(name, "after") == 0;
    if (json_is_object(json_array_get(list, 0)) && !is_after) {
        add_steps(out, list, depth + 1);
    } else if (strcmp(name, "schedules") == 0) {
        add_lines(out, list, depth + 1);
    } else if (is_after && is_step) {
        add_step_after(out, list);
    } else if (is_after) {
        add_after(out, list, "job");
    } else {
        strbuf_addc(out, ' ');
        add_words(out, list);
        strbuf_addc(out, '\n');
    }
}

/* Of a step, the first line has its dash already. */
static void add_map(struct strbuf *out, const json_t *map, int depth, bool is_step)
{
    const char *name;
    json_t *value;
    bool has_dash = is_step;
    json_object_foreach ((json_t *)map, name, value) {
        if (!has_dash)
            indent(out, depth);
        has_dash = false;
        add_word(out, name);
        strbuf_addc(out, ':');
        if (is_step && json_is_object(value) && strcmp(name, "each") == 0) {
            add_flow_map(out, value);
        } else if (json_is_object(value)) {
            strbuf_addc(out, '\n');
            add_map(out, value, depth + 1, false);
        } else if (json_is_array(value)) {
            add_list(out, name, value, depth, is_step);
        } else {
            strbuf_addc(out, ' ');
            if (json_is_string(value)) {
                add_text(out, name, json_string_value(value), depth);
            } else {
                add_scalar(out, value);
                strbuf_addc(out, '\n');
            }
        }
    }
}

enum status job_encode_yaml(const struct job *job, struct strbuf *out)
{
    json_t *value = job_encode_json(job, false);
    if (!value)
        return E_NOMEM;
    add_map(out, value, 0, false);
    json_decref(value);
    return strbuf_status(out);
}
