#include "print/run_table.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/text_table.h"
#include "cli/when.h"
#include "id.h"
#include "print/state_words.h"
#include "run.h"
#include "text/tr.h"

enum {
    NOT_SEEN_MS = 5000, /* how long a new run may not be found yet */
    SHORTEST_ID = 4,    /* letters of an id that are taken for its beginning */
    CANDIDATES = 20,
    LOOKED_AT = 20, /* newest runs of a job, for one that has begun */
};

/* Of a call that goes on. */
static void print_progress(const json_t *run, struct strbuf *out)
{
    const json_t *progress = json_object_get(run, "progress");
    const char *text = answer_text(progress, "text");
    if (json_is_object(progress) && answer_time(run, "finished_at") == NO_TIME)
        strbuf_addf(out, " (%d%%%s%s)", (int)answer_int(progress, "percent", 0), *text ? " " : "",
                    text);
}

/* " (waits for group db-backup, 2 of 5)". That of a namespace ends with a slash. */
static void print_wait(const json_t *run, struct strbuf *out)
{
    const json_t *wait = json_object_get(run, "waits_for");
    const char *group = answer_text(wait, "group");
    int length = (int)strlen(group), place = (int)answer_int(wait, "place", 0);
    if (!length)
        return;
    if (group[length - 1] == '/')
        strbuf_addf(out, tr(" (waits for namespace %.*s, %d of %d)"), length - 1, group, place,
                    (int)answer_int(wait, "of", 0));
    else
        strbuf_addf(out, tr(" (waits for group %s, %d of %d)"), group, place,
                    (int)answer_int(wait, "of", 0));
}

void run_outcome(const json_t *run, struct strbuf *out)
{
    const char *reason = answer_text(run, "reason");
    int64_t code = answer_int(run, "exit_code", -1), number = answer_int(run, "signal", 0);
    strbuf_adds(out, state_word(answer_text(run, "state")));
    if (strcmp(answer_text(run, "state"), "queued") == 0 && answer_int(run, "parts", 0))
        strbuf_adds(out, tr(" (waits for its turn)"));
    print_wait(run, out);
    if (!*reason) {
        print_progress(run, out);
        return;
    }
    if (strcmp(reason, "exit_code") == 0)
        strbuf_addf(out, tr(" (exit code %d)"), (int)code);
    else if (strcmp(reason, "signal") == 0)
        strbuf_addf(out, tr(" (signal %d, %s)"), (int)number, strsignal((int)number));
    else
        strbuf_addf(out, tr(" (%s)"), reason_word(reason));
}

void run_end(const json_t *run, struct strbuf *out)
{
    struct strbuf taken;
    run_outcome(run, out);
    if (answer_time(run, "started_at") == NO_TIME)
        return;
    strbuf_init(&taken);
    when_print_taken(answer_time(run, "started_at"), answer_time(run, "finished_at"), &taken);
    strbuf_addf(out, tr(" after %s"), taken.text);
    strbuf_release(&taken);
}

/* The cause, and of a tick that may have several attempts or runs, which one this is. */
static void print_cause(const json_t *run, struct strbuf *out)
{
    int attempt = (int)answer_int(run, "attempt", 1),
        attempts = (int)answer_int(run, "attempts", 0), part = (int)answer_int(run, "part", 0),
        parts = (int)answer_int(run, "parts", 0);
    strbuf_adds(out, cause_word(answer_text(run, "cause")));
    if (attempts)
        strbuf_addf(out, tr(", %d of %d"), attempt, attempts);
    if (parts && *answer_text(run, "pinned"))
        strbuf_addf(out, tr(", on %s"), answer_text(run, "pinned"));
    else if (parts)
        strbuf_addf(out, tr(", shard %d of %d"), part, parts);
}

static void add_run(struct text_table *table, const json_t *run, bool wide, bool with_node,
                    int64_t now)
{
    bool entry = json_object_get(run, "entry_id") != NULL;
    int64_t started = answer_time(run, "started_at"), finished = answer_time(run, "finished_at");
    struct strbuf text;
    strbuf_init(&text);
#define CELL(call) (strbuf_truncate(&text, 0), call, text_table_cell(table, text.text))
    text_table_cell(table, entry ? "-" : answer_text(run, "run_id"));
    text_table_cell(table, answer_text(run, "job"));
    text_table_cell(table, answer_text(run, "step"));
    CELL(when_print_local(answer_time(run, entry ? "from" : "tick"), &text));
    CELL((run_outcome(run, &text),
          strbuf_adds(&text, json_is_true(json_object_get(run, "spooled")) ? " *" : "")));
    CELL(when_print_local(started, &text));
    CELL(when_print_taken(started, finished == NO_TIME ? now : finished, &text));
    if (entry && answer_int(run, "count", 1) > 1)
        CELL(strbuf_addf(&text, tr("%d ticks"), (int)answer_int(run, "count", 1)));
    else
        CELL(print_cause(run, &text));
    text_table_cell(table, with_node ? answer_text(run, "node") : "");
    if (wide) {
        CELL(strbuf_addf(&text, "%d", (int)answer_int(run, "attempt", 1)));
        text_table_cell(table, answer_text(run, "by"));
        text_table_cell(table, answer_text(run, "detail"));
    }
#undef CELL
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

static enum exit_code print_table(const json_t *runs, bool wide, bool with_node)
{
    static const char *const narrow_headers[] = {"RUN",     "JOB",  "STEP",  "TICK", "STATE",
                                                 "STARTED", "TOOK", "CAUSE", "NODE", NULL};
    static const char *const wide_headers[] = {"RUN",     "JOB",    "STEP",  "TICK", "STATE",
                                               "STARTED", "TOOK",   "CAUSE", "NODE", "ATTEMPT",
                                               "BY",      "DETAIL", NULL};
    /* RUN and STATE stay; then the job, the tick and the reason. */
    static const unsigned char goes[] = {0, 9, 0, 7, 0, 5, 6, 3, 4, 2, 1, 8};
    struct text_table table;
    const json_t *run;
    size_t i;
    int64_t now = now_ms();
    size_t spooled = 0;
    text_table_init(&table, wide ? wide_headers : narrow_headers);
    table.goes = goes;
    json_array_foreach (runs, i, run) {
        add_run(&table, run, wide, with_node || wide, now);
        spooled += json_is_true(json_object_get(run, "spooled"));
    }
    enum status st = text_table_print(&table, stdout);
    text_table_release(&table);
    if (spooled)
        cli_note("those marked with * (%zu) wait on the node's disk for the history's database",
                 spooled);
    return cli_fail(st);
}

enum exit_code runs_print(const json_t *runs, enum output output, bool with_node)
{
    const json_t *run;
    size_t i;
    if (output == OUTPUT_TABLE || output == OUTPUT_WIDE)
        return print_table(runs, output == OUTPUT_WIDE, with_node);
    if (output != OUTPUT_NAME)
        return output_print(runs, output);
    json_array_foreach (runs, i, run) {
        if (*answer_text(run, "run_id"))
            printf("%s\n", answer_text(run, "run_id"));
    }
    return EXIT_OK;
}

bool nodes_are_many(struct client *client)
{
    struct reply reply = {0};
    bool are = client_try(client, &(struct client_request){.path = "/agent"}, &reply) == OK &&
               answer_int(reply.body, "nodes", 1) > 1;
    reply_release(&reply);
    return are;
}

bool run_is_over(const json_t *run)
{
    enum run_state state;
    return run_state_by_name(answer_text(run, "state"), &state) == OK && run_state_is_end(state);
}

bool run_is_settled(const json_t *run)
{
    return run_is_over(run) && !json_is_null(json_object_get(run, "retried"));
}

bool run_is_ok(const json_t *run)
{
    return strcmp(answer_text(run, "state"), "ok") == 0;
}

/* Could it be the beginning of an id? Ids begin with a digit from 0 to 7. */
static bool may_begin_id(const char *word)
{
    char text[ID_TEXT + 1];
    size_t length = strlen(word);
    struct id id;
    if (length < SHORTEST_ID || length >= ID_TEXT)
        return false;
    snprintf(text, sizeof(text), "%s%0*d", word, (int)(ID_TEXT - length), 0);
    return id_parse(text, &id) == OK;
}

static bool is_job(struct client *client, const char *word)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    bool is = client_try(client, &(struct client_request){.path = job_path(&path, word, "")},
                         &reply) == OK &&
              reply.status < 300;
    reply_release(&reply);
    strbuf_release(&path);
    return is;
}

static enum exit_code tell_candidates(const char *word, const json_t *runs)
{
    const json_t *run;
    size_t i;
    cli_error(json_array_size(runs) == CANDIDATES ? "the ids of at least %zu runs begin with %s:"
                                                  : "the ids of %zu runs begin with %s:",
              json_array_size(runs), word);
    json_array_foreach (runs, i, run) {
        struct strbuf at;
        strbuf_init(&at);
        when_print_local(answer_time(run, "tick"), &at);
        fprintf(stderr, "  %s  %s  %s  %s\n", answer_text(run, "run_id"), at.text,
                answer_text(run, "job"), state_word(answer_text(run, "state")));
        strbuf_release(&at);
    }
    return EXIT_USAGE;
}

enum exit_code run_by_id(struct client *client, const char *word, struct strbuf *run_id)
{
    struct id id;
    struct strbuf path;
    json_t *runs = NULL;
    if (id_parse(word, &id) == OK) {
        strbuf_adds(run_id, word);
        return cli_fail(strbuf_status(run_id));
    }
    if (!may_begin_id(word) || is_job(client, word))
        return EXIT_OK;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?");
    url_param(&path, "id", word);
    enum exit_code code = client_list(client, path.text, CANDIDATES, &runs);
    strbuf_release(&path);
    if (code == EXIT_OK && json_array_size(runs) > 1)
        code = tell_candidates(word, runs);
    else if (code == EXIT_OK)
        strbuf_adds(run_id, answer_text(json_array_get(runs, 0), "run_id"));
    json_decref(runs);
    return code == EXIT_OK ? cli_fail(strbuf_status(run_id)) : code;
}

/* One that waits to start has nothing to show: it counts if there is no other. */
static const char *newest_begun(const json_t *runs)
{
    const json_t *run;
    size_t i;
    json_array_foreach (runs, i, run) {
        if (run_is_over(run) || answer_time(run, "started_at") != NO_TIME)
            return answer_text(run, "run_id");
    }
    return answer_text(json_array_get(runs, 0), "run_id");
}

enum exit_code run_find(struct client *client, const char *word, struct strbuf *run_id)
{
    struct reply job;
    json_t *runs;
    enum exit_code code = run_by_id(client, word, run_id);
    if (code != EXIT_OK || run_id->length)
        return code;
    code = client_job(client, word, &job);
    if (code != EXIT_OK)
        return code;
    char last[ID_TEXT + 1]; /* of all nodes, while the history may only have this node's runs */
    const json_t *status = json_object_get(job.body, "status");
    snprintf(last, sizeof(last), "%s", answer_text(json_object_get(status, "last"), "run_id"));
    reply_release(&job);
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?");
    url_param(&path, "job", word);
    code = client_list(client, path.text, LOOKED_AT, &runs);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    const char *newest = newest_begun(runs);
    strbuf_adds(run_id, strcmp(newest, last) > 0 ? newest : last); /* ids sort by age */
    json_decref(runs);
    if (run_id->length)
        return cli_fail(strbuf_status(run_id));
    cli_error("%s has not run yet; run it now: peal run %s", word, word);
    return EXIT_NOT_FOUND;
}

void pause_longer(int *delay_ms)
{
    enum { FIRST_MS = 20, LONGEST_MS = 500 };
    *delay_ms = *delay_ms ? *delay_ms * 3 / 2 : FIRST_MS;
    if (*delay_ms > LONGEST_MS)
        *delay_ms = LONGEST_MS;
    struct timespec time = {*delay_ms / 1000, *delay_ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

/* The job's summary of its last run, if that is the run; NULL: it is not. */
static json_t *last_of_job(struct client *client, const char *job, const char *run_id)
{
    struct strbuf path;
    struct reply reply = {0};
    json_t *run = NULL;
    strbuf_init(&path);
    if (client_try(client, &(struct client_request){.path = job_path(&path, job, "")}, &reply) ==
        OK) {
        json_t *last = json_object_get(json_object_get(reply.body, "status"), "last");
        if (strcmp(answer_text(last, "run_id"), run_id) == 0)
            run = json_incref(last);
    }
    reply_release(&reply);
    strbuf_release(&path);
    return run;
}

struct wait {
    const char *job, *run_id, *path;
    int64_t since_ms;
};

/* Asks for the run. What the job says of its last run is less: that is for a run that is not to be
 * had here, and not for one that began and ended since it was asked for. */
static enum status ask_for(struct client *client, const struct wait *wait, struct reply *ret,
                           json_t **ret_last)
{
    struct client_request request = {.path = wait->path};
    enum status st = client_try(client, &request, ret);
    *ret_last = NULL;
    if (st != OK || ret->status != 404)
        return st;
    *ret_last = last_of_job(client, wait->job, wait->run_id);
    if (!*ret_last)
        return OK;
    reply_release(ret);
    return client_try(client, &request, ret);
}

/* *ret is the run; NULL: a new run may not be known yet. */
static enum exit_code look(struct client *client, const struct wait *wait, json_t **ret)
{
    struct reply reply = {0};
    json_t *last = NULL;
    enum status st = ask_for(client, wait, &reply, &last);
    bool is_missing = st == OK && reply.status == 404;
    enum exit_code code = EXIT_OK;
    *ret = is_missing ? json_incref(last) : NULL;
    if (!*ret && (!is_missing || now_ms() - wait->since_ms >= NOT_SEEN_MS))
        code = client_report(client, st, &reply);
    if (code == EXIT_OK && !is_missing)
        *ret = json_incref(reply.body);
    json_decref(last);
    reply_release(&reply);
    return code;
}

enum exit_code run_wait(struct client *client, const char *job, const char *run_id,
                        int64_t deadline_ms, json_t **ret)
{
    struct strbuf path;
    int delay_ms = 0;
    enum exit_code code = EXIT_OK;
    strbuf_init(&path);
    struct wait wait = {job, run_id, run_path(&path, run_id, ""), now_ms()};
    for (;;) {
        json_t *run = NULL;
        code = look(client, &wait, &run);
        if (code == EXIT_OK && run && run_is_settled(run)) {
            *ret = run;
            break;
        }
        json_decref(run);
        if (code != EXIT_OK)
            break;
        if (deadline_ms != NO_TIME && now_ms() >= deadline_ms) {
            cli_error("still not over: %s; it goes on", run_id);
            code = EXIT_TIMED_OUT;
            break;
        }
        pause_longer(&delay_ms);
    }
    strbuf_release(&path);
    return code;
}
