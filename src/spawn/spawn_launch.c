#include "spawn_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn_launcher.h"

enum status spawn_connect(const char *folder, bool is_call, int *ret_fd)
{
    int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0)
        return E_UNREACHABLE;
    /* Through /proc, since the folder's path may be longer than sun_path. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder_fd,
             is_call ? CALL_SOCKET : SPAWN_SOCKET);
    enum status st = E_UNREACHABLE;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
        *ret_fd = fd;
        fd = -1;
        st = OK;
    }
    if (fd >= 0)
        close(fd);
    close(folder_fd);
    return st;
}

static bool find_program(const char *file, char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *name = strrchr(path, '/');
    size_t used = name ? (size_t)(name - path) : 0;
    return name && snprintf(name, PATH_MAX - used, "/%s", file) < (int)(PATH_MAX - used);
}

/* Starts a program with no descriptors but the standard ones and default signal handling. `input`
 * becomes its standard input; -1: that of this process. */
static int spawn_clean(const char *program, char *const *argv, int input, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (input >= 0)
            error = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
        if (!error)
            error = posix_spawn_file_actions_addclosefrom_np(&files, 3);
        if (!error)
            error = posix_spawn(ret_pid, program, &files, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* The command line of a spawner, and the memory that it lies in. */
struct command_line {
    const char *argv[16];
    char program[PATH_MAX], idle[32], files[32];
    int count;
};

static void add(struct command_line *line, const char *word)
{
    line->argv[line->count++] = word;
}

/* The first word is the program. `mode` is a launcher's (NULL: none). */
static enum status fill(struct command_line *line, const struct spawn_client_config *config,
                        const char *mode)
{
    *line = (struct command_line){0};
    if (!config->program &&
        !find_program(config->is_call ? "peal-call" : "peal-spawn", line->program))
        return E_IO;
    add(line, config->program ? config->program : line->program);
    if (mode)
        add(line, mode);
    add(line, "--dir");
    add(line, config->folder);
    add(line, "--daemon");
    if (config->call_user) {
        add(line, config->is_call ? "--user" : "--call-user");
        add(line, config->call_user);
    }
    if (config->idle_ms) {
        snprintf(line->idle, sizeof(line->idle), "%lld", (long long)config->idle_ms);
        add(line, "--idle-ms");
        add(line, line->idle);
    }
    if (config->is_call)
        return OK;
    if (config->allow_file) {
        add(line, "--allow");
        add(line, config->allow_file);
    }
    if (config->no_cgroup)
        add(line, "--no-cgroup");
    if (config->open_files) {
        snprintf(line->files, sizeof(line->files), "%lld", (long long)config->open_files);
        add(line, "--open-files");
        add(line, line->files);
    }
    return OK;
}

static enum status launch(struct command_line *line, const char *name, int input, pid_t *ret_pid)
{
    const char *program = line->argv[0];
    if (name)
        line->argv[0] = name;
    int error = spawn_clean(program, (char *const *)line->argv, input, ret_pid);
    errno = error;
    return error ? E_IO : OK;
}

enum status spawn_launch(const struct spawn_client_config *config, pid_t *ret_pid, int *ret_pidfd)
{
    struct command_line line;
    pid_t pid;
    if (config->launcher) {
        *ret_pid = 0;
        return spawn_launcher_start(config->launcher, config->is_call, ret_pidfd);
    }
    enum status st = fill(&line, config, NULL);
    if (st == OK)
        st = launch(&line, NULL, -1, &pid);
    if (st != OK)
        return st;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) {
        spawn_launched(pid, -1);
        return E_IO;
    }
    *ret_pid = pid;
    *ret_pidfd = pidfd;
    return OK;
}

/* With another argv[0], so that `ps` does not show it as a spawner. */
enum status spawn_launch_launcher(const struct spawn_client_config *config, int fd, pid_t *ret_pid)
{
    struct command_line line;
    enum status st = fill(&line, config, "--launcher");
    return st == OK ? launch(&line, "peal-launcher", fd, ret_pid) : st;
}

void spawn_launched(pid_t pid, int pidfd)
{
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (pidfd >= 0)
        close(pidfd);
}
