#include "job_users.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KNOWN_MS     1000

static void forget(struct job_user *user)
{
    free(user->name);
    free(user->login);
    free(user->home);
    *user = (struct job_user){0};
}

void job_users_release(struct job_users *users)
{
    for (size_t i = 0; i < COUNT(users->known); i++)
        forget(&users->known[i]);
}

static bool look_up(struct job_user *user, const char *name)
{
    const struct passwd *entry = *name ? getpwnam(name) : getpwuid(geteuid());
    user->name = strdup(name);
    if (entry) {
        user->login = strdup(entry->pw_name);
        user->home = strdup(entry->pw_dir);
        user->is_home_open = access(entry->pw_dir, X_OK) == 0;
    }
    return user->name && (!entry || (user->login && user->home));
}

const struct job_user *job_users_find(struct job_users *users, const char *name,
                                      int64_t now_boot_ms)
{
    struct job_user *user = NULL;
    for (size_t i = 0; i < COUNT(users->known) && !user; i++)
        if (users->known[i].name && strcmp(users->known[i].name, name) == 0)
            user = &users->known[i];
    if (user && now_boot_ms < user->until_boot_ms)
        return user;
    if (!user)
        user = &users->known[users->next++ % COUNT(users->known)];
    forget(user);
    if (!look_up(user, name)) {
        forget(user);
        return NULL;
    }
    user->until_boot_ms = now_boot_ms + KNOWN_MS;
    return user;
}
