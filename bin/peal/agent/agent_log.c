#include "agent_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "document/json_quote.h"
#include "log/journal.h"
#include "log/particulars.h"
#include "timestamp.h"

struct agent_log {
    int fd;
    char *path;  /* NULL: stderr */
    int journal; /* where stderr leads to; -1: not to one, or lines are wanted */
    bool is_json;
};

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

enum status agent_log_open(const char *path, bool is_json, struct agent_log **ret)
{
    struct agent_log *log = calloc(1, sizeof(*log));
    if (!log)
        return E_NOMEM;
    log->fd = STDERR_FILENO;
    log->is_json = is_json;
    log->journal = -1;
    if (path) {
        log->path = strdup(path);
        log->fd = open_file(path);
        if (!log->path || log->fd < 0) {
            agent_log_close(log);
            return E_IO;
        }
    } else if (!is_json) {
        log->journal = journal_connect(JOURNAL_SOCKET, getenv("JOURNAL_STREAM"), STDERR_FILENO);
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
    if (log->journal >= 0)
        close(log->journal);
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

/* ---- as JSON ---- */

static bool is_number(const char *text, size_t length)
{
    size_t sign = length && *text == '-';
    return length > sign && length < 16 && strspn(text + sign, "0123456789") >= length - sign &&
           (text[sign] != '0' || length == sign + 1);
}

/* A value that is not UTF-8 has lost what is not ASCII. */
static void add_json_text(struct strbuf *line, const char *text, size_t length)
{
    struct strbuf part;
    strbuf_init(&part);
    strbuf_add(&part, text, length);
    if (!json_quote(line, part.text)) {
        for (char *at = part.text; *at; at++)
            *at = (unsigned char)*at >= 0x80 ? '?' : *at;
        line->failed |= !json_quote(line, part.text);
    }
    line->failed |= part.failed;
    strbuf_release(&part);
}

/* What has no name is the "detail". */
static void add_json_particulars(struct strbuf *line, const char *text)
{
    struct particular one;
    while (particulars_next(&text, &one)) {
        strbuf_addc(line, ',');
        add_json_text(line, one.key ? one.key : "detail",
                      one.key ? one.key_length : strlen("detail"));
        strbuf_addc(line, ':');
        if (!one.is_quoted && is_number(one.value, one.value_length))
            strbuf_add(line, one.value, one.value_length);
        else
            add_json_text(line, one.value, one.value_length);
    }
}

/* ---- a line ---- */

static void add_time(struct strbuf *line)
{
    struct now now = clock_now();
    timestamp_print_utc(now.wall.ms / 1000, line);
    strbuf_truncate(line, line->length - 1);
    strbuf_addf(line, ".%03dZ", (int)(now.wall.ms % 1000));
}

/* `told` has no control characters. */
static void write_line(const struct agent_log *log, const char *event, const char *told)
{
    struct strbuf line;
    strbuf_init(&line);
    if (log->is_json)
        strbuf_adds(&line, "{\"time\":\"");
    add_time(&line);
    strbuf_addf(&line, log->is_json ? "\",\"event\":\"%s\"" : " %s ", event);
    if (log->is_json)
        add_json_particulars(&line, told);
    else
        strbuf_adds(&line, told);
    strbuf_adds(&line, log->is_json ? "}\n" : "\n");
    /* One write, so that lines of several processes do not mix. A failing log must not stop the
     * agent. */
    if (strbuf_status(&line) == OK && write(log->fd, line.text, line.length) < 0)
        errno = 0; /* there is nowhere to say it */
    strbuf_release(&line);
}

void agent_log_write(void *context, const char *event, const char *particulars)
{
    const struct agent_log *log = context;
    struct strbuf told;
    strbuf_init(&told);
    add_printable(&told, particulars);
    bool is_told = log->journal >= 0 && journal_send(log->journal, event, told.text);
    if (!is_told && strbuf_status(&told) == OK)
        write_line(log, event, told.text);
    strbuf_release(&told);
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
