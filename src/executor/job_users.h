/* What the user database says of the users of jobs, remembered for a second: a burst of runs asks
 * it once. */
#ifndef PEAL_JOB_USERS_H
#define PEAL_JOB_USERS_H

#include <stdbool.h>
#include <stdint.h>

struct job_user {
    char *name;  /* as it was asked for; NULL: an empty entry */
    char *login; /* NULL: there is no such user */
    char *home;
    bool is_home_open; /* the agent may enter it */
    int64_t until_boot_ms;
};

struct job_users {
    struct job_user known[8];
    unsigned next; /* to be replaced */
};

void job_users_release(struct job_users *users); /* zeroed: empty */

/* `name` "": the agent's own. NULL: out of memory. The users', until the next call. */
const struct job_user *job_users_find(struct job_users *users, const char *name,
                                      int64_t now_boot_ms);

#endif
