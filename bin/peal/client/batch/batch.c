#include "client/batch/batch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "client/batch/digests.h"
#include "document/json_quote.h"
#include "print/progress.h"
#include "text/tr.h"

/* What goes in one call, or more if jobs depend on each other: half of what the agent takes. */
enum { CALL_MAX = 5000, CALL_BYTES = 6 << 20 };

enum { AT_ONCE = 2 }; /* calls */

enum { DIGESTS_FROM = 500 }; /* jobs; fewer are sent without a look at what the agent has */

static enum status add_put(struct batch *batch, const struct job *job)
{
    struct batch_put *put = &batch->puts[batch->put_count];
    put->job = job;
    put->text = job_encode_definition(job);
    if (!put->text)
        return E_NOMEM;
    put->length = strlen(put->text);
    batch->put_count++;
    return OK;
}

static enum exit_code init(struct batch *batch, const struct job_list *jobs, const json_t *digests)
{
    *batch = (struct batch){.delete = json_array(),
                            .puts = calloc(jobs->count + 1, sizeof(*batch->puts))};
    enum status st = batch->puts && batch->delete ? OK : E_NOMEM;
    for (size_t i = 0; st == OK && i < jobs->count; i++) {
        bool is_same = false;
        st = digests_have(digests, jobs->items[i], DIGEST_APPLIED, &is_same);
        batch->same += is_same;
        if (st == OK && !is_same)
            st = add_put(batch, jobs->items[i]);
    }
    if (st == OK)
        st = batch_split(batch->puts, batch->put_count, CALL_MAX, CALL_BYTES, &batch->parts,
                         &batch->part_count);
    return cli_fail(st);
}

enum exit_code batch_init(struct batch *batch, const struct job_list *jobs)
{
    return init(batch, jobs, NULL);
}

enum exit_code batch_init_applied(struct batch *batch, struct client *client,
                                  const struct job_list *jobs)
{
    json_t *digests = NULL;
    enum exit_code got = EXIT_OK;
    if (jobs->count > DIGESTS_FROM)
        got = digests_get(client, &digests);
    enum exit_code code = init(batch, jobs, digests);
    batch->is_applied = true;
    json_decref(digests);
    return got != EXIT_OK ? got : code;
}

void batch_release(struct batch *batch)
{
    for (size_t i = 0; i < batch->put_count; i++)
        free(batch->puts[i].text);
    free(batch->puts);
    free(batch->parts);
    json_decref(batch->delete);
}

/* ---- a call ---- */

/* One call: some of the puts, some of the deletes. */
struct batch_call {
    const struct batch *batch;
    struct batch_part puts, deletes;
};

static size_t batch_calls(const struct batch *batch)
{
    size_t deletes = (json_array_size(batch->delete) + CALL_MAX - 1) / CALL_MAX;
    return batch->part_count > deletes ? batch->part_count : deletes;
}

static struct batch_call call_of(const struct batch *batch, size_t i)
{
    struct batch_call call = {.batch = batch};
    size_t deletes = json_array_size(batch->delete), from = i * CALL_MAX;
    if (i < batch->part_count)
        call.puts = batch->parts[i];
    if (from < deletes)
        call.deletes =
            (struct batch_part){from, deletes - from < CALL_MAX ? deletes - from : CALL_MAX};
    return call;
}

static const char *deleted_name(const struct batch_call *call, size_t i)
{
    return json_string_value(json_array_get(call->batch->delete, call->deletes.from + i));
}

/* The body as text; NULL: out of memory. */
static char *print_body(const struct batch_call *call, bool dry_run)
{
    struct strbuf out;
    strbuf_init(&out);
    strbuf_adds(&out, "{\"put\":[");
    for (size_t i = 0; i < call->puts.count; i++) {
        const struct batch_put *put = &call->batch->puts[call->puts.from + i];
        if (i)
            strbuf_addc(&out, ',');
        strbuf_add(&out, put->text, put->length);
    }
    strbuf_adds(&out, "],\"delete\":[");
    for (size_t i = 0; i < call->deletes.count; i++) {
        if (i)
            strbuf_addc(&out, ',');
        out.failed |= !json_quote(&out, deleted_name(call, i));
    }
    strbuf_adds(&out, dry_run ? "],\"dry_run\":true}" : "],\"dry_run\":false}");
    return strbuf_detach(&out);
}

/* ---- mistakes that the agent found ---- */

/* The name of the job that a pointer like /put/3/after/0/job is about, and in *ret its definition;
 * NULL: none, for a delete. *ret_rest is the rest of the pointer. */
static const char *find_item(const struct batch_call *call, const char *pointer, json_t **ret,
                             const char **ret_rest)
{
    char list[8];
    char *end;
    int length = 0;
    if (sscanf(pointer, "/%7[a-z]/%n", list, &length) < 1 || !length)
        return NULL;
    size_t index = strtoul(pointer + length, &end, 10);
    *ret_rest = end;
    if (end == pointer + length)
        return NULL;
    if (strcmp(list, "delete") == 0)
        return index < call->deletes.count ? deleted_name(call, index) : NULL;
    if (strcmp(list, "put") != 0 || index >= call->puts.count)
        return NULL;
    const struct batch_put *put = &call->batch->puts[call->puts.from + index];
    *ret = json_loadb(put->text, put->length, 0, NULL);
    return put->job->name;
}

/* The text at the rest of the pointer; NULL: no text. */
static const char *find_text(const json_t *item, const char *rest)
{
    char word[64];
    while (item && *rest == '/') {
        size_t length = strcspn(rest + 1, "/");
        snprintf(word, sizeof(word), "%.*s", (int)(length < 63 ? length : 63), rest + 1);
        item = json_is_array(item) ? json_array_get(item, strtoul(word, NULL, 10))
                                   : json_object_get(item, word);
        rest += 1 + length;
    }
    return json_string_value(item);
}

/* One mistake, at its place in the files. */
static void tell_mistake(const struct batch_call *call, const json_t *error)
{
    const struct job_sources *sources = call->batch->sources;
    const char *rest = "", *pointer = answer_text(error, "pointer");
    json_t *item = NULL;
    const char *name = find_item(call, pointer, &item, &rest);
    char field[64] = "";
    sscanf(rest, "/%63[^/]", field);
    const struct job_mistake mistake = {.job = name,
                                        .field = *field ? field : NULL,
                                        .value = find_text(item, rest),
                                        .message = answer_text(error, "message")};
    if (sources && name)
        job_sources_tell(sources, &mistake);
    else
        cli_error("%s: %s", name ? name : pointer, mistake.message);
    json_decref(item);
}

/* False: the answer has none. */
static bool tell_mistakes(const struct batch_call *call, const struct reply *reply)
{
    const json_t *errors = json_object_get(reply->body, "errors"), *error;
    size_t i;
    if (reply->status != 422 || !json_array_size(errors))
        return false;
    json_array_foreach (errors, i, error) {
        tell_mistake(call, error);
    }
    return true;
}

/* ---- calls ---- */

/* A call under way, in a thread of its own. */
struct flight {
    struct client *client;
    struct batch_call call;
    char *body;
    pthread_t thread;
    bool has_thread;
    enum status st;
    struct reply reply;
};

static void *fly(void *context)
{
    struct flight *flight = context;
    const struct client_request request = {
        .method = "POST",
        .path = flight->call.batch->is_applied ? "/jobs:batch?applied=true" : "/jobs:batch",
        .text = flight->body,
    };
    flight->st = client_try(flight->client, &request, &flight->reply);
    return NULL;
}

static void begin_flight(struct flight *flight, struct batch_call call, bool dry_run)
{
    *flight = (struct flight){.client = flight->client, .call = call, .st = E_NOMEM};
    flight->body = print_body(&call, dry_run);
    if (!flight->body)
        return;
    flight->has_thread = pthread_create(&flight->thread, NULL, fly, flight) == 0;
    if (!flight->has_thread)
        fly(flight);
}

/* Waits for the answer, and adds its results. */
static enum exit_code end_flight(struct flight *flight, json_t *results)
{
    if (flight->has_thread)
        pthread_join(flight->thread, NULL);
    const struct reply *reply = &flight->reply;
    enum exit_code code = flight->st == OK && tell_mistakes(&flight->call, reply)
                              ? EXIT_INVALID
                              : client_report(flight->client, flight->st, reply);
    if (code == EXIT_OK && json_array_extend(results, json_object_get(reply->body, "results")) != 0)
        code = cli_fail(E_CORRUPT);
    reply_release(&flight->reply);
    free(flight->body);
    return code;
}

/* While the agent writes what is in one call it can check the next. After a failure nothing more is
 * sent. */
static enum exit_code send_by(struct flight flights[AT_ONCE], const struct batch *batch,
                              bool dry_run, json_t *results)
{
    enum exit_code first = EXIT_OK;
    size_t begun = 0, calls = batch_calls(batch);
    struct progress progress;
    progress_begin(&progress, tr(dry_run ? "checked" : "written"),
                   batch->put_count + json_array_size(batch->delete));
    for (size_t ended = 0; ended < begun || (ended < calls && first == EXIT_OK); ended++) {
        for (; first == EXIT_OK && begun < calls && begun - ended < AT_ONCE; begun++)
            begin_flight(&flights[begun % AT_ONCE], call_of(batch, begun), dry_run);
        size_t before = json_array_size(results);
        enum exit_code code = end_flight(&flights[ended % AT_ONCE], results);
        first = first == EXIT_OK ? code : first;
        progress_step(&progress, json_array_size(results) - before);
    }
    progress_end(&progress);
    if (first == EXIT_INVALID && (dry_run || calls == 1))
        fprintf(stderr, "%s\n", tr("nothing was changed"));
    return first;
}

static enum exit_code send_all(struct client *client, const struct batch *batch, bool dry_run,
                               json_t *results)
{
    struct flight flights[AT_ONCE] = {{.client = client}};
    enum exit_code code = EXIT_OK;
    for (size_t i = 1; code == EXIT_OK && i < AT_ONCE && i < batch_calls(batch); i++)
        code =
            client_open(client_is_remote(client) ? NULL : client_data(client), &flights[i].client);
    if (code == EXIT_OK)
        code = send_by(flights, batch, dry_run, results);
    for (size_t i = 1; i < AT_ONCE; i++)
        client_close(flights[i].client);
    return code;
}

static enum exit_code tell_failed(const json_t *results)
{
    enum exit_code code = EXIT_OK;
    const json_t *result;
    size_t i;
    json_array_foreach (results, i, result) {
        if (strcmp(answer_text(result, "result"), "failed") != 0)
            continue;
        const json_t *error = json_object_get(result, "error");
        const char *text =
            json_is_string(error) ? json_string_value(error) : answer_text(error, "message");
        cli_error("%s: %s", answer_text(result, "name"), *text ? text : tr("could not be changed"));
        code = EXIT_INVALID;
    }
    return code;
}

static enum exit_code send_and_tell(struct client *client, const struct batch *batch, bool dry_run,
                                    json_t **ret)
{
    json_t *results = json_array();
    enum exit_code code = results ? send_all(client, batch, dry_run, results) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = tell_failed(results);
    if (code == EXIT_OK)
        *ret = results;
    else
        json_decref(results);
    return code;
}

/* How many have this result. */
static size_t batch_count(const json_t *results, const char *result)
{
    size_t count = 0, i;
    const json_t *each;
    json_array_foreach (results, i, each) {
        count += strcmp(answer_text(each, "result"), result) == 0;
    }
    return count;
}

/* Each call is held against the quotas by itself, and sees nothing of the others. */
static enum exit_code check_quota(struct client *client, const json_t *checked)
{
    struct reply reply = {0};
    int64_t more =
        (int64_t)batch_count(checked, "created") - (int64_t)batch_count(checked, "deleted");
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
static enum exit_code check_all(struct client *client, const struct batch *batch)
{
    json_t *checked;
    enum exit_code code = send_and_tell(client, batch, true, &checked);
    if (code != EXIT_OK)
        return code;
    code = check_quota(client, checked);
    json_decref(checked);
    return code;
}

enum exit_code batch_send(struct client *client, const struct batch *batch, bool dry_run,
                          json_t **ret)
{
    bool several = batch_calls(batch) > 1;
    enum exit_code code = several && !dry_run ? check_all(client, batch) : EXIT_OK;
    return code == EXIT_OK ? send_and_tell(client, batch, dry_run, ret) : code;
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

static void print(const json_t *results, size_t same, bool dry_run)
{
    const json_t *each;
    size_t i;
    json_array_foreach (results, i, each) {
        const char *result = answer_text(each, "result");
        if (strcmp(result, "unchanged") != 0)
            printf("%s %s\n", result_word(result, dry_run), answer_text(each, "name"));
    }
    size_t unchanged = same + batch_count(results, "unchanged");
    if (unchanged) {
        fprintf(stderr, tr("%zu unchanged"), unchanged);
        fputc('\n', stderr);
    }
    if (dry_run)
        fprintf(stderr, "%s\n", tr("nothing was changed (--dry-run)"));
}

enum exit_code batch_apply(struct client *client, const struct batch *batch, bool dry_run)
{
    json_t *results = NULL;
    enum exit_code code = batch_send(client, batch, dry_run, &results);
    if (code != EXIT_OK)
        return code;
    print(results, batch->same, dry_run);
    json_decref(results);
    return EXIT_OK;
}
