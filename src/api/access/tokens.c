/* Tokens, for programs: an admin sees all, all others see their own. */
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "handlers.h"
#include "input.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"

#define TOKEN_PREFIX "peal_"

enum { LIFE_S = 90 * 86400, LIFE_MAX_S = 3650 * 86400 };

static json_t *encode_token(const struct token *token)
{
    json_t *value = scope_encode(&token->scope);
    json_t *more = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "id", token->id, "label",
                             json_words(token->label), "user", json_words_or_null(token->owner),
                             "created_at", json_time(token->created_ms), "expires_at",
                             json_time(token->expires_ms), "used_at", json_time(token->used_ms));
    bool whole = value && more && json_object_update(value, more) == 0;
    json_decref(more);
    if (whole)
        return value;
    json_decref(value);
    return NULL;
}

static bool is_theirs(const struct call *call, const struct token *token)
{
    const struct principal *me = &call->principal;
    if (scope_may(&me->scope, RIGHT_ADMIN, NULL))
        return true;
    if (me->kind == PRINCIPAL_TOKEN) /* of its owner's others it knows nothing */
        return strcmp(me->token_id, token->id) == 0;
    return strcmp(me->name, token->owner) == 0;
}

/* ---- reading ---- */

static int by_age(const void *a, const void *b)
{
    return strcmp((*(const struct token *const *)a)->id, (*(const struct token *const *)b)->id);
}

void list_tokens(struct call *call)
{
    const struct table *table = &call->api->accounts.tokens;
    const struct token **tokens = calloc(table->count + 1, sizeof(*tokens)), *token;
    json_t *items = tokens ? json_array() : NULL;
    size_t count = 0;
    for (size_t at = 0; tokens && (token = table_next(table, &at));) {
        if (is_theirs(call, token))
            tokens[count++] = token;
    }
    if (count)
        qsort(tokens, count, sizeof(*tokens), by_age);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(items, encode_token(tokens[i]));
    free(tokens);
    call_reply(call, 200, json_pack("{s:o, s:n}", "items", items, "next"));
}

/* ---- making ---- */

struct token_edit {
    struct token token;
    char secret[sizeof(TOKEN_PREFIX) + SECRET_SIZE];
    char *json;
    struct store_put_doc put;
};

static void release_edit(void *state)
{
    struct token_edit *edit = state;
    free(edit->json);
}

static void reply_token(struct call *call)
{
    const struct token_edit *edit = call->state;
    json_t *value = encode_token(&edit->token);
    int failed = json_object_set_new(value, "token", json_null());
    idempotency_keep_instead(call, 201, value);
    failed |= json_object_set_new(value, "token", json_string(edit->secret));
    if (failed) {
        json_decref(value);
        value = NULL;
    }
    call_reply(call, 201, value);
}

static void token_added(struct call *call)
{
    const struct token_edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    note_other(call, CHANGE_TOKEN_CREATE, TARGET_TOKEN, edit->token.id);
    note_detail(call, "%s", edit->token.label);
    note_write(call, reply_token);
}

/* Whose it is; false: the call has failed. */
static bool read_owner(struct call *call, struct token *token)
{
    const char *name = json_string_value(json_object_get(call->body, "user"));
    bool is_user = call->principal.kind == PRINCIPAL_USER;
    if (call->principal.kind == PRINCIPAL_TOKEN) { /* it would outlive itself */
        call_fail(call, 403, "a token can't make tokens; log in");
        return false;
    }
    if (name && !(is_user && strcmp(name, call->principal.name) == 0) &&
        !call_may(call, RIGHT_ADMIN))
        return false;
    if (!name && !is_user)
        return true; /* nobody's */
    name = name ? name : call->principal.name;
    const struct user *owner = accounts_user(&call->api->accounts, name);
    if (!owner) {
        call_fail(call, 404, "there is no user \"%.63s\"", name);
        return false;
    }
    snprintf(token->owner, sizeof(token->owner), "%s", owner->name);
    token->owner_created_ms = owner->created_ms;
    return true;
}

/* Without a word about it, all that its owner may. */
static bool read_scope(struct call *call, struct token *token)
{
    char pointer[64];
    const char *complaint;
    bool says_nothing =
        !json_object_get(call->body, "role") && !json_object_get(call->body, "namespaces");
    if (says_nothing && token->owner[0])
        token->scope.rights = ROLE_ADMIN;
    if (scope_decode(call->body, &token->scope, pointer, &complaint) != OK) {
        call_fail_at(call, pointer, "%s: %s", pointer + 1, message_in(call->language, complaint));
        return false;
    }
    if (scope_may_somewhere(&token->scope, RIGHT_VIEW))
        return true;
    call_fail_at(call, "/role", "a role is needed, everywhere or in a namespace");
    return false;
}

static bool read_rest(struct call *call, struct token *token)
{
    const char *label = json_string_value(json_object_get(call->body, "label"));
    const json_t *life = json_object_get(call->body, "expires_in");
    int64_t life_s = LIFE_S;
    struct parse_error error;
    if (!label || !*label || strlen(label) >= sizeof(token->label)) {
        call_fail_at(call, "/label", "label: expected 1 to %d bytes: what the token is for",
                     (int)sizeof(token->label) - 1);
        return false;
    }
    bool is_never = json_is_string(life) && strcmp(json_string_value(life), "never") == 0;
    bool is_good =
        !life || is_never ||
        (json_is_string(life) && duration_parse(json_string_value(life), 1, &life_s, &error) == OK);
    if (!is_good || life_s < 1 || life_s > LIFE_MAX_S) {
        call_fail_at(call, "/expires_in",
                     "expires_in: expected a duration like \"90d\", or \"never\"");
        return false;
    }
    snprintf(token->label, sizeof(token->label), "%s", label);
    token->created_ms = call->now_ms;
    token->expires_ms = is_never ? 0 : call->now_ms + life_s * 1000;
    return true;
}

void add_token(struct call *call)
{
    struct token_edit *edit = call_state(call, sizeof(*edit), release_edit);
    if (!edit || !read_owner(call, &edit->token) || !read_scope(call, &edit->token) ||
        !read_rest(call, &edit->token))
        return;
    struct id id = call_make_id(call);
    char secret[SECRET_SIZE];
    id_format(&id, edit->token.id);
    secret_make(&call->api->ports.entropy, secret);
    snprintf(edit->secret, sizeof(edit->secret), TOKEN_PREFIX "%s", secret);
    secret_digest(edit->secret, edit->token.digest);
    edit->json = token_encode(&edit->token);
    if (!edit->json) {
        call_fail(call, 500, "out of memory");
        return;
    }
    edit->put = (struct store_put_doc){.json = edit->json};
    doc_name(&edit->put, TOKEN_DOC, edit->token.id);
    call_submit(call, STORE_PUT_DOC, &edit->put, 1, token_added);
}

/* ---- revoking ---- */

static void reply_revoked(struct call *call)
{
    const struct token_edit *edit = call->state;
    call_reply(call, 200, encode_token(&edit->token));
}

static void token_deleted(struct call *call)
{
    const struct token_edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    note_other(call, CHANGE_TOKEN_REVOKE, TARGET_TOKEN, edit->token.id);
    note_detail(call, "%s", edit->token.label);
    note_write(call, reply_revoked);
}

void delete_token(struct call *call)
{
    const struct token *token = accounts_token(&call->api->accounts, call->argument);
    if (!token || !is_theirs(call, token)) {
        call_fail(call, 404, "there is no token %.60s", call->argument);
        return;
    }
    struct token_edit *edit = call_state(call, sizeof(*edit), release_edit);
    if (!edit)
        return;
    edit->token = *token;
    edit->put = (struct store_put_doc){.expected_revision = -1};
    doc_name(&edit->put, TOKEN_DOC, token->id);
    call_submit(call, STORE_PUT_DOC, &edit->put, 1, token_deleted);
}

/* ---- using ---- */

struct use_note {
    struct store_request request;
    struct store_put_doc put;
    char *json;
};

static void free_note(struct use_note *note)
{
    if (note)
        free(note->json);
    free(note);
}

static void use_noted(struct store_request *request, enum status st)
{
    (void)st;
    free_note(request->context);
}

/* One that is revoked meanwhile stays so: it has not the expected revision. */
void token_note_use(struct api *api, struct token *token, int64_t now_ms)
{
    struct use_note *note = calloc(1, sizeof(*note));
    token->used_ms = now_ms;
    if (note)
        note->json = token_encode(token);
    if (!note || !note->json) {
        free_note(note);
        return;
    }
    note->put = (struct store_put_doc){.json = note->json, .expected_revision = token->revision};
    doc_name(&note->put, TOKEN_DOC, token->id);
    note->request = (struct store_request){.op = STORE_PUT_DOC,
                                           .count = 1,
                                           .items.docs = &note->put,
                                           .done = use_noted,
                                           .context = note};
    store_submit(api->ports.store, &note->request);
}
