/* peal backfill: run ticks of the past that have not run. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/run_table.h"
#include "text/tr.h"

enum { LIMIT_MAX = 100000, BAR = 30 };

struct request {
    struct request_base base;
    const char *job;
    struct when_text from, to;
    bool dry_run, wait;
    int64_t limit; /* 0: the agent's */
};

static const struct option_row options[] = {
    OPTION_WHEN(request, from, "from", "the first tick"),
    OPTION_WHEN(request, to, "to", "end of the range, not included (default: now)"),
    OPTION_FLAG(request, dry_run, 0, "dry-run", "only count the ticks"),
    OPTION_NUMBER(request, limit, 0, "limit", 1, LIMIT_MAX, "the maximum number of ticks (1000)"),
    OPTION_FLAG(request, wait, 0, "wait", "wait for the end of all runs, also without a terminal"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

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

/* Only shows the progress: an interrupt does not stop the runs. */
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
    struct strbuf now;
    strbuf_init(&now);
    when_print_api(now_ms(), &now);
    json_t *body = json_pack("{sssssb}", "from", request->from.text, "to",
                             request->to.text[0] ? request->to.text : now.text, "dry_run",
                             (int)request->dry_run);
    strbuf_release(&now);
    if (body && request->limit &&
        json_object_set_new(body, "limit", json_integer(request->limit)) != 0) {
        json_decref(body);
        return NULL;
    }
    return body;
}

/* Notes that there are more ticks than one backfill takes. */
static void tell_more(const char *next_from)
{
    if (*next_from)
        cli_note("there are more ticks; go on with --from %s, or take more at once: --limit N, "
                 "10000 at most",
                 next_from);
}

static enum exit_code tell(struct client *client, const struct request *request,
                           const json_t *answer)
{
    int64_t ticks = answer_int(answer, "ticks", 0), already = answer_int(answer, "already", 0);
    int64_t added = answer_int(answer, "added", 0);
    if (request->dry_run)
        printf(tr("%" PRId64 " ticks, %" PRId64 " have run already, %" PRId64
                  " to run (--dry-run: none was started)"),
               ticks, already, ticks - already);
    else
        printf(tr("%" PRId64 " ticks, %" PRId64 " have run already, %" PRId64 " to run"), ticks,
               already, added);
    putchar('\n');
    if (json_array_size(json_object_get(answer, "left_out")))
        cli_note("ticks that calendars take out are not among them; see: peal next %s",
                 request->job);
    fflush(stdout);
    tell_more(answer_text(answer, "next_from"));
    if (!request->dry_run && (request->wait || isatty(STDERR_FILENO)))
        return watch(client, request->job, added);
    return EXIT_OK;
}

static enum exit_code backfill(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *answer = NULL;
    if (!request->from.text[0])
        return cli_usage(request->base.command, "from when on? Give --from");
    json_t *body = make_body(request);
    enum exit_code code = body ? client_job_action(client, request->job, "backfill", body, &answer)
                               : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = tell(client, request, answer);
    json_decref(answer);
    json_decref(body);
    return code;
}

const struct command cmd_backfill = {
    .name = "backfill",
    .summary = "run past ticks that have not run",
    .examples = EXAMPLES({"peal backfill report --from 2027-01-01 --to 2027-01-08 --dry-run", NULL},
                         {"peal backfill report --from 2d", NULL}),
    .usage = "JOB --from T [--to T] [options]",
    .notes = "Every tick at or after --from and before --to that has not run yet runs once. A "
             "terminal shows the progress; Ctrl-C ends the display, not the runs.",
    .more = WHEN_TEXT,
    .arguments = ROWS(ARGUMENT(request, job, "JOB", .complete = COMPLETE_JOBS)),
    .options = options,
    .wrong_count = ONE_JOB,
    .request_size = sizeof(struct request),
    .with_agent = backfill,
};
