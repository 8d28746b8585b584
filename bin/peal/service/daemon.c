#include "service/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "agent_trial.h"
#include "client/client.h"
#include "client/starts.h"
#include "data_folder.h"
#include "peer.h"
#include "proc.h"
#include "sandbox/jobs_user.h"
#include "service/container.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

/* Says why the agent does not start, in the language of the command. */
static void tell(const char *why, enum status st)
{
    struct strbuf text;
    strbuf_init(&text);
    if (*why)
        tr_parsed_text(why, &text);
    else
        strbuf_adds(&text, tr(status_text(st)));
    cli_error("%s", text.text);
    strbuf_release(&text);
}

/* ---- start ---- */

static enum exit_code exit_code_of(enum status st)
{
    if (st == OK)
        return EXIT_OK;
    return st == E_BUSY || st == E_CONFLICT ? EXIT_CONFLICT
           : st == E_UNREACHABLE            ? EXIT_UNREACHABLE
           : st == E_INVALID                ? EXIT_INVALID
                                            : EXIT_ERROR;
}

/* Notes that the agent, which has just started, can't start runs, and why. */
static void tell_starts(const char *data)
{
    struct client *client = NULL;
    if (client_open(data, &client) == EXIT_OK)
        starts_warn(client, false);
    client_close(client);
}

static void warn_jobs_user(const struct agent_config *config)
{
    struct jobs_user user;
    if (!(config->roles & PEER_WORKER))
        return;
    jobs_user_look(config, tr_language(), &user);
    if (!user.ok)
        cli_note("%s (docs/SECURITY.md)", user.detail);
    if (!*user.name)
        fprintf(stderr, "      %s\n", tr("say whom they run as: peal restart --default-user NAME"));
}

void daemon_tell_started(pid_t pid, const struct agent_config *config, const struct strbuf *kept)
{
    fprintf(stderr, tr("peal started (pid %d, data %s)"), (int)pid, config->data);
    fputc('\n', stderr);
    if (kept->length)
        cli_note("kept from the last start:%s; --fresh drops them", kept->text);
    warn_jobs_user(config);
    tell_starts(config->data);
}

void daemon_tell_setup(const char *data)
{
    char *link = isatty(STDERR_FILENO) ? data_folder_recall(data, "setup-link") : NULL;
    if (link)
        fprintf(stderr, "%s\n  %s\n",
                tr("No account yet. To make the first one in a browser, once:"), link);
    free(link);
}

static void tell_setup(void *context)
{
    const struct agent_config *config = context;
    daemon_tell_setup(config->data);
}

/* The spawner, which protects its memory likewise, learns it from the environment. */
static enum status be(struct agent_config *config, void (*ready)(void *context), void *context,
                      struct strbuf *why)
{
    if (setenv("PEAL_SANDBOX", config->no_sandbox ? "off" : "on", 1) != 0)
        return E_NOMEM;
    return agent_run(config, ready, context, why);
}

enum exit_code daemon_run(struct agent_config *config)
{
    struct strbuf why;
    int status;
    config->with_jobs = container_is_ours();
    if (config->with_jobs && container_split(&status))
        return (enum exit_code)status;
    strbuf_init(&why);
    enum status st = be(config, tell_setup, config, &why);
    if (st != OK)
        tell(why.text, st);
    strbuf_release(&why);
    return exit_code_of(st);
}

static void tell_ready(void *context)
{
    int *fd = context;
    if (write(*fd, "R", 1) == 1)
        close(*fd);
    *fd = -1;
}

/* Detaches from the terminal; stderr goes to the log. */
static void leave_terminal(const struct agent_config *config)
{
    setsid();
    int null = open("/dev/null", O_RDWR);
    int log = open(config->log_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(log >= 0 ? log : null, STDERR_FILENO);
    if (null > 2)
        close(null);
    if (log > 2)
        close(log);
    if (chdir("/") != 0)
        return; /* harmless: the start folder stays in use */
}

/* In the child: never returns. The pipe gets "R", or the exit code as a letter and the reason. */
__attribute__((noreturn)) static void be_agent(struct agent_config *config, int fd)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = data_folder_make(config->data);
    if (st == OK)
        leave_terminal(config);
    else
        strbuf_addf(&why, "can't make the data folder %s: %s; choose another with --data",
                    config->data, strerror(errno));
    if (st == OK)
        st = be(config, tell_ready, &fd, &why);
    if (fd >= 0) {
        dprintf(fd, "%c%s", 'A' + (int)exit_code_of(st), why.text);
        close(fd);
    }
    strbuf_release(&why);
    _exit((int)exit_code_of(st));
}

/* Reads the child's report. */
static enum exit_code hear(int fd)
{
    char text[4096];
    size_t used = 0;
    ssize_t length;
    while (used + 1 < sizeof(text) &&
           (length = read(fd, text + used, sizeof(text) - 1 - used)) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            break;
        used += (size_t)length;
        if (text[0] == 'R')
            return EXIT_OK;
    }
    text[used] = '\0';
    if (used > 1)
        tell(text + 1, OK);
    else
        cli_error("the agent ended before it was ready; see its log");
    return used > 0 ? (enum exit_code)(text[0] - 'A') : EXIT_ERROR;
}

enum exit_code daemon_try(const struct agent_config *config)
{
    struct strbuf why;
    strbuf_init(&why);
    signal(SIGPIPE, SIG_IGN); /* a store may close the connection */
    enum status st = agent_try(config, &why);
    if (st != OK)
        tell(why.text, st);
    strbuf_release(&why);
    return exit_code_of(st);
}

enum exit_code daemon_start(struct agent_config *config, bool with_parent, pid_t *ret_pid)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return cli_fail(E_IO);
    fflush(stdout);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(ends[0]);
        if (with_parent && (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent))
            _exit(EXIT_ERROR);
        be_agent(config, ends[1]);
    }
    close(ends[1]);
    enum exit_code code = pid > 0 ? hear(ends[0]) : cli_fail(E_IO);
    close(ends[0]);
    if (code == EXIT_OK)
        *ret_pid = pid;
    else if (pid > 0)
        waitpid(pid, NULL, 0);
    return code;
}

/* ---- stop ---- */

/* Whose program can't be seen, as its memory is closed to us: anybody may see its name. */
static bool is_named_peal(pid_t pid)
{
    char name[16];
    ssize_t length = proc_read(pid, "comm", name, sizeof(name));
    return length > 0 && strcmp(name, "peal\n") == 0;
}

/* The number in a pid file may have become another program's. */
static bool is_peal(pid_t pid)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    if (length < 0)
        return errno == EACCES && is_named_peal(pid);
    path[length] = '\0';
    const char *name = strrchr(path, '/');
    size_t end = name ? strcspn(name + 1, " ") : 0; /* "peal (deleted)" after an upgrade */
    return end == 4 && strncmp(name + 1, "peal", 4) == 0;
}

pid_t daemon_find(const char *data)
{
    pid_t pid = data_folder_pid(data);
    return pid > 0 && is_peal(pid) ? pid : 0;
}

/* The descriptor stands for the process, also when its number is given to another meanwhile. */
enum exit_code daemon_stop(const char *data, int64_t wait_ms)
{
    pid_t pid = data_folder_pid(data);
    if (pid <= 0)
        return EXIT_NOT_FOUND;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 || !is_peal(pid)) {
        if (fd >= 0)
            close(fd);
        return EXIT_NOT_FOUND;
    }
    enum exit_code code = EXIT_OK;
    if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) != 0 && errno != ESRCH) {
        cli_error("can't tell the agent (pid %d) to stop: %s", (int)pid, strerror(errno));
        code = EXIT_ERROR;
    } else {
        struct pollfd end = {.fd = fd, .events = POLLIN};
        int ready = poll(&end, 1, (int)(wait_ms > INT_MAX ? INT_MAX : wait_ms));
        code = ready > 0 ? EXIT_OK : EXIT_TIMED_OUT;
    }
    close(fd);
    return code;
}
