#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *open_trusted(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    struct stat st;
    bool trusted = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 &&
                   !(st.st_mode & (S_IWGRP | S_IWOTH));
    FILE *file = trusted ? fdopen(fd, "re") : NULL;
    if (!file)
        close(fd);
    return file;
}

static bool is_allowed(const char *name, const char *allow_file)
{
    FILE *file = open_trusted(allow_file);
    if (!file)
        return false;
    bool found = false;
    char *line = NULL;
    size_t capacity = 0;
    while (!found && getline(&line, &capacity, file) >= 0) {
        line[strcspn(line, "#\r\n")] = '\0';
        char *word = line + strspn(line, " \t");
        word[strcspn(word, " \t")] = '\0';
        found = strcmp(word, "*") == 0 || (*word && strcmp(word, name) == 0);
    }
    free(line);
    fclose(file);
    return found;
}

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

enum spawn_step user_find(const char *name, const char *allow_file, struct user_ids *ret,
                          int *ret_error)
{
    *ret_error = 0;
    struct user_ids user = {0};
    if (name[0] == '\0') {
        *ret = user;
        return SPAWN_STEP_NONE;
    }
    errno = 0;
    const struct passwd *entry = getpwnam(name);
    if (!entry) {
        *ret_error = errno == ENOENT ? 0 : errno;
        return SPAWN_STEP_USER;
    }
    if (entry->pw_uid == geteuid()) {
        *ret = user;
        return SPAWN_STEP_NONE;
    }
    user = (struct user_ids){.must_switch = true, .uid = entry->pw_uid, .gid = entry->pw_gid};
    if (geteuid() != 0 || !is_allowed(name, allow_file))
        return SPAWN_STEP_ALLOW;
    if (!find_groups(name, &user)) {
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
