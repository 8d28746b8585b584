/* Encodes queries, and maps kinds to paths. */
#include <stdlib.h>
#include <string.h>

#include "gather_wire.h"

static const char *const paths[] = {
    [HISTORY_READ] = "/peer/v1/history/read",
    [HISTORY_LOG] = "/peer/v1/history/log",
    [HISTORY_STATS] = "/peer/v1/history/stats",
    [HISTORY_CHANGES] = "/peer/v1/history/changes",
    [HISTORY_PRUNE] = NULL,
};

const char *wire_path(enum history_request_kind kind)
{
    return paths[kind];
}

bool wire_kind(const char *path, enum history_request_kind *ret)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (paths[i] && strcmp(path, paths[i]) == 0) {
            *ret = (enum history_request_kind)i;
            return true;
        }
    }
    return false;
}

/* ---- members ---- */

int64_t wire_number(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

int64_t wire_ms(const json_t *json, const char *key)
{
    static const int64_t most = INT64_C(1) << 53;
    int64_t number = wire_number(json, key);
    return number > most ? most : number < -most ? -most : number;
}

const char *wire_text(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

void wire_read_id(const json_t *json, const char *key, struct id *ret)
{
    const char *text = wire_text(json, key);
    if (!text || id_parse(text, ret) != OK)
        *ret = (struct id){{0}};
}

static bool flag(const json_t *json, const char *key)
{
    return json_is_true(json_object_get(json, key));
}

/* Invalid UTF-8 matches nothing anyway. */
static json_t *text_or_null(const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    return value ? value : json_null();
}

/* ---- questions ---- */

static json_t *encode_read(const struct history_query *query)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:I}", "job_uid",
                     json_id(&query->job_uid), "job_name", text_or_null(query->job_name), "text",
                     text_or_null(query->text), "node", text_or_null(query->node), "states",
                     (json_int_t)query->states, "since_ms", (json_int_t)query->since_ms, "until_ms",
                     (json_int_t)query->until_ms, "min_duration_ms",
                     (json_int_t)query->min_duration_ms, "with_entries", query->with_entries,
                     "before", json_id(&query->before), "limit", (json_int_t)query->limit);
}

static void decode_read(const json_t *json, struct history_query *ret)
{
    *ret = (struct history_query){
        .job_name = wire_text(json, "job_name"),
        .text = wire_text(json, "text"),
        .node = wire_text(json, "node"),
        .states = (unsigned)wire_number(json, "states"),
        .since_ms = wire_ms(json, "since_ms"),
        .until_ms = wire_ms(json, "until_ms"),
        .min_duration_ms = wire_ms(json, "min_duration_ms"),
        .with_entries = flag(json, "with_entries"),
        .limit = (size_t)wire_number(json, "limit"),
    };
    wire_read_id(json, "job_uid", &ret->job_uid);
    wire_read_id(json, "before", &ret->before);
}

static json_t *encode_changes(const struct change_query *query)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:I}", "job_uid",
                     json_id(&query->job_uid), "job_name", text_or_null(query->job_name), "actor",
                     text_or_null(query->actor), "text", text_or_null(query->text), "actions",
                     (json_int_t)query->actions, "revision", (json_int_t)query->revision,
                     "since_ms", (json_int_t)query->since_ms, "until_ms",
                     (json_int_t)query->until_ms, "with_definitions", query->with_definitions,
                     "before", json_id(&query->before), "limit", (json_int_t)query->limit);
}

static void decode_changes(const json_t *json, struct change_query *ret)
{
    *ret = (struct change_query){
        .job_name = wire_text(json, "job_name"),
        .actor = wire_text(json, "actor"),
        .text = wire_text(json, "text"),
        .actions = (uint64_t)wire_number(json, "actions"),
        .revision = wire_ms(json, "revision"),
        .since_ms = wire_ms(json, "since_ms"),
        .until_ms = wire_ms(json, "until_ms"),
        .with_definitions = flag(json, "with_definitions"),
        .limit = (size_t)wire_number(json, "limit"),
    };
    wire_read_id(json, "job_uid", &ret->job_uid);
    wire_read_id(json, "before", &ret->before);
}

static json_t *encode_log(const struct history_log *log)
{
    return json_pack("{s:o, s:I, s:I, s:b}", "run_id", json_id(&log->run_id), "offset",
                     (json_int_t)log->offset, "limit", (json_int_t)log->limit, "with_input",
                     log->with_input);
}

static json_t *encode_stats(const struct history_stats *stats)
{
    return json_pack("{s:o, s:I, s:I, s:b}", "job_uid", json_id(&stats->job_uid), "from_ms",
                     (json_int_t)stats->from_ms, "to_ms", (json_int_t)stats->to_ms, "by_day",
                     stats->span == HISTORY_DAY);
}

static json_t *encode(enum history_request_kind kind, const void *request)
{
    switch (kind) {
    case HISTORY_READ:
        return encode_read(&((const struct history_read *)request)->query);
    case HISTORY_LOG:
        return encode_log(request);
    case HISTORY_STATS:
        return encode_stats(request);
    case HISTORY_CHANGES:
        return encode_changes(&((const struct history_changes *)request)->query);
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
    return NULL;
}

enum status wire_print(json_t *json, struct strbuf *out)
{
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text)
        return E_NOMEM;
    strbuf_adds(out, text);
    free(text);
    return strbuf_status(out);
}

enum status wire_encode_question(enum history_request_kind kind, const void *request,
                                 struct strbuf *out)
{
    return wire_print(encode(kind, request), out);
}

enum { LOG_BYTES_MAX = 4 << 20 }; /* the API's limit */

enum status wire_decode_question(enum history_request_kind kind, const json_t *question,
                                 union gather_answer *ret)
{
    if (!json_is_object(question))
        return E_INVALID;
    switch (kind) {
    case HISTORY_READ:
        decode_read(question, &ret->read.query);
        return OK;
    case HISTORY_LOG:
        wire_read_id(question, "run_id", &ret->log.run_id);
        ret->log.offset = wire_ms(question, "offset");
        ret->log.limit = (size_t)wire_number(question, "limit");
        ret->log.with_input = json_is_true(json_object_get(question, "with_input"));
        return ret->log.limit <= LOG_BYTES_MAX ? OK : E_INVALID;
    case HISTORY_STATS:
        wire_read_id(question, "job_uid", &ret->stats.job_uid);
        ret->stats.from_ms = wire_ms(question, "from_ms");
        ret->stats.to_ms = wire_ms(question, "to_ms");
        ret->stats.span = flag(question, "by_day") ? HISTORY_DAY : HISTORY_HOUR;
        return OK;
    case HISTORY_CHANGES:
        decode_changes(question, &ret->changes.query);
        return OK;
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
    return E_INVALID;
}
