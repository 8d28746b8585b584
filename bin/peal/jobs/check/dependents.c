#include "jobs/check/dependents.h"

#include "cli/when.h"

enum { SHOWN = 10 };

/* The n-th one is shown, or counted. */
static void warn(size_t n, const char *waiting, const char *name)
{
    if (n < SHOWN)
        cli_note("%s waits for %s, and will not start without it", waiting, name);
}

static void warn_of_rest(size_t count)
{
    if (count > SHOWN)
        cli_note("and so do %zu more", count - SHOWN);
}

enum exit_code dependents_warn_of(struct client *client, const char *name, const json_t *deleted)
{
    struct reply reply;
    const json_t *each;
    size_t i, count = 0;
    enum exit_code code = client_job_part(client, name, "/dependencies", &reply);
    if (code != EXIT_OK)
        return code;
    json_array_foreach (json_object_get(reply.body, "before"), i, each) {
        const char *waiting = answer_text(each, "job");
        if (!json_object_get(deleted, waiting))
            warn(count++, waiting, name);
    }
    warn_of_rest(count);
    reply_release(&reply);
    return EXIT_OK;
}

void dependents_warn(const json_t *there, const json_t *deleted)
{
    const json_t *job, *after;
    size_t i, j, count = 0;
    json_array_foreach (there, i, job) {
        const char *waiting = answer_text(job, "name");
        if (json_object_get(deleted, waiting))
            continue;
        json_array_foreach (json_object_get(job, "after"), j, after) {
            const char *name = answer_text(after, "job");
            if (json_object_get(deleted, name))
                warn(count++, waiting, name);
        }
    }
    warn_of_rest(count);
}
