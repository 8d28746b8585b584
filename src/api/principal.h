/* Who asks, and what they may do. */
#ifndef PEAL_PRINCIPAL_H
#define PEAL_PRINCIPAL_H

#include <stdbool.h>

#include "status.h"

/* What a route asks for. DEFINE, to change what a job runs and as whom, is apart from OPERATE: who
 * may start a backup need not be able to make it something else. */
enum right {
    RIGHT_PUBLIC = 0, /* nobody needs to be known */
    RIGHT_VIEW = 1 << 0,
    RIGHT_OPERATE = 1 << 1, /* run, kill, pause, resume, skip */
    RIGHT_EDIT = 1 << 2,    /* schedules, policies, labels; delete and bring back */
    RIGHT_DEFINE = 1 << 3,  /* command, script, environment, user */
    RIGHT_ADMIN = 1 << 4,   /* the agent, nodes, accounts */
};

/* The rights of each role. */
enum role_rights {
    ROLE_VIEWER = RIGHT_VIEW,
    ROLE_OPERATOR = ROLE_VIEWER | RIGHT_OPERATE,
    ROLE_EDITOR = ROLE_OPERATOR | RIGHT_EDIT | RIGHT_DEFINE,
    ROLE_ADMIN = ROLE_EDITOR | RIGHT_ADMIN,
};

enum principal_kind {
    PRINCIPAL_NONE,   /* nobody is known; public routes only */
    PRINCIPAL_SOCKET, /* a user of this machine, by the UNIX socket's peer credentials */
    PRINCIPAL_USER,   /* a session, by its cookie */
    PRINCIPAL_TOKEN,
};

struct principal {
    enum principal_kind kind;
    char name[64];
    unsigned rights; /* of enum right */
};

/* What a client on TCP shows of itself; each may be NULL. */
struct credentials {
    const char *authorization;
    const char *cookie;
    const char *peer; /* its address */
};

/* Knows the accounts. All NULL: there are none. */
struct authenticator {
    /* OK: *ret is who it is. E_NOT_FOUND: no credentials, E_INVALID: wrong ones; both are a 401.
     * E_BUSY: too many wrong ones of late; 429. Anything else: 503. */
    enum status (*authenticate)(void *context, const struct credentials *given,
                                struct principal *ret);
    bool (*has_accounts)(void *context);
    void *context;
};

/* "viewer": the least role that has the right; "define" for RIGHT_DEFINE. */
const char *right_name(enum right right);

/* "viewer", "operator", "editor", "admin", or "none". */
const char *role_name(unsigned rights);

#endif
