#include "mongo_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

enum {
    START_MS = 60000,
    POLL_MS = 10,
    ARGS_MAX = 24,
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "mongo_server: %s: %s\n", what, strerror(errno));
    abort();
}

/* ---- the program ---- */

struct program {
    char path[256];
    bool is_mongod;
};

static bool find_program(struct program *ret)
{
    static const char *const mongods[] = {"/usr/bin/mongod", "/usr/local/bin/mongod"};
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    for (size_t i = 0; i < sizeof(mongods) / sizeof(mongods[0]); i++) {
        snprintf(ret->path, sizeof(ret->path), "%s", mongods[i]);
        ret->is_mongod = true;
        if (access(ret->path, X_OK) == 0)
            return true;
    }
    ret->is_mongod = false;
    if (cache && *cache)
        snprintf(ret->path, sizeof(ret->path), "%s/peal/ferretdb", cache);
    else
        snprintf(ret->path, sizeof(ret->path), "%s/.cache/peal/ferretdb", home ? home : "/root");
    return access(ret->path, X_OK) == 0;
}

bool mongo_server_available(void)
{
    struct program program;
    return find_program(&program);
}

/* ---- its arguments ---- */

struct arguments {
    char text[ARGS_MAX][256];
    char *argv[ARGS_MAX + 1];
    int count;
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *to, const char *format, ...)
{
    va_list args;
    if (to->count == ARGS_MAX)
        die("too many arguments");
    va_start(args, format);
    vsnprintf(to->text[to->count], sizeof(to->text[0]), format, args);
    va_end(args);
    to->argv[to->count] = to->text[to->count];
    to->argv[++to->count] = NULL;
}

static void add_mongod(struct arguments *to, const struct mongo_server *server)
{
    add(to, "--dbpath=%s/data", server->folder);
    add(to, "--bind_ip=127.0.0.1");
    add(to, "--port=%d", server->port);
    add(to, "--nounixsocket");
    if (!server->cert_file)
        return;
    add(to, "--tlsMode=requireTLS");
    add(to, "--tlsCertificateKeyFile=%s/server.pem", server->folder);
}

static void add_ferretdb(struct arguments *to, const struct mongo_server *server)
{
    add(to, "--handler=sqlite");
    add(to, "--sqlite-url=file:%s/data/", server->folder);
    add(to, "--state-dir=%s", server->folder);
    add(to, "--telemetry=disable");
    add(to, "--debug-addr=-");
    add(to, "--log-level=error");
    if (server->has_users) {
        add(to, "--test-enable-new-auth");
        add(to, "--setup-username=%s", MONGO_USER);
        add(to, "--setup-password=%s", MONGO_PASSWORD);
        add(to, "--setup-database=admin");
    }
    if (server->cert_file) {
        add(to, "--listen-addr=");
        add(to, "--listen-tls=127.0.0.1:%d", server->port);
        add(to, "--listen-tls-cert-file=%s", server->cert_file);
        add(to, "--listen-tls-key-file=%s", server->key_file);
    } else {
        add(to, "--listen-addr=127.0.0.1:%d", server->port);
    }
}

/* ---- one run of it ---- */

static void start_program(struct mongo_server *server)
{
    struct program program;
    struct arguments arguments = {.count = 0};
    pid_t parent = getpid();
    find_program(&program);
    add(&arguments, "%s", program.path);
    (program.is_mongod ? add_mongod : add_ferretdb)(&arguments, server);
    server->pid = fork();
    if (server->pid < 0)
        die("fork");
    if (server->pid)
        return;
    char log[96];
    snprintf(log, sizeof(log), "%s/log", server->folder);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 || chdir(server->folder) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* died before we could ask */
        _exit(126);
    execv(program.path, arguments.argv);
    _exit(127);
}

static bool answers(const struct mongo_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool there = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
    if (fd >= 0)
        close(fd);
    return there;
}

static _Noreturn void show_log(const struct mongo_server *server)
{
    char path[96], text[4096];
    snprintf(path, sizeof(path), "%s/log", server->folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text));
    fprintf(stderr, "mongo_server: it does not serve:\n%.*s\n", (int)(length > 0 ? length : 0),
            text);
    abort();
}

static void start(struct mongo_server *server)
{
    start_program(server);
    for (int i = 0; i < START_MS / POLL_MS; i++) {
        if (answers(server))
            return;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
            break;
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
    show_log(server);
}

static void end(struct mongo_server *server, int signal)
{
    if (!server->pid)
        return;
    kill(server->pid, signal);
    kill(server->pid, SIGCONT);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

void mongo_server_stop(struct mongo_server *server)
{
    end(server, SIGTERM);
}

void mongo_server_kill(struct mongo_server *server)
{
    end(server, SIGKILL);
}

void mongo_server_restart(struct mongo_server *server)
{
    mongo_server_kill(server); /* in order, it would wait for its clients to go */
    start(server);
}

void mongo_server_pause(struct mongo_server *server)
{
    kill(server->pid, SIGSTOP);
}

void mongo_server_resume(struct mongo_server *server)
{
    kill(server->pid, SIGCONT);
}

/* ---- from start to remove ---- */

void mongo_server_start(struct mongo_server *server)
{
    struct program program;
    char data[96];
    snprintf(server->folder, sizeof(server->folder), "/tmp/peal-mongo-XXXXXX");
    if (!mkdtemp(server->folder))
        die("mkdtemp");
    snprintf(data, sizeof(data), "%s/data", server->folder);
    if (mkdir(data, 0700) < 0)
        die(data);
    server->is_mongod = find_program(&program) && program.is_mongod;
    server->has_users = !server->is_mongod;
    server->port = free_port();
    if (server->cert_file) /* mongod wants certificate and key in one file */
        run_command("cat '%s' '%s' >%s/server.pem", server->cert_file, server->key_file,
                    server->folder);
    start(server);
}

void mongo_server_remove(struct mongo_server *server)
{
    mongo_server_kill(server);
    if (!server->folder[0])
        return;
    run_command("rm -rf %s", server->folder);
    server->folder[0] = '\0';
}

void mongo_server_url(const struct mongo_server *server, const char *database, const char *more,
                      char url[512])
{
    snprintf(url, 512, "mongodb://%s127.0.0.1:%d/%s?%s%s",
             server->has_users ? MONGO_USER ":correct%20horse@" : "", server->port, database,
             server->has_users ? "authSource=admin&" : "", more);
}
