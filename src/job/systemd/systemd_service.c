/* What a service runs, and how, as fields of a job. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "duration.h"
#include "systemd/systemd_build.h"
#include "systemd/time_span.h"

/* Read here, or without a meaning for a job. */
static const char *const known[] = {"Type",
                                    "ExecStart",
                                    "ExecStartPre",
                                    "ExecStartPost",
                                    "User",
                                    "Environment",
                                    "WorkingDirectory",
                                    "Nice",
                                    "UMask",
                                    "TimeoutStartSec",
                                    "TimeoutSec",
                                    "TimeoutStopSec",
                                    "RuntimeMaxSec",
                                    "LimitNOFILE",
                                    "LimitNPROC",
                                    "LimitCORE",
                                    "LimitAS",
                                    "LimitCPU",
                                    "LimitFSIZE",
                                    "SuccessExitStatus",
                                    "SyslogIdentifier",
                                    "StandardOutput",
                                    "StandardError",
                                    "EnvironmentFile",
                                    "RemainAfterExit",
                                    "Restart",
                                    "RestartSec",
                                    "ExecStop",
                                    "ExecStopPost",
                                    "ExecCondition",
                                    "ExecReload",
                                    NULL};

/* Ordering alone means nothing to a job that has a time. */
static const char *const known_of_unit[] = {
    "Description", "Documentation",       "After",      "Before",
    "Wants",       "DefaultDependencies", "SourcePath", NULL};

static const struct unit_line *get(const struct systemd_timer *timer, const char *name)
{
    return unit_get(timer->service, "Service", name);
}

static enum status set_text(json_t *definition, const char *name, const char *text)
{
    return systemd_set(definition, name, json_string(text));
}

/* The value of a line with its specifiers replaced. *ret is the caller's; NULL: an error was
 * noted. */
static enum status expand(struct systemd_build *build, struct systemd_timer *timer,
                          const struct unit_line *line, char **ret)
{
    struct strbuf text;
    struct parse_error err = {0};
    strbuf_init(&text);
    enum status st = unit_specifiers(line->value, &timer->names, &text, &err);
    *ret = NULL;
    if (st == OK && !(*ret = strbuf_detach(&text)))
        st = E_NOMEM;
    strbuf_release(&text);
    return st == E_INVALID ? systemd_fail(build, timer, line, &err) : st;
}

/* ---- environment ---- */

static enum status add_variable(struct systemd_build *build, struct systemd_timer *timer,
                                const struct unit_line *line, char *word, json_t *env)
{
    char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return systemd_note(build, timer, line, FOREIGN_WARNING,
                            "\"%.60s\" is not of the form NAME=value, and is left out", word);
    *equals = '\0';
    return json_object_set_new(env, word, json_string(equals + 1)) == 0 ? OK : E_NOMEM;
}

static enum status add_variables(struct systemd_build *build, struct systemd_timer *timer,
                                 const struct unit_line *line, json_t *env)
{
    const char *at = line->value;
    struct strbuf word;
    struct parse_error err = {0};
    bool is_any = true;
    enum status st = OK;
    strbuf_init(&word);
    while (st == OK && is_any) {
        strbuf_reset(&word);
        st = unit_word(line->value, &at, &timer->names, &word, &is_any, &err);
        if (st == OK && is_any)
            st = add_variable(build, timer, line, word.text, env);
    }
    strbuf_release(&word);
    return st == E_INVALID ? systemd_fail(build, timer, line, &err) : st;
}

static enum status set_env(struct systemd_build *build, struct systemd_timer *timer,
                           json_t *definition)
{
    json_t *env = json_object();
    const struct unit_line *line;
    enum status st = env ? OK : E_NOMEM;
    for (size_t at = 0;
         st == OK && (line = unit_next(timer->service, "Service", "Environment", &at));)
        st = add_variables(build, timer, line, env);
    for (size_t at = 0;
         st == OK && (line = unit_next(timer->service, "Service", "EnvironmentFile", &at));)
        st =
            systemd_note(build, timer, line, FOREIGN_WARNING,
                         "EnvironmentFile=%.80s is not read: give the job its variables as env, or "
                         "as secrets",
                         line->value);
    if (st == OK && json_object_size(env))
        st = systemd_set(definition, "env", json_incref(env));
    json_decref(env);
    return st;
}

/* ---- user and folder ---- */

static enum status set_user(struct systemd_build *build, struct systemd_timer *timer,
                            json_t *definition)
{
    const struct unit_line *line = get(timer, "User");
    char *user = NULL;
    if (!line)
        return build->options->user ? set_text(definition, "user", build->options->user) : OK;
    enum status st = expand(build, timer, line, &user);
    if (st == OK && user)
        st = set_text(definition, "user", user);
    free(user);
    return st;
}

/* systemd starts in /, a user's manager in the home of its user, as peal does. */
static enum status set_folder(struct systemd_build *build, struct systemd_timer *timer,
                              json_t *definition)
{
    const struct unit_line *line = get(timer, "WorkingDirectory");
    char *folder = NULL;
    if (!line)
        return build->options->is_user ? OK : set_text(definition, "cwd", "/");
    enum status st = expand(build, timer, line, &folder);
    if (st == OK && folder && strcmp(folder, "~") != 0 && strcmp(folder, "-~") != 0)
        st = set_text(definition, "cwd", folder + (*folder == '-'));
    if (st == OK && folder && *folder == '-' && strcmp(folder, "-~") != 0)
        st = systemd_note(build, timer, line, FOREIGN_WARNING,
                          "'-' is left out: a run whose directory is missing fails");
    free(folder);
    return st;
}

/* ---- times ---- */

/* How long it may run: of a oneshot, whose start is all there is of it, TimeoutStartSec. */
static enum status set_times(struct systemd_build *build, struct systemd_timer *timer,
                             json_t *definition)
{
    const struct unit_line *type = get(timer, "Type"), *both = get(timer, "TimeoutSec");
    const struct unit_line *start = get(timer, "TimeoutStartSec"),
                           *stop = get(timer, "TimeoutStopSec");
    bool is_oneshot = type && strcmp(type->value, "oneshot") == 0;
    const struct unit_line *line = !is_oneshot ? get(timer, "RuntimeMaxSec") : start ? start : both;
    int64_t seconds = -1;
    enum status st = line ? systemd_seconds(build, timer, line, &seconds) : OK;
    if (st == OK && seconds > 0)
        st = systemd_set_seconds(definition, "timeout", seconds);
    line = stop ? stop : both;
    seconds = -1;
    if (st == OK && line)
        st = systemd_seconds(build, timer, line, &seconds);
    if (st == OK && seconds > 86400)
        return systemd_note(build, timer, line, FOREIGN_WARNING,
                            "the grace period of a job is a day at most: 1d is taken");
    return st == OK && seconds >= 0 ? systemd_set_seconds(definition, "grace", seconds) : st;
}

/* ---- limits ---- */

/* "1024", "1G", "infinity", or both limits with ":" between them, of which the first one counts.
 * -1: no limit; -2: it can't be read. */
static int64_t read_limit(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    if (strncmp(text, "infinity", 8) == 0)
        return -1;
    long long value = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || value < 0 || value > INT32_MAX * INT64_C(1024))
        return -2;
    for (const char *each = units; unit && each <= unit; each++)
        value *= 1024;
    end += unit != NULL;
    return *end && *end != ':' ? -2 : value;
}

static enum status set_limit(struct systemd_build *build, struct systemd_timer *timer,
                             const char *theirs, const char *ours, json_t *limits)
{
    const struct unit_line *line = get(timer, theirs);
    if (!line)
        return OK;
    int64_t value = read_limit(line->value);
    if (value == -1)
        return OK;
    if (value < 0 || value > INT64_C(1) << 50)
        return systemd_note(build, timer, line, FOREIGN_WARNING, "%s=%.60s is not converted",
                            theirs, line->value);
    return systemd_set(limits, ours, json_integer(value));
}

static enum status set_limits(struct systemd_build *build, struct systemd_timer *timer,
                              json_t *definition)
{
    static const struct {
        const char *theirs, *ours;
    } rows[] = {{"LimitNOFILE", "open_files"},
                {"LimitNPROC", "processes"},
                {"LimitCORE", "core"},
                {"LimitAS", "memory"},
                {"LimitFSIZE", "file_size"}};
    json_t *limits = json_object();
    const struct unit_line *line = get(timer, "LimitCPU");
    int64_t seconds = -1;
    enum status st = limits ? OK : E_NOMEM;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && st == OK; i++)
        st = set_limit(build, timer, rows[i].theirs, rows[i].ours, limits);
    if (st == OK && line)
        st = systemd_seconds(build, timer, line, &seconds);
    if (st == OK && seconds > 0)
        st = systemd_set_seconds(limits, "cpu_time", seconds);
    if (st == OK && json_object_size(limits))
        st = systemd_set(definition, "limits", json_incref(limits));
    json_decref(limits);
    return st;
}

static enum status set_numbers(struct systemd_build *build, struct systemd_timer *timer,
                               json_t *definition)
{
    const struct unit_line *nice = get(timer, "Nice"), *mask = get(timer, "UMask");
    char *end;
    long value = nice ? strtol(nice->value, &end, 10) : 0;
    enum status st = OK;
    if (nice && (*end || value < -20 || value > 19))
        st = systemd_note(build, timer, nice, FOREIGN_WARNING, "%s=%.60s is not converted",
                          nice->name, nice->value);
    else if (value)
        st = systemd_set(definition, "nice", json_integer(value));
    if (st == OK && mask && strcmp(mask->value, "0022") != 0)
        st = set_text(definition, "umask", mask->value);
    return st;
}

/* Numbers of a list become further good exit codes; 0 is always good. */
static enum status set_success(struct systemd_build *build, struct systemd_timer *timer,
                               json_t *definition)
{
    const struct unit_line *line;
    json_t *codes = json_pack("[s]", "0");
    enum status st = codes ? OK : E_NOMEM;
    for (size_t at = 0;
         st == OK && (line = unit_next(timer->service, "Service", "SuccessExitStatus", &at));) {
        for (const char *word = line->value; st == OK && *word; word += strspn(word, " \t")) {
            size_t length = strcspn(word, " \t"), digits = strspn(word, "0123456789");
            if (digits == length && length < 4)
                st = json_array_append_new(codes, json_stringn(word, length)) == 0 ? OK : E_NOMEM;
            else
                st = systemd_note(build, timer, line, FOREIGN_WARNING, "%s=%.60s is not converted",
                                  line->name, word);
            word += length;
        }
    }
    if (st == OK && json_array_size(codes) > 1)
        st = systemd_set(definition, "expect", json_pack("{s:O}", "exit", codes));
    json_decref(codes);
    return st;
}

/* ---- what is lost ---- */

static bool is_journal(const char *value)
{
    static const char *const same[] = {"journal", "inherit", "syslog", "kmsg", "tty"};
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        if (strncmp(value, same[i], strlen(same[i])) == 0)
            return true;
    }
    return false;
}

static enum status note_output(struct systemd_build *build, struct systemd_timer *timer)
{
    static const char *const names[] = {"StandardOutput", "StandardError"};
    enum status st = OK;
    for (int i = 0; i < 2 && st == OK; i++) {
        const struct unit_line *line = get(timer, names[i]);
        if (line && !is_journal(line->value))
            st = systemd_note(build, timer, line, FOREIGN_WARNING,
                              "%s=%.60s: output is kept with each run instead", names[i],
                              line->value);
    }
    return st;
}

static enum status note_losses(struct systemd_build *build, struct systemd_timer *timer)
{
    const struct unit_line *restart = get(timer, "Restart"), *type = get(timer, "Type");
    const struct unit_line *stays = get(timer, "RemainAfterExit"), *line;
    static const char *const hooks[] = {"ExecCondition", "ExecStop", "ExecStopPost"};
    enum status st = note_output(build, timer);
    if (st == OK && restart && strcmp(restart->value, "no") != 0)
        st = systemd_note(build, timer, restart, FOREIGN_WARNING,
                          "Restart=%.30s is not converted: set the job's retries", restart->value);
    if (st == OK && type && strcmp(type->value, "forking") == 0)
        st = systemd_note(build, timer, type, FOREIGN_WARNING,
                          "Type=forking: a run ends with its first process, and what that leaves "
                          "behind is killed; start the program in the foreground");
    if (st == OK && unit_is_true(stays))
        st = systemd_note(build, timer, stays, FOREIGN_WARNING,
                          "RemainAfterExit=yes: systemd runs it once only, peal at every tick");
    for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
        for (size_t at = 0;
             st == OK && (line = unit_next(timer->service, "Service", hooks[i], &at));)
            st = systemd_note(build, timer, line, FOREIGN_WARNING,
                              "%s= is not converted: make it part of the command", hooks[i]);
    }
    return st;
}

static enum status set_notes(struct systemd_timer *timer, json_t *definition)
{
    const struct unit_line *line = unit_get(timer->service, "Unit", "Description");
    if (!line)
        line = unit_get(timer->timer, "Unit", "Description");
    return line && strlen(line->value) < 1000 ? set_text(definition, "notes", line->value) : OK;
}

enum status systemd_set_service(struct systemd_build *build, struct systemd_timer *timer,
                                json_t *definition)
{
    static enum status (*const parts[])(struct systemd_build *, struct systemd_timer *,
                                        json_t *) = {systemd_set_command, set_env,    set_user,
                                                     set_folder,          set_times,  set_limits,
                                                     set_numbers,         set_success};
    enum status st = OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && st == OK && !timer->is_lost; i++)
        st = parts[i](build, timer, definition);
    if (st == OK && !timer->is_lost)
        st = set_notes(timer, definition);
    if (st == OK && !timer->is_lost)
        st = note_losses(build, timer);
    if (st == OK && !timer->is_lost)
        st = systemd_note_rest(build, timer, timer->service, "Service", known);
    if (st == OK && !timer->is_lost)
        st = systemd_note_rest(build, timer, timer->service, "Unit", known_of_unit);
    return st;
}
