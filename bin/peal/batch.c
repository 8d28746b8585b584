#include "batch.h"

#include <stdio.h>
#include <string.h>

#include "when.h"

enum { CALL_MAX = 500 }; /* changes in one call */

enum exit_code batch_init(struct batch *batch)
{
    batch->put = json_array();
    batch->delete = json_array();
    return cli_fail(batch->put && batch->delete ? OK : E_NOMEM);
}

void batch_release(struct batch *batch)
{
    json_decref(batch->put);
    json_decref(batch->delete);
}

enum exit_code batch_put_all(struct batch *batch, const struct job_list *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (json_array_append_new(batch->put, job_encode_json(jobs->items[i], false)) != 0)
            return cli_fail(E_NOMEM);
    }
    return EXIT_OK;
}

/* How many changes go into one call: all, if jobs wait for others, which may be among them. */
static size_t part_size(const struct batch *batch)
{
    const json_t *job;
    size_t i;
    json_array_foreach (batch->put, i, job) {
        if (json_object_get(job, "after"))
            return json_array_size(batch->put) + json_array_size(batch->delete);
    }
    return CALL_MAX;
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

static enum exit_code send_part(struct client *client, json_t *put, json_t *deleted, bool dry_run,
                                json_t *results)
{
    json_t *answer = NULL;
    json_t *body = json_pack("{sososb}", "put", put, "delete", deleted, "dry_run", (int)dry_run);
    enum exit_code code =
        body ? client_post(client, "/jobs:batch", body, &answer) : cli_fail(E_NOMEM);
    if (code == EXIT_OK && json_array_extend(results, json_object_get(answer, "results")) != 0)
        code = cli_fail(E_CORRUPT);
    json_decref(answer);
    json_decref(body);
    return code;
}

static enum exit_code send_all(struct client *client, const struct batch *batch, bool dry_run,
                               json_t *results)
{
    size_t puts = json_array_size(batch->put), deletes = json_array_size(batch->delete);
    size_t size = part_size(batch);
    enum exit_code code = EXIT_OK;
    for (size_t from = 0; code == EXIT_OK && (from < puts || from < deletes); from += size)
        code = send_part(client, slice(batch->put, from, size), slice(batch->delete, from, size),
                         dry_run, results);
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
        cli_error("%s: %s", answer_text(result, "name"), *text ? text : "could not be changed");
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

enum exit_code batch_send(struct client *client, const struct batch *batch, bool dry_run,
                          json_t **ret)
{
    size_t size = part_size(batch);
    bool several = json_array_size(batch->put) > size || json_array_size(batch->delete) > size;
    if (several && !dry_run) { /* one call checks only its own part before it writes */
        json_t *checked;
        enum exit_code code = send_and_tell(client, batch, true, &checked);
        if (code != EXIT_OK)
            return code;
        json_decref(checked);
    }
    return send_and_tell(client, batch, dry_run, ret);
}

size_t batch_count(const json_t *results, const char *result)
{
    size_t count = 0, i;
    const json_t *each;
    json_array_foreach (results, i, each) {
        count += strcmp(answer_text(each, "result"), result) == 0;
    }
    return count;
}

void batch_print(const json_t *results, bool dry_run)
{
    const json_t *each;
    size_t i;
    json_array_foreach (results, i, each) {
        const char *result = answer_text(each, "result");
        if (strcmp(result, "unchanged") != 0)
            printf("%s %s\n", result, answer_text(each, "name"));
    }
    size_t unchanged = batch_count(results, "unchanged");
    if (unchanged)
        fprintf(stderr, "%zu unchanged\n", unchanged);
    if (dry_run)
        fputs("nothing was changed (--dry-run)\n", stderr);
}
