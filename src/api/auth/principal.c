#include "auth/principal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scopes ---- */

/* "a/b/job" and "a/b/" are in "a" and in "a/b". */
static bool is_in(const char *text, const char *namespace)
{
    size_t length = strlen(namespace);
    return strncmp(text, namespace, length) == 0 && text[length] == '/';
}

static unsigned rights_on(const struct scope *scope, const char *job_name)
{
    unsigned rights = scope->rights;
    for (size_t i = 0; job_name && i < scope->grant_count; i++) {
        if (is_in(job_name, scope->grants[i].namespace))
            rights |= scope->grants[i].rights;
    }
    return rights;
}

/* The rights over the whole namespace. */
static unsigned rights_in(const struct scope *scope, const char *namespace)
{
    unsigned rights = scope->rights;
    for (size_t i = 0; i < scope->grant_count; i++) {
        const char *granted = scope->grants[i].namespace;
        if (strcmp(granted, namespace) == 0 || is_in(namespace, granted))
            rights |= scope->grants[i].rights;
    }
    return rights;
}

bool scope_may(const struct scope *scope, enum right right, const char *job_name)
{
    return right == RIGHT_PUBLIC || rights_on(scope, job_name) & right;
}

bool scope_may_somewhere(const struct scope *scope, enum right right)
{
    unsigned rights = scope->rights;
    for (size_t i = 0; i < scope->grant_count; i++)
        rights |= scope->grants[i].rights;
    return right == RIGHT_PUBLIC || rights & right;
}

bool scope_is_whole(const struct scope *scope)
{
    return scope->rights & RIGHT_VIEW;
}

/* Adds the grants of `from`, limited to the rights of `other`. */
static void add_common(struct scope *into, const struct scope *from, const struct scope *other)
{
    const size_t room = sizeof(into->grants) / sizeof(into->grants[0]);
    for (size_t i = 0; i < from->grant_count && into->grant_count < room; i++) {
        const struct grant *grant = &from->grants[i];
        unsigned rights = grant->rights & rights_in(other, grant->namespace);
        if (!(rights & ~into->rights))
            continue;
        struct grant *common = &into->grants[into->grant_count++];
        *common = *grant;
        common->rights = rights;
    }
}

void scope_intersect(const struct scope *a, const struct scope *b, struct scope *ret)
{
    struct scope common = {.rights = a->rights & b->rights};
    add_common(&common, a, b);
    add_common(&common, b, a);
    *ret = common;
}

bool scope_contains(const struct scope *outer, const struct scope *inner)
{
    if (inner->rights & ~outer->rights)
        return false;
    for (size_t i = 0; i < inner->grant_count; i++) {
        if (inner->grants[i].rights & ~rights_in(outer, inner->grants[i].namespace))
            return false;
    }
    return true;
}

struct principal *principal_copy(const struct principal *principal)
{
    size_t size = offsetof(struct principal, scope.grants) +
                  principal->scope.grant_count * sizeof(struct grant);
    void *copy = malloc(size);
    return copy ? memcpy(copy, principal, size) : NULL;
}

void principal_print_id(const struct principal *principal, char ret[PRINCIPAL_ID_SIZE])
{
    snprintf(ret, PRINCIPAL_ID_SIZE, "%d %s %lld %s", (int)principal->kind, principal->name,
             (long long)principal->generation, principal->token_id);
}

/* ---- words ---- */

/* A right, the role that starts with it, and what it allows. The first stands for all others. */
static const struct {
    enum right right;
    const char *role, *word;
} right_words[] = {
    {RIGHT_PUBLIC, "none", "public"},       {RIGHT_VIEW, "viewer", "view"},
    {RIGHT_OPERATE, "operator", "operate"}, {RIGHT_EDIT, "editor", "edit"},
    {RIGHT_DEFINE, "define", "define"},     {RIGHT_ADMIN, "admin", "admin"},
};

static size_t find_right(enum right right)
{
    size_t i = sizeof(right_words) / sizeof(right_words[0]) - 1;
    while (i > 0 && right_words[i].right != right)
        i--;
    return i;
}

const char *right_name(enum right right)
{
    return right_words[find_right(right)].role;
}

const char *right_word(enum right right)
{
    return right_words[find_right(right)].word;
}

const char *role_name(unsigned rights)
{
    return rights & RIGHT_ADMIN     ? "admin"
           : rights & RIGHT_EDIT    ? "editor"
           : rights & RIGHT_OPERATE ? "operator"
           : rights & RIGHT_VIEW    ? "viewer"
                                    : "none";
}

bool role_by_name(const char *name, unsigned *ret)
{
    static const unsigned roles[] = {ROLE_NONE, ROLE_VIEWER, ROLE_OPERATOR, ROLE_EDITOR,
                                     ROLE_ADMIN};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(role_name(roles[i]), name) != 0)
            continue;
        *ret = roles[i];
        return true;
    }
    return false;
}
