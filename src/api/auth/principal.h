/* The principal of a request, and its rights. Pure. */
#ifndef PEAL_PRINCIPAL_H
#define PEAL_PRINCIPAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job_name.h"

/* The rights that routes need. DEFINE, to change what a job runs and as whom, is separate from
 * OPERATE: who may start a backup need not be able to change it. */
enum right {
    RIGHT_PUBLIC = 0, /* no authentication */
    RIGHT_VIEW = 1 << 0,
    RIGHT_OPERATE = 1 << 1, /* run, kill, pause, resume, skip */
    RIGHT_EDIT = 1 << 2,    /* schedules, policies, labels; delete and restore */
    RIGHT_DEFINE = 1 << 3,  /* command, script, environment, user */
    RIGHT_ADMIN = 1 << 4,   /* the agent, nodes, accounts */
};

/* The rights of each role. An editor can be made without DEFINE. */
enum role_rights {
    ROLE_NONE = 0,
    ROLE_VIEWER = RIGHT_VIEW,
    ROLE_OPERATOR = ROLE_VIEWER | RIGHT_OPERATE,
    ROLE_EDITOR = ROLE_OPERATOR | RIGHT_EDIT | RIGHT_DEFINE,
    ROLE_ADMIN = ROLE_EDITOR | RIGHT_ADMIN,
};

enum principal_kind {
    PRINCIPAL_NONE,   /* not authenticated: public routes only */
    PRINCIPAL_SOCKET, /* a user of this machine, by the UNIX socket's peer credentials */
    PRINCIPAL_USER,   /* a session, by its cookie */
    PRINCIPAL_LINK,   /* a session by a login link that was made on the UNIX socket */
    PRINCIPAL_TOKEN,
};

enum {
    PRINCIPAL_NAME_SIZE = 64,
    NAMESPACE_SIZE = NAMESPACE_MAX + 1,
    NAMESPACES_MAX = 16, /* of one account */
    PRINCIPAL_ID_SIZE = 160,
};

/* Rights in one namespace: over the jobs whose names start with it and a slash. */
struct grant {
    char namespace[NAMESPACE_SIZE];
    unsigned rights;
};

/* The rights of a principal. A job without a slash in its name is in no namespace. */
struct scope {
    unsigned rights; /* in all namespaces, and outside of them */
    size_t grant_count;
    struct grant grants[2 * NAMESPACES_MAX]; /* last, see principal_copy */
};

struct principal {
    enum principal_kind kind;
    char name[PRINCIPAL_NAME_SIZE];
    char token_id[32];  /* of a TOKEN */
    int64_t generation; /* of a session, see accounts.h */
    int64_t ends_ms;    /* expiry; 0: never */
    struct scope scope; /* last: a copy leaves out unused grants */
};

/* A unique text of the account, session or token: names alone can be reused, or shared by many
 * tokens. */
void principal_print_id(const struct principal *principal, char ret[PRINCIPAL_ID_SIZE]);

/* A compact copy for long-lived streams; freed with free(). NULL: out of memory. */
struct principal *principal_copy(const struct principal *principal);

/* `job_name` NULL: everywhere. */
bool scope_may(const struct scope *scope, enum right right, const char *job_name);

/* In at least one namespace. */
bool scope_may_somewhere(const struct scope *scope, enum right right);

/* May view everything. */
bool scope_is_whole(const struct scope *scope);

/* The rights that both have. */
void scope_intersect(const struct scope *a, const struct scope *b, struct scope *ret);

/* Does `outer` have all rights of `inner`? */
bool scope_contains(const struct scope *outer, const struct scope *inner);

/* "viewer": the least role that has the right; "define" for RIGHT_DEFINE. */
const char *right_name(enum right right);

/* "view", "operate", "edit", "define", "admin": one right by its own name. */
const char *right_word(enum right right);

/* "viewer", "operator", "editor", "admin", or "none". */
const char *role_name(unsigned rights);

/* False: no such role. "none" is a role. */
bool role_by_name(const char *name, unsigned *ret);

#endif
