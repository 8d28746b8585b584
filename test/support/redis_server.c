#include "redis_server.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"

enum { START_MS = 60000, POLL_MS = 10 };

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "redis_server: %s: %s\n", what, strerror(errno));
    abort();
}

static const char *program(void)
{
    const char *named = getenv("PEAL_REDIS_SERVER");
    return named ? named : "/usr/bin/redis-server";
}

bool redis_server_available(void)
{
    return access(program(), X_OK) == 0;
}

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
}

static void log_path(const struct redis_server *server, char path[128])
{
    snprintf(path, 128, "%s/log-%d", server->folder, server->starts);
}

static _Noreturn void show_log(const struct redis_server *server, const char *what)
{
    char path[128], text[4096];
    log_path(server, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t length = 0;
    if (fd >= 0)
        length = pread(fd, text, sizeof(text), size > 4096 ? size - 4096 : 0);
    fprintf(stderr, "redis_server: %s:\n%.*s\n", what, (int)(length > 0 ? length : 0), text);
    abort();
}

/* ---- commands ---- */

static redisContext *connect_to(const struct redis_server *server)
{
    redisContext *context = redisConnectUnix(server->socket);
    if (context && !context->err)
        return context;
    if (context)
        redisFree(context);
    return NULL;
}

static bool serves(const struct redis_server *server)
{
    redisContext *context = connect_to(server);
    redisReply *reply = context ? redisCommand(context, "PING") : NULL;
    bool is_ready =
        reply && (reply->type == REDIS_REPLY_STATUS ||
                  (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "LOADING", 7) != 0));
    if (reply)
        freeReplyObject(reply);
    if (context)
        redisFree(context);
    return is_ready;
}

void redis_server_tell(const struct redis_server *server, const char *command, char answer[256])
{
    redisContext *context = connect_to(server);
    redisReply *reply = context ? redisCommand(context, command) : NULL;
    if (!reply || reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "redis_server: %s: %s\n", command, reply ? reply->str : "no answer");
        abort();
    }
    if (answer && reply->type == REDIS_REPLY_INTEGER)
        snprintf(answer, 256, "%lld", reply->integer);
    else if (answer)
        snprintf(answer, 256, "%s", reply->str ? reply->str : "");
    freeReplyObject(reply);
    redisFree(context);
}

/* ---- one run of it ---- */

static _Noreturn void run(const struct redis_server *server, pid_t parent)
{
    char log[128], port[16];
    const char *argv[REDIS_OPTIONS_MAX + 24] = {"redis-server",
                                                "--bind",
                                                "127.0.0.1",
                                                "--dir",
                                                server->folder,
                                                "--unixsocket",
                                                server->socket,
                                                "--appendonly",
                                                "yes",
                                                "--appendfsync",
                                                "always",
                                                "--save",
                                                "",
                                                "--port",
                                                port,
                                                "--repl-diskless-sync-delay",
                                                "0"};
    int argc = 17;
    snprintf(port, sizeof(port), "%d", server->port);
    for (int i = 0; i < REDIS_OPTIONS_MAX && server->options[i]; i++)
        argv[argc++] = server->options[i];
    log_path(server, log);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* died before we could ask */
        _exit(126);
    execv(program(), (char **)argv);
    _exit(127);
}

static void start(struct redis_server *server)
{
    pid_t parent = getpid();
    server->starts++;
    server->pid = fork();
    if (server->pid < 0)
        die("fork");
    if (server->pid == 0)
        run(server, parent);
    for (int i = 0; i < START_MS / POLL_MS; i++) {
        if (serves(server))
            return;
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
            show_log(server, "it has ended");
        wait_a_little();
    }
    show_log(server, "it does not serve");
}

void redis_server_start(struct redis_server *server)
{
    snprintf(server->folder, sizeof(server->folder), "/tmp/peal-redis-XXXXXX");
    if (!mkdtemp(server->folder))
        die("mkdtemp");
    snprintf(server->socket, sizeof(server->socket), "%s/socket", server->folder);
    server->port = free_port();
    server->starts = 0;
    start(server);
}

void redis_server_kill(struct redis_server *server)
{
    if (!server->pid)
        return;
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

void redis_server_restart(struct redis_server *server)
{
    redis_server_kill(server);
    start(server);
}

void redis_server_pause(struct redis_server *server)
{
    int status;
    kill(server->pid, SIGSTOP);
    waitpid(server->pid, &status, WUNTRACED);
}

void redis_server_resume(struct redis_server *server)
{
    kill(server->pid, SIGCONT);
}

void redis_server_remove(struct redis_server *server)
{
    char command[96];
    redis_server_kill(server);
    if (!server->folder[0])
        return;
    snprintf(command, sizeof(command), "rm -rf %s", server->folder);
    if (system(command) != 0)
        die(server->folder);
    server->folder[0] = '\0';
}

void redis_server_url(const struct redis_server *server, const char *more, char url[256])
{
    snprintf(url, 256, "redis://127.0.0.1:%d%s", server->port, more);
}
