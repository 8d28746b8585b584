/* Versions of a job's definition: list, diff and rollback. They come from the audit trail; for a
 * job that is older than the trail, the catalog has at least the current one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/definition_diff.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "runs/encode.h"
#include "server.h"

enum { PAGE = 50, PAGE_MAX = 1000 };

/* The actions that give a job a new revision. */
static const uint64_t definition_actions =
    UINT64_C(1) << CHANGE_CREATE | UINT64_C(1) << CHANGE_CHANGE | UINT64_C(1) << CHANGE_DELETE |
    UINT64_C(1) << CHANGE_UNDELETE | UINT64_C(1) << CHANGE_PAUSE | UINT64_C(1) << CHANGE_RESUME |
    UINT64_C(1) << CHANGE_SKIP_NEXT | UINT64_C(1) << CHANGE_ROLLBACK | UINT64_C(1) << CHANGE_RENAME;

/* The job in the path, or the last deleted one of that name; NULL: the call has failed. */
static const struct catalog_job *versioned_job(struct call *call)
{
    const struct catalog_job *job =
        catalog_by_name(engine_catalog(call->api->ports.engine), call->argument);
    if (!job)
        job = deleted_job(call, call->argument);
    if (!job)
        fail_no_job(call, call->argument);
    return job;
}

/* ---- the list ---- */

static json_t *encode_version(const struct change_record *change, int64_t current)
{
    return json_pack("{s:I, s:o, s:o, s:s, s:o, s:b}", "revision", (json_int_t)change->revision,
                     "at", json_time(change->at_ms), "actor", json_words_or_null(change->actor),
                     "action", change_action_name(change->action), "detail",
                     json_words_or_null(change->detail), "current", change->revision == current);
}

/* The current version, when the trail does not begin with it. */
static json_t *encode_current(const struct catalog_job *job)
{
    json_t *definition = json_loads(job->json, 0, NULL);
    int64_t updated_ms = stored_time(definition, "updated_ms");
    json_decref(definition);
    return json_pack("{s:I, s:o, s:n, s:n, s:n, s:b}", "revision", (json_int_t)job->revision, "at",
                     json_time(updated_ms), "actor", "action", "detail", "current", 1);
}

static json_t *encode_versions(const struct history_changes *page, const struct catalog_job *job)
{
    bool is_first = id_is_zero(&page->query.before);
    bool has_current = false;
    json_t *items = json_array();
    int failed = !items;
    for (size_t i = 0; i < page->count; i++)
        has_current |= page->items[i].revision == job->revision;
    if (is_first && !has_current && !failed)
        failed |= json_array_append_new(items, encode_current(job));
    for (size_t i = 0; i < page->count && !failed; i++)
        failed |= json_array_append_new(items, encode_version(&page->items[i], job->revision));
    if (!failed)
        return items;
    json_decref(items);
    return NULL;
}

static void reply_versions(struct call *call)
{
    const struct history_changes *page = &call->changes;
    const struct catalog_job *job =
        catalog_by_uid(engine_catalog(call->api->ports.engine), &page->query.job_uid);
    if (call->answer != OK)
        call_fail_history(call, call->answer);
    else if (!job)
        call_fail(call, 404, "\"%s\" no longer exists", call->argument);
    else
        call_reply(call, 200,
                   json_pack("{s:o, s:o}", "items", encode_versions(page, job), "next",
                             page->more ? cursor_of_id(&page->next) : json_null()));
}

void list_versions(struct call *call)
{
    const struct catalog_job *job = versioned_job(call);
    int64_t limit = PAGE;
    if (!job)
        return;
    call->changes.query = (struct change_query){.job_uid = job->uid, .actions = definition_actions};
    if (!param_number(call, "limit", 1, PAGE_MAX, &limit) ||
        !param_id_cursor(call, &call->changes.query.before))
        return;
    call->changes.query.limit = (size_t)limit;
    call_read_changes(call, reply_versions);
}

/* ---- one version ---- */

struct version_state {
    struct id uid;
    int64_t revision, to;
    char *definition; /* of `revision`, as stored, while the other one is searched */
    bool dry_run;
};

static void release_version(void *state)
{
    free(((struct version_state *)state)->definition);
}

static bool read_revision(struct call *call, const char *text, int64_t *ret)
{
    char *end;
    errno = 0;
    long long revision = strtoll(text, &end, 10);
    if (*text >= '1' && *text <= '9' && !*end && !errno) {
        *ret = revision;
        return true;
    }
    call_fail(call, 404, "\"%.40s\" is no revision; those of a job are numbers", text);
    return false;
}

static struct version_state *new_version(struct call *call, const struct catalog_job *job)
{
    struct version_state *state = job ? call_state(call, sizeof(*state), release_version) : NULL;
    if (state) {
        state->uid = job->uid;
        state->to = job->revision;
    }
    return state;
}

static void look_up(struct call *call, int64_t revision, call_then *then)
{
    const struct version_state *state = call->state;
    call->changes.query = (struct change_query){
        .job_uid = state->uid,
        .actions = definition_actions,
        .revision = revision,
        .with_definitions = true,
        .limit = 1,
    };
    call_read_changes(call, then);
}

/* The definition that was found, as stored, freed by the caller; NULL: the call has failed. */
static char *found_definition(struct call *call)
{
    const struct version_state *state = call->state;
    int64_t revision = call->changes.query.revision;
    const struct catalog_job *job =
        catalog_by_uid(engine_catalog(call->api->ports.engine), &state->uid);
    const char *text = NULL;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return NULL;
    }
    if (call->changes.count)
        text = call->changes.items[0].after;
    else if (job && job->revision == revision)
        text = job->json;
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        call_fail(call, 500, "out of memory");
    else if (!text)
        call_fail(call, 404, "revision %lld of \"%s\" is not on record", (long long)revision,
                  call->argument);
    return copy;
}

static void reply_version(struct call *call)
{
    char *stored = found_definition(call);
    if (!stored)
        return;
    json_t *definition = show_definition(stored, call_secrets(call, call->argument));
    if (json_is_object(definition) &&
        json_object_set_new(definition, "revision", json_integer(call->changes.query.revision)) !=
            0) {
        json_decref(definition);
        definition = NULL;
    }
    free(stored);
    call_reply(call, 200, definition);
}

void get_version(struct call *call)
{
    struct version_state *state = new_version(call, versioned_job(call));
    if (state && read_revision(call, call->second_argument, &state->revision))
        look_up(call, state->revision, reply_version);
}

/* ---- differences ---- */

static json_t *encode_diff(struct call *call, const char *from_text, const char *to_text)
{
    const struct version_state *state = call->state;
    char from_name[192], to_name[192];
    enum secrets secrets = call_secrets(call, call->argument);
    json_t *from = show_definition(from_text, secrets), *to = show_definition(to_text, secrets);
    snprintf(from_name, sizeof(from_name), "%s@%lld", call->argument, (long long)state->revision);
    snprintf(to_name, sizeof(to_name), "%s@%lld", call->argument, (long long)state->to);
    json_t *answer =
        !from || !to ? NULL
                     : json_pack("{s:I, s:I, s:o, s:o}", "from", (json_int_t)state->revision, "to",
                                 (json_int_t)state->to, "changes", definition_changes(from, to),
                                 "text", definition_text_diff(call, from_name, from, to_name, to));
    json_decref(from);
    json_decref(to);
    return answer;
}

static void second_found(struct call *call)
{
    const struct version_state *state = call->state;
    char *to = found_definition(call);
    if (!to)
        return;
    json_t *answer = encode_diff(call, state->definition, to);
    free(to);
    call_reply(call, 200, answer);
}

static void first_found(struct call *call)
{
    struct version_state *state = call->state;
    char *definition = found_definition(call);
    if (!definition)
        return;
    state->definition = definition;
    look_up(call, state->to, second_found);
}

void diff_versions(struct call *call)
{
    struct version_state *state = new_version(call, versioned_job(call));
    if (state && read_revision(call, call->second_argument, &state->revision) &&
        param_number(call, "to", 1, INT64_MAX, &state->to))
        look_up(call, state->revision, first_found);
}

/* ---- the way back ---- */

/* The definition as JSON, with the names that the jobs in its `after` have now; NULL: not JSON. */
static json_t *load_version(const struct call *call, const char *stored, int64_t at_ms)
{
    struct job *job = NULL;
    struct job_error error;
    if (job_decode_stored(stored, call->api->ports.zones, &job, &error) != OK)
        return json_loads(stored, 0, NULL); /* what is wrong with it is said when it is checked */
    after_follow_renames(call, job, at_ms);
    json_t *value = job_encode_json(job, true);
    job_free(job);
    return value;
}

/* A rollback does not change `paused`. */
static void version_found(struct call *call)
{
    struct version_state *state = call->state;
    int64_t revision = state->revision;
    bool dry_run = state->dry_run;
    int64_t at_ms = call->changes.count ? call->changes.items[0].at_ms : call->now_ms;
    char *stored = found_definition(call);
    if (!stored)
        return;
    json_decref(call->body);
    call->body = load_version(call, stored, at_ms);
    free(stored);
    release_version(state);
    free(state);
    call->state = NULL;
    call->release = NULL;
    if (!call->body) {
        call_fail(call, 409, "revision %lld of \"%s\" can't be read by this version",
                  (long long)revision, call->argument);
        return;
    }
    drop_kept(call->body);
    json_object_del(call->body, "paused");
    json_object_del(call->body, "name"); /* it may have been renamed since */
    roll_back(call, revision, dry_run);
}

void rollback_job(struct call *call)
{
    struct version_state *state = new_version(call, path_job(call));
    if (!state || !field_number(call, "revision", 1, INT64_MAX, &state->revision) ||
        !field_bool(call, "dry_run", &state->dry_run))
        return;
    if (!state->revision)
        call_fail_at(call, "/revision", "revision: say which one, as GET .../versions lists them");
    else
        look_up(call, state->revision, version_found);
}
