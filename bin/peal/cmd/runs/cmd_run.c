/* peal run: a run of a job, now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/when.h"
#include "client/body.h"
#include "client/client.h"
#include "duration.h"
#include "jobs/input_file.h"
#include "params/run_body.h"
#include "print/log_instance.h"
#include "print/run_table.h"
#include "print/tick_follow.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *name;
    const char *again; /* id of a run; NULL: none */
    struct option_list params, env;
    const char *node, *time_limit;
    const char *input; /* a file, or "-"; NULL: none */
    bool wait, follow;
    int64_t timeout_s; /* 0: none */
};

static const struct option_row options[] = {
    OPTION_ROW(take_pairs, request, params, struct option_list, 'p', "param", "NAME=VALUE",
               "the value of a parameter; may repeat", .field = "params"),
    OPTION_TEXT(request, node, 0, "on", "NODE", "run it on this node, and on no other",
                .field = "node", .complete = COMPLETE_NODES),
    OPTION_ROW(take_pairs, request, env, struct option_list, 0, "env", "NAME=VALUE",
               "a variable of the environment, for this run; may repeat", .field = "env"),
    OPTION_TEXT(request, time_limit, 0, "time-limit", "D",
                "end this run after D, instead of the job's timeout", .field = "timeout"),
    OPTION_TEXT(request, input, 0, "input", "FILE|-",
                "what the run finds in the file $PEAL_INPUT; - is stdin",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(request, again, 0, "again", "RUN",
                "run it again as it was, with its parameters and input"),
    OPTION_FLAG(request, wait, 0, "wait", "wait until the run ends"),
    OPTION_FLAG(request, follow, 'f', "follow", "wait and show the output"),
    OPTION_DURATION(request, timeout_s, "timeout", "the maximum wait; the run itself continues"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static enum exit_code tell_end(const char *name, const json_t *run)
{
    struct strbuf text;
    strbuf_init(&text);
    run_end(run, &text);
    if (*answer_text(run, "detail"))
        strbuf_addf(&text, tr(": %s"), answer_text(run, "detail"));
    fprintf(stderr, tr("%s: %s"), name, text.text);
    fputc('\n', stderr);
    strbuf_release(&text);
    return run_is_ok(run) ? EXIT_OK : EXIT_RUN_FAILED;
}

/* Is the job of a new run a workflow? The run itself may not have begun. */
static bool is_workflow(struct client *client, const char *run_id)
{
    struct strbuf path;
    struct reply run = {0}, job = {0};
    strbuf_init(&path);
    bool is_one = client_try(client, &(struct client_request){.path = run_path(&path, run_id, "")},
                             &run) == OK &&
                  client_try(client,
                             &(struct client_request){
                                 .path = job_path(&path, answer_text(run.body, "job"), "")},
                             &job) == OK &&
                  job_is_workflow(job.body);
    reply_release(&run);
    reply_release(&job);
    strbuf_release(&path);
    return is_one;
}

static enum exit_code follow_steps(struct client *client, const struct request *request,
                                   const char *run_id, int64_t deadline_ms, json_t **ret)
{
    return log_instance(client,
                        &(struct instance_watch){.run_id = run_id,
                                                 .follow = true,
                                                 .with_output = request->follow,
                                                 .deadline_ms = deadline_ms},
                        ret);
}

/* With --follow stdout is the run's output, and the id goes to stderr. */
static enum exit_code watch(struct client *client, const struct request *request,
                            const char *run_id)
{
    int64_t deadline_ms = request->timeout_s ? now_ms() + request->timeout_s * 1000 : NO_TIME;
    const char *name = request->name ? request->name : run_id;
    json_t *run = NULL;
    fprintf(request->follow ? stderr : stdout, "%s\n", run_id);
    fflush(stdout);
    if (!request->wait && !request->follow)
        return EXIT_OK;
    interrupt_say("\n%s: the run goes on; to follow it: peal logs -f %s, to end it: peal kill %s\n",
                  name, run_id, run_id);
    enum exit_code code = is_workflow(client, run_id)
                              ? follow_steps(client, request, run_id, deadline_ms, &run)
                              : tick_follow(client,
                                            &(struct tick_watch){.name = name,
                                                                 .run_id = run_id,
                                                                 .with_output = request->follow,
                                                                 .deadline_ms = deadline_ms},
                                            &run);
    interrupt_end();
    if (code == EXIT_OK)
        code = tell_end(name, run);
    json_decref(run);
    return code;
}

/* Any bytes; what else the body says is of the options. */
static enum exit_code add_input(const char *path, json_t *body)
{
    struct strbuf bytes;
    strbuf_init(&bytes);
    enum exit_code code = input_bytes_read(path, RUN_BODY_MAX, &bytes);
    char *data = code == EXIT_OK ? run_body_base64(bytes.text, bytes.length) : NULL;
    if (code == EXIT_OK &&
        json_object_set_new(body, "input", json_pack("{s:s}", "data", data)) != 0)
        code = cli_fail(E_NOMEM);
    free(data);
    strbuf_release(&bytes);
    return code;
}

static enum exit_code run_again(struct client *client, const char *word, const json_t *body,
                                json_t **ret)
{
    struct strbuf id, path;
    strbuf_init(&id);
    strbuf_init(&path);
    enum exit_code code = run_by_id(client, word, &id);
    if (code == EXIT_OK && !id.length) {
        cli_error("there is no run %s", word);
        code = EXIT_NOT_FOUND;
    }
    if (code == EXIT_OK)
        code = client_post(client, run_path(&path, id.text, "/retry"), body, ret);
    strbuf_release(&path);
    strbuf_release(&id);
    return code;
}

static enum exit_code run_job(struct client *client, void *place)
{
    const struct request *request = place;
    enum exit_code code;
    json_t *answer = NULL, *body = json_object();
    if (request->timeout_s && !request->wait && !request->follow)
        code = cli_usage(request->base.command,
                         "--timeout is how long to wait; it needs --wait or --follow");
    else if (!request->name == !request->again)
        code = cli_usage(request->base.command, "give the name of a job, or --again and a run");
    else
        code = body_fill(body, options, request);
    if (code == EXIT_OK && request->input)
        code = add_input(request->input, body);
    if (code == EXIT_OK && request->again)
        code = run_again(client, request->again, body, &answer);
    else if (code == EXIT_OK)
        code = client_job_action(client, request->name, "run", body, &answer);
    if (code == EXIT_OK && *answer_text(answer, "during"))
        cli_note(
            strcmp(answer_text(answer, "during"), "pause") == 0
                ? "its namespace or the cluster is paused: this run starts all the same"
                : "its namespace or the cluster is in maintenance: this run starts all the same");
    if (code == EXIT_OK)
        code = watch(client, request, answer_text(answer, "run_id"));
    json_decref(body);
    json_decref(answer);
    return code;
}

const struct command cmd_run = {
    .name = "run",
    .summary = "run a job now",
    .examples = EXAMPLES({"peal run backup", "prints the id of the run"},
                         {"peal run backup --wait && echo good", NULL},
                         {"peal run report -p day=2026-11-01", "with a parameter of the job"},
                         {"peal run import --input orders.csv", "the file $PEAL_INPUT of the run"},
                         {"peal run --again 01K9ZQ3V7C", "as that run was asked for"},
                         {"peal run backup --on web-2 --time-limit 5m", NULL},
                         {"peal run backup --follow", "shows the output until the run ends"}),
    .notes =
        "Exit status with --wait or --follow: 0 the run was ok, 10 it was not, 7 it did not "
        "end in time. Further attempts are waited for, and the last one counts. Of a job with "
        "spread, all runs of the tick count, and --follow shows the first of them. 4: the overlap "
        "policy does not allow a run now, or its output can't be shown from here. Ctrl-C ends the "
        "command, not the run. --env and --time-limit need the right to "
        "define the job. An input has up to 256 KiB, and is kept with the run.",
    .arguments =
        ROWS(ARGUMENT(request, name, "NAME", .is_optional = true, .complete = COMPLETE_JOBS)),
    .options = options,
    .wrong_count = ONE_JOB,
    .request_size = sizeof(struct request),
    .with_agent = run_job,
};
