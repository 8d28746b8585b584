/* peal run: a run of a job, now. */
#include <stdio.h>

#include "cli/when.h"
#include "client/client.h"
#include "duration.h"
#include "print/log_print.h"
#include "print/run_table.h"

enum { OPTION_WAIT = OPTION_LONG_ONLY, OPTION_TIMEOUT };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"wait", no_argument, NULL, OPTION_WAIT},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"follow", no_argument, NULL, 'f'},
    {0},
};

struct request {
    const char *data;
    bool wait, follow;
    int64_t timeout_s; /* 0: none */
};

static bool take_option(const struct command *self, int opt, struct request *request)
{
    struct parse_error err;
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case OPTION_WAIT:
        return request->wait = true;
    case 'f':
        return request->follow = true;
    case OPTION_TIMEOUT:
        if (duration_parse(optarg, 1, &request->timeout_s, &err) == OK)
            return true;
        cli_usage(self, "--timeout: %s", err.message);
        return false;
    default:
        return false;
    }
}

static enum exit_code tell_end(const char *name, const json_t *run)
{
    struct strbuf text;
    strbuf_init(&text);
    run_outcome(run, &text);
    if (answer_time(run, "started_at") != NO_TIME) {
        strbuf_adds(&text, " after ");
        when_print_taken(answer_time(run, "started_at"), answer_time(run, "finished_at"), &text);
    }
    fprintf(stderr, "%s: %s%s%s\n", name, text.text, *answer_text(run, "detail") ? ": " : "",
            answer_text(run, "detail"));
    strbuf_release(&text);
    return run_is_ok(run) ? EXIT_OK : EXIT_RUN_FAILED;
}

/* With --follow the output is data, and the id is talk. */
static enum exit_code watch(struct client *client, const char *name, const char *run_id,
                            const struct request *request)
{
    int64_t deadline_ms = request->timeout_s ? now_ms() + request->timeout_s * 1000 : NO_TIME;
    struct log_printer printer = {0};
    json_t *run = NULL;
    enum exit_code code = EXIT_OK;
    fprintf(request->follow ? stderr : stdout, "%s\n", run_id);
    fflush(stdout);
    if (!request->wait && !request->follow)
        return EXIT_OK;
    if (request->follow)
        code = log_follow(client, run_id, &printer, deadline_ms, &run);
    bool is_elsewhere = code == EXIT_CONFLICT || code == EXIT_NOT_FOUND; /* which has been told */
    if (!request->follow || is_elsewhere)
        code = run_wait(client, name, run_id, deadline_ms, &run);
    if (code == EXIT_OK)
        code = tell_end(name, run);
    json_decref(run);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {0};
    struct client *client;
    json_t *answer = NULL;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            return EXIT_USAGE;
    }
    if (argc - optind != 1)
        return cli_usage(self, "which job? One at a time");
    if (request.timeout_s && !request.wait && !request.follow)
        return cli_usage(self, "--timeout is how long to wait; it needs --wait or --follow");
    enum exit_code code = client_open(request.data, &client);
    if (code != EXIT_OK)
        return code;
    code = client_job_action(client, argv[optind], "run", NULL, &answer);
    if (code == EXIT_OK)
        code = watch(client, argv[optind], answer_text(answer, "run_id"), &request);
    json_decref(answer);
    client_close(client);
    return code;
}

const struct command cmd_run = {
    .name = "run",
    .summary = "run a job now",
    .help = "Examples:\n"
            "  peal run backup                     prints the id of the run\n"
            "  peal run backup --wait && echo good\n"
            "  peal run backup --follow            shows its output until it is over\n"
            "\n"
            "Usage: peal run NAME [options]\n"
            "\n"
            "Exit status with --wait or --follow: 0 the run was ok, 10 it was not, 7 it was not\n"
            "over in time. 4: its overlap rule forbids it now.\n"
            "\n"
            "Options:\n"
            "  --wait           until the run is over\n"
            "  -f, --follow     the same, with its output\n"
            "  --timeout D      how long to wait at most; the run goes on\n" CLIENT_HELP,
    .options = options,
    .run = run,
};
