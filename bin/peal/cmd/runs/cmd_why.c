/* peal why: why did it run, or not? */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/client.h"

static const struct option options[] = {CLIENT_OPTIONS, OUTPUT_OPTION, {0}};

static void print_time(const char *label, int64_t at_ms)
{
    struct strbuf text;
    if (at_ms == NO_TIME)
        return;
    strbuf_init(&text);
    when_print_full(at_ms, &text);
    printf("%-9s %s\n", label, text.text);
    strbuf_release(&text);
}

static void print_field(const char *label, const char *text)
{
    if (*text)
        printf("%-9s %s\n", label, text);
}

static void print_next(const json_t *next)
{
    if (!json_is_object(next))
        return;
    putchar('\n');
    print_time("next", answer_time(next, "tick"));
    if (*answer_text(next, "text"))
        printf("%s\n", answer_text(next, "text"));
}

static void print_answer(const json_t *answer)
{
    const json_t *run = json_object_get(answer, "run");
    const json_t *entry = json_object_get(answer, "entry");
    if (*answer_text(answer, "text"))
        printf("%s\n\n", answer_text(answer, "text"));
    print_time("tick", answer_time(answer, "tick"));
    print_field("state", answer_text(answer, "state"));
    print_field("reason", answer_text(answer, "reason"));
    print_field("run", answer_text(run, "run_id"));
    print_field("node", answer_text(run, "node"));
    print_time("started", answer_time(run, "started_at"));
    print_time("finished", answer_time(run, "finished_at"));
    print_field("by", answer_text(run, "by"));
    print_field("detail", answer_text(json_is_object(run) ? run : entry, "detail"));
    print_next(json_object_get(answer, "next"));
}

/* GET, since it only asks; a missing job is told as everywhere. */
static enum exit_code ask(struct client *client, const char *name, const char *tick, json_t **ret)
{
    struct reply job;
    struct strbuf path;
    enum exit_code code = client_job(client, name, &job);
    if (code != EXIT_OK)
        return code;
    reply_release(&job);
    strbuf_init(&path);
    job_path(&path, name, "/why");
    if (*tick) {
        strbuf_adds(&path, "?tick=");
        url_escape(&path, tick);
    }
    code = client_get(client, path.text, ret);
    strbuf_release(&path);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    enum output output = OUTPUT_TABLE;
    struct client *client = NULL;
    struct strbuf tick;
    json_t *answer = NULL;
    enum exit_code code =
        client_to_show(self, argc, argv, "which job, and which tick?", &output, &client);
    if (code != EXIT_OK)
        return code;
    strbuf_init(&tick);
    if (argc - optind > 2)
        code = cli_usage(self, "unexpected \"%s\"", argv[optind + 2]);
    else if (argc - optind == 2 && !when_option(self, "TICK", argv[optind + 1], &tick))
        code = EXIT_USAGE;
    else
        code = ask(client, argv[optind], tick.text, &answer);
    if (code == EXIT_OK) {
        if (output == OUTPUT_JSON || output == OUTPUT_YAML)
            code = output_print(answer, output);
        else
            print_answer(answer);
        json_decref(answer);
    }
    client_close(client);
    strbuf_release(&tick);
    return code;
}

const struct command cmd_why = {
    .name = "why",
    .summary = "why a job did, or did not, run",
    .help = "Examples:\n"
            "  peal why backup                         its last tick, and the next\n"
            "  peal why backup '2027-01-01 02:30'\n"
            "  peal why backup 2027-01-01T02:30:00Z -o json\n"
            "\n"
            "Usage: peal why JOB [TICK]\n"
            "\n"
            "TICK is the scheduled time: RFC 3339, or local like '2027-01-01 02:30'.\n"
            "\n"
            "Options:\n"
            "  -o, --output F   table (default), json or yaml\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
