/* Whom a run may run as.
 *
 * The spawner as a plain user: only as that user. As root: as root, or as a user that the
 * allow-list names. The list has a name a line, `*` allows everyone, `#` begins a comment; it
 * counts only if it is a file that root owns and no one else can write. No list, no switching. */
#ifndef PEAL_SPAWNER_USER_H
#define PEAL_SPAWNER_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "spawn_message.h"

struct user_ids {
    bool must_switch; /* false: the rest is empty */
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    size_t group_count;
};

/* SPAWN_STEP_NONE: *ret is filled, to be released. Else the step that failed, and its errno. */
MUST_CHECK enum spawn_step user_find(const char *name, const char *allow_file, struct user_ids *ret,
                                     int *ret_error);
void user_release(struct user_ids *user);

#endif
