/* The instances of a workflow, newest first, each with the states of its steps. */
#include <stdlib.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"
#include "workflow/instance_read.h"

enum {
    PAGE = 10,
    PAGE_MAX = 100, /* each costs a look into the history */
    ROWS = 1000,
    READS = 20, /* pages of the history that are searched for instances */
};

struct instances_call {
    struct instance_read read; /* first member: of the instance that is looked at */
    struct id job_uid;
    int64_t limit;
    struct id before; /* the cursor; zero: from the newest on */
    struct run *found;
    size_t count, capacity, next; /* next: that is looked at */
    struct id searched;           /* the history was searched down to here */
    bool more, failed;
    int reads;
    json_t *items;
};

static void release(void *state)
{
    struct instances_call *page = state;
    instance_read_release(&page->read);
    free(page->found);
    json_decref(page->items);
}

/* ---- finding them ---- */

static bool is_found(const struct instances_call *page, const struct run *run)
{
    for (size_t i = 0; i < page->count; i++)
        if (id_compare(&page->found[i].id, &run->id) == 0)
            return true;
    return false;
}

static void take(struct instances_call *page, const struct run *run)
{
    if (!run_is_instance(run) || id_compare(&run->job_uid, &page->job_uid) != 0 ||
        (!id_is_zero(&page->before) && id_compare(&run->id, &page->before) >= 0) ||
        is_found(page, run))
        return;
    if (page->count == page->capacity) {
        size_t capacity = page->capacity ? 2 * page->capacity : 64;
        struct run *grown = realloc(page->found, capacity * sizeof(*grown));
        if (!grown) {
            page->failed = true;
            return;
        }
        page->found = grown;
        page->capacity = capacity;
    }
    page->found[page->count++] = *run;
}

static void take_open(void *context, const struct run *run)
{
    take(context, run);
}

static int newest_first(const void *a, const void *b)
{
    const struct run *one = a, *other = b;
    return id_compare(&other->id, &one->id);
}

/* ---- looking at each ---- */

static void look_at_next(struct call *call);

static void reply(struct call *call)
{
    const struct instances_call *page = call->state;
    bool is_full = page->count > (size_t)page->limit;
    json_t *next = is_full      ? cursor_of_id(&page->found[page->limit - 1].id)
                   : page->more ? cursor_of_id(&page->searched)
                                : json_null();
    call_reply(call, 200,
               add_absent(json_pack("{s:O, s:o}", "items", page->items, "next", next),
                          &call->read.absent));
}

static void add_counts(struct call *call)
{
    struct instances_call *page = call->state;
    const struct instance_view *view = &page->read.view;
    json_t *item = encode_open_run(call, &view->instance);
    json_t *counts = instance_view_counts(view);
    if (!item || json_object_set_new(item, "steps", counts) != 0 ||
        json_array_append(page->items, item) != 0)
        page->failed = true;
    json_decref(item);
    if (page->failed)
        call_fail(call, 500, "out of memory");
    else
        look_at_next(call);
}

static void look_at(struct call *call, const struct run *run, const char *plan)
{
    instance_read_begin(call, run, plan, add_counts);
}

static void recorded(struct call *call)
{
    struct instances_call *page = call->state;
    struct run run = page->found[page->next - 1];
    look_at(call, &run, call->answer == OK && call->log.found ? call->log.input : NULL);
}

static void look_at_next(struct call *call)
{
    struct instances_call *page = call->state;
    if (page->next == page->count || page->next == (size_t)page->limit) {
        reply(call);
        return;
    }
    struct run run = page->found[page->next++];
    if (call_open_run(call, &run.id)) {
        look_at(call, &run, engine_find_input(call->api->ports.engine, &run.input));
        return;
    }
    call->log.run_id = run.id;
    call->log.with_input = true;
    call_read_log(call, recorded);
}

/* ---- the page ---- */

static void take_rows(struct call *call);

static void read_rows(struct call *call, struct id before)
{
    struct instances_call *page = call->state;
    page->reads++;
    call->reads_steps = false;
    call->read.query =
        (struct history_query){.job_uid = page->job_uid, .before = before, .limit = ROWS};
    call_read_history(call, take_rows);
}

static void take_rows(struct call *call)
{
    struct instances_call *page = call->state;
    const struct history_read *read = &call->read;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    for (size_t i = 0; i < read->count; i++)
        if (!read->rows[i].is_entry)
            take(page, &read->rows[i].run);
    page->more = read->more;
    page->searched = read->next;
    if (page->failed) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (read->more && page->count <= (size_t)page->limit && page->reads < READS) {
        read_rows(call, read->next);
        return;
    }
    if (page->count)
        qsort(page->found, page->count, sizeof(*page->found), newest_first);
    look_at_next(call);
}

void list_instances(struct call *call)
{
    struct instances_call *page = call_state(call, sizeof(*page), release);
    const struct catalog_job *job = page ? path_job(call) : NULL;
    if (!job)
        return;
    page->limit = PAGE;
    page->job_uid = job->uid;
    if (!param_number(call, "limit", 1, PAGE_MAX, &page->limit) ||
        !param_id_cursor(call, &page->before))
        return;
    page->items = json_array();
    call_each_open_run(call, take_open, page);
    if (page->failed || !page->items)
        call_fail(call, 500, "out of memory");
    else
        read_rows(call, page->before);
}
