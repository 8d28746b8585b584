#include "auth/account.h"

#include <ctype.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

const char *user_name_complaint(const char *name)
{
    if (!isalnum((unsigned char)*name))
        return "must start with a letter or a digit";
    for (const char *c = name; *c; c++) {
        if (!strchr(letters, *c) && *c != '@')
            return "may hold letters, digits and . _ @ - only";
    }
    return strlen(name) > USER_NAME_MAX ? "is longer than 63 characters" : NULL;
}

/* ---- scopes ---- */

/* "role" and "define" of one object. NULL: good. */
static const char *read_rights(const json_t *object, unsigned *inout, const char **ret_member)
{
    const json_t *role = json_object_get(object, "role");
    const json_t *define = json_object_get(object, "define");
    unsigned rights = *inout;
    *ret_member = "role";
    if (role && (!json_is_string(role) || !role_by_name(json_string_value(role), &rights)))
        return "expected viewer, operator, editor, admin or none";
    *ret_member = "define";
    if (define && !json_is_boolean(define))
        return "expected true or false";
    if (json_is_true(define) && !(rights & RIGHT_EDIT))
        return "only an editor can have it";
    if (json_is_true(define))
        rights |= RIGHT_DEFINE;
    if (json_is_false(define) && rights & RIGHT_ADMIN)
        return "an admin has it";
    if (json_is_false(define))
        rights &= ~(unsigned)RIGHT_DEFINE;
    *inout = rights;
    return NULL;
}

static const char *read_grant(const json_t *item, struct grant *ret, const char **ret_member)
{
    const char *name = json_string_value(json_object_get(item, "namespace"));
    *ret_member = "namespace";
    if (!name)
        return "expected the name of a namespace";
    const char *complaint = namespace_complaint(name);
    if (complaint)
        return complaint;
    *ret = (struct grant){.rights = ROLE_NONE};
    snprintf(ret->namespace, sizeof(ret->namespace), "%s", name);
    complaint = read_rights(item, &ret->rights, ret_member);
    if (complaint)
        return complaint;
    *ret_member = "role";
    if (ret->rights & RIGHT_ADMIN)
        return "admin can't be limited to a namespace: nodes and accounts are in none";
    return ret->rights ? NULL : "expected viewer, operator or editor";
}

enum status scope_decode(const json_t *object, struct scope *inout, char ret_pointer[64],
                         const char **ret_complaint)
{
    struct scope scope = *inout;
    const json_t *list = json_object_get(object, "namespaces");
    const char *member;
    const char *complaint = read_rights(object, &scope.rights, &member);
    snprintf(ret_pointer, 64, "/%s", member);
    if (!complaint && list) {
        snprintf(ret_pointer, 64, "/namespaces");
        scope.grant_count = 0;
        if (!json_is_array(list) || json_array_size(list) > NAMESPACES_MAX)
            complaint = "expected a list of at most 16 namespaces";
    }
    for (size_t i = 0; !complaint && i < json_array_size(list); i++) {
        complaint = read_grant(json_array_get(list, i), &scope.grants[i], &member);
        snprintf(ret_pointer, 64, "/namespaces/%zu/%s", i, member);
        scope.grant_count++;
    }
    *ret_complaint = complaint;
    if (complaint)
        return E_INVALID;
    *inout = scope;
    return OK;
}

json_t *scope_encode(const struct scope *scope, json_t *more)
{
    json_t *list = json_array();
    for (size_t i = 0; i < scope->grant_count; i++) {
        const struct grant *grant = &scope->grants[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "namespace", grant->namespace,
                                              "role", role_name(grant->rights), "define",
                                              (grant->rights & RIGHT_DEFINE) != 0));
    }
    json_t *value = json_pack("{s:s, s:b, s:o}", "role", role_name(scope->rights), "define",
                              (scope->rights & RIGHT_DEFINE) != 0, "namespaces", list);
    if (!value || !more || json_object_update(value, more) != 0) {
        json_decref(value);
        value = NULL;
    }
    json_decref(more);
    return value;
}

/* scope_encode writes `define` even where it has no effect. */
static void drop_needless_define(json_t *object)
{
    const char *role = json_string_value(json_object_get(object, "role"));
    if (!role || strcmp(role, role_name(ROLE_EDITOR)) != 0)
        json_object_del(object, "define");
}

static enum status read_kept_scope(json_t *object, struct scope *ret)
{
    char pointer[64];
    const char *complaint;
    size_t i;
    json_t *item;
    *ret = (struct scope){.rights = ROLE_NONE};
    json_array_foreach (json_object_get(object, "namespaces"), i, item) {
        drop_needless_define(item);
    }
    drop_needless_define(object);
    return scope_decode(object, ret, pointer, &complaint) == OK ? OK : E_CORRUPT;
}

/* ---- documents ---- */

static char *dump(json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}

static bool copy_member(const json_t *object, const char *name, char *to, size_t size)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text && snprintf(to, size, "%s", text) < (int)size;
}

static int64_t number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

void user_end_session(struct user *user, int64_t ends_ms, int64_t now_ms)
{
    size_t count = 0;
    for (size_t i = 0; i < user->ended_count; i++) {
        if (user->ended_ms[i] > now_ms)
            user->ended_ms[count++] = user->ended_ms[i];
    }
    if (count == ENDED_MAX) {
        user->generation++;
        count = 0;
    } else {
        user->ended_ms[count++] = ends_ms;
    }
    user->ended_count = count;
}

bool user_has_ended(const struct user *user, int64_t ends_ms)
{
    for (size_t i = 0; i < user->ended_count; i++) {
        if (user->ended_ms[i] == ends_ms)
            return true;
    }
    return false;
}

static json_t *encode_ended(const struct user *user)
{
    json_t *ended = json_array();
    for (size_t i = 0; ended && i < user->ended_count; i++) {
        if (json_array_append_new(ended, json_integer(user->ended_ms[i])) != 0) {
            json_decref(ended);
            ended = NULL;
        }
    }
    return ended;
}

static void decode_ended(const json_t *ended, struct user *user)
{
    const json_t *item;
    size_t i;
    json_array_foreach (ended, i, item) {
        if (user->ended_count < ENDED_MAX)
            user->ended_ms[user->ended_count++] = json_integer_value(item);
    }
}

char *user_encode(const struct user *user)
{
    json_t *more = json_pack("{s:s, s:b, s:I, s:I, s:I, s:o}", "password", user->hash, "disabled",
                             user->disabled, "generation", (json_int_t)user->generation,
                             "created_ms", (json_int_t)user->created_ms, "changed_ms",
                             (json_int_t)user->changed_ms, "ended", encode_ended(user));
    return dump(scope_encode(&user->scope, more));
}

enum status user_decode(const char *name, const char *json, struct user *ret)
{
    json_t *value = json_loads(json, 0, NULL);
    struct user user = {.disabled = json_is_true(json_object_get(value, "disabled")),
                        .generation = number_of(value, "generation"),
                        .created_ms = number_of(value, "created_ms"),
                        .changed_ms = number_of(value, "changed_ms")};
    decode_ended(json_object_get(value, "ended"), &user);
    bool good = value && !user_name_complaint(name) &&
                copy_member(value, "password", user.hash, sizeof(user.hash)) &&
                read_kept_scope(value, &user.scope) == OK;
    json_decref(value);
    if (!good)
        return E_CORRUPT;
    snprintf(user.name, sizeof(user.name), "%s", name);
    *ret = user;
    return OK;
}

char *token_encode(const struct token *token)
{
    json_t *more = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "digest", token->digest,
                             "label", token->label, "owner", token->owner, "owner_created_ms",
                             (json_int_t)token->owner_created_ms, "created_ms",
                             (json_int_t)token->created_ms, "expires_ms",
                             (json_int_t)token->expires_ms, "used_ms", (json_int_t)token->used_ms);
    return dump(scope_encode(&token->scope, more));
}

enum status token_decode(const char *id, const char *json, struct token *ret)
{
    json_t *value = json_loads(json, 0, NULL);
    struct token token = {.owner_created_ms = number_of(value, "owner_created_ms"),
                          .created_ms = number_of(value, "created_ms"),
                          .expires_ms = number_of(value, "expires_ms"),
                          .used_ms = number_of(value, "used_ms")};
    bool good = value && strlen(id) < sizeof(token.id) &&
                copy_member(value, "digest", token.digest, sizeof(token.digest)) &&
                strlen(token.digest) == DIGEST_SIZE - 1 &&
                copy_member(value, "label", token.label, sizeof(token.label)) &&
                copy_member(value, "owner", token.owner, sizeof(token.owner)) &&
                read_kept_scope(value, &token.scope) == OK;
    json_decref(value);
    if (!good)
        return E_CORRUPT;
    snprintf(token.id, sizeof(token.id), "%s", id);
    *ret = token;
    return OK;
}

void secret_digest(const char *secret, char ret[DIGEST_SIZE])
{
    unsigned char sum[SHA256_DIGEST_LENGTH];
    SHA256((const unsigned char *)secret, strlen(secret), sum);
    for (size_t i = 0; i < sizeof(sum); i++)
        snprintf(ret + 2 * i, 3, "%02x", sum[i]);
}
