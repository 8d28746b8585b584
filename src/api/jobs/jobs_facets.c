/* How many jobs there are, and how many of those that match a filter have which owner, label,
 * node, status and folder. The catalog is counted in slices, so that due jobs are not delayed. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "jobs/job_filter.h"
#include "server.h"
#include "text/json_text.h"

enum {
    SLICE_MS = 1,
    LOOKS_PER_CLOCK = 32, /* checks between two clock reads */
    VALUES_MAX = 50,      /* of a facet that are told, the most frequent ones */
    VALUES_KEPT = 5000,   /* different values of a facet that are counted */
};

enum facet { BY_STATUS, BY_OWNER, BY_LABEL, BY_NODE, BY_FOLDER, FACETS };

static const char *const facet_names[FACETS] = {"status", "owners", "labels", "nodes", "folders"};

struct facets {
    struct job_filter filter;
    json_t *counts[FACETS]; /* by value */
    int64_t total, matched;
    size_t looks;
    int64_t slice_end_ms;
    bool has_last, is_cut, no_memory;
    char last[JOB_NAME_SIZE];
};

static void release_facets(void *state)
{
    struct facets *facets = state;
    job_filter_release(&facets->filter);
    for (size_t i = 0; i < FACETS; i++)
        json_decref(facets->counts[i]);
}

/* ---- counting ---- */

static void count_value(struct facets *facets, enum facet facet, const char *value)
{
    json_t *counts = facets->counts[facet];
    json_int_t n = json_integer_value(json_object_get(counts, value));
    if (n || json_object_size(counts) < VALUES_KEPT)
        facets->no_memory |= json_object_set_new(counts, value, json_integer(n + 1)) != 0;
}

/* A string or number of JSON as text, which the caller frees; NULL: it is neither. */
static char *text_of(const struct json_span *span)
{
    json_t *value = json_loadb(span->text, span->length, JSON_DECODE_ANY, NULL);
    char *text = json_is_string(value)   ? strdup(json_string_value(value))
                 : json_is_number(value) ? strndup(span->text, span->length)
                                         : NULL;
    json_decref(value);
    return text;
}

static void count_owner(struct facets *facets, const struct catalog_job *job)
{
    struct json_span owner;
    char *text = json_text_get(job->json, "owner", &owner) ? text_of(&owner) : NULL;
    if (text && *text)
        count_value(facets, BY_OWNER, text);
    free(text);
}

static void count_labels(struct facets *facets, const struct catalog_job *job)
{
    struct json_span labels;
    struct json_member member;
    if (!json_text_get(job->json, "labels", &labels))
        return;
    for (const char *at = labels.text; json_text_next(&at, &member);) {
        char *name = text_of(&member.name), *value = text_of(&member.value), *label = NULL;
        if (name && value && asprintf(&label, *value ? "%s=%s" : "%s", name, value) > 0)
            count_value(facets, BY_LABEL, label);
        free(label);
        free(value);
        free(name);
    }
}

/* A node that the cluster has forgotten is counted only where it is asked for, since then its name
 * is known. */
static void count_node(void *context, uint32_t mark)
{
    struct facets *facets = context;
    const struct job_filter *filter = &facets->filter;
    const char *name = job_nodes_name(&filter->nodes, mark);
    if (!name && filter->node && mark == filter->node_mark)
        name = filter->node;
    if (name)
        count_value(facets, BY_NODE, name);
}

/* The part of the name below the folder of the filter, up to the next slash. */
static void count_folder(struct facets *facets, const struct catalog_job *job)
{
    const char *folder = facets->filter.folder;
    const char *slash = strchr(job->name + (folder ? strlen(folder) + 1 : 0), '/');
    char name[JOB_NAME_SIZE];
    if (!slash)
        return;
    snprintf(name, sizeof(name), "%.*s", (int)(slash - job->name), job->name);
    count_value(facets, BY_FOLDER, name);
}

static void count_job(struct facets *facets, const struct catalog_job *job)
{
    facets->matched++;
    for (int status = STATUS_ANY + 1; job_status_names[status]; status++)
        if (job_has_status(&facets->filter, job, (enum job_status)status))
            count_value(facets, BY_STATUS, job_status_names[status]);
    count_owner(facets, job);
    count_labels(facets, job);
    job_nodes_each(&facets->filter.nodes, job, count_node, facets);
    count_folder(facets, job);
}

static bool visit(void *context, const struct catalog_job *job)
{
    struct facets *facets = context;
    facets->is_cut = facets->has_last && facets->looks % LOOKS_PER_CLOCK == 0 &&
                     clock_now().boot.ms >= facets->slice_end_ms;
    if (facets->is_cut)
        return false;
    facets->looks++;
    facets->total++;
    facets->has_last = true;
    snprintf(facets->last, sizeof(facets->last), "%s", job->name);
    if (job_filter_takes(&facets->filter, job))
        count_job(facets, job);
    return true;
}

/* ---- the answer ---- */

struct value {
    const char *text;
    json_int_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct value *one = a, *other = b;
    if (one->count != other->count)
        return one->count < other->count ? 1 : -1;
    return strcmp(one->text, other->text);
}

static json_t *encode_counts(json_t *counts)
{
    struct value *values = calloc(json_object_size(counts) + 1, sizeof(*values));
    json_t *list = values ? json_array() : NULL, *n;
    size_t count = 0;
    const char *text;
    if (list)
        json_object_foreach (counts, text, n)
            values[count++] = (struct value){text, json_integer_value(n)};
    if (list)
        qsort(values, count, sizeof(*values), by_count);
    for (size_t i = 0; i < count && i < VALUES_MAX && list; i++) {
        json_t *item = json_pack("{s:s, s:I}", "value", values[i].text, "count", values[i].count);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    free(values);
    return list;
}

static void reply_facets(struct call *call)
{
    struct facets *facets = call->state;
    json_t *answer = json_pack("{s:I, s:I}", "total", (json_int_t)facets->total, "matched",
                               (json_int_t)facets->matched);
    bool failed = !answer || facets->no_memory;
    for (size_t i = 0; i < FACETS && !failed; i++)
        failed = json_object_set_new(answer, facet_names[i], encode_counts(facets->counts[i])) != 0;
    if (failed) {
        json_decref(answer);
        answer = NULL;
    }
    call_reply(call, 200, answer);
}

static void look(struct call *call)
{
    struct facets *facets = call->state;
    facets->slice_end_ms = clock_now().boot.ms + SLICE_MS;
    facets->is_cut = false;
    call_each_job(call, facets->has_last ? facets->last : NULL, false, visit, facets);
    if (facets->is_cut)
        call_later(call, look);
    else
        reply_facets(call);
}

void get_facets(struct call *call)
{
    struct facets *facets = call_state(call, sizeof(*facets), release_facets);
    if (!facets)
        return;
    for (size_t i = 0; i < FACETS; i++) {
        facets->counts[i] = json_object();
        facets->no_memory |= !facets->counts[i];
    }
    if (facets->no_memory)
        call_fail(call, 500, "out of memory");
    else if (job_filter_read(call, &facets->filter) &&
             call_check(call, job_nodes_read(call, &facets->filter.nodes), NULL))
        look(call);
}
