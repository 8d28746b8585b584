#include "gates/conditions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/catalog.h"
#include "timestamp.h"

enum status conditions_read(struct catalog_job *job, const struct job *definition,
                            struct job_conditions **ret)
{
    char *const *names = definition ? definition->only_if.jobs : NULL;
    size_t count = 0, size = 0;
    for (; names && names[count]; count++)
        size += strlen(names[count]) + 1;
    *ret = NULL;
    if (!count)
        return OK;
    struct job_conditions *read = calloc(1, sizeof(*read) + count * sizeof(read->items[0]) + size);
    if (!read)
        return E_NOMEM;
    read->states = after_states(definition->only_if.on);
    read->within_ms = definition->only_if.within_s * 1000;
    read->wait_ms = definition->only_if.wait_s * 1000;
    read->count = count;
    char *text = (char *)(read->items + count);
    for (size_t i = 0; i < count; i++) {
        read->items[i] = (struct condition){.job = job, .name = text};
        text = stpcpy(text, names[i]) + 1;
    }
    *ret = read;
    return OK;
}

static int64_t since_ms(const struct catalog_job *job, int64_t tick_ms)
{
    const struct zone *zone = job->schedule_count ? schedule_zone(job->schedules[0]) : zone_utc();
    return only_if_since_ms(job->conditions->within_ms, zone, tick_ms);
}

struct conditions_look conditions_look(const struct catalog *catalog, const struct catalog_job *job,
                                       int64_t tick_ms)
{
    const struct job_conditions *conditions = job->conditions;
    struct conditions_look look = {.since_ms = since_ms(job, tick_ms)};
    for (size_t i = 0; i < conditions->count; i++) {
        const struct catalog_job *other = catalog_awaited(catalog, conditions->items[i].name);
        int64_t met_ms =
            other ? only_if_met_ms(conditions->states, &other->last, look.since_ms) : 0;
        if (!met_ms) {
            look.unmet = &conditions->items[i];
            look.is_missing = !other;
            return look;
        }
        look.met_ms = met_ms > look.met_ms ? met_ms : look.met_ms;
    }
    return look;
}

void conditions_tell(const struct job_conditions *conditions, const struct conditions_look *look,
                     char *ret, size_t size)
{
    const char *what = conditions->states == after_states(AFTER_SUCCESS)   ? "success"
                       : conditions->states == after_states(AFTER_FAILURE) ? "failure"
                                                                           : "end";
    struct strbuf since;
    if (look->is_missing) {
        snprintf(ret, size, "there is no job %s", look->unmet->name);
        return;
    }
    strbuf_init(&since);
    timestamp_print_utc(look->since_ms / 1000, &since);
    snprintf(ret, size, "%.110s: no %s since %.24s", look->unmet->name, what, since.text);
    strbuf_release(&since);
}

struct store_condition *conditions_for_store(const struct catalog *catalog,
                                             const struct catalog_job *job, int64_t tick_ms)
{
    const struct job_conditions *conditions = job->conditions;
    struct store_condition *made = calloc(conditions->count, sizeof(*made));
    for (size_t i = 0; made && i < conditions->count; i++) {
        const struct catalog_job *other = catalog_awaited(catalog, conditions->items[i].name);
        made[i] = (struct store_condition){.states = conditions->states,
                                           .since_ms = since_ms(job, tick_ms)};
        if (other)
            made[i].job_uid = other->uid;
    }
    return made;
}

const char *conditions_missing(const struct catalog *catalog, const struct catalog_job *job)
{
    for (size_t i = 0; job->conditions && i < job->conditions->count; i++) {
        if (!catalog_awaited(catalog, job->conditions->items[i].name))
            return job->conditions->items[i].name;
    }
    return NULL;
}
