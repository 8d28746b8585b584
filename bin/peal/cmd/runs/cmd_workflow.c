/* peal workflow: workflows, their instances, and how far those are. */
#include <stdio.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/listing.h"
#include "cli/when.h"
#include "client/body.h"
#include "cmd/jobs/validate.h"
#include "cmd/runs/run_kill.h"
#include "print/job_table.h"
#include "print/log_instance.h"
#include "print/run_table.h"
#include "print/state_words.h"
#include "print/steps_print.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *word; /* a workflow, or an instance of one */
    struct words words;
    struct option_list params, only, skip;
    bool wait, follow, all;
    int64_t count;
    enum output output;
};

static enum exit_code not_a_workflow(const char *name)
{
    cli_error("%s is not a workflow: it has no steps", name);
    return EXIT_NOT_FOUND;
}

/* A job that must be a workflow. */
static enum exit_code get_workflow(struct client *client, const char *name, struct reply *ret)
{
    enum exit_code code = client_job(client, name, ret);
    if (code != EXIT_OK || job_is_workflow(ret->body))
        return code;
    reply_release(ret);
    return not_a_workflow(name);
}

static enum exit_code get_steps(struct client *client, const char *run_id, json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = client_get(client, run_path(&path, run_id, "/steps"), ret);
    strbuf_release(&path);
    return code;
}

static enum exit_code get_instances(struct client *client, const char *name, int64_t count,
                                    json_t **ret)
{
    struct strbuf path;
    strbuf_init(&path);
    job_path(&path, name, "/instances?");
    enum exit_code code = client_list(client, path.text, (size_t)count, ret);
    strbuf_release(&path);
    return code;
}

/* ---- list ---- */

static void print_step_count(const json_t *job, struct strbuf *out)
{
    strbuf_addf(out, "%zu",
                json_array_size(json_object_get(job, "steps")) +
                    json_array_size(json_object_get(job, "finally")));
}

static void print_last(const json_t *job, struct strbuf *out)
{
    const json_t *last = json_object_get(json_object_get(job, "status"), "last");
    strbuf_adds(out, state_word(answer_text(last, "state")));
}

static void print_status(const json_t *job, struct strbuf *out)
{
    strbuf_adds(out, job_status_word(job));
}

static const struct list_form list_form = {
    .name = "name",
    .columns =
        (const struct list_column[]){
            COLUMN("NAME", "name"),
            COLUMN_BY("STEPS", print_step_count),
            COLUMN_BY("STATUS", print_status),
            COLUMN_BY("LAST", print_last),
            COLUMN("NEXT", "status.next_at", .form = COLUMN_LEFT),
            {0},
        },
    .none = "no workflows; a job with steps is one",
};

static enum exit_code list(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *jobs = NULL;
    const json_t *job;
    size_t i;
    enum exit_code code = client_list(client, "/jobs?", 0, &jobs);
    if (code != EXIT_OK)
        return code;
    json_t *workflows = json_array();
    json_array_foreach (jobs, i, job) {
        if (job_is_workflow(job) && json_array_append(workflows, (json_t *)job) != 0)
            code = cli_fail(E_NOMEM);
    }
    if (code == EXIT_OK)
        code = list_print(workflows, request->output, &list_form);
    json_decref(workflows);
    json_decref(jobs);
    return code;
}

/* ---- runs ---- */

static void print_counts(const json_t *run, struct strbuf *out)
{
    state_counts_print(json_object_get(run, "steps"), out);
}

static void print_taken(const json_t *run, struct strbuf *out)
{
    int64_t finished = answer_time(run, "finished_at");
    when_print_taken(answer_time(run, "started_at"), finished == NO_TIME ? now_ms() : finished,
                     out);
}

static const struct list_form runs_form = {
    .name = "run_id",
    .columns =
        (const struct list_column[]){
            COLUMN("RUN", "run_id"),
            COLUMN("TICK", "tick", .form = COLUMN_TIME),
            COLUMN_BY("STATE", run_outcome),
            COLUMN_BY("STEPS", print_counts),
            COLUMN_BY("TOOK", print_taken),
            COLUMN("DETAIL", "detail"),
            {0},
        },
    .none = "no instances yet",
};

static enum exit_code show_runs(struct client *client, void *place)
{
    const struct request *request = place;
    struct reply job = {0};
    json_t *runs = NULL;
    enum exit_code code = get_workflow(client, request->word, &job);
    if (code != EXIT_OK)
        return code;
    reply_release(&job);
    code = get_instances(client, request->word, request->count, &runs);
    if (code == EXIT_OK)
        code = list_print(runs, request->output, &runs_form);
    json_decref(runs);
    return code;
}

/* ---- graph, describe ---- */

static void print_run_line(const json_t *run)
{
    struct strbuf text;
    strbuf_init(&text);
    if (run_is_over(run))
        run_end(run, &text);
    else
        run_outcome(run, &text);
    if (*answer_text(run, "detail"))
        strbuf_addf(&text, tr(": %s"), answer_text(run, "detail"));
    printf("%s  %s  %s\n", answer_text(run, "job"), answer_text(run, "run_id"),
           text.length ? text.text : "");
    strbuf_release(&text);
}

static enum exit_code show_instance(struct client *client, const struct request *request,
                                    const char *run_id, bool with_table)
{
    json_t *answer = NULL;
    enum exit_code code = get_steps(client, run_id, &answer);
    const json_t *steps = json_object_get(answer, "steps");
    if (code == EXIT_OK && request->output >= OUTPUT_JSON) {
        code = output_print(answer, request->output);
    } else if (code == EXIT_OK) {
        print_run_line(json_object_get(answer, "instance"));
        putchar('\n');
        code = with_table ? steps_table(steps) : steps_draw(steps);
    }
    json_decref(answer);
    return code;
}

static enum exit_code show_definition(struct client *client, const struct request *request,
                                      bool with_table)
{
    struct reply job = {0};
    json_t *runs = NULL;
    enum exit_code code = get_workflow(client, request->word, &job);
    if (code != EXIT_OK)
        return code;
    json_t *steps = steps_of_job(job.body);
    if (!steps)
        code = cli_fail(E_NOMEM);
    else if (request->output >= OUTPUT_JSON)
        code = output_print(steps, request->output);
    else if (with_table)
        code = steps_table(steps);
    else
        code = steps_draw(steps);
    if (code == EXIT_OK && with_table && request->output < OUTPUT_JSON)
        code = get_instances(client, request->word, request->count, &runs);
    if (code == EXIT_OK && json_array_size(runs)) {
        printf("\n%s\n", tr("Instances"));
        code = list_print(runs, OUTPUT_TABLE, &runs_form);
    }
    json_decref(runs);
    json_decref(steps);
    reply_release(&job);
    return code;
}

static enum exit_code show(struct client *client, const struct request *request, bool with_table)
{
    struct strbuf run_id;
    strbuf_init(&run_id);
    enum exit_code code = run_by_id(client, request->word, &run_id);
    if (code == EXIT_OK)
        code = run_id.length ? show_instance(client, request, run_id.text, with_table)
                             : show_definition(client, request, with_table);
    strbuf_release(&run_id);
    return code;
}

static enum exit_code graph(struct client *client, void *place)
{
    return show(client, place, false);
}

static enum exit_code describe(struct client *client, void *place)
{
    return show(client, place, true);
}

/* ---- cancel ---- */

static enum exit_code cancel_all(struct client *client, const char *name)
{
    struct reply job = {0};
    enum exit_code code = get_workflow(client, name, &job);
    if (code != EXIT_OK)
        return code;
    reply_release(&job);
    return run_kill_all(client, KIND_INSTANCE, name);
}

static enum exit_code cancel(struct client *client, void *place)
{
    const struct request *request = place;
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < request->words.count; i++) {
        struct strbuf run_id;
        strbuf_init(&run_id);
        enum exit_code code = run_by_id(client, request->words.items[i], &run_id);
        if (code == EXIT_OK)
            code = run_id.length ? run_kill(client, KIND_INSTANCE, run_id.text)
                                 : cancel_all(client, request->words.items[i]);
        worst = code != EXIT_OK ? code : worst;
        strbuf_release(&run_id);
    }
    return worst;
}

/* ---- run, retry ---- */

/* Adds a list of steps to the body, if there are any. */
static enum exit_code add_steps(json_t *body, const char *field, const char *const *names,
                                size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++) {
        if (json_array_append_new(list, json_string(names[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    bool is_added = list && (!count || json_object_set(body, field, list) == 0);
    json_decref(list);
    return is_added ? EXIT_OK : cli_fail(E_NOMEM);
}

static enum exit_code watch(struct client *client, const struct request *request,
                            const char *run_id)
{
    json_t *run = NULL;
    fprintf(request->follow ? stderr : stdout, "%s\n", run_id);
    fflush(stdout);
    if (!request->wait && !request->follow)
        return EXIT_OK;
    interrupt_say("\n%s: the run goes on; to follow it: peal logs -f %s, to end it: peal kill %s\n",
                  request->word, run_id, run_id);
    enum exit_code code = log_instance(client,
                                       &(struct instance_watch){.run_id = run_id,
                                                                .follow = true,
                                                                .with_output = request->follow,
                                                                .deadline_ms = NO_TIME},
                                       &run);
    interrupt_end();
    if (code == EXIT_OK) {
        struct strbuf text;
        strbuf_init(&text);
        run_end(run, &text);
        fprintf(stderr, tr("%s: %s"), request->word, text.length ? text.text : "");
        fputc('\n', stderr);
        strbuf_release(&text);
        code = run_is_ok(run) ? EXIT_OK : EXIT_RUN_FAILED;
    }
    json_decref(run);
    return code;
}

static const struct option_row run_options[] = {
    OPTION_ROW(take_pairs, request, params, struct option_list, 'p', "param", "NAME=VALUE",
               "the value of a parameter; may repeat", .field = "params"),
    OPTION_LIST(request, only, 0, "only", "STEP",
                "run only this step, or those of this workflow "
                "that is a step; may be repeated"),
    OPTION_LIST(request, skip, 0, "skip", "STEP",
                "leave this step out, as if it had succeeded "
                "without output values; may be repeated"),
    OPTION_FLAG(request, wait, 0, "wait", "wait until it ends; tells how each step ends"),
    OPTION_FLAG(request, follow, 'f', "follow", "wait and show the output of its steps"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static enum exit_code run(struct client *client, void *place)
{
    const struct request *request = place;
    struct reply job = {0};
    json_t *answer = NULL;
    enum exit_code code = get_workflow(client, request->word, &job);
    if (code != EXIT_OK)
        return code;
    reply_release(&job);
    json_t *body = json_object();
    code = body_fill(body, run_options, request);
    if (code == EXIT_OK)
        code = add_steps(body, "only", request->only.items, request->only.count);
    if (code == EXIT_OK)
        code = add_steps(body, "skip", request->skip.items, request->skip.count);
    if (code == EXIT_OK)
        code = client_job_action(client, request->word, "run", body, &answer);
    if (code == EXIT_OK)
        code = watch(client, request, answer_text(answer, "run_id"));
    json_decref(body);
    json_decref(answer);
    return code;
}

static const struct option_row retry_options[] = {
    OPTION_FLAG(request, all, 0, "all", "all steps, also those that succeeded"),
    OPTION_FLAG(request, wait, 0, "wait", "wait until it ends; tells how each step ends"),
    OPTION_FLAG(request, follow, 'f', "follow", "wait and show the output of its steps"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static enum exit_code retry_run(struct client *client, struct request *request, const char *run_id)
{
    struct strbuf path;
    json_t *body = json_object(), *answer = NULL;
    const char *const *names = (const char *const *)request->words.items + 1;
    enum exit_code code = add_steps(body, "steps", names, (size_t)request->words.count - 1);
    if (code == EXIT_OK && request->all &&
        json_object_set_new(body, "steps", json_string("all")) != 0)
        code = cli_fail(E_NOMEM);
    strbuf_init(&path);
    if (code == EXIT_OK)
        code = client_post(client, run_path(&path, run_id, "/retry"), body, &answer);
    strbuf_release(&path);
    request->word = request->words.items[0];
    if (code == EXIT_OK)
        code = watch(client, request, answer_text(answer, "run_id"));
    json_decref(body);
    json_decref(answer);
    return code;
}

static enum exit_code retry(struct client *client, void *place)
{
    struct request *request = place;
    struct strbuf run_id;
    if (request->all && request->words.count > 1) {
        cli_error("name steps, or give --all; not both");
        return EXIT_USAGE;
    }
    strbuf_init(&run_id);
    enum exit_code code = run_by_id(client, request->words.items[0], &run_id);
    if (code == EXIT_OK && !run_id.length) {
        cli_error("%s is not the id of a run; peal workflow runs lists instances with their ids",
                  request->words.items[0]);
        code = EXIT_NOT_FOUND;
    }
    if (code == EXIT_OK)
        code = retry_run(client, request, run_id.text);
    strbuf_release(&run_id);
    return code;
}

static enum exit_code validate(void *place)
{
    const struct request *request = place;
    return validate_job_files(&request->base, &request->words);
}

/* ---- the command ---- */

static const struct option_row one[] = {
    ARGUMENT(request, word, "WORKFLOW", .complete = COMPLETE_JOBS),
    {0},
};

static const struct option_row one_or_run[] = {
    ARGUMENT(request, word, "WORKFLOW|RUN", .complete = COMPLETE_JOBS),
    {0},
};

static const struct option_row list_rows[] = {
    OPTION_OUTPUT(request, output, OUTPUT_TEXT),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static const struct option_row runs_rows[] = {
    OPTION_NUMBER(request, count, 'n', "count", 1, 100, "at most so many"),
    OPTION_OUTPUT(request, output, OUTPUT_TEXT),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static const struct option_row show_rows[] = {
    OPTION_OUTPUT(request, output, OUTPUT_SHORT_TEXT),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static const struct request defaults = {.count = 10};

#define WHICH "which workflow? Give its name, or the id of an instance"

static const struct command subcommands[] = {
    {
        .name = "workflow list",
        .summary = "jobs that are workflows",
        .options = list_rows,
        .too_many = "peal workflow list takes no name",
        .with_agent = list,
    },
    {
        .name = "workflow describe",
        .summary = "its steps and last instances; of an instance, how far each step is",
        .arguments = one_or_run,
        .options = show_rows,
        .wrong_count = WHICH,
        .defaults = &defaults,
        .with_agent = describe,
    },
    {
        .name = "workflow graph",
        .summary = "its steps as a graph, those of an instance with their states",
        .notes = "Each line is a step; lines lead down to the steps that wait for it. Where the "
                 "locale is not UTF-8, the graph is drawn with ASCII characters.",
        .arguments = one_or_run,
        .options = show_rows,
        .wrong_count = WHICH,
        .with_agent = graph,
    },
    {
        .name = "workflow run",
        .summary = "begin an instance now",
        .notes =
            "Exit status with --wait or --follow: 0 the instance was ok, 10 it was not. Ctrl-C "
            "ends the command, not the instance.",
        .arguments = one,
        .options = run_options,
        .wrong_count = "which workflow? One at a time",
        .with_agent = run,
    },
    {
        .name = "workflow runs",
        .summary = "its instances, newest first, with the states of their steps",
        .arguments = one,
        .options = runs_rows,
        .wrong_count = "which workflow? One at a time",
        .defaults = &defaults,
        .with_agent = show_runs,
    },
    {
        .name = "workflow retry",
        .summary = "run the failed steps of an instance again, and what follows them",
        .notes =
            "A new instance of the workflow as it is now, with the same parameters. Steps that "
            "succeeded are left out, and their output values are used; steps that are named "
            "run again all the same, with those that follow them. The steps of `finally` run "
            "in any case.",
        .arguments = ROWS(ARGUMENTS(request, words, "RUN [STEP")),
        .options = retry_options,
        .too_few = "which instance? Give the id of its run",
        .with_agent = retry,
    },
    {
        .name = "workflow cancel",
        .summary = "end an instance, or all that are under way",
        .notes = "Steps that run are killed, those that wait are skipped; the steps of `finally` "
                 "run all the same.",
        .arguments = ROWS(ARGUMENTS(request, words, "WORKFLOW|RUN", .complete = COMPLETE_JOBS)),
        .options = client_options,
        .too_few = WHICH,
        .with_agent = cancel,
    },
    {
        .name = "workflow validate",
        .summary = "check files of workflows, as peal validate does",
        .arguments = ROWS(ARGUMENTS(request, words, "FILE", .complete = COMPLETE_FILES)),
        .options = client_options,
        .too_few = "validate what? Give a file, or a folder of files",
        .run = validate,
    },
    {0},
};

const struct command cmd_workflow = {
    .name = "workflow",
    .summary = "jobs with steps: their graphs and instances",
    .examples = EXAMPLES({"peal workflow graph etl/nightly", NULL},
                         {"peal workflow runs etl/nightly", NULL},
                         {"peal workflow describe 01K9ZQ3V7C", "how far an instance is"},
                         {"peal workflow retry 01K9ZQ3V7C", "what failed, and what follows it"},
                         {"peal workflow cancel 01K9ZQ3V7C", NULL}),
    .more = "A workflow is a job: add, apply, validate, pause, run, logs and all other commands "
            "of jobs are for workflows, too. docs/WORKFLOWS.md tells of them.",
    .options = client_options,
    .too_few =
        "what about workflows? peal workflow list, describe, graph, run, runs, retry, cancel "
        "or validate",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
