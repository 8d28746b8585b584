/* peal service: the agent as a service of systemd, where no package has brought one. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/client.h"
#include "data_folder.h"
#include "service/daemon.h"
#include "service/unit.h"
#include "text/tr.h"

enum { UNIT_MAX = 65536 };

struct request {
    struct request_base base;
    const char *config;
    bool is_users, print;
};

/* What a command is about, in absolute paths. */
struct place {
    struct unit unit;
    char program[PATH_MAX];
    char *config;
    struct strbuf data, path, text;
};

static void release(struct place *place)
{
    free(place->config);
    strbuf_release(&place->data);
    strbuf_release(&place->path);
    strbuf_release(&place->text);
}

static enum exit_code find(const struct request *request, struct place *ret)
{
    *ret = (struct place){.unit.is_users = request->is_users || geteuid() != 0};
    strbuf_init(&ret->data);
    strbuf_init(&ret->path);
    strbuf_init(&ret->text);
    ssize_t length = readlink("/proc/self/exe", ret->program, sizeof(ret->program) - 1);
    if (length <= 0) {
        cli_error("can't find the program that runs: %s", strerror(errno));
        return EXIT_ERROR;
    }
    enum status st = data_folder_find(request->base.data, &ret->data);
    if (st == OK && request->config) {
        ret->config = daemon_absolute(request->config);
        st = ret->config ? OK : E_NOMEM;
    }
    ret->unit.program = ret->program;
    ret->unit.data = ret->data.text;
    ret->unit.config = ret->config;
    if (st == OK)
        st = unit_path(&ret->unit, &ret->path);
    if (st == E_NOT_FOUND) {
        cli_error("HOME is not set, so it is not known where a unit of this user belongs");
        return EXIT_ERROR;
    }
    if (st == OK)
        st = unit_text(&ret->unit, &ret->text);
    if (st == E_INVALID) {
        cli_error("a unit of systemd can't name these paths as they are: %s, %s%s%s; use others, "
                  "of letters, digits and ._-+@:",
                  ret->program, ret->data.text, ret->config ? ", " : "",
                  ret->config ? ret->config : "");
        return EXIT_INVALID;
    }
    return cli_fail(st);
}

/* ---- systemctl ---- */

static enum exit_code run_systemctl(const struct place *place, const char *verb, const char *now)
{
    char *argv[6] = {"systemctl"};
    size_t count = 1;
    pid_t pid;
    int state = 0;
    if (place->unit.is_users)
        argv[count++] = "--user";
    argv[count++] = (char *)verb;
    if (now) {
        argv[count++] = (char *)now;
        argv[count++] = "peal.service";
    }
    int error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    if (error) {
        cli_error("can't run systemctl: %s", strerror(error));
        return EXIT_ERROR;
    }
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return EXIT_OK;
    cli_error("systemctl %s has failed; what it says is above", verb);
    return EXIT_ERROR;
}

/* ---- the file ---- */

/* EXIT_NOT_FOUND: there is none. EXIT_CONFLICT: it is somebody else's, which has been said. */
static enum exit_code look(const struct place *place)
{
    char text[UNIT_MAX];
    FILE *file = fopen(place->path.text, "re");
    if (!file)
        return EXIT_NOT_FOUND;
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    if (unit_is_ours(text))
        return EXIT_OK;
    cli_error("%s was not written by peal service install, and stays as it is", place->path.text);
    return EXIT_CONFLICT;
}

static bool make_parents(const char *path)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof(parent), "%s", path);
    for (char *at = strchr(parent + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (mkdir(parent, 0755) != 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return true;
}

static enum exit_code write_unit(const struct place *place)
{
    FILE *file = make_parents(place->path.text) ? fopen(place->path.text, "we") : NULL;
    bool is_written = file && fputs(place->text.text, file) >= 0;
    if (file && fclose(file) != 0)
        is_written = false;
    if (is_written)
        return EXIT_OK;
    cli_error("can't write %s: %s", place->path.text, strerror(errno));
    return EXIT_ERROR;
}

/* ---- commands ---- */

static enum exit_code check_free(const struct place *place)
{
    const char *there = place->unit.is_users ? NULL : unit_of_package();
    pid_t pid = data_folder_pid(place->data.text);
    enum exit_code code = look(place);
    if (code == EXIT_CONFLICT)
        return code;
    if (there) {
        cli_error("this machine has %s already: systemctl enable --now peal", there);
        return EXIT_CONFLICT;
    }
    if (pid && code == EXIT_NOT_FOUND) {
        cli_error("an agent that was started by hand uses %s (pid %d): peal stop, then again; "
                  "running jobs continue",
                  place->data.text, (int)pid);
        return EXIT_CONFLICT;
    }
    return EXIT_OK;
}

static enum exit_code install(const struct place *place)
{
    enum exit_code code = check_free(place);
    if (code == EXIT_OK)
        code = write_unit(place);
    if (code == EXIT_OK)
        code = run_systemctl(place, "daemon-reload", NULL);
    if (code == EXIT_OK)
        code = run_systemctl(place, "enable", "--now");
    if (code != EXIT_OK)
        return code;
    printf("%s\n", place->path.text);
    if (place->unit.is_users)
        fprintf(stderr, "%s\n",
                tr("It ends when you log out, unless systemd is told to keep it: loginctl "
                   "enable-linger"));
    return EXIT_OK;
}

static enum exit_code run_install(void *data)
{
    const struct request *request = data;
    struct place place;
    enum exit_code code = find(request, &place);
    if (code == EXIT_OK && request->print)
        fputs(place.text.text, stdout);
    else if (code == EXIT_OK)
        code = install(&place);
    release(&place);
    return code;
}

static enum exit_code run_remove(void *data)
{
    struct place place;
    enum exit_code code = find(data, &place);
    if (code == EXIT_OK) {
        code = look(&place);
        if (code == EXIT_NOT_FOUND)
            cli_error("there is no %s", place.path.text);
    }
    if (code == EXIT_OK)
        code = run_systemctl(&place, "disable", "--now");
    if (code == EXIT_OK && unlink(place.path.text) != 0) {
        cli_error("can't delete %s: %s", place.path.text, strerror(errno));
        code = EXIT_ERROR;
    }
    if (code == EXIT_OK)
        code = run_systemctl(&place, "daemon-reload", NULL);
    release(&place);
    return code;
}

static const struct command subcommands[] = {
    {
        .name = "service install",
        .summary = "write the unit, enable it and start the agent",
        .options =
            ROWS(OPTION_TEXT(request, config, 0, "config", "F",
                             "a configuration file for the agent (docs/CONFIG.md)"),
                 OPTION_FLAG(request, is_users, 0, "user",
                             "a service of this user, also of root's; others always get one"),
                 OPTION_FLAG(request, print, 0, "print", "print the unit, change nothing"),
                 OPTION_GROUP(request, base, data_option)),
        .too_many = "expected: peal service install",
        .run = run_install,
    },
    {
        .name = "service remove",
        .summary = "stop the agent and delete the unit; data and running jobs stay",
        .options = ROWS(OPTION_FLAG(request, is_users, 0, "user", "the service of this user"),
                        OPTION_GROUP(request, base, data_option)),
        .too_many = "expected: peal service remove",
        .run = run_remove,
    },
    {0},
};

const struct command cmd_service = {
    .name = "service",
    .summary = "run the agent as a service of systemd",
    .examples = EXAMPLES({"peal service install", "as root: of the machine; else of this user"},
                         {"peal service install --config /etc/peal/peal.yaml", NULL},
                         {"peal service install --print", "only look at the unit"}),
    .notes = "For machines where no package and no `make install` has brought a unit. The service "
             "starts with the machine, is watched by systemd, and stops without ending a job. Exit "
             "status 4: there is another unit of this name, or an agent that was started by hand "
             "has the data folder.",
    .options = data_option,
    .too_few = "expected: peal service install or peal service remove",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
