#include "postgres_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

enum {
    START_MS = 60000,
    POLL_MS = 10,
    PROCESSES_MAX = 128,
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "postgres_server: %s: %s\n", what, strerror(errno));
    abort();
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
}

/* Debian keeps the programs of each version in /usr/lib/postgresql/VERSION/bin. */
static bool find_programs(char bin[128])
{
    static const char root[] = "/usr/lib/postgresql";
    const char *named = getenv("PEAL_POSTGRES_BIN");
    int newest = 0;
    DIR *folder = named ? NULL : opendir(root);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        newest = atoi(entry->d_name) > newest ? atoi(entry->d_name) : newest;
    if (folder)
        closedir(folder);
    if (named)
        snprintf(bin, 128, "%s", named);
    else
        snprintf(bin, 128, "%s/%d/bin", root, newest);
    return named || newest;
}

bool postgres_server_available(void)
{
    char bin[128];
    return find_programs(bin);
}

/* ---- its processes ---- */

/* PostgreSQL refuses to run as root. */
static const struct passwd *owner(void)
{
    const struct passwd *user = getpwnam("postgres");
    return user ? user : getpwnam("nobody");
}

static void become_owner(void)
{
    const struct passwd *user = owner();
    if (geteuid() != 0)
        return;
    if (!user || setgroups(0, NULL) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0)
        _exit(126);
}

static void log_path(const struct postgres_server *server, char path[128])
{
    snprintf(path, 128, "%s/log-%d", server->folder, server->starts);
}

/* Starts a program of PostgreSQL, as its owner, with its words in the log. */
static pid_t start_program(const struct postgres_server *server, const char *name, char *argv[])
{
    char bin[128], path[192], log[128];
    pid_t parent = getpid();
    find_programs(bin);
    snprintf(path, sizeof(path), "%s/%s", bin, name);
    log_path(server, log);
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid)
        return pid;
    become_owner();
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir(server->folder) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() != parent) /* died before we could ask */
        _exit(126);
    setenv("LC_ALL", "C.UTF-8", 1);
    execv(path, argv);
    _exit(127);
}

static _Noreturn void show_log(const struct postgres_server *server, const char *what)
{
    char path[128], text[4096];
    log_path(server, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t length = 0;
    if (fd >= 0)
        length = pread(fd, text, sizeof(text), size > 4096 ? size - 4096 : 0);
    fprintf(stderr, "postgres_server: %s:\n%.*s\n", what, (int)(length > 0 ? length : 0), text);
    abort();
}

/* Its server processes, each of which is a child of the first. */
static size_t children_of(pid_t pid, pid_t *pids)
{
    char path[64];
    size_t count = 0;
    int child;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "re");
    while (file && count < PROCESSES_MAX && fscanf(file, "%d", &child) == 1)
        pids[count++] = child;
    if (file)
        fclose(file);
    return count;
}

static void signal_all(const struct postgres_server *server, int signal)
{
    pid_t pids[PROCESSES_MAX];
    if (!server->pid)
        return;
    if (signal != SIGCONT) /* the first one first, so that it starts no others */
        kill(server->pid, signal);
    size_t count = children_of(server->pid, pids);
    for (size_t i = 0; i < count; i++)
        kill(pids[i], signal);
    if (signal == SIGCONT)
        kill(server->pid, signal);
}

/* ---- one run of it ---- */

/* The file that says it serves: its eighth line. */
static bool serves(const struct postgres_server *server)
{
    char path[128], line[128];
    bool ready = false;
    snprintf(path, sizeof(path), "%s/data/postmaster.pid", server->folder);
    FILE *file = fopen(path, "re");
    for (int i = 0; file && fgets(line, sizeof(line), file); i++) {
        if (i == 0 && atoi(line) != (int)server->pid)
            break; /* of the one before */
        ready = i == 7 && strncmp(line, "ready", 5) == 0;
    }
    if (file)
        fclose(file);
    return ready;
}

static bool try_start(struct postgres_server *server)
{
    char data[96], port[16], fsync[16];
    server->starts++;
    snprintf(data, sizeof(data), "%s/data", server->folder);
    snprintf(port, sizeof(port), "%d", server->port);
    snprintf(fsync, sizeof(fsync), "fsync=%s", server->is_durable ? "on" : "off");
    char *argv[] = {"postgres",
                    "-D",
                    data,
                    "-h",
                    "127.0.0.1",
                    "-p",
                    port,
                    "-k",
                    server->folder,
                    "-c",
                    fsync,
                    "-c",
                    "shared_buffers=256MB",
                    "-c",
                    "max_connections=40",
                    "-c",
                    "max_wal_size=4GB",
                    "-c",
                    "dynamic_shared_memory_type=mmap",
                    NULL};
    server->pid = start_program(server, "postgres", argv);
    for (int i = 0; i < START_MS / POLL_MS; i++) {
        if (serves(server))
            return true;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
            return false;
        }
        wait_a_little();
    }
    show_log(server, "it does not serve");
}

static void start(struct postgres_server *server)
{
    /* After a kill, the last process of the one before may take a moment to notice. */
    for (int i = 0; i < 50; i++) {
        if (try_start(server))
            return;
        wait_a_little();
    }
    show_log(server, "it does not start");
}

static void wait_for_end(struct postgres_server *server)
{
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

void postgres_server_stop(struct postgres_server *server)
{
    if (!server->pid)
        return;
    signal_all(server, SIGCONT);
    kill(server->pid, SIGINT); /* "fast": ends the sessions, then itself */
    wait_for_end(server);
}

void postgres_server_kill(struct postgres_server *server)
{
    if (!server->pid)
        return;
    signal_all(server, SIGKILL);
    wait_for_end(server);
}

void postgres_server_restart(struct postgres_server *server)
{
    postgres_server_stop(server);
    start(server);
}

void postgres_server_pause(struct postgres_server *server)
{
    signal_all(server, SIGSTOP);
}

void postgres_server_resume(struct postgres_server *server)
{
    signal_all(server, SIGCONT);
}

/* ---- from start to remove ---- */

static void write_password(const struct postgres_server *server)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/password", server->folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, POSTGRES_PASSWORD, strlen(POSTGRES_PASSWORD)) < 0)
        die(path);
    close(fd);
}

static void make_database(struct postgres_server *server)
{
    char data[96], password[128];
    int status;
    write_password(server);
    snprintf(data, sizeof(data), "%s/data", server->folder);
    snprintf(password, sizeof(password), "--pwfile=%s/password", server->folder);
    char *argv[] = {"initdb",
                    "-D",
                    data,
                    "-U",
                    POSTGRES_USER,
                    password,
                    "-A",
                    "scram-sha-256",
                    "-E",
                    "UTF8",
                    "--no-sync",
                    "--locale=C.UTF-8",
                    "--no-instructions",
                    NULL};
    pid_t pid = start_program(server, "initdb", argv);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        show_log(server, "initdb failed");
}

void postgres_server_start(struct postgres_server *server)
{
    const struct passwd *user = owner();
    snprintf(server->folder, sizeof(server->folder), "/tmp/peal-postgres-XXXXXX");
    if (!mkdtemp(server->folder))
        die("mkdtemp");
    if (geteuid() == 0 && (!user || chown(server->folder, user->pw_uid, user->pw_gid) < 0))
        die(server->folder);
    server->port = free_port();
    server->starts = 0;
    make_database(server);
    start(server);
}

void postgres_server_remove(struct postgres_server *server)
{
    char command[96];
    postgres_server_stop(server);
    if (!server->folder[0])
        return;
    snprintf(command, sizeof(command), "rm -rf %s", server->folder);
    if (system(command) != 0)
        die(server->folder);
    server->folder[0] = '\0';
}

void postgres_server_url(const struct postgres_server *server, const char *more, char url[256])
{
    snprintf(url, 256, "postgresql://" POSTGRES_USER ":correct%%20horse@127.0.0.1:%d/postgres?%s",
             server->port, more);
}
