#include "site/openapi.h"

#include <string.h>

#include "handlers.h"
#include "routes.h"
#include "server.h"

static const char *method_name(enum http_method method)
{
    switch (method) {
    case HTTP_GET:
        return "get";
    case HTTP_PUT:
        return "put";
    case HTTP_POST:
        return "post";
    case HTTP_DELETE:
        return "delete";
    case HTTP_PATCH:
        return "patch";
    case HTTP_HEAD:
    case HTTP_OPTIONS: /* no route has these methods */
        break;
    }
    return "";
}

/* The route's entry in the parts: "get /api/v1/jobs". */
static const json_t *operation_of(const json_t *parts, const struct route *route)
{
    char key[128];
    snprintf(key, sizeof(key), "%s %s", method_name(route->method), route->pattern);
    return json_object_get(json_object_get(parts, "operations"), key);
}

static json_t *reference(const char *schema)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", schema));
}

/* ---- parameters and bodies ---- */

/* Calls `add` for each word of a list. */
static bool each_word(const char *list, bool (*add)(void *context, const char *word), void *context)
{
    while (*list) {
        char word[64];
        size_t length = strcspn(list, " ");
        snprintf(word, sizeof(word), "%.*s", (int)length, list);
        if (!add(context, word))
            return false;
        list += length;
        list += strspn(list, " ");
    }
    return true;
}

struct list_state {
    const json_t *parts;
    json_t *into;
};

static bool add_param(void *context, const char *name)
{
    struct list_state *state = context;
    json_t *known = json_object_get(json_object_get(state->parts, "parameters"), name);
    json_t *param = json_pack("{s:s, s:s, s:b}", "name", name, "in", "query", "required", 0);
    if (known && param)
        json_object_update(param, known);
    return json_array_append_new(state->into, param) == 0;
}

static bool add_field(void *context, const char *name)
{
    struct list_state *state = context;
    json_t *known = json_object_get(json_object_get(state->parts, "fields"), name);
    return json_object_set_new(state->into, name, known ? json_incref(known) : json_object()) == 0;
}

static json_t *describe_params(const json_t *parts, const struct route *route)
{
    json_t *list = json_array();
    struct list_state state = {parts, list};
    for (const char *open = route->pattern; (open = strchr(open, '{')); open++) {
        json_t *param = json_pack("{s:o, s:s, s:b, s:{s:s}}", "name",
                                  json_stringn(open + 1, strcspn(open + 1, "}")), "in", "path",
                                  "required", 1, "schema", "type", "string");
        json_array_append_new(list, param);
    }
    each_word(route->params, add_param, &state);
    return list;
}

/* NULL: the route has no body. */
static json_t *describe_body(const json_t *parts, const struct route *route)
{
    json_t *schema;
    const char *name = json_string_value(json_object_get(operation_of(parts, route), "body"));
    if (strcmp(route->fields, ANY_BODY) == 0) {
        schema = reference(name ? name : "Definition");
    } else if (*route->fields) {
        struct list_state state = {parts, json_object()};
        each_word(route->fields, add_field, &state);
        schema = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
                           "properties", state.into);
    } else {
        return NULL;
    }
    const char *type = route->flags & ROUTE_FORM ? "application/x-www-form-urlencoded"
                       : route->method == HTTP_PATCH && !(route->flags & ROUTE_FACADES)
                           ? "application/merge-patch+json"
                           : "application/json";
    return json_pack("{s:b, s:{s:{s:o}}}", "required", strcmp(route->fields, ANY_BODY) == 0,
                     "content", type, "schema", schema);
}

/* ---- replies ---- */

static json_t *describe_answers(const json_t *parts, const struct route *route)
{
    const json_t *operation = operation_of(parts, route);
    const char *schema = json_string_value(json_object_get(operation, "answer"));
    json_int_t status = json_integer_value(json_object_get(operation, "status"));
    char code[8];
    snprintf(code, sizeof(code), "%d", status ? (int)status : 200);
    const char *type = route->flags & ROUTE_STREAM ? "text/event-stream"
                       : route->flags & ROUTE_TEXT ? "text/plain"
                                                   : "application/json";
    json_t *content = json_pack("{s:{s:o}}", type, "schema",
                                schema ? reference(schema) : json_pack("{s:s}", "type", "string"));
    return json_pack("{s:{s:s, s:o}, s:{s:s, s:{s:{s:o}}}}", code, "description", route->summary,
                     "content", content, "default", "description", "A problem (RFC 9457)",
                     "content", "application/problem+json", "schema", reference("Problem"));
}

/* ---- the document ---- */

static json_t *describe_route(const json_t *parts, const struct route *route)
{
    json_t *security =
        route->right == RIGHT_PUBLIC ? json_array() : json_pack("[{s:[]}]", "bearer");
    json_t *value =
        json_pack("{s:s, s:o, s:o, s:o, s:s}", "summary", route->summary, "parameters",
                  describe_params(parts, route), "responses", describe_answers(parts, route),
                  "security", security, "x-right", right_name(route->right));
    json_t *body = describe_body(parts, route);
    if (value && body)
        json_object_set_new(value, "requestBody", body);
    return value;
}

static json_t *describe_paths(const json_t *parts, unsigned hidden)
{
    json_t *paths = json_object();
    for (size_t i = 0; i < api_route_count; i++) {
        const struct route *route = &api_routes[i];
        if (route->flags & (hidden | ROUTE_PAGE))
            continue;
        if (!json_object_get(paths, route->pattern))
            json_object_set_new(paths, route->pattern, json_object());
        if (json_object_set_new(json_object_get(paths, route->pattern), method_name(route->method),
                                describe_route(parts, route)) != 0) {
            json_decref(paths);
            return NULL;
        }
    }
    return paths;
}

void get_openapi(struct call *call)
{
    json_t *parts = json_loads(openapi_parts, 0, NULL);
    json_t *schemas = json_incref(json_object_get(parts, "schemas"));
    json_object_set_new(schemas, "Definition", openapi_definition());
    json_t *answer =
        json_pack("{s:s, s:{s:s, s:s, s:s}, s:o, s:{s:o, s:{s:{s:s, s:s}}}}", "openapi", "3.1.0",
                  "info", "title", "peal", "version", call->api->version, "summary",
                  "Distributed cron: jobs, runs and nodes", "paths",
                  describe_paths(parts, call->api->hidden), "components", "schemas", schemas,
                  "securitySchemes", "bearer", "type", "http", "scheme", "bearer");
    json_decref(parts);
    call_reply(call, 200, answer);
}

/* ---- HTML ---- */

/* A page without scripts or styles. */
static void print_html(unsigned hidden, struct strbuf *out)
{
    strbuf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">"
                     "<title>peal: the HTTP API</title></head>\n<body>\n<h1>The HTTP API</h1>\n"
                     "<p>For programs: <a href=\"/openapi.json\">openapi.json</a>.</p>\n"
                     "<table>\n<tr><th>call<th>parameters<th>body<th>right<th>what it is</tr>\n");
    for (size_t i = 0; i < api_route_count; i++) {
        const struct route *route = &api_routes[i];
        if (route->flags & (hidden | ROUTE_PAGE))
            continue;
        struct strbuf methods;
        strbuf_init(&methods);
        router_print_methods(route->method, &methods);
        strbuf_addf(out, "<tr><td><code>%s %s</code><td>%s<td>%s<td>%s<td>%s</tr>\n",
                    route->method == HTTP_GET ? "GET" : methods.text, route->pattern, route->params,
                    strcmp(route->fields, ANY_BODY) == 0 ? "a definition" : route->fields,
                    right_name(route->right), route->summary);
        strbuf_release(&methods);
    }
    strbuf_adds(out, "</table>\n</body>\n</html>\n");
}

void get_api_page(struct call *call)
{
    struct strbuf out;
    strbuf_init(&out);
    print_html(call->api->hidden, &out);
    size_t length = out.length;
    call_reply_text(call, 200, "text/html; charset=utf-8", strbuf_detach(&out), length);
}
