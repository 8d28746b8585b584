#include "sandbox/jobs_user.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allowed_users.h"
#include "peer.h"

static void say(struct jobs_user *user, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct jobs_user *user, const char *format, ...)
{
    size_t used = strlen(user->detail);
    va_list args;
    va_start(args, format);
    vsnprintf(user->detail + used, sizeof(user->detail) - used, format, args);
    va_end(args);
}

static void set_name(struct jobs_user *user, const char *name)
{
    snprintf(user->name, sizeof(user->name), "%s", name);
}

/* An unprivileged agent runs all jobs as its own user. */
static void look_as_plain_user(struct jobs_user *ret)
{
    const struct passwd *own = getpwuid(geteuid());
    char number[24];
    snprintf(number, sizeof(number), "uid %u", (unsigned)geteuid());
    set_name(ret, own ? own->pw_name : number);
    ret->is_shared = true;
    ret->ok = true;
    say(ret, "jobs run as %s, as the agent does: they can read and change all that it has",
        ret->name);
}

static void look_at_default(const struct agent_config *config, struct jobs_user *ret)
{
    const struct passwd *user = config->default_user ? getpwnam(config->default_user) : NULL;
    struct stat data;
    if (!config->default_user) {
        say(ret, "jobs that name no user are not started: the agent is root and has no "
                 "default_user");
        return;
    }
    if (!user) {
        say(ret, "jobs that name no user are not started: default_user %s is no user here",
            config->default_user);
        return;
    }
    set_name(ret, user->pw_name);
    bool owns_data = stat(config->data, &data) == 0 && data.st_uid == user->pw_uid;
    ret->is_shared = user->pw_uid == 0 || owns_data;
    ret->ok = !ret->is_shared;
    say(ret, "jobs that name no user run as %s", ret->name);
    if (user->pw_uid == 0)
        say(ret, ", as the agent does: whoever may define a job can do everything here");
    else if (owns_data)
        say(ret, ", who owns %s: whoever may define a job can read and change it", config->data);
}

static void look_at_list(const struct agent_config *config, struct jobs_user *ret)
{
    const char *file = config->allow_file ? config->allow_file : ALLOWED_USERS_FILE;
    enum allowed_users list = allowed_users_look(file);
    if (list == ALLOWED_USERS_IGNORED)
        say(ret,
            "; %s is ignored: it must be a file that is root's, and that nobody else can write",
            file);
    else if (list == ALLOWED_USERS_HAS_ROOT)
        say(ret, "; %s lets jobs run as root", file);
    ret->ok &= list == ALLOWED_USERS_NONE || list == ALLOWED_USERS_LIST;
}

void jobs_user_look(const struct agent_config *config, struct jobs_user *ret)
{
    *ret = (struct jobs_user){0};
    if (geteuid() != 0) {
        look_as_plain_user(ret);
        return;
    }
    look_at_default(config, ret);
    look_at_list(config, ret);
}

void jobs_user_warn(const struct agent_config *config)
{
    struct jobs_user user;
    if (!(config->roles & PEER_WORKER))
        return;
    jobs_user_look(config, &user);
    if (!user.ok)
        fprintf(stderr, "note: %s (docs/SECURITY.md)\n", user.detail);
    if (!*user.name)
        fprintf(stderr, "      say whom they run as: peal restart --default-user NAME\n");
}
