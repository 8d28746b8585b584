/* peal backfill: run ticks of the past that have not run. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/run_table.h"

enum { OPTION_FROM = OPTION_LONG_ONLY, OPTION_TO, OPTION_DRY_RUN, OPTION_LIMIT, OPTION_WAIT };
enum { LIMIT_MAX = 100000, BAR = 30 };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"wait", no_argument, NULL, OPTION_WAIT},
    {0},
};

struct request {
    const char *data;
    struct strbuf from, to;
    bool dry_run, wait;
    int64_t limit; /* 0: the agent's */
};

static bool take_option(const struct command *self, int opt, struct request *request)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case OPTION_FROM:
        strbuf_reset(&request->from);
        return when_option(self, "--from", optarg, &request->from);
    case OPTION_TO:
        strbuf_reset(&request->to);
        return when_option(self, "--to", optarg, &request->to);
    case OPTION_DRY_RUN:
        return request->dry_run = true;
    case OPTION_LIMIT:
        return cli_number(self, "--limit", optarg, 1, LIMIT_MAX, &request->limit);
    case OPTION_WAIT:
        return request->wait = true;
    default:
        return false;
    }
}

static void draw_bar(int64_t done, int64_t all)
{
    char bar[BAR + 1];
    int filled = (int)(all ? done * BAR / all : BAR);
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)filled);
    bar[BAR] = '\0';
    fprintf(stderr, "\r[%s] %" PRId64 "/%" PRId64, bar, done, all);
}

/* How many runs of the backfill are not over. */
static enum exit_code count_left(struct client *client, const char *path, int64_t *ret)
{
    json_t *runs;
    const json_t *run;
    size_t i;
    enum exit_code code = client_list(client, path, 0, &runs);
    if (code != EXIT_OK)
        return code;
    *ret = 0;
    json_array_foreach (runs, i, run) {
        *ret += strcmp(answer_text(run, "cause"), "backfill") == 0;
    }
    json_decref(runs);
    return EXIT_OK;
}

/* Watches only: an interrupt leaves the runs alone. */
static enum exit_code watch(struct client *client, const char *name, int64_t added)
{
    bool terminal = isatty(STDERR_FILENO);
    int64_t left = added;
    int delay_ms = 0;
    struct strbuf path;
    enum exit_code code = EXIT_OK;
    strbuf_init(&path);
    strbuf_adds(&path, "/runs?state=" OPEN_STATES "&job=");
    url_escape(&path, name);
    strbuf_addc(&path, '&');
    while (left > 0 && code == EXIT_OK) {
        code = count_left(client, path.text, &left);
        if (left > added)
            left = added; /* another backfill is under way, too */
        if (terminal && code == EXIT_OK)
            draw_bar(added - left, added);
        if (left > 0)
            pause_longer(&delay_ms);
    }
    if (terminal)
        fputc('\n', stderr);
    strbuf_release(&path);
    return code;
}

static json_t *make_body(const struct request *request)
{
    json_t *body = json_pack("{sssssb}", "from", request->from.text, "to", request->to.text,
                             "dry_run", (int)request->dry_run);
    if (body && request->limit &&
        json_object_set_new(body, "limit", json_integer(request->limit)) != 0) {
        json_decref(body);
        return NULL;
    }
    return body;
}

/* There were more ticks than one backfill takes. */
static void tell_more(const char *next_from)
{
    if (*next_from)
        fprintf(
            stderr,
            "note: there are more ticks; go on with --from %s, or take more at once: --limit N, "
            "10000 at most\n",
            next_from);
}

static enum exit_code backfill(const char *name, const struct request *request)
{
    struct client *client;
    json_t *answer = NULL, *body = make_body(request);
    if (!body)
        return cli_fail(E_NOMEM);
    enum exit_code code = client_open(request->data, &client);
    if (code != EXIT_OK)
        goto out;
    code = client_job_action(client, name, "backfill", body, &answer);
    if (code == EXIT_OK) {
        int64_t ticks = answer_int(answer, "ticks", 0), already = answer_int(answer, "already", 0);
        int64_t added = answer_int(answer, "added", 0);
        printf("%" PRId64 " ticks, %" PRId64 " have run already, %" PRId64 " to run%s\n", ticks,
               already, request->dry_run ? ticks - already : added,
               request->dry_run ? " (--dry-run: none was started)" : "");
        if (json_array_size(json_object_get(answer, "left_out")))
            cli_note("ticks that calendars take out are not among them; see: peal next %s", name);
        fflush(stdout);
        tell_more(answer_text(answer, "next_from"));
        if (!request->dry_run && (request->wait || isatty(STDERR_FILENO)))
            code = watch(client, name, added);
    }
    json_decref(answer);
    client_close(client);
out:
    json_decref(body);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {0};
    enum exit_code code = EXIT_USAGE;
    int opt;
    strbuf_init(&request.from);
    strbuf_init(&request.to);
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            goto out;
    }
    if (request.to.length == 0)
        when_print_api(now_ms(), &request.to);
    if (argc - optind != 1)
        cli_usage(self, "which job? One at a time");
    else if (request.from.length == 0)
        cli_usage(self, "from when on? Give --from");
    else
        code = backfill(argv[optind], &request);
out:
    strbuf_release(&request.from);
    strbuf_release(&request.to);
    return code;
}

const struct command cmd_backfill = {
    .name = "backfill",
    .summary = "run past ticks that have not run",
    .help = "Examples:\n"
            "  peal backfill report --from 2027-01-01 --to 2027-01-08 --dry-run\n"
            "  peal backfill report --from 2d\n"
            "\n"
            "Usage: peal backfill JOB --from T [--to T] [options]\n"
            "\n"
            "Every tick from --from on and before --to that has not run yet runs once.\n"
            "On a terminal the progress is shown; Ctrl-C only ends the showing.\n"
            "\n"
            "Options:\n"
            "  --from T         the first tick\n"
            "  --to T           not this one, nor later ones (now)\n"
            "  --dry-run        only count\n"
            "  --limit N        at most so many ticks (1000)\n"
            "  --wait           until all are over, also where there is no terminal\n" CLIENT_HELP
            "\n" WHEN_HELP,
    .getopt_rows = options,
    .old_run = run,
};
