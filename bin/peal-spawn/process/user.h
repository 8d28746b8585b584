/* Whom a run may run as.
 *
 * The spawner as a plain user: only as that user. As root: as the user that the operator has set
 * for jobs that name none, and else as one that the list of allowed users has for this job. Root is
 * one of them like everybody else: a start that names no user is refused, so that nothing runs as
 * root because nobody thought of it. */
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
MUST_CHECK enum spawn_step user_find(const struct spawn_request *request, const char *allow_file,
                                     struct user_ids *ret, int *ret_error);
void user_release(struct user_ids *user);

#endif
