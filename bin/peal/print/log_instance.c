#include "print/log_instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/terminal.h"
#include "cli/when.h"
#include "print/log_print.h"
#include "print/run_table.h"
#include "text/tr.h"

enum { PREFIX_SIZE = 128, RUNS_MAX = 20000 };

/* A run of a step, of which something was printed. */
struct step_log {
    char run_id[40];
    char prefix[PREFIX_SIZE];
    struct log_printer printer;
    bool is_over; /* and that was told */
};

struct step_logs {
    struct step_log *items;
    size_t count;
    int width;    /* of the names, so far */
    bool is_away; /* the agent did not answer */
};

bool run_is_of_workflow(const json_t *run)
{
    const char *instance = answer_text(run, "instance");
    return *instance && strcmp(instance, answer_text(run, "run_id")) == 0;
}

bool job_is_workflow(const json_t *job)
{
    return json_array_size(json_object_get(job, "steps")) > 0;
}

/* ---- one step ---- */

static struct step_log *find_log(struct step_logs *logs, const char *run_id)
{
    for (size_t i = logs->count; i-- > 0;)
        if (strcmp(logs->items[i].run_id, run_id) == 0)
            return &logs->items[i];
    return NULL;
}

static struct step_log *add_log(struct step_logs *logs, const json_t *run, bool timestamps)
{
    static const int colours[] = {36, 33, 35, 32, 34};
    const char *step = answer_text(run, "step");
    unsigned sum = 0;
    if (array_grow(&logs->items, logs->count, sizeof(*logs->items)) != OK)
        return NULL;
    struct step_log *log = &logs->items[logs->count++];
    *log = (struct step_log){.printer.timestamps = timestamps};
    snprintf(log->run_id, sizeof(log->run_id), "%s", answer_text(run, "run_id"));
    for (const char *c = step; *c && *c != '['; c++)
        sum = sum * 31 + (unsigned char)*c;
    if (terminal_of(stdout).colour)
        snprintf(log->prefix, sizeof(log->prefix), "\033[%dm%-*.80s |\033[0m ", colours[sum % 5],
                 logs->width, step);
    else
        snprintf(log->prefix, sizeof(log->prefix), "%-*.80s | ", logs->width, step);
    return log;
}

static void tell_end(const json_t *run)
{
    struct strbuf text;
    strbuf_init(&text);
    run_end(run, &text);
    fprintf(stderr, tr("%s: %s"), answer_text(run, "step"), text.length ? text.text : "");
    fputc('\n', stderr);
    strbuf_release(&text);
}

/* What is new of a run; nothing before it has begun. */
static enum exit_code look_at(struct client *client, const struct instance_watch *watch,
                              struct step_logs *logs, const json_t *run)
{
    struct step_log *log = find_log(logs, answer_text(run, "run_id"));
    bool is_over = run_is_settled(run), has_begun = answer_time(run, "started_at") != NO_TIME;
    if (log && log->is_over)
        return EXIT_OK;
    if (!log && !has_begun && !is_over)
        return EXIT_OK;
    if (!log && !(log = add_log(logs, run, watch->timestamps)))
        return cli_fail(E_NOMEM);
    enum exit_code code = EXIT_OK;
    log->printer.prefix = log->prefix; /* the array may have moved */
    if (watch->with_output && has_begun)
        code = log_print_more(client, log->run_id, &log->printer, NULL);
    if (code == EXIT_OK && is_over && watch->follow)
        tell_end(run);
    log->is_over = is_over;
    return code;
}

/* ---- all of them ---- */

/* By their starts, which are texts that sort by time; those that have not begun come first. */
static int by_start(const void *a, const void *b)
{
    const json_t *const *one = a, *const *other = b;
    int order = strcmp(answer_text(*one, "started_at"), answer_text(*other, "started_at"));
    return order ? order : strcmp(answer_text(*one, "run_id"), answer_text(*other, "run_id"));
}

static enum exit_code look_at_all(struct client *client, const struct instance_watch *watch,
                                  struct step_logs *logs, const json_t *runs)
{
    size_t count = json_array_size(runs), i;
    const json_t **sorted = calloc(count + 1, sizeof(*sorted));
    enum exit_code code = sorted ? EXIT_OK : cli_fail(E_NOMEM);
    for (i = 0; sorted && i < count; i++) {
        sorted[i] = json_array_get(runs, i);
        int width = (int)strlen(answer_text(sorted[i], "step"));
        logs->width = width > logs->width && width <= 24 ? width : logs->width;
    }
    if (sorted)
        qsort(sorted, count, sizeof(const json_t *), by_start);
    for (i = 0; code == EXIT_OK && i < count; i++)
        if (*answer_text(sorted[i], "step"))
            code = look_at(client, watch, logs, sorted[i]);
    free(sorted);
    return code;
}

static enum exit_code read_runs(struct client *client, const char *run_id, json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?");
    url_param(&path, "instance", run_id);
    enum exit_code code = client_list(client, path.text, RUNS_MAX, ret);
    strbuf_release(&path);
    return code;
}

/* Who follows it is quiet while the agent is away, and keeps what was there before. */
static enum exit_code read_instance(struct client *client, const struct instance_watch *watch,
                                    struct step_logs *logs, json_t **ret)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    struct client_request request = {.path = run_path(&path, watch->run_id, "")};
    enum status st = client_try(client, &request, &reply);
    bool is_away = st == E_UNREACHABLE || st == E_UNKNOWN || (st == OK && reply.status >= 502);
    enum exit_code code = EXIT_OK;
    if (!is_away || !watch->follow)
        code = client_report(client, st, &reply);
    else if (!logs->is_away)
        cli_note("the agent does not answer; waiting for it");
    if (!is_away && logs->is_away)
        cli_note("the agent is back");
    logs->is_away = is_away;
    if (code == EXIT_OK && !is_away) {
        json_decref(*ret);
        *ret = json_incref(reply.body);
    }
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

/* The instance is read before its steps: once it is over, so are they. */
static enum exit_code look(struct client *client, const struct instance_watch *watch,
                           struct step_logs *logs, json_t **ret)
{
    json_t *runs = NULL;
    enum exit_code code = read_instance(client, watch, logs, ret);
    if (code != EXIT_OK || logs->is_away || !run_is_of_workflow(*ret))
        return code;
    code = read_runs(client, watch->run_id, &runs);
    if (code == EXIT_OK)
        code = look_at_all(client, watch, logs, runs);
    json_decref(runs);
    bool is_away = code == EXIT_UNREACHABLE && watch->follow; /* since a moment ago */
    return is_away ? EXIT_OK : code;
}

/* Nothing is known of it while the agent is away. */
static bool is_over(const struct step_logs *logs, const json_t *run)
{
    return !logs->is_away && run && run_is_settled(run);
}

enum exit_code log_instance(struct client *client, const struct instance_watch *watch, json_t **ret)
{
    struct step_logs logs = {.width = 8};
    int delay_ms = 0;
    enum exit_code code = look(client, watch, &logs, ret);
    while (code == EXIT_OK && watch->follow && !is_over(&logs, *ret)) {
        if (watch->deadline_ms != NO_TIME && now_ms() >= watch->deadline_ms) {
            cli_error("still not over: %s; it goes on", watch->run_id);
            code = EXIT_TIMED_OUT;
            break;
        }
        pause_longer(&delay_ms);
        code = look(client, watch, &logs, ret);
    }
    free(logs.items);
    return code;
}

/* ---- from instance to instance ---- */

static void tell_state(const char *job, const json_t *run)
{
    struct strbuf text;
    strbuf_init(&text);
    run_end(run, &text);
    fflush(stdout);
    fprintf(stderr, tr("-- %s %s: %s --"), job, answer_text(run, "run_id"),
            text.length ? text.text : "");
    fputc('\n', stderr);
    strbuf_release(&text);
}

/* The id of the first run that is newer than `last`; of the newest, if that is empty. */
static void find_next(const json_t *runs, const char *last, char next[40])
{
    const json_t *run;
    size_t i;
    next[0] = '\0';
    json_array_foreach (runs, i, run) {
        const char *id = answer_text(run, "run_id");
        bool is_nearer = !*next || (*last ? strcmp(id, next) < 0 : strcmp(id, next) > 0);
        if (strcmp(id, last) > 0 && is_nearer)
            snprintf(next, 40, "%s", id);
    }
}

enum exit_code log_follow_workflow(struct client *client, const char *job, bool timestamps)
{
    enum { ASKED = 50 };
    struct strbuf path;
    char last[40] = "", next[40];
    int delay_ms = 0;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?");
    enum exit_code code = url_job_param(client, job, &path);
    while (code == EXIT_OK) {
        json_t *runs = NULL, *run = NULL;
        code = client_list(client, path.text, ASKED, &runs);
        find_next(runs, last, next);
        json_decref(runs);
        if (code != EXIT_OK || !*next) {
            pause_longer(&delay_ms);
            continue;
        }
        delay_ms = 0;
        memcpy(last, next, sizeof(last));
        struct instance_watch watch = {.run_id = last,
                                       .follow = true,
                                       .with_output = true,
                                       .timestamps = timestamps,
                                       .deadline_ms = NO_TIME};
        code = log_instance(client, &watch, &run);
        if (code == EXIT_OK)
            tell_state(job, run);
        json_decref(run);
    }
    strbuf_release(&path);
    return code;
}
