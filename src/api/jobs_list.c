/* Pages of jobs, by name. */
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "handlers.h"
#include "input.h"
#include "jobs.h"
#include "server.h"

enum {
    PAGE = 50,
    PAGE_MAX = 1000,
    LOOKS = 20000,       /* jobs that one page looks at: a search must not hold up what is due */
    SORT_LOOKS = 200000, /* the same where all must be seen */
};

enum job_status { STATUS_ANY, IS_OK, IS_FAILED, IS_NEVER, IS_RUNNING, IS_PAUSED, IS_BROKEN };
enum job_order { BY_NAME, BY_NEXT, BY_LAST };

/* A job's place in a sorted list: the time, and for equal times the name. */
struct sort_key {
    int64_t time;
    char name[128];
};

struct page {
    const struct call *call;
    char *q, *q_in_json; /* the second as it stands within a JSON text */
    char *label, *value; /* value NULL: any */
    const char *owner;
    enum job_status status;
    enum job_order order;
    const char *fields;    /* of each job that are shown; NULL: all */
    struct sort_key after; /* sorted pages: what the cursor stands for */
    bool has_after;
    bool deleted;
    int64_t limit;
    size_t looks;
    const struct catalog_job **jobs;
    size_t count;
    const char *last; /* the last name that was looked at */
    bool more;
};

static void release_page(void *state)
{
    struct page *page = state;
    free(page->q);
    free(page->q_in_json);
    free(page->label);
    free(page->jobs);
}

/* ---- filters ---- */

static bool has_text(const json_t *text, const char *q)
{
    const char *words = json_string_value(text);
    return words && strcasestr(words, q);
}

static bool definition_has(const json_t *definition, const char *q)
{
    size_t i;
    const json_t *word;
    json_array_foreach (json_object_get(definition, "command"), i, word) {
        if (has_text(word, q))
            return true;
    }
    return has_text(json_object_get(definition, "shell"), q) ||
           has_text(json_object_get(definition, "notes"), q);
}

static bool has_label(const json_t *definition, const struct page *page)
{
    const char *value =
        json_string_value(json_object_get(json_object_get(definition, "labels"), page->label));
    return value && (!page->value || strcmp(value, page->value) == 0);
}

static bool has_owner(const json_t *definition, const struct page *page)
{
    const char *owner = json_string_value(json_object_get(definition, "owner"));
    return owner && strcmp(owner, page->owner) == 0;
}

static bool has_status(const struct catalog_job *job, enum job_status status)
{
    bool has_run = job->last.ended_ms != 0;
    switch (status) {
    case STATUS_ANY:
        return true;
    case IS_OK:
        return has_run && job->last.state == RUN_OK;
    case IS_FAILED:
        return has_run && job->last.state != RUN_OK;
    case IS_NEVER:
        return !has_run;
    case IS_RUNNING:
        return job->open_runs > 0;
    case IS_PAUSED:
        return job->paused;
    case IS_BROKEN:
        return job->broken;
    }
    return false;
}

/* Most jobs are told apart without parsing them. */
static bool is_wanted(const struct page *page, const struct catalog_job *job)
{
    bool by_name = !page->q || strcasestr(job->name, page->q);
    if (!has_status(job, page->status))
        return false;
    if (by_name && !page->label && !page->owner)
        return true;
    if (page->owner && !strstr(job->json, "\"owner\""))
        return false;
    if (!by_name && !strcasestr(job->json, page->q_in_json))
        return false;
    if (page->label && !strstr(job->json, page->label))
        return false;
    json_t *definition = json_loads(job->json, 0, NULL);
    bool wanted = (by_name || definition_has(definition, page->q)) &&
                  (!page->owner || has_owner(definition, page)) &&
                  (!page->label || has_label(definition, page));
    json_decref(definition);
    return wanted;
}

/* ---- the page ---- */

static bool visit(void *context, const struct catalog_job *job)
{
    struct page *page = context;
    if (page->deleted && page->last && strcmp(page->last, job->name) == 0)
        return true; /* of deleted jobs with one name, the last one is shown */
    if (page->count == (size_t)page->limit || page->looks == LOOKS) {
        page->more = true;
        return false;
    }
    page->looks++;
    page->last = job->name;
    if (page->deleted)
        job = job->deleted ? deleted_job(page->call, job->name) : NULL;
    if (job && is_wanted(page, job))
        page->jobs[page->count++] = job;
    return true;
}

/* A live job may share its name with deleted ones; those are looked at from any of them. */
static bool visit_deleted(void *context, const struct catalog_job *job)
{
    return job->deleted ? visit(context, job) : true;
}

/* ---- the page, sorted ---- */

/* What comes first is what is due soonest, or ended last; what has neither comes at the end. */
static struct sort_key key_of(const struct page *page, const struct catalog_job *job)
{
    struct sort_key key = {.time = INT64_MAX};
    if (page->order == BY_NEXT && !job->paused && !job->broken)
        key.time = job->next_ms;
    if (page->order == BY_LAST && job->last.ended_ms)
        key.time = -job->last.ended_ms;
    snprintf(key.name, sizeof(key.name), "%s", job->name);
    return key;
}

static int compare_keys(const struct sort_key *a, const struct sort_key *b)
{
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Keeps the first `limit` of all that come after the cursor, in order. */
static bool visit_sorted(void *context, const struct catalog_job *job)
{
    struct page *page = context;
    if (page->looks++ == SORT_LOOKS)
        return false;
    if (!is_wanted(page, job))
        return true;
    struct sort_key key = key_of(page, job);
    if (page->has_after && compare_keys(&key, &page->after) <= 0)
        return true;
    size_t low = 0, high = page->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        struct sort_key other = key_of(page, page->jobs[middle]);
        if (compare_keys(&other, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_full = page->count == (size_t)page->limit;
    page->more |= is_full;
    if (low == page->count && is_full)
        return true;
    size_t moved = page->count - low - is_full;
    memmove(&page->jobs[low + 1], &page->jobs[low], moved * sizeof(*page->jobs));
    page->jobs[low] = job;
    page->count += !is_full;
    return true;
}

static json_t *sorted_cursor(const struct page *page)
{
    char text[200];
    struct sort_key key = key_of(page, page->jobs[page->count - 1]);
    snprintf(text, sizeof(text), "%d %lld %s", (int)page->order, (long long)key.time, key.name);
    return cursor_encode(text);
}

static bool read_sorted_cursor(struct call *call, struct page *page, const char *cursor)
{
    int order = -1;
    long long time = 0;
    char *text = cursor ? cursor_decode(call, cursor) : NULL;
    if (!text)
        return !cursor;
    page->has_after = sscanf(text, "%d %lld %127s", &order, &time, page->after.name) == 3 &&
                      order == (int)page->order;
    page->after.time = time;
    free(text);
    if (page->has_after)
        return true;
    call_fail_at(call, "?cursor", "expected what an earlier page gave as \"next\"");
    return false;
}

/* ---- what is asked ---- */

static bool read_choice(struct call *call, const char *name, const char *const *words, int *ret)
{
    const char *text = query_get(&call->query, name);
    for (int i = 0; text && words[i]; i++) {
        if (*words[i] && strcmp(words[i], text) == 0) {
            *ret = i;
            return true;
        }
    }
    return !text;
}

static bool read_order(struct call *call, struct page *page)
{
    static const char *const statuses[] = {"",        "ok",     "failed", "never",
                                           "running", "paused", "broken", NULL};
    static const char *const orders[] = {"name", "next", "last", NULL};
    int status = 0, order = 0;
    page->owner = query_get(&call->query, "owner");
    page->fields = query_get(&call->query, "fields");
    if (!read_choice(call, "status", statuses, &status)) {
        call_fail_at(call, "?status",
                     "status: expected ok, failed, never, running, paused or broken");
        return false;
    }
    if (!read_choice(call, "sort", orders, &order)) {
        call_fail_at(call, "?sort", "sort: expected name, next or last");
        return false;
    }
    page->status = (enum job_status)status;
    page->order = (enum job_order)order;
    return true;
}

static bool read_label(struct call *call, struct page *page)
{
    const char *text = query_get(&call->query, "label");
    if (!text)
        return true;
    page->label = strdup(text);
    if (!page->label) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    char *equals = strchr(page->label, '=');
    if (equals) {
        *equals = '\0';
        page->value = equals + 1;
    }
    if (*page->label)
        return true;
    call_fail_at(call, "?label", "label: expected name=value, or name alone");
    return false;
}

static bool read_text(struct call *call, struct page *page)
{
    const char *text = query_get(&call->query, "q");
    if (!text || !*text)
        return true;
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    page->q = strdup(text);
    page->q_in_json = quoted ? strndup(quoted + 1, strlen(quoted) - 2) : NULL;
    free(quoted);
    if (page->q && page->q_in_json)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

static bool read_page(struct call *call, struct page *page)
{
    page->limit = PAGE;
    if (!param_number(call, "limit", 1, PAGE_MAX, &page->limit) ||
        !param_bool(call, "deleted", &page->deleted) || !read_label(call, page) ||
        !read_text(call, page) || !read_order(call, page))
        return false;
    page->jobs = calloc((size_t)page->limit, sizeof(*page->jobs));
    if (!page->jobs)
        call_fail(call, 500, "out of memory");
    return page->jobs != NULL;
}

/* Only the members that were asked for. */
static json_t *pick_fields(json_t *job, const char *fields)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(job, next, name, value)
    {
        size_t length = strlen(name);
        const char *at = fields;
        while (at && (strncmp(at, name, length) != 0 || (at[length] && at[length] != ','))) {
            at = strchr(at, ',');
            at += at != NULL;
        }
        if (!at)
            json_object_del(job, name);
    }
    return job;
}

static json_t *encode_page(const struct page *page)
{
    json_t *items = json_array();
    for (size_t i = 0; i < page->count && items; i++) {
        json_t *job = show_job(page->call, page->jobs[i]);
        if (job && page->fields)
            job = pick_fields(job, page->fields);
        if (json_array_append_new(items, job) != 0) {
            json_decref(items);
            items = NULL;
        }
    }
    return json_pack("{s:o, s:o}", "items", items, "next",
                     !page->more              ? json_null()
                     : page->order == BY_NAME ? cursor_encode(page->last)
                                              : sorted_cursor(page));
}

static void list_sorted(struct call *call, struct page *page, const char *cursor)
{
    if (!read_sorted_cursor(call, page, cursor))
        return;
    catalog_each(engine_catalog(call->api->ports.engine), NULL, false, visit_sorted, page);
    if (page->looks > SORT_LOOKS)
        call_fail(call, 422, "there are more than %d jobs, too many to sort", SORT_LOOKS);
    else
        call_reply(call, 200, encode_page(page));
}

void list_jobs(struct call *call)
{
    struct page *page = call_state(call, sizeof(*page), release_page);
    const char *cursor = query_get(&call->query, "cursor");
    char *after = NULL;
    if (!page)
        return;
    page->call = call;
    if (!read_page(call, page))
        return;
    if (page->order != BY_NAME) {
        list_sorted(call, page, cursor);
        return;
    }
    if ((cursor && !(after = cursor_decode(call, cursor))))
        return;
    catalog_each(engine_catalog(call->api->ports.engine), after, page->deleted,
                 page->deleted ? visit_deleted : visit, page);
    free(after);
    call_reply(call, 200, encode_page(page));
}
