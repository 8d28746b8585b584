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

enum status spawn_connect(const char *folder, int *ret_fd)
{
    int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0)
        return E_UNREACHABLE;
    /* Through /proc, since a folder's path may be longer than an address can hold. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SPAWN_SOCKET,
             folder_fd);
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

static bool find_program(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *name = strrchr(path, '/');
    if (!name || (size_t)(name - path) + sizeof("/peal-spawn") > PATH_MAX)
        return false;
    memcpy(name, "/peal-spawn", sizeof("/peal-spawn"));
    return true;
}

/* With no descriptors but the standard ones, and signals as they are by default. */
static int spawn_clean(const char *program, char *const *argv, pid_t *ret_pid)
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
        error = posix_spawn_file_actions_addclosefrom_np(&files, 3);
        if (!error)
            error = posix_spawn(ret_pid, program, &files, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

enum status spawn_launch(const struct spawn_client_config *config, pid_t *ret_pid, int *ret_pidfd)
{
    char beside[PATH_MAX], idle[32], files[32];
    const char *program = config->program;
    if (!program) {
        if (!find_program(beside))
            return E_IO;
        program = beside;
    }
    const char *argv[12] = {program, "--dir", config->folder, "--daemon"};
    int count = 4;
    if (config->allow_file) {
        argv[count++] = "--allow";
        argv[count++] = config->allow_file;
    }
    if (config->no_cgroup)
        argv[count++] = "--no-cgroup";
    if (config->idle_ms) {
        snprintf(idle, sizeof(idle), "%lld", (long long)config->idle_ms);
        argv[count++] = "--idle-ms";
        argv[count++] = idle;
    }
    if (config->open_files) {
        snprintf(files, sizeof(files), "%lld", (long long)config->open_files);
        argv[count++] = "--open-files";
        argv[count++] = files;
    }
    pid_t pid;
    int error = spawn_clean(program, (char *const *)argv, &pid);
    if (error) {
        errno = error;
        return E_IO;
    }
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) {
        spawn_launched(pid, -1);
        return E_IO;
    }
    *ret_pid = pid;
    *ret_pidfd = pidfd;
    return OK;
}

void spawn_launched(pid_t pid, int pidfd)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (pidfd >= 0)
        close(pidfd);
}
