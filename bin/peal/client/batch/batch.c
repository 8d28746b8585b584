#include "client/batch/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cli/when.h"
#include "client/batch/batch_ahead.h"
#include "client/batch/batch_call.h"
#include "client/batch/digests.h"
#include "print/progress.h"
#include "text/tr.h"

enum { DIGESTS_FROM = 500 }; /* jobs; fewer are sent without a look at what the agent has */

/* ---- what is sent ---- */

static enum status add_put(struct batch *batch, const struct job *job)
{
    enum status st = array_grow(&batch->puts, batch->put_count, sizeof(*batch->puts));
    if (st != OK)
        return st;
    struct batch_put *put = &batch->puts[batch->put_count];
    *put = (struct batch_put){.job = job, .name = job->name, .text = job_encode_definition(job)};
    if (!put->text)
        return E_NOMEM;
    put->length = strlen(put->text);
    batch->put_count++;
    return OK;
}

enum status batch_add(struct batch *batch, const struct job *job)
{
    bool is_same = false;
    enum status st = digests_have(batch->digests, job, DIGEST_APPLIED, &is_same);
    batch->seen += st == OK;
    batch->same += is_same;
    return st == OK && !is_same ? add_put(batch, job) : st;
}

void batch_init_empty(struct batch *batch, bool is_applied)
{
    *batch = (struct batch){.delete = json_array(), .is_applied = is_applied};
}

/* Adds the jobs that were not seen yet, and divides them into calls. */
static enum exit_code complete(struct batch *batch, const struct job_list *jobs)
{
    enum status st = batch->delete ? OK : E_NOMEM;
    while (st == OK && batch->seen < jobs->count)
        st = batch_add(batch, jobs->items[batch->seen]);
    if (st == OK)
        st = batch_split(batch->puts, batch->put_count, CALL_MAX, CALL_BYTES, &batch->parts,
                         &batch->part_count);
    return cli_fail(st);
}

enum exit_code batch_init(struct batch *batch, const struct job_list *jobs)
{
    batch_init_empty(batch, false);
    return complete(batch, jobs);
}

enum exit_code batch_complete_applied(struct batch *batch, struct client *client,
                                      const struct job_list *jobs)
{
    enum exit_code code = EXIT_OK;
    batch_ahead_end(batch, true);
    if (!batch->digests && jobs->count > DIGESTS_FROM)
        code = digests_get(client, DIGESTS_CONFIRMED, &batch->digests);
    if (code == EXIT_OK)
        code = complete(batch, jobs);
    batch_ahead_match(batch);
    return code;
}

enum status batch_give_up_jobs(struct batch *batch)
{
    size_t size = 0, at = 0;
    for (size_t i = 0; i < batch->put_count; i++)
        size += strlen(batch->puts[i].name) + 1;
    char *names = malloc(size + 1);
    if (!names)
        return E_NOMEM;
    for (size_t i = 0; i < batch->put_count; i++) {
        struct batch_put *put = &batch->puts[i];
        size_t length = strlen(put->name) + 1;
        memcpy(names + at, put->name, length);
        put->name = names + at;
        put->job = NULL;
        at += length;
    }
    free(batch->names);
    batch->names = names;
    return OK;
}

void batch_forget(struct batch *batch)
{
    for (size_t i = 0; i < batch->put_count; i++)
        free(batch->puts[i].text);
    free(batch->puts);
    free(batch->names);
    json_decref(batch->checked_ahead);
    batch->puts = NULL;
    batch->names = NULL;
    batch->checked_ahead = NULL;
    batch->put_count = batch->seen = batch->same = 0;
}

void batch_release(struct batch *batch)
{
    batch_ahead_end(batch, false);
    batch_forget(batch);
    free(batch->parts);
    json_decref(batch->delete);
    json_decref(batch->digests);
    json_decref(batch->assumed);
}

/* ---- results ---- */

static void visit_list(const json_t *results, batch_visit *visit, void *context)
{
    const json_t *each;
    size_t i;
    json_array_foreach (results, i, each) {
        visit(context, answer_text(each, "name"), answer_text(each, "result"),
              json_object_get(each, "error"));
    }
}

static bool is_listed(const json_t *results, const char *name)
{
    const json_t *each;
    size_t i;
    json_array_foreach (results, i, each) {
        if (strcmp(answer_text(each, "name"), name) == 0)
            return true;
    }
    return false;
}

/* An answer about kept jobs lists those that failed alone; all others were created. */
static void visit_answer(const struct batch_call *call, const json_t *answer, batch_visit *visit,
                         void *context)
{
    const json_t *results = json_object_get(answer, "results");
    for (size_t i = 0; json_object_get(answer, "created") && i < call->puts.count; i++) {
        const char *name = call->batch->puts[call->puts.from + i].name;
        if (!is_listed(results, name))
            visit(context, name, "created", NULL);
    }
    visit_list(results, visit, context);
}

void batch_each(const struct batch *batch, const json_t *answers, batch_visit *visit, void *context)
{
    const json_t *answer;
    size_t i;
    json_array_foreach (answers, i, answer) {
        struct batch_call call = batch_call_of(batch, i, NULL);
        visit_answer(&call, answer, visit, context);
    }
}

/* ---- calls ---- */

/* The answer to a call that was checked while the files were read; NULL: it has none. */
static json_t *ahead_of(const struct batch *batch, size_t i, enum batch_phase phase)
{
    json_t *answer = phase == PHASE_CHECK ? json_array_get(batch->checked_ahead, i) : NULL;
    bool deletes = batch_call_of(batch, i, NULL).deletes.count > 0; /* which it did not have */
    return json_is_object(answer) && !deletes ? answer : NULL;
}

static enum exit_code add_answer(json_t *answer, json_t *answers)
{
    return cli_fail(json_array_append(answers, answer) == 0 ? OK : E_NOMEM);
}

/* How a batch is sent. */
struct sending {
    enum batch_phase phase;
    const json_t *checked;            /* the answers to the dry run; NULL: there was none */
    const struct batch_watcher *told; /* NULL: nobody */
};

/* Of the last answer; the next calls, if any, are under way meanwhile. */
static void tell_watcher(const struct sending *sending, const struct batch_call *call,
                         const json_t *answers)
{
    const struct batch_watcher *told = sending->told;
    if (!told)
        return;
    visit_answer(call, json_array_get(answers, json_array_size(answers) - 1), told->visit,
                 told->context);
    told->visited(told->context);
}

/* While the agent writes what is in one call it can check the next. After a failure nothing more is
 * sent. */
static enum exit_code send_by(struct flight flights[AT_ONCE], const struct batch *batch,
                              const struct sending *sending, json_t *answers)
{
    enum batch_phase phase = sending->phase;
    enum exit_code first = EXIT_OK;
    size_t begun = 0, calls = batch_calls(batch);
    struct progress progress;
    progress_begin(&progress, tr(phase == PHASE_WRITE ? "written" : "checked"),
                   batch->put_count + json_array_size(batch->delete));
    for (size_t ended = 0; ended < begun || (ended < calls && first == EXIT_OK); ended++) {
        for (; first == EXIT_OK && begun < calls && begun - ended < AT_ONCE; begun++) {
            if (!ahead_of(batch, begun, phase))
                flight_begin(&flights[begun % AT_ONCE],
                             batch_call_of(batch, begun, sending->checked), phase);
        }
        if (ended == 0 && sending->told)
            sending->told->waits(sending->told->context);
        struct flight *flight = &flights[ended % AT_ONCE];
        json_t *ahead = ahead_of(batch, ended, phase);
        enum exit_code code = ahead ? add_answer(ahead, answers) : flight_end(flight, answers);
        first = first == EXIT_OK ? code : first;
        struct batch_call call = batch_call_of(batch, ended, NULL);
        if (code == EXIT_OK)
            tell_watcher(sending, &call, answers);
        progress_step(&progress, call.puts.count + call.deletes.count);
    }
    progress_end(&progress);
    if (first == EXIT_INVALID && (phase != PHASE_WRITE || calls == 1))
        fprintf(stderr, "%s\n", tr("nothing was changed"));
    return first;
}

static enum exit_code send_all(struct client *client, const struct batch *batch,
                               const struct sending *sending, json_t *answers)
{
    struct flight flights[AT_ONCE] = {{.client = client}};
    enum exit_code code = EXIT_OK;
    for (size_t i = 1; code == EXIT_OK && i < AT_ONCE && i < batch_calls(batch); i++)
        code =
            client_open(client_is_remote(client) ? NULL : client_data(client), &flights[i].client);
    if (code == EXIT_OK)
        code = send_by(flights, batch, sending, answers);
    for (size_t i = 1; i < AT_ONCE; i++)
        client_close(flights[i].client);
    return code;
}

static void tell_failed(void *context, const char *name, const char *result, const json_t *error)
{
    enum exit_code *code = context;
    if (strcmp(result, "failed") != 0)
        return;
    const char *text =
        json_is_string(error) ? json_string_value(error) : answer_text(error, "message");
    cli_error("%s: %s", name, *text ? text : tr("could not be changed"));
    *code = EXIT_INVALID;
}

static enum exit_code send_and_tell(struct client *client, const struct batch *batch,
                                    const struct sending *sending, json_t **ret)
{
    json_t *answers = json_array();
    const json_t *answer;
    size_t i;
    enum exit_code code = answers ? send_all(client, batch, sending, answers) : cli_fail(E_NOMEM);
    if (code != EXIT_OK) {
        json_decref(answers);
        return code;
    }
    json_array_foreach (answers, i, answer) { /* each that failed is listed */
        visit_list(json_object_get(answer, "results"), tell_failed, &code);
    }
    if (code == EXIT_OK)
        *ret = answers;
    else
        json_decref(answers);
    return code;
}

/* ---- all of it ---- */

static void count_new(void *context, const char *name, const char *result, const json_t *error)
{
    int64_t *more = context;
    (void)name;
    (void)error;
    *more += strcmp(result, "created") == 0;
    *more -= strcmp(result, "deleted") == 0;
}

/* How many jobs there will be more. */
static int64_t count_more(const json_t *checked)
{
    const json_t *answer;
    int64_t more = 0;
    size_t i;
    json_array_foreach (checked, i, answer) {
        more += answer_int(answer, "created", 0); /* those that are kept, which it does not list */
        visit_list(json_object_get(answer, "results"), count_new, &more);
    }
    return more;
}

/* Each call is held against the quotas by itself, and sees nothing of the others. */
static enum exit_code check_quota(struct client *client, const json_t *checked)
{
    struct reply reply = {0};
    int64_t more = count_more(checked);
    if (client_try(client, &(struct client_request){.path = "/agent"}, &reply) != OK)
        return EXIT_OK; /* the next call reports the error */
    const json_t *jobs = json_object_get(json_object_get(reply.body, "quotas"), "jobs");
    int64_t limit = answer_int(jobs, "limit", 0), used = answer_int(jobs, "used", 0);
    reply_release(&reply);
    if (!limit || more <= 0 || used + more <= limit)
        return EXIT_OK;
    cli_error("there are %lld jobs, and %lld more would be beyond the quota of %lld; nothing was "
              "changed. Raise quotas.jobs in the agent's configuration file",
              (long long)used, (long long)more, (long long)limit);
    return EXIT_CONFLICT;
}

/* Checks all calls with dry runs first, since each call only checks its own jobs. */
static enum exit_code check_all(struct client *client, const struct batch *batch, json_t **ret)
{
    json_t *checked;
    const struct sending sending = {.phase = batch_is_kept(client) ? PHASE_CHECK : PHASE_DRY_RUN};
    enum exit_code code = send_and_tell(client, batch, &sending, &checked);
    if (code != EXIT_OK)
        return code;
    code = check_quota(client, checked);
    if (code == EXIT_OK)
        *ret = checked;
    else
        json_decref(checked);
    return code;
}

static enum exit_code check_and_send(struct client *client, const struct batch *batch, bool dry_run,
                                     const struct batch_watcher *told, json_t **ret)
{
    bool several = batch_calls(batch) > 1;
    json_t *checked = NULL;
    enum exit_code code = several && !dry_run ? check_all(client, batch, &checked) : EXIT_OK;
    const struct sending sending = {
        .phase = dry_run ? PHASE_DRY_RUN : PHASE_WRITE, .checked = checked, .told = told};
    if (code == EXIT_OK)
        code = send_and_tell(client, batch, &sending, ret);
    json_decref(checked);
    return code;
}

enum exit_code batch_send(struct client *client, const struct batch *batch, bool dry_run,
                          json_t **ret)
{
    return check_and_send(client, batch, dry_run, NULL, ret);
}

/* "would delete" for "deleted". */
static const char *result_word(const char *result, bool dry_run)
{
    static const char *const words[][2] = {{TR("created"), TR("would create")},
                                           {TR("changed"), TR("would change")},
                                           {TR("adopted"), TR("would adopt")},
                                           {TR("deleted"), TR("would delete")}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i][0], result) == 0)
            return tr(words[i][dry_run]);
    }
    return result;
}

/* Lines are printed while the agent writes what is in the next calls; on a terminal at the end, for
 * the progress is shown there. */
struct printing {
    struct batch_watcher watcher;
    const struct batch_idle *idle; /* NULL: nothing */
    struct strbuf lines;
    bool dry_run, is_later;
    size_t unchanged;
};

static void print_lines(struct printing *printing)
{
    fputs(printing->lines.text, stdout);
    strbuf_reset(&printing->lines);
}

static void print_result(void *context, const char *name, const char *result, const json_t *error)
{
    struct printing *printing = context;
    (void)error;
    if (strcmp(result, "unchanged") == 0) {
        printing->unchanged++;
    } else if (strcmp(result, "failed") != 0) { /* which is told with the reason */
        strbuf_adds(&printing->lines, result_word(result, printing->dry_run));
        strbuf_addc(&printing->lines, ' ');
        strbuf_adds(&printing->lines, name);
        strbuf_addc(&printing->lines, '\n');
    }
}

static void end_call(void *context)
{
    struct printing *printing = context;
    if (!printing->is_later && strbuf_status(&printing->lines) == OK)
        print_lines(printing);
}

static void while_agent_works(void *context)
{
    const struct printing *printing = context;
    if (printing->idle)
        printing->idle->work(printing->idle->context);
}

enum exit_code batch_apply(struct client *client, const struct batch *batch, bool dry_run,
                           const struct batch_idle *idle)
{
    struct printing printing = {
        .watcher = {print_result, end_call, while_agent_works, &printing},
        .idle = idle,
        .dry_run = dry_run,
        .is_later = isatty(STDOUT_FILENO),
        .unchanged = batch->same,
    };
    json_t *answers = NULL;
    strbuf_init(&printing.lines);
    enum exit_code code = check_and_send(client, batch, dry_run, &printing.watcher, &answers);
    json_decref(answers);
    enum exit_code printed = cli_fail(strbuf_status(&printing.lines));
    if (printed == EXIT_OK)
        print_lines(&printing);
    strbuf_release(&printing.lines);
    if (code != EXIT_OK || printed != EXIT_OK)
        return code != EXIT_OK ? code : printed;
    if (printing.unchanged) {
        fprintf(stderr, tr("%zu unchanged"), printing.unchanged);
        fputc('\n', stderr);
    }
    if (dry_run)
        fprintf(stderr, "%s\n", tr("nothing was changed (--dry-run)"));
    return EXIT_OK;
}
