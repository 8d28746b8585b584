#include "print/tick_follow.h"

#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "print/log_print.h"
#include "print/run_table.h"
#include "text/tr.h"

enum {
    RUNS_OF_A_TICK = 2000, /* and of ticks since then, and their attempts */
    LOOKS_FOR_NEXT = 20,   /* for an attempt that must be there; it was pruned otherwise */
};

/* Runs of the job since the tick of `run`. */
static enum exit_code list_since(struct client *client, const json_t *run, json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?");
    url_param(&path, "job", answer_text(run, "job"));
    url_param(&path, "since", answer_text(run, "tick"));
    enum exit_code code = client_list(client, path.text, RUNS_OF_A_TICK, ret);
    strbuf_release(&path);
    return code;
}

static bool is_of_tick(const json_t *run, const json_t *first)
{
    return strcmp(answer_text(run, "tick"), answer_text(first, "tick")) == 0;
}

static bool is_retried(const json_t *run)
{
    return json_is_true(json_object_get(run, "retried"));
}

/* Sleeps; EXIT_TIMED_OUT: there is no time for that. */
static enum exit_code wait_a_little(const struct tick_watch *watch, const json_t *run,
                                    int *delay_ms)
{
    if (watch->deadline_ms != NO_TIME && now_ms() >= watch->deadline_ms) {
        cli_error("still not over: %s; it goes on", answer_text(run, "run_id"));
        return EXIT_TIMED_OUT;
    }
    pause_longer(delay_ms);
    return EXIT_OK;
}

/* ---- attempts ---- */

static enum exit_code follow_run(struct client *client, const struct tick_watch *watch,
                                 const char *run_id, json_t **ret)
{
    struct log_printer printer = {.is_new = true};
    enum exit_code code = EXIT_NOT_FOUND;
    if (watch->with_output)
        code = log_follow(client, run_id, &printer, watch->deadline_ms, ret);
    bool is_open = code == EXIT_OK && !run_is_settled(*ret);
    if (is_open) {
        json_decref(*ret);
        *ret = NULL;
    }
    if (code == EXIT_NOT_FOUND || is_open) /* with output, it may have been passed over */
        code = run_wait(client, watch->name, run_id, watch->deadline_ms, ret);
    return code;
}

static const char *id_of_next(const json_t *runs, const json_t *run)
{
    json_t *each;
    size_t i;
    json_array_foreach (runs, i, each) {
        if (is_of_tick(each, run) && answer_int(each, "part", 0) == answer_int(run, "part", 0) &&
            answer_int(each, "attempt", 1) == answer_int(run, "attempt", 1) + 1)
            return answer_text(each, "run_id");
    }
    return "";
}

/* The attempt that was made with the end of `run`. Empty: there is none any more. */
static enum exit_code find_next(struct client *client, const struct tick_watch *watch,
                                const json_t *run, struct strbuf *ret_id)
{
    enum exit_code code = EXIT_OK;
    int delay_ms = 0;
    for (int i = 0; code == EXIT_OK && !ret_id->length && i < LOOKS_FOR_NEXT; i++) {
        json_t *runs = NULL;
        if (i > 0)
            code = wait_a_little(watch, run, &delay_ms);
        if (code == EXIT_OK)
            code = list_since(client, run, &runs);
        if (code == EXIT_OK)
            strbuf_adds(ret_id, id_of_next(runs, run));
        json_decref(runs);
    }
    return code;
}

static void tell_attempt(const struct tick_watch *watch, const json_t *run)
{
    struct strbuf text;
    strbuf_init(&text);
    run_end(run, &text);
    fflush(stdout);
    fprintf(stderr, tr("%s: attempt %d of %d: %s"), watch->name, (int)answer_int(run, "attempt", 1),
            (int)answer_int(run, "attempts", 1), text.text);
    fputc('\n', stderr);
    strbuf_release(&text);
}

static enum exit_code follow_attempts(struct client *client, const struct tick_watch *watch,
                                      json_t **ret)
{
    struct strbuf id;
    strbuf_init(&id);
    enum exit_code code = follow_run(client, watch, watch->run_id, ret);
    while (code == EXIT_OK && is_retried(*ret)) {
        json_t *next = NULL;
        tell_attempt(watch, *ret);
        strbuf_reset(&id);
        code = find_next(client, watch, *ret, &id);
        if (!id.length)
            break;
        code = follow_run(client, watch, id.text, &next);
        if (code == EXIT_OK) {
            json_decref(*ret);
            *ret = next;
        }
    }
    strbuf_release(&id);
    return code;
}

/* ---- parts ---- */

/* An attempt that was not needed any more stands for the success of the one before. */
static bool is_good(const json_t *run)
{
    return run_is_ok(run) || strcmp(answer_text(run, "reason"), "not_needed") == 0;
}

/* Has each run of the tick ended, with its attempts? *ret_bad is one that was not ok. */
static bool all_are_over(const json_t *runs, const json_t *first, json_t **ret_bad)
{
    int parts = (int)answer_int(first, "parts", 0), over = 0;
    json_t *run;
    size_t i;
    *ret_bad = NULL;
    json_array_foreach (runs, i, run) {
        if (!is_of_tick(run, first) || !run_is_settled(run) || is_retried(run))
            continue;
        over++;
        if (!is_good(run))
            *ret_bad = run;
    }
    return over >= parts;
}

static enum exit_code wait_for_parts(struct client *client, const struct tick_watch *watch,
                                     json_t **inout_run)
{
    enum exit_code code = EXIT_OK;
    bool is_over = answer_int(*inout_run, "parts", 0) < 2;
    int delay_ms = 0;
    while (code == EXIT_OK && !is_over) {
        json_t *runs = NULL, *bad = NULL;
        code = list_since(client, *inout_run, &runs);
        is_over = code == EXIT_OK && all_are_over(runs, *inout_run, &bad);
        if (is_over && bad) {
            json_decref(*inout_run);
            *inout_run = json_incref(bad);
        }
        json_decref(runs);
        if (code == EXIT_OK && !is_over)
            code = wait_a_little(watch, *inout_run, &delay_ms);
    }
    return code;
}

enum exit_code tick_follow(struct client *client, const struct tick_watch *watch, json_t **ret)
{
    enum exit_code code = follow_attempts(client, watch, ret);
    return code == EXIT_OK ? wait_for_parts(client, watch, ret) : code;
}
