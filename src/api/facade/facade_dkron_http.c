#include "facade/facade_dkron_http.h"

#include <stdlib.h>
#include <string.h>

#include "strbuf.h"

#define TIMEOUT_S "30"   /* dkron's own default */
enum { REDIRECTS = 10 }; /* followed, as Go's client does */

struct reading {
    const char *field, *why;
};

typedef json_t *read_text(struct reading *reading, const char *text);

static json_t *refuse(struct reading *reading, const char *why)
{
    reading->why = why;
    return NULL;
}

/* dkron has no variables: what looks like one is a plain text. */
static json_t *read_plain(struct reading *reading, const char *text)
{
    struct strbuf out;
    strbuf_init(&out);
    for (const char *at = text, *next;; at = next + 2) {
        next = strstr(at, "${");
        strbuf_add(&out, at, next ? (size_t)(next - at) : strlen(at));
        if (!next)
            break;
        strbuf_adds(&out, "$${");
    }
    json_t *value = strbuf_status(&out) == OK ? json_string(out.text) : NULL;
    strbuf_release(&out);
    return value ? value : refuse(reading, "expected a text in UTF-8");
}

static json_t *read_same(struct reading *reading, const char *text)
{
    (void)reading;
    return json_string(text);
}

/* "[\"Accept: text/plain\"]", a list as text */
static json_t *read_headers(struct reading *reading, const char *text)
{
    json_t *list = json_loads(text, 0, NULL), *headers = json_object(), *item;
    size_t i;
    json_array_foreach (list, i, item) {
        const char *line = json_string_value(item);
        const char *colon = line ? strchr(line, ':') : NULL;
        json_t *value = colon ? read_plain(reading, colon + 1 + strspn(colon + 1, " ")) : NULL;
        if (!value || json_object_setn_new(headers, line, (size_t)(colon - line), value) != 0) {
            json_decref(headers);
            headers = NULL;
            break;
        }
    }
    bool is_list = json_is_array(list);
    json_decref(list);
    if (headers && is_list)
        return headers;
    json_decref(headers);
    return refuse(reading, "expected a list of headers as text: [\"Accept: text/plain\"]");
}

/* "200, 206" */
static json_t *read_codes(struct reading *reading, const char *text)
{
    json_t *codes = json_array();
    (void)reading;
    for (size_t length; *(text += strspn(text, ", ")); text += length) {
        length = strcspn(text, ", ");
        json_array_append_new(codes, json_stringn(text, length));
    }
    return codes;
}

/* A regular expression in dkron, a plain text here. */
static json_t *read_match(struct reading *reading, const char *text)
{
    return text[strcspn(text, "\\^$.|?*+()[]{}")]
               ? refuse(reading, "a regular expression can't be converted: peal looks for a text")
               : json_string(text);
}

static json_t *read_unverified(struct reading *reading, const char *text)
{
    return strcmp(text, "true") == 0
               ? refuse(reading, "certificates are always verified; name the CA in tlsRootCAsFile")
               : json_null();
}

static json_t *read_ignored(struct reading *reading, const char *text)
{
    (void)reading, (void)text;
    return json_null();
}

static const struct {
    const char *theirs, *ours; /* NULL: none */
    read_text *read;
} fields[] = {
    {"url", "url", read_plain},
    {"method", "method", read_same},
    {"headers", "headers", read_headers},
    {"body", "body", read_plain},
    {"expectCode", "status", read_codes},
    {"expectBody", "match", read_match},
    {"tlsNoVerifyPeer", NULL, read_unverified},
    {"tlsRootCAsFile", "ca", read_same},
    {"tlsCertificateFile", "cert", read_same},
    {"tlsCertificateKeyFile", "key", read_same},
    {"timeout", NULL, read_ignored},
    {"debug", NULL, read_ignored},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Seconds, as a number or a text. NULL: out of memory. */
static json_t *read_timeout(const json_t *value)
{
    const char *text = json_string_value(value);
    struct strbuf out;
    strbuf_init(&out);
    if (json_is_integer(value))
        strbuf_addf(&out, "%lld", (long long)json_integer_value(value));
    else
        strbuf_adds(&out, text && *text ? text : TIMEOUT_S);
    if (out.text[strspn(out.text, "0123456789")] == '\0')
        strbuf_addc(&out, 's');
    json_t *timeout = json_string(out.text);
    strbuf_release(&out);
    return timeout;
}

json_t *dkron_read_http(const json_t *config, json_t **ret_timeout, const char **ret_field,
                        const char **ret_why)
{
    struct reading reading = {.why = "unknown field, or one that can't be converted"};
    json_t *http = json_object(), *value;
    const char *name;
    json_object_foreach ((json_t *)config, name, value) {
        size_t i = 0;
        const char *text = json_string_value(value);
        while (i < FIELDS && strcmp(fields[i].theirs, name) != 0)
            i++;
        *ret_field = reading.field = name;
        json_t *ours = i == FIELDS       ? NULL
                       : !text || !*text ? json_null()
                                         : fields[i].read(&reading, text);
        if (!ours) {
            *ret_why = reading.why;
            json_decref(http);
            return NULL;
        }
        if (!json_is_null(ours) && fields[i].ours)
            json_object_set(http, fields[i].ours, ours);
        json_decref(ours);
    }
    json_object_set_new(http, "redirects", json_integer(REDIRECTS));
    *ret_timeout = read_timeout(json_object_get(config, "timeout"));
    return http;
}

/* ---- back ---- */

/* The text as dkron has it: what is no variable here looks like one there. */
static json_t *show_plain(const char *text)
{
    struct strbuf out;
    strbuf_init(&out);
    for (const char *next; (next = strstr(text, "$${")); text = next + strlen("$${")) {
        strbuf_add(&out, text, (size_t)(next - text));
        strbuf_adds(&out, "${");
    }
    strbuf_adds(&out, text);
    json_t *value = strbuf_status(&out) == OK ? json_string(out.text) : NULL;
    strbuf_release(&out);
    return value;
}

static void set_joined(json_t *config, const char *name, const json_t *list)
{
    struct strbuf text;
    json_t *item;
    size_t i;
    strbuf_init(&text);
    if (json_is_string(list))
        strbuf_adds(&text, json_string_value(list));
    json_array_foreach (list, i, item) {
        strbuf_addf(&text, "%s%s", i ? ", " : "", json_string_value(item));
    }
    if (text.length)
        json_object_set_new(config, name, json_string(text.text));
    strbuf_release(&text);
}

static void set_headers(json_t *config, const json_t *headers)
{
    json_t *list = json_array(), *value;
    const char *name;
    json_object_foreach ((json_t *)headers, name, value) {
        json_t *plain = show_plain(json_string_value(value));
        json_array_append_new(list, json_sprintf("%s: %s", name, json_string_value(plain)));
        json_decref(plain);
    }
    char *text = json_array_size(list) ? json_dumps(list, 0) : NULL;
    if (text)
        json_object_set_new(config, "headers", json_string(text));
    free(text);
    json_decref(list);
}

json_t *dkron_show_http(const json_t *native)
{
    const json_t *http = json_object_get(native, "http");
    json_t *config = json_object();
    if (json_is_string(http)) {
        json_object_set_new(config, "url", show_plain(json_string_value(http)));
    } else {
        for (size_t i = 0; i < FIELDS; i++) {
            json_t *value = fields[i].ours ? json_object_get(http, fields[i].ours) : NULL;
            if (json_is_string(value) && fields[i].read == read_plain)
                json_object_set_new(config, fields[i].theirs, show_plain(json_string_value(value)));
            else if (json_is_string(value))
                json_object_set(config, fields[i].theirs, value);
        }
        set_headers(config, json_object_get(http, "headers"));
        set_joined(config, "expectCode", json_object_get(http, "status"));
    }
    if (!json_object_get(config, "method"))
        json_object_set_new(
            config, "method",
            json_string(json_is_object(http) && json_object_get(http, "body") ? "POST" : "GET"));
    if (json_object_get(native, "timeout"))
        json_object_set(config, "timeout", json_object_get(native, "timeout"));
    return config;
}
