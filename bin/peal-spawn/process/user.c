#include "process/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allowed_users.h"

#define KNOWN_MS 1000 /* how long the answer of the user database is used */

static bool find_groups(const char *name, struct user_ids *user)
{
    int count = 64;
    for (;;) {
        gid_t *groups = realloc(user->groups, (size_t)count * sizeof(*groups));
        if (!groups)
            return false;
        user->groups = groups;
        int room = count;
        if (getgrouplist(name, user->gid, groups, &count) >= 0) {
            user->group_count = (size_t)count;
            return true;
        }
        if (count <= room)
            count = room * 2;
    }
}

/* May a root spawner run the job as this user? */
static bool is_allowed(const struct spawn_request *request, const struct user_ids *user,
                       const char *allow_file)
{
    return request->is_default_user ||
           allowed_users_has(allow_file, request->job, request->user, user->uid == 0);
}

/* A user of the database, with the groups. 0, or an errno; -1: there is no such user. */
static int look_up(const char *name, struct user_ids *ret)
{
    errno = 0;
    const struct passwd *entry = getpwnam(name);
    if (!entry)
        return errno && errno != ENOENT ? errno : -1;
    struct user_ids user = {.uid = entry->pw_uid, .gid = entry->pw_gid};
    if (!find_groups(name, &user)) {
        user_release(&user);
        return ENOMEM;
    }
    *ret = user;
    return 0;
}

/* The same, out of those that are known. *ret is theirs. */
static int find(struct users *users, int64_t now_boot_ms, const char *name,
                const struct user_ids **ret)
{
    const size_t count = sizeof(users->known) / sizeof(users->known[0]);
    struct known_user *known = NULL;
    for (size_t i = 0; i < count && !known; i++)
        if (strcmp(users->known[i].name, name) == 0)
            known = &users->known[i];
    if (known && now_boot_ms < known->until_boot_ms) {
        *ret = &known->ids;
        return 0;
    }
    struct user_ids ids;
    int error = look_up(name, &ids);
    if (error)
        return error;
    if (!known)
        known = &users->known[users->next++ % count];
    user_release(&known->ids);
    snprintf(known->name, sizeof(known->name), "%s", name);
    known->ids = ids;
    /* A longer name is cut off, and so never found. */
    known->until_boot_ms = now_boot_ms + KNOWN_MS;
    *ret = &known->ids;
    return 0;
}

void users_release(struct users *users)
{
    for (size_t i = 0; i < sizeof(users->known) / sizeof(users->known[0]); i++)
        user_release(&users->known[i].ids);
    *users = (struct users){0};
}

/* A copy of its own, for a process that switches to the user. */
static bool copy(const struct user_ids *user, struct user_ids *ret)
{
    gid_t *groups = malloc((user->group_count + 1) * sizeof(*groups));
    if (!groups)
        return false;
    if (user->group_count)
        memcpy(groups, user->groups, user->group_count * sizeof(*groups));
    *ret = *user;
    ret->groups = groups;
    ret->must_switch = true;
    return true;
}

enum spawn_step user_find(struct users *users, int64_t now_boot_ms,
                          const struct spawn_request *request, const char *allow_file,
                          struct user_ids *ret, int *ret_error)
{
    uid_t own = geteuid();
    const struct user_ids *user;
    *ret_error = 0;
    if (request->user[0] == '\0') {
        if (own == 0)
            return SPAWN_STEP_ALLOW;
        *ret = (struct user_ids){0};
        return SPAWN_STEP_NONE;
    }
    int error = find(users, now_boot_ms, request->user, &user);
    if (error) {
        *ret_error = error > 0 ? error : 0;
        return SPAWN_STEP_USER;
    }
    if (own == 0 ? !is_allowed(request, user, allow_file) : user->uid != own)
        return SPAWN_STEP_ALLOW;
    if (user->uid == own) {
        *ret = (struct user_ids){0};
        return SPAWN_STEP_NONE;
    }
    if (copy(user, ret))
        return SPAWN_STEP_NONE;
    *ret_error = ENOMEM;
    return SPAWN_STEP_USER;
}

void user_release(struct user_ids *user)
{
    free(user->groups);
    *user = (struct user_ids){0};
}
