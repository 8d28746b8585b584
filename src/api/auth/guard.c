/* Authentication and authorization. On the UNIX socket the kernel names the user, but processes of
 * jobs get no rights there; on TCP the accounts decide, after the checks against requests that
 * another site makes a browser send. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "auth/origin.h"
#include "auth/visible.h"
#include "engine.h"
#include "http.h"
#include "server.h"

/* ---- TCP: browsers that others steer ---- */

static bool is_own_name(const struct api *api, const char *host)
{
    struct authority asked;
    if (!authority_read(host, &asked))
        return false;
    bool is_own = authority_is_address(&asked);
    for (size_t i = 0; i <= api->host_count && !is_own; i++) {
        const char *known = i ? api->hosts[i - 1] : "localhost";
        is_own = strlen(known) == asked.length && strncasecmp(known, asked.host, asked.length) == 0;
    }
    return is_own;
}

/* Against DNS rebinding: a foreign name that resolves to this server would make its pages
 * same-origin. With TLS the certificate protects the name. */
static bool check_host(struct call *call)
{
    const char *host = call_input(call, "Host");
    if (!host || !*host) {
        call_fail(call, 400, "the request does not say which Host it is for");
        return false;
    }
    const char *unknown = !is_own_name(call->api, host)         ? host
                          : !is_own_name(call->api, call->host) ? call->host
                                                                : NULL;
    if (call->api->tls || !unknown)
        return true;
    call_fail(call, 403,
              "\"%.100s\" is not known as a name of this server; list it as `hosts` in the "
              "configuration file",
              unknown);
    return false;
}

/* Browsers mark requests of another site's page in two ways. */
static bool is_foreign(const struct call *call)
{
    const char *origin = call_input(call, "Origin");
    const char *site = call_input(call, "Sec-Fetch-Site");
    return (origin && !origin_is_own(origin, call->is_secure, call->host)) ||
           (site && !fetch_site_is_own(site));
}

static void fail_foreign(struct call *call)
{
    const char *origin = call_input(call, "Origin");
    call_fail(call, 403,
              "this request was made by a page of another site (%.100s); this one is %s://%.100s",
              origin ? origin : call_input(call, "Sec-Fetch-Site"),
              call->is_secure ? "https" : "http", call->host);
}

/* Changes must not come from a page of another site. */
static bool check_origin(struct call *call)
{
    if (call->is_safe || !is_foreign(call))
        return true;
    fail_foreign(call);
    return false;
}

/* Against CSRF: browsers send cookies with requests of any page. So a change by cookie must prove
 * that it comes from a page of this site; other programs use tokens. Reads by pages of other sites
 * are refused, too, since they cost time; only navigation by a person is allowed. */
static bool check_cookie_origin(struct call *call)
{
    const char *site = call_input(call, "Sec-Fetch-Site");
    const char *mode = call_input(call, "Sec-Fetch-Mode");
    bool is_cookie =
        call->principal.kind == PRINCIPAL_USER || call->principal.kind == PRINCIPAL_LINK;
    bool is_told = call_input(call, "Origin") || (site && strcasecmp(site, "same-origin") == 0);
    bool is_link = call->is_safe && mode && strcasecmp(mode, "navigate") == 0;
    if (!is_cookie || is_link || ((call->is_safe || is_told) && !is_foreign(call)))
        return true;
    if (is_foreign(call))
        fail_foreign(call);
    else
        call_fail(call, 403, "a request by a cookie must have an Origin; programs use a token");
    return false;
}

/* ---- accounts ---- */

enum { USED_EVERY_MS = 3600 * 1000 }; /* resolution of a token's last use */

/* A clock that is not trusted renews none: once it is corrected, they would be of the future, and
 * whoever watched would be logged out. */
static void by_session(struct call *call, const struct session *session)
{
    struct session renewed = *session;
    char text[SESSION_TEXT];
    renewed.seen_s = call->now_ms / 1000;
    if (renewed.seen_s - session->seen_s < SESSION_RENEW_S ||
        engine_clock(call->api->ports.engine).doubt != DOUBT_NONE)
        return;
    session_print(&renewed, call->api->accounts.secret.bytes, text);
    set_session_cookie(call, text, session_ends_s(&renewed) - renewed.seen_s);
}

/* E_NOT_FOUND: no credentials; E_INVALID: invalid ones. */
static enum status authenticate(struct call *call)
{
    const struct accounts *accounts = &call->api->accounts;
    const char *authorization = call_input(call, "Authorization");
    char cookie[SESSION_TEXT];
    struct session session;
    struct token *token;
    if (authorization) {
        if (strncasecmp(authorization, "Bearer ", 7) != 0 ||
            !accounts_by_secret(accounts, authorization + 7, call->now_ms, &call->principal,
                                &token))
            return E_INVALID;
        if (call->now_ms - token->used_ms >= USED_EVERY_MS)
            token_note_use(call->api, token, call->now_ms);
        return OK;
    }
    if (!cookie_find(call_input(call, "Cookie"), session_cookie_name(call), cookie, sizeof(cookie)))
        return E_NOT_FOUND;
    if (!accounts_by_cookie(accounts, cookie, call->now_ms, &call->principal, &session))
        return E_INVALID;
    by_session(call, &session);
    return OK;
}

static void fail_unknown(struct call *call, enum status st)
{
    call_header(call, "WWW-Authenticate", "Bearer realm=\"peal\"");
    call_fail(
        call, 401,
        st == E_INVALID ? "these credentials are not valid; log in again, or use another token"
        : call->listener->is_tcp
            ? "log in, or send a token: Authorization: Bearer TOKEN"
            : "a job has no rights by the user that it runs as; give it a token: $PEAL_TOKEN, "
              "or Authorization: Bearer TOKEN");
}

void call_fail_later(struct call *call, int64_t wait_ms, const char *words)
{
    char seconds[24];
    snprintf(seconds, sizeof(seconds), "%lld", (long long)(wait_ms + 999) / 1000);
    call_header(call, "Retry-After", seconds);
    call->api->metrics.throttled++;
    call_fail(call, 429, "%s; try again in %s s", message_in(call->language, words), seconds);
}

/* For an IPv6 address, its /64 network. */
void call_address(const struct call *call, char ret[ADDRESS_SIZE])
{
    struct in6_addr address;
    if (inet_pton(AF_INET6, call->address, &address) == 1 && !IN6_IS_ADDR_V4MAPPED(&address)) {
        memset(address.s6_addr + 8, 0, 8);
        inet_ntop(AF_INET6, &address, ret, ADDRESS_SIZE);
    } else {
        snprintf(ret, ADDRESS_SIZE, "%s", call->listener->is_tcp ? call->address : "local");
    }
}

static bool check_rate(struct call *call)
{
    struct api *api = call->api;
    const struct principal *principal = &call->principal;
    char key[LIMIT_KEY_SIZE], address[ADDRESS_SIZE], id[PRINCIPAL_ID_SIZE];
    bool is_known = principal->kind != PRINCIPAL_NONE;
    call_address(call, address);
    if (is_known)
        principal_print_id(principal, id);
    if (is_known)
        snprintf(key, sizeof(key), "account %s", id);
    else
        snprintf(key, sizeof(key), "address %s", address);
    int64_t wait_ms = limits_ask(&api->limits, key, is_known ? api->known_rate : api->unknown_rate,
                                 clock_now().boot.ms);
    if (!wait_ms)
        return true;
    call_fail_later(call, wait_ms, "too many requests");
    return false;
}

static bool admit_account(struct call *call, const struct route *route)
{
    enum status st = authenticate(call);
    if (!check_rate(call))
        return false;
    if (route && route->right == RIGHT_PUBLIC)
        return true;
    if (st == OK)
        return check_cookie_origin(call);
    fail_unknown(call, st);
    return false;
}

static bool admit_remote(struct call *call, const struct route *route)
{
    return check_host(call) && check_origin(call) && admit_account(call, route);
}

/* ---- the UNIX socket ---- */

static bool admit_peer(struct call *call, const struct route *route)
{
    const struct api *api = call->api;
    struct principal *principal = &call->principal;
    uid_t uid;
    if (!http_peer_uid(call->request, &uid) || (uid != 0 && uid != api->own_uid)) {
        call_fail(call, 403, "only root and %s may use this agent", api->own_user);
        return false;
    }
    if (http_mark(call->request))
        return admit_account(call, route);
    principal->kind = PRINCIPAL_SOCKET;
    principal->scope.rights = ROLE_ADMIN;
    snprintf(principal->name, sizeof(principal->name), "%s",
             uid == api->own_uid ? api->own_user : "root");
    return true;
}

/* ---- rights ---- */

static void fail_right(struct call *call, enum right right)
{
    call_fail(call, 403, "%s may not do this: it needs the right \"%s\"", call->principal.name,
              right_word(right));
}

bool call_may(struct call *call, enum right right)
{
    if (scope_may(&call->principal.scope, right, NULL))
        return true;
    fail_right(call, right);
    return false;
}

static bool may_somewhere(struct call *call, enum right right)
{
    if (scope_may_somewhere(&call->principal.scope, right))
        return true;
    fail_right(call, right);
    return false;
}

bool guard_admit(struct call *call, const struct route *route)
{
    if (call->listener->is_tcp ? !admit_remote(call, route) : !admit_peer(call, route))
        return false;
    if (!route)
        return true;
    if (route->flags & ROUTE_SCOPED)
        return may_somewhere(call, route->right);
    return route->flags & ROUTE_JOB ? call_may_on(call, route->right, call->argument)
                                    : call_may(call, route->right);
}

bool guard_still_admits(struct call *call)
{
    const struct principal *principal = &call->principal;
    size_t length;
    (void)http_body(call->request, &length);
    if (!length || principal->kind == PRINCIPAL_NONE ||
        accounts_still_admit(&call->api->accounts, principal, call->now_ms))
        return true;
    fail_unknown(call, E_INVALID);
    return false;
}
