/* peal-spawn --dir DIR: starts, watches and kills the processes of an agent, and outlives it.
 *
 *   SIGHUP   executes its own file again, keeping its children (as the UPGRADE message does)
 *   SIGTERM  the machine goes down: starts nothing any more, ends every run with SIGTERM, grace,
 *            SIGKILL, and exits; the ends are in the journal for the next agent to read
 *   SIGINT   as SIGTERM
 * Ends by itself after --idle-ms without runs, leftover processes and an agent. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allowed_users.h"
#include "clock.h"
#include "descent.h"
#include "serve/low_fds.h"
#include "spawner.h"

static void signal_ready(void *context, struct watch *watch, uint32_t events)
{
    struct spawner *s = context;
    (void)events;
    struct signalfd_siginfo info;
    if (life_gathers(s))
        return;
    s->reap_at_boot_us = 0;
    while (read(watch->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP)
            s->wants_upgrade = true;
        if (info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT)
            continue;
        s->is_stopping = true;
        for (struct run *run = run_first(&s->runs); run; run = run_next(run))
            life_stop(s, run, SPAWN_KILLED, SIGTERM, run->grace_ms);
    }
    s->wants_reap = true;
}

static void timer_moved(void *item, uint32_t place)
{
    struct run *run = item;
    run->timer_place = place;
}

/* Children inherit the dispositions, so they are reset here once; the mask is reset in each. */
static enum status open_signals(struct spawner *s)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigset_t blocked = set;
    sigaddset(&blocked, SIGXFSZ); /* a file size limit must not kill the spawner */
    if (sigprocmask(SIG_SETMASK, &blocked, NULL) < 0)
        return E_IO;
    for (int number = 1; number <= SIGRTMAX; number++)
        signal(number, SIG_DFL);
    s->signals = (struct watch){
        .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
        .ready = signal_ready,
    };
    /* Once for each: the end of a process may be left pending for a while, see life_gathers. */
    return s->signals.fd >= 0 ? spawner_watch(s, &s->signals, EPOLLIN | EPOLLET) : E_IO;
}

static enum status open_folder(struct spawner *s)
{
    enum status st = serve_open_folder(s->options.folder, &s->folder_fd, &s->output_fd);
    return pipes_init(&s->pipes) ? st : E_IO;
}

static void raise_nofile(struct spawner *s)
{
    if (getrlimit(RLIMIT_NOFILE, &s->nofile) < 0)
        s->nofile = (struct rlimit){1024, 4096};
    rlim_t wanted = (rlim_t)s->options.open_files;
    struct rlimit most = {s->nofile.rlim_max, s->nofile.rlim_max};
    setrlimit(RLIMIT_NOFILE, &most);
    if (wanted && wanted < s->nofile.rlim_max)
        s->nofile.rlim_cur = wanted;
}

static void look_at_oom_score(struct spawner *s)
{
    char text[16] = "";
    int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    s->reset_oom = read(fd, text, sizeof(text) - 1) > 0 && atoi(text) != 0;
    close(fd);
}

static enum status open_all(struct spawner *s)
{
    char tag[SPAWN_TAG_SIZE];
    struct low_fds low;
    umask(077);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kept_open(&s->kept);
    look_at_oom_score(s);
    s->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    launches_init(&s->launches, s->null_fd);
    low_fds_take(&low, s->null_fd);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    bool is_open = s->null_fd >= 0 && s->epoll_fd >= 0 && handover_open(&s->handover);
    enum status st = is_open ? open_folder(s) : E_IO;
    if (is_open)
        s->reaped = (struct reaped){.ends = s->handover.memory->ends};
    bool resumes = s->options.resume_fd >= 0;
    if (st == OK && !resumes) /* a guard's lock is locked if it had a spawner before */
        st = serve_lock_folder(s->folder_fd, s->options.lock_fd, &s->lock_fd);
    if (st == OK)
        st = open_signals(s);
    if (st == OK)
        st = boot_timer_open(&s->timer, s->epoll_fd);
    spawn_tag(s->options.folder, tag);
    snprintf(s->tag_mark, sizeof(s->tag_mark), SPAWN_TAG_MARK "=%s", tag);
    causes_init(&s->causes);
    if (st == OK && !s->options.no_cgroup)
        cgroups_init(&s->cgroups, tag);
    if (st == OK && resumes) {
        st = upgrade_resume(s, s->options.resume_fd);
    } else if (st == OK) {
        raise_nofile(s);
        st = slots_init(&s->slots, -1);
        if (st == OK)
            st = recover(s);
        if (st == OK)
            st = serve_listen(s->folder_fd, SPAWN_SOCKET, &s->link.listener.fd);
    }
    if (st == OK)
        st = agent_link_open(&s->link, s->epoll_fd);
    kept_release(&s->kept);
    low_fds_leave(&low);
    return st;
}

static void close_all(struct spawner *s)
{
    unlinkat(s->folder_fd, SPAWN_SOCKET, 0);
    journal_close(&s->journal);
    keeper_end(s);
    cgroups_release(&s->cgroups);
    causes_release(&s->causes);
    launches_release(&s->launches);
    pipes_release(&s->pipes);
    slots_release(&s->slots);
    handover_close(&s->handover);
    run_table_release(&s->runs);
    heap_release(&s->timers);
    tree_release(&s->tree);
    users_release(&s->users);
}

/* The child becomes a guard, which starts the spawner. Returns only if it can't, with the
 * descriptor for the status: then it is the spawner itself, without a guard. */
static int become_daemon(const struct spawner *s)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/peal-spawn.log", s->options.folder);
    int word_fd = serve_become_daemon(path);
    guard_become(&s->options, s->self_path, word_fd);
    return word_fd;
}

void words_add(struct words *words, const char *word)
{
    words->argv[words->count++] = (char *)word; /* execv's type; nobody writes to it */
    words->argv[words->count] = NULL;
}

void spawner_words(struct words *words, const char *name, const struct options *options)
{
    *words = (struct words){0};
    words_add(words, name);
    words_add(words, "--dir");
    words_add(words, options->folder);
    words_add(words, "--allow");
    words_add(words, options->allow_file);
    snprintf(words->idle, sizeof(words->idle), "%lld", (long long)options->idle_ms);
    words_add(words, "--idle-ms");
    words_add(words, words->idle);
    if (options->open_files) {
        snprintf(words->files, sizeof(words->files), "%lld", (long long)options->open_files);
        words_add(words, "--open-files");
        words_add(words, words->files);
    }
    if (options->no_cgroup)
        words_add(words, "--no-cgroup");
}

static _Noreturn void usage(enum exit_code code)
{
    fprintf(code == EXIT_OK ? stdout : stderr,
            "usage: peal-spawn --dir DIR [--allow FILE] [--open-files N] [--idle-ms MS]\n"
            "                  [--no-cgroup] [--daemon]\n"
            "Starts, watches and kills the processes of a peal agent.\n\n"
            "  --dir DIR      folder for its socket, journal and output files\n"
            "  --allow FILE   users that it may run as, if it is root "
            "(absolute; default " ALLOWED_USERS_FILE ")\n"
            "  --open-files N how many descriptors jobs may have (default: its own limit)\n"
            "  --idle-ms MS   ends after this time without runs and agent (default 60000)\n"
            "  --no-cgroup    makes no cgroups, even where it could\n"
            "  --daemon       returns when it can be connected to\n"
            "  --version      prints its version\n");
    exit((int)code);
}

static void parse(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"dir", required_argument, NULL, 'd'},
        {"allow", required_argument, NULL, 'a'},
        {"call-user", required_argument, NULL, 'u'},
        {"open-files", required_argument, NULL, 'o'},
        {"idle-ms", required_argument, NULL, 'i'},
        {"daemon", no_argument, NULL, 'D'},
        {"resume", required_argument, NULL, 'r'},
        {"guard", required_argument, NULL, 'g'},
        {"lock", required_argument, NULL, 'k'},
        {"word", required_argument, NULL, 'w'},
        {"can-resume", required_argument, NULL, 'c'},
        {"no-cgroup", no_argument, NULL, 'n'},
        {"launcher", no_argument, NULL, 'l'},
        {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct options){
        .allow_file = ALLOWED_USERS_FILE,
        .idle_ms = SERVE_IDLE_MS,
        .resume_fd = -1,
        .guard_fd = -1,
        .lock_fd = -1,
        .word_fd = -1,
    };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'd')
            options->folder = optarg;
        else if (c == 'a')
            options->allow_file = optarg;
        else if (c == 'u')
            options->call_user = optarg;
        else if (c == 'o')
            options->open_files = atoll(optarg);
        else if (c == 'i')
            options->idle_ms = atoll(optarg);
        else if (c == 'D')
            options->is_daemon = true;
        else if (c == 'n')
            options->no_cgroup = true;
        else if (c == 'l')
            options->is_launcher = true;
        else if (c == 'r')
            options->resume_fd = atoi(optarg);
        else if (c == 'g')
            options->guard_fd = atoi(optarg);
        else if (c == 'k')
            options->lock_fd = atoi(optarg);
        else if (c == 'w')
            options->word_fd = atoi(optarg);
        else if (c == 'v')
            serve_print_version("peal-spawn", &spawner_build);
        else if (c == 'c')
            exit(upgrade_knows(atoi(optarg)) ? EXIT_OK : EXIT_TROUBLE);
        else
            usage(c == 'h' ? EXIT_OK : EXIT_USAGE);
    }
    if (!options->folder || optind != argc || options->idle_ms <= 0 || options->open_files < 0 ||
        options->allow_file[0] != '/')
        usage(EXIT_USAGE);
}

/* Creates the folder if it is missing, and returns its absolute path; leaves the current folder, so
 * that it keeps no file system busy. NULL and errno. */
static char *prepare_folder(const char *folder)
{
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return NULL;
    char *path = realpath(folder, NULL);
    return path && chdir("/") == 0 ? path : NULL;
}

/* Closes the memory to debuggers and core dumps, unless the sandbox is off: secrets of jobs pass
 * through it. An exec resets that, so an upgraded image does it again, and jobs are not
 * affected. */
static void close_memory(void)
{
    const char *sandbox = getenv("PEAL_SANDBOX");
    if (!sandbox || strcmp(sandbox, "off") != 0)
        prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv)
{
    serve_keep_standard_fds();
    struct spawner *s = calloc(1, sizeof(*s));
    if (!s)
        return EXIT_TROUBLE;
    parse(argc, argv, &s->options);
    close_memory();
    if (s->options.is_launcher) { /* its second word; the rest are a spawner's options */
        int code = launcher_main(&s->options, argv + 1);
        free(s);
        return code;
    }
    ssize_t length = readlink("/proc/self/exe", s->self_path, sizeof(s->self_path) - 1);
    s->self_path[length > 0 ? length : 0] = '\0';
    char *folder = prepare_folder(s->options.folder);
    if (!folder) {
        serve_log("event=start_failed folder=\"%s\" error=\"%s\"", s->options.folder,
                  strerror(errno));
        free(s);
        return EXIT_TROUBLE;
    }
    s->options.folder = folder;
    if (s->options.guard_fd >= 0) {
        int code = guard_main(&s->options, s->self_path, s->options.guard_fd);
        free(folder);
        free(s);
        return code;
    }
    int word_fd = s->options.word_fd;
    if (s->options.is_daemon)
        word_fd = become_daemon(s);
    s->name = argv[0];
    s->lock_fd = s->keeper.watch.fd = s->keeper.own_fd = -1;
    s->idle.limit_ms = s->options.idle_ms;
    agent_link_init(&s->link, &agent_type, s);
    cgroups_none(&s->cgroups);
    run_table_init(&s->runs);
    heap_init(&s->timers, timer_moved);
    TAILQ_INIT(&s->growing);
    TAILQ_INIT(&s->young);
    TAILQ_INIT(&s->worn);
    TAILQ_INIT(&s->early);

    s->now_boot_ms = clock_now().boot.ms; /* runs are looked at before the first turn, too */
    enum status st = open_all(s);
    enum exit_code code = st == OK ? EXIT_OK : st == E_BUSY ? EXIT_BUSY : EXIT_TROUBLE;
    if (st != OK)
        serve_log("event=start_failed folder=\"%s\" status=\"%s\" error=\"%s\"", s->options.folder,
                  status_text(st), strerror(errno));
    serve_tell_start(word_fd, code);
    if (st == OK) {
        cgroups_prepare(&s->cgroups);
        keeper_start(s);
        life_reap(s); /* children that ended during the exec */
        spawner_loop(s);
        close_all(s);
    }
    free(folder);
    free(s);
    return (int)code;
}
