#include "data_folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PID_FILE "peal.pid"

enum status data_folder_find(const char *option, struct strbuf *out)
{
    const char *named = option ? option : getenv("PEAL_DATA");
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char cwd[PATH_MAX];
    if (named && *named) {
        if (*named != '/') {
            if (!getcwd(cwd, sizeof(cwd)))
                return E_IO;
            strbuf_addf(out, "%s/", cwd);
        }
        strbuf_adds(out, named);
    } else if (geteuid() == 0) {
        strbuf_adds(out, "/var/lib/peal");
    } else if (state && *state == '/') {
        strbuf_addf(out, "%s/peal", state);
    } else if (home && *home == '/') {
        strbuf_addf(out, "%s/.local/state/peal", home);
    } else {
        return E_NOT_FOUND;
    }
    while (out->length > 1 && out->text[out->length - 1] == '/')
        strbuf_truncate(out, out->length - 1);
    return strbuf_status(out);
}

enum status data_folder_make(const char *folder)
{
    char *path = strdup(folder);
    if (!path)
        return E_NOMEM;
    enum status st = OK;
    for (char *slash = strchr(path + 1, '/'); st == OK && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            st = E_IO;
        *slash = '/';
    }
    if (st == OK && mkdir(path, 0700) != 0 && errno != EEXIST)
        st = E_IO;
    free(path);
    return st;
}

char *data_folder_file(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* Writes a small file so that it is there whole or not at all. */
static enum status write_file(const char *path, const char *text)
{
    char *temporary;
    if (asprintf(&temporary, "%s.new", path) < 0)
        return E_NOMEM;
    enum status st = E_IO;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        goto out;
    bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    if (close(fd) == 0 && written && rename(temporary, path) == 0)
        st = OK;
    else
        unlink(temporary);
out:
    free(temporary);
    return st;
}

/* The first line of a small file. */
static enum status read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT ? E_NOT_FOUND : E_IO;
    bool got = fgets(line, (int)size, file);
    fclose(file);
    if (!got)
        return E_CORRUPT;
    line[strcspn(line, "\n")] = '\0';
    return OK;
}

static void make_node(char node[64])
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz";
    char host[40] = "node";
    unsigned char random[6] = {0};
    gethostname(host, sizeof(host) - 1);
    for (char *c = host; *c; c++) {
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.')
            *c = '-';
    }
    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        memcpy(random, &(pid_t){getpid()}, sizeof(pid_t));
    int length = snprintf(node, 64, "%s-", host);
    for (size_t i = 0; i < sizeof(random); i++)
        node[length++] = letters[random[i] % 32];
    node[length] = '\0';
}

enum status data_folder_node(const char *folder, char node[64])
{
    char *path = data_folder_file(folder, "node");
    if (!path)
        return E_NOMEM;
    enum status st = read_line(path, node, 64);
    if (st == E_NOT_FOUND || (st == OK && !*node) || st == E_CORRUPT) {
        make_node(node);
        char line[66];
        snprintf(line, sizeof(line), "%s\n", node);
        st = write_file(path, line);
    }
    free(path);
    return st;
}

enum status data_folder_write_pid(const char *folder)
{
    char *path = data_folder_file(folder, PID_FILE);
    if (!path)
        return E_NOMEM;
    char line[32];
    snprintf(line, sizeof(line), "%d\n", (int)getpid());
    enum status st = write_file(path, line);
    free(path);
    return st;
}

pid_t data_folder_pid(const char *folder)
{
    char *path = data_folder_file(folder, PID_FILE);
    char line[32];
    pid_t pid = 0;
    if (path && read_line(path, line, sizeof(line)) == OK)
        pid = (pid_t)strtol(line, NULL, 10);
    free(path);
    if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH))
        return 0;
    return pid;
}

void data_folder_remove_pid(const char *folder)
{
    char *path = data_folder_file(folder, PID_FILE);
    if (path)
        unlink(path);
    free(path);
}
