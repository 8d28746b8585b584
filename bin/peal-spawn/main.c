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
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "allowed_users.h"
#include "clock.h"
#include "descent.h"
#include "spawn_record.h"
#include "spawner.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_TROUBLE = 1,
    EXIT_USAGE = 2,
    EXIT_BUSY = 3, /* another spawner has this folder */
};

static void signal_ready(struct spawner *s, struct watch *watch, uint32_t events)
{
    (void)events;
    struct signalfd_siginfo info;
    while (read(watch->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP)
            s->wants_upgrade = true;
        if (info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT)
            continue;
        s->is_stopping = true;
        for (struct run *run = run_first(&s->runs); run; run = run_next(run))
            life_stop(s, run, SPAWN_KILLED, SIGTERM, run->grace_ms);
    }
    life_reap(s);
}

static void timer_moved(void *item, uint32_t place)
{
    struct run *run = item;
    run->timer_place = place;
}

static void timer_ready(struct spawner *s, struct watch *watch, uint32_t events)
{
    (void)events;
    uint64_t count;
    if (read(watch->fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
        s->armed_boot_us = 0; /* what is due is looked at in every turn anyway */
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
    return s->signals.fd >= 0 ? spawner_watch(s, &s->signals, EPOLLIN) : E_IO;
}

static enum status open_timer(struct spawner *s)
{
    s->timer = (struct watch){
        .fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK),
        .ready = timer_ready,
    };
    return s->timer.fd >= 0 ? spawner_watch(s, &s->timer, EPOLLIN) : E_IO;
}

/* The folder is only the spawner's: its content is trusted. */
static enum status open_folder(struct spawner *s)
{
    struct stat st;
    s->folder_fd = open(s->options.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->folder_fd < 0 || fstat(s->folder_fd, &st) < 0)
        return E_IO;
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH))) {
        errno = EPERM;
        return E_IO;
    }
    if (mkdirat(s->folder_fd, SPAWN_OUTPUT_FOLDER, 0700) < 0 && errno != EEXIST)
        return E_IO;
    s->output_fd = openat(s->folder_fd, SPAWN_OUTPUT_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    s->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    s->own_fds_fd = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return s->output_fd >= 0 && s->null_fd >= 0 && s->own_fds_fd >= 0 && s->spare_fd >= 0 ? OK
                                                                                          : E_IO;
}

static enum status lock_folder(struct spawner *s)
{
    s->lock_fd = s->options.lock_fd; /* locked already if an earlier spawner of the guard had it */
    if (s->lock_fd < 0)
        s->lock_fd =
            openat(s->folder_fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock_fd < 0 || fcntl(s->lock_fd, F_SETFD, FD_CLOEXEC) < 0)
        return E_IO;
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? E_BUSY : E_IO;
    return OK;
}

/* Through /proc, since the folder's path may be longer than sun_path. */
static enum status listen_in_folder(struct spawner *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SPAWN_SOCKET,
             s->folder_fd);
    unlinkat(s->folder_fd, SPAWN_SOCKET, 0); /* of a dead spawner: the lock is ours */
    s->listener.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->listener.fd < 0 ||
        bind(s->listener.fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        fchmodat(s->folder_fd, SPAWN_SOCKET, 0600, 0) < 0 || listen(s->listener.fd, 8) < 0)
        return E_IO;
    return OK;
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
    umask(077);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    look_at_oom_score(s);
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->listener.ready = agent_accept;
    enum status st = s->epoll_fd >= 0 ? open_folder(s) : E_IO;
    bool resumes = s->options.resume_fd >= 0;
    if (st == OK && !resumes)
        st = lock_folder(s);
    if (st == OK)
        st = open_signals(s);
    if (st == OK)
        st = open_timer(s);
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
            st = listen_in_folder(s);
    }
    if (st == OK)
        st = spawner_watch(s, &s->listener, EPOLLIN);
    launches_init(&s->launches, s->null_fd);
    return st;
}

static void close_all(struct spawner *s)
{
    unlinkat(s->folder_fd, SPAWN_SOCKET, 0);
    journal_close(&s->journal);
    cgroups_release(&s->cgroups);
    causes_release(&s->causes);
    launches_release(&s->launches);
    slots_release(&s->slots);
    run_table_release(&s->runs);
    heap_release(&s->timers);
    tree_release(&s->tree);
    users_release(&s->users);
}

/* The parent waits for the status of the spawner and exits with it, so that the starter knows when
 * it can connect. The child becomes a guard, which starts the spawner. Returns only if it can't,
 * with the descriptor for that status: then it is the spawner itself, without a guard. */
static int become_daemon(const struct spawner *s)
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
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/peal-spawn.log", s->options.folder);
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    dup2(null_fd, 0);
    dup2(null_fd, 1);
    dup2(log_fd >= 0 ? log_fd : null_fd, 2);
    guard_become(&s->options, s->self_path, ends[1]);
    return ends[1];
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

static _Noreturn void print_version(void)
{
    const char *revision = spawner_build.revision;
    printf("peal-spawn %s%s%s%s\n", spawner_build.version, *revision ? " (" : "", revision,
           *revision ? ")" : "");
    exit(EXIT_OK);
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
        .idle_ms = 60000,
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
            print_version();
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

static void keep_standard_fds(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd < 3)
        ;
    if (fd >= 3)
        close(fd);
}

int main(int argc, char **argv)
{
    keep_standard_fds();
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
        spawner_log("event=start_failed folder=\"%s\" error=\"%s\"", s->options.folder,
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
    s->agent.fd = s->listener.fd = s->lock_fd = -1;
    s->cgroups.base_fd = s->cgroups.control_fd = -1;
    run_table_init(&s->runs);
    heap_init(&s->timers, timer_moved);
    TAILQ_INIT(&s->reports);
    TAILQ_INIT(&s->growing);
    TAILQ_INIT(&s->young);
    TAILQ_INIT(&s->early);

    s->now_boot_ms = clock_now().boot.ms; /* runs are looked at before the first turn, too */
    enum status st = open_all(s);
    char code = st == OK ? EXIT_OK : st == E_BUSY ? EXIT_BUSY : EXIT_TROUBLE;
    if (st != OK)
        spawner_log("event=start_failed folder=\"%s\" status=\"%s\" error=\"%s\"",
                    s->options.folder, status_text(st), strerror(errno));
    if (word_fd >= 0 && write(word_fd, &code, 1) == 1)
        close(word_fd);
    if (st == OK) {
        cgroups_prepare(&s->cgroups);
        life_reap(s); /* children that ended during the exec */
        spawner_loop(s);
        close_all(s);
    }
    free(folder);
    free(s);
    return code;
}
