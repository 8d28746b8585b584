/* Sessions: login by a password, a link or the setup; logout. */
#include <stdlib.h>
#include <string.h>

#include "auth/password.h"
#include "handlers.h"
#include "input.h"
#include "note.h"
#include "server.h"

enum { TRIES = 5 }; /* of a write that conflicts with others */

struct login {
    struct hash_work work;
    struct guess guess;
    struct session session; /* the new session */
    struct store_put_doc put;
    char *json;
    struct user user; /* the user that setup creates, or that logs out */
    bool ends_all;
    int tries;
};

static void release_login(void *state)
{
    struct login *login = state;
    password_release(&login->work);
    free(login->json);
}

/* ---- new sessions ---- */

static void reply_session(struct call *call)
{
    struct login *login = call->state;
    struct api *api = call->api;
    struct session *session = &login->session, read;
    char text[SESSION_TEXT];
    session->issued_ms = call->now_ms;
    session->seen_s = call->now_ms / 1000;
    if (session->is_link)
        session->generation = api->accounts.secret.link_generation;
    session_print(session, api->accounts.secret.bytes, text);
    if (!accounts_by_cookie(&api->accounts, text, call->now_ms, &call->principal, &read)) {
        call_fail(call, 409, "the account was changed meanwhile; log in again");
        return;
    }
    api->metrics.logins++;
    if (session->is_link)
        set_session_cookie(call, text, SESSION_IDLE_S);
    else
        set_login_cookies(call, session->name, text, SESSION_IDLE_S);
    note_other(call, CHANGE_LOGIN, TARGET_USER, call->principal.name);
    note_write(call, get_me);
}

static void secret_made(struct call *call)
{
    if (call->api->accounts.secret.revision)
        reply_session(call);
    else
        call_fail_store(call, call->answer == OK ? E_UNKNOWN : call->answer);
}

/* The very first session creates the secret that signs all sessions. */
static void begin_session(struct call *call)
{
    struct login *login = call->state;
    const struct entropy *entropy = &call->api->ports.entropy;
    struct session_secret secret = {.link_generation = call->now_ms};
    if (call->api->accounts.secret.revision) {
        reply_session(call);
        return;
    }
    entropy->fill(entropy->context, secret.bytes, sizeof(secret.bytes));
    free(login->json);
    login->json = session_secret_encode(&secret);
    login->put = (struct store_put_doc){.json = login->json};
    doc_name(&login->put, SECRET_DOC_KIND, SECRET_DOC_NAME);
    if (login->json)
        call_submit(call, STORE_PUT_DOC, &login->put, 1, secret_made);
    else
        call_fail(call, 500, "out of memory");
}

static void begin_for(struct call *call, const struct user *user)
{
    struct login *login = call->state;
    login->session = (struct session){.generation = user->generation};
    snprintf(login->session.name, sizeof(login->session.name), "%s", user->name);
    begin_session(call);
}

/* ---- by a password ---- */

static void fail_wrong(struct call *call, const char *words)
{
    call->api->metrics.wrong_logins++;
    call_header(call, "WWW-Authenticate", "Bearer realm=\"peal\"");
    call_fail(call, 401, "%s", message_in(call->language, words));
}

static void fail_password(struct call *call)
{
    fail_wrong(call, "the name or the password is wrong");
}

static void password_checked(struct call *call)
{
    struct login *login = call->state;
    const char *name = json_string_value(json_object_get(call->body, "name"));
    const struct user *user = accounts_user(&call->api->accounts, name);
    bool is_right = call->answer == OK && login->work.matches && user && !user->disabled &&
                    strcmp(user->hash, login->work.hash) == 0;
    password_tried(call, &login->guess, is_right);
    if (!is_right) {
        note_other(call, CHANGE_LOGIN_FAILED, TARGET_USER, name);
        note_write(call, fail_password);
        return;
    }
    begin_for(call, user);
}

static void log_in_by_password(struct call *call, struct login *login)
{
    const char *name = json_string_value(json_object_get(call->body, "name"));
    const char *password = json_string_value(json_object_get(call->body, "password"));
    struct device device;
    if (!name || !password) {
        call_fail_at(call, "", "a name and a password are needed, or a link");
        return;
    }
    const struct user *user = accounts_user(&call->api->accounts, name);
    struct attempt attempt = {.name = name,
                              .device = find_device(call, name, &device) ? device.id : NULL,
                              .password = password,
                              .hash = user ? user->hash : ""};
    password_check(call, &login->work, &login->guess, &attempt, password_checked);
}

/* ---- by a link ---- */

static void log_in_by_link(struct call *call, struct login *login, const char *secret)
{
    struct api *api = call->api;
    struct login_link link;
    bool is_valid = link_use(&api->one_time, secret, clock_now().boot, &link);
    const struct user *user = is_valid ? accounts_user(&api->accounts, link.user) : NULL;
    if (!is_valid || (link.user[0] && !user)) {
        fail_wrong(call, "this link is not valid: a link works once, within 10 minutes; peal link "
                         "makes a new one");
        return;
    }
    if (user) {
        begin_for(call, user);
        return;
    }
    login->session = (struct session){.is_link = true};
    for (size_t i = 0; link.name[i]; i++) /* not all characters are allowed in a cookie */
        login->session.name[i] =
            user_name_complaint((char[]){'a', link.name[i], '\0'}) ? '-' : link.name[i];
    begin_session(call);
}

void log_in(struct call *call)
{
    const json_t *link = json_object_get(call->body, "link");
    struct login *login = call_state(call, sizeof(*login), release_login);
    if (!login)
        return;
    if (json_is_string(link))
        log_in_by_link(call, login, json_string_value(link));
    else
        log_in_by_password(call, login);
}

/* ---- setup ---- */

static void first_user_made(struct call *call)
{
    struct login *login = call->state;
    const struct user *user = accounts_user(&call->api->accounts, login->user.name);
    if (call->answer != OK)
        call_fail_store(call, call->answer);
    else if (login->put.result != PUT_OK || !user)
        call_fail(call, 409, "there is an account by now; log in with it");
    else
        begin_for(call, user);
}

static void first_password_made(struct call *call)
{
    struct login *login = call->state;
    struct user *user = &login->user;
    if (call->answer != OK || call->api->accounts.users.count) {
        call_fail(call, 409, "there is an account by now; log in with it");
        return;
    }
    memcpy(user->hash, login->work.hash, sizeof(user->hash));
    login->json = user_encode(user);
    if (!login->json) {
        call_fail(call, 500, "out of memory");
        return;
    }
    login->put = (struct store_put_doc){.json = login->json};
    doc_name(&login->put, USER_DOC, user->name);
    call_submit(call, STORE_PUT_DOC, &login->put, 1, first_user_made);
}

void set_up(struct call *call)
{
    const char *secret = json_string_value(json_object_get(call->body, "secret"));
    const char *name = json_string_value(json_object_get(call->body, "name"));
    struct login *login = call_state(call, sizeof(*login), release_login);
    if (!login)
        return;
    if (!setup_is_open(&call->api->one_time)) {
        call_fail(call, 409, "there is an account by now; log in with it");
        return;
    }
    if (!secret || !setup_matches(&call->api->one_time, secret)) {
        fail_wrong(call, "this setup link is not valid; the valid one is in the file setup-link of "
                         "the data folder");
        return;
    }
    if (!check_user_name(call, name))
        return;
    login->user = (struct user){.scope.rights = ROLE_ADMIN,
                                .generation = call->now_ms,
                                .created_ms = call->now_ms,
                                .changed_ms = call->now_ms};
    snprintf(login->user.name, sizeof(login->user.name), "%s", name);
    password_make(call, &login->work, json_object_get(call->body, "password"), first_password_made);
}

/* ---- logout ---- */

static void reply_done(struct call *call)
{
    call_reply(call, 200, json_object());
}

static void logged_out(struct call *call)
{
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    set_session_cookie(call, "", 0);
    note_other(call, CHANGE_LOGOUT, TARGET_USER, call->principal.name);
    note_write(call, reply_done);
}

static void end_sessions(struct call *call);

/* After a write conflict tries again from the current document. */
static void sessions_ended(struct call *call)
{
    struct login *login = call->state;
    bool is_late = call->answer == OK && login->put.result == PUT_CONFLICT;
    if (is_late && ++login->tries < TRIES)
        end_sessions(call);
    else if (is_late)
        call_fail(call, 409, "the account was changed meanwhile; log in again");
    else
        logged_out(call);
}

static char *without_user_sessions(struct login *login, const struct call *call)
{
    const struct user *user = accounts_user(&call->api->accounts, call->principal.name);
    if (!user)
        return NULL;
    login->user = *user;
    if (login->ends_all)
        login->user.generation++;
    else
        user_end_session(&login->user, call->principal.ends_ms, call->now_ms);
    login->put.expected_revision = user->revision;
    doc_name(&login->put, USER_DOC, user->name);
    return user_encode(&login->user);
}

static char *without_link_sessions(struct login *login, const struct call *call)
{
    struct session_secret secret = call->api->accounts.secret;
    secret.link_generation++;
    login->put.expected_revision = secret.revision;
    doc_name(&login->put, SECRET_DOC_KIND, SECRET_DOC_NAME);
    return session_secret_encode(&secret);
}

/* Ends this session, or all of the user's; for a link, the sessions of all links. */
static void end_sessions(struct call *call)
{
    struct login *login = call->state;
    bool is_link = call->principal.kind == PRINCIPAL_LINK;
    free(login->json);
    login->put = (struct store_put_doc){.json = NULL};
    login->json = is_link ? without_link_sessions(login, call) : without_user_sessions(login, call);
    login->put.json = login->json;
    if (login->json)
        call_submit(call, STORE_PUT_DOC, &login->put, 1, sessions_ended);
    else
        call_fail(call, 500, "out of memory");
}

void log_out(struct call *call)
{
    bool all = false;
    if (!field_bool(call, "all", &all))
        return;
    if (call->principal.kind != PRINCIPAL_USER && call->principal.kind != PRINCIPAL_LINK) {
        call_fail(call, 409, "this is no session: a token is revoked by DELETE /api/v1/tokens/ID");
        return;
    }
    struct login *login = call_state(call, sizeof(*login), release_login);
    if (!login)
        return;
    login->ends_all = all;
    end_sessions(call);
}
