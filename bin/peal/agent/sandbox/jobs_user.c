#include "sandbox/jobs_user.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allowed_users.h"
#include "text/message.h"

struct look {
    const struct agent_config *config;
    enum language language;
    struct jobs_user *ret;
};

static void say(const struct look *look, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct look *look, const char *format, ...)
{
    struct jobs_user *user = look->ret;
    size_t used = strlen(user->detail);
    va_list args;
    va_start(args, format);
    vsnprintf(user->detail + used, sizeof(user->detail) - used, message_in(look->language, format),
              args);
    va_end(args);
}

static void set_name(struct jobs_user *user, const char *name)
{
    snprintf(user->name, sizeof(user->name), "%s", name);
}

/* An unprivileged agent runs all jobs as its own user. */
static void look_as_plain_user(const struct look *look)
{
    struct jobs_user *ret = look->ret;
    const struct passwd *own = getpwuid(geteuid());
    char number[24];
    snprintf(number, sizeof(number), "uid %u", (unsigned)geteuid());
    set_name(ret, own ? own->pw_name : number);
    ret->is_shared = true;
    ret->ok = true;
    say(look, "jobs run as %s, as the agent does: they can read and change all that it has",
        ret->name);
}

static void look_at_default(const struct look *look)
{
    const struct agent_config *config = look->config;
    struct jobs_user *ret = look->ret;
    const struct passwd *user = config->default_user ? getpwnam(config->default_user) : NULL;
    struct stat data;
    if (!config->default_user) {
        say(look, "jobs that name no user are not started: the agent is root and has no "
                  "default_user");
        return;
    }
    if (!user) {
        say(look, "jobs that name no user are not started: default_user %s is no user here",
            config->default_user);
        return;
    }
    set_name(ret, user->pw_name);
    bool owns_data = stat(config->data, &data) == 0 && data.st_uid == user->pw_uid;
    ret->is_shared = user->pw_uid == 0 || owns_data;
    ret->ok = !ret->is_shared;
    say(look, "jobs that name no user run as %s", ret->name);
    if (user->pw_uid == 0)
        say(look, ", as the agent does: whoever may define a job can do everything here");
    else if (owns_data)
        say(look, ", who owns %s: whoever may define a job can read and change it", config->data);
}

static void look_at_list(const struct look *look)
{
    const char *configured = look->config->allow_file;
    const char *file = configured ? configured : ALLOWED_USERS_FILE;
    enum allowed_users list = allowed_users_look(file);
    if (list == ALLOWED_USERS_IGNORED)
        say(look,
            "; %s is ignored: it must be a file that is root's, and that nobody else can write",
            file);
    else if (list == ALLOWED_USERS_HAS_ROOT)
        say(look, "; %s lets jobs run as root", file);
    look->ret->ok &= list == ALLOWED_USERS_NONE || list == ALLOWED_USERS_LIST;
}

void jobs_user_look(const struct agent_config *config, enum language language,
                    struct jobs_user *ret)
{
    const struct look look = {config, language, ret};
    *ret = (struct jobs_user){0};
    if (geteuid() != 0) {
        look_as_plain_user(&look);
        return;
    }
    look_at_default(&look);
    look_at_list(&look);
}
