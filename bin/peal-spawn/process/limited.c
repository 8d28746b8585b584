#include "process/limited.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/low_fds.h"
#include "serve/process.h"

#define SUBGROUP     "agent" /* of agent and spawner; packaging/systemd has the same name */
#define MOVE_ROUNDS  64      /* while processes appear */
#define PERIOD_US    100000  /* of cpu.max */
#define QUOTA_MIN_US 1000    /* that the kernel takes */
#define BFQ_MAX      1000    /* io.bfq.weight */

static const char *const names[LIMITED_CONTROLLERS] = {
    [LIMITED_MEMORY] = "memory",
    [LIMITED_CPU] = "cpu",
    [LIMITED_PIDS] = "pids",
    [LIMITED_IO] = "io",
};

/* ---- files ---- */

/* The length, 0 if it can't be read; the text ends with a zero byte. */
static size_t read_file(int dir_fd, const char *name, char *text, size_t size)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

/* Returns an errno. */
static int write_file(int dir_fd, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int write_file(int dir_fd, const char *name, const char *format, ...)
{
    char text[64];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    int fd = openat(dir_fd, name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = write(fd, text, (size_t)length) == length ? 0 : errno ? errno : EIO;
    close(fd);
    return error;
}

/* "cpu io memory pids" as bits. */
static unsigned read_controllers(int dir_fd, const char *file)
{
    char text[512];
    unsigned found = 0;
    read_file(dir_fd, file, text, sizeof(text));
    for (char *rest = text, *word; (word = strsep(&rest, " \n"));)
        for (unsigned i = 0; i < LIMITED_CONTROLLERS; i++)
            found |= strcmp(word, names[i]) == 0 ? 1u << i : 0;
    return found;
}

/* The number behind "oom_kill " at the beginning of a line; 0: there is none. */
static int64_t read_number(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return atoll(line + length);
    return 0;
}

/* ---- what can be enforced ---- */

static bool has_processes(int dir_fd)
{
    char text[32];
    return read_file(dir_fd, "cgroup.procs", text, sizeof(text)) > 0;
}

/* Only the root of the hierarchy, which may have processes all the same, has no type. */
static bool is_root(int dir_fd)
{
    return faccessat(dir_fd, "cgroup.type", F_OK, 0) < 0;
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static unsigned look(const struct limited *limited)
{
    int fd = open_folder(limited->parent);
    if (fd < 0)
        return 0;
    unsigned can = read_controllers(fd, "cgroup.controllers");
    if (faccessat(fd, ".", W_OK, 0) < 0 || faccessat(fd, "cgroup.subtree_control", W_OK, 0) < 0)
        can = 0;
    else if (!is_root(fd) && !limited->may_move && has_processes(fd))
        can &= read_controllers(fd, "cgroup.subtree_control");
    close(fd);
    return can;
}

/* False: there is none. */
static bool find_parent(struct limited *limited, const char *mount, const char *own,
                        const char *given)
{
    static const char leaf[] = "/" SUBGROUP;
    if (given && *given == '/') {
        limited->may_move = true;
        return snprintf(limited->parent, LIMITED_PATH, "%s", given) < LIMITED_PATH;
    }
    if (!mount || !own)
        return false;
    size_t length = strlen(own);
    bool is_subgroup = length >= strlen(leaf) && strcmp(own + length - strlen(leaf), leaf) == 0;
    limited->may_move = strcmp(own, "/") == 0;
    length = is_subgroup ? length - strlen(leaf) : limited->may_move ? 0 : length;
    return snprintf(limited->parent, LIMITED_PATH, "%s%.*s", mount, (int)length, own) <
           LIMITED_PATH;
}

/* Removes those that a dead spawner has left, as far as they are empty. */
static void sweep(int base_fd)
{
    DIR *dir = fdopendir(openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            unlinkat(base_fd, entry->d_name, AT_REMOVEDIR);
    if (dir)
        closedir(dir);
}

void limited_init(struct limited *limited, const char *tag, const char *mount, const char *own,
                  const char *given)
{
    *limited = (struct limited){.base_fd = -1};
    if (!find_parent(limited, mount, own, given))
        return;
    snprintf(limited->base_path, sizeof(limited->base_path), "%s/peal-%s.limits", limited->parent,
             tag);
    limited->can = look(limited);
    limited->base_fd = open_folder(limited->base_path); /* of a dead spawner */
    if (limited->base_fd >= 0)
        sweep(limited->base_fd);
}

void limited_release(struct limited *limited)
{
    if (limited->base_fd < 0)
        return;
    sweep(limited->base_fd);
    close(limited->base_fd);
    rmdir(limited->base_path);
    limited->base_fd = -1;
}

/* ---- the first run ---- */

static int make_folder(const char *path, int *ret_fd)
{
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        return errno;
    int fd = open_folder(path);
    if (fd < 0)
        return errno;
    *ret_fd = high_fd(fd);
    return 0;
}

/* One that is gone by now need not be moved. */
static int move_all(int parent_fd, int to_fd)
{
    char pids[8192];
    size_t length = read_file(parent_fd, "cgroup.procs", pids, sizeof(pids));
    if (length == sizeof(pids) - 1) /* the last one may be cut */
        *(strrchr(pids, '\n') ? strrchr(pids, '\n') : pids) = '\0';
    for (char *rest = pids, *pid; (pid = strsep(&rest, "\n"));) {
        int error = *pid ? write_file(to_fd, "cgroup.procs", "%s", pid) : 0;
        if (error && error != ESRCH)
            return error;
    }
    return 0;
}

static int move_processes(const struct limited *limited, int parent_fd)
{
    char path[LIMITED_PATH + 16];
    int to_fd = -1;
    snprintf(path, sizeof(path), "%s/" SUBGROUP, limited->parent);
    int error = make_folder(path, &to_fd);
    for (int i = 0; !error && i < MOVE_ROUNDS && has_processes(parent_fd); i++)
        error = move_all(parent_fd, to_fd);
    if (to_fd >= 0)
        close(to_fd);
    return error;
}

/* Of those that can't be enabled, the first error. */
static int enable(int dir_fd, unsigned wanted)
{
    int first = 0;
    unsigned missing = wanted & ~read_controllers(dir_fd, "cgroup.subtree_control");
    for (unsigned i = 0; i < LIMITED_CONTROLLERS; i++) {
        int error =
            missing & 1u << i ? write_file(dir_fd, "cgroup.subtree_control", "+%s", names[i]) : 0;
        first = first ? first : error;
    }
    return first;
}

static int open_parent(struct limited *limited)
{
    int fd = open_folder(limited->parent);
    if (fd < 0)
        return errno;
    int error = limited->may_move && !is_root(fd) ? move_processes(limited, fd) : 0;
    if (!error)
        error = enable(fd, limited->can);
    close(fd);
    return error;
}

static int open_base(struct limited *limited)
{
    int error = limited->is_open ? 0 : open_parent(limited);
    if (!error && limited->base_fd < 0)
        error = make_folder(limited->base_path, &limited->base_fd);
    if (!error && !limited->is_open)
        error = enable(limited->base_fd, limited->can);
    if (error)
        serve_log("event=limits_failed cgroup=\"%s\" error=\"%s\"", limited->base_path,
                  strerror(error));
    limited->is_open = !error;
    return error;
}

/* ---- one run ---- */

bool limited_needs(const struct spawn_share *share)
{
    return share->memory_bytes || share->cpu_milli || share->processes || share->io_weight;
}

/* All of the run ends together, and none of it goes to the swap instead. Kernels without these
 * files have the limit itself. */
static int set_memory(int fd, uint64_t bytes)
{
    int error = write_file(fd, "memory.oom.group", "1");
    if (!error || error == ENOENT)
        error = write_file(fd, "memory.swap.max", "0");
    if (!error || error == ENOENT)
        error = write_file(fd, "memory.max", "%" PRIu64, bytes);
    return error;
}

static int set_cpu(int fd, uint32_t milli)
{
    uint64_t quota_us = (uint64_t)milli * PERIOD_US / 1000;
    return write_file(fd, "cpu.max", "%" PRIu64 " %d",
                      quota_us < QUOTA_MIN_US ? QUOTA_MIN_US : quota_us, PERIOD_US);
}

/* By the cost model of the kernel, or by the scheduler BFQ. */
static int set_io_weight(int fd, uint32_t weight)
{
    int error = write_file(fd, "io.weight", "default %" PRIu32, weight);
    return error == ENOENT
               ? write_file(fd, "io.bfq.weight", "%" PRIu32, weight < BFQ_MAX ? weight : BFQ_MAX)
               : error;
}

static int set_all(int fd, const struct spawn_share *share, const char **ret_what)
{
    int error = 0;
    *ret_what = "memory.max";
    if (share->memory_bytes)
        error = set_memory(fd, share->memory_bytes);
    if (error)
        return error;
    *ret_what = "cpu.max";
    if (share->cpu_milli)
        error = set_cpu(fd, share->cpu_milli);
    if (error)
        return error;
    *ret_what = "pids.max";
    if (share->processes)
        error = write_file(fd, "pids.max", "%" PRIu32, share->processes);
    if (error)
        return error;
    *ret_what = "io.weight";
    return share->io_weight ? set_io_weight(fd, share->io_weight) : 0;
}

int limited_make(struct limited *limited, const char *id, const struct spawn_share *share,
                 int *ret_fd)
{
    const char *what = "cgroup";
    int error = open_base(limited);
    if (error)
        return error;
    if (mkdirat(limited->base_fd, id, 0755) < 0 && errno != EEXIST)
        return errno;
    int fd = openat(limited->base_fd, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    error = fd < 0 ? errno : set_all(fd, share, &what);
    if (!error) {
        *ret_fd = fd;
        return 0;
    }
    serve_log("event=limits_failed run=%s file=%s error=\"%s\"", id, what, strerror(error));
    if (fd >= 0)
        close(fd);
    limited_remove(limited, id);
    return error;
}

/* Is it gone? */
static bool remove_one(const struct limited *limited, const char *id)
{
    return unlinkat(limited->base_fd, id, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* Those that had processes before. */
static void remove_left(struct limited *limited)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < limited->left_count; i++)
        if (!remove_one(limited, limited->left[i]))
            memmove(limited->left[kept++], limited->left[i], sizeof(limited->left[i]));
    limited->left_count = kept;
}

void limited_remove(struct limited *limited, const char *id)
{
    if (limited->base_fd < 0)
        return;
    remove_left(limited);
    if (!remove_one(limited, id) && limited->left_count < LIMITED_LEFT)
        snprintf(limited->left[limited->left_count++], sizeof(limited->left[0]), "%s", id);
}

static size_t read_of_run(const struct limited *limited, const char *id, const char *file,
                          char *text, size_t size)
{
    char name[SPAWN_ID_MAX + 32];
    text[0] = '\0';
    snprintf(name, sizeof(name), "%.*s/%s", SPAWN_ID_MAX, id, file);
    return limited->base_fd >= 0 ? read_file(limited->base_fd, name, text, size) : 0;
}

enum spawn_cause limited_cause(const struct limited *limited, const char *id)
{
    char text[512];
    read_of_run(limited, id, "memory.events", text, sizeof(text));
    if (read_number(text, "oom_kill") > 0)
        return read_number(text, "oom") > 0 ? SPAWN_CAUSE_TOTAL_MEMORY : SPAWN_CAUSE_OOM;
    read_of_run(limited, id, "pids.events", text, sizeof(text));
    return read_number(text, "max") > 0 ? SPAWN_CAUSE_TOTAL_PROCESSES : SPAWN_CAUSE_NONE;
}

void limited_usage(const struct limited *limited, const char *id, struct spawn_run *run)
{
    char text[1024];
    read_of_run(limited, id, "memory.peak", text, sizeof(text));
    int64_t peak = atoll(text);
    if (peak > 0)
        run->max_rss_kib = peak / 1024;
    read_of_run(limited, id, "cpu.stat", text, sizeof(text));
    if (read_number(text, "usage_usec") > 0) {
        run->user_ms = read_number(text, "user_usec") / 1000;
        run->system_ms = read_number(text, "system_usec") / 1000;
    }
}
