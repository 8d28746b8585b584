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

#include "hash.h"

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

bool data_folder_is_closed(const char *folder)
{
    return access(folder, X_OK) != 0 && errno == EACCES;
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

/* Writes a small file atomically. */
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

/* A small file of one line in the folder. */
static enum status write_line(const char *folder, const char *name, const char *text)
{
    char *path = data_folder_file(folder, name), *line = NULL;
    enum status st = E_NOMEM;
    if (path && asprintf(&line, "%s\n", text) >= 0)
        st = write_file(path, line);
    free(line);
    free(path);
    return st;
}

enum status data_folder_node(const char *folder, const char *wanted, char node[64])
{
    char *path = data_folder_file(folder, "node");
    if (!path)
        return E_NOMEM;
    enum status st = read_line(path, node, 64);
    free(path);
    if (st == E_NOT_FOUND || (st == OK && !*node) || st == E_CORRUPT) {
        if (*wanted)
            snprintf(node, 64, "%s", wanted);
        else
            make_node(node);
        return OK;
    }
    if (st == OK && *wanted && strcmp(wanted, node) != 0)
        return E_CONFLICT;
    return st;
}

enum status data_folder_write_node(const char *folder, const char *node)
{
    char known[64];
    char *path = data_folder_file(folder, "node");
    if (!path)
        return E_NOMEM;
    bool is_known = read_line(path, known, sizeof(known)) == OK && strcmp(known, node) == 0;
    free(path);
    return is_known ? OK : write_line(folder, "node", node);
}

char *data_folder_recall(const char *folder, const char *what)
{
    char line[4096] = "";
    char *path = data_folder_file(folder, what);
    enum status st = path ? read_line(path, line, sizeof(line)) : E_NOMEM;
    free(path);
    return st == OK && *line ? strdup(line) : NULL;
}

enum status data_folder_remember(const char *folder, const char *what, const char *url)
{
    char *known = data_folder_recall(folder, what);
    bool is_known = known && strcmp(known, url) == 0;
    free(known);
    return is_known ? OK : write_line(folder, what, url);
}

char *data_folder_read(const char *folder, const char *name)
{
    char *text = NULL, *path = data_folder_file(folder, name);
    size_t size = 0;
    FILE *file = path ? fopen(path, "re") : NULL;
    if (file && getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = ferror(file) ? NULL : strdup("");
    }
    if (file)
        fclose(file);
    free(path);
    return text;
}

enum status data_folder_write(const char *folder, const char *name, const char *text)
{
    char *path = data_folder_file(folder, name);
    enum status st = path ? write_file(path, text) : E_NOMEM;
    free(path);
    return st;
}

uint64_t data_folder_home(const char *folder)
{
    char machine[64] = "", *path = realpath(folder, NULL);
    struct stat info = {0};
    if (read_line("/etc/machine-id", machine, sizeof(machine)) != OK || !*machine)
        gethostname(machine, sizeof(machine) - 1);
    if (stat(folder, &info) != 0)
        info.st_ino = 0;
    uint64_t hash = hash_text(hash_text(0, machine), path ? path : folder);
    free(path);
    return hash_bytes(hash, &info.st_ino, sizeof(info.st_ino));
}

enum status data_folder_write_pid(const char *folder)
{
    char pid[32];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    return write_line(folder, PID_FILE, pid);
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
