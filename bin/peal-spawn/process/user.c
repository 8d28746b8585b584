#include "process/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "allowed_users.h"

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
static bool is_allowed(const struct spawn_request *request, const struct passwd *user,
                       const char *allow_file)
{
    return request->is_default_user ||
           allowed_users_has(allow_file, request->job, request->user, user->pw_uid == 0);
}

enum spawn_step user_find(const struct spawn_request *request, const char *allow_file,
                          struct user_ids *ret, int *ret_error)
{
    uid_t own = geteuid();
    struct user_ids user = {0};
    *ret_error = 0;
    if (request->user[0] == '\0') {
        if (own == 0)
            return SPAWN_STEP_ALLOW;
        *ret = user;
        return SPAWN_STEP_NONE;
    }
    errno = 0;
    const struct passwd *entry = getpwnam(request->user);
    if (!entry) {
        *ret_error = errno == ENOENT ? 0 : errno;
        return SPAWN_STEP_USER;
    }
    if (own == 0 ? !is_allowed(request, entry, allow_file) : entry->pw_uid != own)
        return SPAWN_STEP_ALLOW;
    if (entry->pw_uid == own) {
        *ret = user;
        return SPAWN_STEP_NONE;
    }
    user = (struct user_ids){.must_switch = true, .uid = entry->pw_uid, .gid = entry->pw_gid};
    if (!find_groups(request->user, &user)) {
        user_release(&user);
        *ret_error = ENOMEM;
        return SPAWN_STEP_USER;
    }
    *ret = user;
    return SPAWN_STEP_NONE;
}

void user_release(struct user_ids *user)
{
    free(user->groups);
    *user = (struct user_ids){0};
}
