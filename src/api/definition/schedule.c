/* Schedules without a job: description, next ticks, errors. */
#include <string.h>

#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"
#include "text/parsed.h"
#include "words/explain.h"

enum { ASKED_MAX = 10 }; /* calendars */

/* ---- requests ---- */

static bool read_language(struct call *call)
{
    const char *lang = query_get(&call->query, "lang");
    if (!lang)
        return true;
    if (strcmp(lang, "en") != 0 && strcmp(lang, "zh") != 0) {
        call_fail_at(call, "?lang", "lang: expected en or zh");
        return false;
    }
    call->language = *lang == 'z' ? LANGUAGE_ZH : LANGUAGE_EN;
    return true;
}

static bool read_dst(struct call *call, enum dst_policy *inout)
{
    const char *text = query_get(&call->query, "dst");
    for (unsigned i = 0; text && dst_policy_names[i]; i++) {
        if (strcmp(text, dst_policy_names[i]) == 0) {
            *inout = (enum dst_policy)i;
            return true;
        }
    }
    if (text)
        call_fail_at(call, "?dst", "dst: expected default, skip or both");
    return !text;
}

/* `start` or `end`, in the zone of `tz`, as in a definition. */
static bool read_bound(struct call *call, const char *name, int64_t *inout_s)
{
    const char *tz = query_get(&call->query, "tz");
    const struct zone *zone = zone_utc();
    struct parse_error error;
    int64_t at_ms;
    if (!query_get(&call->query, name))
        return true;
    if (!tz)
        tz = call->api->default_tz;
    if (tz && zone_db_get(call->api->ports.zones, tz, &zone, &error) != OK)
        return true; /* schedule_parse reports the unknown zone */
    if (!param_time(call, name, zone, &at_ms))
        return false;
    *inout_s = at_ms / 1000;
    return true;
}

/* A schedule, and name and uid of the job that it is for: the seeds of `H`, `~`, `R` and jitter. */
struct asked {
    const char *spec;
    struct schedule_options options;
    char uid[ID_TEXT + 1];
    char hash_name[JOB_NAME_SIZE]; /* of a renamed job */
};

static void read_hash_name(const struct catalog_job *job, struct asked *asked)
{
    json_t *definition = job->former ? json_loads(job->json, 0, NULL) : NULL;
    const char *name = json_string_value(json_object_get(definition, "hash_name"));
    if (name) {
        snprintf(asked->hash_name, sizeof(asked->hash_name), "%s", name);
        asked->options.job_name = asked->hash_name;
    }
    json_decref(definition);
}

static void read_job(const struct call *call, struct asked *asked)
{
    const char *name = query_get(&call->query, "job");
    if (!name || !*name)
        return;
    asked->options.job_name = name;
    const struct catalog_job *job = catalog_by_name(engine_catalog(call->api->ports.engine), name);
    if (job && scope_may(&call->principal.scope, RIGHT_VIEW, name)) {
        id_format(&job->uid, asked->uid);
        asked->options.job_uid = asked->uid;
        read_hash_name(job, asked);
    }
}

/* False: the call has failed. */
static bool read_asked(struct call *call, struct asked *ret)
{
    ret->spec = query_get(&call->query, "spec");
    if (!ret->spec || !*ret->spec) {
        call_fail_at(call, "?spec", "spec: is missing: a schedule like \"30 2 * * *\"");
        return false;
    }
    ret->options = schedule_options_default();
    ret->options.tz = query_get(&call->query, "tz");
    ret->options.default_tz = call->api->default_tz;
    read_job(call, ret);
    return read_language(call) && read_dst(call, &ret->options.dst) &&
           read_bound(call, "start", &ret->options.start_s) &&
           read_bound(call, "end", &ret->options.end_s);
}

static struct schedule *read_schedule(struct call *call)
{
    struct schedule *schedule = NULL;
    struct parse_error error = {0};
    struct asked asked;
    if (!read_asked(call, &asked))
        return NULL;
    enum status st =
        schedule_parse(asked.spec, &asked.options, call->api->ports.zones, &schedule, &error);
    if (st == E_NOMEM) {
        call_fail(call, 500, "out of memory");
    } else if (st != OK) {
        json_t *errors = json_pack(
            "{s:[o]}", "errors",
            error_item(call, "?spec", 0, error.column, error.message, message_hint(error.message)));
        call_fail_parsed(call, errors, error.message);
    }
    return schedule;
}

/* ---- answers ---- */

static json_t *encode_warnings(const struct schedule *schedule, enum language language,
                               int64_t now_s)
{
    unsigned applying = schedule_warnings(schedule, now_s);
    json_t *list = json_array();
    for (unsigned i = 0; i < WARNINGS && list; i++) {
        struct strbuf text;
        if (!(applying & 1u << i))
            continue;
        strbuf_init(&text);
        schedule_warning_explain(schedule, (enum warning)i, now_s, language, &text);
        if (json_array_append_new(list,
                                  json_pack("{s:s, s:o}", "name", warning_name((enum warning)i),
                                            "text", json_words(text.text))) != 0) {
            json_decref(list);
            list = NULL;
        }
        strbuf_release(&text);
    }
    return list;
}

static json_t *encode_schedule(const struct call *call, const struct schedule *schedule)
{
    struct strbuf canonical, words;
    strbuf_init(&canonical);
    strbuf_init(&words);
    schedule_print(schedule, &canonical);
    schedule_explain(schedule, call->language, &words);
    json_t *value =
        json_pack("{s:s, s:o, s:o, s:s, s:o}", "spec", query_get(&call->query, "spec"), "canonical",
                  json_words(canonical.text), "text", json_words(words.text), "timezone",
                  zone_name(schedule_zone(schedule)), "warnings",
                  encode_warnings(schedule, call->language, call->now_ms / 1000));
    strbuf_release(&canonical);
    strbuf_release(&words);
    return value;
}

void explain_schedule(struct call *call)
{
    struct schedule *schedule = read_schedule(call);
    if (!schedule)
        return;
    call_reply(call, 200, encode_schedule(call, schedule));
    schedule_free(schedule);
}

/* Calendars of the request, instead of a job's. */
struct asked_calendars {
    struct calendar_use uses[ASKED_MAX];
    const struct calendar *items[ASKED_MAX];
    size_t count;
};

/* `calendars=a,b` and `only_on=c`. False: the call has failed. */
static bool read_calendars(struct call *call, const char *param, struct asked_calendars *ret)
{
    const struct table *known = &engine_catalog(call->api->ports.engine)->calendars;
    const char *text = query_get(&call->query, param);
    char pointer[16];
    snprintf(pointer, sizeof(pointer), "?%s", param);
    while (text && *text) {
        char name[CALENDAR_NAME_MAX + 1];
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof(name), "%.*s", (int)length, text);
        struct known_calendar *calendar = known_calendars_find(known, name);
        if (!calendar || length >= sizeof(name)) {
            call_fail_at(call, pointer, "there is no calendar \"%.63s\"", name);
            return false;
        }
        if (ret->count == ASKED_MAX) {
            call_fail_at(call, pointer, "calendars: %d at most", ASKED_MAX);
            return false;
        }
        ret->uses[ret->count].known = calendar;
        ret->items[ret->count++] = &calendar->calendar;
        text += length;
        text += *text == ',';
    }
    return true;
}

void next_of_schedule(struct call *call)
{
    struct asked_calendars calendars = {.count = 0};
    int64_t count = 10, from_ms = call->now_ms;
    if (!param_number(call, "n", 1, 1000, &count) ||
        !param_time(call, "from", zone_utc(), &from_ms) ||
        !read_calendars(call, "calendars", &calendars))
        return;
    size_t out_count = calendars.count;
    if (!read_calendars(call, "only_on", &calendars))
        return;
    struct schedule *schedule = read_schedule(call);
    if (!schedule)
        return;
    struct fire_source source = {
        .set = {&schedule, 1},
        .calendars = {calendars.items, out_count, calendars.count - out_count},
        .uses = calendars.uses,
        .ended_s = from_ms / 1000,
        .skip_until_s = INT64_MIN,
    };
    call_reply(call, 200, encode_fires(&source, from_ms / 1000, count));
    schedule_free(schedule);
}

/* An invalid schedule is a 200 with the error, not a problem. */
void validate_schedule(struct call *call)
{
    struct schedule *schedule = NULL;
    struct parse_error error = {0};
    struct asked asked;
    struct strbuf message;
    if (!read_asked(call, &asked))
        return;
    strbuf_init(&message);
    enum status st =
        schedule_parse(asked.spec, &asked.options, call->api->ports.zones, &schedule, &error);
    (void)message_translate(call->language, error.message, &message);
    json_t *answer = st == OK        ? encode_schedule(call, schedule)
                     : st == E_NOMEM ? NULL
                                     : json_pack("{s:s, s:i, s:o}", "spec", asked.spec, "column",
                                                 error.column, "message", json_words(message.text));
    if (answer)
        json_object_set_new(answer, "valid", json_boolean(st == OK));
    call_reply(call, 200, answer);
    strbuf_release(&message);
    schedule_free(schedule);
}
