#include "function_group.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "definition/job_digest.h"

/* ---- the border ---- */

/* Does the name of the job say when it is due (`H`, `R`, `~`)? */
static bool is_seeded(const char *schedule)
{
    bool after_letter = false;
    for (const char *at = schedule; *at; at++) {
        bool is_letter = isalpha((unsigned char)*at);
        if (*at == '~' || (strchr("HhRr", *at) && !after_letter && !isalpha((unsigned char)at[1])))
            return true;
        after_letter = is_letter;
    }
    return false;
}

static bool has_ticks_of_its_own(const char *schedule)
{
    static const char *const words[] = {"@every",  "@hourly",  "@daily",  "@midnight",
                                        "@weekly", "@monthly", "@yearly", "@annually"};
    const char *word = strchr(schedule, '@');
    if (!word)
        return !is_seeded(schedule);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(word, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

bool function_is_plain(const struct functions *functions, const peal_job *job)
{
    bool is_called = job->local && job->function;
    bool is_due = job->interval_ms || (job->schedule && has_ticks_of_its_own(job->schedule));
    bool is_alone = job->overlap == PEAL_SKIP || job->overlap == PEAL_ALLOW;
    return is_called && is_due && is_alone && job->start_ms >= 0 && !job->jitter_ms &&
           job->catch_up != PEAL_ALL && !job->retries && !job->where && !job->more &&
           !table_find(&functions->former, job->name);
}

/* ---- joining ---- */

/* The same for all that have it. */
static enum status print_definition(const struct functions *functions, const peal_job *job,
                                    struct strbuf *out, struct strbuf *why)
{
    peal_job unnamed = *job;
    unnamed.name = "";
    enum status st = function_print(functions, &unnamed, NULL, out, why);
    strbuf_addf(out, "start: %" PRId64 "\n", job->start_ms);
    return st == OK ? strbuf_status(out) : st;
}

static void free_function(void *owner)
{
    function_free(owner);
}

void function_group_free(struct function_group *group)
{
    call_group_release(&group->calls);
    free(group->definition);
    free(group);
}

/* The job has a name of the library's; functions of that name are told that there is one. */
static enum status name_job(const struct functions *functions, const peal_job *job,
                            struct function **inout)
{
    char name[JOB_NAME_SIZE];
    snprintf(name, sizeof(name), "peal.local/%zu", functions->groups.count + 1);
    struct function *named = function_new(name, job);
    if (!named)
        return E_NOMEM;
    named->job = (*inout)->job;
    (*inout)->job = NULL;
    function_free(*inout);
    *inout = named;
    enum status st = job_set_text(&named->job->name, name);
    return st == OK ? job_set_text(&named->job->function.name, name) : st;
}

static void take_terms(struct call_group *calls, const struct job *job)
{
    call_group_init(calls);
    calls->gone = free_function;
    calls->skips_overlap = job->overlap == OVERLAP_SKIP;
    calls->timeout_ms = job->timeout_s * 1000;
    calls->deadline_ms = job->deadline_s * 1000;
}

/* The definition is read under the name of the first function, for what there is to be told. */
static enum status group_new(struct functions *functions, const peal_job *job,
                             const char *definition, struct function_group **ret,
                             struct strbuf *why)
{
    struct function *first = function_new(job->name, job);
    struct function_group *group = calloc(1, sizeof(*group));
    enum status st = first && group ? function_define(functions, job, first, why) : E_NOMEM;
    if (st == OK)
        st = name_job(functions, job, &first);
    if (st == OK && !(group->definition = strdup(definition)))
        st = E_NOMEM;
    if (st != OK) {
        function_free(first);
        free(group);
        return st;
    }
    take_terms(&group->calls, first->job);
    first->job->overlap = OVERLAP_ALLOW; /* each function looks for itself */
    first->group = group;
    group->job = first;
    st = table_insert(&functions->groups, group);
    if (st == OK && (st = table_insert(&functions->by_name, first)) != OK)
        table_remove(&functions->groups, group);
    if (st == OK) {
        *ret = group;
        return OK;
    }
    function_free(first);
    function_group_free(group);
    return st;
}

enum status function_group_join(struct functions *functions, const peal_job *job,
                                struct function *function, struct function **ret_fresh,
                                struct strbuf *why)
{
    struct strbuf definition;
    strbuf_init(&definition);
    enum status st = print_definition(functions, job, &definition, why);
    struct function_group *group =
        st == OK ? table_find(&functions->groups, definition.text) : NULL;
    *ret_fresh = NULL;
    if (st == OK && group && job_name_complaint(job->name))
        st = function_define(functions, job, function, why); /* says what is wrong with it */
    if (st == OK && !group && (st = group_new(functions, job, definition.text, &group, why)) == OK)
        *ret_fresh = group->job;
    strbuf_release(&definition);
    if (st != OK)
        return st;
    function->group = group;
    function->state = FUNCTION_KNOWN;
    return call_group_add(&group->calls, function->call, function->arg, function->name, function,
                          &function->member);
}

/* ---- parting ---- */

static enum status make_manual(struct job *job, const char *name)
{
    char digest[JOB_DIGEST_TEXT];
    enum status st = job_set_text(&job->name, name);
    if (st == OK)
        st = job_set_text(&job->function.name, name);
    if (st == OK)
        st = job_set_text(&job->schedules[0], "@manual");
    if (st == OK)
        st = job_set_text(&job->timezone, "UTC");
    job->start_s = TIME_UNSET;
    job->uid = (struct id){0};
    job->revision = 0;
    free(job->function.digest);
    job->function.digest = NULL;
    if (st == OK)
        st = job_digest(job, digest);
    return st == OK ? job_set_text(&job->function.digest, digest) : st;
}

enum status function_group_part(struct function *function)
{
    const struct function_group *group = function->group;
    struct job *job = NULL;
    struct job_error error;
    char *text = job_encode_text(group->job->job);
    enum status st = text ? job_decode_stored(text, NULL, &job, &error) : E_NOMEM;
    free(text);
    if (st == OK)
        st = make_manual(job, function->name);
    if (st != OK) {
        job_free(job);
        return st;
    }
    job->overlap = group->calls.skips_overlap ? OVERLAP_SKIP : OVERLAP_ALLOW;
    function->job = job;
    return OK;
}
