#include "outside/tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sets *ret if FOLDER/NAME is a program, or a folder (`type`). The folder need not end there. */
static enum status look(const char *folder, size_t length, const char *name, mode_t type,
                        char **ret)
{
    struct stat about;
    char *path;
    if (length == 0 || folder[0] != '/') /* the program may change its folder */
        return OK;
    if (asprintf(&path, "%.*s/%s", (int)length, folder, name) < 0)
        return E_NOMEM;
    if (stat(path, &about) == 0 && (about.st_mode & S_IFMT) == type && access(path, X_OK) == 0)
        *ret = path;
    else
        free(path);
    return OK;
}

/* In the first of the folders, between colons, that has it. */
static enum status look_along(const char *folders, const char *name, mode_t type, char **ret)
{
    enum status st = OK;
    while (st == OK && !*ret && *folders) {
        size_t length = strcspn(folders, ":");
        st = look(folders, length, name, type, ret);
        folders += length + (folders[length] == ':');
    }
    return st;
}

/* A program with more rights than its caller is not told by the caller's environment. */
static enum status find(const char *bin, const char *name, mode_t type, char **ret)
{
    const char *given = bin ? bin : secure_getenv("PEAL_BIN");
    if (given)
        return look(given, strlen(given), name, type, ret);
    const char *path = secure_getenv("PATH");
    enum status st = look(PEAL_INSTALLED_BIN, strlen(PEAL_INSTALLED_BIN), name, type, ret);
    return st == OK && !*ret && path ? look_along(path, name, type, ret) : st;
}

enum status tools_find(const char *bin, struct tools *ret)
{
    struct tools tools = {0};
    enum status st = find(bin, "peal-spawn", S_IFREG, &tools.spawn);
    if (st == OK)
        st = find(bin, "peal-call", S_IFREG, &tools.call);
    if (st == OK)
        st = find(bin, "../lib/peal", S_IFDIR, &tools.modules);
    if (st == OK)
        *ret = tools;
    else
        tools_release(&tools);
    return st;
}

void tools_release(struct tools *tools)
{
    free(tools->spawn);
    free(tools->call);
    free(tools->modules);
    *tools = (struct tools){0};
}
