/* Pages of jobs, by name or by a time. The catalog is searched in slices of a millisecond, so that
 * due jobs are not delayed; jobs may come and go meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "confirm.h"
#include "definition/job_fields.h"
#include "definition/job_text.h"
#include "handlers.h"
#include "input.h"
#include "jobs/job_filter.h"
#include "jobs/jobs.h"
#include "server.h"

enum {
    PAGE = 50,
    PAGE_MAX = 1000,
    LOOKS = 20000,       /* jobs checked per page */
    SORT_LOOKS = 200000, /* the same where all must be checked */
    SLICE_MS = 1,
    LOOKS_PER_CLOCK = 32, /* checks between two clock reads */
    WRITES_PER_SLICE = 100,
};

enum job_order { BY_NAME, BY_NEXT, BY_LAST };

/* The sort key of a job: the time, then the name. */
struct sort_key {
    int64_t time; /* 0 if it is by name */
    char name[JOB_NAME_SIZE];
};

struct found {
    struct id uid;
    struct sort_key key;
};

struct page {
    struct call *call;
    struct job_filter filter;
    const char *fields;    /* to be shown; NULL: all */
    struct sort_key after; /* sorted pages: the decoded cursor */
    int64_t limit;

    size_t looks;
    int64_t slice_end_ms;
    struct found *found;
    size_t count;

    struct strbuf out;
    size_t written;

    enum job_order order;
    bool has_after, deleted;
    bool confirmed;           /* the store is asked first */
    bool has_last;            /* the name in `last` */
    char last[JOB_NAME_SIZE]; /* the last name that was checked */
    bool is_cut;              /* the slice is over, the page is not */
    bool more;
    bool has_items;
};

static void release_page(void *state)
{
    struct page *page = state;
    job_filter_release(&page->filter);
    free(page->found);
    strbuf_release(&page->out);
}

/* ---- a slice of the catalog ---- */

static void copy_name(char to[JOB_NAME_SIZE], const char *name)
{
    size_t length = strnlen(name, JOB_NAME_MAX);
    memcpy(to, name, length);
    to[length] = '\0';
}

/* Soonest due, or last ended, first; jobs without that time come last. */
static int64_t sort_time(const struct page *page, const struct catalog_job *job)
{
    if (page->order == BY_NAME)
        return 0;
    if (page->order == BY_NEXT)
        return job_next_run(job);
    if (page->order == BY_LAST && job->last.ended_ms)
        return -job->last.ended_ms;
    return INT64_MAX;
}

static int compare_keys(const struct sort_key *a, const struct sort_key *b)
{
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Keeps the first `limit` jobs after the cursor, in order. */
static void insert(struct page *page, const struct found *found)
{
    size_t low = 0, high = page->count;
    if (page->has_after && compare_keys(&found->key, &page->after) <= 0)
        return;
    if (high && compare_keys(&page->found[high - 1].key, &found->key) < 0)
        low = high; /* by name it is always so */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_keys(&page->found[middle].key, &found->key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool is_full = page->count == (size_t)page->limit;
    page->more |= is_full;
    if (low == page->count && is_full)
        return;
    size_t moved = page->count - low - is_full;
    memmove(&page->found[low + 1], &page->found[low], moved * sizeof(*page->found));
    page->found[low] = *found;
    page->count += !is_full;
}

static void take(struct page *page, const struct catalog_job *job)
{
    struct found found = {.uid = job->uid, .key.time = sort_time(page, job)};
    bool is_full = page->count == (size_t)page->limit;
    if (is_full && found.key.time > page->found[page->count - 1].key.time) {
        page->more = true; /* most differ by time alone */
        return;
    }
    copy_name(found.key.name, job->name);
    insert(page, &found);
}

/* Before a job is checked: does this page, or this slice, end here? */
static bool is_over(struct page *page)
{
    if (page->order == BY_NAME && (page->count == (size_t)page->limit || page->looks == LOOKS)) {
        page->more = true;
        return true;
    }
    if (page->order != BY_NAME && page->looks > SORT_LOOKS)
        return true;
    page->is_cut = page->has_last && page->looks % LOOKS_PER_CLOCK == 0 &&
                   clock_now().boot.ms >= page->slice_end_ms;
    return page->is_cut;
}

static bool visit(void *context, const struct catalog_job *job)
{
    struct page *page = context;
    if (page->deleted && page->has_last && strcmp(page->last, job->name) == 0)
        return true; /* of deleted jobs with one name, the last one is shown */
    if (is_over(page))
        return false;
    page->looks++;
    page->has_last = true;
    copy_name(page->last, job->name);
    if (page->deleted)
        job = deleted_job(page->call, job->name);
    if (job && job_filter_takes(&page->filter, job))
        take(page, job);
    return true;
}

/* A live job may share its name with deleted ones; all are checked at once. */
static bool visit_deleted(void *context, const struct catalog_job *job)
{
    return job->deleted ? visit(context, job) : true;
}

/* ---- the answer ---- */

static json_t *next_cursor(const struct page *page)
{
    char text[200];
    if (!page->more || (page->order != BY_NAME && !page->count))
        return json_null();
    if (page->order == BY_NAME)
        return cursor_encode(page->last);
    const struct sort_key *key = &page->found[page->count - 1].key;
    snprintf(text, sizeof(text), "%d %lld %s", (int)page->order, (long long)key->time, key->name);
    return cursor_encode(text);
}

static void finish(struct page *page)
{
    json_t *next = next_cursor(page);
    char *text = next ? json_dumps(next, JSON_ENCODE_ANY) : NULL;
    json_decref(next);
    strbuf_adds(&page->out, "],\"next\":");
    strbuf_adds(&page->out, text ? text : "");
    strbuf_addc(&page->out, '}');
    page->out.failed |= !text;
    free(text);
    call_reply_buffer(page->call, 200, &page->out);
}

/* Jobs that were purged meanwhile are left out. */
static void write_jobs(struct call *call)
{
    struct page *page = call->state;
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    size_t end = page->written + WRITES_PER_SLICE;
    for (; page->written < page->count && page->written < end; page->written++) {
        const struct catalog_job *job = catalog_by_uid(catalog, &page->found[page->written].uid);
        if (!job)
            continue;
        if (page->has_items)
            strbuf_addc(&page->out, ',');
        page->has_items = true;
        write_job(call, job, page->fields, &page->out);
    }
    if (page->written < page->count)
        call_later(call, write_jobs);
    else
        finish(page);
}

static void look(struct call *call)
{
    struct page *page = call->state;
    page->slice_end_ms = clock_now().boot.ms + SLICE_MS;
    page->is_cut = false;
    call_each_job(call, page->has_last ? page->last : NULL, page->deleted,
                  page->deleted ? visit_deleted : visit, page);
    if (page->is_cut)
        call_later(call, look);
    else if (page->looks > SORT_LOOKS)
        call_fail(call, 422, "there are more than %d jobs, too many to sort", SORT_LOOKS);
    else
        write_jobs(call);
}

/* ---- what is asked ---- */

static bool read_sorted_cursor(struct call *call, struct page *page, const char *text)
{
    int order = -1;
    long long time = 0;
    if (sscanf(text, "%d %lld %128s", &order, &time, page->after.name) != 3 ||
        order != (int)page->order) {
        call_fail_at(call, "?cursor", "expected the \"next\" of an earlier page");
        return false;
    }
    page->has_after = true;
    page->after.time = time;
    return true;
}

/* By name, `last` is set as if the page before had just been searched. */
static bool read_cursor(struct call *call, struct page *page)
{
    const char *cursor = query_get(&call->query, "cursor");
    char *text = cursor ? cursor_decode(call, cursor) : NULL;
    if (!text)
        return !cursor;
    bool is_by_name = page->order == BY_NAME;
    if (is_by_name) {
        copy_name(page->last, text);
        page->has_last = true;
    }
    bool is_right = is_by_name || read_sorted_cursor(call, page, text);
    free(text);
    return is_right;
}

/* All that a job in a list may have, with spaces between. */
static void list_fields(struct strbuf *out)
{
    for (const struct field *field = job_fields; field->name; field++) {
        if (!field->meta)
            strbuf_addf(out, "%s ", field->name);
    }
    strbuf_adds(out, "uid revision digest created_at updated_at applied_at deleted_at status");
}

/* False: the call has failed. */
static bool check_fields(struct call *call, const char *text)
{
    struct strbuf known;
    char name[64] = "";
    bool are_known = true;
    strbuf_init(&known);
    list_fields(&known);
    while (text && *text && are_known) {
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof(name), "%.*s", (int)(length < 63 ? length : 63), text);
        are_known = word_in_list(known.text, name);
        text += length;
        text += *text == ',';
    }
    if (!are_known)
        call_fail_word(call, "?fields", name, known.text,
                       "fields: a job has no field \"%s\"; known: %s", name, known.text);
    strbuf_release(&known);
    return are_known;
}

static bool read_page(struct call *call, struct page *page)
{
    static const char *const orders[] = {"name", "next", "last", NULL};
    int order = BY_NAME;
    page->limit = PAGE;
    page->fields = query_get(&call->query, "fields");
    if (!param_number(call, "limit", 1, PAGE_MAX, &page->limit) ||
        !param_bool(call, "deleted", &page->deleted) ||
        !param_bool(call, "confirmed", &page->confirmed) || !job_filter_read(call, &page->filter) ||
        !check_fields(call, page->fields))
        return false;
    if (!param_choice(call, "sort", orders, &order)) {
        call_fail_word(call, "?sort", query_get(&call->query, "sort"), "name,next,last",
                       "sort: expected name, next or last");
        return false;
    }
    page->order = (enum job_order)order;
    return read_cursor(call, page);
}

static void confirmed(struct call *call)
{
    if (call->answer == OK)
        look(call);
    else
        call_fail_unconfirmed(call);
}

void list_jobs(struct call *call)
{
    struct page *page = call_state(call, sizeof(*page), release_page);
    if (!page)
        return;
    page->call = call;
    strbuf_init(&page->out);
    strbuf_adds(&page->out, "{\"items\":[");
    if (!read_page(call, page))
        return;
    page->found = calloc((size_t)page->limit, sizeof(*page->found));
    if (!page->found)
        call_fail(call, 500, "out of memory");
    else if (page->confirmed)
        call_confirm(call, confirmed);
    else
        look(call);
}
