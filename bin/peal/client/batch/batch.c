#include "client/batch/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "client/batch/batch_parts.h"
#include "client/batch/digests.h"
#include "print/progress.h"
#include "text/tr.h"

/* What goes in one call, or more if jobs depend on each other: half of what the agent takes. */
enum { CALL_MAX = 5000, CALL_BYTES = 6 << 20 };

enum { DIGESTS_FROM = 500 }; /* jobs; fewer are sent without a look at what the agent has */

static enum exit_code init(struct batch *batch, const struct job_list *jobs, const json_t *digests)
{
    *batch = (struct batch){.put = json_array(), .delete = json_array()};
    enum status st = batch->put && batch->delete ? OK : E_NOMEM;
    for (size_t i = 0; st == OK && i < jobs->count; i++) {
        bool is_same = false;
        st = digests_have(digests, jobs->items[i], DIGEST_APPLIED, &is_same);
        batch->same += is_same;
        if (st == OK && !is_same &&
            json_array_append_new(batch->put, job_encode_json(jobs->items[i], false)) != 0)
            st = E_NOMEM;
    }
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
    json_decref(batch->put);
    json_decref(batch->delete);
}

/* The elements [from, from + count) of a list. */
static json_t *slice(const json_t *list, size_t from, size_t count)
{
    json_t *part = json_array();
    for (size_t i = from; i < from + count && i < json_array_size(list); i++) {
        if (json_array_append(part, json_array_get(list, i)) != 0) {
            json_decref(part);
            return NULL;
        }
    }
    return part;
}

/* ---- mistakes that the agent found ---- */

/* The item of a list that a pointer like /put/3/after/0/job is about; *ret_rest is the rest of the
 * pointer. NULL: none. */
static const json_t *find_item(const json_t *body, const char *pointer, const char **ret_rest)
{
    char list[8];
    char *end;
    int length = 0;
    if (sscanf(pointer, "/%7[a-z]/%n", list, &length) < 1 || !length)
        return NULL;
    size_t index = strtoul(pointer + length, &end, 10);
    *ret_rest = end;
    return end > pointer + length ? json_array_get(json_object_get(body, list), index) : NULL;
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
static void tell_mistake(const struct batch *batch, const json_t *body, const json_t *error)
{
    const char *rest = "", *pointer = answer_text(error, "pointer");
    const json_t *item = find_item(body, pointer, &rest);
    const char *name = json_is_string(item) ? json_string_value(item) : answer_text(item, "name");
    char field[64] = "";
    sscanf(rest, "/%63[^/]", field);
    const struct job_mistake mistake = {.job = name,
                                        .field = *field ? field : NULL,
                                        .value = find_text(item, rest),
                                        .message = answer_text(error, "message")};
    if (batch->sources && *name)
        job_sources_tell(batch->sources, &mistake);
    else
        cli_error("%s: %s", *name ? name : pointer, mistake.message);
}

/* False: the answer has none. */
static bool tell_mistakes(const struct batch *batch, const json_t *body, const struct reply *reply)
{
    const json_t *errors = json_object_get(reply->body, "errors"), *error;
    size_t i;
    if (reply->status != 422 || !json_array_size(errors))
        return false;
    json_array_foreach (errors, i, error) {
        tell_mistake(batch, body, error);
    }
    fprintf(stderr, "%s\n", tr("nothing was changed"));
    return true;
}

/* ---- calls ---- */

static enum exit_code send_part(struct client *client, const struct batch *batch, json_t *put,
                                json_t *deleted, bool dry_run, json_t *results)
{
    struct reply reply = {0};
    json_t *body = json_pack("{sososb}", "put", put, "delete", deleted, "dry_run", (int)dry_run);
    const struct client_request call = {.method = "POST",
                                        .path = batch->is_applied ? "/jobs:batch?applied=true"
                                                                  : "/jobs:batch",
                                        .body = body};
    if (!body)
        return cli_fail(E_NOMEM);
    enum status st = client_try(client, &call, &reply);
    enum exit_code code = st == OK && tell_mistakes(batch, body, &reply)
                              ? EXIT_INVALID
                              : client_report(client, st, &reply);
    if (code == EXIT_OK && json_array_extend(results, json_object_get(reply.body, "results")) != 0)
        code = cli_fail(E_CORRUPT);
    reply_release(&reply);
    json_decref(body);
    return code;
}

/* Of lists of lists. */
static size_t count_items(const json_t *lists)
{
    const json_t *list;
    size_t i, count = 0;
    json_array_foreach (lists, i, list) {
        count += json_array_size(list);
    }
    return count;
}

/* `parts` are lists of what is put. */
static enum exit_code send_all(struct client *client, const struct batch *batch,
                               const json_t *parts, bool dry_run, json_t *results)
{
    const json_t *deletes = batch->delete;
    size_t put_count = json_array_size(parts), delete_count = json_array_size(deletes);
    enum exit_code code = EXIT_OK;
    struct progress progress;
    progress_begin(&progress, tr(dry_run ? "checked" : "written"),
                   count_items(parts) + delete_count);
    for (size_t i = 0; code == EXIT_OK && (i < put_count || i * CALL_MAX < delete_count); i++) {
        json_t *put = i < put_count ? json_incref(json_array_get(parts, i)) : json_array();
        size_t before = json_array_size(results);
        code =
            send_part(client, batch, put, slice(deletes, i * CALL_MAX, CALL_MAX), dry_run, results);
        progress_step(&progress, json_array_size(results) - before);
    }
    progress_end(&progress);
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

static enum exit_code send_and_tell(struct client *client, const struct batch *batch,
                                    const json_t *parts, bool dry_run, json_t **ret)
{
    json_t *results = json_array();
    enum exit_code code =
        results ? send_all(client, batch, parts, dry_run, results) : cli_fail(E_NOMEM);
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

/* Checks all parts with dry runs first, since each call only checks its own part. */
static enum exit_code check_all(struct client *client, const struct batch *batch,
                                const json_t *parts)
{
    json_t *checked;
    enum exit_code code = send_and_tell(client, batch, parts, true, &checked);
    if (code != EXIT_OK)
        return code;
    code = check_quota(client, checked);
    json_decref(checked);
    return code;
}

enum exit_code batch_send(struct client *client, const struct batch *batch, bool dry_run,
                          json_t **ret)
{
    json_t *parts;
    enum status st = batch_split(batch->put, CALL_MAX, CALL_BYTES, &parts);
    if (st != OK)
        return cli_fail(st);
    bool several = json_array_size(parts) > 1 || json_array_size(batch->delete) > CALL_MAX;
    enum exit_code code = several && !dry_run ? check_all(client, batch, parts) : EXIT_OK;
    if (code == EXIT_OK)
        code = send_and_tell(client, batch, parts, dry_run, ret);
    json_decref(parts);
    return code;
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
