#include "agent_log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "timestamp.h"

struct agent_log {
    int fd;
    char *path; /* NULL: stderr */
};

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

enum status agent_log_open(const char *path, struct agent_log **ret)
{
    struct agent_log *log = calloc(1, sizeof(*log));
    if (!log)
        return E_NOMEM;
    log->fd = STDERR_FILENO;
    if (path) {
        log->path = strdup(path);
        log->fd = open_file(path);
        if (!log->path || log->fd < 0) {
            agent_log_close(log);
            return E_IO;
        }
    }
    *ret = log;
    return OK;
}

struct agent_log *agent_log_close(struct agent_log *log)
{
    if (!log)
        return NULL;
    if (log->path && log->fd >= 0)
        close(log->fd);
    free(log->path);
    free(log);
    return NULL;
}

void agent_log_reopen(struct agent_log *log)
{
    if (!log->path)
        return;
    int fd = open_file(log->path);
    if (fd < 0) {
        agent_log_event(log, "log_not_reopened", "path=%s", log->path);
        return;
    }
    close(log->fd);
    log->fd = fd;
}

/* Against log injection: text from outside, such as a login name, must not look like further
 * lines. */
static void add_printable(struct strbuf *line, const char *text)
{
    for (; *text; text++)
        strbuf_addc(line, (unsigned char)*text < ' ' || *text == 0x7F ? ' ' : *text);
}

void agent_log_write(void *context, const char *event, const char *particulars)
{
    const struct agent_log *log = context;
    struct now now = clock_now();
    struct strbuf line;
    strbuf_init(&line);
    timestamp_print_utc(now.wall.ms / 1000, &line);
    strbuf_truncate(&line, line.length - 1);
    strbuf_addf(&line, ".%03dZ %s ", (int)(now.wall.ms % 1000), event);
    add_printable(&line, particulars);
    strbuf_addc(&line, '\n');
    /* One write, so that lines of several processes do not mix. A failing log must not stop the
     * agent. */
    if (strbuf_status(&line) == OK && write(log->fd, line.text, line.length) < 0) {
        strbuf_release(&line);
        return;
    }
    strbuf_release(&line);
}

void agent_log_event(struct agent_log *log, const char *event, const char *format, ...)
{
    char particulars[512];
    va_list args;
    va_start(args, format);
    vsnprintf(particulars, sizeof(particulars), format, args);
    va_end(args);
    agent_log_write(log, event, particulars);
}
