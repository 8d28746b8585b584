#include "spawn_launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "launcher_wire.h"
#include "spawn_launch.h"

enum { ANSWER_WITHIN_S = 5 }; /* usually milliseconds */

struct spawn_launcher {
    int fd;
    pid_t pid;
    uint32_t serial;
};

enum status spawn_launcher_new(const struct spawn_client_config *config,
                               struct spawn_launcher **ret)
{
    struct spawn_launcher *launcher = calloc(1, sizeof(*launcher));
    int ends[2];
    if (!launcher)
        return E_NOMEM;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        free(launcher);
        return E_IO;
    }
    const struct timeval within = {.tv_sec = ANSWER_WITHIN_S};
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &within, sizeof(within));
    setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &within, sizeof(within));
    enum status st = spawn_launch_launcher(config, ends[1], &launcher->pid);
    int error = errno;
    close(ends[1]);
    if (st != OK) {
        close(ends[0]);
        free(launcher);
        errno = error;
        return st;
    }
    launcher->fd = ends[0];
    *ret = launcher;
    return OK;
}

struct spawn_launcher *spawn_launcher_free(struct spawn_launcher *launcher)
{
    if (!launcher)
        return NULL;
    close(launcher->fd); /* tells it to end */
    spawn_launched(launcher->pid, -1);
    free(launcher);
    return NULL;
}

int spawn_launcher_fd(const struct spawn_launcher *launcher)
{
    return launcher->fd;
}

/* The result, or a negative errno; *ret_fd (NULL: none is expected) is the caller's. */
static int32_t ask(struct spawn_launcher *launcher, struct launcher_request *request, int given,
                   int *ret_fd)
{
    struct launcher_answer answer = {0};
    int got;
    ssize_t length;
    request->serial = ++launcher->serial;
    if (!launcher_send(launcher->fd, request, sizeof(*request), given))
        return -errno;
    for (;;) {
        length = launcher_receive(launcher->fd, &answer, sizeof(answer), &got);
        if (length < 0 && errno == EINTR)
            continue;
        if (length != (ssize_t)sizeof(answer) || answer.serial == request->serial)
            break;
        if (got >= 0) /* a late answer to an earlier request */
            close(got);
    }
    if (ret_fd)
        *ret_fd = got;
    else if (got >= 0)
        close(got);
    if (length == (ssize_t)sizeof(answer))
        return answer.result;
    return length < 0 ? -errno : -EPIPE;
}

enum status spawn_launcher_start(struct spawn_launcher *launcher, bool is_call, int *ret_pidfd)
{
    struct launcher_request request = {.question = is_call ? LAUNCHER_CALL : LAUNCHER_START};
    int pidfd;
    int32_t result = ask(launcher, &request, -1, &pidfd);
    if (result == 0 && pidfd >= 0) {
        *ret_pidfd = pidfd;
        return OK;
    }
    if (pidfd >= 0)
        close(pidfd);
    errno = result < 0 ? -result : EPROTO;
    return E_IO;
}

enum descent spawn_launcher_descent(struct spawn_launcher *launcher, int fd, pid_t spawner)
{
    struct launcher_request request = {.question = LAUNCHER_DESCENT, .spawner = spawner};
    int32_t result = ask(launcher, &request, fd, NULL);
    return result == DESCENT_NONE || result == DESCENT_RUN ? (enum descent)result : DESCENT_UNKNOWN;
}
