#include "process/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"
#include "process/tree.h"
#include "serve/low_fds.h"

#define POOLED_NAME   "pool."
#define POOL_SHARE    16 /* descriptors for each cgroup of the pool that there may be */
#define POOL_PREPARED 16
#define POOL_LOOKS    4 /* for one that is as new, before the run gets its own */

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

/* The pool takes a part of the descriptors only. */
static uint32_t pool_size(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 0;
    return limit.rlim_max / POOL_SHARE < CGROUP_POOL ? (uint32_t)(limit.rlim_max / POOL_SHARE)
                                                     : CGROUP_POOL;
}

/* The kernel looks at the rights to this file with each start into the cgroup, and at those of the
 * cgroup that it comes from. While nobody has looked the file up by its name, it makes an inode for
 * that each time. */
static void look_up_processes(int fd, const char *name)
{
    if (faccessat(fd, name, F_OK, 0) < 0)
        errno = 0; /* it only costs more */
}

void cgroups_none(struct cgroups *groups)
{
    *groups = (struct cgroups){.base_fd = -1, .control_fd = -1, .limited = {.base_fd = -1}};
}

void cgroups_init(struct cgroups *groups, const char *tag)
{
    char mount[256], own[256];
    cgroups_none(groups);
    groups->pool_size = pool_size();
    snprintf(groups->tag, sizeof(groups->tag), "%s", tag);
    bool is_there = find_mount(mount, sizeof(mount)) && find_own(own, sizeof(own));
    limited_init(&groups->limited, tag, is_there ? mount : NULL, is_there ? own : NULL,
                 getenv("PEAL_CGROUP"));
    if (!is_there)
        return;
    snprintf(groups->base_path, sizeof(groups->base_path), "%s%s%speal-%s", mount, own,
             strcmp(own, "/") == 0 ? "" : "/", tag);
    if (mkdir(groups->base_path, 0755) < 0 && errno != EEXIST)
        return;
    groups->base_fd = open(groups->base_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (groups->base_fd < 0)
        return;
    sweep(groups->base_fd);
    look_up_processes(groups->base_fd, "../cgroup.procs");
    groups->control_fd = openat(groups->base_fd, "cgroup.subtree_control", O_RDONLY | O_CLOEXEC);
    cgroups_look(groups, 0);
}

static void close_pooled(struct pooled_cgroup *pooled)
{
    if (pooled->is_made) {
        close(pooled->fd);
        close(pooled->events_fd);
    }
    *pooled = (struct pooled_cgroup){0};
}

void cgroups_release(struct cgroups *groups)
{
    limited_release(&groups->limited);
    cgroups_give_up(groups);
}

void cgroups_give_up(struct cgroups *groups)
{
    if (groups->base_fd < 0)
        return;
    for (uint32_t i = 0; i < CGROUP_POOL; i++)
        close_pooled(&groups->pool[i]);
    groups->made = groups->unused_count = 0;
    if (groups->control_fd >= 0)
        close(groups->control_fd);
    sweep(groups->base_fd);
    close(groups->base_fd);
    rmdir(groups->base_path);
    groups->base_fd = groups->control_fd = -1;
}

void cgroups_look(struct cgroups *groups, int64_t now_boot_ms)
{
    char controllers[8];
    if (now_boot_ms && now_boot_ms == groups->looked_boot_ms)
        return;
    groups->looked_boot_ms = now_boot_ms;
    groups->may_pool = groups->control_fd >= 0 &&
                       pread(groups->control_fd, controllers, sizeof(controllers), 0) <= 1;
}

/* ---- the pool ---- */

static const char *cgroup_name(uint32_t cgroup, const char *id, char name[CGROUP_NAME_SIZE])
{
    if (cgroup >= CGROUP_POOLED && cgroup < CGROUP_LIMITED) /* no id has a dot */
        snprintf(name, CGROUP_NAME_SIZE, POOLED_NAME "%u", cgroup - CGROUP_POOLED);
    else
        snprintf(name, CGROUP_NAME_SIZE, "%s", id);
    return name;
}

static bool open_pooled(struct cgroups *groups, uint32_t number, bool is_spoilt)
{
    struct pooled_cgroup *pooled = &groups->pool[number];
    char name[CGROUP_NAME_SIZE];
    cgroup_name(CGROUP_POOLED + number, "", name);
    int fd = openat(groups->base_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int events_fd = fd >= 0 ? openat(fd, "cgroup.events", O_RDONLY | O_CLOEXEC) : -1;
    if (events_fd < 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    look_up_processes(fd, "cgroup.procs");
    *pooled = (struct pooled_cgroup){.is_made = true,
                                     .is_spoilt = is_spoilt,
                                     .fd = high_fd(fd),
                                     .events_fd = high_fd(events_fd)};
    groups->made++;
    return true;
}

static void add_unused(struct cgroups *groups, uint32_t number)
{
    uint32_t at = (groups->unused_first + groups->unused_count++) % CGROUP_POOL;
    groups->unused[at] = number;
}

/* Adds one to the pool; it may be there already, from a dead spawner. */
static bool make_pooled(struct cgroups *groups)
{
    char name[CGROUP_NAME_SIZE];
    uint32_t number = 0;
    while (number < groups->pool_size && groups->pool[number].is_made)
        number++;
    if (number == groups->pool_size)
        return false;
    cgroup_name(CGROUP_POOLED + number, "", name);
    bool is_new = mkdirat(groups->base_fd, name, 0755) == 0;
    if ((!is_new && errno != EEXIST) || !open_pooled(groups, number, !is_new))
        return false;
    add_unused(groups, number);
    return true;
}

void cgroups_prepare(struct cgroups *groups)
{
    while (groups->base_fd >= 0 && groups->may_pool && groups->unused_count < POOL_PREPARED &&
           make_pooled(groups))
        ;
}

/* Nobody is in it, and it is as it was made. */
static bool is_as_new(const struct pooled_cgroup *pooled)
{
    char events[128] = "";
    struct stat st;
    return !pooled->is_spoilt && pread(pooled->events_fd, events, sizeof(events) - 1, 0) > 0 &&
           strstr(events, "populated 0\n") && !strstr(events, "frozen 1") &&
           fstat(pooled->fd, &st) == 0 && st.st_nlink == 2;
}

/* Removes one that is spoilt, for another one to be made. */
static bool remove_pooled(struct cgroups *groups, uint32_t number)
{
    char name[CGROUP_NAME_SIZE];
    cgroup_name(CGROUP_POOLED + number, "", name);
    if (unlinkat(groups->base_fd, name, AT_REMOVEDIR) < 0)
        return false; /* processes are left in it */
    close_pooled(&groups->pool[number]);
    groups->made--;
    return true;
}

/* CGROUP_NONE: none is as new. Those at the front were given back first. */
static uint32_t take_pooled(struct cgroups *groups)
{
    uint32_t looks = groups->unused_count < POOL_LOOKS ? groups->unused_count : POOL_LOOKS;
    while (looks--) {
        uint32_t number = groups->unused[groups->unused_first];
        groups->unused_first = (groups->unused_first + 1) % CGROUP_POOL;
        groups->unused_count--;
        if (is_as_new(&groups->pool[number]))
            return CGROUP_POOLED + number;
        if (!groups->pool[number].is_spoilt || !remove_pooled(groups, number))
            add_unused(groups, number);
    }
    if (!make_pooled(groups))
        return CGROUP_NONE;
    uint32_t last = (groups->unused_first + groups->unused_count - 1) % CGROUP_POOL;
    if (!is_as_new(&groups->pool[groups->unused[last]])) /* of a dead spawner, with processes */
        return CGROUP_NONE;
    groups->unused_count--;
    return CGROUP_POOLED + groups->unused[last];
}

uint32_t cgroup_take_own(struct cgroups *groups, const char *id, int *ret_fd)
{
    if (groups->base_fd < 0 || (mkdirat(groups->base_fd, id, 0755) < 0 && errno != EEXIST))
        return CGROUP_NONE;
    *ret_fd = openat(groups->base_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_fd >= 0 ? CGROUP_OWN : CGROUP_NONE;
}

uint32_t cgroup_take_limited(struct cgroups *groups, const char *id,
                             const struct spawn_share *share, int *ret_fd, int *ret_error)
{
    *ret_error = limited_make(&groups->limited, id, share, ret_fd);
    return *ret_error ? CGROUP_NONE : CGROUP_LIMITED;
}

uint32_t cgroup_take(struct cgroups *groups, const char *id, int *ret_fd)
{
    *ret_fd = -1;
    if (groups->base_fd < 0)
        return CGROUP_NONE;
    uint32_t cgroup = groups->may_pool ? take_pooled(groups) : CGROUP_NONE;
    if (cgroup == CGROUP_NONE)
        return cgroup_take_own(groups, id, ret_fd);
    *ret_fd = groups->pool[cgroup - CGROUP_POOLED].fd;
    return cgroup;
}

void cgroup_entered(uint32_t cgroup, int fd)
{
    if (cgroup == CGROUP_OWN || cgroup == CGROUP_LIMITED)
        close(fd);
}

uint32_t cgroup_resume(struct cgroups *groups, uint32_t cgroup)
{
    if (cgroup == CGROUP_LIMITED)
        return groups->limited.base_fd >= 0 ? cgroup : CGROUP_NONE;
    if (groups->base_fd < 0)
        return CGROUP_NONE;
    if (cgroup < CGROUP_POOLED)
        return cgroup;
    uint32_t number = cgroup - CGROUP_POOLED;
    bool is_there = number < CGROUP_POOL && !groups->pool[number].is_made;
    return is_there && open_pooled(groups, number, true) ? cgroup : CGROUP_NONE;
}

uint32_t cgroup_adopt(struct cgroups *groups, const char *id, pid_t pid)
{
    char text[2048], base[64];
    int limited_fd = groups->limited.base_fd;
    if (limited_fd >= 0 && faccessat(limited_fd, id, F_OK, 0) == 0)
        return CGROUP_LIMITED;
    if (groups->base_fd < 0)
        return CGROUP_NONE;
    if (faccessat(groups->base_fd, id, F_OK, 0) == 0)
        return CGROUP_OWN;
    snprintf(base, sizeof(base), "/peal-%s/" POOLED_NAME, groups->tag);
    const char *at = proc_read(pid, "cgroup", text, sizeof(text)) > 0 ? strstr(text, base) : NULL;
    if (!at)
        return CGROUP_NONE;
    char *end;
    unsigned long number = strtoul(at + strlen(base), &end, 10);
    return number < CGROUP_POOL && (*end == '\n' || *end == '/')
               ? cgroup_resume(groups, CGROUP_POOLED + (uint32_t)number)
               : CGROUP_NONE;
}

void cgroup_give(struct cgroups *groups, uint32_t cgroup, const char *id, bool is_spoilt)
{
    if (cgroup == CGROUP_LIMITED)
        limited_remove(&groups->limited, id);
    if (groups->base_fd < 0 || cgroup == CGROUP_NONE || cgroup == CGROUP_LIMITED)
        return;
    if (cgroup == CGROUP_OWN) {
        unlinkat(groups->base_fd, id, AT_REMOVEDIR); /* fails while processes are left in it */
        return;
    }
    uint32_t number = cgroup - CGROUP_POOLED;
    struct pooled_cgroup *pooled = &groups->pool[number];
    pooled->is_spoilt |= is_spoilt;
    if (pooled->is_made && !(pooled->is_spoilt && remove_pooled(groups, number)))
        add_unused(groups, number);
}

void cgroups_distrust(struct cgroups *groups)
{
    for (uint32_t i = 0; i < CGROUP_POOL; i++)
        groups->pool[i].is_spoilt |= groups->pool[i].is_made;
}

/* ---- signals ---- */

int cgroup_open_file(const struct cgroups *groups, uint32_t cgroup, const char *id,
                     const char *file, int flags)
{
    char name[CGROUP_NAME_SIZE], path[CGROUP_NAME_SIZE + 32];
    int base_fd = cgroup == CGROUP_LIMITED ? groups->limited.base_fd : groups->base_fd;
    if (base_fd < 0 || cgroup == CGROUP_NONE) {
        errno = ENOENT;
        return -1;
    }
    snprintf(path, sizeof(path), "%s/%s", cgroup_name(cgroup, id, name), file);
    return openat(base_fd, path, flags | O_CLOEXEC);
}

static void kill_at_once(const struct cgroups *groups, uint32_t cgroup, const char *id)
{
    int fd = cgroup_open_file(groups, cgroup, id, "cgroup.kill", O_WRONLY);
    if (fd < 0)
        return; /* before Linux 5.14; they are killed one by one as well */
    ssize_t ignored = write(fd, "1", 1);
    (void)ignored;
    close(fd);
}

int cgroup_signal(const struct cgroups *groups, uint32_t cgroup, const char *id,
                  const struct tree *told, int signal)
{
    char line[32];
    int fd = cgroup_open_file(groups, cgroup, id, "cgroup.procs", O_RDONLY);
    FILE *file = fd >= 0 ? fdopen(fd, "re") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    int count = 0;
    for (; fgets(line, sizeof(line), file); count++) {
        pid_t pid = (pid_t)atoi(line);
        /* 0 would be a process that this pid namespace can't see. */
        if (pid > 1 && signal && !tree_was_told(told, pid))
            kill(pid, signal);
    }
    fclose(file);
    if (signal == SIGKILL && count > 0)
        kill_at_once(groups, cgroup, id);
    return count;
}
