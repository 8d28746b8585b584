#include "crontab/cron_log.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "civil.h"
#include "timestamp.h"

void cron_log_init(struct cron_log *log)
{
    *log = (struct cron_log){.starts = NULL};
}

void cron_log_release(struct cron_log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        free(log->starts[i].user);
        free(log->starts[i].command);
    }
    free(log->starts);
    cron_log_init(log);
}

/* ---- times ---- */

static int find_month(const char *text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++) {
        if (strncmp(text, months + 3 * (size_t)i, 3) == 0)
            return i + 1;
    }
    return 0;
}

/* "Nov 19 18:37:01": its length is 15. */
static bool read_syslog_time(const char *line, const struct zone *zone, int64_t now_s,
                             int64_t *ret_s)
{
    enum { LENGTH = 15, DAY = 86400 };
    char text[32];
    int month = strlen(line) > LENGTH ? find_month(line) : 0;
    if (!month || line[3] != ' ' || line[6] != ' ' || line[9] != ':' || line[12] != ':')
        return false;
    struct civil now = civil_from_seconds(now_s + DAY);
    for (int64_t year = now.year; year > now.year - 5; year--) { /* 29 February may be far */
        snprintf(text, sizeof(text), "%04d-%02d-%c%cT%.8s", (int)year, month,
                 line[4] == ' ' ? '0' : line[4], line[5], line + 7);
        if (timestamp_parse(text, 1, zone, ret_s, NULL) == OK && *ret_s <= now_s + DAY)
            return true;
    }
    return false;
}

/* "2026-11-19T18:37:01.123456+00:00", "2026-11-19T18:37:01+0000" */
static bool read_iso_time(const char *line, const struct zone *zone, int64_t *ret_s)
{
    enum { TO_SECONDS = 19 };
    char text[40];
    if (strlen(line) <= TO_SECONDS || line[4] != '-' || line[10] != 'T')
        return false;
    const char *offset = line + TO_SECONDS;
    if (*offset == '.')
        offset += 1 + strspn(offset + 1, "0123456789");
    size_t length = strcspn(offset, " ");
    bool is_plain = length == 5 && (*offset == '+' || *offset == '-');
    if (length > 6)
        return false;
    if (is_plain)
        snprintf(text, sizeof(text), "%.19s%.3s:%.2s", line, offset, offset + 3);
    else
        snprintf(text, sizeof(text), "%.19s%.*s", line, (int)length, offset);
    return timestamp_parse(text, 1, zone, ret_s, NULL) == OK;
}

/* ---- lines ---- */

/* Behind "CRON[123]: "; NULL: the line is another program's. */
static const char *find_message(const char *line)
{
    static const char *const programs[] = {" CRON[", " CROND[", " cron["};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const char *at = strstr(line, programs[i]);
        const char *end = at ? strstr(at, "]: ") : NULL;
        if (end)
            return end + 3;
    }
    return NULL;
}

static enum status add_start(struct cron_log *log, int64_t at_s, const char *user,
                             size_t user_length, const char *command, size_t length)
{
    enum status st = array_grow(&log->starts, log->count, sizeof(*log->starts));
    if (st != OK)
        return st;
    while (length && isspace((unsigned char)command[length - 1]))
        length--;
    struct cron_start *start = &log->starts[log->count];
    *start = (struct cron_start){at_s, strndup(user, user_length), strndup(command, length)};
    log->count++;
    return start->user && start->command ? OK : E_NOMEM;
}

/* "(root) CMD (run-parts x)" */
static enum status read_line(struct cron_log *log, const char *line, const struct zone *zone,
                             int64_t now_s)
{
    static const char mark[] = ") CMD (";
    const char *message = find_message(line);
    const char *middle = message && *message == '(' ? strstr(message, mark) : NULL;
    size_t length = middle ? strlen(middle + strlen(mark)) : 0;
    int64_t at_s;
    if (!length || middle[strlen(mark) + length - 1] != ')' ||
        !(read_iso_time(line, zone, &at_s) || read_syslog_time(line, zone, now_s, &at_s)))
        return OK;
    return add_start(log, at_s, message + 1, (size_t)(middle - message) - 1, middle + strlen(mark),
                     length - 1);
}

enum status cron_log_read(const char *text, size_t length, const struct zone *zone, int64_t now_s,
                          struct cron_log *ret)
{
    enum status st = OK;
    for (const char *end = text + length; text < end && st == OK;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        char *line = strndup(text, (size_t)(stop - text));
        st = line ? read_line(ret, line, zone, now_s) : E_NOMEM;
        free(line);
        text = newline ? newline + 1 : end;
    }
    return st;
}

static int compare_times(const void *a, const void *b)
{
    const struct cron_start *x = a, *y = b;
    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

void cron_log_sort(struct cron_log *log)
{
    if (!log->count)
        return;
    qsort(log->starts, log->count, sizeof(*log->starts), compare_times);
    log->first_s = log->starts[0].at_s;
    log->last_s = log->starts[log->count - 1].at_s;
}
