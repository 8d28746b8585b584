/* From a request to its handler: who asks, which route, what the query and the body say. */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <string.h>
#include <sys/socket.h>

#include "handlers.h"
#include "server.h"

static const struct route routes[] = {
    {HTTP_GET, "/agent", "", "", get_agent},
    {HTTP_POST, "/agent/drain", "", "", drain_agent},
    {HTTP_GET, "/nodes", "", "", list_nodes},
    {HTTP_GET, "/nodes/{id}", "", "", get_node},
    {HTTP_POST, "/nodes/{id}/drain", "", "", drain_node},
    {HTTP_POST, "/nodes/{id}/undrain", "", "", undrain_node},
    {HTTP_GET, "/cluster", "", "", get_cluster},
    {HTTP_POST, "/cluster/advance-cursors", "", "", advance_cursors},
    {HTTP_GET, "/jobs", "limit cursor q label deleted", "", list_jobs},
    {HTTP_POST, "/jobs:batch", "", "put delete dry_run", batch_jobs},
    {HTTP_GET, "/jobs/{name}", "", "", get_job},
    {HTTP_PUT, "/jobs/{name}", "dry_run", ANY_BODY, put_job},
    {HTTP_DELETE, "/jobs/{name}", "", "", delete_job},
    {HTTP_POST, "/jobs/{name}/undelete", "", "", undelete_job},
    {HTTP_POST, "/jobs/{name}/pause", "", "", pause_job},
    {HTTP_POST, "/jobs/{name}/resume", "", "", resume_job},
    {HTTP_POST, "/jobs/{name}/skip-next", "", "count", skip_next},
    {HTTP_POST, "/jobs/{name}/run", "", "", run_job},
    {HTTP_POST, "/jobs/{name}/backfill", "", "from to dry_run limit", backfill_job},
    {HTTP_GET, "/jobs/{name}/next", "n", "", get_next},
    {HTTP_GET, "/jobs/{name}/why", "tick", "", why_job},
    {HTTP_GET, "/runs", "job state since until node q min_duration ledger limit cursor", "",
     list_runs},
    {HTTP_GET, "/runs/{id}", "", "", get_run},
    {HTTP_POST, "/runs/{id}/kill", "", "", kill_run},
    {HTTP_GET, "/runs/{id}/log", "offset limit", "", get_log},
};

/* ---- who ---- */

static bool peer_uid(struct evhttp_request *request, uid_t *ret)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    int fd = (int)bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
    struct ucred peer;
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *ret = peer.uid;
    return true;
}

static bool admit(struct call *call)
{
    const struct api *api = call->api;
    uid_t uid;
    if (!peer_uid(call->request, &uid) || (uid != 0 && uid != api->own_uid)) {
        call_fail(call, 403, "only root and %s may use this agent", api->own_user);
        return false;
    }
    call->by = uid == api->own_uid ? api->own_user : "root";
    return true;
}

/* ---- which route ---- */

static unsigned method_of(struct evhttp_request *request)
{
    enum evhttp_cmd_type command = evhttp_request_get_command(request);
    return command == EVHTTP_REQ_GET || command == EVHTTP_REQ_HEAD ? HTTP_GET
           : command == EVHTTP_REQ_PUT                             ? HTTP_PUT
           : command == EVHTTP_REQ_POST                            ? HTTP_POST
           : command == EVHTTP_REQ_DELETE                          ? HTTP_DELETE
                                                                   : 0;
}

static void fail_method(struct call *call, unsigned methods)
{
    struct strbuf allow;
    strbuf_init(&allow);
    router_print_methods(methods, &allow);
    call_header(call, "Allow", allow.text);
    call_fail(call, 405, "this path knows %s only", allow.text);
    strbuf_release(&allow);
}

static bool find_route(struct call *call, const char *path)
{
    unsigned methods = 0;
    switch (router_find(routes, sizeof(routes) / sizeof(routes[0]), path, method_of(call->request),
                        &call->route, &call->argument, &methods)) {
    case ROUTE_FOUND:
        return true;
    case ROUTE_NO_PATH:
        call_fail(call, 404, "there is nothing at %.200s; docs/API.md lists what there is", path);
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

/* While jobs are still being loaded, what is not there yet must not look as if it were gone. The
 * agent and its cluster can be asked. */
static bool is_ready(struct call *call)
{
    const char *pattern = call->route->pattern;
    if (engine_is_loaded(call->api->ports.engine) || strncmp(pattern, "/agent", 6) == 0 ||
        strncmp(pattern, "/cluster", 8) == 0)
        return true;
    call_header(call, "Retry-After", "1");
    call_fail(call, 503, "the agent is still loading its jobs; try again in a moment");
    return false;
}

/* ---- what it says ---- */

static bool read_query(struct call *call, const char *text)
{
    struct parse_error error = {0};
    enum status st = query_parse(text, call->route->params, &call->query, &error);
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else if (st != OK)
        call_fail(call, 422, "%s", error.message);
    return st == OK;
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

static bool read_body(struct call *call)
{
    struct evbuffer *in = evhttp_request_get_input_buffer(call->request);
    size_t length = evbuffer_get_length(in);
    bool any = strcmp(call->route->fields, ANY_BODY) == 0;
    json_error_t error;
    if (!length && any) {
        call_fail_at(call, "", "a body is needed: a definition as JSON");
        return false;
    }
    if (!length) {
        call->body = json_object();
        return true;
    }
    const char *text = (const char *)evbuffer_pullup(in, -1);
    call->body = text ? json_loadb(text, length, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (!text || (!call->body && json_error_code(&error) == json_error_out_of_memory)) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    if (!call->body) {
        json_t *errors =
            json_pack("{s:[o]}", "errors", error_item("", error.line, error.column, error.text));
        call_fail_with(call, 422, errors, "the body is not JSON: line %d, column %d: %s",
                       error.line, error.column, error.text);
        return false;
    }
    return any || check_fields(call);
}

void dispatch_request(struct api *api, struct evhttp_request *request)
{
    struct call *call = call_new(api, request);
    if (!call) {
        evhttp_send_reply(request, 500, "Internal Server Error", NULL);
        return;
    }
    if (!admit(call))
        return;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *path = evhttp_uri_get_path(uri);
    if (find_route(call, path ? path : "") && is_ready(call) &&
        read_query(call, evhttp_uri_get_query(uri)) && read_body(call))
        call->route->handle(call);
}
