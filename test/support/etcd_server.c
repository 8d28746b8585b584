#include "etcd_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
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
    START_MS = 30000,
    POLL_MS = 10,
    START_TRIES = 5, /* a port can be taken between its choice and its use */
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "etcd_server: %s: %s\n", what, strerror(errno));
    abort();
}

static const char *program(void)
{
    static const char *const places[] = {"/usr/bin/etcd", "/usr/local/bin/etcd"};
    const char *named = getenv("PEAL_ETCD");
    if (named)
        return named;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

bool etcd_cluster_available(void)
{
    return program() != NULL;
}

static void log_path(const struct etcd_cluster *cluster, int index, char path[160])
{
    snprintf(path, 160, "%s/log-%d-%d", cluster->folder, index, cluster->members[index].starts);
}

static char *read_log(const struct etcd_cluster *cluster, int index)
{
    char path[160];
    struct stat info;
    log_path(cluster, index, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) < 0)
        die(path);
    char *text = calloc(1, (size_t)info.st_size + 1);
    if (!text || read(fd, text, (size_t)info.st_size) < 0)
        die(path);
    close(fd);
    return text;
}

static bool log_has(const struct etcd_cluster *cluster, int index, const char *words)
{
    char *text = read_log(cluster, index);
    bool has = strstr(text, words) != NULL;
    free(text);
    return has;
}

/* ---- one member ---- */

static void initial_cluster(const struct etcd_cluster *cluster, char *to, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < cluster->count; i++)
        length += (size_t)snprintf(to + length, size - length, "%sm%d=http://127.0.0.1:%d",
                                   i ? "," : "", i, cluster->members[i].peer_port);
}

static void exec_member(const struct etcd_cluster *cluster, int index, pid_t parent)
{
    const struct etcd_member *member = &cluster->members[index];
    char name[8], data[96], peer[64], all[256], log[160];
    snprintf(name, sizeof(name), "m%d", index);
    snprintf(data, sizeof(data), "%s/%s", cluster->folder, name);
    snprintf(peer, sizeof(peer), "http://127.0.0.1:%d", member->peer_port);
    initial_cluster(cluster, all, sizeof(all));
    log_path(cluster, index, log);
    const char *own[] = {"--name",
                         name,
                         "--data-dir",
                         data,
                         "--listen-client-urls",
                         member->endpoint,
                         "--advertise-client-urls",
                         member->endpoint,
                         "--listen-peer-urls",
                         peer,
                         "--initial-advertise-peer-urls",
                         peer,
                         "--initial-cluster",
                         all,
                         "--logger",
                         "zap"};
    const char *argv[24 + ETCD_ARGUMENTS_MAX] = {program()};
    size_t count = 1 + sizeof(own) / sizeof(own[0]);
    memcpy(argv + 1, own, sizeof(own));
    if (!cluster->is_durable)
        argv[count++] = "--unsafe-no-fsync";
    for (int i = 0; cluster->arguments[i]; i++)
        argv[count++] = cluster->arguments[i];
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* died before we could ask */
        _exit(126);
    execv(argv[0], (char **)(uintptr_t)argv);
    _exit(127);
}

static void start_member(struct etcd_cluster *cluster, int index)
{
    struct etcd_member *member = &cluster->members[index];
    char log[160];
    pid_t parent = getpid();
    member->starts++;
    log_path(cluster, index, log);
    int fd = open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* so that it is there to be read */
    if (fd < 0)
        die(log);
    close(fd);
    member->pid = fork();
    if (member->pid < 0)
        die("fork");
    if (member->pid == 0)
        exec_member(cluster, index, parent);
}

/* False: it has ended because a port was taken. */
static bool wait_for_member(struct etcd_cluster *cluster, int index)
{
    struct etcd_member *member = &cluster->members[index];
    struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    for (int i = 0; i < START_MS / POLL_MS; i++) {
        if (log_has(cluster, index, "serving client traffic"))
            return true;
        if (waitpid(member->pid, NULL, WNOHANG) == member->pid) {
            member->pid = 0;
            if (log_has(cluster, index, "address already in use"))
                return false;
            break;
        }
        nanosleep(&pause, NULL);
    }
    char *text = read_log(cluster, index);
    size_t length = strlen(text);
    fprintf(stderr, "etcd_server: member %d does not serve:\n%s\n", index,
            text + (length > 4000 ? length - 4000 : 0));
    free(text);
    abort();
}

void etcd_member_kill(struct etcd_cluster *cluster, int index)
{
    struct etcd_member *member = &cluster->members[index];
    if (member->pid == 0)
        return;
    kill(member->pid, SIGKILL);
    waitpid(member->pid, NULL, 0);
    member->pid = 0;
}

void etcd_member_restart(struct etcd_cluster *cluster, int index, bool wait)
{
    etcd_member_kill(cluster, index);
    start_member(cluster, index);
    if (wait && !wait_for_member(cluster, index))
        die("the port of a member was taken while it was down");
}

void etcd_member_signal(struct etcd_cluster *cluster, int index, int signal)
{
    pid_t pid = cluster->members[index].pid;
    if (pid && kill(pid, signal) == 0 && signal == SIGSTOP)
        waitpid(pid, NULL, WUNTRACED); /* until all of its threads have stopped */
}

/* ---- all of them ---- */

static bool start_all(struct etcd_cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++) {
        struct etcd_member *member = &cluster->members[i];
        member->client_port = free_port();
        member->peer_port = free_port();
        snprintf(member->endpoint, sizeof(member->endpoint), "%s://127.0.0.1:%d",
                 cluster->is_tls ? "https" : "http", member->client_port);
        cluster->endpoints[i] = member->endpoint;
    }
    for (int i = 0; i < cluster->count; i++)
        start_member(cluster, i);
    for (int i = 0; i < cluster->count; i++)
        if (!wait_for_member(cluster, i))
            return false;
    return true;
}

static void remove_folder(const char *folder)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command) != 0)
        die(folder);
}

void etcd_cluster_remove(struct etcd_cluster *cluster)
{
    for (int i = 0; i < cluster->count; i++)
        etcd_member_kill(cluster, i);
    if (cluster->folder[0])
        remove_folder(cluster->folder);
    cluster->folder[0] = '\0';
}

void etcd_cluster_start(struct etcd_cluster *cluster)
{
    for (int i = 0; i < START_TRIES; i++) {
        snprintf(cluster->folder, sizeof(cluster->folder), "/tmp/peal-etcd-XXXXXX");
        if (!mkdtemp(cluster->folder))
            die("mkdtemp");
        if (start_all(cluster))
            return;
        etcd_cluster_remove(cluster);
    }
    die("no free ports");
}
