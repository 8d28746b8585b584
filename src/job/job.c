#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "definition/job_fields.h"
#include "definition/job_internal.h"
#include "params/run_body.h"
#include "workflow/steps.h"

/* Members whose default is 0 are zero already. */
void fields_set_defaults(const struct field *fields, void *object)
{
    for (const struct field *field = fields; field->name; field++) {
        void *member = (char *)object + field->offset;
        if (field->kind == FIELD_GROUP)
            fields_set_defaults(field->fields, object);
        else if (!field->initial)
            continue;
        else if (field->kind == FIELD_INT || field->kind == FIELD_CHOICE ||
                 field->kind == FIELD_UMASK)
            *(int *)member = (int)field->initial;
        else if (field->kind == FIELD_BOOL)
            *(bool *)member = true;
        else
            *(int64_t *)member = field->initial;
    }
}

struct job job_defaults(void)
{
    struct job job = {0};
    fields_set_defaults(job_fields, &job);
    return job;
}

struct job *job_new(void)
{
    struct job *job = calloc(1, sizeof(*job));
    if (job)
        fields_set_defaults(job_fields, job);
    return job;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void job_pairs_release(struct job_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->items[i].name);
        free(pairs->items[i].value);
    }
    free(pairs->items);
}

void job_names_free(char **names)
{
    size_t count = 0;
    while (names && names[count])
        count++;
    free_texts(names, count);
}

void fields_release(const struct field *fields, void *object)
{
    for (const struct field *field = fields; field->name; field++) {
        void *member = (char *)object + field->offset;
        switch (field->kind) {
        case FIELD_TEXT:
        case FIELD_SCRIPT:
        case FIELD_ZONE:
        case FIELD_SELECTOR:
        case FIELD_AFTER:
            free(*(void **)member);
            break;
        case FIELD_ARGV:
        case FIELD_NAMES:
        case FIELD_ITEMS:
            job_names_free(*(char ***)member);
            break;
        case FIELD_PAIRS:
            job_pairs_release(member);
            break;
        case FIELD_PARAMS:
            job_params_release(member);
            break;
        case FIELD_GROUP:
            fields_release(field->fields, object);
            break;
        case FIELD_SCHEDULE: /* arrays with a count: job_free and job_steps_free release them */
        case FIELD_SCHEDULES:
        case FIELD_CALENDARS:
        case FIELD_STEPS:
        case FIELD_FINALLY:
        case FIELD_STEP_AFTER:
        case FIELD_KIND:
        case FIELD_JOIN:
        case FIELD_TIME:
        case FIELD_DURATION:
        case FIELD_SIZE:
        case FIELD_INT:
        case FIELD_INT64:
        case FIELD_BOOL:
        case FIELD_CHOICE:
        case FIELD_UMASK:
        case FIELD_SET:
        case FIELD_ID:
            break;
        }
    }
}

struct job *job_free(struct job *job)
{
    if (!job)
        return NULL;
    free_texts(job->schedules, job->schedule_count);
    free_texts(job->calendars, job->calendar_count);
    job_steps_free(job->steps, job->step_count);
    fields_release(job_fields, job);
    run_body_free(job->body);
    free(job->tracestate);
    free(job);
    return NULL;
}

enum status job_set_text(char **to, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return E_NOMEM;
    free(*to);
    *to = copy;
    return OK;
}

static void pairs_remove(struct job_pairs *pairs, size_t at)
{
    free(pairs->items[at].name);
    free(pairs->items[at].value);
    memmove(&pairs->items[at], &pairs->items[at + 1],
            (--pairs->count - at) * sizeof(*pairs->items));
}

/* Removes the name, wherever it is. */
static void forget_name(struct job_pairs *names, const char *name)
{
    for (size_t i = names->count; i-- > 0;) {
        if (strcmp(names->items[i].name, name) == 0)
            pairs_remove(names, i);
    }
}

enum status job_rename(struct job *job, const char *name, int64_t now_ms)
{
    char when[24];
    snprintf(when, sizeof(when), "%lld", (long long)now_ms);
    forget_name(&job->former_names, job->name);
    forget_name(&job->former_names, name);
    enum status st = job_pairs_add(&job->former_names, job->name, when);
    if (st == OK && !job->hash_name)
        st = job_set_text(&job->hash_name, job->name);
    if (st == OK)
        st = job_set_text(&job->name, name);
    if (st != OK)
        return st;
    if (job->former_names.count > JOB_FORMER_MAX)
        pairs_remove(&job->former_names, 0);
    if (strcmp(job->hash_name, name) == 0) {
        free(job->hash_name);
        job->hash_name = NULL;
    }
    return OK;
}

enum status job_pairs_add(struct job_pairs *pairs, const char *name, const char *value)
{
    if (array_grow(&pairs->items, pairs->count, sizeof(*pairs->items)) != OK)
        return E_NOMEM;
    struct job_pair pair = {strdup(name), strdup(value)};
    if (!pair.name || !pair.value) {
        free(pair.name);
        free(pair.value);
        return E_NOMEM;
    }
    pairs->items[pairs->count++] = pair;
    return OK;
}

static enum status add_text(char ***texts, size_t *count, const char *text)
{
    char *copy = strdup(text);
    if (!copy || array_grow(texts, *count, sizeof(char *)) != OK) {
        free(copy);
        return E_NOMEM;
    }
    (*texts)[(*count)++] = copy;
    return OK;
}

enum status job_schedules_add(struct job *job, const char *text)
{
    return add_text(&job->schedules, &job->schedule_count, text);
}

enum status job_calendars_add(struct job *job, const char *name)
{
    return add_text(&job->calendars, &job->calendar_count, name);
}

enum status job_schedule_parse(const struct job *job, size_t index, bool zone_is_given,
                               struct zone_db *zones, struct schedule **ret,
                               struct parse_error *reterr)
{
    char uid[ID_TEXT + 1];
    id_format(&job->uid, uid);
    struct schedule_options options = schedule_options_default();
    options.tz = zone_is_given ? job->timezone : NULL;
    options.default_tz = job->timezone;
    options.start_s = job->start_s;
    options.end_s = job->end_s;
    options.jitter_s = job->jitter_s;
    options.dst = job->dst;
    options.job_name = job->hash_name ? job->hash_name : job->name;
    options.job_uid = id_is_zero(&job->uid) ? NULL : uid;
    return schedule_parse(job->schedules[index], &options, zones, ret, reterr);
}

/* Puts the number of the refused schedule in front of the message. */
static void name_schedule(struct parse_error *err, size_t index)
{
    struct parse_error old = *err;
    parse_error_set(err, old.column, "schedule %zu: %.200s", index + 1, old.message);
}

enum status job_schedules(const struct job *job, struct zone_db *zones, struct schedule_set *set,
                          struct parse_error *reterr)
{
    struct schedule_set parsed;
    schedule_set_init(&parsed);
    enum status st = OK;
    for (size_t i = 0; i < job->schedule_count && st == OK; i++) {
        struct schedule *schedule = NULL;
        st = job_schedule_parse(job, i, false, zones, &schedule, reterr);
        if (st == OK)
            st = schedule_set_add(&parsed, schedule);
        else if (st != E_NOMEM && reterr && job->schedule_count > 1)
            name_schedule(reterr, i);
    }
    if (st != OK) {
        schedule_set_release(&parsed);
        return st;
    }
    schedule_set_release(set);
    *set = parsed;
    return OK;
}

const char *const overlap_names[] = {
    [OVERLAP_SKIP] = "skip",
    [OVERLAP_ALLOW] = "allow",
    [OVERLAP_QUEUE] = "queue",
    [OVERLAP_REPLACE] = "replace",
    NULL,
};

const char *const catch_up_names[] = {
    [CATCH_UP_LAST] = "last",
    [CATCH_UP_SKIP] = "skip",
    [CATCH_UP_ALL] = "all",
    NULL,
};

const char *const place_names[] = {
    [PLACE_EVEN] = "even",
    [PLACE_STICKY] = "sticky",
    [PLACE_LEAST_LOADED] = "least_loaded",
    NULL,
};

const char *const output_mode_names[] = {
    [OUTPUT_SEPARATE] = "separate",
    [OUTPUT_MERGED] = "merged",
    NULL,
};

const char *const notify_event_names[] = {
    [NOTIFY_FAILURE] = "failure",     [NOTIFY_LOST] = "lost",       [NOTIFY_RECOVERY] = "recovery",
    [NOTIFY_LATE] = "late",           [NOTIFY_SUCCESS] = "success", [NOTIFY_TOO_LONG] = "too_long",
    [NOTIFY_TOO_SHORT] = "too_short", [NOTIFY_OVERDUE] = "overdue", NULL,
};

const char *notify_event_name(enum notify_event event)
{
    return event < NOTIFY_EVENTS ? notify_event_names[event] : "event-?";
}

const char *const dst_policy_names[] = {
    [DST_DEFAULT] = "default",
    [DST_SKIP] = "skip",
    [DST_BOTH] = "both",
    NULL,
};

const char *overlap_policy_name(enum overlap_policy policy)
{
    return policy <= OVERLAP_REPLACE ? overlap_names[policy] : "overlap-?";
}
