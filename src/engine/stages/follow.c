#include "stages/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of all jobs that one finish involves. */
struct jobs {
    const char *names[STORE_NEXT_JOBS_MAX];
    size_t count;
};

/* False: the list is full. */
static bool add_name(struct jobs *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (strcmp(jobs->names[i], name) == 0)
            return true;
    if (jobs->count == STORE_NEXT_JOBS_MAX)
        return false;
    jobs->names[jobs->count++] = name;
    return true;
}

/* The name that the awaited job has now. */
static const char *name_now(const struct catalog *catalog, const char *name)
{
    const struct catalog_job *job = catalog_awaited(catalog, name);
    return job ? job->name : name;
}

/* Adds the job and all that it waits for, except the ending one; all or none of them. */
static bool add_waiting(struct jobs *jobs, const struct catalog *catalog,
                        const struct catalog_job *job, const char *ended)
{
    size_t before = jobs->count;
    bool has_room = add_name(jobs, job->name);
    for (size_t i = 0; has_room && i < job->waits->count; i++) {
        const char *name = name_now(catalog, job->waits->waits[i].name);
        has_room = strcmp(name, ended) == 0 || add_name(jobs, name);
    }
    if (!has_room)
        jobs->count = before;
    return has_room;
}

bool follow_fits(const struct catalog *catalog, const char *name, const struct id *uid,
                 const struct job *definition)
{
    struct jobs jobs = {.count = 0};
    const char *ended = name_now(catalog, name);
    bool has_room = add_name(&jobs, definition->name);
    for (size_t i = 0; has_room && i < definition->after_count; i++) {
        const char *other = name_now(catalog, definition->after[i].job);
        has_room = strcmp(other, ended) == 0 || add_name(&jobs, other);
    }
    struct dependents all = catalog_dependents(catalog, name);
    for (const struct job_wait *wait; has_room && (wait = dependents_next(&all));)
        has_room =
            id_compare(&wait->job->uid, uid) == 0 || add_waiting(&jobs, catalog, wait->job, ended);
    return has_room;
}

bool follow_fits_renamed(const struct catalog *catalog, const char *name, const char *to)
{
    struct jobs jobs = {.count = 0};
    struct dependents all[] = {catalog_dependents(catalog, name), catalog_dependents(catalog, to)};
    for (size_t i = 0; i < 2; i++) {
        for (const struct job_wait *wait; (wait = dependents_next(&all[i]));) {
            if (!add_waiting(&jobs, catalog, wait->job, name))
                return false;
        }
    }
    return true;
}

/* ---- in a circle ---- */

/* Marks all jobs that the job waits for, directly or indirectly, and that wait themselves. */
static void mark_before(struct catalog *catalog, const struct catalog_job *job)
{
    uint64_t mark = ++catalog->waits.mark;
    struct job_waits *todo = NULL, *taken;
    for (const struct job_waits *waits = job->waits; waits; waits = taken) {
        for (size_t i = 0; i < waits->count; i++) {
            const struct catalog_job *other = catalog_awaited(catalog, waits->waits[i].name);
            struct job_waits *more = other ? other->waits : NULL;
            if (!more || more->mark == mark)
                continue;
            more->mark = mark;
            more->next = todo;
            todo = more;
        }
        taken = todo;
        if (taken)
            todo = taken->next;
    }
}

static bool is_before(const struct catalog *catalog, const struct catalog_job *job)
{
    return job->waits->mark == catalog->waits.mark;
}

/* ---- the nexts ---- */

/* How a tick may end of which this is the end of a run: as that, or as any other part. */
static unsigned ends_of(const struct run *ended)
{
    return ended->parts ? ~0U : 1U << ended->state;
}

/* False: one of them does not exist, or can't be met together with this end: a job that was given
 * a name which another job waited for already may be awaited twice. */
static bool fill_needs(const struct catalog *catalog, const struct job_wait *wait,
                       const struct run *ended, struct store_next *next)
{
    const struct job_waits *waits = wait->job->waits;
    next->need_count = 0;
    next->states = after_states(wait->on);
    for (size_t i = 0; i < waits->count; i++) {
        const struct job_wait *other = &waits->waits[i];
        if (other == wait)
            continue;
        const struct catalog_job *job = catalog_awaited(catalog, other->name);
        bool is_ended = job && id_compare(&job->uid, &ended->job_uid) == 0;
        if (is_ended)
            next->states &= after_states(other->on);
        if (!job || !(next->states & ends_of(ended)))
            return false;
        if (is_ended)
            continue;
        next->needs[next->need_count++] =
            (struct store_need){.job_uid = job->uid, .states = after_states(other->on)};
    }
    return true;
}

static void fill_run(const struct engine_ports *ports, const struct catalog *catalog,
                     const struct peer *self, struct now now, const struct catalog_job *job,
                     struct run *run)
{
    run->id = ports_new_id(ports, now.wall);
    run->job_uid = job->uid;
    run->attempt = 1;
    run->attempts = catalog_job_attempts(job);
    catalog_fill_groups(catalog, job, job->name, run->groups, &run->priority);
    run->job_revision = job->revision;
    run->claimed_ms = now.wall.ms;
    run->exit_code = -1;
    snprintf(run->job_name, sizeof(run->job_name), "%s", job->name);
    snprintf(run->node, sizeof(run->node), "%s", self->name);
    run->owner = peer_incarnation(self);
}

static void fill_next(const struct engine_ports *ports, const struct catalog *catalog,
                      const struct peer *self, struct now now, const struct job_wait *wait,
                      const struct catalog_job *ended, const struct run *before,
                      struct store_next *next)
{
    const struct catalog_job *job = wait->job;
    next->job_uid = job->uid;
    struct job_policy policy = catalog_job_policy(job);
    next->overlap = policy.overlap;
    next->queue_limit = policy.queue_limit;
    next->at_once = policy.overlap_at_once;
    next->skip_entry_id = ports_new_id(ports, now.wall);
    fill_run(ports, catalog, self, now, job, &next->run);
    after_note(&next->run, before, ended->name);
}

/* Allocates for all jobs that wait for such an end, and for what they need; NULL with *ret_count 0:
 * there are none. */
static struct store_next *new_nexts(struct dependents all, unsigned ends, size_t *ret_count,
                                    struct store_need **ret_needs)
{
    size_t count = 0, need_count = 0;
    for (const struct job_wait *wait; (wait = dependents_next(&all));) {
        if (after_states(wait->on) & ends) {
            count++;
            need_count += wait->job->waits->count;
        }
    }
    *ret_count = count;
    struct store_next *nexts =
        count ? calloc(1, count * sizeof(*nexts) + need_count * sizeof(**ret_needs)) : NULL;
    if (nexts)
        *ret_needs = (struct store_need *)(nexts + count);
    return nexts;
}

static void leave_out(const struct engine_ports *ports, const struct catalog_job *job,
                      const struct catalog_job *ended, const char *why)
{
    ports_log(ports, "after_left_out", "job=%s after=%s error=\"%s\"", job->name, ended->name, why);
}

/* Fills in the waiting jobs, without those that are left out. */
static void fill_nexts(const struct engine_ports *ports, struct catalog *catalog,
                       const struct peer *self, struct now now, struct dependents all,
                       const struct catalog_job *ended, struct store_finish *finish,
                       struct store_need *needs)
{
    struct jobs jobs = {.count = 0};
    mark_before(catalog, ended);
    for (const struct job_wait *wait; (wait = dependents_next(&all));) {
        if (!(after_states(wait->on) & ends_of(&finish->run)))
            continue; /* beyond STORE_NEXT_JOBS_MAX */
        struct store_next *next = &finish->nexts[finish->next_count];
        next->needs = needs;
        if (!fill_needs(catalog, wait, &finish->run, next))
            continue;
        if (wait->job == ended || is_before(catalog, wait->job)) {
            leave_out(ports, wait->job, ended, "they wait for each other");
        } else if (!add_waiting(&jobs, catalog, wait->job, ended->name)) {
            leave_out(ports, wait->job, ended, "too many jobs wait for it");
        } else {
            fill_next(ports, catalog, self, now, wait, ended, &finish->run, next);
            needs += next->need_count;
            finish->next_count++;
        }
    }
}

enum status follow_fill(const struct engine_ports *ports, struct catalog *catalog,
                        const struct peer *self, struct now now, struct store_finish *finish)
{
    const struct catalog_job *ended = catalog_by_uid(catalog, &finish->run.job_uid);
    struct store_need *needs;
    size_t count;
    finish->nexts = NULL;
    finish->next_count = 0;
    if (!ended || ended->deleted || run_is_step(&finish->run))
        return OK;
    struct dependents all = catalog_dependents(catalog, ended->name);
    finish->nexts = new_nexts(all, ends_of(&finish->run), &count, &needs);
    if (finish->nexts)
        fill_nexts(ports, catalog, self, now, all, ended, finish, needs);
    return finish->nexts || !count ? OK : E_NOMEM;
}

void follow_release(struct outbox_batch *batch)
{
    for (size_t i = 0; i < outbox_count(batch); i++) {
        free(batch->request.items.finishes[i].nexts);
        free(batch->request.items.finishes[i].links);
        free((char *)batch->request.items.finishes[i].output);
    }
}
