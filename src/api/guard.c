/* Who asks, and whether they may. On the UNIX socket it is the kernel that says who; on TCP the
 * accounts do, after the checks that keep a browser from being sent here by another site. */
#include <arpa/inet.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "server.h"

/* ---- the UNIX socket ---- */

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

static bool admit_peer(struct call *call)
{
    const struct api *api = call->api;
    struct principal *principal = &call->principal;
    uid_t uid;
    if (!peer_uid(call->request, &uid) || (uid != 0 && uid != api->own_uid)) {
        call_fail(call, 403, "only root and %s may use this agent", api->own_user);
        return false;
    }
    principal->kind = PRINCIPAL_SOCKET;
    principal->rights = ROLE_ADMIN;
    snprintf(principal->name, sizeof(principal->name), "%s",
             uid == api->own_uid ? api->own_user : "root");
    return true;
}

/* ---- TCP: browsers that others steer ---- */

/* Without its port. */
static size_t host_length(const char *host)
{
    const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    return bracket ? (size_t)(bracket + 1 - host) : strcspn(host, ":");
}

static bool is_address(const char *host, size_t length)
{
    char text[64];
    struct in6_addr address;
    if (length >= sizeof(text))
        return false;
    bool is_v6 = length > 2 && *host == '[';
    size_t from = is_v6 ? 1 : 0;
    memcpy(text, host + from, length - 2 * from);
    text[length - 2 * from] = '\0';
    return inet_pton(is_v6 ? AF_INET6 : AF_INET, text, &address) == 1;
}

static bool same_host(const char *known, const char *host, size_t length)
{
    return strlen(known) == length && strncasecmp(known, host, length) == 0;
}

static bool is_own_name(const struct api *api, const char *host)
{
    size_t length = host_length(host);
    if (same_host("localhost", host, length) || is_address(host, length))
        return true;
    for (size_t i = 0; i < api->host_count; i++) {
        if (same_host(api->hosts[i], host, length))
            return true;
    }
    return false;
}

/* A name that somebody else lets point here (DNS rebinding) would make their page ours. With TLS
 * the certificate says whose name it is. */
static bool check_host(struct call *call)
{
    const char *host = call_input(call, "Host");
    if (!host || !*host) {
        call_fail(call, 400, "the request does not say which Host it is for");
        return false;
    }
    if (call->api->tls || is_own_name(call->api, host))
        return true;
    call_fail(call, 403,
              "\"%.100s\" is not known as a name of this server; list it as `hosts` in the "
              "configuration file",
              host);
    return false;
}

/* "https://peal.example:7325" is of the host that the request is for. */
static bool is_own_origin(const struct call *call, const char *origin, const char *host)
{
    const char *rest = strstr(origin, "://");
    if (!rest)
        return false; /* "null", too: a page without a home */
    rest += strlen("://");
    if (strcasecmp(rest, host) == 0)
        return true;
    size_t length = host_length(rest);
    for (size_t i = 0; i < call->api->host_count; i++) {
        if (same_host(call->api->hosts[i], rest, length))
            return true;
    }
    return false;
}

/* What changes something must not come from a page of another site. */
static bool check_origin(struct call *call)
{
    const char *origin = call_input(call, "Origin");
    const char *site = call_input(call, "Sec-Fetch-Site");
    bool is_foreign = origin ? !is_own_origin(call, origin, call_input(call, "Host"))
                             : site && strcasecmp(site, "cross-site") == 0;
    if (call->is_safe || !is_foreign)
        return true;
    call_fail(call, 403, "this request was made by a page of another site (%.100s)",
              origin ? origin : site);
    return false;
}

/* ---- TCP: accounts ---- */

/* The last of them: those before it may be the client's own. */
static const char *last_header(const struct call *call, const char *name)
{
    const char *value = NULL;
    struct evkeyval *header;
    TAILQ_FOREACH (header, evhttp_request_get_input_headers(call->request), next) {
        if (strcasecmp(header->key, name) == 0)
            value = header->value;
    }
    return value;
}

static void find_client(const struct call *call, char ret[INET6_ADDRSTRLEN])
{
    char *peer = NULL;
    ev_uint16_t port;
    evhttp_connection_get_peer(evhttp_request_get_connection(call->request), &peer, &port);
    proxy_client(&call->api->proxies, peer ? peer : "", last_header(call, "X-Forwarded-For"), ret);
}

static enum status authenticate(struct call *call)
{
    const struct authenticator *accounts = &call->api->ports.accounts;
    char peer[INET6_ADDRSTRLEN];
    if (!accounts->authenticate)
        return E_NOT_FOUND;
    find_client(call, peer);
    struct credentials given = {
        .authorization = call_input(call, "Authorization"),
        .cookie = call_input(call, "Cookie"),
        .peer = peer,
    };
    return accounts->authenticate(accounts->context, &given, &call->principal);
}

static void fail_unknown(struct call *call, enum status st)
{
    if (st == E_BUSY) {
        call_header(call, "Retry-After", "10");
        call_fail(call, 429, "too many wrong credentials; wait a moment");
        return;
    }
    if (st != E_NOT_FOUND && st != E_INVALID) {
        call_fail(call, 503, "who you are can't be looked up now: %s", status_text(st));
        return;
    }
    call_header(call, "WWW-Authenticate", "Bearer realm=\"peal\"");
    call_fail(call, 401,
              st == E_INVALID
                  ? "these credentials are not valid; log in again, or use another token"
                  : "log in, or send a token: Authorization: Bearer TOKEN");
}

static bool admit_remote(struct call *call, const struct route *route)
{
    if (!check_host(call) || !check_origin(call))
        return false;
    enum status st = authenticate(call);
    if (st == OK || (route && route->right == RIGHT_PUBLIC))
        return true;
    fail_unknown(call, st);
    return false;
}

bool call_may(struct call *call, enum right right)
{
    if (right == RIGHT_PUBLIC || call->principal.rights & right)
        return true;
    call_fail(call, 403, "%s may not do this: it needs the right \"%s\"", call->principal.name,
              right_name(right));
    return false;
}

bool guard_admit(struct call *call, const struct route *route)
{
    if (call->listener->is_tcp ? !admit_remote(call, route) : !admit_peer(call))
        return false;
    return !route || call_may(call, route->right);
}
