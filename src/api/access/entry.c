/* The client's identity, the setup link that creates the first account, login links, and the
 * cookies of sessions and devices. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "handlers.h"
#include "runs/encode.h"
#include "server.h"

#define SETUP_FILE "setup-link"

enum { COOKIE_LINE = SESSION_TEXT + 128 };

/* ---- the address ---- */

bool entry_url(const struct api *api, struct strbuf *out)
{
    if (api->listener_count < 2)
        return false;
    const struct listener *first = &api->listeners[1];
    char machine[256] = "localhost";
    if (!first->host[0] && !api->host_count)
        gethostname(machine, sizeof(machine) - 1);
    strbuf_addf(out, "%s://%s:%d", api->tls ? "https" : "http",
                first->host[0]    ? first->host
                : api->host_count ? api->hosts[0]
                                  : machine,
                first->port);
    return true;
}

/* ---- setup ---- */

/* A failure is ignored: `peal user add` works by the UNIX socket, too. */
static void open_setup(struct api *api)
{
    struct strbuf url, file;
    strbuf_init(&url);
    strbuf_init(&file);
    strbuf_addf(&file, "%s/" SETUP_FILE, api->data_dir);
    bool has_url = entry_url(api, &url);
    strbuf_adds(&url, "/#/setup/");
    if (has_url && strbuf_status(&url) == OK && strbuf_status(&file) == OK &&
        setup_open(&api->one_time, &api->ports.entropy, file.text, url.text) != OK)
        api->one_time.setup_digest[0] = '\0';
    strbuf_release(&url);
    strbuf_release(&file);
}

void entry_take(struct api *api, const struct store_change *change)
{
    accounts_take(&api->accounts, change);
    if (change->kind == STORE_CHANGE_LOADED && !api->accounts.users.count)
        open_setup(api);
    if (change->kind == STORE_CHANGE_DOC && api->accounts.users.count &&
        setup_is_open(&api->one_time))
        setup_close(&api->one_time);
}

void get_auth(struct call *call)
{
    const struct api *api = call->api;
    call_reply(call, 200,
               json_pack("{s:b, s:b, s:s}", "accounts", api->accounts.users.count > 0, "setup",
                         setup_is_open(&api->one_time), "version", api->version));
}

/* ---- identity ---- */

static json_t *encode_rights(unsigned rights)
{
    json_t *list = json_array();
    for (unsigned right = RIGHT_VIEW; right <= RIGHT_ADMIN; right <<= 1) {
        if (rights & right)
            json_array_append_new(list, json_string(right_word((enum right)right)));
    }
    return list;
}

static json_t *encode_namespaces(const struct scope *scope)
{
    json_t *list = json_array();
    for (size_t i = 0; i < scope->grant_count; i++) {
        const struct grant *grant = &scope->grants[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "namespace", grant->namespace,
                                              "role", role_name(grant->rights), "rights",
                                              encode_rights(grant->rights)));
    }
    return list;
}

void get_me(struct call *call)
{
    static const char *const kinds[] = {"none", "socket", "user", "link", "token"};
    const struct principal *me = &call->principal;
    call_reply(call, 200,
               json_pack("{s:o, s:s, s:s, s:o, s:o, s:s}", "name", json_words(me->name), "kind",
                         kinds[me->kind], "role", role_name(me->scope.rights), "rights",
                         encode_rights(me->scope.rights), "namespaces",
                         encode_namespaces(&me->scope), "language",
                         call->language == LANGUAGE_ZH ? "zh" : "en"));
}

/* ---- links ---- */

static void reply_link(struct call *call, const char *url)
{
    json_t *answer =
        json_pack("{s:n, s:o}", "url", "expires_at", json_time(call->now_ms + LINK_LIFE_MS));
    idempotency_keep_instead(call, 201, answer);
    if (json_object_set_new(answer, "url", json_string(url)) != 0) {
        json_decref(answer);
        answer = NULL;
    }
    call_reply(call, 201, answer);
}

void make_link(struct call *call)
{
    struct api *api = call->api;
    const char *user = json_string_value(json_object_get(call->body, "name"));
    char secret[SECRET_SIZE];
    struct strbuf url;
    if (call->principal.kind != PRINCIPAL_SOCKET) {
        call_fail(call, 403, "links are made on the machine of the agent: peal link");
        return;
    }
    if (user && !accounts_user(&api->accounts, user)) {
        call_fail(call, 404, "there is no user \"%.63s\"", user);
        return;
    }
    strbuf_init(&url);
    if (entry_url(api, &url)) {
        link_make(&api->one_time, &api->ports.entropy, user ? user : "", call->principal.name,
                  clock_now().boot, secret);
        strbuf_addf(&url, "/#/login/%s", secret);
        reply_link(call, url.text);
    } else {
        call_fail(call, 409, "the agent listens on no address: peal start --listen 127.0.0.1");
    }
    strbuf_release(&url);
}

/* ---- the session cookie ---- */

/* The prefix __Host-, which needs TLS, keeps other hosts of the domain from setting the cookie. */
const char *session_cookie_name(const struct call *call)
{
    return call->is_secure ? "__Host-peal_session" : "peal_session";
}

static void print_cookie(const struct call *call, const char *name, const char *text,
                         int64_t max_age_s, char line[COOKIE_LINE])
{
    snprintf(line, COOKIE_LINE, "%s=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s", name,
             text, (long long)max_age_s, call->is_secure ? "; Secure" : "");
}

void set_session_cookie(struct call *call, const char *text, int64_t max_age_s)
{
    char line[COOKIE_LINE];
    print_cookie(call, session_cookie_name(call), text, max_age_s, line);
    call_header(call, "Set-Cookie", line);
}

/* ---- the device cookie, which outlives the session ---- */

static const char *device_cookie_name(const struct call *call)
{
    return call->is_secure ? "__Host-peal_device" : "peal_device";
}

bool find_device(const struct call *call, const char *name, struct device *ret)
{
    const struct session_secret *secret = &call->api->accounts.secret;
    char text[SESSION_TEXT];
    return secret->revision &&
           cookie_find(call_input(call, "Cookie"), device_cookie_name(call), text, sizeof(text)) &&
           device_read(text, secret->bytes, call->now_ms / 1000, ret) &&
           strcmp(ret->name, name) == 0;
}

static void print_device_cookie(const struct call *call, const char *name, char line[COOKIE_LINE])
{
    const struct entropy *entropy = &call->api->ports.entropy;
    struct device device = {.issued_s = 0};
    uint8_t random[DEVICE_ID / 2];
    char text[SESSION_TEXT];
    if (!find_device(call, name, &device)) {
        entropy->fill(entropy->context, random, sizeof(random));
        for (size_t i = 0; i < sizeof(random); i++)
            snprintf(device.id + 2 * i, 3, "%02x", random[i]);
        snprintf(device.name, sizeof(device.name), "%s", name);
    }
    device.issued_s = call->now_ms / 1000;
    device_print(&device, call->api->accounts.secret.bytes, text);
    print_cookie(call, device_cookie_name(call), text, DEVICE_LIFE_S, line);
}

/* The session cookie comes last, for programs that keep only one cookie. */
void set_login_cookies(struct call *call, const char *name, const char *text, int64_t max_age_s)
{
    char line[COOKIE_LINE];
    if (!call->request)
        return;
    print_device_cookie(call, name, line);
    http_set(call->request, "Set-Cookie", line);
    print_cookie(call, session_cookie_name(call), text, max_age_s, line);
    http_add(call->request, "Set-Cookie", line);
}
