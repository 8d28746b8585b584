/* peal-call --dir DIR: makes the HTTP calls of an agent, and outlives it.
 *
 *   SIGTERM  the machine goes down: starts nothing any more, aborts every call, and exits; the ends
 *            are in the journal for the next agent to read
 *   SIGINT   as SIGTERM
 * Ends by itself after --idle-ms without calls and an agent. It is never root: started by root it
 * becomes --user, once it is in its folder. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caller.h"
#include "clock.h"
#include "sandbox.h"

#define LOG_NAME "peal-call.log"

/* ---- the loop's own descriptors ---- */

static void signal_ready(void *context, struct watch *watch, uint32_t events)
{
    struct caller *caller = context;
    struct signalfd_siginfo info;
    struct call *call;
    (void)events;
    if (read(watch->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    caller->is_stopping = true;
    TAILQ_FOREACH (call, &caller->all, all) {
        calls_stop(caller, call, SPAWN_KILLED, NULL);
    }
}

static void timer_moved(void *item, uint32_t place)
{
    struct call *call = item;
    call->timer_place = place;
}

/* A peer that closes its end, and a limit of file sizes, must not end the process. */
static enum status open_signals(struct caller *caller)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return E_IO;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    caller->signals = (struct watch){
        .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
        .ready = signal_ready,
    };
    return caller->signals.fd >= 0 ? watch_add(caller->epoll_fd, &caller->signals, EPOLLIN) : E_IO;
}

static void raise_nofile(struct caller *caller)
{
    if (getrlimit(RLIMIT_NOFILE, &caller->limit) < 0)
        caller->limit = (struct rlimit){1024, 1024};
    struct rlimit most = {caller->limit.rlim_max, caller->limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &most) == 0)
        caller->limit = most;
}

static enum status open_all(struct caller *caller)
{
    raise_nofile(caller);
    caller->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    enum status st = caller->epoll_fd >= 0
                         ? serve_open_folder(".", &caller->folder_fd, &caller->output_fd)
                         : E_IO;
    if (st == OK)
        st = serve_lock_folder(caller->folder_fd, -1, &caller->lock_fd);
    if (st == OK)
        st = open_signals(caller);
    if (st == OK)
        st = boot_timer_open(&caller->timer, caller->epoll_fd);
    if (st == OK)
        st = sockets_init(caller);
    if (st != OK)
        return st;
    packs_open(&caller->packs, caller->output_fd);
    st = calls_recover(caller);
    if (st == OK)
        st = serve_listen(caller->folder_fd, CALL_SOCKET, &caller->link.listener.fd);
    return st == OK ? agent_link_open(&caller->link, caller->epoll_fd) : st;
}

/* A journal that is there tells the next agent that there are calls to ask for. */
static void close_all(struct caller *caller)
{
    struct call *call;
    unlink(CALL_SOCKET);
    journal_close(&caller->journal);
    if (caller->calls.count == 0)
        unlinkat(caller->folder_fd, "journal", 0);
    while ((call = TAILQ_FIRST(&caller->all))) {
        TAILQ_REMOVE(&caller->all, call, all);
        transfer_drop(caller, call);
        masking_free(call->masking);
        free(call);
    }
    calls_sweep(caller);
    packs_close(&caller->packs);
    lookups_release(&caller->lookups);
    sockets_release(caller);
    table_release(&caller->calls);
    heap_release(&caller->timers);
}

/* ---- the process ---- */

static _Noreturn void usage(enum exit_code code)
{
    fprintf(code == EXIT_OK ? stdout : stderr,
            "usage: peal-call --dir DIR [--user NAME] [--idle-ms MS] [--daemon]\n"
            "Makes the HTTP calls of a peal agent's jobs.\n\n"
            "  --dir DIR      folder for its socket, journal and output files\n"
            "  --user NAME    whom it becomes when root starts it; root needs it\n"
            "  --idle-ms MS   ends after this time without calls and agent (default 60000)\n"
            "  --daemon       returns when it can be connected to\n"
            "  --version      prints its version\n");
    exit((int)code);
}

static bool is_sandbox_off(void)
{
    const char *sandbox = getenv("PEAL_SANDBOX");
    return sandbox && strcmp(sandbox, "off") == 0;
}

static void parse(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"dir", required_argument, NULL, 'd'},
        {"user", required_argument, NULL, 'u'},
        {"idle-ms", required_argument, NULL, 'i'},
        {"daemon", no_argument, NULL, 'D'},
        {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){.idle_ms = SERVE_IDLE_MS, .no_sandbox = is_sandbox_off()};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'd')
            options->folder = optarg;
        else if (c == 'u')
            options->user = optarg;
        else if (c == 'i')
            options->idle_ms = atoll(optarg);
        else if (c == 'D')
            options->is_daemon = true;
        else if (c == 'v')
            serve_print_version("peal-call", &caller_build);
        else
            usage(c == 'h' ? EXIT_OK : EXIT_USAGE);
    }
    if (!options->folder || optind != argc || options->idle_ms <= 0)
        usage(EXIT_USAGE);
}

static void fail_start(const char *what)
{
    serve_log("event=start_failed what=\"%s\" error=\"%s\"", what, strerror(errno));
}

/* A folder of another user is put aside: what is in it is not to be trusted, nor to be given away.
 */
static bool put_aside(const char *folder, uid_t uid)
{
    char aside[PATH_MAX];
    struct stat st;
    if (stat(folder, &st) != 0 || st.st_uid == uid)
        return true;
    snprintf(aside, sizeof(aside), "%s.%u", folder, (unsigned)st.st_uid);
    serve_log("event=put_aside folder=\"%s\" reason=\"of another user\"", aside);
    return rename(folder, aside) == 0;
}

/* Root gives a new folder to the user, and becomes that user inside of it: the folders above may be
 * closed to them. */
static bool enter_as(const char *folder, const char *name)
{
    const struct passwd *user = name ? getpwnam(name) : NULL;
    if (!user || user->pw_uid == 0) {
        errno = name && !user ? ENOENT : EPERM;
        fail_start("--user: calls are not made as root");
        return false;
    }
    bool is_clear = put_aside(folder, user->pw_uid);
    bool is_new = is_clear && mkdir(folder, 0700) == 0;
    if (!is_clear || chdir(folder) != 0 ||
        (is_new && chown(".", user->pw_uid, user->pw_gid) != 0) ||
        initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
        setuid(user->pw_uid) != 0 || setuid(0) == 0) {
        fail_start(folder);
        return false;
    }
    return true;
}

static bool enter_folder(const struct options *options)
{
    if (geteuid() == 0)
        return enter_as(options->folder, options->user);
    if ((mkdir(options->folder, 0700) == 0 || errno == EEXIST) && chdir(options->folder) == 0)
        return true;
    fail_start(options->folder);
    return false;
}

static char *copy_variable(const char *name)
{
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

/* Secrets of jobs pass through its memory. What the environment could change in libcurl and the C
 * library (proxies, aliases of hosts, a file for keys of TLS) is none of a job's business. */
static void confine(void)
{
    static const char *const kept[] = {"PATH", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR"};
    char *values[sizeof(kept) / sizeof(kept[0])];
    struct rlimit none = {0, 0};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        values[i] = copy_variable(kept[i]);
    clearenv();
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (values[i])
            setenv(kept[i], values[i], 1);
        free(values[i]);
    }
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Once everything is open. Without it calls are made all the same. */
static void enter_sandbox(const struct caller *caller)
{
    if (caller->options.no_sandbox) {
        serve_log("event=sandbox detail=off");
        return;
    }
    if (!sandbox_files(caller->folder_fd))
        serve_log("event=sandbox detail=\"files are not confined\" error=\"%s\"", strerror(errno));
    if (!sandbox_calls())
        serve_log("event=sandbox detail=\"calls are not filtered\" error=\"%s\"", strerror(errno));
}

static void init(struct caller *caller)
{
    caller->lock_fd = caller->journal.fd = -1;
    caller->idle.limit_ms = caller->options.idle_ms;
    agent_link_init(&caller->link, &agent_type, caller);
    calls_init(caller);
    lookups_init(&caller->lookups);
    heap_init(&caller->timers, timer_moved);
    caller->now_boot_ms = clock_now().boot.ms;
}

int main(int argc, char **argv)
{
    serve_keep_standard_fds();
    struct caller *caller = calloc(1, sizeof(*caller));
    if (!caller)
        return EXIT_TROUBLE;
    parse(argc, argv, &caller->options);
    umask(077);
    if (!enter_folder(&caller->options)) {
        free(caller);
        return EXIT_TROUBLE;
    }
    confine();
    int word_fd = caller->options.is_daemon ? serve_become_daemon(LOG_NAME) : -1;
    init(caller);
    enum status st = open_all(caller);
    enum exit_code code = st == OK ? EXIT_OK : st == E_BUSY ? EXIT_BUSY : EXIT_TROUBLE;
    if (st != OK)
        fail_start(status_text(st));
    serve_tell_start(word_fd, code);
    if (st == OK) {
        enter_sandbox(caller);
        caller_loop(caller);
        close_all(caller);
    }
    free(caller);
    return (int)code;
}
