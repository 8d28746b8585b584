/* peal logs: the output of a run. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/log_instance.h"
#include "print/log_job.h"
#include "print/log_print.h"
#include "print/run_table.h"
#include "print/state_words.h"

struct request {
    struct request_base base;
    const char *word;
    bool follow, timestamps;
};

/* Why there is no output, or no more of it. */
static void note_state(const json_t *run)
{
    if (!run_is_over(run))
        cli_note("the run is %s; follow it with -f", state_word(answer_text(run, "state")));
    else if (strcmp(answer_text(run, "reason"), "no_start") == 0)
        cli_note("the run could not be started: %s", answer_text(run, "detail"));
    else if (strcmp(answer_text(run, "state"), "lost") == 0)
        cli_note("the run was lost on node %s: more of its output is not known",
                 answer_text(run, "node"));
}

/* Of an instance of a workflow: its steps. */
static enum exit_code show_steps(struct client *client, const struct request *request,
                                 const char *run_id)
{
    json_t *run = NULL;
    enum exit_code code = log_instance(client,
                                       &(struct instance_watch){.run_id = run_id,
                                                                .follow = request->follow,
                                                                .with_output = true,
                                                                .timestamps = request->timestamps,
                                                                .deadline_ms = NO_TIME},
                                       &run);
    if (code == EXIT_OK)
        note_state(run);
    json_decref(run);
    return code;
}

static enum exit_code show_output(struct client *client, const struct request *request,
                                  const char *run_id)
{
    struct log_printer printer = {.timestamps = request->timestamps};
    json_t *run = NULL;
    enum exit_code code = request->follow ? log_follow(client, run_id, &printer, NO_TIME, &run)
                                          : log_print_more(client, run_id, &printer, &run);
    if (code == EXIT_OK)
        note_state(run);
    json_decref(run);
    return code == EXIT_OK && printer.is_cut ? EXIT_UNREACHABLE : code;
}

static enum exit_code show_run(struct client *client, const struct request *request,
                               const char *run_id)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    struct client_request ask = {.path = run_path(&path, run_id, "")};
    bool is_instance = client_try(client, &ask, &reply) == OK && run_is_of_workflow(reply.body);
    reply_release(&reply);
    strbuf_release(&path);
    return is_instance ? show_steps(client, request, run_id) : show_output(client, request, run_id);
}

static bool is_workflow(struct client *client, const char *job)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    struct client_request ask = {.path = job_path(&path, job, "")};
    bool is_one = client_try(client, &ask, &reply) == OK && job_is_workflow(reply.body);
    reply_release(&reply);
    strbuf_release(&path);
    return is_one;
}

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf run_id;
    strbuf_init(&run_id);
    enum exit_code code = request->follow ? run_by_id(client, request->word, &run_id)
                                          : run_find(client, request->word, &run_id);
    if (code == EXIT_OK)
        code = run_id.length ? show_run(client, request, run_id.text)
               : is_workflow(client, request->word)
                   ? log_follow_workflow(client, request->word, request->timestamps)
                   : log_follow_job(client, request->word, request->timestamps);
    strbuf_release(&run_id);
    return code;
}

const struct command cmd_logs = {
    .name = "logs",
    .summary = "the output of a run",
    .examples = EXAMPLES({"peal logs backup", "its newest run"},
                         {"peal logs -f backup", "follows it from run to run"},
                         {"peal logs 01K9ZQ3V7C8XH2M4N5P6Q7R8S9", "this run"},
                         {"peal logs 01K9ZQ3V7C", "the beginning of its id is enough"},
                         {"peal logs -f etl/nightly", "of a workflow: the output of its steps"}),
    .notes =
        "The job's stdout goes to stdout, its stderr to stderr. A terminal shows control "
        "characters as ^G and keeps colours; a pipe gets all bytes unchanged. With -f, a job is "
        "followed from run to run until Ctrl-C, also while the agent restarts; a line on "
        "stderr begins and ends each run. A run is followed until it ends.",
    .arguments = ROWS(ARGUMENT(request, word, "JOB|RUN", .complete = COMPLETE_JOBS)),
    .options =
        ROWS(OPTION_FLAG(request, follow, 'f', "follow",
                         "follow the output: a job's from run to run, a run's until it ends"),
             OPTION_FLAG(request, timestamps, 0, "timestamps",
                         "prefix every line with its time, in UTC"),
             OPTION_GROUP(request, base, client_options)),
    .wrong_count = "which run? Give a job's name or the id of a run",
    .request_size = sizeof(struct request),
    .with_agent = show,
};
