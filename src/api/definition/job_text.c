#include "definition/job_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_digest.h"
#include "definition/job_fields.h"
#include "documents/mutes.h"
#include "runs/encode.h"
#include "text/json_text.h"

struct writer {
    struct strbuf *out; /* written without printf, which would be most of the cost */
    const char *fields; /* NULL: all */
    enum secrets secrets;
    bool has_members;
};

/* Is `word`, which need not end with a NUL, in a list separated by commas? */
static bool field_in_list(const char *list, const char *word, size_t length)
{
    while (list) {
        if (strncmp(list, word, length) == 0 && (!list[length] || list[length] == ','))
            return true;
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return false;
}

/* ---- members ---- */

static bool begin_span(struct writer *writer, const char *name, size_t length)
{
    if (writer->fields && !field_in_list(writer->fields, name, length))
        return false;
    strbuf_adds(writer->out, writer->has_members ? ",\"" : "{\"");
    strbuf_add(writer->out, name, length);
    strbuf_adds(writer->out, "\":");
    writer->has_members = true;
    return true;
}

static bool begin(struct writer *writer, const char *name)
{
    return begin_span(writer, name, strlen(name));
}

static void add_tick(struct strbuf *out, int64_t ms)
{
    char text[TIME_TEXT];
    if (ms == NEVER_MS) {
        strbuf_adds(out, "null");
        return;
    }
    time_format(ms, text);
    strbuf_addc(out, '"');
    strbuf_adds(out, text);
    strbuf_addc(out, '"');
}

static void add_time(struct strbuf *out, int64_t ms)
{
    add_tick(out, ms ? ms : NEVER_MS);
}

static void add_number(struct strbuf *out, int64_t number)
{
    char text[24], *at = text + sizeof(text);
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0)
        *--at = '-';
    strbuf_add(out, at, (size_t)(text + sizeof(text) - at));
}

static void add_id(struct strbuf *out, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    strbuf_addc(out, '"');
    strbuf_adds(out, text);
    strbuf_addc(out, '"');
}

/* ---- the definition ---- */

/* The numbers among the fields that peal maintains go to *kept; none of these fields is written. */
static void write_members(struct writer *writer, const char *text, struct job *kept)
{
    struct json_member member;
    const struct field *next = job_fields;
    while (json_text_next(&text, &member)) {
        const char *name = member.name.text + 1;
        size_t length = member.name.length - 2;
        const struct field *field = field_find(job_fields, &next, name, length);
        if (field && field->meta && field->kind == FIELD_INT64)
            *(int64_t *)(void *)((char *)kept + field->offset) = json_text_number(&member.value);
        if ((field && field->meta) || !begin_span(writer, name, length))
            continue;
        secrets_write(writer->out, field, &member, writer->secrets);
    }
}

/* For a definition that this version can't decode, and which need not be JSON. */
static void write_broken(struct writer *writer, const struct catalog_job *job, struct job *kept)
{
    json_t *value = json_loads(job->json, 0, NULL);
    char *text = json_is_object(value) ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    if (text)
        write_members(writer, text, kept);
    else if (begin(writer, "name"))
        json_text_quote(writer->out, job->name);
    free(text);
}

/* ---- the status ---- */

int64_t job_next_run(const struct catalog_job *job)
{
    int64_t skip_until_ms = job->policy ? job->policy->skip_until_ms : 0;
    if (job->paused || job->deleted || job->broken)
        return NEVER_MS;
    int64_t planned_ms = catalog_job_planned(job);
    if (planned_ms != NEVER_MS && planned_ms <= skip_until_ms)
        return catalog_job_next_run(job, skip_until_ms);
    return planned_ms;
}

static void write_last(struct strbuf *out, const struct last_run *last)
{
    if (id_is_zero(&last->run_id)) {
        strbuf_adds(out, "null");
        return;
    }
    strbuf_adds(out, "{\"run_id\":");
    add_id(out, &last->run_id);
    strbuf_adds(out, ",\"state\":\"");
    strbuf_adds(out, run_state_name(last->state));
    strbuf_adds(out, "\",\"started_at\":");
    add_time(out, last->started_ms);
    strbuf_adds(out, ",\"finished_at\":");
    add_time(out, last->ended_ms);
    strbuf_addc(out, '}');
}

/* Few jobs have one: by way of a value. */
static void write_mute(struct strbuf *out, const struct catalog_job *job,
                       const struct job_view *view)
{
    json_t *value = view->mute ? mute_show(view->mute, job, view->now_ms) : NULL;
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    strbuf_adds(out, text ? text : "null");
    free(text);
    json_decref(value);
}

static void write_warning(struct strbuf *out, const struct job_view *view)
{
    if (!view->warning) {
        strbuf_adds(out, "null");
        return;
    }
    strbuf_addf(out, "{\"reason\":\"%s\",\"detail\":", view->warning);
    json_text_quote(out, view->warning_text);
    strbuf_adds(out, ",\"since\":");
    add_time(out, view->warning_ms);
    strbuf_addc(out, '}');
}

static void write_status(struct strbuf *out, const struct catalog_job *job,
                         const struct job_view *view)
{
    struct job_load load = view->load;
    const char *problem = view->problem;
    strbuf_adds(out, "{\"next_at\":");
    add_tick(out, job_next_run(job));
    strbuf_adds(out, ",\"running\":");
    add_number(out, load.running);
    strbuf_adds(out, ",\"queued\":");
    add_number(out, load.queued);
    strbuf_adds(out, ",\"retrying\":");
    add_number(out, load.retrying);
    strbuf_adds(out, ",\"last\":");
    write_last(out, &job->last);
    strbuf_adds(out, ",\"succeeded_at\":");
    add_time(out, job->last.succeeded_ms);
    strbuf_adds(out, job->paused ? ",\"paused\":true" : ",\"paused\":false");
    strbuf_adds(out, ",\"problem\":");
    if (problem)
        json_text_quote(out, problem);
    else
        strbuf_adds(out, "null");
    strbuf_adds(out, ",\"warning\":");
    write_warning(out, view);
    strbuf_adds(out, ",\"mute\":");
    write_mute(out, job, view);
    strbuf_addc(out, '}');
}

/* Of the definition as the client sees it: asterisks stand for the secrets that it does not see,
 * and the digest tells nothing of them either. */
static void add_digest(struct strbuf *out, const struct catalog_job *job, enum secrets secrets)
{
    char digest[JOB_DIGEST_TEXT];
    struct strbuf definition;
    if (job->broken) {
        strbuf_adds(out, "null");
        return;
    }
    strbuf_init(&definition);
    definition_text_write(&definition, job->json, secrets);
    definition_digest(definition.text, definition.length, digest);
    out->failed |= definition.failed;
    strbuf_release(&definition);
    strbuf_addc(out, '"');
    strbuf_adds(out, digest);
    strbuf_addc(out, '"');
}

void job_text_write(struct strbuf *out, const struct catalog_job *job, const struct job_view *view)
{
    struct writer writer = {.out = out, .fields = view->fields, .secrets = view->secrets};
    struct job kept = {0};
    if (job->broken)
        write_broken(&writer, job, &kept);
    else
        write_members(&writer, job->json, &kept);
    if (begin(&writer, "uid"))
        add_id(out, &job->uid);
    if (begin(&writer, "revision"))
        add_number(out, job->revision);
    if (view->fields && begin(&writer, "digest"))
        add_digest(out, job, view->secrets);
    if (begin(&writer, "created_at"))
        add_time(out, kept.created_ms);
    if (begin(&writer, "updated_at"))
        add_time(out, kept.updated_ms);
    if (kept.applied_ms && begin(&writer, "applied_at"))
        add_time(out, kept.applied_ms);
    if (job->deleted && begin(&writer, "deleted_at"))
        add_time(out, kept.deleted_ms);
    if (begin(&writer, "status"))
        write_status(out, job, view);
    strbuf_adds(out, writer.has_members ? "}" : "{}");
}

void definition_text_write(struct strbuf *out, const char *stored, enum secrets secrets)
{
    struct writer writer = {.out = out, .secrets = secrets};
    struct job kept = {0};
    write_members(&writer, stored, &kept);
    strbuf_adds(out, writer.has_members ? "}" : "{}");
}
