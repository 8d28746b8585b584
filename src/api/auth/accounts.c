#include "auth/accounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tables' keys ---- */

/* A user starts with its name, a token with its id. */
/* Users and tokens start with their name. */
static const struct table_type names_type = {.key_at = 0};
static const struct table_type digests_type = {.key_at = offsetof(struct token, digest)};

struct user *accounts_user(const struct accounts *accounts, const char *name)
{
    return table_find(&accounts->users, name);
}

struct token *accounts_token(const struct accounts *accounts, const char *id)
{
    return table_find(&accounts->tokens, id);
}

/* ---- the feed ---- */

bool user_is_admin(const struct user *user)
{
    return user->scope.rights & RIGHT_ADMIN && !user->disabled;
}

static void take_user(struct accounts *accounts, const struct store_doc *doc)
{
    struct user read, *user = accounts_user(accounts, doc->name);
    bool is_there = doc->json && user_decode(doc->name, doc->json, &read) == OK;
    if (is_there)
        read.revision = doc->revision;
    if (is_there && user) {
        *user = read;
    } else if (is_there) {
        (void)table_add(&accounts->users, &read, sizeof(read));
    } else if (user) {
        table_remove(&accounts->users, user);
        free(user);
    }
}

static void drop_token(struct accounts *accounts, struct token *token)
{
    table_remove(&accounts->tokens, token);
    table_remove(&accounts->by_digest, token);
    free(token);
}

static void take_token(struct accounts *accounts, const struct store_doc *doc)
{
    struct token *old = accounts_token(accounts, doc->name), *token = malloc(sizeof(*token));
    bool is_there = token && doc->json && token_decode(doc->name, doc->json, token) == OK;
    if (is_there && old && old->used_ms > token->used_ms)
        token->used_ms = old->used_ms;
    if (old)
        drop_token(accounts, old);
    if (is_there)
        token->revision = doc->revision;
    if (!is_there || table_insert(&accounts->tokens, token) != OK) {
        free(token);
        return;
    }
    if (table_insert(&accounts->by_digest, token) != OK) {
        table_remove(&accounts->tokens, token);
        free(token);
    }
}

static bool read_hex(const char *text, uint8_t *bytes, size_t length)
{
    if (!text || strlen(text) != 2 * length)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            return false;
        bytes[i] = (uint8_t)value;
    }
    return true;
}

static void take_secret(struct accounts *accounts, const struct store_doc *doc)
{
    struct session_secret secret = {.revision = doc->revision};
    json_t *value = doc->json ? json_loads(doc->json, 0, NULL) : NULL;
    if (!read_hex(json_string_value(json_object_get(value, "secret")), secret.bytes,
                  sizeof(secret.bytes)))
        secret.revision = 0;
    secret.link_generation = json_integer_value(json_object_get(value, "link_generation"));
    json_decref(value);
    accounts->secret = secret;
}

static void take_leaving(struct accounts *accounts, const struct store_doc *doc)
{
    json_decref(accounts->leaving.versions);
    accounts->leaving.versions = doc->json ? json_loads(doc->json, 0, NULL) : NULL;
    accounts->leaving.revision = doc->json ? doc->revision : 0;
}

void accounts_take(struct accounts *accounts, const struct store_change *change)
{
    const struct store_doc *doc = change->doc;
    if (change->kind != STORE_CHANGE_DOC)
        return;
    if (strcmp(doc->kind, USER_DOC) == 0)
        take_user(accounts, doc);
    else if (strcmp(doc->kind, TOKEN_DOC) == 0)
        take_token(accounts, doc);
    else if (strcmp(doc->kind, SECRET_DOC_KIND) == 0 && strcmp(doc->name, SECRET_DOC_NAME) == 0)
        take_secret(accounts, doc);
    else if (strcmp(doc->kind, SECRET_DOC_KIND) == 0 && strcmp(doc->name, LEAVING_DOC_NAME) == 0)
        take_leaving(accounts, doc);
    else
        return;
    accounts->changes++;
}

char *session_secret_encode(const struct session_secret *secret)
{
    char hex[2 * SESSION_SECRET + 1];
    for (size_t i = 0; i < SESSION_SECRET; i++)
        snprintf(hex + 2 * i, 3, "%02x", secret->bytes[i]);
    json_t *value = json_pack("{s:s, s:I}", "secret", hex, "link_generation",
                              (json_int_t)secret->link_generation);
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

void doc_name(struct store_put_doc *put, const char *kind, const char *name)
{
    snprintf(put->kind, sizeof(put->kind), "%s", kind);
    snprintf(put->name, sizeof(put->name), "%s", name);
}

/* ---- who it is ---- */

/* A re-created user's revisions start again, so the creation time is part of the version. */
static json_t *version_of(const struct user *user)
{
    return json_sprintf("%lld-%lld", (long long)user->created_ms, (long long)user->revision);
}

/* Is the version that is to be replaced still current? */
static bool is_leaving(const struct accounts *accounts, const struct user *user)
{
    json_t *version = version_of(user);
    bool is_same = json_equal(json_object_get(accounts->leaving.versions, user->name), version);
    json_decref(version);
    return is_same;
}

bool accounts_is_last_admin(const struct accounts *accounts, const struct user *user)
{
    const struct user *other;
    for (size_t at = 0; (other = table_next(&accounts->users, &at));) {
        if (other != user && user_is_admin(other) && !is_leaving(accounts, other))
            return false;
    }
    return user_is_admin(user);
}

char *leaving_admins_encode(const struct accounts *accounts, const struct user *user)
{
    const struct user *other;
    json_t *value = json_object();
    int failed = !value;
    for (size_t at = 0; (other = table_next(&accounts->users, &at)) && !failed;) {
        if (strcmp(other->name, user->name) == 0 ||
            (user_is_admin(other) && is_leaving(accounts, other)))
            failed = json_object_set_new(value, other->name, version_of(other));
    }
    char *text = failed ? NULL : json_dumps(value, JSON_COMPACT);
    json_decref(value);
    return text;
}

/* The token's current rights, limited to its owner's. False: not valid. */
static bool token_scope(const struct accounts *accounts, const struct token *token, int64_t now_ms,
                        struct scope *ret)
{
    if (token->expires_ms && now_ms >= token->expires_ms)
        return false;
    if (!token->owner[0]) {
        *ret = token->scope;
        return true;
    }
    const struct user *owner = accounts_user(accounts, token->owner);
    if (!owner || owner->disabled || owner->created_ms != token->owner_created_ms)
        return false;
    scope_intersect(&token->scope, &owner->scope, ret);
    return true;
}

bool accounts_by_secret(const struct accounts *accounts, const char *secret, int64_t now_ms,
                        struct principal *ret, struct token **ret_token)
{
    char digest[DIGEST_SIZE];
    struct principal found = {.kind = PRINCIPAL_TOKEN};
    secret_digest(secret, digest);
    struct token *token = table_find(&accounts->by_digest, digest);
    if (!token || !token_scope(accounts, token, now_ms, &found.scope))
        return false;
    found.ends_ms = token->expires_ms;
    snprintf(found.name, sizeof(found.name), "%s", token->owner[0] ? token->owner : token->label);
    snprintf(found.token_id, sizeof(found.token_id), "%s", token->id);
    *ret = found;
    *ret_token = token;
    return true;
}

bool accounts_by_cookie(const struct accounts *accounts, const char *cookie, int64_t now_ms,
                        struct principal *ret, struct session *ret_session)
{
    const struct session_secret *secret = &accounts->secret;
    struct session session;
    if (!secret->revision || !session_read(cookie, secret->bytes, now_ms / 1000, &session))
        return false;
    struct principal found = {.kind = session.is_link ? PRINCIPAL_LINK : PRINCIPAL_USER,
                              .generation = session.generation,
                              .ends_ms = session.issued_ms + SESSION_ABSOLUTE_S * INT64_C(1000),
                              .scope.rights = ROLE_ADMIN};
    snprintf(found.name, sizeof(found.name), "%s", session.name);
    if (!session.is_link) {
        const struct user *user = accounts_user(accounts, session.name);
        if (!user)
            return false;
        found.scope = user->scope;
    }
    if (!accounts_still_admit(accounts, &found, now_ms))
        return false;
    *ret = found;
    *ret_session = session;
    return true;
}

static bool still_admits_user(const struct accounts *accounts, const struct principal *principal)
{
    const struct user *user = accounts_user(accounts, principal->name);
    return user && !user->disabled && user->generation == principal->generation &&
           !user_has_ended(user, principal->ends_ms) &&
           scope_contains(&user->scope, &principal->scope);
}

static bool still_admits_token(const struct accounts *accounts, const struct principal *principal,
                               int64_t now_ms)
{
    const struct token *token = accounts_token(accounts, principal->token_id);
    struct scope scope;
    return token && token_scope(accounts, token, now_ms, &scope) &&
           scope_contains(&scope, &principal->scope);
}

bool accounts_still_admit(const struct accounts *accounts, const struct principal *principal,
                          int64_t now_ms)
{
    if (principal->ends_ms && now_ms >= principal->ends_ms)
        return false;
    switch (principal->kind) {
    case PRINCIPAL_NONE:
        return false;
    case PRINCIPAL_SOCKET:
        return true;
    case PRINCIPAL_USER:
        return still_admits_user(accounts, principal);
    case PRINCIPAL_LINK:
        return accounts->secret.link_generation == principal->generation;
    case PRINCIPAL_TOKEN:
        return still_admits_token(accounts, principal, now_ms);
    }
    return false;
}

/* ---- all of them ---- */

void accounts_init(struct accounts *accounts)
{
    *accounts = (struct accounts){.changes = 0};
    table_init(&accounts->users, &names_type);
    table_init(&accounts->tokens, &names_type);
    table_init(&accounts->by_digest, &digests_type);
}

void accounts_release(struct accounts *accounts)
{
    json_decref(accounts->leaving.versions);
    table_release_items(&accounts->users);
    table_release_items(&accounts->tokens);
    table_release(&accounts->by_digest);
}
