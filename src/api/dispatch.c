/* From a request to its handler: the head decides route and admission; when the request is
 * complete, query and body are decoded. */
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "idempotency.h"
#include "routes.h"
#include "server.h"

enum { LARGE_BYTES_MAX = 64 << 20 }; /* of large bodies held by calls */

/* ---- which route ---- */

static void fail_method(struct call *call, unsigned methods)
{
    struct strbuf allow;
    strbuf_init(&allow);
    router_print_methods(methods, &allow);
    call_header(call, "Allow", allow.text);
    call_fail(call, 405, "this path supports %s only", allow.text);
    strbuf_release(&allow);
}

/* Unauthenticated callers must not learn which routes exist. */
static bool find_route(struct call *call)
{
    const char *target = http_target(call->request);
    const struct route *route = NULL;
    char *arguments[ROUTE_ARGUMENTS] = {NULL};
    unsigned methods = 0;
    enum route_result result =
        target_split(target, &call->path, &call->query_text)
            ? router_find(api_routes, api_route_count, call->api->hidden, call->path,
                          call->is_head ? HTTP_GET : http_method(call->request), &route, arguments,
                          &methods)
            : ROUTE_NO_PATH;
    call->argument = arguments[0];
    call->second_argument = arguments[1];
    if (!guard_admit(call, route))
        return false;
    call->route = route;
    switch (result) {
    case ROUTE_FOUND:
        return true;
    case ROUTE_NO_PATH:
        call_fail(call, 404, "there is nothing at %.200s; docs/API.md lists the routes", target);
        return false;
    case ROUTE_NO_METHOD:
        fail_method(call, methods);
        return false;
    case ROUTE_BAD_PATH:
        call_fail(call, 422, "the path is not percent-encoded text");
        return false;
    case ROUTE_NOMEM:
        break;
    }
    call_fail(call, 500, "out of memory");
    return false;
}

/* Clients that do not read their answers must not fill the memory. Public answers, except for the
 * console's files, are small: health checks always get one. */
static bool has_room(struct call *call)
{
    bool is_small = call->route->right == RIGHT_PUBLIC && !(call->route->flags & ROUTE_PAGE);
    if (is_small || !http_server_is_full(call->listener->http))
        return true;
    call_fail_full(call);
    return false;
}

/* While jobs are being loaded, a missing one must not look deleted. */
static bool is_ready(struct call *call)
{
    if (call->route->flags & ROUTE_EARLY || engine_is_loaded(call->api->ports.engine))
        return true;
    call_header(call, "Retry-After", "1");
    call_fail(call, 503, "the agent is still loading its jobs; try again in a moment");
    return false;
}

/* ---- what it says ---- */

/* Reads the query, or a form; `mark` is the first character of its pointers. */
static bool read_params(struct call *call, const char *text, const char *known, char mark,
                        struct query *ret)
{
    struct query_error error = {0};
    char pointer[80];
    enum status st = query_parse(text, known, ret, &error);
    snprintf(pointer, sizeof(pointer), "%c%s", mark, error.name);
    if (st == OK)
        return true;
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else if (error.mistake == QUERY_NOT_TEXT && mark == '/')
        call_fail(call, 422, "the form is not percent-encoded text");
    else if (error.mistake == QUERY_NOT_TEXT)
        call_fail(call, 422, "the query is not percent-encoded text");
    else if (error.mistake == QUERY_TWICE)
        call_fail_at(call, pointer, "parameter \"%s\" is given twice", error.name);
    else if (*known)
        call_fail_word(call, pointer, error.name, known, "unknown parameter \"%s\"; known: %s",
                       error.name, known);
    else
        call_fail_at(call, pointer, "unknown parameter \"%s\"; this call takes none", error.name);
    return false;
}

static bool read_query(struct call *call)
{
    return read_params(call, call->query_text, call->route->params, '?', &call->query);
}

static bool read_form(struct call *call)
{
    char *text = strndup(call->body_text, call->body_length);
    if (!text) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    bool is_good = read_params(call, text, call->route->fields, '/', &call->form);
    free(text);
    return is_good;
}

static bool check_fields(struct call *call)
{
    const char *known = call->route->fields;
    const char *name;
    json_t *value;
    if (!json_is_object(call->body)) {
        call_fail_at(call, "", "the body must be a JSON object");
        return false;
    }
    json_object_foreach (call->body, name, value) {
        if (word_in_list(known, name))
            continue;
        char pointer[80];
        snprintf(pointer, sizeof(pointer), "/%.70s", name);
        if (*known)
            call_fail_at(call, pointer, "unknown field \"%.60s\"; known: %s", name, known);
        else
            call_fail_at(call, pointer, "unknown field \"%.60s\"; this call takes none", name);
        return false;
    }
    return true;
}

void call_fail_json(struct call *call, const json_error_t *error)
{
    const char *text = error->text;
    if (json_error_code(error) == json_error_out_of_memory) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (json_error_code(error) == json_error_null_character)
        text = "\\u0000 is not allowed"; /* the library's words are for its callers */
    json_t *errors = json_pack("{s:[o]}", "errors",
                               error_item(call, "", error->line, error->column, text, NULL));
    call_fail_with(call, 422, errors, "the body is not JSON: line %d, column %d: %s", error->line,
                   error->column, text);
}

/* A large body is not parsed at once: its handler does so in pieces, and the call holds the text.
 * Many large bodies at once must not fill the memory. */
static bool take_large_body(struct call *call)
{
    struct api *api = call->api;
    if (api->large_bytes + call->body_length > LARGE_BYTES_MAX) {
        call_header(call, "Retry-After", "1");
        call_fail(call, 503, "too many batches at once; try again in a moment");
        return false;
    }
    call->large_body = http_take_body(call->request);
    call->large_length = call->body_length;
    api->large_bytes += call->large_length;
    call->body_text = call->large_body;
    return true;
}

static bool read_body(struct call *call)
{
    bool any = strcmp(call->route->fields, ANY_BODY) == 0;
    json_error_t error = {0};
    call->body_text = http_body(call->request, &call->body_length);
    if (!call->body_length && any) {
        call_fail_at(call, "", "a body is needed: a definition as JSON");
        return false;
    }
    if (!call->body_length) {
        call->body = json_object();
        return true;
    }
    if (call->route->flags & (ROUTE_LARGE | ROUTE_HOOK))
        return take_large_body(call);
    if (call->route->flags & ROUTE_FORM)
        return read_form(call);
    call->body = json_loadb(call->body_text, call->body_length, JSON_REJECT_DUPLICATES, &error);
    if (!call->body) {
        call_fail_json(call, &error);
        return false;
    }
    return any || check_fields(call);
}

/* Called in the turn of the call, after earlier ones: room is checked again. */
static void begin(struct call *call)
{
    if (has_room(call))
        call->route->handle(call);
}

/* ---- the way of a request ---- */

void dispatch_head(void *context, struct http_request *request)
{
    struct call *call = call_new(context, request);
    if (!call)
        http_answer(request, 500, NULL, 0);
    else if (find_route(call))
        http_admit(request, route_body_max(call->route), call->principal.kind != PRINCIPAL_NONE);
}

void dispatch_request(void *context, struct http_request *request)
{
    struct call *call = http_owner(request);
    (void)context;
    call_serve(call);
    if (guard_still_admits(call) && is_ready(call) && read_query(call) && read_body(call) &&
        idempotency_begin(call))
        call_later(call, begin);
}

void dispatch_too_large(void *context, struct http_request *request, uint64_t length)
{
    struct call *call = http_owner(request);
    (void)context;
    call_fail(call, 413, "the body has %zu bytes; this call takes %d at most", (size_t)length,
              (int)route_body_max(call->route));
}
