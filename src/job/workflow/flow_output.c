/* What a step has written to the file PEAL_OUTPUT. */
#include <stdlib.h>
#include <string.h>

#include "document/utf8.h"
#include "workflow/flow_internal.h"

struct output {
    const char *at, *end;
    int line; /* of `at`, from 1 */
    json_t *values;
    char *why;
    size_t size;
};

static enum status fail(const struct output *o, int line, const char *what)
{
    return flow_fail(o->why, o->size, "PEAL_OUTPUT, line %d: %s", line, what);
}

/* Any text but NUL. */
static enum status check_utf8(const struct output *o)
{
    int line = 1;
    size_t length;
    uint32_t c;
    for (const char *at = o->at; at < o->end; at += length) {
        if (!utf8_decode(at, (size_t)(o->end - at), &c, &length) || !c)
            return fail(o, line, "is not text in UTF-8");
        line += c == '\n';
    }
    return OK;
}

/* state and exit_code are the step's, whatever it writes. */
static enum status check_key(const struct output *o, int line, const char *key, size_t length)
{
    if (!ref_is_key(key, length))
        return fail(o, line,
                    "expected key=value; a key has letters, digits and _, and does not begin with "
                    "a digit");
    if ((length == 5 && memcmp(key, "state", 5) == 0) ||
        (length == 9 && memcmp(key, "exit_code", 9) == 0))
        return fail(o, line, "the keys state and exit_code are peal's own");
    return OK;
}

/* The last value of a key counts. */
static enum status set(const struct output *o, int line, const char *key, size_t key_length,
                       const char *value, size_t length)
{
    char name[PARAM_NAME_MAX + 1];
    enum status st = check_key(o, line, key, key_length);
    if (st != OK)
        return st;
    memcpy(name, key, key_length);
    name[key_length] = '\0';
    return json_object_set_new(o->values, name, json_stringn(value, length)) == 0 ? OK : E_NOMEM;
}

/* ---- lines ---- */

/* The next line, without its end. False: there is none. */
static bool next_line(struct output *o, const char **ret, size_t *ret_length)
{
    if (o->at == o->end)
        return false;
    const char *feed = memchr(o->at, '\n', (size_t)(o->end - o->at));
    const char *end = feed ? feed : o->end;
    *ret = o->at;
    *ret_length = (size_t)(end - o->at);
    if (*ret_length && (*ret)[*ret_length - 1] == '\r')
        --*ret_length;
    o->at = feed ? feed + 1 : o->end;
    o->line++;
    return true;
}

/* key<<END, lines, END */
static enum status read_block(struct output *o, const char *key, size_t key_length,
                              const char *mark, size_t mark_length)
{
    int line = o->line - 1;
    const char *text = o->at, *next;
    size_t length;
    if (!mark_length)
        return fail(o, line, "expected a word behind <<, which ends the value");
    while (next_line(o, &next, &length)) {
        if (length != mark_length || memcmp(next, mark, length) != 0)
            continue;
        size_t bytes = (size_t)(next - text);
        return set(o, line, key, key_length, text, bytes ? bytes - 1 : 0);
    }
    return fail(o, line, "the line that ends this value is missing");
}

static enum status read_line(struct output *o, const char *line, size_t length)
{
    const char *equals = memchr(line, '=', length), *block = memmem(line, length, "<<", 2);
    if (!length)
        return OK;
    if (block && (!equals || block < equals))
        return read_block(o, line, (size_t)(block - line), block + 2,
                          length - (size_t)(block - line) - 2);
    if (!equals)
        return check_key(o, o->line - 1, "", 0);
    size_t key = (size_t)(equals - line);
    return set(o, o->line - 1, line, key, equals + 1, length - key - 1);
}

/* ---- JSON ---- */

static enum status set_json(const struct output *o, const char *key, const json_t *value)
{
    if (json_is_string(value))
        return set(o, 1, key, strlen(key), json_string_value(value), json_string_length(value));
    if (json_is_null(value))
        return set(o, 1, key, strlen(key), "", 0);
    char *text = flow_dump(value);
    enum status st = text ? set(o, 1, key, strlen(key), text, strlen(text)) : E_NOMEM;
    free(text);
    return st;
}

static enum status read_json(const struct output *o)
{
    json_error_t error;
    json_t *map = NULL, *value;
    const char *key;
    enum status st = flow_parse(o->at, (size_t)(o->end - o->at), &map, &error);
    if (st == E_INVALID)
        return fail(o, error.line > 0 ? error.line : 1, error.text);
    json_object_foreach (map, key, value) {
        if (st == OK)
            st = set_json(o, key, value);
    }
    json_decref(map);
    return st;
}

/* ---- all of it ---- */

static enum status write_values(const struct output *o, char **ret)
{
    *ret = NULL;
    if (!json_object_size(o->values))
        return OK;
    char *text = flow_dump(o->values);
    if (!text)
        return E_NOMEM;
    if (strlen(text) > FLOW_OUTPUT_MAX) {
        free(text);
        return flow_fail(o->why, o->size, "PEAL_OUTPUT: the values are larger than %d KiB",
                         FLOW_OUTPUT_MAX / 1024);
    }
    *ret = text;
    return OK;
}

enum status flow_read_output(const char *text, size_t length, char **ret, char *why, size_t size)
{
    struct output o = {.at = text, .end = text + length, .line = 1, .why = why, .size = size};
    const char *line;
    size_t blank = 0, line_length;
    if (length > FLOW_OUTPUT_READ_MAX)
        return flow_fail(why, size, "PEAL_OUTPUT: more than %d KiB were written",
                         FLOW_OUTPUT_READ_MAX / 1024);
    enum status st = check_utf8(&o);
    if (st != OK)
        return st;
    o.values = json_object();
    st = o.values ? OK : E_NOMEM;
    while (blank < length && strchr(" \t\r\n", text[blank]))
        blank++;
    if (st == OK && blank < length && text[blank] == '{')
        st = read_json(&o);
    else
        while (st == OK && next_line(&o, &line, &line_length))
            st = read_line(&o, line, line_length);
    if (st == OK)
        st = write_values(&o, ret);
    json_decref(o.values);
    return st;
}

/* ---- declared ---- */

bool flow_lacks_output(const struct flow_step *step, const char *key)
{
    const json_t *known;
    size_t i;
    json_array_foreach (step->outputs, i, known) {
        if (strcmp(json_string_value(known), key) == 0)
            return false;
    }
    return step->outputs != NULL;
}

enum status flow_check_output(const struct flow *flow, int step, const char *values, char *why,
                              size_t size)
{
    const json_t *key;
    json_t *map = NULL;
    json_error_t error;
    size_t i;
    if (!flow->steps[step].outputs)
        return OK;
    enum status st = values ? flow_parse(values, strlen(values), &map, &error) : OK;
    json_array_foreach (flow->steps[step].outputs, i, key) {
        if (st == OK && !json_object_get(map, json_string_value(key)))
            st = flow_fail(why, size, "the output \"%s\" was not written", json_string_value(key));
    }
    json_decref(map);
    return st;
}
