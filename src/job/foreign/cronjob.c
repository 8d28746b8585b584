#include "foreign/cronjob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "foreign/cronjob_pod.h"

enum {
    BACKOFF_DEFAULT = 6, /* Kubernetes' own values */
    BACKOFF_WAIT_S = 10,
    BACKOFF_MAX_S = 360,
    RETRIES_MAX = 100,
};

struct listing {
    struct foreign_build build;
    size_t count; /* of CronJobs */
};

/* ---- one CronJob ---- */

static enum status set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0 ? OK : E_NOMEM;
}

static enum status set_seconds(json_t *object, const char *name, int64_t seconds)
{
    struct strbuf text;
    strbuf_init(&text);
    duration_print(seconds, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = set(object, name, json_string(text.text));
    strbuf_release(&text);
    return st;
}

/* -1: not there, or no number. */
static int64_t number_of(const struct node *map, const char *key)
{
    const struct node *node = cronjob_get(map, key);
    char *end;
    if (!node || node->kind != NODE_SCALAR || !*node->text)
        return -1;
    long long value = strtoll(node->text, &end, 10);
    return *end || value < 0 || value > INT32_MAX ? -1 : value;
}

/* Without a zone Kubernetes takes that of its controller, which is UTC as a rule. */
static enum status set_when(struct listing *listing, const struct foreign_task *task,
                            const struct node *spec, json_t *definition)
{
    const char *zone = cronjob_text(spec, "timeZone");
    enum status st = set(definition, "schedule", json_string(cronjob_text(spec, "schedule")));
    if (st == OK)
        st = set(definition, "timezone", json_string(*zone ? zone : "UTC"));
    if (st == OK && !*zone)
        st = foreign_note(&listing->build, task, cronjob_get(spec, "schedule"), FOREIGN_INFO,
                          "it names no time zone: UTC is taken, as by most clusters");
    if (st == OK && number_of(spec, "startingDeadlineSeconds") > 0)
        st = set_seconds(definition, "deadline", number_of(spec, "startingDeadlineSeconds"));
    if (st == OK && strcmp(cronjob_text(spec, "suspend"), "true") == 0)
        st = set(definition, "paused", json_true());
    return st;
}

static enum status set_overlap(const struct node *spec, json_t *definition)
{
    const char *policy = cronjob_text(spec, "concurrencyPolicy");
    const char *overlap = strcmp(policy, "Forbid") == 0    ? "skip"
                          : strcmp(policy, "Replace") == 0 ? "replace"
                                                           : "allow";
    return set(definition, "overlap", json_string(overlap));
}

static enum status set_limits(const struct node *job, json_t *definition)
{
    int64_t deadline_s = number_of(job, "activeDeadlineSeconds");
    int64_t count = number_of(job, "backoffLimit");
    int64_t grace_s = number_of(cronjob_get(cronjob_get(job, "template"), "spec"),
                                "terminationGracePeriodSeconds");
    enum status st = deadline_s > 0 ? set_seconds(definition, "timeout", deadline_s) : OK;
    if (st == OK && grace_s > 0)
        st = set_seconds(definition, "grace", grace_s);
    if (count < 0)
        count = BACKOFF_DEFAULT;
    if (st != OK || !count)
        return st;
    json_t *retries =
        json_pack("{s:I, s:s}", "count", (json_int_t)(count < RETRIES_MAX ? count : RETRIES_MAX),
                  "backoff", "exponential");
    st = retries ? set_seconds(retries, "wait", BACKOFF_WAIT_S) : E_NOMEM;
    if (st == OK)
        st = set_seconds(retries, "max_wait", BACKOFF_MAX_S);
    if (st == OK)
        st = set(definition, "retries", json_incref(retries));
    json_decref(retries);
    return st;
}

static const struct node *at_field(const struct foreign_task *task, const char *path)
{
    static const struct {
        const char *ours, *theirs;
    } origins[] = {{"/schedule", "schedule"},
                   {"/timezone", "timeZone"},
                   {"/deadline", "startingDeadlineSeconds"}};
    for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++) {
        if (strncmp(path, origins[i].ours, strlen(origins[i].ours)) == 0)
            return cronjob_get(cronjob_get(task->node, "spec"), origins[i].theirs);
    }
    return NULL;
}

/* Of the maps around the pod what is read, or means nothing here. */
static enum status note_maps(struct foreign_build *build, const struct foreign_task *task,
                             const struct node *spec, const struct node *job)
{
    static const char *const of_cronjob[] = {
        "schedule", "timeZone",    "startingDeadlineSeconds",    "concurrencyPolicy",
        "suspend",  "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
        NULL};
    static const char *const of_job[] = {
        "activeDeadlineSeconds",   "backoffLimit", "template", "completionMode",
        "ttlSecondsAfterFinished", "suspend",      NULL};
    enum status st = cronjob_note_rest(build, task, spec, "", of_cronjob);
    if (st == OK)
        st = cronjob_note_rest(build, task, job, "jobTemplate.", of_job);
    return st;
}

static enum status add_definition(struct listing *listing, const struct foreign_task *task,
                                  const struct node *spec, json_t *definition)
{
    static const struct foreign_origin origin = {at_field};
    const struct node *job = cronjob_get(cronjob_get(spec, "jobTemplate"), "spec");
    bool is_done = false, is_good = true;
    enum status st = set_when(listing, task, spec, definition);
    if (st == OK)
        st = cronjob_set_pod(&listing->build, task,
                             cronjob_get(cronjob_get(job, "template"), "spec"), definition,
                             &is_good);
    if (st == OK && is_good)
        st = set_overlap(spec, definition);
    if (st == OK && is_good)
        st = set_limits(job, definition);
    if (st == OK && is_good)
        st = note_maps(&listing->build, task, spec, job);
    return st == OK && is_good ? foreign_add(&listing->build, task, definition, &origin, &is_done)
                               : st;
}

static enum status add_cronjob(struct listing *listing, const struct node *object)
{
    const struct node *metadata = cronjob_get(object, "metadata"),
                      *spec = cronjob_get(object, "spec");
    const struct foreign_task task = {.node = object, .name = cronjob_text(metadata, "name")};
    const char *space = cronjob_text(metadata, "namespace"), *name;
    const char *prefix = listing->build.options->prefix;
    json_t *definition = json_object();
    enum status st = definition
                         ? foreign_name(&listing->build, task.name, *space ? space : "2", &name)
                         : E_NOMEM;
    if (st == OK)
        st = set(definition, "name", json_string(name));
    if (st == OK && strcmp(name + (prefix ? strlen(prefix) : 0), task.name) != 0)
        st = foreign_note(&listing->build, &task, cronjob_get(metadata, "name"), FOREIGN_INFO,
                          "the job is named \"%.128s\"", name);
    if (st == OK && *space)
        st = set(definition, "labels", json_pack("{s:s}", "namespace", space));
    if (st == OK)
        st = add_definition(listing, &task, spec, definition);
    json_decref(definition);
    listing->count++;
    return st;
}

/* ---- documents ---- */

static enum status add_object(struct listing *listing, const struct node *object)
{
    const char *kind = cronjob_text(object, "kind");
    const struct node *items = cronjob_get(object, "items");
    enum status st = OK;
    if (strcmp(kind, "CronJob") == 0)
        return add_cronjob(listing, object);
    if (items && items->kind == NODE_LIST) {
        for (const struct entry *entry = items->entries; entry && st == OK; entry = entry->next)
            st = add_object(listing, entry->value);
        listing->count++;
        return st;
    }
    if (object->kind == NODE_NULL)
        return OK;
    return foreign_note(&listing->build, NULL, object, FOREIGN_WARNING,
                        "kind \"%.60s\" is left out: only CronJobs are read", kind);
}

enum status cronjob_import(const char *text, size_t length, const struct foreign_options *options,
                           struct zone_db *zones, struct foreign *ret, struct parse_error *reterr)
{
    struct listing listing = {.count = 0};
    struct tree tree;
    const struct node *documents = NULL;
    foreign_build_init(&listing.build, options, zones, ret);
    tree_init(&tree);
    enum status st = tree_from_yaml(&tree, text, length, &documents, reterr);
    if (st == OK) {
        for (const struct entry *each = documents->entries; each && st == OK; each = each->next)
            st = add_object(&listing, each->value);
    }
    if (st == OK && !listing.count)
        st = parse_fail(reterr, 0,
                        "expected CronJobs, as `kubectl get cronjobs -o yaml` prints them");
    if (st == OK && ret->jobs.count)
        st = foreign_note(&listing.build, NULL, NULL, FOREIGN_INFO,
                          "images are run by podman on the nodes: change the first words of the "
                          "commands where they have docker");
    foreign_sort_notes(ret);
    tree_release(&tree);
    foreign_build_release(&listing.build);
    return st;
}
