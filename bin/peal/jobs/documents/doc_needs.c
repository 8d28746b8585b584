#include "jobs/documents/doc_needs.h"

#include <string.h>

#include "group/group.h"
#include "workflow/steps.h"

static bool is_in(char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

static bool names_group(const struct job *job, const char *name)
{
    bool is_named = is_in(job->groups, name) || group_space_has(name, job->name);
    for (size_t i = 0; i < job->step_count && !is_named; i++)
        is_named = job->steps[i].job && is_in(job->steps[i].job->groups, name);
    return is_named;
}

static bool names_calendar(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->calendar_count; i++) {
        if (strcmp(job->calendars[i], name) == 0)
            return true;
    }
    return is_in(job->only_on, name);
}

/* A channel for all jobs that name none is used by those. */
static bool uses_channel(const struct job *job, const struct agent_doc *channel)
{
    bool hears_all = json_is_true(json_object_get(channel->shown, "default"));
    return job->notify.to ? is_in(job->notify.to, channel->name) : hears_all;
}

bool job_needs_doc(const struct job *job, const struct agent_doc *doc)
{
    switch (doc->type) {
    case DOC_GROUP:
        return names_group(job, doc->name);
    case DOC_CALENDAR:
        return names_calendar(job, doc->name);
    case DOC_CHANNEL:
        return uses_channel(job, doc);
    case DOC_MAINTENANCE:
    case DOC_TYPES:
        break;
    }
    return false;
}

bool docs_are_needed(const struct job_list *jobs, const struct agent_doc *doc)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (job_needs_doc(jobs->items[i], doc))
            return true;
    }
    return false;
}
