/* Users: admins create, change and delete them; everybody changes their own password. */
#include <stdlib.h>
#include <string.h>

#include "auth/password.h"
#include "documents/documents.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

static json_t *encode_user(const struct call *call, const void *item)
{
    const struct user *user = item;
    (void)call;
    json_t *more =
        json_pack("{s:s, s:b, s:b, s:o, s:o}", "name", user->name, "disabled", user->disabled,
                  "has_password", user->hash[0] != '\0', "created_at", json_time(user->created_ms),
                  "changed_at", json_time(user->changed_ms));
    return scope_encode(&user->scope, more);
}

static bool is_admin(const struct call *call)
{
    return scope_may(&call->principal.scope, RIGHT_ADMIN, NULL);
}

static bool is_self(const struct call *call)
{
    return call->principal.kind == PRINCIPAL_USER &&
           strcmp(call->principal.name, call->argument) == 0;
}

/* Only admins may see other users. */
static bool may(struct call *call)
{
    return is_admin(call) || is_self(call) || call_may(call, RIGHT_ADMIN);
}

static const struct table *all_users(const struct call *call)
{
    return &call->api->accounts.users;
}

/* ---- writing ---- */

static void fail_last_admin(struct call *call)
{
    call_fail(call, 409, "\"%s\" is the last admin; make another one first", call->argument);
}

struct user_edit {
    struct doc_edit doc;
    struct user user; /* the new user; the old one for a delete */
    bool takes_admin; /* removes an admin */
    struct hash_work work;
    struct guess guess;
    char *leaving;
    struct store_put_doc put_leaving;
};

static void release_edit(void *state)
{
    struct user_edit *edit = state;
    password_release(&edit->work);
    free(edit->leaving);
}

/* A new password ends all sessions of the user; this client gets a new session. */
static void keep_session(struct call *call, const struct user *user)
{
    struct session session = {
        .issued_ms = call->now_ms, .seen_s = call->now_ms / 1000, .generation = user->generation};
    char text[SESSION_TEXT];
    if (user->generation == call->principal.generation)
        return;
    snprintf(session.name, sizeof(session.name), "%s", user->name);
    session_print(&session, call->api->accounts.secret.bytes, text);
    set_session_cookie(call, text, SESSION_IDLE_S);
}

static void reply(struct call *call, int status)
{
    const struct user_edit *edit = call->state;
    if (edit->doc.action == DOC_CHANGE && is_self(call))
        keep_session(call, &edit->user);
    call_reply(call, status, encode_user(call, &edit->user));
}

static void leaving_put(struct call *call)
{
    struct user_edit *edit = call->state;
    if (call->answer != OK)
        call_fail_store(call, call->answer);
    else if (edit->put_leaving.result != PUT_OK)
        call_fail(call, 409, "\"%s\" is being changed by others; try again", edit->user.name);
    else
        doc_submit(call);
}

/* A compare-and-set of all leaving admins: concurrent requests can't remove the last two. */
static void announce_leaving(struct call *call)
{
    struct user_edit *edit = call->state;
    const struct accounts *accounts = &call->api->accounts;
    const struct user *user = accounts_user(accounts, edit->user.name);
    if (user && accounts_is_last_admin(accounts, user)) { /* others may have been removed */
        fail_last_admin(call);
        return;
    }
    free(edit->leaving);
    edit->leaving = leaving_admins_encode(accounts, &edit->user);
    if (!edit->leaving) {
        call_fail(call, 500, "out of memory");
        return;
    }
    edit->put_leaving = (struct store_put_doc){.json = edit->leaving,
                                               .expected_revision = accounts->leaving.revision};
    doc_name(&edit->put_leaving, SECRET_DOC_KIND, LEAVING_DOC_NAME);
    call_submit(call, STORE_PUT_DOC, &edit->put_leaving, 1, leaving_put);
}

static void write_user(struct call *call)
{
    struct user_edit *edit = call->state;
    if (edit->doc.action != DOC_DELETE) {
        edit->user.changed_ms = call->now_ms;
        edit->doc.json = user_encode(&edit->user);
    }
    if (edit->takes_admin)
        announce_leaving(call);
    else
        doc_submit(call);
}

/* A new generation ends all sessions. */
static void password_made(struct call *call)
{
    struct user_edit *edit = call->state;
    struct user *user = &edit->user;
    if (call->answer != OK) {
        call_fail(call, 500, "out of memory");
        return;
    }
    memcpy(user->hash, edit->work.hash, sizeof(user->hash));
    user->generation = call->now_ms > user->generation ? call->now_ms : user->generation + 1;
    write_user(call);
}

static void make_password(struct call *call)
{
    struct user_edit *edit = call->state;
    password_make(call, &edit->work, json_object_get(call->body, "password"), password_made);
}

static void old_password_checked(struct call *call)
{
    const struct user_edit *edit = call->state;
    password_tried(call, &edit->guess, edit->work.matches);
    if (edit->work.matches)
        make_password(call);
    else
        call_fail(call, 403, "the old password is wrong");
}

/* Needs the old password, so that a stranger at an open session can't take over the account. */
static void change_own_password(struct call *call)
{
    struct user_edit *edit = call->state;
    const char *old = json_string_value(json_object_get(call->body, "old_password"));
    if (!old) {
        call_fail_at(call, "/old_password", "the old password is needed to set a new one");
        return;
    }
    struct attempt attempt = {.name = edit->user.name,
                              .device = "whoever has a session",
                              .password = old,
                              .hash = edit->user.hash};
    password_check(call, &edit->work, &edit->guess, &attempt, old_password_checked);
}

/* False: the call has failed. */
static bool read_changes(struct call *call, struct user *user, bool *ret_takes_admin)
{
    const json_t *body = call->body;
    bool wants_more = json_object_get(body, "role") || json_object_get(body, "define") ||
                      json_object_get(body, "namespaces") || json_object_get(body, "disabled");
    if (!wants_more)
        return true;
    if (!call_may(call, RIGHT_ADMIN) || !field_scope(call, &user->scope) ||
        !field_bool(call, "disabled", &user->disabled))
        return false;
    const struct user *now = accounts_user(&call->api->accounts, user->name);
    bool stays_admin = user_is_admin(user);
    if (stays_admin || !accounts_is_last_admin(&call->api->accounts, now)) {
        *ret_takes_admin = user_is_admin(now) && !stays_admin;
        return true;
    }
    fail_last_admin(call);
    return false;
}

/* ---- editing ---- */

/* False: the call has failed. */
static bool make_user(struct call *call, struct user *user)
{
    const char *name = json_string_value(json_object_get(call->body, "name"));
    if (!check_user_name(call, name) || !field_scope(call, &user->scope))
        return false;
    user->generation = user->created_ms = call->now_ms;
    snprintf(user->name, sizeof(user->name), "%s", name);
    return call_name(call, name);
}

/* Deleting the user makes their tokens invalid, see token_scope in accounts.c. */
static bool may_delete(struct call *call, const struct user *user, bool *ret_takes_admin)
{
    *ret_takes_admin = user_is_admin(user);
    if (!accounts_is_last_admin(&call->api->accounts, user))
        return true;
    fail_last_admin(call);
    return false;
}

static bool prepare(struct call *call, const void *item)
{
    struct user_edit *edit = call->state;
    edit->takes_admin = false;
    if (edit->doc.action == DOC_CREATE)
        return make_user(call, &edit->user);
    edit->user = *(const struct user *)item;
    return edit->doc.action == DOC_DELETE ? may_delete(call, item, &edit->takes_admin)
                                          : read_changes(call, &edit->user, &edit->takes_admin);
}

static void ready(struct call *call)
{
    const struct user_edit *edit = call->state;
    if (edit->doc.action == DOC_DELETE || !json_object_get(call->body, "password"))
        write_user(call);
    else if (edit->doc.action == DOC_CHANGE && is_self(call) && edit->user.hash[0])
        change_own_password(call);
    else
        make_password(call);
}

const struct doc_kind user_docs = {
    .name = USER_DOC,
    .target = TARGET_USER,
    .created = CHANGE_USER_CREATE,
    .changed = CHANGE_USER_CHANGE,
    .deleted = CHANGE_USER_DELETE,
    .edit_size = sizeof(struct user_edit),
    .revision_at = offsetof(struct user, revision),
    .may = may,
    .all = all_users,
    .show = encode_user,
    .prepare = prepare,
    .ready = ready,
    .reply = reply,
    .release = release_edit,
};
