#include "jobs/git_files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };

static enum status read_all(int fd, struct strbuf *out)
{
    char bytes[65536];
    for (;;) {
        ssize_t got = read(fd, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? E_IO : strbuf_status(out);
        strbuf_add(out, bytes, (size_t)got);
        if (out->length > MOST_BYTES)
            return E_TOO_LARGE;
    }
}

static enum status start(char *const *argv, pid_t *ret_pid, int *ret_fd)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return E_IO;
    int failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        failed = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        if (!failed)
            failed = posix_spawnp(ret_pid, argv[0], &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return failed == ENOENT ? E_NOT_FOUND : E_IO;
    }
    *ret_fd = ends[0];
    return OK;
}

/* Runs git in a folder, and appends what it writes; its errors go to stderr. *ret_exit: its exit
 * code. */
static enum exit_code git(const char *folder, const char *const *words, struct strbuf *out,
                          int *ret_exit)
{
    char *argv[12] = {"git", "-C", (char *)folder};
    size_t count = 3;
    int fd, state = 0;
    pid_t pid;
    while (*words && count < 11)
        argv[count++] = (char *)*words++;
    enum status st = start(argv, &pid, &fd);
    if (st != OK) {
        cli_error("can't run git: %s", st == E_NOT_FOUND ? strerror(ENOENT) : strerror(errno));
        return EXIT_ERROR;
    }
    st = read_all(fd, out);
    close(fd);
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    *ret_exit = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    return cli_fail(st);
}

/* A revision that git does not know would look like one that has none of the files. */
static enum exit_code check_revision(const char *folder, const char *revision)
{
    struct strbuf out, name;
    int result = 0;
    strbuf_init(&out);
    strbuf_init(&name);
    strbuf_addf(&name, "%s^{commit}", revision);
    const char *const words[] = {"rev-parse",        "--quiet", "--verify",
                                 "--end-of-options", name.text, NULL};
    enum exit_code code = git(folder, words, &out, &result);
    if (code == EXIT_OK && result != 0) {
        cli_error("git has no revision \"%s\" in %s", revision, folder);
        code = EXIT_NOT_FOUND;
    }
    strbuf_release(&name);
    strbuf_release(&out);
    return code;
}

struct git_folder {
    const char *revision, *folder, *shown; /* `shown`: before a file's name, with its slash */
    git_file_read *read;
    void *context;
};

static enum exit_code read_file(const struct git_folder *in, const char *file)
{
    struct strbuf text, object, name;
    int result = 0;
    strbuf_init(&text);
    strbuf_init(&object);
    strbuf_init(&name);
    strbuf_addf(&object, "%s:./%s", in->revision, file);
    strbuf_addf(&name, "%s:%s%s", in->revision, in->shown, file);
    const char *const words[] = {"cat-file", "blob", object.text, NULL};
    enum exit_code code = git(in->folder, words, &text, &result);
    if (code == EXIT_OK && result != 0)
        code = EXIT_ERROR; /* git has said why */
    if (code == EXIT_OK)
        code = cli_fail(strbuf_status(&name));
    if (code == EXIT_OK)
        code = in->read(in->context, name.text, &text);
    strbuf_release(&name);
    strbuf_release(&object);
    strbuf_release(&text);
    return code;
}

/* The names of the folder in that revision, each with a NUL; `only`, unless it is NULL. */
static enum exit_code list(const struct git_folder *in, const char *only, struct strbuf *out)
{
    const char *const words[] = {"ls-tree",          "-z", "--name-only", in->revision, "--",
                                 only ? only : "./", NULL};
    int result = 0;
    enum exit_code code = git(in->folder, words, out, &result);
    return code == EXIT_OK && result != 0 ? EXIT_ERROR : code;
}

static enum exit_code read_names(const struct git_folder *in, const struct strbuf *names,
                                 bool (*is_wanted)(const char *name))
{
    enum exit_code worst = EXIT_OK;
    for (size_t at = 0; at < names->length; at += strlen(names->text + at) + 1) {
        const char *path = names->text + at, *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        enum exit_code code = is_wanted(name) ? read_file(in, name) : EXIT_OK;
        if (code != EXIT_OK)
            worst = code;
    }
    return worst;
}

static bool is_any(const char *name)
{
    return *name;
}

enum exit_code git_files_read(const char *revision, const char *path,
                              bool (*is_wanted)(const char *name), git_file_read *read,
                              void *context)
{
    struct stat info;
    struct strbuf names, shown;
    bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    char *copy = strdup(path), *again = strdup(path);
    strbuf_init(&names);
    strbuf_init(&shown);
    enum exit_code code = copy && again ? EXIT_OK : cli_fail(E_NOMEM);
    if (code == EXIT_OK) {
        struct git_folder in = {.revision = revision,
                                .folder = is_folder ? path : dirname(copy),
                                .read = read,
                                .context = context};
        if (is_folder || strchr(path, '/'))
            strbuf_addf(&shown, "%s%s", in.folder,
                        in.folder[strlen(in.folder) - 1] == '/' ? "" : "/");
        in.shown = shown.text;
        code = check_revision(in.folder, revision);
        if (code == EXIT_OK)
            code = list(&in, is_folder ? NULL : basename(again), &names);
        if (code == EXIT_OK)
            code = read_names(&in, &names, is_folder ? is_wanted : is_any);
    }
    strbuf_release(&shown);
    strbuf_release(&names);
    free(again);
    free(copy);
    return code;
}
