#include "lacking.h"

#include <stdio.h>

static void note(struct lacking *lacking, const struct catalog_job *job, uint32_t function)
{
    for (size_t i = 0; i < lacking->count; i++)
        if (lacking->jobs[i].function == function)
            return;
    if (lacking->count < LACKS_MAX) {
        lacking->jobs[lacking->count++] = (struct lacking_job){job->uid, function};
        lacking->is_news = true;
    } else if (!lacking->has_more) {
        lacking->has_more = lacking->is_news = true;
    }
}

bool lacking_can_run(struct lacking *lacking, const struct engine_ports *ports,
                     const struct catalog_job *job)
{
    const char *function = catalog_job_function(job);
    if (ports_can_run(ports, function))
        return true;
    note(lacking, job, lacks_hash(function));
    return false;
}

static bool is_lacking(const struct lacking_job *one, const struct engine_ports *ports,
                       const struct catalog *catalog)
{
    const struct catalog_job *job = catalog_by_uid(catalog, &one->uid);
    const char *function = job && !job->deleted ? catalog_job_function(job) : NULL;
    return function && lacks_hash(function) == one->function && !ports_can_run(ports, function);
}

/* With room again, those that were not kept are noted when they are due next. */
void lacking_look(struct lacking *lacking, const struct engine_ports *ports,
                  const struct catalog *catalog)
{
    size_t kept = 0;
    for (size_t i = 0; i < lacking->count; i++)
        if (is_lacking(&lacking->jobs[i], ports, catalog))
            lacking->jobs[kept++] = lacking->jobs[i];
    if (kept == lacking->count)
        return;
    lacking->count = kept;
    lacking->has_more = false;
    lacking->is_news = true;
}

void lacking_print(struct lacking *lacking, char *ret, size_t size)
{
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < lacking->count; i++)
        lacks_add(lacking->jobs[i].function, &text);
    if (lacking->has_more)
        strbuf_addc(&text, '+');
    if (strbuf_status(&text) == OK) { /* else with the next heartbeat */
        snprintf(ret, size, "%s", text.text);
        lacking->is_news = false;
    }
    strbuf_release(&text);
}
