#include "serve/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "spawn_record.h"

void serve_log(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    if (length < 0)
        return;
    size_t end = (size_t)length < sizeof(line) - 2 ? (size_t)length : sizeof(line) - 2;
    line[end] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, end + 1);
    (void)ignored;
}

void serve_print_version(const char *name, const struct spawn_build *build)
{
    const char *revision = build->revision;
    printf("%s %s%s%s%s\n", name, build->version, *revision ? " (" : "", revision,
           *revision ? ")" : "");
    exit(EXIT_OK);
}

void serve_keep_standard_fds(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd < 3)
        ;
    if (fd >= 3)
        close(fd);
}

int serve_become_daemon(const char *log)
{
    int ends[2];
    char code = EXIT_TROUBLE;
    if (pipe2(ends, O_CLOEXEC) < 0)
        exit(EXIT_TROUBLE);
    pid_t pid = fork();
    if (pid < 0)
        exit(EXIT_TROUBLE);
    if (pid > 0) {
        close(ends[1]);
        if (read(ends[0], &code, 1) != 1)
            code = EXIT_TROUBLE;
        _exit(code);
    }
    close(ends[0]);
    setsid();
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log_fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    dup2(null_fd, 0);
    dup2(null_fd, 1);
    dup2(log_fd >= 0 ? log_fd : null_fd, 2);
    return ends[1];
}

void serve_tell_start(int word_fd, enum exit_code code)
{
    char word = (char)code;
    if (word_fd >= 0 && write(word_fd, &word, 1) == 1)
        close(word_fd);
}

enum status serve_open_folder(const char *path, int *ret_folder_fd, int *ret_output_fd)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *ret_folder_fd = fd;
    if (fd < 0 || fstat(fd, &st) < 0)
        return E_IO;
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH))) {
        errno = EPERM;
        return E_IO;
    }
    if (mkdirat(fd, SPAWN_OUTPUT_FOLDER, 0700) < 0 && errno != EEXIST)
        return E_IO;
    *ret_output_fd = openat(fd, SPAWN_OUTPUT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_output_fd >= 0 ? OK : E_IO;
}

enum status serve_lock_folder(int folder_fd, int inherited_fd, int *ret_lock_fd)
{
    int fd = inherited_fd;
    if (fd < 0)
        fd = openat(folder_fd, SERVE_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    *ret_lock_fd = fd;
    if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return E_IO;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? E_BUSY : E_IO;
    return OK;
}

/* Through /proc, since the folder's path may be longer than sun_path. */
enum status serve_listen(int folder_fd, const char *name, int *ret_fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder_fd, name);
    unlinkat(folder_fd, name, 0);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *ret_fd = fd;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        fchmodat(folder_fd, name, 0600, 0) < 0 || listen(fd, 8) < 0)
        return E_IO;
    return OK;
}

bool idle_is_over(struct idle *idle, bool is_idle, int64_t now_boot_ms)
{
    if (!is_idle) {
        idle->since_boot_ms = 0;
        return false;
    }
    bool is_over = idle->since_boot_ms && now_boot_ms >= idle_due_ms(idle);
    if (is_over || !idle->since_boot_ms)
        idle->since_boot_ms = now_boot_ms;
    return is_over;
}

int64_t idle_due_ms(const struct idle *idle)
{
    return idle->since_boot_ms ? idle->since_boot_ms + idle->limit_ms : 0;
}
