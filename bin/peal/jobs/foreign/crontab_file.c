#include "jobs/foreign/crontab_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs/input_file.h"

enum { MODE_MASK = 07777 };

/* Runs `crontab` with its output, or its input, at `*ret_end`. */
static pid_t start_crontab(const char *what, const char *user, bool is_read, int *ret_end)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[is_read], is_read ? STDOUT_FILENO : STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (user)
            execlp("crontab", "crontab", "-u", user, what, (char *)NULL);
        else
            execlp("crontab", "crontab", what, (char *)NULL);
        cli_error("can't run crontab: %s; give the crontab as a file", strerror(errno));
        _exit(127);
    }
    close(ends[is_read]);
    *ret_end = ends[!is_read];
    return pid;
}

static bool has_succeeded(pid_t pid)
{
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

enum exit_code crontab_read(const char *file, const char *user, struct strbuf *text)
{
    char chunk[4096];
    ssize_t length;
    int end = -1;
    if (file)
        return input_file_read(file, text);
    pid_t pid = start_crontab("-l", user, true, &end);
    if (pid < 0)
        return cli_fail(E_IO);
    while ((length = read(end, chunk, sizeof(chunk))) > 0)
        strbuf_add(text, chunk, (size_t)length);
    close(end);
    if (!has_succeeded(pid))
        return EXIT_NOT_FOUND; /* crontab has said why */
    return cli_fail(strbuf_status(text));
}

static bool write_all(int fd, const struct strbuf *text)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t length = write(fd, text->text + done, text->length - done);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return false;
        done += (size_t)length;
    }
    return true;
}

/* ".NAME.ENDING" beside the file: cron passes over names that begin with a dot. */
static void name_beside(const char *file, const char *ending, struct strbuf *path)
{
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) + 1 : 0;
    strbuf_addf(path, "%.*s.%s.%s", folder, file, file + folder, ending);
}

static enum exit_code write_file(const char *file, const struct strbuf *text)
{
    struct stat info;
    struct strbuf path;
    strbuf_init(&path);
    name_beside(file, "peal-new", &path);
    int fd = stat(file, &info) == 0
                 ? open(path.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    bool is_good = fd >= 0 && fchown(fd, info.st_uid, info.st_gid) == 0 &&
                   fchmod(fd, info.st_mode & MODE_MASK) == 0 && write_all(fd, text) &&
                   fsync(fd) == 0 && rename(path.text, file) == 0;
    if (!is_good)
        cli_error("can't write %s: %s", file, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (!is_good)
        unlink(path.text);
    strbuf_release(&path);
    return is_good ? EXIT_OK : EXIT_ERROR;
}

enum exit_code crontab_write(const char *file, const char *user, const struct strbuf *text)
{
    int end = -1;
    if (file)
        return write_file(file, text);
    signal(SIGPIPE, SIG_IGN);
    pid_t pid = start_crontab("-", user, false, &end);
    if (pid < 0)
        return cli_fail(E_IO);
    bool is_written = write_all(end, text);
    close(end);
    if (has_succeeded(pid) && is_written)
        return EXIT_OK;
    cli_error("crontab has not taken the new crontab; nothing was changed");
    return EXIT_ERROR;
}

enum exit_code crontab_back_up(const char *file, const char *user, const struct strbuf *text,
                               struct strbuf *path)
{
    const char *home = getenv("HOME");
    if (file)
        name_beside(file, "peal-backup", path);
    else
        strbuf_addf(path, "%s/.crontab%s%s.peal-backup", home ? home : "/tmp", user ? "." : "",
                    user ? user : "");
    int fd = open(path->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return EXIT_OK;
    bool is_good = fd >= 0 && write_all(fd, text) && fsync(fd) == 0;
    if (!is_good)
        cli_error("can't write %s: %s", path->text, strerror(errno));
    if (fd >= 0)
        close(fd);
    return is_good ? EXIT_OK : EXIT_ERROR;
}
