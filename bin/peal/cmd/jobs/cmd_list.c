/* peal list: all jobs, what runs next, and how the last run ended. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/job_table.h"

enum { OPTION_PAUSED = OPTION_LONG_ONLY, OPTION_FAILED, OPTION_DELETED, OPTION_LABEL };

static const struct option options[] = {
    CLIENT_OPTIONS,
    OUTPUT_OPTION,
    {"label", required_argument, NULL, OPTION_LABEL},
    {"query", required_argument, NULL, 'q'},
    {"paused", no_argument, NULL, OPTION_PAUSED},
    {"failed", no_argument, NULL, OPTION_FAILED},
    {"deleted", no_argument, NULL, OPTION_DELETED},
    {0},
};

struct request {
    const char *data, *label, *query;
    bool paused, failed, deleted;
    enum output output;
};

static bool take_option(const struct command *self, int opt, struct request *request)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case 'o':
        return output_take(self, optarg, &request->output);
    case OPTION_LABEL:
        request->label = optarg;
        return strchr(optarg, '=') ||
               cli_usage(self, "--label is NAME=VALUE, not \"%s\"", optarg) == EXIT_OK;
    case 'q':
        request->query = optarg;
        return true;
    case OPTION_PAUSED:
        return request->paused = true;
    case OPTION_FAILED:
        return request->failed = true;
    case OPTION_DELETED:
        return request->deleted = true;
    default:
        return false;
    }
}

static bool is_wanted(const struct request *request, const json_t *job)
{
    const json_t *status = json_object_get(job, "status");
    const char *last = answer_text(json_object_get(status, "last"), "state");
    if (request->paused && !json_is_true(json_object_get(status, "paused")))
        return false;
    return !request->failed || (*last && strcmp(last, "ok") != 0);
}

static void filter(const struct request *request, json_t *jobs)
{
    for (size_t i = json_array_size(jobs); i-- > 0;) {
        if (!is_wanted(request, json_array_get(jobs, i)))
            json_array_remove(jobs, i);
    }
}

static bool is_filtered(const struct request *request)
{
    return request->label || request->query || request->paused || request->failed ||
           request->deleted;
}

static enum exit_code list(struct client *client, const struct request *request)
{
    struct strbuf path;
    json_t *jobs = NULL;
    strbuf_init(&path);
    strbuf_adds(&path, "/jobs?");
    if (request->query) {
        strbuf_adds(&path, "q=");
        url_escape(&path, request->query);
        strbuf_addc(&path, '&');
    }
    if (request->label) {
        strbuf_adds(&path, "label=");
        url_escape(&path, request->label);
        strbuf_addc(&path, '&');
    }
    if (request->deleted)
        strbuf_adds(&path, "deleted=true&");
    enum exit_code code = cli_fail(strbuf_status(&path));
    if (code == EXIT_OK)
        code = client_list(client, path.text, 0, &jobs);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    filter(request, jobs);
    if (json_array_size(jobs) == 0 && request->output <= OUTPUT_WIDE)
        fputs(is_filtered(request) ? "no such jobs\n"
                                   : "no jobs; add one: peal add NAME SCHEDULE -- COMMAND\n",
              stderr);
    else
        code = jobs_print(client, jobs, request->output);
    json_decref(jobs);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {0};
    struct client *client;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            return EXIT_USAGE;
    }
    if (optind < argc)
        return cli_usage(self, "list takes no names; one job: peal get %s", argv[optind]);
    enum exit_code code = client_open(request.data, &client);
    if (code != EXIT_OK)
        return code;
    code = list(client, &request);
    client_close(client);
    return code;
}

const struct command cmd_list = {
    .name = "list",
    .summary = "all jobs: next run, last run, status",
    .help =
        "Examples:\n"
        "  peal list\n"
        "  peal list --failed\n"
        "  peal list --label team=ops -o wide\n"
        "  peal list -o yaml > jobs.yaml          all definitions, for peal apply\n"
        "\n"
        "Usage: peal list [options]\n"
        "\n"
        "Options:\n"
        "  -q, --query TEXT only jobs whose name holds TEXT\n"
        "  --label K=V      only jobs with this label\n"
        "  --paused         only paused jobs\n"
        "  --failed         only jobs whose last run was not ok\n"
        "  --deleted        deleted jobs that can still be brought back\n" OUTPUT_HELP CLIENT_HELP
        "\n"
        "json has all fields; yaml are the definitions, as `peal apply` takes them.\n",
    .options = options,
    .run = run,
};
