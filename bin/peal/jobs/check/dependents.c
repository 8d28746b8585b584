#include "jobs/check/dependents.h"

#include "cli/when.h"

enum { SHOWN = 10 };

struct warnings {
    size_t count;
};

/* The first ones are shown, the others counted. */
static bool is_shown(struct warnings *warnings)
{
    return warnings->count++ < SHOWN;
}

static void warn_of_wait(struct warnings *warnings, const char *waiting, const char *name)
{
    if (is_shown(warnings))
        cli_note("%s waits for %s, and will not start without it", waiting, name);
}

static void warn_of_step(struct warnings *warnings, const char *workflow, const char *name)
{
    if (is_shown(warnings))
        cli_note("%s runs %s as a step, and will fail without it", workflow, name);
}

static void warn_of_rest(const struct warnings *warnings)
{
    if (warnings->count > SHOWN)
        cli_note("and so do %zu more", warnings->count - SHOWN);
}

enum exit_code dependents_warn_of(struct client *client, const char *name, const json_t *deleted)
{
    struct warnings warnings = {0};
    struct reply reply;
    const json_t *each;
    size_t i;
    enum exit_code code = client_job_part(client, name, "/dependencies", &reply);
    if (code != EXIT_OK)
        return code;
    json_array_foreach (json_object_get(reply.body, "before"), i, each) {
        const char *waiting = answer_text(each, "job");
        if (!json_object_get(deleted, waiting))
            warn_of_wait(&warnings, waiting, name);
    }
    json_array_foreach (json_object_get(reply.body, "step_of"), i, each) {
        const char *workflow = json_string_value(each);
        if (!json_object_get(deleted, workflow))
            warn_of_step(&warnings, workflow, name);
    }
    warn_of_rest(&warnings);
    reply_release(&reply);
    return EXIT_OK;
}

static void warn_of_steps(struct warnings *warnings, const json_t *job, const char *list,
                          const json_t *deleted)
{
    const json_t *step;
    size_t i;
    json_array_foreach (json_object_get(job, list), i, step) {
        const char *name = answer_text(step, "job");
        if (!*name)
            name = answer_text(step, "workflow");
        if (json_object_get(deleted, name))
            warn_of_step(warnings, answer_text(job, "name"), name);
    }
}

void dependents_warn(const json_t *there, const json_t *deleted)
{
    struct warnings warnings = {0};
    const json_t *job, *after;
    size_t i, j;
    json_array_foreach (there, i, job) {
        const char *waiting = answer_text(job, "name");
        if (json_object_get(deleted, waiting))
            continue;
        json_array_foreach (json_object_get(job, "after"), j, after) {
            const char *name = answer_text(after, "job");
            if (json_object_get(deleted, name))
                warn_of_wait(&warnings, waiting, name);
        }
        warn_of_steps(&warnings, job, "steps", deleted);
        warn_of_steps(&warnings, job, "finally", deleted);
    }
    warn_of_rest(&warnings);
}
