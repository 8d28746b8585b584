#include "runs/job_names.h"

#include <stdio.h>
#include <string.h>

#include "auth/visible.h"
#include "server.h"

bool job_names_read(struct call *call, int most, struct job_names *ret)
{
    const char *names = query_get(&call->query, "names");
    int count = 1;
    for (const char *c = names ? names : ""; *c; c++)
        count += *c == ',';
    if (!names || !*names)
        call_fail_at(call, "?names", "names: which jobs? Names with commas between");
    else if (count > most)
        call_fail_at(call, "?names", "names: %d at most", most);
    else
        ret->rest = names;
    return names && *names && count <= most;
}

const struct catalog_job *job_names_next(const struct call *call, struct job_names *names)
{
    while (*names->rest) {
        size_t length = strcspn(names->rest, ",");
        snprintf(names->name, sizeof(names->name), "%.*s",
                 (int)(length < JOB_NAME_MAX ? length : JOB_NAME_MAX), names->rest);
        names->rest += length;
        names->rest += *names->rest == ',';
        const struct catalog_job *job =
            catalog_by_name(engine_catalog(call->api->ports.engine), names->name);
        if (job && call_sees(call, names->name))
            return job;
    }
    return NULL;
}
