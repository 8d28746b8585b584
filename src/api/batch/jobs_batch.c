/* Many jobs in one request: the body is split into its items, and all are checked before any is
 * written. */
#include "batch/jobs_batch.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "auth/visible.h"
#include "definition/job_decode.h"
#include "definition/step_check.h"
#include "handlers.h"
#include "input.h"
#include "server.h"
#include "trail.h"

enum {
    SLICE_MS = 3,
    STEPS = 16,        /* between two looks at the clock, unless ... */
    STEP_BYTES = 2048, /* ... there is more to a step than usual */
};

struct batch_slice batch_slice_begin(void)
{
    return (struct batch_slice){.end_ms = clock_now().boot.ms + SLICE_MS};
}

bool batch_slice_is_over(struct batch_slice *slice, size_t bytes)
{
    if (slice->steps++ % STEPS && bytes <= STEP_BYTES)
        return false;
    return clock_now().boot.ms >= slice->end_ms;
}

static const struct table_type names_type = {.key_at = offsetof(struct jobs_batch_item, name),
                                             .is_pointer = true};

static void release_batch(void *state)
{
    struct jobs_batch *batch = state;
    for (size_t i = 0; i < batch->count; i++) {
        free(batch->items[i].name);
        job_write_release(&batch->items[i].write);
    }
    free(batch->items);
    free(batch->puts);
    free(batch->order);
    table_release(&batch->names);
    after_check_release(&batch->after);
    json_decref(batch->errors);
    json_decref(batch->assumed);
    strbuf_release(&batch->answer);
    strbuf_release(&batch->item);
    for (int i = 0; i < BATCH_CHUNKS; i++) {
        if (batch->chunks[i].records.capacity)
            strbuf_release(&batch->chunks[i].records);
    }
    quota_sum_release(&batch->plan);
    free(batch->quota_error);
    if (batch->trail)
        trail_end_batch(batch->trail);
    kept_batch_free(batch->kept);
}

/* ---- checks ---- */

/* Adds an error to the answer, up to BATCH_ERRORS_MAX. E_NOMEM. */
static enum status add_error(struct call *call, const struct jobs_batch_item *item,
                             const struct job_error *error)
{
    struct jobs_batch *batch = call->state;
    char pointer[sizeof(error->path) + 40];
    if (json_array_size(batch->errors) == BATCH_ERRORS_MAX)
        return OK;
    snprintf(pointer, sizeof(pointer), "/%s/%zu%s", item->is_delete ? "delete" : "put", item->place,
             error->path);
    json_t *told = job_error_item(call, pointer, error);
    return json_array_append_new(batch->errors, told) == 0 ? OK : E_NOMEM;
}

static enum status add_name(struct jobs_batch *batch, struct jobs_batch_item *item,
                            const char *name, struct job_error *reterr)
{
    if (table_find(&batch->names, name)) {
        snprintf(reterr->message, sizeof(reterr->message), "\"%.128s\" is named twice", name);
        return E_INVALID;
    }
    item->name = strdup(name);
    return item->name ? table_insert(&batch->names, item) : E_NOMEM;
}

/* False: noted in `refused`. */
static bool may_change(const struct call *call, enum right right,
                       const struct jobs_batch_item *item)
{
    struct jobs_batch *batch = call->state;
    if (scope_may(&call->principal.scope, right, item->name))
        return true;
    if (!batch->refused) {
        batch->refused = item->name;
        batch->needed = right;
    }
    return false;
}

static enum status check_put(struct call *call, struct jobs_batch_item *item,
                             const struct node *definition, struct job_error *reterr)
{
    const struct jobs_batch *batch = call->state;
    const struct node *name = definition->kind == NODE_MAP ? node_get(definition, "name") : NULL;
    const char *asked = name && name->kind == NODE_SCALAR && !name->plain ? name->text : NULL;
    const struct job_author author = {call_secrets(call, asked), batch->is_applied};
    enum status st = asked ? add_name(call->state, item, asked, reterr) : OK;
    if (st == OK && asked && !may_change(call, RIGHT_EDIT, item))
        return OK; /* nor are they told whether it is there */
    if (st == OK)
        st = job_write_prepare(call, definition, &author, &item->write, reterr);
    if (st != OK)
        return st;
    item->kind = item->write.kind;
    if (item->write.defines)
        may_change(call, RIGHT_DEFINE, item);
    if (!job_depends(item->write.job) &&
        !item->write.job->step_count) /* while its memory is in the processor's cache */
        job_write_lighten(&item->write);
    return OK;
}

static enum status check_delete(struct call *call, struct jobs_batch_item *item,
                                const struct node *name, struct job_error *reterr)
{
    const char *text = name->text;
    if (name->kind != NODE_SCALAR || name->plain) {
        snprintf(reterr->message, sizeof(reterr->message), "expected the name of a job");
        return E_INVALID;
    }
    enum status st = add_name(call->state, item, text, reterr);
    if (st != OK || !may_change(call, RIGHT_EDIT, item))
        return st; /* nor are they told whether it is there */
    struct catalog_job *job = catalog_by_name(engine_catalog(call->api->ports.engine), text);
    if (!job) {
        snprintf(reterr->message, sizeof(reterr->message), "there is no job \"%.128s\"", text);
        return E_INVALID;
    }
    st = job_write_edit(call, job, mark_deleted, &item->write);
    item->kind = item->write.kind;
    if (st == E_INVALID)
        snprintf(reterr->message, sizeof(reterr->message),
                 "the definition of \"%.128s\" can't be read by this version", text);
    return st;
}

/* The item's value; NULL: the call has failed. */
static json_t *read_item(struct call *call, const struct jobs_batch_item *item)
{
    const struct jobs_batch *batch = call->state;
    json_error_t error = {0};
    int line, column;
    json_t *value = json_loadb(batch->text + item->from, item->length,
                               JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (value)
        return value;
    batch_scan_place(&batch->scan, item->from, &line, &column);
    error.column += error.line <= 1 ? column - 1 : 0;
    error.line += line - 1;
    call_fail_json(call, &error);
    return NULL;
}

/* The item's value as a tree. What the parser of trees refuses is left to jansson's: its messages
 * have the place in the body. E_CORRUPT: not JSON, and the call has failed. */
static enum status read_tree(struct call *call, const struct jobs_batch_item *item,
                             struct tree *tree, const struct node **ret, struct parse_error *err)
{
    struct jobs_batch *batch = call->state;
    strbuf_reset(&batch->item);
    strbuf_add(&batch->item, batch->text + item->from, item->length);
    if (strbuf_status(&batch->item) != OK)
        return E_NOMEM;
    enum status st = tree_from_json_text(tree, batch->item.text, ret, err);
    if (st == OK || st == E_NOMEM)
        return st;
    json_t *value = read_item(call, item);
    st = value ? tree_from_json(tree, value, ret, err) : E_CORRUPT;
    json_decref(value);
    return st;
}

/* E_CORRUPT: not JSON, and the call has failed. */
static enum status check_value(struct call *call, struct jobs_batch_item *item,
                               struct job_error *reterr)
{
    struct tree tree;
    struct parse_error error = {0};
    const struct node *node;
    tree_init(&tree);
    enum status st = read_tree(call, item, &tree, &node, &error);
    if (st == OK)
        st = item->is_delete ? check_delete(call, item, node, reterr)
                             : check_put(call, item, node, reterr);
    else if (st == E_INVALID || st == E_TOO_LARGE)
        spot_set_tree(reterr, &error);
    tree_release(&tree);
    return st;
}

/* False: the call has failed. */
static bool check_item(struct call *call, struct jobs_batch_item *item)
{
    struct job_error error = {0};
    enum status st = E_INVALID;
    if (item->length <= BATCH_ITEM_BYTES)
        st = check_value(call, item, &error);
    else
        snprintf(error.message, sizeof(error.message), "a definition has %d bytes at most",
                 BATCH_ITEM_BYTES);
    if (st == E_CORRUPT)
        return false;
    if (st != OK && st != E_NOMEM)
        st = add_error(call, item, &error);
    if (st != OK)
        call_fail(call, 500, "out of memory");
    return st == OK;
}

/* A job that waits for no other, whose definition was given up: all that is asked of it. */
static struct job *name_alone(const char *name)
{
    struct job *job = job_new();
    if (job && job_set_text(&job->name, name) != OK)
        job = job_free(job);
    return job;
}

/* Jobs of the batch take precedence over existing ones. */
static const struct job *planned_here(void *context, const char *name, bool *ret_gone)
{
    struct jobs_batch *batch = context;
    struct jobs_batch_item *item = table_find(&batch->names, name);
    *ret_gone = item && item->is_delete;
    if (!item || item->is_delete)
        return NULL;
    if (!item->write.job)
        item->write.job = name_alone(item->name);
    batch->is_short |= !item->write.job;
    return item->write.job;
}

/* Checks `after` when all items are known: a dependency may come later in the batch. False: the
 * call has failed. */
static bool check_link(struct call *call, const struct jobs_batch_item *item)
{
    struct jobs_batch *batch = call->state;
    struct job_error error = {0};
    if (!item->write.waits_anew && !item->write.refers_anew)
        return true;
    json_t *definition = read_item(call, item);
    if (!definition)
        return false;
    enum status st = OK;
    if (item->write.waits_anew)
        st = after_check_job(&batch->after, item->write.job, definition, &error);
    if (st == OK && item->write.refers_anew)
        st = step_check_job(&batch->after, item->write.job, &error);
    json_decref(definition);
    if (batch->is_short)
        st = E_NOMEM;
    if (st != OK && st != E_NOMEM)
        st = add_error(call, item, &error);
    if (st != OK)
        call_fail(call, 500, "out of memory");
    return st == OK;
}

static void fail_checks(struct call *call)
{
    struct jobs_batch *batch = call->state;
    json_t *errors = json_pack("{s:O}", "errors", batch->errors);
    const json_t *first = json_array_get(batch->errors, 0);
    size_t count = json_array_size(batch->errors);
    call_fail_with(call, 422, errors,
                   "nothing was written: %zu%s mistake%s; the first is at %s: %s", count,
                   count == BATCH_ERRORS_MAX ? " or more" : "", count == 1 ? "" : "s",
                   json_string_value(json_object_get(first, "pointer")),
                   json_string_value(json_object_get(first, "message")));
}

/* The client sends the definitions again, which are then checked again. */
static void fail_kept(struct call *call)
{
    call_fail(call, 410, "what was kept is gone, or no longer valid; send the definitions again");
}

static void finish_checks(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (json_array_size(batch->errors))
        fail_checks(call);
    else if (batch->refused)
        call_may_on(call, batch->needed, batch->refused); /* which fails */
    else
        batch_write(call);
}

static void link_slice(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct batch_slice slice = batch_slice_begin();
    while (batch->linked < batch->count) {
        const struct jobs_batch_item *item = &batch->items[batch->linked];
        if (batch_slice_is_over(&slice, item->write.waits_anew ? SIZE_MAX : 0))
            break;
        batch->linked++;
        if (!check_link(call, item))
            return;
    }
    if (batch->linked < batch->count)
        call_later(call, link_slice);
    else
        finish_checks(call);
}

static void check_slice(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct batch_slice slice = batch_slice_begin();
    while (batch->checked < batch->count &&
           !batch_slice_is_over(&slice, batch->items[batch->checked].length)) {
        if (!check_item(call, &batch->items[batch->checked++]))
            return;
    }
    if (batch->checked < batch->count)
        call_later(call, check_slice);
    else if (json_array_size(batch->errors) || batch->refused)
        finish_checks(call);
    else
        link_slice(call);
}

/* ---- the body ---- */

/* False: the call has failed. */
static bool add_item(struct call *call, bool is_delete)
{
    struct jobs_batch *batch = call->state;
    if (batch->count == BATCH_ITEMS_MAX) {
        call_fail(call, 413, "a batch has %d jobs at most; send several", BATCH_ITEMS_MAX);
        return false;
    }
    if (array_grow(&batch->items, batch->count, sizeof(*batch->items)) != OK) {
        call_fail(call, 500, "out of memory");
        return false;
    }
    batch->items[batch->count++] = (struct jobs_batch_item){
        .from = batch->scan.from,
        .length = batch->scan.at - batch->scan.from,
        .place = batch->list_counts[is_delete]++,
        .is_delete = is_delete,
    };
    return true;
}

static bool read_dry_run(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct jobs_batch_item value = {.from = batch->scan.from,
                                    .length = batch->scan.at - batch->scan.from};
    json_t *read = read_item(call, &value);
    if (!read)
        return false;
    bool is_bool = json_is_boolean(read);
    batch->dry_run = json_is_true(read);
    json_decref(read);
    if (!is_bool)
        call_fail_at(call, "/dry_run", "dry_run: expected true or false");
    return is_bool;
}

/* {"groups":[...],"calendars":[...],"channels":[...]}, each as one likes. */
static bool are_lists(const json_t *value)
{
    static const char *const kinds[] = {"groups", "calendars", "channels"};
    size_t known = 0, i;
    const json_t *name;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        const json_t *names = json_object_get(value, kinds[k]);
        if (names && !json_is_array(names))
            return false;
        known += names != NULL;
        json_array_foreach (names, i, name) {
            if (!json_is_string(name))
                return false;
        }
    }
    return json_is_object(value) && json_object_size(value) == known;
}

static bool read_assumed(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct jobs_batch_item value = {.from = batch->scan.from,
                                    .length = batch->scan.at - batch->scan.from};
    batch->assumed = read_item(call, &value);
    if (!batch->assumed)
        return false;
    if (!are_lists(batch->assumed)) {
        call_fail_at(call, "/assume",
                     "assume: expected lists of names: {\"groups\":[],\"calendars\":[],"
                     "\"channels\":[]}");
        return false;
    }
    call->assumed = batch->assumed;
    return true;
}

/* The whole body was split: its items are looked at. */
static void begin_checks(struct call *call)
{
    struct jobs_batch *batch = call->state;
    if (batch->assumed && !batch->dry_run) {
        call_fail_at(call, "/assume", "assume: is for a dry run; write those documents first");
        return;
    }
    batch->keep = batch->keep && !batch->assumed; /* what is kept is written as it was checked */
    call_later(call, check_slice);
}

static void fail_body(struct call *call)
{
    const struct batch_scan *scan = &((struct jobs_batch *)call->state)->scan;
    json_error_t error = {0};
    if (scan->state == BATCH_AT_START && scan->at < scan->length) {
        call_fail_at(call, "", "the body must be a JSON object");
        return;
    }
    batch_scan_place(scan, scan->at, &error.line, &error.column);
    snprintf(error.text, sizeof(error.text), "%s", scan->mistake);
    call_fail_json(call, &error);
}

static void fail_field(struct call *call)
{
    const struct batch_scan *scan = &((struct jobs_batch *)call->state)->scan;
    char name[61], pointer[80];
    size_t length = scan->at - scan->from - 2;
    snprintf(name, sizeof(name), "%.*s", (int)(length < 60 ? length : 60),
             scan->text + scan->from + 1);
    snprintf(pointer, sizeof(pointer), "/%s", name);
    call_fail_at(call, pointer, "unknown field \"%.60s\"; known: %s", name, call->route->fields);
}

static void fail_list(struct call *call)
{
    bool is_put = ((struct jobs_batch *)call->state)->scan.list == BATCH_PUT;
    call_fail_at(call, is_put ? "/put" : "/delete", "%s: expected a list",
                 is_put ? "put" : "delete");
}

/* One part of the body; true: there is another one. */
static bool take_part(struct call *call)
{
    struct jobs_batch *batch = call->state;
    switch (batch_scan_next(&batch->scan)) {
    case BATCH_PUT:
        return add_item(call, false);
    case BATCH_DELETE:
        return add_item(call, true);
    case BATCH_DRY_RUN:
        return read_dry_run(call);
    case BATCH_ASSUME:
        return read_assumed(call);
    case BATCH_UNKNOWN:
        fail_field(call);
        return false;
    case BATCH_NO_LIST:
        fail_list(call);
        return false;
    case BATCH_BAD:
        fail_body(call);
        return false;
    case BATCH_END:
        break;
    }
    begin_checks(call);
    return false;
}

static void cut_slice(struct call *call)
{
    const struct jobs_batch *batch = call->state;
    struct batch_slice slice = batch_slice_begin();
    while (take_part(call)) {
        if (batch_slice_is_over(&slice, batch->scan.at - batch->scan.from)) {
            call_later(call, cut_slice);
            return;
        }
    }
}

/* ---- what was kept ---- */

/* False: the call has failed. */
static bool check_kept(struct call *call, const struct jobs_batch_item *item)
{
    struct job_error error = {0};
    if (!may_change(call, RIGHT_EDIT, item) || !may_change(call, RIGHT_DEFINE, item))
        return true;
    if (!catalog_by_name(engine_catalog(call->api->ports.engine), item->name) &&
        name_check_free(call, item->name, &error) == OK)
        return true;
    fail_kept(call);
    return false;
}

/* They were valid; only what others did since then can be in their way. */
static void check_kept_slice(struct call *call)
{
    struct jobs_batch *batch = call->state;
    struct batch_slice slice = batch_slice_begin();
    while (batch->checked < batch->count && !batch_slice_is_over(&slice, 0)) {
        if (!check_kept(call, &batch->items[batch->checked++]))
            return;
    }
    if (batch->checked < batch->count)
        call_later(call, check_kept_slice);
    else
        finish_checks(call);
}

static void take_kept(struct call *call, const char *id)
{
    struct jobs_batch *batch = call->state;
    batch->kept = batch_kept(call, id);
    if (!batch->kept) {
        fail_kept(call);
        return;
    }
    batch->items = calloc(batch->kept->count, sizeof(*batch->items));
    if (!batch->items) {
        call_fail(call, 500, "out of memory");
        return;
    }
    for (; batch->count < batch->kept->count; batch->count++) {
        struct kept_job *job = &batch->kept->jobs[batch->count];
        batch->items[batch->count] = (struct jobs_batch_item){
            .name = job->name, .write.json = job->json, .place = batch->count};
        job->name = job->json = NULL;
    }
    check_kept_slice(call);
}

void batch_jobs(struct call *call)
{
    struct jobs_batch *batch = call_state(call, sizeof(*batch), release_batch);
    const char *kept = query_get(&call->query, "kept");
    if (!batch || !param_bool(call, "applied", &batch->is_applied) ||
        !param_bool(call, "keep", &batch->keep))
        return;
    table_init(&batch->names, &names_type);
    after_check_init(&batch->after, call, planned_here, batch);
    strbuf_init(&batch->answer);
    strbuf_init(&batch->item);
    for (int i = 0; i < BATCH_CHUNKS; i++)
        strbuf_init(&batch->chunks[i].records);
    enum status st = quota_sum_init(&batch->plan, &call->api->quotas);
    batch->text = call->large_body ? call->large_body : "{}";
    batch->length = call->large_body ? call->large_length : 2;
    batch_scan_init(&batch->scan, batch->text, batch->length);
    batch->errors = json_array();
    batch->docs = call->api->kept.docs;
    if (batch->errors && st == OK && kept)
        take_kept(call, kept);
    else if (batch->errors && st == OK)
        cut_slice(call);
    else
        call_fail(call, 500, "out of memory");
}
