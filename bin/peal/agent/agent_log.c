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
#include "timestamp.h"

struct agent_log {
    int fd;
    char *path; /* NULL: stderr */
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

/* ---- as JSON ---- */

/* Length of a name with its "=" at the start of the text; 0: none is there. */
static size_t key_length(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length && text[length] == '=' ? length + 1 : 0;
}

/* Length of a value: up to the closing quote, or to the blank before the next name. */
static size_t value_length(const char *text)
{
    size_t at = 0;
    if (*text == '"') {
        const char *end = strchr(text + 1, '"');
        /* Quotes inside are not marked: the last one before a name, or the end, closes it. */
        while (end && end[1] && !(end[1] == ' ' && key_length(end + 2)))
            end = strchr(end + 1, '"');
        return end ? (size_t)(end - text) + 1 : strlen(text);
    }
    while (text[at] && !(text[at] == ' ' && key_length(text + at + 1)))
        at++;
    return at;
}

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
    text += strspn(text, " ");
    while (*text) {
        size_t key = key_length(text);
        strbuf_addc(line, ',');
        add_json_text(line, key ? text : "detail", key ? key - 1 : strlen("detail"));
        strbuf_addc(line, ':');
        text += key;
        size_t length = value_length(text);
        if (is_number(text, length))
            strbuf_add(line, text, length);
        else if (length >= 2 && *text == '"' && text[length - 1] == '"')
            add_json_text(line, text + 1, length - 2);
        else
            add_json_text(line, text, length);
        text += length;
        text += strspn(text, " ");
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

void agent_log_write(void *context, const char *event, const char *particulars)
{
    const struct agent_log *log = context;
    struct strbuf line, told;
    strbuf_init(&line);
    strbuf_init(&told);
    add_printable(&told, particulars);
    if (log->is_json)
        strbuf_adds(&line, "{\"time\":\"");
    add_time(&line);
    strbuf_addf(&line, log->is_json ? "\",\"event\":\"%s\"" : " %s ", event);
    if (log->is_json)
        add_json_particulars(&line, told.text);
    else
        strbuf_adds(&line, told.text);
    strbuf_adds(&line, log->is_json ? "}\n" : "\n");
    /* One write, so that lines of several processes do not mix. A failing log must not stop the
     * agent. */
    if (!told.failed && strbuf_status(&line) == OK && write(log->fd, line.text, line.length) < 0)
        errno = 0; /* there is nowhere to say it */
    strbuf_release(&told);
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
