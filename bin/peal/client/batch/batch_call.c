#include "client/batch/batch_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/when.h"
#include "document/json_quote.h"

size_t batch_calls(const struct batch *batch)
{
    size_t deletes = (json_array_size(batch->delete) + CALL_MAX - 1) / CALL_MAX;
    return batch->part_count > deletes ? batch->part_count : deletes;
}

struct batch_call batch_call_of(const struct batch *batch, size_t i, const json_t *checked)
{
    const json_t *answer = json_array_get(checked, i);
    struct batch_call call = {.batch = batch,
                              .kept = json_string_value(json_object_get(answer, "kept"))};
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

static void add_assumed(const json_t *assumed, struct strbuf *out)
{
    char *text = json_dumps(assumed, JSON_COMPACT);
    strbuf_addf(out, ",\"assume\":%s", text ? text : "");
    out->failed |= !text;
    free(text);
}

char *batch_call_body(const struct batch_call *call, enum batch_phase phase)
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
    strbuf_addf(&out, "],\"dry_run\":%s", phase == PHASE_WRITE ? "false" : "true");
    if (phase != PHASE_WRITE && call->batch->assumed)
        add_assumed(call->batch->assumed, &out);
    strbuf_addc(&out, '}');
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
    return put->name;
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

/* ---- under way ---- */

static enum status send_body(struct client *client, enum batch_phase phase, bool is_applied,
                             const char *body, struct reply *ret)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/jobs:batch");
    if (phase == PHASE_CHECK)
        strbuf_adds(&path, "?keep=true");
    if (is_applied)
        strbuf_adds(&path, phase == PHASE_CHECK ? "&applied=true" : "?applied=true");
    enum status st = body ? strbuf_status(&path) : E_NOMEM;
    const struct client_request request = {.method = "POST", .path = path.text, .text = body};
    if (st == OK)
        st = client_try(client, &request, ret);
    strbuf_release(&path);
    return st;
}

static enum status send_kept(struct flight *flight)
{
    char path[128];
    snprintf(path, sizeof(path), "/jobs:batch?kept=%.64s", flight->call.kept);
    return client_try(flight->client, &(struct client_request){.method = "POST", .path = path},
                      &flight->reply);
}

static void *fly(void *context)
{
    struct flight *flight = context;
    bool is_kept = flight->call.kept != NULL;
    if (is_kept)
        flight->st = send_kept(flight);
    if (is_kept && flight->st == OK && flight->reply.status == 410) {
        reply_release(&flight->reply);
        flight->body = batch_call_body(&flight->call, flight->phase);
        is_kept = false;
    }
    if (!is_kept)
        flight->st = send_body(flight->client, flight->phase, flight->call.batch->is_applied,
                               flight->body, &flight->reply);
    return NULL;
}

void flight_begin(struct flight *flight, struct batch_call call, enum batch_phase phase)
{
    *flight = (struct flight){.client = flight->client, .call = call, .phase = phase};
    if (!call.kept)
        flight->body = batch_call_body(&call, phase);
    flight->has_thread = pthread_create(&flight->thread, NULL, fly, flight) == 0;
    if (!flight->has_thread)
        fly(flight);
}

static void wait_for(struct flight *flight)
{
    if (flight->has_thread)
        pthread_join(flight->thread, NULL);
    flight->has_thread = false;
    free(flight->body);
    flight->body = NULL;
}

enum exit_code flight_end(struct flight *flight, json_t *answers)
{
    wait_for(flight);
    const struct reply *reply = &flight->reply;
    enum exit_code code = flight->st == OK && tell_mistakes(&flight->call, reply)
                              ? EXIT_INVALID
                              : client_report(flight->client, flight->st, reply);
    if (code == EXIT_OK && (!json_is_array(json_object_get(reply->body, "results")) ||
                            json_array_append(answers, reply->body) != 0))
        code = cli_fail(E_CORRUPT);
    reply_release(&flight->reply);
    return code;
}

json_t *batch_call_check(struct client *client, bool is_applied, const char *body)
{
    struct reply reply = {0};
    json_t *answer = NULL;
    enum status st = send_body(client, PHASE_CHECK, is_applied, body, &reply);
    if (st == OK && reply.status == 200 && json_is_string(json_object_get(reply.body, "kept")))
        answer = json_incref(reply.body);
    reply_release(&reply);
    return answer;
}
