#include "process/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where cgroup2 is mounted: field 5 of the mountinfo line whose file system, after " - ", it is. */
static bool find_mount(char *path, size_t size)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return false;
    char line[2048], mount[256];
    bool found = false;
    while (!found && fgets(line, sizeof(line), file)) {
        const char *type = strstr(line, " - ");
        found = type && strncmp(type, " - cgroup2 ", 11) == 0 &&
                sscanf(line, "%*s %*s %*s %*s %255s", mount) == 1 && strlen(mount) < size;
    }
    if (found)
        memcpy(path, mount, strlen(mount) + 1);
    fclose(file);
    return found;
}

static bool find_own(char *path, size_t size)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0 && strlen(line + 3) < size;
    }
    if (found)
        memcpy(path, line + 3, strlen(line + 3) + 1);
    fclose(file);
    return found;
}

/* Removes the empty cgroups of a dead spawner. */
static void sweep(int base_fd)
{
    DIR *dir = fdopendir(openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            unlinkat(base_fd, entry->d_name, AT_REMOVEDIR);
    closedir(dir);
}

void cgroups_init(struct cgroups *groups, const char *tag)
{
    char mount[256], own[256];
    groups->base_fd = -1;
    if (!find_mount(mount, sizeof(mount)) || !find_own(own, sizeof(own)))
        return;
    snprintf(groups->base_path, sizeof(groups->base_path), "%s%s%speal-%s", mount, own,
             strcmp(own, "/") == 0 ? "" : "/", tag);
    if (mkdir(groups->base_path, 0755) < 0 && errno != EEXIST)
        return;
    groups->base_fd = open(groups->base_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (groups->base_fd >= 0)
        sweep(groups->base_fd);
}

void cgroups_release(struct cgroups *groups)
{
    if (groups->base_fd < 0)
        return;
    sweep(groups->base_fd);
    close(groups->base_fd);
    rmdir(groups->base_path);
    groups->base_fd = -1;
}

int cgroup_make(struct cgroups *groups, const char *id)
{
    if (groups->base_fd < 0)
        return -1;
    if (mkdirat(groups->base_fd, id, 0755) < 0 && errno != EEXIST)
        return -1;
    return openat(groups->base_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void cgroup_remove(struct cgroups *groups, const char *id)
{
    if (groups->base_fd >= 0)
        unlinkat(groups->base_fd, id, AT_REMOVEDIR);
}

static void kill_at_once(int base_fd, const char *id)
{
    char name[64];
    snprintf(name, sizeof(name), "%s/cgroup.kill", id);
    int fd = openat(base_fd, name, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* before Linux 5.14; they are killed one by one as well */
    ssize_t ignored = write(fd, "1", 1);
    (void)ignored;
    close(fd);
}

int cgroup_signal(struct cgroups *groups, const char *id, int signal)
{
    char name[64], line[32];
    if (groups->base_fd < 0)
        return 0;
    snprintf(name, sizeof(name), "%s/cgroup.procs", id);
    int fd = openat(groups->base_fd, name, O_RDONLY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "re") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    int count = 0;
    for (; fgets(line, sizeof(line), file); count++) {
        pid_t pid = (pid_t)atoi(line);
        if (pid > 1 && signal) /* 0 would be a process that this pid namespace can't see */
            kill(pid, signal);
    }
    fclose(file);
    if (signal == SIGKILL && count > 0)
        kill_at_once(groups->base_fd, id);
    return count;
}
