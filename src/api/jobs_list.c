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
    LOOKS = 20000, /* jobs that one page looks at: a search must not hold up what is due */
};

struct page {
    const struct call *call;
    char *q, *q_in_json; /* the second as it stands within a JSON text */
    char *label, *value; /* value NULL: any */
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

/* Most jobs are told apart without parsing them. */
static bool is_wanted(const struct page *page, const struct catalog_job *job)
{
    bool by_name = !page->q || strcasestr(job->name, page->q);
    if (by_name && !page->label)
        return true;
    if (!by_name && !strcasestr(job->json, page->q_in_json))
        return false;
    if (page->label && !strstr(job->json, page->label))
        return false;
    json_t *definition = json_loads(job->json, 0, NULL);
    bool wanted = (by_name || definition_has(definition, page->q)) &&
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
        !read_text(call, page))
        return false;
    page->jobs = calloc((size_t)page->limit, sizeof(*page->jobs));
    if (!page->jobs)
        call_fail(call, 500, "out of memory");
    return page->jobs != NULL;
}

static json_t *encode_page(const struct page *page)
{
    json_t *items = json_array();
    for (size_t i = 0; i < page->count && items; i++) {
        if (json_array_append_new(items, show_job(page->call, page->jobs[i])) != 0) {
            json_decref(items);
            items = NULL;
        }
    }
    return json_pack("{s:o, s:o}", "items", items, "next",
                     page->more ? cursor_encode(page->last) : json_null());
}

void list_jobs(struct call *call)
{
    struct page *page = call_state(call, sizeof(*page), release_page);
    const char *cursor = query_get(&call->query, "cursor");
    char *after = NULL;
    if (!page)
        return;
    page->call = call;
    if (!read_page(call, page) || (cursor && !(after = cursor_decode(call, cursor))))
        return;
    catalog_each(engine_catalog(call->api->ports.engine), after, page->deleted,
                 page->deleted ? visit_deleted : visit, page);
    free(after);
    call_reply(call, 200, encode_page(page));
}
