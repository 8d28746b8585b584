/* Users: an admin makes, changes and deletes them; everybody changes their own password. */
#include <stdlib.h>
#include <string.h>

#include "auth/password.h"
#include "handlers.h"
#include "input.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"

static json_t *encode_user(const struct user *user)
{
    json_t *value = scope_encode(&user->scope);
    json_t *more =
        json_pack("{s:s, s:b, s:b, s:o, s:o}", "name", user->name, "disabled", user->disabled,
                  "has_password", user->hash[0] != '\0', "created_at", json_time(user->created_ms),
                  "changed_at", json_time(user->changed_ms));
    bool whole = value && more && json_object_update(value, more) == 0;
    json_decref(more);
    if (whole)
        return value;
    json_decref(value);
    return NULL;
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

/* NULL: the call has failed. Who is no admin is not told of others. */
static struct user *path_user(struct call *call)
{
    if (!is_admin(call) && !is_self(call)) {
        call_may(call, RIGHT_ADMIN); /* which fails */
        return NULL;
    }
    struct user *user = accounts_user(&call->api->accounts, call->argument);
    if (!user)
        call_fail(call, 404, "there is no user \"%.63s\"", call->argument);
    return user;
}

/* ---- reading ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct user *const *)a)->name, (*(const struct user *const *)b)->name);
}

void list_users(struct call *call)
{
    const struct table *table = &call->api->accounts.users;
    const struct user **users = calloc(table->count + 1, sizeof(*users)), *user;
    json_t *items = users ? json_array() : NULL;
    size_t count = 0;
    for (size_t at = 0; users && (user = table_next(table, &at));)
        users[count++] = user;
    if (count)
        qsort(users, count, sizeof(*users), by_name);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(items, encode_user(users[i]));
    free(users);
    call_reply(call, 200, json_pack("{s:o, s:n}", "items", items, "next"));
}

void get_user(struct call *call)
{
    const struct user *user = path_user(call);
    if (user)
        call_reply(call, 200, encode_user(user));
}

/* ---- writing ---- */

static void fail_last_admin(struct call *call)
{
    call_fail(call, 409, "\"%s\" is the last admin; make another one first", call->argument);
}

struct user_edit {
    struct user user; /* as it will be */
    bool is_new, is_delete;
    bool takes_admin; /* there is one admin less afterwards */
    struct hash_work work;
    struct guess guess;
    char *json, *leaving;
    struct store_put_doc put, put_leaving;
};

static void release_edit(void *state)
{
    struct user_edit *edit = state;
    password_release(&edit->work);
    free(edit->json);
    free(edit->leaving);
}

/* Their own sessions are over by a new password, but for the one that changed it. */
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

static void reply_user(struct call *call)
{
    const struct user_edit *edit = call->state;
    if (!edit->is_new && !edit->is_delete && is_self(call))
        keep_session(call, &edit->user);
    call_reply(call, edit->is_new ? 201 : 200, encode_user(&edit->user));
}

static void user_put(struct call *call)
{
    const struct user_edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
    } else if (edit->put.result == PUT_OK) {
        note_other(call,
                   edit->is_new      ? CHANGE_USER_CREATE
                   : edit->is_delete ? CHANGE_USER_DELETE
                                     : CHANGE_USER_CHANGE,
                   TARGET_USER, edit->user.name);
        note_write(call, reply_user);
    } else if (edit->is_new) {
        call_fail(call, 409, "there is a user \"%s\" already", edit->user.name);
    } else {
        call_fail(call, 409, "\"%s\" was changed meanwhile; read it again", edit->user.name);
    }
}

static void leaving_put(struct call *call)
{
    struct user_edit *edit = call->state;
    if (call->answer != OK)
        call_fail_store(call, call->answer);
    else if (edit->put_leaving.result != PUT_OK)
        call_fail(call, 409, "\"%s\" is being changed by others; try again", edit->user.name);
    else
        call_submit(call, STORE_PUT_DOC, &edit->put, 1, user_put);
}

/* Nobody takes another admin away meanwhile who has not seen this. */
static void announce_leaving(struct call *call)
{
    struct user_edit *edit = call->state;
    const struct accounts *accounts = &call->api->accounts;
    const struct user *user = accounts_user(accounts, edit->user.name);
    if (user && accounts_is_last_admin(accounts, user)) { /* by now */
        fail_last_admin(call);
        return;
    }
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

static void submit(struct call *call)
{
    struct user_edit *edit = call->state;
    if (!edit->is_delete) {
        edit->user.changed_ms = call->now_ms;
        edit->json = user_encode(&edit->user);
        if (!edit->json) {
            call_fail(call, 500, "out of memory");
            return;
        }
    }
    edit->put =
        (struct store_put_doc){.json = edit->json, .expected_revision = edit->user.revision};
    doc_name(&edit->put, USER_DOC, edit->user.name);
    if (edit->takes_admin)
        announce_leaving(call);
    else
        call_submit(call, STORE_PUT_DOC, &edit->put, 1, user_put);
}

/* A new one ends all sessions. */
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
    submit(call);
}

static void make_password(struct call *call)
{
    struct user_edit *edit = call->state;
    password_make(call, &edit->work, json_object_get(call->body, "password"), password_made);
}

static bool read_scope(struct call *call, struct scope *inout)
{
    char pointer[64];
    const char *complaint;
    if (scope_decode(call->body, inout, pointer, &complaint) != OK) {
        call_fail_at(call, pointer, "%s: %s", pointer + 1, message_in(call->language, complaint));
        return false;
    }
    if (scope_may_somewhere(inout, RIGHT_VIEW))
        return true;
    call_fail_at(call, "/role", "a role is needed, everywhere or in a namespace");
    return false;
}

void add_user(struct call *call)
{
    const char *name = json_string_value(json_object_get(call->body, "name"));
    if (!check_user_name(call, name))
        return;
    struct user_edit *edit = call_state(call, sizeof(*edit), release_edit);
    if (!edit || !read_scope(call, &edit->user.scope))
        return;
    edit->is_new = true;
    edit->user.generation = edit->user.created_ms = call->now_ms;
    snprintf(edit->user.name, sizeof(edit->user.name), "%s", name);
    if (json_object_get(call->body, "password"))
        make_password(call);
    else
        submit(call);
}

/* ---- changing ---- */

static void old_password_checked(struct call *call)
{
    const struct user_edit *edit = call->state;
    password_tried(call, &edit->guess, edit->work.matches);
    if (edit->work.matches)
        make_password(call);
    else
        call_fail(call, 403, "the old password is wrong");
}

/* Somebody at an unlocked screen is not to take the account over. */
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
    if (!call_may(call, RIGHT_ADMIN) || !read_scope(call, &user->scope) ||
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

void change_user(struct call *call)
{
    const struct user *user = path_user(call);
    struct user_edit *edit = user ? call_state(call, sizeof(*edit), release_edit) : NULL;
    if (!edit)
        return;
    edit->user = *user;
    if (!read_changes(call, &edit->user, &edit->takes_admin))
        return;
    if (!json_object_get(call->body, "password"))
        submit(call);
    else if (is_self(call) && edit->user.hash[0])
        change_own_password(call);
    else
        make_password(call);
}

/* Their tokens are over with them, see token_decode. */
void delete_user(struct call *call)
{
    const struct user *user = path_user(call);
    if (!user)
        return;
    if (accounts_is_last_admin(&call->api->accounts, user)) {
        fail_last_admin(call);
        return;
    }
    struct user_edit *edit = call_state(call, sizeof(*edit), release_edit);
    if (!edit)
        return;
    edit->user = *user;
    edit->is_delete = true;
    edit->takes_admin = user_is_admin(user);
    submit(call);
}
