#include "stages/again.h"

#include <stdio.h>
#include <string.h>

#include "definition/job_codec.h"
#include "definition/retry.h"

static void add_detail(struct run *run, const char *text)
{
    size_t length = strlen(run->detail);
    snprintf(run->detail + length, sizeof(run->detail) - length, "%s%s", length ? "; " : "", text);
}

static void fill(const struct engine_ports *ports, struct now now, const struct job *job,
                 int64_t job_revision, struct store_finish *finish)
{
    int64_t at_ms =
        retry_at_ms(&job->retries, &finish->run, ports_new_nonce(ports), AGAIN_LOST_WAIT_MS);
    if (at_ms < 0) {
        add_detail(&finish->run, "not retried: too late for its retries.within");
        return;
    }
    finish->again = (struct store_again){.is_wanted = true,
                                         .id = ports_new_id(ports, now.wall),
                                         .not_before_ms = at_ms,
                                         .attempts = job->retries.count + 1,
                                         .job_revision = job_revision};
}

enum status again_fill(const struct engine_ports *ports, struct instances *instances,
                       struct now now, struct store_finish *finish)
{
    const struct catalog_job *job = catalog_by_uid(instances->catalog, &finish->run.job_uid);
    const struct catalog_job *terms = instances_terms(instances, &finish->run);
    struct job *definition;
    struct job_error error;
    finish->again = (struct store_again){.is_wanted = false};
    bool was_judged = run_is_step(&finish->run) && !finish->run.nonce; /* nobody was to run it */
    if (!job || job->deleted || !terms || was_judged || !catalog_job_attempts(terms) ||
        finish->run.state == RUN_OK ||
        open_runs_order(instances->runs, &finish->run) != REASON_NONE)
        return OK;
    enum status st = job_decode_stored(terms->json, NULL, &definition, &error);
    if (st != OK)
        return st == E_NOMEM ? st : OK;
    if (retry_is_wanted(&definition->retries, &finish->run))
        fill(ports, now, definition, job->revision, finish);
    job_free(definition);
    return OK;
}
