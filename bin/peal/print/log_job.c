#include "print/log_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "id.h"
#include "print/log_print.h"
#include "print/run_table.h"
#include "text/tr.h"

enum { ASKED = 50 }; /* runs per look: so many may begin between two */

/* A run that is being printed. */
struct tail {
    char id[ID_TEXT + 1];
    struct log_printer printer;
    bool has_begun;
};

struct job_tail {
    struct client *client;
    const char *job;
    bool timestamps;
    struct strbuf path;       /* of the list of runs */
    struct tail tails[ASKED]; /* oldest first */
    size_t count;
    char printed[ID_TEXT + 1]; /* the newest run that was begun; "": none */
    char speaker[ID_TEXT + 1]; /* the run of the last line */
    bool is_away;              /* the agent did not answer */
};

/* ---- the agent ---- */

/* Quiet while the agent is away: it is waited for. *ret is NULL then. */
static enum exit_code look(struct job_tail *tail, json_t **ret)
{
    struct reply reply = {0};
    enum status st =
        client_try(tail->client, &(struct client_request){.path = tail->path.text}, &reply);
    bool is_away = st == E_UNREACHABLE || st == E_UNKNOWN || (st == OK && reply.status >= 502);
    if (is_away != tail->is_away)
        cli_note(is_away ? "the agent does not answer; waiting for it" : "the agent is back");
    tail->is_away = is_away;
    enum exit_code code = is_away ? EXIT_OK : client_report(tail->client, st, &reply);
    if (code == EXIT_OK && !is_away)
        *ret = json_incref(json_object_get(reply.body, "items"));
    reply_release(&reply);
    return code;
}

/* ---- runs ---- */

static void begin(struct job_tail *tail, const char *id)
{
    struct tail *added = &tail->tails[tail->count++];
    *added = (struct tail){.printer = {.timestamps = tail->timestamps}};
    snprintf(added->id, sizeof(added->id), "%s", id);
    if (strcmp(id, tail->printed) > 0)
        memcpy(tail->printed, added->id, sizeof(tail->printed));
}

static const char *newest(const json_t *runs)
{
    const char *found = "";
    const json_t *run;
    size_t i;
    json_array_foreach (runs, i, run) { /* open ones come first */
        const char *id = answer_text(run, "run_id");
        if (strcmp(id, found) > 0)
            found = id;
    }
    return found;
}

/* At first the newest run alone; then all that are newer than those that were begun before. */
static void take_new(struct job_tail *tail, const json_t *runs)
{
    char last[ID_TEXT + 1];
    const char *first = newest(runs);
    memcpy(last, tail->printed, sizeof(last));
    if (!*last && *first) {
        begin(tail, first);
        return;
    }
    for (size_t i = json_array_size(runs); i-- > 0 && tail->count < ASKED;) {
        const char *id = answer_text(json_array_get(runs, i), "run_id");
        if (strcmp(id, last) > 0) /* ids sort by age */
            begin(tail, id);
    }
}

/* Only its node knows when a run that is begun has started, until it ends. */
static bool may_have_output(const json_t *run)
{
    return run_is_over(run) || answer_time(run, "started_at") != NO_TIME ||
           strcmp(answer_text(run, "state"), "begun") == 0;
}

static void print_begin(struct job_tail *tail, struct tail *each, const json_t *run)
{
    struct strbuf text;
    int64_t started_ms = answer_time(run, "started_at");
    bool is_known = started_ms != NO_TIME;
    if (strcmp(tail->speaker, each->id) == 0 || (run_is_over(run) && !is_known))
        return;
    strbuf_init(&text);
    if (is_known)
        when_print_local(started_ms, &text);
    fflush(stdout);
    if (!is_known)
        fprintf(stderr, tr(each->has_begun ? "-- %s %s: goes on --" : "-- %s %s: begun --"),
                tail->job, each->id);
    else
        fprintf(
            stderr,
            tr(each->has_begun ? "-- %s %s: goes on; it started %s --" : "-- %s %s: started %s --"),
            tail->job, each->id, text.text);
    fputc('\n', stderr);
    each->has_begun = true;
    memcpy(tail->speaker, each->id, sizeof(tail->speaker));
    strbuf_release(&text);
}

static void print_end(const struct job_tail *tail, const struct tail *each, const json_t *run)
{
    struct strbuf text;
    strbuf_init(&text);
    run_end(run, &text);
    fflush(stdout);
    fprintf(stderr, tr("-- %s %s: %s --"), tail->job, each->id, text.text);
    fputc('\n', stderr);
    strbuf_release(&text);
}

/* True: it has ended, and was printed to its end. */
static bool print_more(struct job_tail *tail, struct tail *each, const json_t *run,
                       enum exit_code *ret)
{
    json_t *now = NULL;
    *ret = EXIT_OK;
    if (!may_have_output(run))
        return false;
    print_begin(tail, each, run);
    *ret = log_print_more(tail->client, each->id, &each->printer, &now);
    bool is_over = *ret == EXIT_OK && each->printer.complete;
    if (is_over)
        print_end(tail, each, now);
    json_decref(now);
    return is_over;
}

static const json_t *find_run(const json_t *runs, const char *id)
{
    const json_t *run;
    size_t i;
    json_array_foreach (runs, i, run) {
        if (strcmp(answer_text(run, "run_id"), id) == 0)
            return run;
    }
    return NULL;
}

/* A run that left the list, or that can't be read, is not followed any more. True: something was
 * printed. */
static bool print_all(struct job_tail *tail, const json_t *runs)
{
    size_t kept = 0;
    bool is_new = false;
    for (size_t i = 0; i < tail->count; i++) {
        struct tail *each = &tail->tails[i];
        const json_t *run = find_run(runs, each->id);
        int64_t before = each->printer.offset;
        enum exit_code code = EXIT_OK;
        bool is_over = !run || print_more(tail, each, run, &code);
        is_new = is_new || each->printer.offset > before;
        if (!is_over && (code == EXIT_OK || code == EXIT_UNREACHABLE))
            tail->tails[kept++] = *each;
    }
    tail->count = kept;
    return is_new;
}

enum exit_code log_follow_job(struct client *client, const char *job, bool timestamps)
{
    struct job_tail *tail = calloc(1, sizeof(*tail));
    int delay_ms = 0;
    if (!tail)
        return cli_fail(E_NOMEM);
    *tail = (struct job_tail){.client = client, .job = job, .timestamps = timestamps};
    strbuf_init(&tail->path);
    strbuf_adds(&tail->path, "/runs?");
    enum exit_code code = url_job_param(client, job, &tail->path);
    strbuf_addf(&tail->path, "limit=%d", ASKED);
    while (code == EXIT_OK) {
        json_t *runs = NULL;
        code = look(tail, &runs);
        take_new(tail, runs);
        if (code == EXIT_OK && runs && print_all(tail, runs))
            delay_ms = 0;
        json_decref(runs);
        if (code == EXIT_OK)
            pause_longer(&delay_ms);
    }
    strbuf_release(&tail->path);
    free(tail);
    return code;
}
