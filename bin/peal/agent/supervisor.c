#include "supervisor.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The socket's name is a path, or abstract after an @. */
static int connect_to(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof(address.sun_path))
        return -1;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (connect(fd, (struct sockaddr *)&address, size) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Half of what the service manager waits for, if it waits for this process; 0: it does not. */
static int64_t read_watchdog_ms(void)
{
    const char *interval_us = getenv("WATCHDOG_USEC");
    const char *pid = getenv("WATCHDOG_PID");
    char *end = NULL;
    if (!interval_us || (pid && strtoll(pid, NULL, 10) != getpid()))
        return 0;
    errno = 0;
    long long us = strtoll(interval_us, &end, 10);
    return errno || end == interval_us || *end || us < 2000 ? 0 : us / 2000;
}

void supervisor_init(struct supervisor *supervisor)
{
    const char *name = getenv("NOTIFY_SOCKET");
    *supervisor = (struct supervisor){.fd = name ? connect_to(name) : -1};
    if (supervisor->fd >= 0)
        supervisor->watchdog_ms = read_watchdog_ms();
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

/* A full or closed socket loses the message: the service manager has its own time-outs. */
static void tell(const struct supervisor *supervisor, const char *message)
{
    if (supervisor->fd >= 0)
        (void)!send(supervisor->fd, message, strlen(message), MSG_NOSIGNAL);
}

static void on_timer(void *context)
{
    struct supervisor *supervisor = context;
    tell(supervisor, "WATCHDOG=1");
    loop_timer_set(supervisor->timer, supervisor->watchdog_ms);
}

enum status supervisor_start(struct supervisor *supervisor, struct loop *loop)
{
    if (!supervisor->watchdog_ms)
        return OK;
    enum status st = loop_timer_new(loop, on_timer, supervisor, &supervisor->timer);
    if (st == OK)
        on_timer(supervisor);
    return st;
}

void supervisor_ready(const struct supervisor *supervisor, const char *status)
{
    char message[256];
    snprintf(message, sizeof(message), "READY=1\nSTATUS=%s", status);
    tell(supervisor, message);
}

void supervisor_stopping(const struct supervisor *supervisor)
{
    tell(supervisor, "STOPPING=1");
}

void supervisor_release(struct supervisor *supervisor)
{
    supervisor->timer = loop_timer_free(supervisor->timer);
    if (supervisor->fd >= 0)
        close(supervisor->fd);
    supervisor->fd = -1;
}
