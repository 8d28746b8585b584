/* Reads a crontab line by line, as crontab(5) says. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "crontab/crontab.h"
#include "definition/job_internal.h"
#include "document/utf8.h"

enum { CRONTAB_BYTES_MAX = 1024 * 1024, CRONTAB_JOBS_MAX = 5000 };

/* Who hears of a job: nothing was said, nobody (an empty MAILTO), or the channel. */
enum mailing { MAILS_AS_USUAL, MAILS_NOBODY, MAILS_CHANNEL };

struct importer {
    const struct crontab_options *options;
    struct zone_db *zones;
    struct crontab *out;
    int line;
    struct job_pairs env; /* set by the lines so far, for the jobs that follow */
    char *shell;          /* NULL: sh */
    char *timezone;       /* NULL: the default */
    char *home;
    int64_t jitter_s;
    char *mail_to;      /* the first MAILTO, which the channel is for; NULL: none yet */
    enum mailing mails; /* of the jobs that follow */
    bool full;          /* the limit of jobs is reached, and noted */
};

void crontab_init(struct crontab *crontab)
{
    *crontab = (struct crontab){.notes = NULL};
}

void crontab_release(struct crontab *crontab)
{
    job_list_release(&crontab->jobs);
    free(crontab->lines);
    free(crontab->notes);
    crontab_init(crontab);
}

const char *crontab_severity_name(enum crontab_severity severity)
{
    static const char *const names[] = {
        [CRONTAB_INFO] = "info", [CRONTAB_WARNING] = "warning", [CRONTAB_ERROR] = "error"};
    return names[severity];
}

static enum status add_note(struct importer *in, int column, enum crontab_severity severity,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

static enum status add_note(struct importer *in, int column, enum crontab_severity severity,
                            const char *format, ...)
{
    struct crontab *out = in->out;
    if (array_grow(&out->notes, out->note_count, sizeof(*out->notes)) != OK)
        return E_NOMEM;
    struct crontab_note *note = &out->notes[out->note_count++];
    *note = (struct crontab_note){.line = in->line, .column = column, .severity = severity};
    va_list args;
    va_start(args, format);
    vsnprintf(note->text, sizeof(note->text), format, args);
    va_end(args);
    return OK;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* A copy without surrounding blanks, and without surrounding quotes if they match. */
static char *unquote(const char *text, size_t length)
{
    while (length && isblank((unsigned char)text[0])) {
        text++;
        length--;
    }
    while (length && isblank((unsigned char)text[length - 1]))
        length--;
    if (length >= 2 && (text[0] == '"' || text[0] == '\'') && text[length - 1] == text[0])
        return strndup(text + 1, length - 2);
    return strndup(text, length);
}

static enum status set_variable(struct job_pairs *env, const char *name, const char *value)
{
    for (size_t i = 0; i < env->count; i++) {
        if (strcmp(env->items[i].name, name) != 0)
            continue;
        char *copy = strdup(value);
        if (!copy)
            return E_NOMEM;
        free(env->items[i].value);
        env->items[i].value = copy;
        return OK;
    }
    return job_pairs_add(env, name, value);
}

static enum status set_zone(struct importer *in, const char *name, const char *value)
{
    const struct zone *zone;
    struct parse_error err = {0};
    enum status st = zone_db_get(in->zones, value, &zone, &err);
    if (st == E_NOMEM)
        return st;
    if (st != OK)
        return add_note(in, 0, CRONTAB_ERROR, "%s: %.180s; the lines below keep the zone before it",
                        name, err.message);
    return job_set_text(&in->timezone, value);
}

static enum status set_delay(struct importer *in, const char *value)
{
    char *end;
    long minutes = strtol(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end || minutes > 24 * 60)
        return add_note(in, 0, CRONTAB_ERROR, "RANDOM_DELAY: \"%.40s\" is not 0 to 1440 minutes",
                        value);
    in->jitter_s = minutes * 60;
    return OK;
}

/* One channel has the addresses of one MAILTO: those of another would read what is not theirs. */
static enum status set_mail(struct importer *in, const char *value)
{
    const char *channel = in->options->mail_channel;
    if (!*value) {
        in->mails = MAILS_NOBODY;
        return OK;
    }
    if (in->mail_to && strcmp(in->mail_to, value) != 0) {
        in->mails = MAILS_AS_USUAL;
        return add_note(in, 0, CRONTAB_WARNING,
                        "MAILTO=%.60s: channel %s is for %.60s; the jobs below do not notify it",
                        value, channel, in->mail_to);
    }
    bool is_new = !in->mail_to;
    in->mails = MAILS_CHANNEL;
    enum status st = job_set_text(&in->mail_to, value);
    return st == OK && is_new
               ? add_note(
                     in, 0, CRONTAB_INFO,
                     "MAILTO=%.60s: the jobs below notify channel %s, which must be there: peal "
                     "channel set %s --type mail --smtp smtp://localhost --from FROM --to %.60s",
                     value, channel, channel, value)
               : st;
}

/* Applies variables that cron interprets; all others go into the environment of the jobs. */
static enum status apply_variable(struct importer *in, const char *name, const char *value)
{
    enum status st = OK;
    if (in->options->mail_channel && strcmp(name, "MAILTO") == 0)
        return set_mail(in, value);
    if (strcmp(name, "MAILTO") == 0 || strcmp(name, "MAILFROM") == 0 ||
        strcmp(name, "CONTENT_TYPE") == 0 || strcmp(name, "CONTENT_TRANSFER_ENCODING") == 0)
        return *value ? add_note(in, 0, CRONTAB_WARNING,
                                 "%s=%.60s: output is kept with each run, not mailed", name, value)
                      : OK;
    if (strcmp(name, "LOGNAME") == 0)
        return add_note(in, 0, CRONTAB_INFO, "LOGNAME can't be changed, here as in cron");
    if (strcmp(name, "RANDOM_DELAY") == 0)
        return set_delay(in, value);
    if (strcmp(name, "CRON_TZ") == 0)
        return set_zone(in, name, value);
    if (strcmp(name, "SHELL") == 0)
        return job_set_text(&in->shell, value);
    if (strcmp(name, "TZ") == 0)
        st = set_zone(in, name, value);
    if (st == OK && strcmp(name, "HOME") == 0)
        st = job_set_text(&in->home, value);
    return st == OK ? set_variable(&in->env, name, value) : st;
}

/* NAME=value, with blanks and quotes as crontab(5) allows. *ret_done: the line sets a variable. */
static enum status read_variable(struct importer *in, const char *at, bool *ret_done)
{
    char *name = NULL, *value = NULL;
    const char *end;
    enum status st = E_NOMEM;
    *ret_done = false;
    if (*at == '"' || *at == '\'') {
        end = strchr(at + 1, *at);
        if (!end)
            return OK;
        end++;
    } else {
        end = at + strcspn(at, "= \t");
        if (!isalpha((unsigned char)*at) && *at != '_')
            return OK;
    }
    const char *equals = skip_blanks(end);
    if (*equals != '=')
        return OK;
    *ret_done = true;
    name = unquote(at, (size_t)(end - at));
    value = unquote(equals + 1, strlen(equals + 1));
    if (name && value && !*name)
        st = add_note(in, 1, CRONTAB_ERROR, "the name of a variable is missing before '='");
    else if (name && value)
        st = apply_variable(in, name, value);
    free(name);
    free(value);
    return st;
}

/* The first unescaped `%` ends the command; each later one is a line end of the input. */
static enum status split_percent(const char *text, char **ret_command, char **ret_input)
{
    struct strbuf parts[2];
    int part = 0;
    strbuf_init(&parts[0]);
    strbuf_init(&parts[1]);
    for (const char *c = text; *c; c++) {
        if (c[0] == '\\' && c[1] == '%')
            strbuf_addc(&parts[part], *++c);
        else if (*c == '%' && part == 1)
            strbuf_addc(&parts[1], '\n');
        else if (*c == '%')
            part = 1;
        else
            strbuf_addc(&parts[part], *c);
    }
    if (parts[1].length && parts[1].text[parts[1].length - 1] != '\n')
        strbuf_addc(&parts[1], '\n'); /* the last line has a line end, too */
    char *command = strbuf_detach(&parts[0]);
    char *input = part == 1 ? strbuf_detach(&parts[1]) : NULL;
    strbuf_release(&parts[1]);
    if (!command || (part == 1 && !input)) {
        free(command);
        free(input);
        return E_NOMEM;
    }
    *ret_command = command;
    *ret_input = input;
    return OK;
}

static bool name_is_taken(const struct crontab *out, const char *name)
{
    for (size_t i = 0; i < out->jobs.count; i++) {
        if (strcmp(out->jobs.items[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* Counts jobs named "backup" or "backup-<number>". */
static size_t count_alike(const struct crontab *out, const char *name)
{
    size_t count = 0, length = strlen(name);
    for (size_t i = 0; i < out->jobs.count; i++) {
        const char *other = out->jobs.items[i]->name;
        if (strncmp(other, name, length) != 0)
            continue;
        const char *rest = other + length;
        count += !*rest || (*rest == '-' && !rest[1 + strspn(rest + 1, "0123456789")]);
    }
    return count;
}

/* "backup", "backup-2", "backup-3" */
static enum status choose_name(const struct importer *in, const char *command, char **ret)
{
    struct strbuf name;
    strbuf_init(&name);
    crontab_job_name(command, &name);
    size_t length = name.length;
    for (size_t n = count_alike(in->out, name.text) + 1;
         name_is_taken(in->out, name.text) && !name.failed; n++) {
        strbuf_truncate(&name, length);
        strbuf_addf(&name, "-%zu", n);
    }
    *ret = strbuf_detach(&name);
    return *ret ? OK : E_NOMEM;
}

/* `shell` jobs run in bash or sh; any other shell becomes part of the command. */
static enum status set_command(const struct importer *in, struct job *job, char *command)
{
    const char *shell = in->shell ? in->shell : "/bin/sh";
    const char *slash = strrchr(shell, '/');
    const char *base = slash ? slash + 1 : shell;
    if (strcmp(base, "sh") == 0 || strcmp(base, "bash") == 0) {
        job->kind = JOB_SHELL;
        job->script = command;
        return OK;
    }
    char **argv = calloc(4, sizeof(*argv));
    if (!argv) {
        free(command);
        return E_NOMEM;
    }
    job->command = argv;
    argv[0] = strdup(shell);
    argv[1] = argv[0] ? strdup("-c") : NULL;
    if (!argv[1]) {
        free(command);
        return E_NOMEM;
    }
    argv[2] = command;
    return OK;
}

/* An empty list excludes the job from the default channels. */
static enum status set_notify(const struct importer *in, struct job *job)
{
    if (in->mails == MAILS_AS_USUAL)
        return OK;
    job->notify.to = calloc(2, sizeof(char *));
    if (!job->notify.to)
        return E_NOMEM;
    return in->mails == MAILS_CHANNEL ? job_set_text(&job->notify.to[0], in->options->mail_channel)
                                      : OK;
}

static enum status set_surroundings(const struct importer *in, struct job *job)
{
    enum status st = OK;
    for (size_t i = 0; i < in->env.count && st == OK; i++)
        st = job_pairs_add(&job->env, in->env.items[i].name, in->env.items[i].value);
    if (st == OK && in->home && in->home[0] == '/')
        st = job_set_text(&job->cwd, in->home);
    const char *zone = in->timezone ? in->timezone : in->options->default_tz;
    if (st == OK)
        st = job_set_text(&job->timezone, zone ? zone : "UTC");
    job->jitter_s = in->jitter_s;
    return st == OK ? set_notify(in, job) : st;
}

static enum status add_job(struct importer *in, struct job *job)
{
    struct job_list *jobs = &in->out->jobs;
    enum status st = array_grow(&jobs->items, jobs->count, sizeof(struct job *));
    if (st == OK)
        st = array_grow(&in->out->lines, jobs->count, sizeof(int));
    if (st != OK)
        return st;
    in->out->lines[jobs->count] = in->line;
    jobs->items[jobs->count++] = job;
    return OK;
}

/* The parts of a line; columns from 1. */
struct parts {
    char *schedule, *user;
    const char *command;
    int schedule_column;
};

/* Cuts the next word off; *ret is NULL at the end of the line. */
static enum status take_word(const char **at, char **ret)
{
    size_t length = strcspn(*at, " \t");
    *ret = NULL;
    if (!length)
        return OK;
    *ret = strndup(*at, length);
    *at = skip_blanks(*at + length);
    return *ret ? OK : E_NOMEM;
}

/* Macro or five fields, user, command. NULL in `schedule`: the line is too short. */
static enum status split_line(const struct importer *in, const char *line, struct parts *parts)
{
    const char *begin = skip_blanks(line);
    begin += *begin == '-'; /* cronie: do not log to syslog */
    const char *at = begin, *end = begin;
    int fields = *begin == '@' ? 1 : 5;
    *parts = (struct parts){.schedule_column = (int)(begin - line) + 1};
    for (int i = 0; i < fields; i++) {
        if (!*at)
            return OK;
        end = at + strcspn(at, " \t");
        at = skip_blanks(end);
    }
    parts->schedule = strndup(begin, (size_t)(end - begin));
    if (!parts->schedule)
        return E_NOMEM;
    enum status st = in->options->system ? take_word(&at, &parts->user) : OK;
    parts->command = at;
    return st;
}

/* An imported job must pass the same checks as a job file. */
static enum status check_fields(struct importer *in, const struct job *job, bool *ret_good)
{
    struct job *again = NULL;
    struct job_error err = {0};
    json_t *value = job_encode_json(job, false);
    if (!value)
        return E_NOMEM;
    enum status st = job_decode_json(value, false, NULL, in->zones, &again, &err);
    json_decref(value);
    job_free(again);
    *ret_good = st == OK;
    if (st == OK || st == E_NOMEM)
        return st;
    return add_note(in, 0, CRONTAB_ERROR, "%s", err.message);
}

/* A schedule may have any white space between its fields, a crontab only blanks and tabs: with
 * another one, such as the end of a line of an old Mac, the two would count different fields. */
static const char *find_control(const char *schedule)
{
    while (*schedule && (*schedule == '\t' || !iscntrl((unsigned char)*schedule)))
        schedule++;
    return *schedule ? schedule : NULL;
}

static enum status check_schedule(struct importer *in, const struct job *job, int column,
                                  bool *ret_good)
{
    struct schedule *schedule = NULL;
    struct parse_error err = {0};
    const char *control = find_control(job->schedules[0]);
    *ret_good = false;
    if (control)
        return add_note(in, column + (int)(control - job->schedules[0]), CRONTAB_ERROR,
                        "a control character; only blanks and tabs separate the fields");
    enum status st = job_schedule_parse(job, 0, true, in->zones, &schedule, &err);
    schedule_free(schedule);
    *ret_good = st == OK;
    if (st == OK || st == E_NOMEM)
        return st;
    return add_note(in, err.column ? column + err.column - 1 : 0, CRONTAB_ERROR, "%s", err.message);
}

static enum status build_job(struct importer *in, struct job *job, const struct parts *parts)
{
    char *command;
    enum status st = split_percent(parts->command, &command, &job->stdin_text);
    if (st != OK)
        return st;
    if ((st = choose_name(in, command, &job->name)) != OK) {
        free(command);
        return st;
    }
    if ((st = set_command(in, job, command)) != OK ||
        (st = job_schedules_add(job, parts->schedule)) != OK)
        return st;
    const char *user = in->options->system ? parts->user : in->options->user;
    if (user && (st = job_set_text(&job->user, user)) != OK)
        return st;
    job->overlap = OVERLAP_ALLOW; /* both as cron does */
    job->catch_up = CATCH_UP_SKIP;
    return set_surroundings(in, job);
}

/* Notes only the first job beyond the limit. */
static enum status note_full(struct importer *in)
{
    if (in->full)
        return OK;
    in->full = true;
    return add_note(in, 0, CRONTAB_ERROR,
                    "more than %d jobs; this one and those below are left out", CRONTAB_JOBS_MAX);
}

static enum status read_job(struct importer *in, const char *line)
{
    struct parts parts;
    struct job *job = NULL;
    bool good = false;
    enum status st = split_line(in, line, &parts);
    if (st != OK)
        goto out;
    int end = (int)strlen(line) + 1;
    if (!parts.schedule)
        st = add_note(in, end, CRONTAB_ERROR, "expected five fields of time and a command");
    else if (in->options->system && !parts.user)
        st = add_note(in, end, CRONTAB_ERROR, "expected a user and a command after the time");
    else if (in->out->jobs.count == CRONTAB_JOBS_MAX)
        st = note_full(in);
    else if (!*parts.command)
        st = add_note(in, end, CRONTAB_ERROR,
                      in->options->system
                          ? "expected a command after the user; is this a user's crontab?"
                          : "expected a command after the time");
    else
        good = true;
    if (st != OK || !good)
        goto out;
    job = job_new();
    st = job ? build_job(in, job, &parts) : E_NOMEM;
    if (st == OK)
        st = check_schedule(in, job, parts.schedule_column, &good);
    if (st == OK && good)
        st = check_fields(in, job, &good);
    if (st == OK && good && (st = add_job(in, job)) == OK)
        job = NULL;
out:
    job_free(job);
    free(parts.schedule);
    free(parts.user);
    return st;
}

static enum status read_line(struct importer *in, const char *line)
{
    const char *at = skip_blanks(line);
    bool done;
    if (!*at || *at == '#')
        return OK;
    enum status st = read_variable(in, at, &done);
    return st == OK && !done ? read_job(in, line) : st;
}

static enum status read_lines(struct importer *in, const char *text, size_t length)
{
    const char *end = text + length;
    enum status st = OK;
    while (text < end && st == OK) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        size_t size = (size_t)(stop - text);
        if (size && text[size - 1] == '\r')
            size--;
        char *line = strndup(text, size);
        if (!line)
            return E_NOMEM;
        in->line++;
        st = read_line(in, line);
        free(line);
        text = newline ? newline + 1 : end;
    }
    return st;
}

enum status crontab_import(const char *text, size_t length, const struct crontab_options *options,
                           struct zone_db *zones, struct crontab *ret, struct parse_error *reterr)
{
    if (length > CRONTAB_BYTES_MAX) {
        parse_error_set(reterr, 0, "the crontab is larger than 1 MiB");
        return E_TOO_LARGE;
    }
    enum status st = utf8_check(text, length, reterr);
    if (st != OK)
        return st;
    struct crontab crontab;
    crontab_init(&crontab);
    struct importer in = {.options = options, .zones = zones, .out = &crontab};
    st = read_lines(&in, text, length);
    if (st == OK)
        *ret = crontab;
    else
        crontab_release(&crontab);
    job_pairs_release(&in.env);
    free(in.shell);
    free(in.timezone);
    free(in.home);
    free(in.mail_to);
    return st;
}
