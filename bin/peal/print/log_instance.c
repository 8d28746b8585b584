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
    int width; /* of the names, so far */
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

static enum exit_code read_instance(struct client *client, const char *run_id, json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    json_decref(*ret);
    *ret = NULL;
    enum exit_code code = client_get(client, run_path(&path, run_id, ""), ret);
    strbuf_release(&path);
    return code;
}

/* The instance is read before its steps: once it is over, so are they. */
static enum exit_code look(struct client *client, const struct instance_watch *watch,
                           struct step_logs *logs, json_t **ret)
{
    json_t *runs = NULL;
    enum exit_code code = read_instance(client, watch->run_id, ret);
    if (code != EXIT_OK || !run_is_of_workflow(*ret))
        return code;
    code = read_runs(client, watch->run_id, &runs);
    if (code == EXIT_OK)
        code = look_at_all(client, watch, logs, runs);
    json_decref(runs);
    return code;
}

enum exit_code log_instance(struct client *client, const struct instance_watch *watch, json_t **ret)
{
    struct step_logs logs = {.width = 8};
    int delay_ms = 0;
    enum exit_code code = look(client, watch, &logs, ret);
    while (code == EXIT_OK && watch->follow && !run_is_settled(*ret)) {
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
