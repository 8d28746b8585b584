/* The user of a run.
 *
 * An unprivileged spawner runs jobs only as its own user. A root spawner runs them as the
 * operator's default user, or as a user that the allow-list has for this job. Root must be listed
 * like any other user, and a start without a user is refused, so that nothing runs as root by
 * accident. */
#ifndef PEAL_SPAWNER_USER_H
#define PEAL_SPAWNER_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spawn_message.h"

struct user_ids {
    bool must_switch; /* false: the rest is empty */
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    size_t group_count;
};

/* Users that were looked up lately: a burst of starts asks the user database once. Whether a job
 * may run as one of them is asked for each start. */
struct known_user {
    char name[64]; /* "": no entry */
    struct user_ids ids;
    int64_t until_boot_ms;
};

struct users {
    struct known_user known[8];
    unsigned next; /* to be replaced */
};

void users_release(struct users *users); /* zeroed: empty */

/* SPAWN_STEP_NONE: *ret is filled, to be released. Else the step that failed, and its errno. */
MUST_CHECK enum spawn_step user_find(struct users *users, int64_t now_boot_ms,
                                     const struct spawn_request *request, const char *allow_file,
                                     struct user_ids *ret, int *ret_error);
void user_release(struct user_ids *user);

#endif
