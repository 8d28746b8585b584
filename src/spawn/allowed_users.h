/* The users that jobs may run as, in a list that belongs to root:
 *
 *     backup               jobs of all names may run as backup
 *     *                    ... and as everyone but root
 *     team/ deploy www     jobs whose names begin with team/ may run as deploy and as www
 *     ops/ root            root is meant only where it is named
 *
 * `#` begins a comment. The list counts only if it is a regular file that root owns and nobody else
 * can write. Words after a user without a namespace are ignored. Versions before namespaces take
 * `team/` for a user, which does not exist. */
#ifndef PEAL_ALLOWED_USERS_H
#define PEAL_ALLOWED_USERS_H

#include <stdbool.h>

#define ALLOWED_USERS_FILE "/etc/peal/users.allow" /* unless another one is named */

/* May the job run as the user? `is_root`: the user's uid is 0, whatever the name. */
bool allowed_users_has(const char *file, const char *job, const char *user, bool is_root);

enum allowed_users {
    ALLOWED_USERS_NONE,     /* there is no list */
    ALLOWED_USERS_IGNORED,  /* not a regular file, or not root's, or writable by others */
    ALLOWED_USERS_LIST,     /* the list counts ... */
    ALLOWED_USERS_HAS_ROOT, /* ... and names root for some jobs */
};

enum allowed_users allowed_users_look(const char *file);

#endif
