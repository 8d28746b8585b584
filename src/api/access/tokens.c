/* Tokens, for programs: admins see all tokens, other users see their own. */
#include <stdlib.h>
#include <string.h>

#include "documents/documents.h"
#include "duration.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

#define TOKEN_PREFIX "peal_"

enum { LIFE_S = 90 * 86400, LIFE_MAX_S = 3650 * 86400 };

static json_t *encode_token(const struct call *call, const void *item)
{
    const struct token *token = item;
    (void)call;
    json_t *more = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "id", token->id, "label",
                             json_words(token->label), "user", json_words_or_null(token->owner),
                             "created_at", json_time(token->created_ms), "expires_at",
                             json_time(token->expires_ms), "used_at", json_time(token->used_ms));
    return scope_encode(&token->scope, more);
}

static bool is_theirs(const struct call *call, const void *item)
{
    const struct token *token = item;
    const struct principal *me = &call->principal;
    if (scope_may(&me->scope, RIGHT_ADMIN, NULL))
        return true;
    if (me->kind == PRINCIPAL_TOKEN) /* it can't see its owner's other tokens */
        return strcmp(me->token_id, token->id) == 0;
    return strcmp(me->name, token->owner) == 0;
}

static const struct table *all_tokens(const struct call *call)
{
    return &call->api->accounts.tokens;
}

/* A token of another user is a 404. */
static bool may(struct call *call)
{
    const struct accounts *accounts = &call->api->accounts;
    const struct token *token = call->argument ? accounts_token(accounts, call->argument) : NULL;
    if (!call->argument || (token && is_theirs(call, token)))
        return true;
    call_fail(call, 404, "there is no token %.60s", call->argument);
    return false;
}

struct token_edit {
    struct doc_edit doc;
    struct token token;
    char secret[sizeof(TOKEN_PREFIX) + SECRET_SIZE]; /* of a new token */
};

/* ---- creating ---- */

/* Sets the owner. False: the call has failed. */
static bool read_owner(struct call *call, struct token *token)
{
    const char *name = json_string_value(json_object_get(call->body, "user"));
    bool is_user = call->principal.kind == PRINCIPAL_USER;
    if (call->principal.kind == PRINCIPAL_TOKEN) { /* else it could outlive its expiry */
        call_fail(call, 403, "a token can't make tokens; log in");
        return false;
    }
    if (name && !(is_user && strcmp(name, call->principal.name) == 0) &&
        !call_may(call, RIGHT_ADMIN))
        return false;
    if (!name && !is_user)
        return true; /* without an owner */
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

/* Without a role and namespaces the token has all rights of its owner. */
static bool read_token_scope(struct call *call, struct token *token)
{
    bool says_nothing =
        !json_object_get(call->body, "role") && !json_object_get(call->body, "namespaces");
    if (says_nothing && token->owner[0])
        token->scope.rights = ROLE_ADMIN;
    return field_scope(call, &token->scope);
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

/* False: the call has failed. */
static bool make_token(struct call *call)
{
    struct token_edit *edit = call->state;
    struct token *token = &edit->token;
    if (!read_owner(call, token) || !read_token_scope(call, token) || !read_rest(call, token))
        return false;
    struct id id = call_make_id(call);
    char secret[SECRET_SIZE];
    id_format(&id, token->id);
    secret_make(&call->api->ports.entropy, secret);
    snprintf(edit->secret, sizeof(edit->secret), TOKEN_PREFIX "%s", secret);
    secret_digest(edit->secret, token->digest);
    edit->doc.json = token_encode(token);
    return call_name(call, token->id);
}

/* ---- editing ---- */

static bool prepare(struct call *call, const void *item)
{
    struct token_edit *edit = call->state;
    if (edit->doc.action == DOC_DELETE) {
        edit->token = *(const struct token *)item;
        edit->doc.revision = DOC_ANY_REVISION; /* each recorded use makes a new revision */
    } else if (!make_token(call)) {
        return false;
    }
    edit->doc.detail = strdup(edit->token.label);
    return true;
}

static void reply(struct call *call, int status)
{
    const struct token_edit *edit = call->state;
    json_t *value = encode_token(call, &edit->token);
    if (edit->doc.action == DOC_CREATE) { /* the secret is shown only once, and not stored */
        json_object_set_new(value, "token", json_null());
        idempotency_keep_instead(call, status, value);
        if (json_object_set_new(value, "token", json_string(edit->secret)) != 0) {
            json_decref(value);
            value = NULL;
        }
    }
    call_reply(call, status, value);
}

const struct doc_kind token_docs = {
    .name = TOKEN_DOC,
    .target = TARGET_TOKEN,
    .created = CHANGE_TOKEN_CREATE,
    .deleted = CHANGE_TOKEN_REVOKE,
    .edit_size = sizeof(struct token_edit),
    .revision_at = offsetof(struct token, revision),
    .may = may,
    .all = all_tokens,
    .sees = is_theirs,
    .show = encode_token,
    .prepare = prepare,
    .reply = reply,
};

/* ---- last use ---- */

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

/* The compare-and-set on the revision keeps a token that was revoked meanwhile revoked. */
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
